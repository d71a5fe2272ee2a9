"""Pairs of tables with exact results, as examples for the theorems of [Dimitrakakis14].

The first pair has exponential records under Exp(1), one of which moves from 0 to rho; here c = 1. The second is one
throw of a coin whose log-odds are truncated to +-L rho.
"""

from dataclasses import replace

import numpy as np

from dpbayes.posteriors.smoothness import exponential_concentration
from dpbayes.theory.claims.claim import Assumption, Bound, flat, number
from dpbayes.theory.claims.setting import EvaluationPoint
from dpbayes.theory.dimitrakakis14.game import GammaPair

C = exponential_concentration(1.0)
SUPPOSED = Assumption("Assumption 1 (assumed here): the log-likelihood changes by at most Lρ", holds=True)
EXPONENTIAL = Assumption("Assumption 2: exponential records under Exp(1) have c = 1", holds=True)
TRIMMED = Assumption("Assumption 1: the coin’s log-odds are between −Lρ and Lρ", holds=True)


def exponential_pair(at: EvaluationPoint) -> GammaPair:
    """Return the posteriors of n exponential records, one of which is 0 under x and rho under y."""
    return GammaPair(np.array([at.knobs.size + 1.0]), np.ones(1), at.knobs.apart)


def pair_text(at: EvaluationPoint) -> str:
    """Return a description of this pair for a formula."""
    n, apart = at.knobs.size, at.knobs.apart
    return (
        f"Exponential records, $n = {n}$, rate $\\theta \\sim \\text{{Exp}}(1)$, so $c = 1$; all are 0 in $x$, and "
        f"one is $\\rho = {number(apart)}$ in $y$. Posteriors: $\\text{{Gamma}}({n + 1}, 1)$ and "
        f"$\\text{{Gamma}}({n + 1}, {number(1 + apart)})$"
    )


def given(bound: Bound, assumption: Assumption) -> Bound:
    """Return a bound with arrays of length 1 and one more assumption, which holds for the chosen pair."""
    return replace(flat(bound), assumptions=(assumption, *bound.assumptions))
