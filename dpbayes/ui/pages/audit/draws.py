"""What releases alone prove, on the Audit page: for mechanisms whose exact loss nobody has written down."""

from collections.abc import Hashable

import numpy as np
import streamlit as st

from dpbayes.audit.attacker.draws import DOUBT, SampledLoss, audit_by_draws
from dpbayes.audit.entry import TablePair
from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, numeral, power_of_ten
from dpbayes.model.network import Network
from dpbayes.ui.pages.audit.attacker import made_up_tables
from dpbayes.ui.pages.audit.subject import Audited, digits
from dpbayes.ui.widgets.show import sentence_instead

MOST_DRAWS, LEAST_DRAWS = 200_000, 2_000
MANY_NUMBERS, MOST_NUMBERS = 1_000_000, 20_000_000
"""Released numbers that are still drawn and weighed quickly, and that are at all: larger releases get fewer draws, down
to LEAST_DRAWS, and the largest are not drawn."""


def draws_section(subject: Audited, *, seed: int) -> None:
    """Show what releases of two neighbours prove, with its confidence."""
    st.subheader("What releases alone prove")
    wanted, each = hash(subject.key), subject.numbers
    if LEAST_DRAWS * each > MOST_NUMBERS:
        st.caption(
            f"Nothing is counted here: {LEAST_DRAWS:,} releases of {each:,} numbers each are too many to draw; up to "
            f"{MOST_NUMBERS // LEAST_DRAWS:,} numbers are. The audit above has a lower value all the same."
        )
        return
    if subject.hypothetical is None and st.session_state.get("audit.released") != wanted:
        st.caption(
            "A lower bound needs no formula, only many releases of two neighbouring tables. Of a network with many "
            "cells they are slow to draw, and seldom show the rare outputs that tell most."
        )
        st.button("Release and count", key="audit.release", on_click=_ask, args=(wanted,))
        return
    with sentence_instead():
        drawn = subject.hypothetical.drawn if subject.hypothetical else None
        tables = drawn(subject.mechanism, **subject.sizes) if drawn else made_up_tables(subject)
        draws = max(LEAST_DRAWS, min(MOST_DRAWS, MANY_NUMBERS // each))
        _show(subject, _proved(subject.key, seed, draws, subject, tables), tables.told)


def _ask(wanted: int) -> None:
    st.session_state["audit.released"] = wanted


def _show(subject: Audited, loss: SampledLoss, told: str) -> None:
    confidence = f"confidence 1 − {power_of_ten(round(np.log10(loss.doubt)))}"
    releases = f"{2 * loss.counted:,} simulated releases of each of two neighbouring tables"
    if loss.epsilon > 0:
        at = f" at δ = {numeral(loss.delta)}" if loss.delta else ""
        broken = " :red[That is above the claim.]" if loss.refutes(subject.promised) else ""
        st.markdown(f"**{releases} prove a loss of at least {digits(loss.epsilon)}{at}, with {confidence}.**{broken}")
    else:
        st.markdown(f"**{releases} prove no loss, with {confidence}: what tells most is too rare for them.**")
    st.caption(
        f"{escaped(told)} No formula of the mechanism is used. An event is fixed on the first half of the releases; of "
        f"the second half it met {loss.hits[0]:,} of {loss.counted:,} under the table it speaks for and "
        f"{loss.hits[1]:,} under the other one. Bounds of Clopper and Pearson make that a lower bound; the loss "
        "itself may be larger."
    )


@st.cache_data(
    scope="session",
    max_entries=16,
    show_spinner="Releasing again and again …",
    show_time=True,
    hash_funcs={Network: hash},
)
def _proved(key: Hashable, seed: int, draws: int, _subject: Audited, _tables: TablePair) -> SampledLoss:
    rng = stream(seed, "audit", "draws", type(_subject.mechanism).__name__)
    return audit_by_draws(
        _subject.mechanism, first=_tables.first, second=_tables.second, rng=rng, draws=draws, doubt=DOUBT
    )
