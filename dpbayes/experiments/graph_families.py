"""The noise on families of graphs of one size: chain, tree, naive Bayes, and random graphs of growing density."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbayes.base.estimates import Estimate, standard_error
from dpbayes.base.libraries import pd
from dpbayes.base.steps import Partial, Work, finished, part_of
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.best_noise import Promise, is_searched
from dpbayes.mechanisms.noise.sensitivity import count_sensitivity
from dpbayes.mechanisms.noise.shares import searched
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import chain, naive_bayes, tree
from dpbayes.theory.zhang16.fourier import certified_noise, noise_ratio, printed_noise

LAPLACE, CERTIFIED = "Laplace", "Fourier, proved"
PURE = (LAPLACE, CERTIFIED)
"""The columns of a frame of costs whose noise has a proved epsilon without a delta."""

LEAST_NODES, MOST_NODES = 2, 24
"""With these numbers of nodes, the exact sensitivity of a random graph takes milliseconds."""

MOST_GRAPHS = 12
MOST_ARROWS = 3.0
"""Most arrows per node of a random graph."""

STEPS = 15
"""The largest number of densities of random graphs."""


@dataclass(frozen=True, eq=False)
class GraphCosts:
    """Costs of a batch of binary graphs of equal size at epsilon 1; all noise is proportional to 1/epsilon.

    `arrows` and `largest` are the average and the largest number of parents, `closure` |N_I|, `overlap` O and `exact`
    whether it is exact. Noise is the mean sd over cells, in counts, `by_node` first averaged within nodes; `scale` is
    the sd of a coefficient in the paper's units, which Remark 1 compares with Laplace's. All (...,).
    """

    nodes: int
    arrows: FloatArray
    largest: IntArray
    closure: IntArray
    overlap: IntArray
    exact: BoolArray
    laplace: FloatArray
    certified: FloatArray
    printed: FloatArray
    certified_by_node: FloatArray
    scale: FloatArray

    def frame(self, *, epsilon: float) -> "pd.DataFrame":
        """Return one record per graph, noise in counts at `epsilon`."""
        return pd.DataFrame(
            {
                "arrows per node": self.arrows.ravel(),
                "most parents": self.largest.ravel(),
                "|N_I|": self.closure.ravel(),
                "O": self.overlap.ravel(),
                LAPLACE: self.laplace.ravel() / epsilon,
                CERTIFIED: self.certified.ravel() / epsilon,
                "Fourier, as stated": self.printed.ravel() / epsilon,
                "Remark 1's scale": self.scale.ravel() / epsilon,
            }
        )


def means_by_density(records: "pd.DataFrame") -> "pd.DataFrame":
    """Return means over records with equal arrows per node, with standard errors; NaN for a single record."""
    by_density = records.groupby("arrows per node")
    errors = by_density.sem().add_prefix("standard error: ")
    return pd.concat([by_density.mean(), errors], axis=1).reset_index()


def costs_of(networks: Sequence[Network]) -> GraphCosts:
    """Return the costs of binary networks of equal size (graphs,). Errors: InputError for others.

    [Zhang16] Lemma 1, Corollary 2 and Remark 1, per cell and not per coefficient.
    """
    if not networks or len({len(network.names) for network in networks}) > 1:
        raise InputError("Give at least one graph. All graphs need the same number of nodes.")
    size = len(networks[0].names)
    ratios = [(noise_ratio(n, noise=certified_noise(n)), noise_ratio(n, noise=printed_noise(n))) for n in networks]
    weights = [network.rows_per_node for network in networks]
    laplace = np.sqrt(2) * np.array([count_sensitivity(network) for network in networks], dtype=np.float64)
    certified = [np.average(pair[0], weights=rows) for pair, rows in zip(ratios, weights, strict=True)]
    printed = [np.average(pair[1], weights=rows) for pair, rows in zip(ratios, weights, strict=True)]
    overlaps = [network.closure.odd_overlap for network in networks]
    scales = np.array([float(printed_noise(network).scale(1.0)) for network in networks])
    return GraphCosts(
        nodes=size,
        arrows=np.array([len(network.edges) / size for network in networks]),
        largest=np.array([max(map(len, network.parents)) for network in networks]),
        closure=np.array([len(network.closure) for network in networks]),
        overlap=np.array([overlap.value for overlap in overlaps]),
        exact=np.array([overlap.exact for overlap in overlaps]),
        laplace=laplace,
        certified=laplace * np.array(certified),
        printed=laplace * np.array(printed),
        certified_by_node=laplace * np.array([pair[0].mean() for pair in ratios]),
        scale=np.sqrt(2) * scales * 2.0 ** (-size / 2),
    )


def named_families(nodes: int) -> dict[str, Network]:
    """Return the families with one graph of each size: chain, tree of two branches, naive Bayes."""
    return {"chain": chain(nodes), "tree": tree(nodes), "naive Bayes": naive_bayes(nodes - 1)}


def growing_graphs(nodes: int, rng: np.random.Generator, *, arrows: Sequence[int]) -> list[Network]:
    """Return one graph for each of the numbers `arrows`: the first arrows of a random order of all possible arrows.

    The order of the nodes is fixed, so no graph has a cycle. Each graph is uniform among those with as many arrows.
    """
    names = tuple(f"x{i}" for i in range(1, nodes + 1))
    possible = list(itertools.combinations(names, 2))
    order = rng.permutation(len(possible))
    return [Network.from_edges(names, [possible[i] for i in sorted(order[:number])]) for number in arrows]


def arrow_numbers(nodes: int) -> list[int]:
    """Return growing numbers of arrows, from none to MOST_ARROWS per node or all possible arrows."""
    most = min(MOST_ARROWS * nodes, nodes * (nodes - 1) / 2)
    return [int(number) for number in np.unique(np.round(np.linspace(0, most, STEPS)))]


def random_costs(nodes: int, rng: np.random.Generator, *, graphs: int) -> GraphCosts:
    """Return the costs of `graphs` growing random graphs (graphs, densities); the first do not depend on `graphs`."""
    numbers = arrow_numbers(nodes)
    drawn = [network for _ in range(graphs) for network in growing_graphs(nodes, rng, arrows=numbers)]
    flat = costs_of(drawn)
    shape = (graphs, len(numbers))
    arrays = {name: value.reshape(shape) for name, value in vars(flat).items() if isinstance(value, np.ndarray)}
    return GraphCosts(nodes=nodes, **arrays)


# Other mechanisms


UNIT = Promise(1.0, 1e-5)
"""The promise at which the noise on graphs is computed; another promise only scales the noise."""


@dataclass(frozen=True, eq=False)
class FamilyNoise:
    """Mean sd over cells, in counts, by class of mechanism, as far as it is computed.

    `families` (families,) and `random` graphs (graphs, densities). `exact` is whether all sensitivities are exact.
    """

    families: Mapping[type[Any], FloatArray]
    random: Mapping[type[Any], FloatArray]
    exact: bool

    @property
    def graphs(self) -> int:
        """The number of random graphs of each density that are computed."""
        return min((len(noise) for noise in self.random.values()), default=0)


def family_noise(nodes: int, rng: np.random.Generator, *, graphs: int, kinds: Sequence[type[Any]]) -> Work[FamilyNoise]:
    """Compute the noise of mechanisms at `UNIT` on the graphs of `random_costs` with this generator, families first.

    The graphs of one random order are computed in steps of at most one round of a search. There is a new result when
    all densities of an order are computed.
    """
    networks = [network for _ in range(graphs) for network in growing_graphs(nodes, rng, arrows=arrow_numbers(nodes))]
    densities = len(arrow_numbers(nodes))
    families = [finished(_noises(network, kinds)) for network in named_families(nodes).values()]
    random: list[list[tuple[float, bool]]] = []

    def by_now() -> FamilyNoise:
        full = len(random) // densities
        values = np.array([[noise for noise, _ in graph_noises] for graph_noises in random[: full * densities]])
        grown = values.reshape(full, densities, len(kinds))
        fixed = np.array([[noise for noise, _ in graph_noises] for graph_noises in families])
        return FamilyNoise(
            {kind: fixed[:, k] for k, kind in enumerate(kinds)},
            {kind: grown[..., k] for k, kind in enumerate(kinds)},
            all(exact for graph_noises in (*families, *random) for _, exact in graph_noises),
        )

    yield Partial(0.0, by_now())
    for network in networks:
        start, end = ((len(random) + more) / len(networks) for more in (0, 1))
        random.append((yield from part_of(_noises(network, kinds), start, end)))
        share = len(random) / len(networks)
        if share < 1:
            yield Partial(share, by_now()) if len(random) % densities == 0 else share
    return by_now()


def noise_factor(kind: type[Any], nodes: int, promise: Promise) -> float:
    """Return the ratio of a mechanism's noise at a promise to that at `UNIT`; it is the same on every graph."""
    line = chain(nodes)
    return _mean_noise(promise.mechanism(kind, line)) / _mean_noise(UNIT.mechanism(kind, line))


