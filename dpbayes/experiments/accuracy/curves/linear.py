"""Curves of noise that is added to counts, or to a linear map of them: sampled once, and scaled to every epsilon."""

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.steps import Work, part_of
from dpbayes.base.text import latex, numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.cost import refuse_long_search
from dpbayes.experiments.accuracy.curves.whole_gaussian import whole_gaussian
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import Releases
from dpbayes.experiments.accuracy.streams import Streams
from dpbayes.mechanisms import (
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceUpdates,
    Noise,
    WeightedFourier,
)
from dpbayes.mechanisms.noise.law import gaussian_shift_of, whole_noise
from dpbayes.mechanisms.noise.sensitivity import squared_count_sensitivity
from dpbayes.mechanisms.noise.shares import counted, searched
from dpbayes.mechanisms.parameters import DELTA
from dpbayes.model.fourier import marginals

NEAR = f"δ = {numeral(DELTA.typical)}"
"""What stands beside epsilon wherever noise is Gaussian."""

_MOST_FOURIER_SETS = 2048
"""With as many the best scales take six seconds at most; with twice as many, minutes."""

_MOST_RESIDUAL_SETS = 4096
"""With as many the best variances take ten seconds at most; with 16,000, half a minute."""


@dataclass(frozen=True)
class _Law:
    """Noise of scale 1 from a generator, and whole noise at any scales from samples that all scales share."""

    real: Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
    shared: Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
    whole: Callable[[FloatArray, FloatArray], FloatArray]


_LAPLACE = _Law(
    real=lambda rng, shape: rng.laplace(size=shape),
    shared=lambda rng, shape: rng.standard_exponential((*shape, 2)),
    whole=whole_noise,
)
_GAUSSIAN = _Law(
    real=lambda rng, shape: rng.standard_normal(size=shape),
    shared=lambda rng, shape: rng.standard_normal(size=shape),
    whole=whole_gaussian,
)


def _of_cells(
    law: _Law, releases: Releases, counts: FloatArray, rng: np.random.Generator, scales: FloatArray, most: float
) -> Work[FloatArray]:
    """Return ln CPTs (R, E, K) of counts with noise of scales (E,) in every cell, clipped to [0, most]."""
    here, column = releases.blanket.local_counts(counts), scales[:, None]
    if releases.plan.noise is Noise.REAL:
        updates = here[:, None] + column * law.real(rng, here.shape)[:, None]
    else:
        updates = here[:, None] + law.whole(law.shared(rng, here.shape)[:, None], column)
    yield 0.5
    return releases.log_mean(np.clip(updates, 0.0, most, out=updates))


@dataclass(frozen=True, eq=False)
class _Numbers:
    """Numbers (numbers,) that get noise of scales `units`, and the linear map from their noise to that of all cells.

    Whole noise is whole in numbers times `lengths`.
    """

    law: _Law
    units: FloatArray
    tables: Callable[[FloatArray], FloatArray]
    lengths: FloatArray | float = 1.0


def _of_tables(
    numbers: _Numbers, releases: Releases, counts: FloatArray, rng: np.random.Generator, scales: FloatArray
) -> Work[FloatArray]:
    """Return ln CPTs (R, E, K) of counts with noise of scales (E,) on other numbers, clipped at zero."""
    here, shape, law = releases.blanket.local_counts(counts), (len(counts), len(numbers.units)), numbers.law
    if releases.plan.noise is Noise.REAL:
        noise = releases.blanket.local_counts(numbers.tables(numbers.units * law.real(rng, shape)))
        yield 0.5
        updates = here[:, None] + scales[:, None] * noise[:, None]
    else:
        shared, updates = law.shared(rng, shape), np.empty((len(counts), len(scales), here.shape[-1]))
        for k, scale in enumerate(scales):  # the noise of all cells at all of them would not fit in memory
            whole = law.whole(shared, scale * numbers.units * numbers.lengths)
            updates[:, k] = here + releases.blanket.local_counts(numbers.tables(whole / numbers.lengths))
            yield (k + 1) / len(scales)
    return releases.log_mean(np.maximum(updates, 0.0, out=updates))


