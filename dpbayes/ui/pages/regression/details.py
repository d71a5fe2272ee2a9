"""What the Regression page shows below its pictures: numbers as files, formulas, assumptions."""

import numpy as np
import streamlit as st

from dpbayes.base.references import Reference
from dpbayes.base.spreadsheet import safe_csv
from dpbayes.base.text import latex
from dpbayes.experiments.commands.files import parquet_bytes
from dpbayes.experiments.commands.regression import RegressionRecipe
from dpbayes.experiments.regression.design import RegressionStudy
from dpbayes.experiments.regression.result import RegressionResult
from dpbayes.experiments.regression.scenario import NormBound, Records, RegressionScenario
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.show import assumption, numbers, source


def numbers_and_files(recipe: RegressionRecipe, result: RegressionResult) -> None:
    """Show the tidy frame, once asked for, and offer it as CSV and Parquet; its last columns hold the settings."""
    with st.expander("Numbers and download", on_change="rerun", key="numbers.regression") as part:
        if not part.open:
            return
        made_up = recipe.scenario.records is Records.SYNTHETIC
        if not made_up:
            st.caption("Curator only: not private. Do not hand this file on.")
        frame = recipe.frame(result)
        numbers(frame, height=300)
        left, right = st.columns(2)
        left.download_button(
            "Download CSV",
            lambda: safe_csv(frame),
            file_name=offered_name("regression", "csv", simulates=True, curator_only=not made_up),
            mime="text/csv",
            key="download.regression.csv",
            on_click="ignore",
        )
        right.download_button(
            "Download Parquet",
            lambda: parquet_bytes(frame, recipe.settings),
            file_name=offered_name("regression", "parquet", simulates=True, curator_only=not made_up),
            mime="application/vnd.apache.parquet",
            key="download.regression.parquet",
            on_click="ignore",
        )
        st.caption("The last columns hold the settings, and the command that gives these numbers again.")


def code(recipe: RegressionRecipe) -> None:
    """Show the experiment as Python and as a command, to copy."""
    if recipe.source:
        st.markdown(
            "Put the table's address for ADDRESS: whoever started the server knows it. Its columns in use and their "
            "public bounds are named below, the target last."
        )
    elif recipe.columns:
        st.markdown(
            "The file is read from the folder in which this is run: CSV with commas, in UTF-8, or Parquet. The columns "
            "in use and their public bounds are named below, the target last."
        )
    st.code(recipe.python, language="python", wrap_lines=True)
    st.code(recipe.command, language="bash", wrap_lines=True)
    st.caption(
        "Every repeat that is asked for is run. Add --out results.parquet, or .csv, to write the results with their "
        "settings to a file."
    )


def details(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> None:
    """Show the formulas with their numbers, and what they assume."""
    with st.expander("Formulas, assumptions and source"):
        _formulas(study, scenario, size=size)
        _assumptions(study, scenario, size=size)
        source(Reference("Zhang16", "Section 5.2, Figure 2, Appendix D and Lemma D.1"))


def _formulas(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> None:
    k = int(np.argmin(np.abs(np.log(study.precisions) - np.log(scenario.precision))))
    b, bound, (n, d) = study.precisions[k], study.norm_bounds[k], size
    one, printed = study.certified[k] / study.draws, study.claimed(n, features=d)[k]
    variance = study.noise_variance
    range_of_squares = "4B" if bound <= 1 else "(1+B)^2"
    rule = (
        rf"B = 10/\sqrt{{b}} = {latex(bound)}"
        if scenario.norm_bound is NormBound.PRINTED
        else rf"B = {latex(bound)}, the largest with $\varepsilon = {latex(scenario.epsilon, 6)}$ for all draws"
    )
    rule = f"${rule}$" if scenario.norm_bound is NormBound.PRINTED else f"${rule.replace(', the', '$, the', 1)}"
    total = f"; {study.draws:,} draws: ${latex(study.certified[k])}$" if study.draws > 1 else ""
    st.markdown(
        f"""
Weights $w$ have the prior $N(0, I/b)$ with $b = {latex(b)}$, cut to $\\|w\\|_2 \\le B$; the target is
$y \\sim N(x^\\top w, \\sigma^2)$ with $\\sigma^2 = {latex(variance)}$, and $\\|x\\|_2 \\le 1$, $|y| \\le 1$ after
scaling. The posterior is $N(\\mu_n, P^{{-1}})$ cut to the same ball, with
$P = X^\\top X/\\sigma^2 + bI$ and $P\\mu_n = X^\\top y/\\sigma^2$; a private draw is a draw from it.

- **Norm bound**: {rule}.
- **Certified**, one replaced record, one draw: $\\varepsilon = {range_of_squares}/\\sigma^2 = {latex(one)}${total}.
  In general $((1+B)^2 - \\max(0, 1-B)^2)/\\sigma^2$: by how much one record's squared residual can vary over the ball.
- **As printed**, one draw: $2L(w) = \\frac{{n}}{{\\sigma^2}}(1 + 2\\|w\\|_1 + d\\|w\\|_2)$, with $n = {n:,}$,
  $d = {d}$ and the worst $w$ of the ball: ${latex(printed)}$. Its factor $n$ counts every record although one is
  replaced, and its gradients are misprinted; it is never below $n/\\sigma^2 = {latex(n / variance)}$.
- **Exact** is ridge regression, the mean $\\mu_n$ without a cut; errors are the mean of $(y - x^\\top w)^2$ over the
  test records, in units in which the target's public range is $[-1, 1]$.
"""
    )


def _assumptions(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> None:
    printed, one = study.claimed(size[0], features=size[1]), study.certified / study.draws
    whose = "you state them" if scenario.records is Records.UPLOAD else "they do not come from the records"
    assumption(f"Columns are scaled by public bounds ({whose}), and what lies outside is clipped.", holds=True)
    assumption("Draws follow the cut posterior exactly: rejection, no Markov chain that has to converge.", holds=True)
    assumption(
        "The printed 2L(w) is at least what is proved, at every precision shown.", holds=bool((printed >= one).all())
    )
    assumption("The printed 2L(w) is a bound per replaced record: no, it grows with n.", holds=False)
    assumption("The time that rejection takes tells nothing of the records: it does, a little.", holds=False)
    assumption(
        "The precision is chosen without these errors: whoever picks b because its error on real records is small uses "
        "the records once more, outside of ε.",
        holds=scenario.records is Records.SYNTHETIC,
    )
