"""The exact laws of permute-and-flip, and of a round in which a graph is chosen by it."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.quadrature import panel_rule
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.structure import choice as structure_choice
from dpbayes.mechanisms.structure.choice import CandidateFamily, StructureChoice, cards_of, families_after, round_after
from dpbayes.mechanisms.structure.selection import flip_scale
from dpbayes.model.dataset import Dataset


def flip_log_pmf(scores: ArrayLike, scale: float) -> FloatArray:
    """Return ln of the probability of every candidate (k,), exactly.

    P[k] = p_k times the integral over t in (0, 1) of prod_j!=k (1 - t p_j), with p = exp((s - max s)/scale): t is when
    k is offered, if each candidate is at a uniform time of its own. The integrand is a polynomial, for which Gauss'
    quadrature is exact up to 150 candidates; beyond, its nodes lie closer than the integrand bends.
    """
    values = np.asarray(scores)
    logits, count = (values - values.max()) / scale, len(values)
    times, weights = panel_rule(nodes=min(count // 2 + 1, 40 + 4 * math.isqrt(count)))
    refused = np.log1p(-times[:, None] * np.exp(logits))  # by this time: (times, candidates)
    others = refused.sum(axis=1, keepdims=True) - refused
    return np.asarray(logits + special.logsumexp(others + np.log(weights[:, None]), axis=0))


def round_log_pmf(
    choice: StructureChoice, data: Dataset, joined: Sequence[int]
) -> tuple[tuple[CandidateFamily, ...], FloatArray]:
    """Return what the round after these nodes were joined chooses from, and ln of its probabilities."""
    cards = cards_of(data)
    families, stage = families_after(choice, cards, joined), round_after(choice, cards, data.n, joined)
    scores = structure_choice._scores(data, families, {})
    return families, flip_log_pmf(scores, flip_scale(stage.sensitivity, stage.epsilon))