def _shifts(releases: Releases) -> FloatArray:
    """Return mu at every epsilon of the grid and the typical delta: (E,)."""
    return np.array(_shifts_of(releases.plan.noise, releases.plan.epsilons))


@functools.lru_cache(maxsize=64)
def _shifts_of(noise: Noise, epsilons: tuple[float, ...]) -> tuple[float, ...]:
    # Every block of repeats needs them, and each is a search.
    return tuple(gaussian_shift_of(noise, epsilon, delta=DELTA.typical) for epsilon in epsilons)


def _laplace(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    scales, most = _count_scale(releases) / releases.plan.grid, float(releases.plan.training)
    return (yield from _of_cells(_LAPLACE, releases, counts, streams("LAPLACE"), scales, most))


def _gaussian(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    yield 0.0
    scales = math.sqrt(squared_count_sensitivity(releases.plan.network)) / _shifts(releases)
    return (yield from _of_cells(_GAUSSIAN, releases, counts, streams("GAUSSIAN"), scales, np.inf))


def _consistent(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    # The fit is linear in noise, and leaves counts as they are, which agree already.
    def fitted(noise: FloatArray) -> FloatArray:
        return releases.plan.network.residuals.consistent(noise, 0.0)

    numbers, scales = _Numbers(_LAPLACE, np.ones(counts.shape[-1]), fitted), _count_scale(releases) / releases.plan.grid
    return (yield from _of_tables(numbers, releases, counts, streams("CONSISTENT"), scales))


def _weighted(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    yield 0.0
    unit = _weighted_unit(releases)
    yield from part_of(searched(unit), 0.0, 0.5)
    numbers = _Numbers(_LAPLACE, unit.scales, functools.partial(marginals, releases.plan.network))
    return (yield from _of_tables(numbers, releases, counts, streams("WEIGHTED"), 1 / releases.plan.grid))


def _residuals(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    yield 0.0
    residuals, unit = releases.plan.network.residuals, _residual_unit(releases)
    yield from part_of(searched(unit), 0.0, 0.5)
    units = np.sqrt(unit.design.scales)[residuals.set_of_number]
    numbers = _Numbers(_GAUSSIAN, units, residuals.tables, residuals.lengths)
    return (yield from _of_tables(numbers, releases, counts, streams("RESIDUALS"), 1 / _shifts(releases)))


def _count_scale(releases: Releases) -> float:
    """The scale of Laplace noise on counts at epsilon = 1."""
    return LaplaceUpdates(prior=releases.prior, epsilon=1.0).noise_scale


def _weighted_unit(releases: Releases) -> WeightedFourier:
    return WeightedFourier(prior=releases.prior, epsilon=1.0, weights=releases.plan.weights)


def _residual_unit(releases: Releases) -> GaussianResiduals:
    return GaussianResiduals(prior=releases.prior, epsilon=1.0, weights=releases.plan.weights)


LAPLACE = Method(
    name="laplace",
    titled=Look("Laplace", LaplaceUpdates.colour),
    kind=LaplaceUpdates,
    option=("laplace", "Laplace"),
    log_cpts=_laplace,
)
GAUSSIAN = Method(
    name="gaussian",
    titled=Look(f"Gaussian ({NEAR})", GaussianUpdates.colour),
    kind=GaussianUpdates,
    option=("gaussian", "Gaussian"),
    log_cpts=_gaussian,
    seconds=lambda size: 2e-7 * size.local_cells * size.drawings,
)
CONSISTENT = Method(
    name="consistent",
    titled=Look("consistent Laplace", ConsistentLaplace.colour),
    kind=ConsistentLaplace,
    option=("consistent", "consistent Laplace"),
    log_cpts=_consistent,
    seconds=lambda size: 1e-7 * size.cells * size.drawings,
)
WEIGHTED = Method(
    name="weighted",
    titled=Look("weighted Fourier", WeightedFourier.colour),
    kind=WeightedFourier,
    option=("weighted", "weighted Fourier"),
    suits=lambda network: refuse_long_search(network, most=_MOST_FOURIER_SETS),
    log_cpts=_weighted,
    seconds=lambda size: 1e-7 * size.cells * size.drawings,
    prepared=lambda size: 2e-9 * float(size.cells) ** 3,  # the search: seconds where a family has ten parents
)
RESIDUALS = Method(
    name="residuals",
    titled=Look(f"Gaussian residuals ({NEAR})", GaussianResiduals.colour),
    kind=GaussianResiduals,
    option=("residuals", "Gaussian residuals"),
    suits=lambda network: refuse_long_search(network, most=_MOST_RESIDUAL_SETS),
    log_cpts=_residuals,
    seconds=lambda size: 2e-7 * size.cells * size.drawings,
    prepared=lambda size: 5e-4 * size.cells,
)


def _laplace_formula(methods: Sequence[Method], releases: Releases) -> list[str]:
    noise = releases.plan.noise
    return [
        f"- **Laplace**: counts + Lap$(2|I|/\\varepsilon)$ = Lap$({latex(_count_scale(releases), 6)}/\\varepsilon)$, "
        f"clipped to $[0, {releases.plan.training:,}]$.{noise.drawn}"
    ]


def _gaussian_formula(methods: Sequence[Method], releases: Releases) -> list[str]:
    plan = releases.plan
    return [
        f"- **{GAUSSIAN.title}**: counts + ${plan.noise.gaussian_symbol}(0, s^2)$ with $s = \\sqrt{{2|I|}}/\\mu$, "
        f"$\\mu$ the largest shift that is $(\\varepsilon, \\delta)$-private, $\\delta = {latex(DELTA.typical)}$; "
        f"clipped at zero.{plan.noise.drawn}"
    ]


def _consistent_formula(methods: Sequence[Method], releases: Releases) -> list[str]:
    return [
        f"- **{CONSISTENT.title}**: counts + Lap$(2|I|/\\varepsilon)$ = "
        f"Lap$({latex(_count_scale(releases), 6)}/\\varepsilon)$ "
        f"in all cells of the network, then the nearest consistent tables; clipped at zero."
        f"{releases.plan.noise.drawn}"
    ]


def _weighted_formula(methods: Sequence[Method], releases: Releases) -> list[str]:
    design = _weighted_unit(releases).design
    noisy = design.scales[design.scales > 0]
    return [
        f"- **{WEIGHTED.title}**: coefficients + Lap$(b_A/\\varepsilon)$. The $b_A$, from {numeral(noisy.min(), 3)} to "
        f"{numeral(noisy.max(), 3)}, minimise the error of the cells{counted(releases.plan.weights)}; clipped at "
        f"zero.{releases.plan.noise.drawn}"
    ]


def _residual_formula(methods: Sequence[Method], releases: Releases) -> list[str]:
    design, plan = _residual_unit(releases).design, releases.plan
    return [
        f"- **{RESIDUALS.title}**: residuals + ${plan.noise.gaussian_symbol}(0, s_A)$ for "
        f"{np.count_nonzero(design.scales):,} sets $A$. The $s_A$ minimise the error of the cells"
        f"{counted(plan.weights)}, at $\\delta = {latex(DELTA.typical)}$; clipped at zero.{plan.noise.drawn}"
    ]


def _notes(methods: Sequence[Method], releases: Releases) -> list[str]:
    return [
        f"Gaussian noise has the weaker guarantee (ε, δ) with {NEAR}: the loss exceeds ε with at most that probability."
    ]


def _gaussian_notes(methods: Sequence[Method], releases: Releases) -> list[str]:
    return _notes(methods, releases) if GAUSSIAN in methods else []


def _residual_notes(methods: Sequence[Method], releases: Releases) -> list[str]:
    return [] if GAUSSIAN in methods or RESIDUALS not in methods else _notes(methods, releases)


CURVES = (
    Curves(kind=LaplaceUpdates, methods=(LAPLACE,), formulas=_laplace_formula),
    Curves(kind=ConsistentLaplace, methods=(CONSISTENT,), formulas=_consistent_formula),
    Curves(kind=WeightedFourier, methods=(WEIGHTED,), formulas=_weighted_formula),
    Curves(kind=GaussianUpdates, methods=(GAUSSIAN,), formulas=_gaussian_formula, notes=_gaussian_notes),
    Curves(kind=GaussianResiduals, methods=(RESIDUALS,), formulas=_residual_formula, notes=_residual_notes),
)
