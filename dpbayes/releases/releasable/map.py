"""The private choice of a cell for every decision."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpbayes.base.steps import Work
from dpbayes.base.text import numeral
from dpbayes.base.types import IntArray
from dpbayes.mechanisms import MapEstimate, MapExponential
from dpbayes.mechanisms.map.exponential import CELLS
from dpbayes.mechanisms.map.scores import cell_masses, node_sensitivities
from dpbayes.mechanisms.noise.confirmed import Calibrated
from dpbayes.posteriors.decisions import Decisions
from dpbayes.releases.noise import Scores, gumbel_answer, gumbel_choices, gumbel_scale, whole
from dpbayes.releases.releasable.entry import Asked, Releasable, Sensitivity

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
    calibrated=lambda asked: gumbel_scale(asked.sensitivity.value, asked.epsilon),
    loss=lambda sensitivity, scale: 2 * sensitivity / scale,
    answer=lambda asked, scale: gumbel_answer(asked.sensitivity.value, scale),
    allowed=lambda epsilon: epsilon**2 / 8,
    draw=_chosen_cells,
    outcome=_estimate,
    simulated=_map,
    accuracy=lambda asked, scale: (
        f"Every probability was chosen by lot from steps of {_rounded_to(asked)}, the likelier the better it fits; "
        "where there are many tables or few records it says little."
    ),
)
