"""Which noise is the least over graphs: templates and published networks, each compared at the same promise."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from dpbayes.base.steps import Partial, Work, finished, part_of
from dpbayes.experiments.best_noise.comparison import BASELINE, Promise, compare_steps
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import NAMED, chain, empty, full, load_named, naive_bayes, tree

MOST_NODES = 40
"""Nodes of the graphs compared: of a larger ready network the search for the best noise takes half a minute."""


@dataclass(frozen=True, eq=False)
class GraphComparison:
    """A graph's name, its size, and how many times less noise than Laplace's each mechanism adds, by label."""

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

    They are the same objects each time, so that what was searched for one is searched once.
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
    """Compare the mechanisms on one graph after the other; the first, a small one, in one step."""
    graphs = list(compared_graphs().items())
    compared: tuple[GraphComparison, ...] = (compared_on(*graphs[0], promise),)
    for k, (name, network) in enumerate(graphs[1:], start=1):
        yield Partial(k / len(graphs), compared)
        work = _compared_on(name, network, promise)
        compared += ((yield from part_of(work, k / len(graphs), (k + 1) / len(graphs))),)
    return compared


def compared_on(name: str, network: Network, promise: Promise) -> GraphComparison:
    """Return how every mechanism compares with Laplace noise on one graph."""
    return finished(_compared_on(name, network, promise))


def _compared_on(name: str, network: Network, promise: Promise) -> Work[GraphComparison]:
    comparison = yield from part_of(compare_steps(network, promise, recount=(BASELINE,)), 0.0, 1.0)
    factors = {noise.label: comparison.factor(noise) for noise in comparison.noises}
    return GraphComparison(name, len(network.names), network.cell_count, factors)
