"""Random networks and tables, and slow, obvious versions of what the package computes fast."""

from collections.abc import Iterable
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.dataset import Counts, Dataset, count
from dpbayes.model.network import Network

# Networks by name

NAIVE_BAYES = Network.from_edges(["y", *(f"x{j}" for j in range(16))], [("y", f"x{j}") for j in range(16)])
V_STRUCTURE = Network.from_edges("abc", ["ac", "bc"])
DIAMOND = Network.from_edges("abcd", ["ab", "ac", "bd", "cd"])
ASIA_STATES = ("yes", "no")
ASIA = Network.from_edges(
    ["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"],
    [
        ("asia", "tub"),
        ("smoke", "lung"),
        ("smoke", "bronc"),
        ("tub", "either"),
        ("lung", "either"),
        ("either", "xray"),
        ("either", "dysp"),
        ("bronc", "dysp"),
    ],
    dict.fromkeys(["asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp"], ASIA_STATES),
)


def chain(size: int) -> Network:
    names = [f"v{i}" for i in range(size)]
    return Network.from_edges(names, pairwise(names))


def complete(size: int) -> Network:
    names = [f"v{i}" for i in range(size)]
    return Network.from_edges(names, combinations(names, 2))


def empty(size: int) -> Network:
    return Network.from_edges([f"v{i}" for i in range(size)], [])


def star(parents: int, children: int = 1) -> Network:
    """Each of the children has all the parents."""
    above, below = [f"p{i}" for i in range(parents)], [f"c{i}" for i in range(children)]
    return Network.from_edges([*above, *below], [(p, c) for c in below for p in above])


# Random networks and tables


def random_network(rng: np.random.Generator, size: int, *, states: tuple[int, int] = (2, 2)) -> Network:
    """A random DAG whose node order is not topological; `states` are the fewest and the most states of a node."""
    names = [f"v{i}" for i in range(size)]
    order = rng.permutation(size)
    density = rng.random()
    edges = [(names[u], names[v]) for u, v in combinations(order, 2) if rng.random() < density]
    cards = rng.integers(states[0], states[1] + 1, size)
    return Network.from_edges(names, edges, {n: [f"s{k}" for k in range(c)] for n, c in zip(names, cards, strict=True)})


def random_networks(number: int, *, most_nodes: int, states: tuple[int, int] = (2, 2)) -> list[Network]:
    """The same `number` random networks in every run."""
    rng = np.random.default_rng(20160212)
    return [random_network(rng, int(rng.integers(1, most_nodes + 1)), states=states) for _ in range(number)]


@st.composite
def networks(draw, *, most_nodes: int = 5, states: tuple[int, int] = (2, 2)) -> Network:
    names = [f"v{i}" for i in range(draw(st.integers(1, most_nodes)))]
    order = draw(st.permutations(names))
    edges = [edge for edge in combinations(order, 2) if draw(st.booleans())]
    cards = {name: draw(st.integers(*states)) for name in names}
    return Network.from_edges(names, edges, {name: [f"s{k}" for k in range(card)] for name, card in cards.items()})


@st.composite
def networks_of_names(draw, names: st.SearchStrategy[str]) -> Network:
    """Networks of up to four nodes with up to three states, whose nodes and states have such names."""
    nodes = draw(st.lists(names, min_size=1, max_size=4, unique=True))
    states = {node: draw(st.lists(names, min_size=1, max_size=3, unique=True)) for node in nodes}
    arrows = [arrow for arrow in combinations(draw(st.permutations(nodes)), 2) if draw(st.booleans())]
    return Network.from_edges(nodes, arrows, states)


@st.composite
def networks_with_data(draw, *, most_nodes: int = 5, states: tuple[int, int] = (2, 2), most_records: int = 12):
    network = draw(networks(most_nodes=most_nodes, states=states))
    record = st.tuples(*(st.integers(0, len(s) - 1) for s in network.states))
    return network, table_of(network, draw(st.lists(record, max_size=most_records)))


def table_of(network: Network, records: Iterable[Iterable[int]]) -> Dataset:
    codes = np.array([tuple(r) for r in records], dtype=np.int64).reshape(-1, len(network.names))
    return Dataset(network.names, network.states, codes)


def random_table(network: Network, rng: np.random.Generator, n: int) -> Dataset:
    codes = np.stack([rng.integers(0, len(s), n) for s in network.states], axis=1)
    return Dataset(network.names, network.states, codes)


def all_records(network: Network) -> list[tuple[int, ...]]:
    return list(product(*(range(len(s)) for s in network.states)))


# Slow and obvious


def cell_positions(network: Network) -> dict[tuple[int, tuple[int, ...]], int]:
    """The place of (node, (parents' codes, own code)) on the cell axis, by walking through all cells."""
    cells = []
    for i, parents in enumerate(network.parents):
        members = [*(network.names.index(p) for p in parents), i]
        cells += [(i, codes) for codes in product(*(range(len(network.states[j])) for j in members))]
    return {cell: k for k, cell in enumerate(cells)}


def naive_counts(network: Network, records: Iterable[tuple[int, ...]]) -> np.ndarray:
    positions = cell_positions(network)
    values = np.zeros(len(positions), dtype=np.int64)
    for record in records:
        for i, parents in enumerate(network.parents):
            key = tuple(int(record[network.names.index(p)]) for p in parents)
            values[positions[i, (*key, int(record[i]))]] += 1
    return values


def counts_per_record(network: Network) -> np.ndarray:
    """The counts of every possible one-record table: (records, K)."""
    return np.array([naive_counts(network, [record]) for record in all_records(network)])


def naive_closure(network: Network) -> set[int]:
    """N_I as bit masks, straight from its definition."""
    closure = set()
    for i, parents in enumerate(network.parents):
        family = [*(network.names.index(p) for p in parents), i]
        for size in range(len(family) + 1):
            closure |= {sum(1 << j for j in subset) for subset in combinations(family, size)}
    return closure


def sd_of_cells(mechanism: Any) -> np.ndarray:
    """Return the standard deviation of every cell's noise (K,), before clipping: all cells of a table have the same."""
    network = mechanism.prior.network
    if mechanism.named in ("Laplace", "Gaussian"):
        return np.full(network.cell_count, mechanism.noise_law.sd)
    variances, cells = network.residuals.cell_variances(mechanism.noise_model.variances), np.diff(network.cell_offsets)
    if getattr(mechanism, "calibration", None) is Calibration.AS_PRINTED:
        variances += (mechanism.noise_law.sd / cells) ** 2  # the noise on n
    return np.repeat(np.sqrt(variances), cells)


def rng() -> np.random.Generator:
    """A generator of one seed."""
    return np.random.default_rng(20160212)


def counts_of(network: Network, n: int) -> Counts:
    """The counts of a random table, of one seed."""
    return count(network, random_table(network, rng(), n))
