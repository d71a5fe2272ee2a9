"""Curves of noise-aware recipients: the mean of the noise-aware posterior of each release.

The releases of a repeat at all epsilons start from the same seed, as in `any_mechanism`. The posterior of a release
takes a thousand times as long as the release. These curves therefore use few points per row and few repeats.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpbayes.base.steps import Work, part_of, slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.experiments.accuracy.curves.additive import LAPLACE, RESIDUALS
from dpbayes.experiments.accuracy.curves.any_mechanism import mechanisms_of
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import Releases, Streams
from dpbayes.mechanisms import GaussianResiduals, LaplaceUpdates
from dpbayes.mechanisms.base import simulated
from dpbayes.mechanisms.noise.shares import searched
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_aware import ShiftedPoints, noise_aware_cells

POINTS = 64
"""Possible counts of a row that a posterior uses. An average over repeats needs fewer than a single release, because
the points of every repeat have other errors."""

MOST_REPEATS = 50
"""The number of repeats that these curves use; standard errors are those of so many repeats."""

_CELLS = 4000
"""Cells whose posterior is computed in one step, which takes a tenth of a second."""

_LEAST = 1e-300
"""Smaller probabilities are replaced by this value, which has a logarithm."""

_RELEASE, _VALUE, _READ = 6e-4, 2e-7, 4.5e-5
"""About how many seconds take: a release, each of its values, and the posterior of each cell."""


Kind = type[LaplaceUpdates] | type[GaussianResiduals]


def _aware(kind: Kind, read: Method, name: str) -> Method:
    """Return the curve of a mechanism for a noise-aware recipient; `read` is the curve of a naive one."""

    def log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
        yield 0.0
        plan = releases.plan
        mechanisms: list[Any] = mechanisms_of(kind, releases)
        yield from part_of(searched(mechanisms[0]), 0.0, 0.0)
        seeds = streams(name.upper()).integers(2**63, size=len(counts))
        turns = turns_of(seeds, plan.network)
        origin = releases.blanket.local_counts(np.arange(1.0, plan.network.cell_count + 1)).astype(np.int64) - 1
        own = np.flatnonzero(origin >= 0)  # the other nodes of the blanket do not matter
        logs = np.zeros((len(counts), len(mechanisms), len(origin)))
        parts = list(slices(len(counts), _CELLS // len(own)))
        for done, part in enumerate(parts):
            tables = [Counts(plan.network, values.astype(np.int64), plan.training) for values in counts[part]]
            for k, mechanism in enumerate(mechanisms):
                drawn = [
                    simulated(mechanism, table, np.random.default_rng(int(seed))).outcome.numbers
                    for table, seed in zip(tables, seeds[part], strict=True)
                ]
                noise_model = mechanism.noise_model
                assert noise_model is not None  # `suits` refuses networks too wide for it
                arguments = (releases.prior, noise_model, np.stack(drawn), plan.training)
                read = noise_aware_cells(*arguments, cells=origin[own], points=ShiftedPoints(POINTS, turns[part]))
                logs[part, k, own] = np.log(np.maximum(read.mean, _LEAST))
                yield (done + (k + 1) / len(mechanisms)) / len(parts)
        return logs

    return Method(
        name=name,
        titled=replace(read.titled, name=f"{read.title}, noise-aware", dash="dash"),
        kind=kind,
        option=(name, f"{read.option[1]}, noise-aware"),
        suits=lambda network: (network.closure, read.suits(network)),  # tables are made consistent first
        log_cpts=log_cpts,
        seconds=lambda size: size.epsilons * (_RELEASE + _VALUE * size.cells + _READ * size.local_cells),
        most_repeats=MOST_REPEATS,
    )


def turns_of(seeds: IntArray, network: Network) -> FloatArray:
    """Return the shifts of the points (R, r) for repeats with these seeds (R,), the same at every epsilon."""
    return np.stack([np.random.default_rng((int(seed), 1)).random(int(network.cards.max())) for seed in seeds])


def _formulas(methods: Sequence[Method], releases: Releases) -> list[str]:
    titles = ", ".join(method.title for method in AWARE if method in methods)
    return [
        f"- **{titles}**: the same releases with a noise-aware posterior: $\\hat\\theta$ is the mean of "
        f"$p(\\theta \\mid \\text{{release}})$, computed with {POINTS} possible counts for every row."
    ]


def _notes(methods: Sequence[Method], releases: Releases) -> list[str]:
    if not set(AWARE) & set(methods) or releases.plan.repeats <= MOST_REPEATS:
        return []
    return [
        f"Noise-aware curves are slow to compute. These curves use the first {MOST_REPEATS} repeats, so their bands "
        "are wider."
    ]


AWARE = (
    _aware(LaplaceUpdates, LAPLACE, "laplace_aware"),
    _aware(GaussianResiduals, RESIDUALS, "residuals_aware"),
)
"""The noise-aware curves. Post-processing costs no privacy: each has the guarantee of its mechanism."""

CURVES = Curves(kind=object, methods=AWARE, formulas=_formulas, notes=_notes)
