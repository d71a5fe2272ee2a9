"""The curve of Laplace noise on counts: drawn once for every repeat and scaled to every epsilon."""

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.steps import Work
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import Releases
from dpbayes.experiments.accuracy.streams import Streams
from dpbayes.mechanisms import LaplaceUpdates, Noise
from dpbayes.mechanisms.noise.law import whole_noise


def _log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    here = releases.blanket.local_counts(counts)
    scales = (_unit_scale(releases) / releases.plan.grid)[:, None]
    if releases.plan.noise is Noise.REAL:
        updates = here[:, None] + scales * streams("LAPLACE").laplace(size=here.shape)[:, None]
    else:
        pairs = streams("LAPLACE").standard_exponential((*here.shape, 2))
        updates = here[:, None] + whole_noise(pairs[:, None], scales)
    yield 0.5
    return releases.log_mean(np.clip(updates, 0.0, float(releases.plan.training), out=updates))


def _unit_scale(releases: Releases) -> float:
    """The scale at epsilon = 1."""
    return LaplaceUpdates(prior=releases.prior, epsilon=1.0).noise_scale


def _formulas(methods: object, releases: Releases) -> list[str]:
    scale, noise = _unit_scale(releases), releases.plan.noise
    return [
        f"- **Laplace**: counts + Lap$(2|I|/\\varepsilon)$ = Lap$({latex(scale, 6)}/\\varepsilon)$, clipped to "
        f"$[0, {releases.plan.training:,}]$.{noise.drawn}"
    ]


LAPLACE = Method(
    name="laplace",
    titled=Look("Laplace", LaplaceUpdates.colour),
    kind=LaplaceUpdates,
    option=("laplace", "Laplace"),
    log_cpts=_log_cpts,
)

CURVES = Curves(kind=LaplaceUpdates, methods=(LAPLACE,), formulas=_formulas)
