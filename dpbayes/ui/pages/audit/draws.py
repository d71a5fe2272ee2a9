"""The lower bound from simulated releases on the Audit page, for mechanisms whose exact loss is not known."""

from collections.abc import Hashable

import numpy as np
import streamlit as st

from dpbayes.audit.draws import DOUBT, SampledLoss, audit_by_draws
from dpbayes.audit.entry import TablePair
from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, numeral, power_of_ten
from dpbayes.ui.pages.audit.attacker import made_up_tables
from dpbayes.ui.pages.audit.subject import Audited, digits
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.widgets.show import sentence_instead

MOST_DRAWS, LEAST_DRAWS = 200_000, 2_000
MANY_NUMBERS, MOST_NUMBERS = 1_000_000, 20_000_000
"""Released numbers that are still drawn and weighed quickly, and that are at all: larger releases get fewer draws, down
to LEAST_DRAWS, and the largest are not drawn."""


def lower_bound_section(subject: Audited, *, seed: int) -> None:
    """Show the lower bound that releases of two neighbouring tables prove, with its confidence."""
    st.subheader("Lower bound from simulated releases")
    wanted, numbers_per_release = hash(subject.key), subject.numbers
    if LEAST_DRAWS * numbers_per_release > MOST_NUMBERS:
        st.caption(
            f"This release has {numbers_per_release:,} numbers. The bound is computed for releases of up to "
            f"{MOST_NUMBERS // LEAST_DRAWS:,} numbers. The audit above gives another lower bound."
        )
        return
    if subject.hypothetical is None and st.session_state.get("audit.released") != wanted:
        st.caption(
            "Many simulated releases of two neighbouring tables prove a lower bound without any formula. On a network "
            "with many cells the computation is slow, and the bound is often loose."
        )
        st.button("Compute lower bound", key="audit.release", on_click=_ask, args=(wanted,))
        return
    with sentence_instead():
        drawn = subject.hypothetical.drawn if subject.hypothetical else None
        tables = drawn(subject.mechanism, **subject.sizes) if drawn else made_up_tables(subject)
        draws = max(LEAST_DRAWS, min(MOST_DRAWS, MANY_NUMBERS // numbers_per_release))
        _show(subject, _proved(subject.key, seed, draws, subject, tables), tables.description)


def _ask(wanted: int) -> None:
    st.session_state["audit.released"] = wanted


def _show(subject: Audited, loss: SampledLoss, description: str) -> None:
    confidence = f"confidence 1 − {power_of_ten(round(np.log10(loss.doubt)))}"
    if loss.epsilon > 0:
        at = f" at δ = {numeral(loss.delta)}" if loss.delta else ""
        broken = " :red[The lower bound exceeds the claim.]" if loss.refutes(subject.promised) else ""
        st.markdown(f"**The privacy loss is at least {digits(loss.epsilon)}{at}, with {confidence}.**{broken}")
    else:
        st.markdown(
            f"**The lower bound on the privacy loss is 0, with {confidence}.** The outputs are too rare for a larger "
            "bound."
        )
    st.caption(
        f"{escaped(description)} The bound uses {2 * loss.counted:,} simulated releases of each table and no formula. "
        "An event is chosen on the first half of the releases. In the second half the event occurs in "
        f"{loss.hits[0]:,} of {loss.counted:,} releases of one table and in {loss.hits[1]:,} of the other. "
        "Clopper-Pearson intervals turn these counts into a lower bound."
    )


@session_cache(16, spinner="Simulating releases …", show_time=True)
def _proved(key: Hashable, seed: int, draws: int, _subject: Audited, _tables: TablePair) -> SampledLoss:
    rng = stream(seed, "audit", "draws", type(_subject.mechanism).__name__)
    return audit_by_draws(
        _subject.mechanism, first=_tables.first, second=_tables.second, rng=rng, draws=draws, doubt=DOUBT
    )
