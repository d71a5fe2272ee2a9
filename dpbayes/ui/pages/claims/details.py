"""The part below the picture of a claim: its formula, its conditions, where it fails, where it is tested."""

import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import streamlit as st

import dpbayes
from dpbayes.base.libraries import pd
from dpbayes.base.references import PAPERS, THE_NOTES
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.posteriors.prior_rules import PriorRule
from dpbayes.theory.claims.claim import Claim, Counterexample
from dpbayes.theory.index import counterexamples_of
from dpbayes.theory.paper_map import PaperEntry, paper_map
from dpbayes.theory.zhang16.summary import Setting, Table1Row, not_computable, table_1
from dpbayes.ui.pages.claims.curve import Evaluation
from dpbayes.ui.pages.claims.headline import shown_as
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.kept import server_cache
from dpbayes.ui.widgets.from_python import program
from dpbayes.ui.widgets.show import assumption, folded, show_refusal, source

FORMULA = "claims-formula"
"""A formula wider than the page scrolls by itself."""

SCROLLS = f"""<style>
.st-key-{FORMULA} .katex-display {{overflow-x: auto; overflow-y: hidden; padding: 0.2rem 0}}
@media (max-width: 500px) {{.st-key-{FORMULA} .katex-display {{font-size: 0.88em}}}}
</style>"""


@server_cache(1, spinner="Reading the docstrings …")
def entries() -> Mapping[Claim, PaperEntry]:
    """Return, by claim, where the code and the tests name it."""
    package = Path(dpbayes.__file__).parent
    return {entry.claim: entry for entry in paper_map(package, package.parent / "tests")}


def failures(claim: Claim) -> tuple[Counterexample, ...]:
    """Return the settings at which a claim fails, computed once; nothing in them depends on a table."""
    return _failures(claim, str(claim.reference))


@server_cache(100)
def _failures(_claim: Claim, place: str) -> tuple[Counterexample, ...]:
    return counterexamples_of(_claim)


def formula_and_conditions(claim: Claim, evaluation: Evaluation | None) -> None:
    """Show the claim's formula, with the present numbers if it has a bound, and which of its conditions hold."""
    st.html(SCROLLS)
    with st.container(key=FORMULA):
        st.latex(claim.formula)
    if evaluation is not None:
        st.markdown(evaluation.exhibit.formula(evaluation.subject, evaluation.at, evaluation.bound))
        for condition in evaluation.bound.assumptions:
            assumption(condition.text, holds=condition.holds)
        if not evaluation.bound.assumptions:
            st.caption("The claim has no conditions.")
        elif not evaluation.bound.applies:
            st.caption("A condition marked ✗ does not hold here; the stated bound is still shown.")
    source(claim.reference)


def where_it_fails(claim: Claim) -> None:
    """Show every setting at which the claim is known to fail, computed by this program."""
    failing = failures(claim)
    if failing:
        st.markdown("**Where it fails**\n" + "\n".join(map(_fails, failing)))


def _fails(example: Counterexample) -> str:
    """Return one setting with its numbers, as an item of a list."""
    setting = example.setting.rstrip(".")
    return (
        f"- {literal(setting[0].upper() + setting[1:])}: the true value is **{shown_as(example.truth)}**, the paper "
        f"states {shown_as(example.printed)}, and the proved bound is {shown_as(example.certified)} "
        f"({literal(example.unit)})."
    )


def literal(text: str) -> str:
    """Return a sentence of this program's own without what Markdown takes for a formula or a deletion."""
    return text.replace("$", "\\$").replace("~", "\\~")


def sources(claim: Claim) -> None:
    """Show which code and which tests name the claim, and how to cite its paper."""
    entry = entries()[claim]
    with st.expander("Code and tests"):
        for title, mentions in (("Code", entry.code), ("Tests", entry.tests)):
            st.markdown(f"**{title}**: " + (", ".join(f"`{mention}`" for mention in mentions) or "none found"))
    with st.expander("Cite"):
        st.code(PAPERS[claim.reference.paper].bibtex, language="bibtex", wrap_lines=True)
        every = "\n".join(paper.bibtex for paper in PAPERS.values())
        download_button("Download all as BibTeX", every, "dpbayes.bib", "application/x-bibtex")
        st.caption(THE_NOTES)


def python_of(claim: Claim) -> str:
    """Return the code that prints a claim's verdict or, if it fails, the true and the stated value."""
    named = f"claim = next(claim for claim in CLAIMS if str(claim.reference) == {str(claim.reference)!r})"
    if not failures(claim):
        return program("from dpbayes.theory.index import CLAIMS", named, "print(claim.verdict.value)")
    return program(
        "from dpbayes.theory.index import CLAIMS, counterexamples_of",
        named,
        "print(*((example.truth, example.printed) for example in counterexamples_of(claim)))",
    )


# Table 1


def table_1_live(chosen: Chosen) -> None:
    """Show Table 1 of [Zhang16] at this setting in a folded part; a recipient sees its public values."""
    with folded("Table 1 of AAAI 2016 at these settings", key="bounds.table1") as is_open:
        if not is_open:
            return
        try:
            rows, missing = _table_1(chosen), not_computable(chosen.network, chosen.counts.n)
        except InputError as error:
            show_refusal(error)
            return
        st.dataframe(pd.DataFrame([_as_row(row, chosen) for row in rows]), hide_index=True)
        for mechanism, why in missing.items():
            st.caption(f"{mechanism} is not in the table: {why}.")
        hidden = "" if chosen.is_curator else " Values computed from the counts are shown to the curator only."
        st.caption(
            "ε, δ, t, ω, L0, the prior and the number of samples are those set on this page. The row of Fourier is "
            f"for its largest table, and the row of MAP is for the first binary node without parents.{hidden}"
            + (" Not private (curator view)." if chosen.is_curator else "")
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
        prior=chosen.settings.prior.pseudo_count,
        start=options.start,
    )
    return table_1(PriorRule.symmetric(setting.prior).on(chosen.network), chosen.counts, setting)


def _as_row(row: Table1Row, chosen: Chosen) -> dict[str, str]:
    promises = "; ".join(
        f"{_value(bound.printed)} (proved {_value(bound.certified)}) {bound.unit}" for bound in row.privacy
    )
    shown = {"mechanism": row.mechanism, "privacy, as stated": promises, "utility of": row.utility_of}
    if not (chosen.is_curator or row.uses.is_for_all):
        return shown | {
            "utility, as stated": "curator only",
            "utility, proved": "curator only",
            "unit": row.utility.unit,
        }
    return shown | {
        "utility, as stated": _value(row.utility.printed),
        "utility, proved": _value(row.utility.certified),
        "unit": row.utility.unit,
    }


def _value(values: FloatArray) -> str:
    """Return the largest of some numbers."""
    largest = float(np.max(values))
    return numeral(largest) if math.isfinite(largest) else "unknown"
