"""The curve of Laplace noise on counts that least squares makes consistent: noise is fitted once, and scaled."""

from collections.abc import Sequence

from dpbayes.base.looks import Look
from dpbayes.base.steps import Work
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.curves.rebuilt import log_cpts_of_each, log_cpts_of_scaled
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import Releases
from dpbayes.experiments.accuracy.size import Size
from dpbayes.experiments.accuracy.streams import Streams
from dpbayes.mechanisms import ConsistentLaplace, Noise
from dpbayes.mechanisms.noise.law import whole_noise


def _log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    # The fit is linear in noise, and leaves counts as they are, which agree already.
    scales, residuals = _unit_scale(releases) / releases.plan.grid, releases.plan.network.residuals
    if releases.plan.noise is Noise.REAL:
        noise = residuals.consistent(streams("CONSISTENT").laplace(size=counts.shape), 0.0)
        yield 0.5
        return log_cpts_of_scaled(releases, counts, noise, scales)
    pairs = streams("CONSISTENT").standard_exponential((*counts.shape, 2))

    def fitted(scale: float) -> FloatArray:
        return residuals.consistent(whole_noise(pairs, scale), 0.0)

    return (yield from log_cpts_of_each(releases, counts, fitted, scales))


def _unit_scale(releases: Releases) -> float:
    """The scale at epsilon = 1."""
    return ConsistentLaplace(prior=releases.prior, epsilon=1.0).noise_scale


def _formulas(methods: Sequence[Method], releases: Releases) -> list[str]:
    return [
        f"- **{CONSISTENT.title}**: counts + Lap$(2|I|/\\varepsilon)$ = "
        f"Lap$({latex(_unit_scale(releases), 6)}/\\varepsilon)$ "
        f"in all cells of the network, then the nearest consistent tables; clipped at zero."
        f"{releases.plan.noise.drawn}"
    ]


def _seconds(size: Size) -> float:
    return 1e-7 * size.cells * size.drawings


CONSISTENT = Method(
    name="consistent",
    titled=Look("consistent Laplace", ConsistentLaplace.colour),
    kind=ConsistentLaplace,
    option=("consistent", "consistent Laplace"),
    log_cpts=_log_cpts,
    seconds=_seconds,
)

CURVES = Curves(kind=ConsistentLaplace, methods=(CONSISTENT,), formulas=_formulas)
