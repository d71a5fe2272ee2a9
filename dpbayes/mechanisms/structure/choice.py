"""A network's graph chosen from a private table, greedily. [Zhang17] Algorithms 2 and 4.

From one node on, every round joins one more: among all pairs of a node that is left and a set of parents among
those joined, it chooses one by permute-and-flip, at its share of epsilon, which add up. It stands in place of the
paper's exponential mechanism, at the same epsilon, because it is what can be drawn exactly (see
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
from dpbayes.mechanisms.structure.dependence import distance_from_independence, distance_sensitivity
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
"""Most pairs of a node and its parents that may have to be scored; each takes one look at all records."""

MOST_RECORDS = 2**31 - 1
"""Most records, so that the whole-number score fits 64 bits."""


@dataclass(frozen=True)
class CandidateFamily:
    """A node that may be joined next and the parents it would have, as places of columns, parents in table order."""

    child: int
    parents: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class StructureChoice:
    """What a curator decides before she looks: epsilon for the whole graph, and which graphs there are.

    A node is given as many of the nodes already joined as parents as `parents` and `most_cells` allow, and none where
    not even one is allowed. `first` is the node to begin with, the table's first column by default; it must be named
    without looking at the records. Errors: InputError for numbers out of range and an epsilon that is not exact.
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
    """One choice: among how many pairs, at what epsilon, and how far one record moves a score.

    It follows from the domains, n, and the nodes that were joined before.
    """

    candidates: int
    epsilon: Fraction
    sensitivity: int


@dataclass(frozen=True)
class ChosenStructure:
    """A graph that was chosen, the order in which its nodes were joined, and what that cost.

    The promise covers the graph and the order; all else follows from them, the choice and n (`round_after`).
    """

    network: Network
    joined: tuple[str, ...]
    choice: StructureChoice
    rounds: tuple[Round, ...]

    @property
    def spent(self) -> Fraction:
        """The epsilons of all rounds, exactly: epsilon, or 0 for a single node."""
        return sum((stage.epsilon for stage in self.rounds), Fraction(0))

    @property
    def certified(self) -> Guarantee:
        """The promise of the graph: that of its rounds together ([Dwork06], basic composition)."""
        return Guarantee(rounded_up(self.spent), reference=Reference("Zhang17", "Algorithm 2, records replaced"))


def simulate_structure(choice: StructureChoice, data: Dataset, rng: np.random.Generator) -> ChosenStructure:
    """Return a graph drawn with a generator: for showing what the choice does, never for a real release.

    Errors: InputError for tables that are too wide, too long, or without the first node.
    """

    def pick(scores: IntArray, stage: Round) -> int:
        return simulate_flip(scores, flip_scale(stage.sensitivity, stage.epsilon), rng)

    return _chosen(choice, data, pick)


def draw_structure(choice: StructureChoice, data: Dataset) -> ChosenStructure:
    """Return a graph drawn by OpenDP from the operating system's randomness, for a real release.

    Errors: those of `simulate_structure`, before anything is drawn.
    """

    def pick(scores: IntArray, stage: Round) -> int:
        return draw_flip(scores, sensitivity=stage.sensitivity, epsilon=stage.epsilon)

    return _chosen(choice, data, pick)


def cards_of(data: Dataset) -> tuple[int, ...]:
    """Return the number of states of every column, from its public domain."""
    return tuple(len(states) for states in data.states)


def families_after(choice: StructureChoice, cards: Sequence[int], joined: Sequence[int]) -> tuple[CandidateFamily, ...]:
    """Return the pairs that may be chosen once these nodes of so many states are joined, sorted by parents.

    Parents are sets to which `parents` and `most_cells` let no other joined node be added: more parents never lower
    how far from independent a node is of them.
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
    """Return the most pairs of a node and its parents that are scored, each by one look at all records."""
    others = columns - 1
    return columns * sum(math.comb(others, size) for size in range(min(choice.parents, others) + 1))


def round_after(choice: StructureChoice, cards: Sequence[int], n: int, joined: Sequence[int]) -> Round:
    """Return the round after these nodes were joined: how it is drawn depends on no record, given them."""
    families = families_after(choice, cards, joined)
    sides = {(_product(cards, family.parents), cards[family.child]) for family in families}
    sensitivity = max(distance_sensitivity(lines, columns, n) for lines, columns in sides)
    return Round(len(families), choice.epsilon / (len(cards) - 1), sensitivity)


def noise_share(choice: StructureChoice, cards: Sequence[int], n: int) -> float:
    """Return how large noise is beside the strongest dependence there can be, in the round where it is largest.

    It is public. Permute-and-flip among k pairs takes the largest score with exponential noise, which at k equal scores
    has a mean of scale (1 + 1/2 + ... + 1/k); a node of s states is at most at 2 n^2 (1 - 1/s) from independent of its
    parents, where it follows from them and its states are equally many. Nodes are taken to be joined in table order:
    which order it will be is not known before. 0 where there is nothing to choose.
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
    """Refuse what could not be carried through, before anything is drawn; no record is looked at.

    Errors: InputError for no columns, states that no network can have, an unknown first node, and sizes above a limit.
    """
    require_feasible_over(choice, Network(data.names, data.states, ((),) * len(data.names)), data.n)


def require_feasible_over(choice: StructureChoice, columns: Network, n: int) -> None:
    """Refuse what could not be carried through with n records of these columns, of which no arrow is used.

    Errors: those of `require_feasible`, but for columns that no network can have.
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
    """Return the score of each pair; those `counted` from earlier rounds are not counted again, new ones are added."""
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
    """Return for every record which combination of the parents' states it has, the first parent most significant."""
    lines = np.zeros(data.n, dtype=np.int64)
    for j in parents:
        lines *= cards[j]
        lines += data.codes[:, j]
    return lines


def _product(cards: Sequence[int], members: Iterable[int]) -> int:
    return math.prod(cards[j] for j in members)
