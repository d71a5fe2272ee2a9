"""The price and the worth of the arrows of a graph against epsilon.

From public probabilities no record has a part in it; otherwise it is computed from a model of the table, for the
curator only: the distribution of the records themselves would count what an arrow learns by chance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dpbayes.base.estimates import Estimate
from dpbayes.base.randomness import stream
from dpbayes.base.text import many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.arrows import (
    Arrow,
    ArrowErrors,
    ArrowStudy,
    PairComparison,
    arrow_study,
    clear_network,
    planned_pairs,
)
from dpbayes.figures.arrows import ArrowBar, arrows_figure, decimals
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.prior_rules import PriorRule

STOPS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100")
"""The stops of the slider; of a large network every third one."""

MOST_CELLS = 100
"""Cells of a network with all stops."""

POINTS = 100.0
"""The percentage points of an error of 1."""

CLEAR, SEEN = 3.0, 0.01
"""A difference is clear if it is so many standard errors from zero, and this share of the error."""


@dataclass(frozen=True, eq=False)
class _Arrows:
    """The drawn graph, and the same columns without arrows, over the same tables with the same noise.

    Attributes:
        network: The graph that is drawn over columns of the table.
        prior: The rule of the prior.
        seed: The seed of the simulation.
        last: The arrow that was drawn or deleted last, which a sentence is about.
    """

    network: Network
    prior: PriorRule
    seed: int
    last: Arrow | None

    @property
    def compared(self) -> PairComparison:
        """The true distributions, and the tables."""
        raise NotImplementedError

    @cached_property
    def study(self) -> ArrowStudy:
        """The graphs that are compared, at any epsilon."""
        rng = stream(self.seed, "network", "noise")
        return arrow_study(self.compared, self.network, rng, prior=self.prior, last=self.last)

    @cached_property
    def bare(self) -> ArrowStudy:
        """The same without arrows."""
        states = dict(zip(self.network.names, self.network.states, strict=True))
        bare, rng = Network.from_edges(states, [], states), stream(self.seed, "network", "noise")
        return arrow_study(self.compared, bare, rng, prior=self.prior, offers=0)


@dataclass(frozen=True, eq=False)
class PublicArrows(_Arrows):
    """What the board is computed from where probabilities are public: no record has a part in it.

    Attributes:
        source: The network of the public probabilities.
        probabilities: Its CPTs (K,).
        n: Records of a table.
        origin: What the probabilities are, in a sentence: "the published probabilities of Asia".
    """

    source: Network
    probabilities: FloatArray
    n: int
    origin: str

    @cached_property
    def compared(self) -> PairComparison:
        """The tables, and the true distributions."""
        rng = stream(self.seed, "network", "tables")
        return planned_pairs(self.source, self.probabilities, self.network, self.n, rng)


@dataclass(frozen=True, eq=False)
class CuratorArrows(_Arrows):
    """What the curator's board is computed from: the records of `table`."""

    table: Dataset
    origin = "a model of your records"

    @cached_property
    def compared(self) -> PairComparison:
        """Tables from a model of the records, and its distributions."""
        model = clear_network(self.table.select(self.network.names))
        return planned_pairs(*model, self.network, self.table.n, stream(self.seed, "network", "tables"))


ERROR = "the mean error"

HELP = (
    "An arrow costs no privacy: ε is the same. The error of a pair of columns is the total variation between its "
    "released and its true probabilities; the mean is over all pairs, in simulated tables of {n} from {origin}. Each "
    "arrow is changed alone. The savings do not add up to those of all arrows, since two arrows can show the same "
    "dependence, and some save only beside another. Lines: 99.7% intervals. With much noise a reader falls back to "
    "the prior, which can lower the error further than an arrow does without noise."
)

DRAW = "Draw an arrow to see what it saves."
NO_ARROW = "No arrow between these columns would clearly lower the error, even without noise."
MEANING = "Error: how far the released probabilities of two columns are from the true ones, averaged over all pairs."
NONE_CLEAR = "At this ε, no arrow alone clearly saves or loses."
PRICE_OF = "Of the {} points that {} saves without noise, noise and few records take {}."
LOSS_OF = "At this ε, {} costs more than it saves: without it, the error is {} points lower."
ALT = "For all arrows and for each one: the error that it saves at this epsilon, with an interval, and without noise."


