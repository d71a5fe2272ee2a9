"""The curve of Gaussian noise on counts: drawn once for every repeat and scaled to every epsilon."""

import functools
import math
from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.steps import Work
from dpbayes.base.text import latex, numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.curves.whole_gaussian import whole_gaussian
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import Releases
from dpbayes.experiments.accuracy.size import Size
from dpbayes.experiments.accuracy.streams import Streams
from dpbayes.mechanisms import GaussianUpdates, Noise
from dpbayes.mechanisms.noise.law import gaussian_shift_of
from dpbayes.mechanisms.noise.sensitivity import squared_count_sensitivity
from dpbayes.mechanisms.parameters import DELTA

NEAR = f"δ = {numeral(DELTA.typical)}"
"""What stands beside epsilon wherever noise is Gaussian."""


def shifts(releases: Releases) -> FloatArray:
    """Return mu at every epsilon of the grid and the typical delta: (E,)."""
    return np.array(_shifts(releases.plan.noise, releases.plan.epsilons))


@functools.lru_cache(maxsize=64)
def _shifts(noise: Noise, epsilons: tuple[float, ...]) -> tuple[float, ...]:
    # Every block of repeats asks for them again, and each is a search.
    return tuple(gaussian_shift_of(noise, epsilon, delta=DELTA.typical) for epsilon in epsilons)


def _log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    yield 0.0
    here = releases.blanket.local_counts(counts)[:, None]
    scales = (math.sqrt(squared_count_sensitivity(releases.plan.network)) / shifts(releases))[:, None]
    normal = streams("GAUSSIAN").standard_normal(size=here.shape)
    if releases.plan.noise is Noise.REAL:
        updates = here + scales * normal
    else:
        whole = np.broadcast_to(normal, (len(here), len(scales), here.shape[-1]))
        updates = here + whole_gaussian(whole, scales)
    yield 0.5
    return releases.log_mean(np.maximum(updates, 0.0, out=updates))


def _formulas(methods: Sequence[Method], releases: Releases) -> list[str]:
    plan = releases.plan
    return [
        f"- **{GAUSSIAN.title}**: counts + ${plan.noise.gaussian_symbol}(0, s^2)$ with $s = \\sqrt{{2|I|}}/\\mu$, "
        f"$\\mu$ the largest shift that is $(\\varepsilon, \\delta)$-private, $\\delta = {latex(DELTA.typical)}$; "
        f"clipped at zero.{plan.noise.drawn}"
    ]


def notes(methods: Sequence[Method], releases: Releases) -> list[str]:
    """Return what is to be said of curves whose promise has a delta."""
    return [
        f"Gaussian noise has the weaker guarantee (ε, δ) with {NEAR}: the loss exceeds ε with at most that probability."
    ]


def _seconds(size: Size) -> float:
    return 2e-7 * size.local_cells * size.drawings


def _notes(methods: Sequence[Method], releases: Releases) -> list[str]:
    return notes(methods, releases) if GAUSSIAN in methods else []


GAUSSIAN = Method(
    name="gaussian",
    titled=Look(f"Gaussian ({NEAR})", GaussianUpdates.colour),
    kind=GaussianUpdates,
    option=("gaussian", "Gaussian"),
    log_cpts=_log_cpts,
    seconds=_seconds,
)

CURVES = Curves(kind=GaussianUpdates, methods=(GAUSSIAN,), formulas=_formulas, notes=_notes)
