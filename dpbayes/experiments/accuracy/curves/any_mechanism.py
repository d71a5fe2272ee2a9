"""The curve of any mechanism: its own releases of every repeat, at every epsilon of the grid.

The releases at all epsilons start from the same random numbers. Where noise is scaled by epsilon, neighbouring points
of a curve share their luck, and a grid can be changed without changing the other points.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.steps import Work, part_of
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.method import Curves, Method, Size
from dpbayes.experiments.accuracy.releases import Releases, Streams
from dpbayes.mechanisms.base import NetworkMechanism, simulated
from dpbayes.mechanisms.noise.shares import searched
from dpbayes.mechanisms.parameters import DELTA, Noise
from dpbayes.mechanisms.release import Outcome, ReleasedPosterior
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets

AnyMechanism = NetworkMechanism[Outcome]

AT_DELTA = f"δ = {numeral(DELTA.typical)}"
"""The delta of mechanisms that have one; it appears next to epsilon."""

_LEAST = 1e-300
"""Smaller probabilities are replaced by this value, which has a logarithm."""

_BATCHED, _BATCHED_VALUE = 2e-6, 1e-7
"""About how many seconds take: a release in a batch, and each of its values."""

_SINGLE, _SINGLE_VALUE = 2e-4, 5e-7
"""About how many seconds take: a single release, and each of its values."""


def typical(
    kind: type[AnyMechanism],
    *,
    prior: Dirichlets,
    epsilon: float,
    noise: Noise = Noise.REAL,
) -> AnyMechanism:
    """Return a mechanism at this epsilon and noise, with typical values of its other parameters.

    Args:
        kind: The class of the mechanism.
        prior: The prior over the rows of a network.
        epsilon: The epsilon, for mechanisms that have one.
        noise: The noise, for mechanisms that have a choice.

    Returns:
        The mechanism.

    Raises:
        InputError: The mechanism does not fit the network.
    """
    values: dict[str, Any] = {
        name: parameter.typical if isinstance(parameter, Parameter) else next(iter(parameter.options))
        for name, parameter in parameters_of(kind).items()
    }
    chosen = {"epsilon": epsilon, "noise": noise}
    return kind(prior=prior, **{name: chosen.get(name, value) for name, value in values.items()})


def mechanism_at(kind: type[AnyMechanism], releases: Releases, epsilon: float) -> AnyMechanism:
    """Return a mechanism at this epsilon, with the noise of the plan."""
    plan = releases.plan
    return typical(kind, prior=releases.prior, epsilon=epsilon, noise=plan.noise)


def mechanisms_of(kind: type[AnyMechanism], releases: Releases) -> list[AnyMechanism]:
    """Return a mechanism for every epsilon of the grid."""
    return releases.mechanisms(kind.__name__, lambda epsilon: mechanism_at(kind, releases, epsilon))


def sampled_log_cpts(
    mechanisms: Sequence[AnyMechanism], releases: Releases, counts: FloatArray, streams: Streams, *, name: str
) -> Work[FloatArray]:
    """Return ln CPTs (R, E, K) of one release by every mechanism for every table, from counts (R, all) of all cells.

    All tables are released in one call. The mechanisms must take the same number of random numbers for every table,
    because otherwise the results would depend on how the repeats are cut into blocks.
    """
    tables = Counts(releases.plan.network, counts.astype(np.int64), releases.plan.training)
    generators = streams.copies(name, len(mechanisms))
    logs = np.empty((len(counts), len(mechanisms), releases.local.cell_count))
    for k, (mechanism, rng) in enumerate(zip(mechanisms, generators, strict=True)):
        logs[:, k] = _log_cpts(mechanism, releases, tables, rng)
        yield (k + 1) / len(mechanisms)
    return logs


def single_log_cpts(
    mechanisms: Sequence[AnyMechanism], releases: Releases, counts: FloatArray, streams: Streams, *, name: str
) -> Work[FloatArray]:
    """Return the same as `sampled_log_cpts` for any mechanism, with one call and one seed for every table."""
    seeds = streams(name).integers(2**63, size=len(counts))
    logs = np.empty((len(counts), len(mechanisms), releases.local.cell_count))
    for repeat, (seed, values) in enumerate(zip(seeds, counts, strict=True)):
        table = Counts(releases.plan.network, values.astype(np.int64), releases.plan.training)
        for k, mechanism in enumerate(mechanisms):
            logs[repeat, k] = _log_cpts(mechanism, releases, table, np.random.default_rng(int(seed)))
        yield (repeat + 1) / len(counts)
    return logs


def _log_cpts(mechanism: AnyMechanism, releases: Releases, tables: Counts, rng: np.random.Generator) -> FloatArray:
    outcome, local = simulated(mechanism, tables, rng).outcome, releases.blanket.local_counts
    if isinstance(outcome, ReleasedPosterior):
        return releases.log_mean(np.maximum(local(outcome.updates), 0.0))
    return np.log(np.maximum(local(outcome.probabilities), _LEAST))


def curves_of(
    kind: type[AnyMechanism],
    *,
    name: str = "",
    title: str = "",
    batched: tuple[Noise, ...] = (),
    suits: Callable[[Network], object] = lambda network: None,
    prepared: Callable[[Size], float] = lambda size: 0.0,
) -> Curves:
    """Return the one curve of a mechanism, whose releases are its own.

    Args:
        kind: The class of the mechanism.
        name: Its name in commands and its option in links; the name of the class if it is empty.
        title: Its title; the mechanism's label if it is empty.
        batched: The noises for which one call of `release` may sample many tables (`sampled_log_cpts`).
        suits: A function that raises an InputError for networks that the mechanism fits, but the curve does not.
        prepared: About how many seconds the search for its noise takes.

    Returns:
        The curve, with its formula and its note.
    """
    title = title or kind.label
    parameters = parameters_of(kind)

    def log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
        yield 0.0
        mechanisms = mechanisms_of(kind, releases)
        yield from part_of(searched(mechanisms[0]), 0.0, 0.5)
        sample = sampled_log_cpts if releases.plan.noise in batched else single_log_cpts
        work = sample(mechanisms, releases, counts, streams, name=method.name.upper())
        return (yield from part_of(work, 0.5, 1.0))

    def certified(releases: Releases) -> FloatArray:
        return np.array([mechanism.certified.epsilon for mechanism in mechanisms_of(kind, releases)])

    def seconds(size: Size) -> float:
        if size.noise in batched:
            return size.epsilons * (_BATCHED + _BATCHED_VALUE * size.cells)
        return size.epsilons * (_SINGLE + _SINGLE_VALUE * size.cells)

    def formulas(methods: Sequence[Method], releases: Releases) -> list[str]:
        clipped = " Negative counts are set to zero." if "noise" in parameters else ""
        return [f"- **{method.title}** at ε = 1: {mechanism_at(kind, releases, 1.0).formula}{clipped}"]

    def notes(methods: Sequence[Method], releases: Releases) -> list[str]:
        first = next((m for m in methods if m.kind is not None and "delta" in parameters_of(m.kind)), None)
        if first is not method:
            return []
        return [
            f"Gaussian noise has the weaker guarantee (ε, δ) with {AT_DELTA}: the loss exceeds ε with at most that "
            "probability."
        ]

    method = Method(
        name=name or kind.__name__.lower(),
        titled=Look(f"{title} ({AT_DELTA})" if "delta" in parameters else title, kind.colour),
        kind=kind,
        option=(name or kind.__name__, title),
        suits=suits,
        log_cpts=log_cpts,
        certified=certified,
        seconds=seconds,
        prepared=prepared,
    )
    return Curves(kind=kind, methods=(method,), formulas=formulas, notes=notes)
