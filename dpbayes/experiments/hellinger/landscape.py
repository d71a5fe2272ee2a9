"""Sensitivities of the Hellinger score over all counts, and the mechanisms' outputs for hypothetical throws.

Sensitivities at real data would be private; these belong to counts that a person chose.
"""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.experiments.hellinger.errors import DieNoise, noisy_counts, sensitivities
from dpbayes.experiments.hellinger.scenario import DieMethod, Scenario
from dpbayes.model.compositions import composition_indices
from dpbayes.posteriors import hellinger

MOST_POINTS = 1001
LINE_POINTS = 41
PLANE_POINTS = 81
MOST_BINS = 121


@dataclass(frozen=True, eq=False)
class SensitivityLine:
    """The sensitivities for `first` (P,) throws on side 1, taken from side 2, with the other sides as in the data."""

    first: FloatArray
    local: FloatArray
    smooth: FloatArray
    everywhere: float


def sensitivity_line(scenario: Scenario) -> SensitivityLine:
    """Return global, local and smooth sensitivity along the line through the data; with two sides, of all candidates.

    [Notes] Section 2. Long lines are thinned, but keep the ends and the data.
    """
    die, counts = scenario.die, scenario.counts
    both = int(counts[0] + counts[1])
    points = MOST_POINTS if die.sides == 2 else LINE_POINTS
    first = np.unique([*np.rint(np.linspace(0, both, min(points, both + 1))).astype(int), int(counts[0])])
    shown = np.tile(counts, (len(first), 1))
    shown[:, 0], shown[:, 1] = first, both - first
    places = composition_indices(shown)
    if die.sides == 2:
        smooth = hellinger.smooth_sensitivities(die, beta=scenario.beta)[places]
    else:  # the whole table would take longer than these
        smooth = np.array([hellinger.smooth_sensitivity(die, counts=row, beta=scenario.beta) for row in shown])
    return SensitivityLine(first, die.local_sensitivities[places], smooth, hellinger.global_sensitivity(die))


@dataclass(frozen=True, eq=False)
class SensitivityPlane:
    """The sensitivities of three sides for `ticks` (P,) throws on sides 1 and 2: (P, P), side 2 first.

    NaN if there would be too many throws.
    """

    ticks: FloatArray
    local: FloatArray
    smooth: FloatArray


def sensitivity_plane(scenario: Scenario) -> SensitivityPlane:
    """Return local and smooth sensitivity over the candidates of a die of three sides, at most PLANE_POINTS a side."""
    die = scenario.die
    ticks = np.unique(np.rint(np.linspace(0, die.n, min(PLANE_POINTS, die.n + 1))).astype(int))
    first, second = np.meshgrid(ticks, ticks)
    fits = first + second <= die.n
    places = composition_indices(np.stack([first, second, die.n - first - second], axis=-1)[fits])
    local, smooth = np.full(fits.shape, np.nan), np.full(fits.shape, np.nan)
    local[fits] = die.local_sensitivities[places]
    smooth[fits] = hellinger.smooth_sensitivities(die, beta=scenario.beta)[places]
    return SensitivityPlane(ticks, local, smooth)


@dataclass(frozen=True, eq=False)
class Outputs:
    """The distribution of side 1's released count over bins: `edges` (B + 1,), `shares` (B,) by method."""

    edges: FloatArray
    shares: dict[DieMethod, FloatArray]


def window_around(scenario: Scenario) -> tuple[int, int]:
    """Return the counts of side 1 within 20/epsilon of the data: all but e^-20 of the Laplace noise on one count."""
    middle, reach = int(scenario.counts[0]), int(np.ceil(20 / scenario.epsilon))
    return max(0, middle - reach), min(scenario.n, middle + reach)


def outputs(scenario: Scenario, noise: DieNoise, *, window: tuple[int, int]) -> Outputs:
    """Return the distribution of side 1's released count within `window`, for two sides, in at most MOST_BINS bins.

    It is exact except for `DieMethod.CELLS`, which is simulated.
    """
    low, high = window
    width = -(-(high - low + 1) // MOST_BINS)
    edges = np.arange(low, high + width + 1, width, dtype=np.float64) - 0.5
    below = _cumulative(scenario, noise, np.clip(edges, -0.5, scenario.n + 0.5))
    return Outputs(edges, {method: np.diff(below[method]) for method in scenario.methods})


def _cumulative(scenario: Scenario, noise: DieNoise, edges: FloatArray) -> dict[DieMethod, FloatArray]:
    """Return P[released count of side 1 < edge] at every edge."""
    die, counts = scenario.die, scenario.counts
    distance = hellinger.distances(die, counts=counts)
    cumulative: dict[DieMethod, FloatArray] = {}
    for method in scenario.methods:
        if method is DieMethod.ONE:
            z = (edges - counts[0]) * scenario.epsilon
            tail = np.exp(-np.abs(z)) / 2
            below = np.where(z < 0, tail, 1 - tail)
            below[edges < 0], below[edges > die.n] = 0.0, 1.0  # clipping: values beyond an end are at that end
            cumulative[method] = below
        elif method is DieMethod.CELLS:
            released = np.sort(noisy_counts([scenario], method, noise)[0, :, 0])
            cumulative[method] = np.searchsorted(released, edges) / len(released)
        else:
            scale = float(sensitivities([scenario], method)[0])
            law = np.exp(hellinger.log_pmf(distance, epsilon=scenario.spent(method), sensitivity=scale))
            cumulative[method] = np.append(0.0, np.cumsum(law))[np.ceil(edges).astype(int)]
    return cumulative
