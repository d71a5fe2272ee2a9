"""The curve of Gaussian noise on residuals: the best variances are found once, and go with 1/mu^2."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.steps import Work, part_of
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.cost import refuse_long_search
from dpbayes.experiments.accuracy.curves.gaussian import GAUSSIAN, NEAR, notes, shifts
from dpbayes.experiments.accuracy.curves.rebuilt import log_cpts_of_each, log_cpts_of_scaled
from dpbayes.experiments.accuracy.curves.whole_gaussian import whole_gaussian
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import Releases
from dpbayes.experiments.accuracy.streams import Streams
from dpbayes.mechanisms import GaussianResiduals, Noise
from dpbayes.mechanisms.noise.shares import counted, searched
from dpbayes.mechanisms.parameters import DELTA

_MOST_SETS = 4096
"""With as many the best variances take ten seconds at most; with 16,000, half a minute."""


def _log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    yield 0.0
    residuals, unit = releases.plan.network.residuals, _unit(releases)
    yield from part_of(searched(unit), 0.0, 0.5)
    units = np.sqrt(unit.design.scales)[residuals.set_of_number]
    normal = streams("RESIDUALS").standard_normal((len(counts), len(units)))
    scales = 1 / shifts(releases)
    if releases.plan.noise is Noise.REAL:
        noise = residuals.tables(units * normal)
        yield 0.5
        return log_cpts_of_scaled(releases, counts, noise, scales)
    lengths = residuals.lengths  # by which the numbers are whole

    def rebuilt(scale: float) -> FloatArray:
        return residuals.tables(whole_gaussian(normal, scale * units * lengths) / lengths)

    return (yield from log_cpts_of_each(releases, counts, rebuilt, scales))


def _unit(releases: Releases) -> GaussianResiduals:
    return GaussianResiduals(prior=releases.prior, epsilon=1.0, weights=releases.plan.weights)


def _formulas(methods: Sequence[Method], releases: Releases) -> list[str]:
    design, plan = _unit(releases).design, releases.plan
    return [
        f"- **{RESIDUALS.title}**: residuals + ${plan.noise.gaussian_symbol}(0, s_A)$ for "
        f"{np.count_nonzero(design.scales):,} sets $A$, the $s_A$ best for the cells' error"
        f"{counted(plan.weights)}, at $\\delta = {latex(DELTA.typical)}$; clipped at zero.{plan.noise.drawn}"
    ]


def _notes(methods: Sequence[Method], releases: Releases) -> list[str]:
    return [] if GAUSSIAN in methods or RESIDUALS not in methods else notes(methods, releases)


RESIDUALS = Method(
    name="residuals",
    titled=Look(f"Gaussian residuals ({NEAR})", GaussianResiduals.colour),
    kind=GaussianResiduals,
    option=("residuals", "Gaussian residuals"),
    suits=lambda network: refuse_long_search(network, most=_MOST_SETS),
    log_cpts=_log_cpts,
    seconds=lambda size: 2e-7 * size.cells * size.drawings,
    prepared=lambda size: 5e-4 * size.cells,
)

CURVES = Curves(kind=GaussianResiduals, methods=(RESIDUALS,), formulas=_formulas, notes=_notes)
