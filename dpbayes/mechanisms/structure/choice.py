"""A network's graph chosen from a private table, greedily. [Zhang17] Algorithms 2 and 4.

The first node is given. Every round adds one node: it selects a pair of a remaining node and a set of parents among the
added nodes by permute-and-flip. The rounds share epsilon, and their epsilons add up. Permute-and-flip replaces the
paper's exponential mechanism at the same epsilon, because it can be sampled exactly (see
`dpbayes.mechanisms.structure.selection`).
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, groupby

import numpy as np

from dpbayes.base.parameters import Parameter
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.types import IntArray
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.noise.exact import rounded_up
from dpbayes.mechanisms.structure.selection import draw_flip, flip_scale, simulate_flip
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import MAX_CELLS, Network

PARENTS = Parameter(
    "k",
    low=1,
    high=8,
    typical=2,
    whole=True,
    title="Most parents",
    description="The largest number of parents of a node.",
)
TABLE = Parameter(
    "T",
    low=2,
    high=100_000,
    typical=500,
    log=True,
    whole=True,
    title="Largest table",
    description="The largest number of cells of a node's table.",
)
MOST_EPSILON = 1000
MOST_PAIRS = 20_000
"""The largest number of scored pairs of a node and its parents; each score takes one pass over all records."""

MOST_RECORDS = 2**31 - 1
"""The largest number of records for which the integer score fits into 64 bits."""


@dataclass(frozen=True)
class CandidateFamily:
    """A candidate for the next node with its parents, as indices of columns, parents in table order."""

    child: int
    parents: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class StructureChoice:
    """The public settings of a choice: epsilon for the whole graph, and the limits of the graph.

    A node gets as many parents among the added nodes as `parents` and `most_cells` allow, possibly none. `first` is the
    first node, by default the table's first column. It must be chosen without looking at the records. Errors:
    InputError for numbers out of range and an epsilon that is not exact.
    """

    epsilon: Fraction
    parents: int = 2
    most_cells: int = 500
    first: str | None = None

    def __post_init__(self) -> None:
        if type(self.epsilon) not in (int, Fraction):
            raise InputError('epsilon must be an exact number: write Fraction("0.5"), not 0.5.')
        if not 0 < self.epsilon <= MOST_EPSILON:
            raise InputError(f"epsilon must be above 0 and at most {MOST_EPSILON}; {brief(self.epsilon)} is not.")
        object.__setattr__(self, "epsilon", Fraction(self.epsilon))
        object.__setattr__(self, "parents", PARENTS.checked("The number of parents", self.parents))
        object.__setattr__(self, "most_cells", TABLE.checked("The number of cells", self.most_cells))


@dataclass(frozen=True)
class Round:
    """One choice: the number of candidate pairs, the epsilon, and the sensitivity of the scores.

    It depends only on the domains, n, and the nodes added before.
    """

    candidates: int
    epsilon: Fraction
    sensitivity: int


@dataclass(frozen=True)
class ChosenStructure:
    """A selected graph, the order in which its nodes were added, and the cost.

    The guarantee covers the graph and the order. Everything else follows from them, the settings and n (`round_after`).
    """

    network: Network
    joined: tuple[str, ...]
    choice: StructureChoice
    rounds: tuple[Round, ...]

    @property
    def spent(self) -> Fraction:
        """The exact sum of the rounds' epsilons: epsilon, or 0 for a single node."""
        return sum((stage.epsilon for stage in self.rounds), Fraction(0))

    @property
    def certified(self) -> Guarantee:
        """The guarantee of the graph, by basic composition of its rounds ([Dwork06])."""
        return Guarantee(rounded_up(self.spent), reference=Reference("Zhang17", "Algorithm 2, records replaced"))


def simulate_structure(choice: StructureChoice, data: Dataset, rng: np.random.Generator) -> ChosenStructure:
    """Return a graph sampled with a generator, for simulations only, never for a real release.

    Errors: InputError for tables that are too wide, too long, or without the first node.
    """

    def pick(scores: IntArray, stage: Round) -> int:
        return simulate_flip(scores, flip_scale(stage.sensitivity, stage.epsilon), rng)

    return _chosen(choice, data, pick)


def draw_structure(choice: StructureChoice, data: Dataset) -> ChosenStructure:
    """Return a graph sampled by OpenDP from the operating system's randomness, for a real release.

    Errors: those of `simulate_structure`, before anything is drawn.
    """

    def pick(scores: IntArray, stage: Round) -> int:
        return draw_flip(scores, sensitivity=stage.sensitivity, epsilon=stage.epsilon)

    return _chosen(choice, data, pick)


def cards_of(data: Dataset) -> tuple[int, ...]:
    """Return the number of states of every column, from its public domain."""
    return tuple(len(states) for states in data.states)


