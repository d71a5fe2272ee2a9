"""Comparison of the mechanisms' noise at one guarantee: in cells, and over graphs.

All results are public. The noise depends only on the network and the guarantee.

Mechanisms with a delta are compared with Laplace noise that uses the same delta. At this delta, the audit finds a
smaller privacy loss of the worst pair of tables, so Laplace noise can use a larger epsilon parameter.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

import numpy as np

from dpbayes.audit.registry import audit
from dpbayes.base.parameters import parameters_of
from dpbayes.base.steps import Partial, Work, finished, part_of
from dpbayes.base.validation import InputError
from dpbayes.experiments.structure import rms_over_cells
from dpbayes.mechanisms import MECHANISMS, LaplaceUpdates
from dpbayes.mechanisms.base import searched
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import NAMED, chain, empty, full, load_named, naive_bayes, tree

BASELINE = LaplaceUpdates
"""The paper's Laplace noise, with which all mechanisms are compared."""

_RECORDS = 1
"""Records of the audited tables; the privacy loss does not depend on the number of records."""

_HALVINGS = 14
"""Halvings of the range of epsilon that contains the largest one; the last range is 1e-5 of it."""

MOST_NODES = 40
"""Most nodes of a compared graph; for a larger one, the search for the best noise takes half a minute."""


@dataclass(frozen=True)
class Promise:
    """The guarantee of all compared mechanisms: (epsilon, delta), or epsilon alone if a mechanism has no delta.

    Fourier noise has no lift, t = 0, because the lift moves every answer.
    """

    epsilon: float
    delta: float

    def mechanism(self, kind: type[Any], network: Network) -> Any:
        """Return a mechanism with this guarantee.

        Errors: InputError if the mechanism does not fit the network.
        """
        values = {"epsilon": self.epsilon, "delta": self.delta, "t": 0.0}
        return kind(prior=network, **{name: values[name] for name in parameters_of(kind) if name in values})


def noisy_kinds() -> tuple[type[Any], ...]:
    """Return the mechanisms that state the noise in a cell, in the order of the registry."""
    return tuple(kind for kind in MECHANISMS if hasattr(kind, "node_noise_sd"))


def needs_delta(kind: type[Any]) -> bool:
    """Return whether the guarantee of a class of mechanisms needs a delta."""
    return "delta" in parameters_of(kind)


def is_searched(kind: type[Any]) -> bool:
    """Return whether a class searches for its best noise scales, which takes long on a network with many nodes."""
    return hasattr(kind, "design")


@dataclass(frozen=True, eq=False)
class CellNoise:
    """A mechanism and its noise: the root mean square over all cells of the standard deviations, in counts.

    `recounted` is the same mechanism with the
    largest epsilon parameter that the promise's delta allows; the mechanism itself if it has a delta, and None while
    it is not computed.
    """

    mechanism: Any
    recounted: Any | None

    @property
    def label(self) -> str:
        """The mechanism's name."""
        return str(self.mechanism.label)

    @property
    def is_pure(self) -> bool:
        """Whether it guarantees epsilon without a delta."""
        return not needs_delta(type(self.mechanism))

    @property
    def noise(self) -> float:
        """The noise at the promise, without use of the delta if the mechanism needs none."""
        return noise_per_cell(self.mechanism)

    @property
    def noise_with_delta(self) -> float:
        """The noise with use of the delta; NaN while it is not computed."""
        return np.nan if self.recounted is None else noise_per_cell(self.recounted)

    @property
    def least_noise(self) -> float:
        """The noise with use of the delta, or at the promise while that is not computed."""
        return self.noise if self.recounted is None else self.noise_with_delta


def noise_per_cell(mechanism: Any) -> float:
    """Return the root mean square of a mechanism's noise over all cells, in counts, weighted by table."""
    return rms_over_cells(mechanism.prior.network, mechanism.node_noise_sd)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Every mechanism's noise at one promise, and by label the reasons why some do not fit the network."""

    promise: Promise
    noises: tuple[CellNoise, ...]
    refused: Mapping[str, str]

    @cached_property
    def laplace(self) -> CellNoise:
        """The noise of the baseline."""
        return next(noise for noise in self.noises if type(noise.mechanism) is BASELINE)

    @cached_property
    def best_pure(self) -> CellNoise:
        """The least noise without a delta."""
        return min((noise for noise in self.noises if noise.is_pure), key=lambda noise: noise.noise)

    @cached_property
    def best(self) -> CellNoise:
        """The least noise with use of the delta, as far as it is computed."""
        return min(self.noises, key=lambda noise: noise.least_noise)

    @property
    def is_recounted(self) -> bool:
        """Whether the noise with the delta is computed for all mechanisms."""
        return all(noise.recounted is not None for noise in self.noises)

    @property
    def is_noisy(self) -> bool:
        """Whether there is noise: a network whose nodes have one state each needs none."""
        return self.laplace.noise > 0

    def factor(self, noise: CellNoise) -> float:
        """Return Laplace noise divided by this noise; both without delta, or both with delta.

        NaN while Laplace noise with the delta is not computed.
        """
        if noise.is_pure:
            return self.laplace.noise / noise.noise
        return self.laplace.noise_with_delta / noise.noise_with_delta


