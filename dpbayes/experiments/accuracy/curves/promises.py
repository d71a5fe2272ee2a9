"""What the promises of an accuracy experiment rest on beside epsilon: trials that may all fail, coins."""

import math

import numpy as np
from scipy import special

from dpbayes.experiments.accuracy.releases import ReleasePlan
from dpbayes.posteriors.decisions import Decisions
from dpbayes.theory.zhang16.fourier import printed_noise
from dpbayes.theory.zhang16.stealth import negative_marginal_probability, printed_increment

ATTEMPTS = 100
"""Tries at a non-negative Fourier release, where only those are kept; after these, negative counts become zero."""

_LEAST = 1e-300
"""Tails below are held to be this, which is above them and has a logarithm."""


def log10_delta_of_kept(plan: ReleasePlan) -> float:
    """Return log10 of the delta beside the doubled epsilon of "Fourier (paper)", whatever the table.

    A try with density f fails, by a negative count, with probability p. What succeeds within a = ATTEMPTS + 1 tries has
    the density f (1 - p^a)/(1 - p) = f (1 + p + ... + p^(a - 1)). From one table to its neighbour f grows by at most
    e^epsilon; the sum grows only if p does, and then by no more than 1/(1 - p) does, at most e^epsilon again. What
    never succeeds is clipped and handed over, with probability p^a, which is delta. p is at most that of zero counts,
    bounded by [Zhang16] Corollary 3, corrected. Errors: InputError when a node is not binary.
    """
    network, t = plan.network, float(printed_increment(plan.stealth))
    by_family = float(negative_marginal_probability(network, noise=printed_noise(network), t=t))
    terms = len(network.closure)
    failing = min(by_family, float(special.gammaincc(terms, 2 * t * terms)))
    return (ATTEMPTS + 1) * math.log10(max(failing, _LEAST))


def coin_until(plan: ReleasePlan) -> float:
    """Return up to which epsilon the printed omega = e^(-epsilon/2) leaves only even odds: 2 ln 2 if all are binary."""
    return 2 * deepest(plan) * math.log(2)


def deepest(plan: ReleasePlan) -> int:
    """Return the most yes-no decisions that lead to a state of any node: 1 in a binary network."""
    return max(1, int(np.max(Decisions(plan.network).depths)))