def families_after(choice: StructureChoice, cards: Sequence[int], joined: Sequence[int]) -> tuple[CandidateFamily, ...]:
    """Return the candidate pairs after the nodes `joined` were added, sorted by parents.

    Only maximal sets of parents are candidates, to which `parents` and `most_cells` allow no further added node. More
    parents never decrease the distance of a node from independence.
    """
    joined = sorted(joined)
    left = [j for j in range(len(cards)) if j not in joined]
    sizes = range(min(choice.parents, len(joined)) + 1)
    families = [
        CandidateFamily(child, parents)
        for size in sizes
        for parents in combinations(joined, size)
        for child in left
        if _is_full(choice, cards, CandidateFamily(child, parents), joined)
    ]
    return tuple(sorted(families, key=lambda family: (family.parents, family.child)))


def pair_count(choice: StructureChoice, columns: int) -> int:
    """Return the largest number of scored pairs of a node and its parents, one pass over all records each."""
    others = columns - 1
    return columns * sum(math.comb(others, size) for size in range(min(choice.parents, others) + 1))


def round_after(choice: StructureChoice, cards: Sequence[int], n: int, joined: Sequence[int]) -> Round:
    """Return the round after these nodes were added; given these nodes, it does not depend on the records."""
    families = families_after(choice, cards, joined)
    sides = {(_product(cards, family.parents), cards[family.child]) for family in families}
    sensitivity = max(distance_sensitivity(lines, columns, n) for lines, columns in sides)
    return Round(len(families), choice.epsilon / (len(cards) - 1), sensitivity)


def noise_share(choice: StructureChoice, cards: Sequence[int], n: int) -> float:
    """Return the largest ratio of the noise to the strongest possible dependence, over the rounds; it is public.

    Permute-and-flip among k pairs selects the largest score with exponential noise. For k equal scores, the largest
    noise has the mean scale (1 + 1/2 + ... + 1/k). The distance of a node of s states from independence is at most
    2 n^2 (1 - 1/s), which is attained if the parents determine the node and its states are equally frequent. The
    function assumes that nodes are added in table order, because the order is not known in advance. The result is 0 if
    there is no choice.
    """
    return max((_noise_share(choice, cards, n, range(k)) for k in range(1, len(cards))), default=0.0)


def _noise_share(choice: StructureChoice, cards: Sequence[int], n: int, joined: Sequence[int]) -> float:
    families = families_after(choice, cards, joined)
    fewest = max(min(_product(cards, family.parents), cards[family.child]) for family in families)
    if fewest < 2 or len(families) == 1:
        return 0.0
    strongest = 2 * n**2 * (1 - 1 / fewest)
    scale = flip_scale(round_after(choice, cards, n, joined).sensitivity, choice.epsilon / (len(cards) - 1))
    return scale * sum(1 / k for k in range(1, len(families) + 1)) / strongest if n else math.inf


def require_feasible(choice: StructureChoice, data: Dataset) -> None:
    """Refuse infeasible choices before anything is sampled, without reading the records.

    Errors: InputError for no columns, states that no network can have, an unknown first node, and sizes above a limit.
    """
    require_feasible_over(choice, Network(data.names, data.states, ((),) * len(data.names)), data.n)


def require_feasible_over(choice: StructureChoice, columns: Network, n: int) -> None:
    """Refuse infeasible choices for n records of these columns, whose arrows are not used.

    Errors: those of `require_feasible`, except for columns that no network can have.
    """
    cards = [len(states) for states in columns.states]
    if choice.first is not None and choice.first not in columns.position:
        raise InputError(f"The table has no column {brief(choice.first)}.")
    if n > MOST_RECORDS:
        raise InputError(f"The table has {n:,} records; a graph can be chosen from at most {MOST_RECORDS:,}.")
    pairs = pair_count(choice, len(cards))
    if pairs > MOST_PAIRS:
        raise InputError(
            f"{len(cards)} columns with up to {choice.parents} parents make {pairs:,} pairs of a node and its parents; "
            f"the limit is {MOST_PAIRS:,}. Allow fewer parents or use fewer columns."
        )
    cells = sum(max(choice.most_cells, card) for card in cards)
    if cells > MAX_CELLS:
        raise InputError(f"The network could have {cells:,} cells; the limit is {MAX_CELLS:,}. Allow smaller tables.")


Pick = Callable[[IntArray, Round], int]