def arrow_worth(inputs: PublicArrows | CuratorArrows) -> View:
    """Return the board of the arrows' worth.

    Args:
        inputs: The drawn graph, and public probabilities or, for the curator, the table.

    Returns:
        A view whose stops are epsilons. That of a table depends on the records and is not private.
    """
    stops = STOPS if inputs.network.cell_count <= MOST_CELLS else STOPS[::3]
    n = inputs.table.n if isinstance(inputs, CuratorArrows) else inputs.n
    help = HELP.format(n=many(n, "record"), origin=inputs.origin)
    panel = Panel("worth", "What do the arrows save?", ALT, help=help)
    title, slider = "The price and worth of an arrow", replace(SLIDER, stops=stops)
    board = Board("network", title, (panel,), {}, "1", slider, private=isinstance(inputs, CuratorArrows))
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: PublicArrows | CuratorArrows, epsilon: float) -> Frame:
    errors = inputs.study.at(epsilon)
    clear = clear_changes(errors)
    bars = [
        _bar(one.name, one.limit, net, is_clear=k in clear, is_added=one.is_added)
        for k, (one, net) in enumerate(zip(errors.changes, errors.worths, strict=True))
    ]
    bars.sort(key=lambda bar: (bar.is_added, -bar.net))
    numbers = {"error": POINTS * errors.error.value} | {bar.name: bar.net for bar in bars}
    arrows, captions = len(inputs.network.edges), {"worth": _price(bars)}
    bare = inputs.bare.at(epsilon) if arrows else errors
    whole = _whole_bar(inputs.bare.limit - inputs.study.limit, errors, bare)
    if arrows == 1:
        bars[0] = replace(bars[0], change=whole.change)
    elif arrows:
        bars.insert(0, whole)
    figures = {"worth": arrows_figure(bars)} if bars else {}
    headline = f"ε = {numeral(epsilon)}: {whole_gain(arrows, errors, bare)}"
    return Frame(headline, figures, (MEANING,) if arrows else (MEANING, DRAW if bars else NO_ARROW), captions, numbers)


def clear_changes(errors: ArrowErrors) -> list[int]:
    """Return the changes that clearly raise or lower the error, by their places.

    An arrow saves no more than it teaches: what is beyond that is the prior, to which noise makes a reader fall back.
    """
    pairs = enumerate(zip(errors.changes, errors.worths, strict=True))
    most = [(k, replace(worth, value=min(worth.value, max(change.limit, 0.0)))) for k, (change, worth) in pairs]
    return [k for k, worth in most if _is_clear(worth, errors)]


def _is_clear(saved: Estimate, errors: ArrowErrors) -> bool:
    if saved.value > 0 and errors.error.value >= errors.guess:
        return False  # what lowers the error is the prior
    return abs(saved.value) > max(SEEN * errors.error.value, CLEAR * saved.error)


def whole_gain(arrows: int, errors: ArrowErrors, bare: ArrowErrors) -> str:
    """Return by how much all arrows of the graph lower or raise the error of the same columns without arrows."""
    gain = Estimate.of(bare.drawn - errors.drawn)
    before, after, guess = _equal_texts(bare.error.value, errors.error.value, errors.guess)
    if errors.error.value >= errors.guess and not _is_clear(gain, errors):
        return f"a release has a larger mean error than a guess of equal probabilities: {after}, not {guess} points."
    if not arrows:
        return f"without arrows, {ERROR} is {after} percentage points."
    which, ending = ("the arrow", "s") if arrows == 1 else (f"the {arrows} arrows", "")
    if not _is_clear(gain, errors):
        return f"no clear difference: {ERROR} with {which} is {after} points."
    verb = f"{'lower' if gain.value > 0 else 'raise'}{ending}"
    return f"{which} {verb} {ERROR} from {before} to {after} percentage points."


def _whole_bar(limit: float, errors: ArrowErrors, bare: ArrowErrors) -> ArrowBar:
    """Return the row of all arrows together, with the two errors of the headline."""
    gain = Estimate.of(bare.drawn - errors.drawn)
    before, after, _ = _equal_texts(bare.error.value, errors.error.value, errors.guess)
    return _bar("all drawn arrows", limit, gain, is_clear=_is_clear(gain, errors), change=f"{before} → {after}")


def _bar(name: str, limit: float, saved: Estimate, **more: Any) -> ArrowBar:
    """Return a row, in percentage points."""
    return ArrowBar(name, POINTS * limit, POINTS * saved.value, POINTS * CLEAR * saved.error, **more)


def _price(bars: Sequence[ArrowBar]) -> str:
    """Return what noise takes of the arrow that clearly saves or loses most, or that there is none."""
    digits = decimals(bar.teaches for bar in bars)
    most = max((bar for bar in bars if bar.is_clear), key=lambda bar: abs(bar.net), default=None)
    if most is None:
        return NONE_CLEAR if bars else ""
    name, taught, net = most.name.removeprefix("add "), round(most.teaches, digits), round(most.net, digits)
    if net < 0:
        return LOSS_OF.format(name, f"{-net:.{digits}f}")
    return PRICE_OF.format(f"{taught:.{digits}f}", name, f"{taught - net:.{digits}f}") if net < taught else ""


def _equal_texts(*errors: float) -> list[str]:
    """Return errors in percentage points with one decimal, or two if one is below 1 or would look like another."""
    texts = [f"{POINTS * error:.1f}" for error in errors]
    if POINTS * min(errors) >= 1 and len(set(texts)) == len(set(errors)):
        return texts
    return [f"{POINTS * error:.2f}" for error in errors]
