"""A Bayesian network over categorical variables, and the flat axis on which all its CPT cells lie."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.display import html_table, titled_lines
from dpbayes.base.libraries import nx
from dpbayes.base.memo import Memo
from dpbayes.base.text import many
from dpbayes.base.types import AnyArray, IntArray
from dpbayes.base.validation import InputError, brief, distinct_names, type_checked, whole_number
from dpbayes.model.closure import MAX_FAMILY, Closure
from dpbayes.model.elimination import LargestSum, Plan, elimination_plan
from dpbayes.model.residual_design import NoiseDesign, best_gaussian, charge_tables
from dpbayes.model.residuals import Residuals

MAX_STATES = 256
"""Most states of one node: codes are single bytes."""

MAX_CELLS = 1_000_000
"""Most CPT cells of one network, so that 200 posterior draws stay within a machine's memory."""

BINARY = ("no", "yes")
_AFFIRMATIVE = ("yes", "true", "y", "1", "present")


@type_checked
@dataclass(frozen=True)
class Network:
    """A validated directed acyclic graph (I, pi) over named categorical nodes. [Zhang16] Section 2.1.

    All CPT cells lie on one axis of length K: nodes in network order, then rows (parent configurations, first parent
    most significant), then states. There are m rows. Counts, priors, posteriors and noise are arrays (..., K).

    Args:
        names: The nodes.
        states: Every node's r_i states, in declared order.
        parents: Every node's parents by name, kept in network order.

    Raises:
        InputError: Names are empty, repeated or unknown, a node has no state, the arrows close a cycle, or the
            tables have more than MAX_CELLS cells.

    Example:
        >>> network = dp.Network.from_edges(["rain", "grass"], [("rain", "grass")])
        >>> network.row_labels()
        ('rain', 'grass | rain=no', 'grass | rain=yes')
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    parents: tuple[tuple[str, ...], ...]

    def __post_init__(self) -> None:
        names = distinct_names("node", self.names)
        if not names:
            raise InputError("The network has no nodes. Add a node.")
        if not len(names) == len(self.states) == len(self.parents):
            raise InputError("A network needs one list of states and one list of parents for every node.")
        position = {name: i for i, name in enumerate(names)}
        states = tuple(_checked_states(n, s) for n, s in zip(names, self.states, strict=True))
        parents = tuple(_checked_parents(n, p, position) for n, p in zip(names, self.parents, strict=True))
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "states", states)
        object.__setattr__(self, "parents", parents)
        self._refuse_cycles()
        self._refuse_large_tables()

    @classmethod
    def from_edges(
        cls,
        names: Iterable[str],
        edges: Iterable[tuple[str, str]],
        states: Mapping[str, Sequence[str]] | None = None,
    ) -> "Network":
        """Build a network from arrows (parent, child); nodes without declared states are binary (no, yes)."""
        try:
            names, pairs = tuple(names), [(parent, child) for parent, child in edges]
            declared = {name: tuple(own) for name, own in dict(states or {}).items()}
        except (TypeError, ValueError):
            raise InputError('Write from_edges(["a", "b"], [("a", "b")], {"a": ["no", "yes"]}).') from None
        into: dict[str, list[str]] = {name: [] for name in names}
        for parent, child in pairs:
            if child not in into:
                nodes = brief(", ".join(names), 200)
                raise InputError(f"An arrow ends at {brief(child)}, which is not a node; the nodes are {nodes}.")
            into[child].append(parent)
        return cls(names, tuple(declared.get(name, BINARY) for name in names), tuple(map(tuple, into.values())))

    def __repr__(self) -> str:
        return f"<Network of {self._sizes}>"

    def __str__(self) -> str:
        arrows = (f"{parent} -> {child}" for parent, child in self.edges)
        return titled_lines(f"Network of {self._sizes}", arrows, len(self.edges))

    def _repr_html_(self) -> str:
        families = zip(self.names, self.states, self.parents, self.rows_per_node.tolist(), strict=True)
        rows = ((name, ", ".join(states), ", ".join(parents), str(m)) for name, states, parents, m in families)
        return html_table(f"Network of {self._sizes}", ("node", "states", "parents", "rows"), rows, len(self.names))

    @property
    def _sizes(self) -> str:
        nodes, arrows = many(len(self.names), "node"), many(len(self.edges), "arrow")
        return f"{nodes}, {arrows}, {many(self.row_count, 'row')} and {many(self.cell_count, 'cell')}"

    def _refuse_cycles(self) -> None:
        try:
            TopologicalSorter(dict(zip(self.names, self.parents, strict=True))).prepare()
        except CycleError as error:
            raise InputError(f"The arrows close a cycle: {' → '.join(error.args[1])}. Remove one of them.") from None

    def _refuse_large_tables(self) -> None:
        cells = [math.prod(len(self.states[j]) for j in family) for family in self.families]
        if sum(cells) > MAX_CELLS:
            largest = cells.index(max(cells))
            raise InputError(
                f"The network would have {sum(cells):,} cells; the limit is {MAX_CELLS:,}. The largest table, of "
                f"{brief(self.names[largest])} with its {len(self.parents[largest])} parents, has {cells[largest]:,}."
            )

    # The graph

    @cached_property
    def graph(self) -> "nx.DiGraph[str]":
        """The arrows as a networkx graph (treat it as read-only)."""
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.names)
        graph.add_edges_from(self.edges)
        return graph

    def to_networkx(self, probabilities: ArrayLike | None = None) -> "nx.DiGraph[str]":
        """Return a networkx graph of its own, with the states and the probabilities of the nodes as attributes.

        Args:
            probabilities: The CPTs (K,), or None for a graph without them.

        Returns:
            A graph whose nodes have the attribute `states`. With probabilities, they also have `parents`, and
            `probabilities` with one axis for each parent in this order and a last axis for the node itself.

        Raises:
            InputError: The probabilities are not one number for each cell.

        Example:
            >>> network, probabilities = dp.load_named("asia")
            >>> graph = network.to_networkx(probabilities)
            >>> graph.nodes["lung"]["states"], graph.nodes["lung"]["parents"]
            (('yes', 'no'), ('smoke',))
            >>> graph.nodes["lung"]["probabilities"].tolist()
            [[0.1, 0.9], [0.01, 0.99]]
        """
        graph = self.graph.copy()
        values = None if probabilities is None else np.array(probabilities, dtype=np.float64)
        if values is not None and values.shape != (self.cell_count,):
            raise InputError(f"The network needs {self.cell_count} probabilities; got an array of {values.shape}.")
        for i, name in enumerate(self.names):
            graph.nodes[name]["states"] = self.states[i]
            if values is not None:
                graph.nodes[name].update(parents=self.parents[i], probabilities=self.table(values, i))
        return graph

    @property
    def edges(self) -> tuple[tuple[str, str], ...]:
        """All arrows (parent, child), by child in network order."""
        return tuple((p, c) for c, ps in zip(self.names, self.parents, strict=True) for p in ps)

    @cached_property
    def position(self) -> dict[str, int]:
        """The index of every node by its name."""
        return {name: i for i, name in enumerate(self.names)}

    def index(self, name: str) -> int:
        """Return a node's position. Errors: InputError naming an unknown node."""
        if name not in self.position:
            raise InputError(f"The network has no node {brief(name)}; it has {brief(', '.join(self.names), 200)}.")
        return self.position[name]

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Node indices, parents before children; of several that may come next, the first in network order."""
        place = self.position.__getitem__
        return tuple(map(place, nx.lexicographical_topological_sort(self.graph, key=place)))

    @cached_property
    def families(self) -> tuple[tuple[int, ...], ...]:
        """For every node, the indices of its parents and then its own: pi_i + {i}."""
        return tuple((*(self.position[p] for p in ps), i) for i, ps in enumerate(self.parents))

    @cached_property
    def closure(self) -> Closure:
        """The downward closure N_I of the families ([Zhang16] section 3.2)."""
        return Closure(self.families)

    @cached_property
    def count_sensitivity(self) -> int:
        """2|I|: the L1 sensitivity of all CPT counts, exactly, and their squared L2 sensitivity. [Zhang16] Lemma 1.

        Two records that differ in every column reach it. A node whose family has a single cell does not count.
        """
        return 2 * int(np.count_nonzero(np.diff(self.cell_offsets) > 1))

    @cached_property
    def odd_overlap(self) -> LargestSum:
        """O = max over d of #{gamma in N_I : <gamma, d> odd}, of binary nodes: the most signs that one record changes.

        The L1 sensitivity of the integer Walsh coefficients sum_x (-1)^<gamma, x> under replacing one record is
        twice this number: gamma changes sign iff <gamma, d> is odd, where d is the exclusive or of the two records.
        Sharper than [Zhang16] Corollary 2, which uses |N_I|.
        """
        charges = charge_tables(self.residuals, np.ones(len(self.closure), dtype=np.int64))
        return LargestSum.of([(family, table // 2) for family, table in charges], self.elimination)

    @property
    def has_residuals(self) -> bool:
        """Whether every family is small enough to list all its subsets."""
        return max(map(len, self.families)) <= MAX_FAMILY

    @cached_property
    def residuals(self) -> Residuals:
        """The residuals of the sets of the closure, for nodes with any number of states."""
        return Residuals(self.closure, tuple(self.cards.tolist()))

    @cached_property
    def plans(self) -> Memo:
        """The cached elimination orders of queries."""
        return Memo()

    @cached_property
    def gaussian_design(self) -> NoiseDesign:
        """The optimal variances of Gaussian noise on the residuals, per unit of 2 rho."""
        return best_gaussian(self.residuals)

    @cached_property
    def elimination(self) -> Plan:
        """A plan to eliminate the nodes from tables over the families."""
        return elimination_plan(self.families)

    @cached_property
    def is_binary(self) -> bool:
        """Whether every node has exactly two states."""
        return all(len(states) == 2 for states in self.states)

    # The cell layout

    @cached_property
    def cards(self) -> IntArray:
        """r_i: the number of states of every node. Shape (|I|,)."""
        return np.array([len(states) for states in self.states], dtype=np.int64)

    @cached_property
    def rows_per_node(self) -> IntArray:
        """q_i: the number of parent configurations of every node. Shape (|I|,)."""
        sizes = [math.prod(int(self.cards[j]) for j in family[:-1]) for family in self.families]
        return np.array(sizes, dtype=np.int64)

    @property
    def row_count(self) -> int:
        """m = sum_i q_i: the number of CPT rows."""
        return int(self.rows_per_node.sum())

    @property
    def cell_count(self) -> int:
        """K = sum_i q_i r_i: the number of CPT cells."""
        return int(self.cell_offsets[-1])

    @cached_property
    def cell_offsets(self) -> IntArray:
        """First cell of every node, and K at the end. Shape (|I| + 1,)."""
        return np.concatenate(([0], np.cumsum(self.rows_per_node * self.cards)))

    @cached_property
    def row_offsets(self) -> IntArray:
        """First row of every node, and m at the end. Shape (|I| + 1,)."""
        return np.concatenate(([0], np.cumsum(self.rows_per_node)))

    @cached_property
    def node_of_row(self) -> IntArray:
        """The node that every row belongs to. Shape (m,)."""
        return np.repeat(np.arange(len(self.names)), self.rows_per_node)

    @cached_property
    def row_starts(self) -> IntArray:
        """First cell of every row. Shape (m,)."""
        lengths = self.cards[self.node_of_row]
        return np.concatenate(([0], np.cumsum(lengths)[:-1]))

    @cached_property
    def row_of_cell(self) -> IntArray:
        """The row that every cell belongs to. Shape (K,)."""
        return np.repeat(np.arange(self.row_count), self.cards[self.node_of_row])

    def row_sums(self, values: AnyArray) -> AnyArray:
        """Sum `values` (..., K) within every row: (..., m)."""
        if self.is_binary:  # the same sums, without looking at where each row starts
            return np.asarray(values[..., 0::2] + values[..., 1::2])
        return np.add.reduceat(values, self.row_starts, axis=-1)

    def over_cells(self, values: AnyArray) -> AnyArray:
        """Give every cell the value of its row, from `values` (..., m): (..., K)."""
        if self.is_binary:
            return np.repeat(values, 2, axis=-1)
        return values[..., self.row_of_cell]

    def node_and_codes(self, row: int) -> tuple[int, tuple[int, ...]]:
        """The node that one row belongs to, and the codes of its parents' states."""
        row = whole_number("row", row, low=0, high=self.row_count - 1)
        node = int(self.node_of_row[row])
        cards = self.cards[[*self.families[node][:-1]]]
        codes = np.unravel_index(row - self.row_offsets[node], cards) if len(cards) else ()
        return node, tuple(map(int, codes))

    def cells_of_row(self, row: int) -> slice:
        """The slice of cells of one row."""
        start = int(self.row_starts[row])
        return slice(start, start + int(self.cards[self.node_of_row[row]]))

    def table(self, values: AnyArray, node: int) -> AnyArray:
        """View node i's cells of `values` (..., K) as (..., r_parent1, ..., r_i)."""
        if (shape := np.shape(values))[-1:] != (self.cell_count,):
            raise InputError(f"The network needs {self.cell_count} numbers, one for each cell; got the shape {shape}.")
        cells = values[..., self.cell_offsets[node] : self.cell_offsets[node + 1]]
        return cells.reshape(*values.shape[:-1], *(int(self.cards[j]) for j in self.families[node]))

    def row_labels(self) -> tuple[str, ...]:
        """Return a readable name for every row, for example "dysp | bronc=yes, either=no". Length m."""
        return tuple(map(self.row_label, range(self.row_count)))

    def row_label(self, row: int) -> str:
        """Return the name of one row, as in `row_labels`."""
        node, codes = self.node_and_codes(row)
        parents = self.families[node][:-1]
        given = [assignment(self.names[j], self.states[j][code]) for j, code in zip(parents, codes, strict=True)]
        return f"{self.names[node]} | {', '.join(given)}" if given else self.names[node]

    def cell_label(self, cell: int) -> str:
        """Return a readable name of one cell, for example "dysp=yes | bronc=yes, either=no"."""
        cell = whole_number("cell", cell, low=0, high=self.cell_count - 1)
        row = int(self.row_of_cell[cell])
        node, code = int(self.node_of_row[row]), cell - int(self.row_starts[row])
        _, bar, given = self.row_label(row).partition(" | ")
        return f"{assignment(self.names[node], self.states[node][code])}{bar}{given}"

    def telling_state(self, node: int) -> int:
        """The state that represents a node in short displays: yes or a similar state, else the first state."""
        lowered = [state.lower() for state in self.states[node]]
        return next((lowered.index(word) for word in _AFFIRMATIVE if word in lowered), 0)

    # Changed networks

    @type_checked
    def without_edge(self, parent: str, child: str) -> "Network":
        """Return this network with one arrow removed. Errors: InputError for an arrow that it does not have."""
        if (parent, child) not in self.edges:
            raise InputError(f"The network has no arrow {brief(f'{parent} -> {child}')}. Choose one of network.edges.")
        edges = [edge for edge in self.edges if edge != (parent, child)]
        return Network.from_edges(self.names, edges, dict(zip(self.names, self.states, strict=True)))


def _checked_states(name: str, states: Sequence[str]) -> tuple[str, ...]:
    checked = distinct_names("state", states, of=name)
    if not checked:
        raise InputError(f"The node {brief(name)} has no states; it needs at least one.")
    if len(checked) > MAX_STATES:
        raise InputError(
            f"The node {brief(name)} has {len(checked):,} states; the limit is {MAX_STATES}. Bin its values first."
        )
    return checked


def _checked_parents(name: str, parents: Sequence[str], position: Mapping[str, int]) -> tuple[str, ...]:
    for parent in parents:
        if parent not in position:
            raise InputError(f"The node {brief(name)} has a parent {brief(parent)} that is not in the network.")
    if len(set(parents)) != len(parents):
        raise InputError(f"The node {brief(name)} lists the same parent twice.")
    return tuple(sorted(parents, key=position.__getitem__))


def assignment(name: str, state: str, equals: str = "=") -> str:
    """Return "smoke=yes", or "age < 25" where the state is itself a comparison."""
    return f"{name} {state}" if state.startswith(("<", ">")) else f"{name}{equals}{state}"


def statement(name: str, state: str) -> str:
    """Return "smoke = yes", or "age < 25" where the state is itself a comparison."""
    return assignment(name, state, " = ")
