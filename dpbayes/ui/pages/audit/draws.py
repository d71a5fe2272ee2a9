"""What releases alone prove, on the Audit page: for mechanisms whose exact loss nobody has written down."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.audit.reports import AuditReport, Exactness
from dpbayes.audit.statistical import DOUBT, SampledLoss, audit_by_draws
from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, numeral
from dpbayes.model.network import Network
from dpbayes.model.regression import Moments
from dpbayes.ui.pages.audit.attacker import made_up_tables, numbers_each
from dpbayes.ui.pages.audit.subject import Audited, digits, network_kind
from dpbayes.ui.session.settings import current
from dpbayes.ui.widgets.show import sentence_instead

MOST_DRAWS, LEAST_DRAWS = 200_000, 2_000
MANY_NUMBERS, MOST_NUMBERS = 1_000_000, 20_000_000
"""Released numbers that are still drawn and weighed quickly, and that are at all: larger releases get fewer draws, down
to LEAST_DRAWS, and the largest are not drawn."""


def draws_section(subject: Audited, report: AuditReport) -> None:
    """Where there is no exact number, show what releases of two neighbours prove, with its confidence."""
    if report.exactness is Exactness.EXACT or subject.n == 0 or not np.isfinite(report.exact):
        return
    st.subheader("What releases alone prove")
    wanted, each = hash(subject.key), numbers_each(subject)
    if LEAST_DRAWS * each > MOST_NUMBERS:
        st.caption(
            f"Nothing is counted here: {LEAST_DRAWS:,} releases of {each:,} numbers each are too many to draw; up to "
            f"{MOST_NUMBERS // LEAST_DRAWS:,} numbers are. The audit above has a lower value all the same."
        )
        return
    if network_kind(current()) is not None and st.session_state.get("audit.released") != wanted:
        st.caption(
            "A lower bound needs no formula, only many releases of two neighbouring tables. Of a network with many "
            "cells they are slow to draw, and seldom show the rare outputs that tell most."
        )
        st.button("Release and count", key="audit.release", on_click=_ask, args=(wanted,))
        return
    with sentence_instead():
        first, second, told = _tables(subject)
        draws = max(LEAST_DRAWS, min(MOST_DRAWS, MANY_NUMBERS // each))
        _show(subject, _found(subject.key, current().seed, draws, subject, (first, second)), told)


def _ask(wanted: int) -> None:
    st.session_state["audit.released"] = wanted


def _show(subject: Audited, found: SampledLoss, told: str) -> None:
    confidence = f"confidence 1 − 10⁻{str(round(-np.log10(found.doubt))).translate(_RAISED)}"
    releases = f"{2 * found.counted:,} simulated releases of each of two neighbouring tables"
    if found.epsilon > 0:
        at = f" at δ = {numeral(found.delta)}" if found.delta else ""
        broken = " :red[That is above the claim.]" if found.refutes(subject.promised) else ""
        st.markdown(f"**{releases} prove a loss of at least {digits(found.epsilon)}{at}, with {confidence}.**{broken}")
    else:
        st.markdown(f"**{releases} prove no loss, with {confidence}: what tells most is too rare for them.**")
    st.caption(
        f"{escaped(told)} No formula of the mechanism is used. An event is fixed on the first half of the releases; of "
        f"the second half it met {found.hits[0]:,} of {found.counted:,} under the table it speaks for and "
        f"{found.hits[1]:,} under the other one. Bounds of Clopper and Pearson make that a lower bound; the loss "
        "itself may be larger."
    )


_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def _tables(subject: Audited) -> tuple[Any, Any, str]:
    """The statistics of two neighbouring tables, made up from public things, and what they are."""
    made, n = subject.mechanism, subject.n
    if subject.features is not None:
        first, second = (_one_record(n, subject.features, target) for target in (1.0, -1.0))
        return first, second, f"The tables: {n - 1:,} records of zeros, and one with x = (1, 0, …) and y = 1 or −1."
    if hasattr(made, "die"):
        rest = [0] * (made.die.sides - 2)
        counts = [np.array([k, n - k, *rest]) for k in (1, 0)]
        texts = [", ".join(f"{value:,}" for value in each.tolist()) for each in counts]
        return counts[0], counts[1], f"Throws of every side: {texts[0]}, and {texts[1]}."
    return made_up_tables(subject)


def _one_record(n: int, features: int, target: float) -> Moments:
    unit = np.zeros(features)
    unit[0] = 1.0
    return Moments(np.outer(unit, unit), target * unit, np.asarray(1.0), n)


@st.cache_data(
    scope="session",
    max_entries=16,
    show_spinner="Releasing again and again …",
    show_time=True,
    hash_funcs={Network: hash},
)
def _found(key: Hashable, seed: int, draws: int, _subject: Audited, _tables: tuple[Any, Any]) -> SampledLoss:
    rng = stream(seed, "audit", "draws", type(_subject.mechanism).__name__)
    return audit_by_draws(_subject.mechanism, first=_tables[0], second=_tables[1], rng=rng, draws=draws, doubt=DOUBT)
