"""Posterior sampling: smoothness constants, KL of neighbouring posteriors, assumptions, sources."""

import math

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.references import Reference
from dpbayes.base.text import latex, numeral
from dpbayes.experiments.sampling import Family, Tables, pair_of
from dpbayes.figures.sampling import robustness_figure
from dpbayes.mechanisms import PosteriorSampler
from dpbayes.posteriors.smoothness import (
    beta_concentration,
    discrete_log_ratio_bound,
    exponential_concentration,
    kl_bound_sharp,
    laplace_concentration,
    normal_concentration,
)
from dpbayes.theory.dimitrakakis14.game import KAPPA, Pair, printed_divergence, symmetric_kl_bound
from dpbayes.theory.dimitrakakis14.robustness import counterexample_theorem_1_ii
from dpbayes.ui.session.options.research import SamplingOptions
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import assumption, data_and_download, source

RECORDS = np.unique(np.round(np.geomspace(1, 10_000, 41)))

CONCENTRATIONS = {Family.EXPONENTIAL: exponential_concentration, Family.LAPLACE: laplace_concentration}
"""Assumption 2's constant c of the families whose records are apart by the distance that is set."""


def details_section(options: SamplingOptions, pair: Pair, mechanism: PosteriorSampler | None) -> None:
    """Show how far one record moves the likelihood and the posterior: that decides the number of answers."""
    with st.expander("Effect of one record on the posterior"):
        _robustness(options, pair, mechanism)
    with st.expander("Smoothness constants and their verdicts"):
        st.dataframe(constants(options, mechanism), hide_index=True)
        st.caption(
            "L bounds how far one record moves the log-likelihood. The prior probability of a larger move is at most "
            "exp(−c L). Both constants hold for any number of records; the paper's Lemma 1 has L n and c/n."
        )
    with st.expander("Formula, assumptions, sources"):
        _formula(options, pair, mechanism)


def _robustness(options: SamplingOptions, pair: Pair, mechanism: PosteriorSampler | None) -> None:
    records, divergence, bound, printed = _curves(options, mechanism)
    figure = robustness_figure(records, divergence, bound, printed)
    chart(
        figure,
        key="robustness",
        alt="KL divergence between the posteriors of neighbouring tables against n, and its bounds.",
    )
    here = f"KL is {numeral(float(pair.kl))} nats from x to y and {numeral(float(pair.swapped().kl))} from y to x. "
    if mechanism is not None:
        moved = options.columns * mechanism.log_odds_bound
        sharp = numeral(float(kl_bound_sharp(2 * moved)))
        st.markdown(
            f"{here}Theorem 1(i) of the paper states at most $2 L \\rho = {latex(2 * moved)}$, which is valid. The "
            f"tight bound is ${sharp}$, because the log ratio has a range of length $2 L \\rho$."
        )
    else:
        example = counterexample_theorem_1_ii()
        st.markdown(
            f"{here}Their sum is at most $\\rho\\,(E_x \\ell + E_y \\ell) = "
            f"{numeral(float(symmetric_kl_bound(pair)))}$. "
            f"Theorem 1(ii) of the paper states $\\kappa \\rho / c$ with $\\kappa = {latex(KAPPA)}$. A "
            "counterexample: five exponential records under Exp(1), one of them moved from 0 to 100, give "
            f"{numeral(example.truth, 4)} nats; the paper states at most {numeral(example.printed, 4)}."
        )
    data_and_download(
        lambda: pd.DataFrame(
            {"records n": records, "KL, nats": divergence, "proved bound": bound}
            | ({} if printed is None else {"as stated in the paper": printed})
        ),
        name="robustness",
        curator_only=False,
    )


def _curves(
    options: SamplingOptions, mechanism: PosteriorSampler | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray | None]:
    """Return n, the larger KL divergence of the two, its corrected bound and the printed one (grid,)."""
    successes = round(options.records * options.share)
    two = Tables(options.records, successes, options.columns, options.concentration, options.distance)
    bound = mechanism.log_odds_bound if mechanism else math.inf
    pairs = pair_of(options.family, two, bound=bound, records=RECORDS)
    divergence = np.maximum(pairs.kl, pairs.swapped().kl)
    flat = np.ones_like(RECORDS)
    if mechanism is not None:
        eta = 2 * options.columns * bound
        return RECORDS, divergence, flat * float(kl_bound_sharp(eta)), flat * eta
    if options.family is Family.NORMAL:
        return RECORDS, divergence, pairs.movement, None
    binomial = options.family is Family.BINOMIAL
    concentration = beta_concentration if binomial else CONCENTRATIONS[options.family]
    c, distance = concentration(options.concentration), 1.0 if binomial else options.distance
    return RECORDS, divergence, symmetric_kl_bound(pairs), flat * printed_divergence(c, distance)