def compare_steps(
    network: Network,
    promise: Promise,
    *,
    kinds: Sequence[type[Any]] | None = None,
    recount: Sequence[type[Any]] | None = None,
) -> Work[Comparison]:
    """Compute the noise of all mechanisms, or of some `kinds`; then, for all or those in `recount`, with the delta.

    The best scales of noise are searched once for a network, in steps; the search takes seconds on a network with many
    nodes.
    """
    kinds = noisy_kinds() if kinds is None else kinds
    so_far = Comparison(promise, (), {})
    for place, kind in enumerate(kinds, start=1):
        start, end = ((place - back) / len(kinds) / 4 for back in (1, 0))
        so_far = yield from part_of(_with(so_far, kind, network), start, end)
        yield Partial(end, so_far)
    places = [
        place
        for place, noise in enumerate(so_far.noises)
        if noise.recounted is None and (recount is None or type(noise.mechanism) in recount)
    ]
    for done, place in enumerate(places):
        start, end = ((1 + 3 * share / len(places)) / 4 for share in (done, done + 1))
        noise = so_far.noises[place]
        recounted = replace(noise, recounted=(yield from part_of(recount_steps(noise.mechanism, promise), start, end)))
        so_far = replace(so_far, noises=(*so_far.noises[:place], recounted, *so_far.noises[place + 1 :]))
        yield Partial(end, so_far)
    return so_far


def _with(so_far: Comparison, kind: type[Any], network: Network) -> Work[Comparison]:
    try:
        mechanism = so_far.promise.mechanism(kind, network)
        yield from part_of(searched(mechanism), 0.0, 1.0)
        _ = mechanism.node_noise_sd  # raises an InputError if it cannot be computed
    except InputError as error:
        return replace(so_far, refused={**so_far.refused, kind.label: str(error)})
    noise = CellNoise(mechanism, mechanism if needs_delta(kind) else None)
    return replace(so_far, noises=(*so_far.noises, noise))


def recount_steps(mechanism: Any, promise: Promise) -> Work[Any]:
    """Find the mechanism with the largest epsilon parameter whose privacy loss, by the audit, satisfies the promise.

    If this cannot be computed, the result is the mechanism itself, which satisfies the promise without the delta.
    """
    if not mechanism.node_noise_sd.any():
        return mechanism
    low = high = promise.epsilon
    try:
        while low == high < EPSILON.high:
            high = min(1.1 * high, EPSILON.high)
            low = high if _holds(replace(mechanism, epsilon=high), promise) else low
        for done in range(_HALVINGS):
            yield done / _HALVINGS
            middle = (low + high) / 2
            low, high = (middle, high) if _holds(replace(mechanism, epsilon=middle), promise) else (low, middle)
    except InputError:
        return mechanism
    return replace(mechanism, epsilon=low)


def _holds(mechanism: Any, promise: Promise) -> bool:
    curve = audit(mechanism, n=_RECORDS, epsilons=[promise.epsilon]).curve
    return bool(curve.deltas[0] <= promise.delta)


@dataclass(frozen=True, eq=False)
class GraphComparison:
    """A graph's name and size, and by label Laplace noise divided by the noise of each mechanism."""

    name: str
    nodes: int
    cells: int
    factors: Mapping[str, float]

    def best(self, labels: tuple[str, ...]) -> str:
        """Return which of these mechanisms adds the least noise."""
        return max((label for label in labels if label in self.factors), key=lambda label: self.factors[label])


@cache
def compared_graphs() -> Mapping[str, Network]:
    """Return the graphs compared, by name: templates, then published networks of up to MOST_NODES nodes.

    Every call returns the same objects, so that each search is done once.
    """
    templates = {
        "no arrows, 12": empty(12),
        "chain, 12": chain(12),
        "tree, 12": tree(12),
        "naive Bayes, 16": naive_bayes(16),
        "tree of threes, 12": tree(12, branching=3),
        "complete, 7": full(7),
    }
    named = {NAMED[key].title: load_named(key)[0] for key in NAMED}
    return templates | {title: network for title, network in named.items() if len(network.names) <= MOST_NODES}


def graph_steps(promise: Promise) -> Work[tuple[GraphComparison, ...]]:
    """Compare the mechanisms on all graphs; the first graph, a small one, takes one step."""
    graphs = list(compared_graphs().items())
    compared: tuple[GraphComparison, ...] = (finished(compared_on(*graphs[0], promise)),)
    for k, (name, network) in enumerate(graphs[1:], start=1):
        yield Partial(k / len(graphs), compared)
        work = compared_on(name, network, promise)
        compared += ((yield from part_of(work, k / len(graphs), (k + 1) / len(graphs))),)
    return compared


def compared_on(name: str, network: Network, promise: Promise) -> Work[GraphComparison]:
    """Return how every mechanism compares with Laplace noise on one graph, in steps."""
    comparison = yield from part_of(compare_steps(network, promise, recount=(BASELINE,)), 0.0, 1.0)
    factors = {noise.label: comparison.factor(noise) for noise in comparison.noises}
    return GraphComparison(name, len(network.names), network.cell_count, factors)
