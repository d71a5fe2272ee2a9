"""The mechanisms that can really be released: those whose noise is drawn exactly. Each is one entry of RELEASABLE.

All of an entry's functions but `draw` are given what is public alone.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from dpbayes.base.parameters import Parameter
from dpbayes.base.steps import Work
from dpbayes.base.text import numeral
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, MapEstimate, MapExponential
from dpbayes.mechanisms.base import Noise, Outcome, ReleasedPosterior
from dpbayes.mechanisms.confirmed import Calibrated
from dpbayes.mechanisms.fourier import INCREMENT
from dpbayes.mechanisms.map import CELLS
from dpbayes.mechanisms.map_scores import cell_masses, node_sensitivities
from dpbayes.mechanisms.sensitivity import count_sensitivity, walsh_sensitivity
from dpbayes.model.fourier import coefficients, marginals, require_binary
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.releases.noise import (
    Scores,
    gumbel_answer,
    gumbel_choices,
    gumbel_scale,
    laplace_answer,
    laplace_scale,
    whole,
    with_laplace,
)

REACH = 100
"""So many scales away noise is taken for a mistake: it is, but for once in e^100 draws."""


class Asked(Protocol):
    """What an entry is told of a release: all of it public."""

    @property
    def network(self) -> Network: ...
    @property
    def dirichlets(self) -> Dirichlets: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def n(self) -> int: ...
    @property
    def settings(self) -> Mapping[str, Fraction]: ...


@dataclass(frozen=True)
class Sensitivity:
    """How far one replaced record moves what the noise is put on: a whole number, of what, and why."""

    value: int
    of: str
    lemma: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Releasable:
    """A mechanism that can be released. `settings` are its own numbers, by name.

    length(asked) -> how many integers; span(asked, scale) -> the least and the largest that can be believed.
    least_scale(sensitivity, epsilon) -> the exact scale; calibrated(sensitivity, epsilon) -> the one in use. answer(
    sensitivity, scale) -> what OpenDP's map says there: a number of what is `answered`, at most allowed(epsilon).
    draw(asked, counts, calibration) -> Work of the integers, from counts (K,). outcome(asked, integers) -> what a
    recipient makes of them. simulated(asked) -> the mechanism that is audited. accuracy(asked, scale) -> a sentence.
    """

    label: str
    law: str
    integers: str
    answered: str
    settings: Mapping[str, Parameter] = field(default_factory=lambda: MappingProxyType({}))
    require: Callable[[Network], None] = lambda network: None
    sensitivity: Callable[[Asked], Sensitivity]
    length: Callable[[Asked], int]
    span: Callable[[Asked, Fraction], tuple[int, int]]
    calibrated: Callable[[int, Fraction], Calibrated]
    least_scale: Callable[[int, Fraction], Fraction]
    answer: Callable[[int, float], float]
    allowed: Callable[[Fraction], Fraction]
    draw: Callable[[Asked, IntArray, Calibrated], Work[tuple[int, ...]]]
    outcome: Callable[[Asked, IntArray], Outcome]
    simulated: Callable[[Asked], Any]
    accuracy: Callable[[Asked, Fraction], str]


def _reach(asked: Asked, scale: Fraction) -> tuple[int, int]:
    return -asked.n - math.ceil(REACH * scale), asked.n + math.ceil(REACH * scale)


def _within(scale: Fraction) -> str:
    return numeral(math.log(10) * float(scale))


# Counts


def _count_sensitivity(asked: Asked) -> Sensitivity:
    return Sensitivity(
        count_sensitivity(asked.network),
        "all counts together, in L1",
        "Zhang, Rubinstein and Dimitrakakis 2016, Lemma 1: a replaced record changes two counts of every node by one",
    )


def _clipped(asked: Asked, integers: IntArray) -> ReleasedPosterior:
    return ReleasedPosterior(asked.dirichlets, np.clip(integers, 0, asked.n).astype(np.float64))


_DISCRETE_LAPLACE = "discrete Laplace: P[z] proportional to exp(-|z| / scale) over the whole numbers"

_PURE = "epsilon of pure privacy"

LAPLACE = Releasable(
    label="Laplace",
    law=_DISCRETE_LAPLACE,
    integers="a noisy count of every cell, in the order of the network's cells",
    answered=_PURE,
    sensitivity=_count_sensitivity,
    length=lambda asked: asked.network.cell_count,
    span=_reach,
    calibrated=laplace_scale,
    least_scale=lambda sensitivity, epsilon: sensitivity / epsilon,
    answer=laplace_answer,
    allowed=lambda epsilon: epsilon,
    draw=lambda asked, counts, calibration: with_laplace(counts, calibration),
    outcome=_clipped,
    simulated=lambda asked: LaplaceUpdates(prior=asked.dirichlets, epsilon=float(asked.epsilon), noise=Noise.WHOLE),
    accuracy=lambda asked, scale: (
        f"Nine of ten of the counts are within {_within(scale)} records of the true ones, so small groups cannot be "
        "told from the noise."
    ),
)


# Fourier coefficients


def _walsh_sensitivity(asked: Asked) -> Sensitivity:
    exact = asked.network.closure.odd_overlap.exact
    return Sensitivity(
        walsh_sensitivity(asked.network),
        "all Walsh coefficients together, in L1",
        "Zhang, Rubinstein and Dimitrakakis 2016, Corollary 2, sharpened: a replaced record changes "
        f"{'at most' if exact else 'no more than'} O coefficients, each by two, where O is "
        f"{'the largest number' if exact else 'a proved upper bound of the number'} of coefficients that two records "
        "give opposite signs",
    )


def _rebuilt(asked: Asked, integers: IntArray) -> ReleasedPosterior:
    size, t = len(asked.network.closure), float(asked.settings["t"])
    lift = 2 * t * size * float(_walsh_sensitivity(asked).value / asked.epsilon)
    values = np.concatenate(([asked.n + lift], integers.astype(np.float64)))
    return ReleasedPosterior(asked.dirichlets, marginals(asked.network, values))


FOURIER = Releasable(
    label="Fourier",
    law=_DISCRETE_LAPLACE,
    integers="a noisy Walsh coefficient of every subset of a family but the empty one, whose coefficient is n",
    answered=_PURE,
    settings={"t": INCREMENT},
    require=require_binary,
    sensitivity=_walsh_sensitivity,
    length=lambda asked: len(asked.network.closure) - 1,
    span=_reach,
    calibrated=laplace_scale,
    least_scale=lambda sensitivity, epsilon: sensitivity / epsilon,
    answer=laplace_answer,
    allowed=lambda epsilon: epsilon,
    draw=lambda asked, counts, calibration: with_laplace(coefficients(asked.network, counts)[1:], calibration),
    outcome=_rebuilt,
    simulated=lambda asked: LaplaceFourier(
        prior=asked.dirichlets, epsilon=float(asked.epsilon), t=float(asked.settings["t"]), noise=Noise.WHOLE
    ),
    accuracy=lambda asked, scale: (
        f"Nine of ten of the coefficients are within {_within(scale)} of the true ones, so small groups cannot be "
        "told from the noise."
    ),
)


# Private MAP

UNIT = 2**30
"""Scores are posterior masses in units of one part of so many, rounded to whole numbers."""

_ROUNDING = 2
"""How many units rounding may add to what a score moves by: a half at either end, and less than a quarter each for the
error of a mass, which is taken to be below 1e-10."""

_MARGIN = 1 + 2.0**-20


def _score_sensitivity(asked: Asked) -> Sensitivity:
    network = asked.network
    # One record touches the decisions on the way to two states of every node.
    touched = 2 * int(Decisions(network).depths.sum())
    moved = float(node_sensitivities(asked.dirichlets).sum())
    return Sensitivity(
        (math.ceil(moved * UNIT * _MARGIN) + _ROUNDING * touched) if moved else 0,
        "the sum of all scores, posterior masses in units of 1/2^30",
        "Zhang, Rubinstein and Dimitrakakis 2016, Algorithm 3, scored by mass: one more count moves a mass of a "
        "Beta(a, b) by at most D(a) = a^a e^-a / Gamma(a + 1), one replaced by D(a) D(b) / D(a + b), and rounding by "
        "two units; the masses are taken to be computed within 1e-10",
    )


def _map(asked: Asked) -> MapExponential:
    return MapExponential(prior=asked.dirichlets, epsilon=float(asked.epsilon), cells=int(asked.settings["cells"]))


def _chosen_cells(asked: Asked, counts: IntArray, calibration: Calibrated) -> Work[tuple[int, ...]]:
    decisions = asked.network.cell_count - asked.network.row_count
    return gumbel_choices(cell_scores(asked, counts, calibration.scale), decisions, calibration.scale)


def cell_scores(asked: Asked, counts: IntArray, scale: Fraction) -> Callable[[slice], Scores]:
    """Return a function that gives some decisions' cells of positive prior mass, and the whole score of each.

    A score is the posterior mass in units, and scale times ln prior mass, which is the same for every table: chosen by
    P[g] ~ exp(score_g / scale), a cell has the probability of `MapExponential`, but for the rounding to units.
    """
    decisions, cells = Decisions(asked.network), int(asked.settings["cells"])
    prior = decisions.parameters(asked.dirichlets.alpha)
    posterior = decisions.parameters(asked.dirichlets.updated(counts).alpha)

    def scored(block: slice) -> Scores:
        with np.errstate(divide="ignore"):
            offsets = float(scale) * np.log(cell_masses(prior[0][block], prior[1][block], cells=cells))
        masses = whole(UNIT * cell_masses(posterior[0][block], posterior[1][block], cells=cells))
        allowed = [np.flatnonzero(np.isfinite(row)) for row in offsets]
        return [(at, row[at] + whole(base[at])) for at, row, base in zip(allowed, masses, offsets, strict=True)]

    return scored


def _estimate(asked: Asked, integers: IntArray) -> MapEstimate:
    return MapEstimate(asked.network, integers, int(asked.settings["cells"]))


def _rounded_to(asked: Asked) -> str:
    return numeral(1 / int(asked.settings["cells"]))


MAP = Releasable(
    label="Private MAP",
    law="exponential mechanism: P[cell] proportional to its prior mass times exp(score / scale), by Gumbel noise",
    integers="the cell chosen for every decision of every row of the tables, counted from 0",
    answered=(
        "rho of zero-concentrated privacy, at most epsilon^2 / 8: the loss of this law has a range of epsilon, and is "
        "itself at most epsilon"
    ),
    settings={"cells": CELLS},
    sensitivity=_score_sensitivity,
    length=lambda asked: asked.network.cell_count - asked.network.row_count,
    span=lambda asked, scale: (0, int(asked.settings["cells"]) - 1),
    calibrated=gumbel_scale,
    least_scale=lambda sensitivity, epsilon: 2 * sensitivity / epsilon,
    answer=gumbel_answer,
    allowed=lambda epsilon: epsilon**2 / 8,
    draw=_chosen_cells,
    outcome=_estimate,
    simulated=_map,
    accuracy=lambda asked, scale: (
        f"Every probability was chosen by lot from steps of {_rounded_to(asked)}, the likelier the better it fits; "
        "where there are many tables or few records it says little."
    ),
)


RELEASABLE: Mapping[str, Releasable] = MappingProxyType({"laplace": LAPLACE, "fourier": FOURIER, "map": MAP})
"""What can be released, by the name that a request has for it."""


def releasable(mechanism: object) -> Releasable:
    """Return an entry by its name. Errors: InputError for a mechanism of which no exact draw is known."""
    if not isinstance(mechanism, str) or mechanism not in RELEASABLE:
        raise InputError(
            f"No exact way to draw from the mechanism {brief(mechanism)} is known here, so it cannot be really "
            f"released; {', '.join(RELEASABLE)} can."
        )
    return RELEASABLE[mechanism]
