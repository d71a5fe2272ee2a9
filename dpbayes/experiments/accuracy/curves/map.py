"""The curve of the private MAP estimate; cell masses are computed once for equal counts, and used at every epsilon.

Releases of the mechanism would take 5 to 20 times as long.
"""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.steps import Work, slices
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import Releases, Streams
from dpbayes.mechanisms import Calibration, MapExponential
from dpbayes.mechanisms.base import rule_for
from dpbayes.mechanisms.map.exponential import sampled_cells
from dpbayes.mechanisms.map.scores import cell_masses


def _log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    plan, cells = releases.plan, releases.plan.cells
    prior = rule_for(MapExponential, plan.prior)
    rates = MapExponential(prior=prior.on(plan.network), epsilon=1.0, cells=cells).rate * plan.grid
    alpha = prior.on(releases.local).alpha
    a, b = releases.decided.parameters(alpha + releases.blanket.local_counts(counts))
    before = [np.tile(p, len(a)) for p in releases.decided.parameters(alpha)]
    first, second, uniforms = a.ravel(), b.ravel(), streams("MAP").random(a.shape).ravel()
    log_odds = np.empty((len(rates), a.size))
    for rows in slices(a.size, releases.drawn_at_once // cells):
        masses = _masses(first[rows], second[rows], cells=cells)
        with np.errstate(divide="ignore"):
            base = np.log(_masses(before[0][rows], before[1][rows], cells=cells))
        for k, rate in enumerate(rates):
            doubled = 2 * sampled_cells(uniforms[None, rows], log_weights=rate * masses + base)[0]
            log_odds[k, rows] = np.log(doubled + 1) - np.log(2 * cells - doubled - 1)
            yield (rows.start + (rows.stop - rows.start) * (k + 1) / len(rates)) / a.size
    return np.log(np.moveaxis(releases.decided.probabilities(log_odds.reshape(-1, *a.shape)), 0, 1))


def _masses(a: FloatArray, b: FloatArray, *, cells: int) -> FloatArray:
    """Return the masses of the cells under every Beta(a, b), (rows, G), computed once for equal parameters."""
    pairs, kinds = np.unique(a + 1j * b, return_inverse=True)
    return cell_masses(pairs.real, pairs.imag, cells=cells)[kinds]


def _formulas(methods: Sequence[Method], releases: Releases) -> list[str]:
    return [f"- **Private MAP**: one of {releases.plan.cells} cells for every probability, scored by posterior mass."]


MAP = Method(
    name="map",
    titled=Look("private MAP", MapExponential.colour),
    kind=MapExponential,
    option=("private_map", "private MAP"),
    calibrations=(Calibration.CERTIFIED,),
    log_cpts=_log_cpts,
    seconds=lambda size: (2e-8 * size.decisions * size.epsilons + 2e-7 * size.kinds) * size.map_cells,
)

CURVES = Curves(kind=MapExponential, methods=(MAP,), formulas=_formulas)
