"""The curve of weighted Fourier noise: the best scales are found once for a network, and are linear in 1/epsilon."""

from collections.abc import Sequence

from dpbayes.base.looks import Look
from dpbayes.base.steps import Work, part_of
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.cost import refuse_long_search
from dpbayes.experiments.accuracy.curves.rebuilt import log_cpts_of_each, log_cpts_of_scaled
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import Releases
from dpbayes.experiments.accuracy.size import Size
from dpbayes.experiments.accuracy.streams import Streams
from dpbayes.mechanisms import Noise, WeightedFourier
from dpbayes.mechanisms.noise.law import whole_noise
from dpbayes.mechanisms.noise.shares import counted, searched
from dpbayes.model.fourier import marginals

_MOST_SETS = 2048
"""With as many the best scales take six seconds at most; with twice as many, minutes."""


def _log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    plan = releases.plan
    yield 0.0
    unit = _unit(releases)
    yield from part_of(searched(unit), 0.0, 0.5)
    units = unit.scales
    shape = (len(counts), len(units))
    if plan.noise is Noise.REAL:
        noise = marginals(plan.network, units * streams("WEIGHTED").laplace(size=shape))
        yield 0.5
        return log_cpts_of_scaled(releases, counts, noise, 1 / plan.grid)
    pairs = streams("WEIGHTED").standard_exponential((*shape, 2))

    def rebuilt(scale: float) -> FloatArray:
        return marginals(plan.network, whole_noise(pairs, scale * units))

    return (yield from log_cpts_of_each(releases, counts, rebuilt, 1 / plan.grid))


def _unit(releases: Releases) -> WeightedFourier:
    return WeightedFourier(prior=releases.prior, epsilon=1.0, weights=releases.plan.weights)


def _formulas(methods: Sequence[Method], releases: Releases) -> list[str]:
    design = _unit(releases).design
    noisy = design.scales[design.scales > 0]
    return [
        f"- **{WEIGHTED.title}**: coefficients + Lap$(b_A/\\varepsilon)$, the $b_A$ from {numeral(noisy.min(), 3)} to "
        f"{numeral(noisy.max(), 3)}, best for the cells' error{counted(releases.plan.weights)}; clipped at "
        f"zero.{releases.plan.noise.drawn}"
    ]


def _prepared(size: Size) -> float:
    """The search for the best scales: seconds where a family has ten parents, and nothing to wait for with twelve."""
    return 2e-9 * float(size.cells) ** 3


WEIGHTED = Method(
    name="weighted",
    titled=Look("weighted Fourier", WeightedFourier.colour),
    kind=WeightedFourier,
    option=("weighted", "weighted Fourier"),
    suits=lambda network: refuse_long_search(network, most=_MOST_SETS),
    log_cpts=_log_cpts,
    seconds=lambda size: 1e-7 * size.cells * size.drawings,
    prepared=_prepared,
)

CURVES = Curves(kind=WeightedFourier, methods=(WEIGHTED,), formulas=_formulas)