def _noises(network: Network, kinds: Sequence[type[Any]]) -> Work[list[tuple[float, bool]]]:
    mechanisms = [UNIT.mechanism(kind, network) for kind in kinds]
    for place, mechanism in enumerate(mechanisms):
        yield from part_of(searched(mechanism), place / len(mechanisms), (place + 1) / len(mechanisms))
    return [
        (_mean_noise(mechanism), not is_searched(type(mechanism)) or mechanism.design.exact) for mechanism in mechanisms
    ]


def _mean_noise(mechanism: Any) -> float:
    return float(np.average(mechanism.node_noise_sd, weights=np.diff(mechanism.prior.network.cell_offsets)))


# Where lines cross


def crossing(x: FloatArray, ratio: FloatArray) -> float | None:
    """Return where `ratio` (points,) first rises above 1, by linear interpolation; None if it never does.

    The result is the first x if the ratio starts above 1.
    """
    above = np.flatnonzero(ratio > 1)
    if not len(above):
        return None
    i = int(above[0])
    if i == 0:
        return float(x[0])
    return float(np.interp(1.0, ratio[i - 1 : i + 1], x[i - 1 : i + 1]))


def mean_crossing(x: FloatArray, ratios: FloatArray) -> Estimate | None:
    """Return where the mean over graphs of `ratios` (graphs, points) rises above 1, with its standard error.

    The standard error is that of the mean ratio there, divided by the slope; NaN for a single graph. None as in
    `crossing`; the error is 0 if the mean starts above 1.
    """
    mean = ratios.mean(axis=0)
    where = crossing(x, mean)
    if where is None or where <= x[0]:
        return None if where is None else Estimate(where, 0.0)
    i = int(np.flatnonzero(mean > 1)[0])
    (low, high), step = x[i - 1 : i + 1], x[i] - x[i - 1]
    ratios_there = (ratios[:, i - 1] * (high - where) + ratios[:, i] * (where - low)) / step
    return Estimate(where, float(standard_error(ratios_there[:, None])[0]) * float(step / (mean[i] - mean[i - 1])))
