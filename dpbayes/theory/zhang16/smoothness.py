"""What makes a network smooth in its data.

At every parameter, [Zhang16] Assumption 1; or with prior mass at least 1 - exp(-c L), [Zhang16] Assumption 2.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.validation import InputError, finite_number
from dpbayes.posteriors.smoothness import discrete_log_ratio_bound, network_concentration, network_log_ratio_bound
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict
from dpbayes.theory.claims.counterexample import Counterexample

MOST_START = 1e4
"""Largest L0 taken."""


# Assumption 1


def lemma_2(constants: ArrayLike, *, distances: ArrayLike) -> Bound:
    """Return how far ln p moves between two records, from nodes' constants and distances (|I|,). [Zhang16] Lemma 2.

    Printed max_i L_i sum_i rho_i, certified sum_i L_i rho_i, for distances between families' values. Errors: those of
    `network_log_ratio_bound`.
    """
    certified = network_log_ratio_bound(constants, distances)
    printed = float(np.max(constants, initial=0.0)) * float(np.sum(distances))
    return Bound(
        claim=LEMMA_2,
        printed=np.asarray(printed),
        certified=np.asarray(certified),
        unit="nats of log-likelihood",
        confidence=1.0,
        assumptions=(),
        is_private=True,
    )


def counterexample_lemma_2(omega: float = 0.1) -> Counterexample:
    """Two records of X -> Y that agree in Y: a distance of Y's values alone is 0, yet ln p(y | x) moves.

    [Zhang16] Lemma 2: its hypothesis holds for no L_i, here with CPT entries omega and 1 - omega. Certified is the
    constant times the distance 1 between the families' values.
    """
    moved = abs(math.log(omega) - math.log1p(-omega))
    return Counterexample(
        LEMMA_2,
        f"X -> Y with P(Y=1 | X=0) = {omega:g} and P(Y=1 | X=1) = {1 - omega:g}; the records (0, 1) and (1, 1)",
        truth=moved,
        printed=0.0,
        certified=network_log_ratio_bound([discrete_log_ratio_bound(omega)], [1.0]),
        unit="nats of ln p(y | x)",
    )


def counterexample_uniform_exponential(constant: float = 10.0) -> Counterexample:
    """Show that no L serves all rates: at the rate 2 L, records one apart move ln p by 2 L.

    [Zhang16] Section 4.1, the exponential distribution.
    """
    level = finite_number("L", constant, low=1e-9, high=1e9)
    return Counterexample(
        EXPONENTIAL,
        f"Exp({2 * level:g}) records at distance |x - y| = 1, for L = {level:g}",
        truth=2 * level,
        printed=level,
        certified=2 * level,
        unit="nats of log-likelihood",
    )


# Assumption 2


def lemma_3(constants: ArrayLike, *, start: float, at: ArrayLike) -> Bound:
    """Return the prior mass without constant L, at every L of `at` (...), for nodes' concentrations (|I|,).

    Printed exp(-c' L), c' = min c - ln|I| / L0; certified the union bound sum_i exp(-c_i L) behind it. Both need
    L >= L0 = `start`, and are NaN below it; printed is NaN where L0 is too small for the network. [Zhang16] Lemma 3.
    """
    rates, levels = np.asarray(constants, dtype=np.float64), np.asarray(at, dtype=np.float64)
    if rates.ndim != 1 or not rates.size or not np.all(rates > 0):
        raise InputError("Give one positive concentration for every node.")
    threshold = finite_number("L0", start, low=1e-12, high=MOST_START)
    enough = rates.size < math.exp(min(threshold * float(rates.min()), 700.0))
    combined = network_concentration(rates, threshold) if enough else math.nan
    reached = levels >= threshold
    union = np.exp(-levels[..., None] * rates).sum(axis=-1)
    return Bound(
        claim=LEMMA_3,
        printed=np.where(reached, np.exp(-combined * levels), np.nan),
        certified=np.where(reached, np.minimum(union, 1.0), np.nan),
        unit="prior mass",
        confidence=1.0,
        assumptions=(
            Assumption("|I| < exp(L0 min c)", enough),
            Assumption("L is at least L0", bool(np.all(reached))),
        ),
        is_private=True,
    )


def counterexample_appendix_b2(level: float = 5.0) -> Counterexample:
    """Refute c' = ln|I| min c with three independent exponential nodes. [Zhang16] Appendix B.2.

    With Exp(theta_i) records and theta_i ~ Exp(c_i) the mass without L is exactly 1 - prod (1 - exp(-c_i L)).
    """
    rates = np.array([1.0, 2.0, 3.0])
    combined = network_concentration(rates, level)
    return Counterexample(
        APPENDIX_B2,
        f"|I| = 3 independent exponential nodes, c = (1, 2, 3), L = L0 = {level:g}",
        truth=-math.expm1(float(np.log1p(-np.exp(-rates * level)).sum())),
        printed=math.exp(-math.log(3) * rates.min() * level),
        certified=math.exp(-combined * level),
        unit="prior mass",
    )


ASSUMPTION_1 = Claim(
    Reference("Zhang16", "Assumption 1"),
    "The likelihood is Lipschitz in the data at every parameter",
    r"|\ln p_\theta(x) - \ln p_\theta(y)| \le L \rho(x, y)",
    Verdict.HOLDS,
    "A definition; a factor of the likelihood without the parameter cancels in the posterior and may be left out.",
)
EXPONENTIAL = Claim(
    Reference("Zhang16", "Section 4.1, the exponential distribution"),
    "The exponential distribution is Lipschitz at all rates",
    r"\sup_\theta |\ln p_\theta(x) - \ln p_\theta(y)| \le L |x - y|",
    Verdict.FALSE,
    "The constant is the rate itself, so it needs rates that are bounded, or Assumption 2 instead.",
)
LEMMA_2 = Claim(
    Reference("Zhang16", "Lemma 2"),
    "Lipschitz nodes make a Lipschitz network",
    r"|\ln p(x) - \ln p(y)| \le \|L\|_\infty \sum_i \rho_i(x_i, y_i)",
    Verdict.VACUOUS,
    "Equal values under different parents have distance 0, so no node with parents qualifies unless distances are "
    "between families' values; then the sum of L_i rho_i holds and is smaller.",
)
ASSUMPTION_2 = Claim(
    Reference("Zhang16", "Assumption 2"),
    "The prior gives the parameters that are not L-Lipschitz little mass",
    r"\xi(\Theta_L) \ge 1 - e^{-cL}, \quad L \ge L_0",
    Verdict.HOLDS,
    "A definition; a uniform row satisfies it with c = ln((1 + exp(L0))/2)/L0, which is below 1 for every L0.",
)
LEMMA_3 = Claim(
    Reference("Zhang16", "Lemma 3"),
    "Nodes concentrated on smooth parameters make a network that is",
    r"c' = \min_i c_i - \ln|\mathcal I| / L_0",
    Verdict.AMENDED,
    "It holds for |I| < exp(L0 min c) with distances between families' values; with the printed ones a node with "
    "parents has no smooth parameters under a continuous prior.",
)
APPENDIX_B2 = Claim(
    Reference("Zhang16", "Appendix B.2"),
    "The proof's concentration of the network",
    r"c' = \ln|\mathcal I| \, \min_i c_i",
    Verdict.FALSE,
    "It grows with the number of nodes where it must fall; the lemma's own c' is right.",
)
CLAIMS: tuple[Claim, ...] = (ASSUMPTION_1, LEMMA_2, EXPONENTIAL, ASSUMPTION_2, LEMMA_3, APPENDIX_B2)