def _chosen(choice: StructureChoice, data: Dataset, pick: Pick) -> ChosenStructure:
    require_feasible(choice, data)
    joined = [0 if choice.first is None else data.position[choice.first]]
    parents: dict[int, tuple[int, ...]] = {}
    rounds, counted = [], dict[CandidateFamily, int]()
    while len(joined) < len(data.names):
        families = families_after(choice, cards_of(data), joined)
        rounds.append(round_after(choice, cards_of(data), data.n, joined))
        family = families[pick(_scores(data, families, counted), rounds[-1])]
        parents[family.child] = family.parents
        joined.append(family.child)
    order = tuple(data.names[j] for j in joined)
    return ChosenStructure(_network(data, parents), order, choice, tuple(rounds))


def _network(data: Dataset, parents: Mapping[int, tuple[int, ...]]) -> Network:
    of = [tuple(data.names[j] for j in parents.get(child, ())) for child in range(len(data.names))]
    return Network(data.names, data.states, tuple(of))


def _is_full(choice: StructureChoice, cards: Sequence[int], family: CandidateFamily, joined: Iterable[int]) -> bool:
    """Return whether a pair is allowed, and no other joined node may be added to its parents."""
    cells = _product(cards, family.parents) * cards[family.child]
    if family.parents and cells > choice.most_cells:
        return False
    return len(family.parents) == choice.parents or all(
        cells * cards[j] > choice.most_cells for j in joined if j not in family.parents
    )


def _scores(
    data: Dataset,
    families: Sequence[CandidateFamily],
    counted: dict[CandidateFamily, int],
) -> IntArray:
    """Return the score of each pair. Scores in `counted`, from earlier rounds, are reused, and new scores are added."""
    cards = cards_of(data)
    new = [family for family in families if family not in counted]
    for parents, same in groupby(new, key=lambda family: family.parents):
        lines, size = _lines(data, cards, parents), _product(cards, parents)
        for family in same:
            card = cards[family.child]
            cells = np.bincount(lines * card + data.codes[:, family.child], minlength=size * card)
            counted[family] = distance_from_independence(cells.reshape(size, card))
    return np.array([counted[family] for family in families])


def _lines(data: Dataset, cards: Sequence[int], parents: Sequence[int]) -> IntArray:
    """Return the index of every record's combination of the parents' states, the first parent most significant."""
    lines = np.zeros(data.n, dtype=np.int64)
    for j in parents:
        lines *= cards[j]
        lines += data.codes[:, j]
    return lines


def _product(cards: Sequence[int], members: Iterable[int]) -> int:
    return math.prod(cards[j] for j in members)


# The score: how strongly a column depends on others in a table, and how far replacing one record can move that.
#
# A contingency table N has one line for each combination of the parents' states and one column for each state of the
# child; n is its total, r_i its sums by line and c_j by column. Neighbours are tables of the same public n that differ
# in one record. To replace record a by b is to add either to the same table of m = n - 1 records, with counts N, sums u
# and v; without an index these are of the line, column and cell of the record that is added.


def distance_from_independence(counts: IntArray) -> int:
    """Return S = sum_ij |n N_ij - r_i c_j|, a whole number: 2 n^2 times the score R of [Zhang17].

    R is half the L1 distance between the table's distribution and the product of its margins. S is at most 2 n^2, so
    that 64 bits hold it below 2^31 records.
    """
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0))
    return int(np.abs(int(counts.sum()) * counts - expected).sum())


def distance_sensitivity(lines: int, columns: int, n: int) -> int:
    """Return the most that replacing one record moves S: 4 (n - 1) if a side has two states, else at most 6 (n - 1).

    Proof. Adding a record to N makes the summands B + A with B_ij = n N_ij - u_i v_j for both records, A = m - u - v in
    the record's cell, -u_i in the other cells of its column and -v_j in those of its line. Hence S moves by at most
    |A(b) - A(a)|, in L1. As |A| = |m - u - v| + (m - u) + (m - v) <= 3 m, that is at most 6 m. With two lines the
    second line of B + A is minus the first, so S moves by at most twice what the first line of A(b) - A(a) has. If both
    records are in that line, it has 2 (m - u); if a is in it and b in the other, 2 (m - v) in a common column, and
    |m - u - v| + |v' - u| + m - v - v' <= 2 m in two columns, v' being of b's. So 4 m; likewise for two columns.

    4 m is attained for every n: n equal records, of which one is replaced by a record that differs in both. 6 m is not
    attained, as |A| = 3 m needs u = v = 0, where both records give the same S. But S moves by 6 m (1 - O(1/sqrt(n))):
    a record alone in its cell, whose line and column have about sqrt(n) records each, is replaced by one with states
    that nobody had. A side of one state has S = 0 always.
    [Zhang17] has R moved by 3/n + 2/n^2 for all tables: S by 6 n + 4.
    """
    fewest = min(lines, columns)
    return 0 if fewest < 2 else (4 if fewest == 2 else 6) * max(n - 1, 0)