def constants(options: SamplingOptions, mechanism: PosteriorSampler | None) -> "pd.DataFrame":
    """Return the families' constants, as stated in the paper and as proved, for the chosen prior concentration."""
    a = options.concentration
    omega = mechanism.omega if mechanism else 0.0
    network = numeral(math.log(1 / omega), 4) if omega else "no finite L without trimming"
    sharp = numeral(discrete_log_ratio_bound(omega), 4) if omega else "no finite L without trimming"
    rows = [
        (
            "exponential, rate ~ Exp(a)",
            "c",
            "|x − y|",
            numeral(a, 6),
            numeral(exponential_concentration(a), 6),
            "✓ as stated",
        ),
        (
            "Laplace, 1/scale ~ Exp(a)",
            "c",
            "|x − y|",
            f"{numeral(a, 6)}, for scale ≥ L",
            f"{numeral(laplace_concentration(a), 6)}, for scale ≥ 1/L",
            "✓ corrected",
        ),
        (
            "binomial, Beta(a, a)",
            "c",
            "|x − y|",
            "O(a)",
            f"{numeral(beta_concentration(a), 4)}, as √(a/π)",
            "✗ as stated from n = 2, ✓ corrected",
        ),
        (
            "normal, variance ~ Exp(a)",
            "c",
            "|x² − y²| + 2|x − y|",
            numeral(a, 6),
            f"{numeral(normal_concentration(a), 6)}, for 1/variance ~ Exp(a), |mean| ≤ 1",
            "✗ as stated, ✓ for the precision",
        ),
        (
            "network, probabilities ≥ ω",
            "L",
            "weights 1 + children",
            network,
            sharp,
            "✓ with these weights, ✗ with weights 1" if omega else "✗ without trimming",
        ),
    ]
    names = ["family and prior", "constant", "distance ρ", "paper", "proved", "verdict"]
    return pd.DataFrame(rows, columns=names)


def _formula(options: SamplingOptions, pair: Pair, mechanism: PosteriorSampler | None) -> None:
    affinity = float(pair.affinity)
    st.markdown(
        r"With $b = -\ln \int \sqrt{p(\theta|x)\,p(\theta|y)}\,d\theta$ = "
        f"{numeral(affinity)} and error $d = 0.05$: "
        r"$\frac{1}{2b}\ln\frac{1}{4d(1-d)} \le N \le \frac{1}{b}\ln\frac{1}{2d}$. "
        r"If every answer is $\varepsilon$-private, the attacker's belief after $j$ answers is at most "
        r"$1/(1+e^{-j\varepsilon})$."
    )
    if mechanism is not None:
        st.markdown(
            f"With $\\omega = {latex(mechanism.omega)}$, the proved privacy loss of one answer is $\\varepsilon = 2 "
            f"|I| \\ln\\frac{{1-\\omega}}{{\\omega}} = {latex(mechanism.certified.epsilon)}$."
        )
    trimmed = mechanism is not None
    kept = trimmed and mechanism is not None and mechanism.claimed.epsilon >= mechanism.certified.epsilon * (1 - 1e-9)
    assumption("The two tables differ in one record, and the attacker knows both tables and the prior.", holds=True)
    assumption("Every answer is a fresh sample from the same posterior.", holds=True)
    assumption("Every answer is ε-private: the prior is trimmed to a public region.", holds=trimmed)
    assumption("The paper's 2 ln(1/ω) covers all columns that a record changes.", holds=kept)
    assumption("The number of answers is limited. Algorithm 1 does not limit it.", holds=False)
    source(Reference("Dimitrakakis14", "Algorithm 1, Theorems 1 to 3, Lemmas 1 and 3 to 7"))
    source(Reference("Zhang16", "Section 4 and Appendix C.2"))
    source(Reference("dpbayes", "Theorem 3 of Dimitrakakis14, corrected"))
