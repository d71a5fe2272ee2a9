"""The Regression page below its pictures: formulas, assumptions."""

import numpy as np
import streamlit as st

from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.experiments.regression.design import RegressionStudy
from dpbayes.experiments.regression.scenario import NormBound, Records, RegressionScenario
from dpbayes.ui.widgets.show import assumption, source


def details(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> None:
    """Show the formulas with their numbers, and the assumptions."""
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
        else rf"B = {latex(bound)}, the largest with $\varepsilon = {latex(scenario.epsilon, 6)}$ for all samples"
    )
    rule = f"${rule}$" if scenario.norm_bound is NormBound.PRINTED else f"${rule.replace(', the', '$, the', 1)}"
    total = f"; {study.draws:,} samples: ${latex(study.certified[k])}$" if study.draws > 1 else ""
    st.markdown(
        f"""
Weights $w$ have the prior $N(0, I/b)$ with $b = {latex(b)}$, truncated to $\\|w\\|_2 \\le B$; the target is
$y \\sim N(x^\\top w, \\sigma^2)$ with $\\sigma^2 = {latex(variance)}$, and $\\|x\\|_2 \\le 1$, $|y| \\le 1$ after
scaling. The posterior is $N(\\mu_n, P^{{-1}})$ truncated to the same ball, with
$P = X^\\top X/\\sigma^2 + bI$ and $P\\mu_n = X^\\top y/\\sigma^2$; a private sample is a sample from it.

- **Norm bound**: {rule}.
- **Proved**, one replaced record, one sample: $\\varepsilon = {range_of_squares}/\\sigma^2 = {latex(one)}${total}. In
  general $\\varepsilon$ is $((1+B)^2 - \\max(0, 1-B)^2)/\\sigma^2$, the range of one record's squared residual over
  the ball.
- **Paper**, one sample: $2L(w) = \\frac{{n}}{{\\sigma^2}}(1 + 2\\|w\\|_1 + d\\|w\\|_2)$, with $n = {n:,}$, $d = {d}$
  and the worst $w$ of the ball: ${latex(printed)}$. Its factor $n$ counts all records although only one is replaced,
  and its gradients have misprints. The value is never below $n/\\sigma^2 = {latex(n / variance)}$.
- **Exact** is ridge regression, the mean $\\mu_n$ without truncation. Errors are the mean of
  $(y - x^\\top w)^2$ over the test records, in units in which the target's public range is $[-1, 1]$.
"""
    )


def _assumptions(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> None:
    printed, one = study.claimed(size[0], features=size[1]), study.certified / study.draws
    assumption(
        "Columns are scaled by public bounds that are not read from the records, and values outside are clipped.",
        holds=True,
    )
    assumption(
        "Samples follow the truncated posterior exactly, by rejection sampling and without a Markov chain.", holds=True
    )
    assumption(
        "The paper's 2L(w) is at least the proved ε at every precision shown.", holds=bool((printed >= one).all())
    )
    assumption(
        "The paper's 2L(w) bounds the privacy loss of one replaced record by a number that does not grow with n.",
        holds=False,
    )
    assumption(
        "The running time of rejection sampling reveals nothing about the records. Here, it depends slightly "
        "on the records.",
        holds=False,
    )
    assumption(
        "The precision is chosen without these errors. Choosing b by its error on real records uses the records "
        "again, and ε does not cover this use.",
        holds=scenario.records is Records.SYNTHETIC,
    )
