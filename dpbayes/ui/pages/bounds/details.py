"""What the Bounds page shows below its picture: the finding, the formula, where it fails, and Table 1."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Verdict
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.zhang16.table1 import Setting, Table1Row, not_computable, table_1
from dpbayes.ui.pages.bounds.curve import Evaluation
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.show import assumption, refusal, source

MARKS = {
    Verdict.HOLDS: "✓",
    Verdict.LOOSE: "✓",
    Verdict.AMENDED: "△",
    Verdict.FALSE: "✗",
    Verdict.VACUOUS: "○",
    Verdict.UNCLEAR: "?",
}


def details(evaluation: Evaluation) -> None:
    """Show the claim's verdict, its formula with this setting's numbers, its assumptions, and where it fails."""
    claim = evaluation.bound.claim
    st.markdown(f"**{MARKS[claim.verdict]} {claim.reference.place}: {claim.verdict.value}.** {claim.finding}")
    with st.expander("Formula, assumptions, source", expanded=True):
        st.latex(claim.formula)
        st.markdown(evaluation.exhibit.formula(evaluation.subject, evaluation.at, evaluation.bound))
        for condition in evaluation.bound.assumptions:
            assumption(condition.text, holds=condition.holds)
        if not evaluation.bound.assumptions:
            st.caption("The claim has no conditions.")
        elif not evaluation.bound.applies:
            st.caption("Where a condition is crossed out, the claim’s number is shown all the same.")
        source(claim.reference)
    if evaluation.exhibit.fails:
        _where_it_fails(evaluation)


def _where_it_fails(evaluation: Evaluation) -> None:
    with st.expander("Where it fails", on_change="rerun", key="bounds.fails") as opened:
        if not opened.open:
            return
        st.caption("Computed now, at settings of their own; nothing here depends on the table.")
        for make in evaluation.exhibit.fails:
            _counterexample(make())


def _counterexample(example: Counterexample) -> None:
    st.markdown(f"**{example.claim.reference.place}.** {_sentence(example.setting)}")
    row = {"true": example.truth, "printed": example.printed}
    if not math.isnan(example.certified):
        row["certified"] = example.certified
    st.dataframe(
        pd.DataFrame([{name: _six_digits(value) for name, value in row.items()} | {"unit": example.unit}]),
        hide_index=True,
    )


def _six_digits(value: float) -> str:
    return "infinite" if math.isinf(value) else numeral(value, 6)


def _sentence(text: str) -> str:
    text = text.replace("$", "\\$").replace("~", "\\~")
    return text if text.endswith(".") else f"{text}."


# Table 1


def table_1_live(chosen: Chosen, net: Network) -> None:
    """Show Table 1 of [Zhang16] at this setting, once asked for; the recipient gets what is public of it."""
    with st.expander("Table 1 of the paper, live", on_change="rerun", key="bounds.table1") as opened:
        if not opened.open:
            return
        try:
            rows = _table_1(chosen)
        except InputError as error:
            refusal(error)
            return
        st.dataframe(pd.DataFrame([_as_row(row, chosen) for row in rows]), hide_index=True)
        for mechanism, why in not_computable(net, chosen.counts.n).items():
            st.caption(f"{mechanism} is not in the table: {why}.")
        hidden = "" if chosen.is_curator else " What is computed from the counts is left out: it is for the curator."
        st.caption(
            "ε, δ, t, ω, L0, the prior and the number of draws are those of this page’s controls. Fourier shows its "
            f"largest table, MAP the first binary node without parents.{hidden}"
            + (" Curator only: not private." if chosen.is_curator else "")
        )


def _table_1(chosen: Chosen) -> tuple[Table1Row, ...]:
    options = chosen.options("bounds")
    setting = Setting(
        epsilon=chosen.epsilon,
        delta=options.delta,
        t=options.t,
        omega=options.omega,
        draws=chosen.parameter("draws"),
        gap=options.gap,
        prior=chosen.settings.prior,
        start=options.start,
    )
    return table_1(chosen.prior, chosen.counts, setting)


def _as_row(row: Table1Row, chosen: Chosen) -> dict[str, str]:
    promises = "; ".join(
        f"{_value(bound.printed)} (certified {_value(bound.certified)}) {bound.unit}" for bound in row.privacy
    )
    shown = {"mechanism": row.mechanism, "privacy, printed": promises, "utility of": row.utility_of}
    if not (chosen.is_curator or row.uses.is_for_all):
        return shown | {
            "utility, printed": "curator only",
            "utility, certified": "curator only",
            "unit": row.utility.unit,
        }
    return shown | {
        "utility, printed": _value(row.utility.printed),
        "utility, certified": _value(row.utility.certified),
        "unit": row.utility.unit,
    }


def _value(values: FloatArray) -> str:
    """Return the largest of some numbers."""
    largest = float(np.max(values))
    return numeral(largest) if math.isfinite(largest) else "unknown"
