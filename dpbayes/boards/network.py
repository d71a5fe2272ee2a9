"""The price and the worth of the arrows of a graph against epsilon.

From public probabilities no record has a part in it; otherwise it is computed from the table, for the curator only.
"""

from dataclasses import dataclass, replace
from functools import cached_property

from dpbayes.base.randomness import stream
from dpbayes.base.text import distinct_texts, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.arrows import (
    FURTHER,
    Arrow,
    ArrowErrors,
    ArrowStudy,
    Change,
    arrow_study,
    planned_pairs,
    table_pairs,
)
from dpbayes.figures.arrows import ArrowBar, arrows_figure
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.prior_rules import PriorRule

STOPS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100")
"""The stops of the slider; of a large network every third one."""

MOST_CELLS = 100
"""Cells of a network with all stops."""

CLEAR, SEEN = 3.0, 0.01
"""An arrow makes a clear difference if its worth is so many standard errors from zero, and this share of the error."""


@dataclass(frozen=True, eq=False)
class PublicArrows:
    """What the board is computed from where probabilities are public: no record has a part in it.

    Attributes:
        source: The network of the public probabilities.
        probabilities: Its CPTs (K,).
        network: The graph that is drawn over columns of the source.
        n: Records of a table.
        origin: What the probabilities are, in a sentence: "the published probabilities of Asia".
        prior: The rule of the prior.
        seed: The seed of the simulation.
        last: The arrow that was drawn or deleted last, which the headline is about.
    """

    source: Network
    probabilities: FloatArray
    network: Network
    n: int
    origin: str
    prior: PriorRule = PriorRule()
    seed: int = 1
    last: Arrow | None = None

    @cached_property
    def study(self) -> ArrowStudy:
        """The graphs that are compared, at any epsilon."""
        rng = stream(self.seed, "network", "tables")
        compared = planned_pairs(self.source, self.probabilities, self.network, self.n, rng)
        rng = stream(self.seed, "network", "noise")
        return arrow_study(compared, self.network, rng, prior=self.prior, last=self.last)

    @property
    def releases(self) -> str:
        """What is simulated, in a sentence."""
        tables = f"{many(self.study.comparison.releases, 'table')} of {many(self.n, 'record')}"
        return f"Simulated releases of {tables} from {self.origin}. No record of your table is used."


@dataclass(frozen=True, eq=False)
class CuratorArrows:
    """What the curator's board is computed from: the table.

    Attributes:
        table: The records.
        network: The graph that is drawn over columns of the table.
        prior: The rule of the prior.
        seed: The seed of the simulation.
        last: The arrow that was drawn or deleted last, which the headline is about.
        proposes: Whether arrows to add are searched in the records.
    """

    table: Dataset
    network: Network
    prior: PriorRule = PriorRule()
    seed: int = 1
    last: Arrow | None = None
    proposes: bool = False

    @cached_property
    def study(self) -> ArrowStudy:
        """The graphs that are compared, at any epsilon."""
        compared = table_pairs(self.table, self.network)
        rng, offers = stream(self.seed, "network", "noise"), FURTHER if self.proposes else 0
        return arrow_study(compared, self.network, rng, prior=self.prior, last=self.last, offers=offers)

    @property
    def releases(self) -> str:
        """What is simulated, in a sentence."""
        return (
            f"{many(self.study.comparison.releases, 'simulated release')} of this table: not private (curator view). "
            "If this picture influences the graph, the guarantee of a release does not cover that choice."
        )


WORTH = Panel(
    "worth",
    "What does each arrow teach, and what does its noise cost?",
    "A bar for each arrow: the error that it saves without noise, minus the error of its noise.",
    help="What it teaches: without noise, the error rises by this without the arrow. What its noise costs: each parent "
    "splits the table of the arrow's head into more rows, so fewer records stand against the same noise. Thin lines: "
    "99.7% intervals of what is left, from the simulated releases.",
)

READING = (
    "Error: how far, on average, the released distribution of two columns is from the true one (total variation, 0 to "
    "1). An arrow is worth it if it teaches more than its noise costs."
)


def arrow_worth(inputs: PublicArrows | CuratorArrows) -> View:
    """Return the board of the arrows' worth.

    Args:
        inputs: The drawn graph, and public probabilities or, for the curator, the table.

    Returns:
        A view whose stops are epsilons. That of a table depends on the records and is not private.
    """
    stops = STOPS if inputs.network.cell_count <= MOST_CELLS else STOPS[::3]
    slider, is_private = replace(SLIDER, stops=stops), isinstance(inputs, CuratorArrows)
    title = "The price and worth of an arrow"
    board = Board("network", title, (WORTH,), {}, "1", slider, private=is_private)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: PublicArrows | CuratorArrows, epsilon: float) -> Frame:
    errors = inputs.study.at(epsilon)
    clear = clear_changes(errors)
    bars = [
        ArrowBar(arrow_name(change), change.limit, net.value, CLEAR * net.error, k in clear, change.is_added)
        for k, (change, net) in enumerate(zip(errors.changes, errors.worths, strict=True))
    ]
    numbers = {"error": errors.error.value} | {bar.name: bar.net for bar in bars}
    headline, captions = arrow_headline(errors, epsilon, inputs.last), {"worth": inputs.releases}
    figures = {"worth": arrows_figure(bars)} if bars else {}
    return Frame(headline, figures, (READING, verdict(errors)), captions, numbers)


def arrow_name(change: Change) -> str:
    """Return what a change is called: "smoke → bronc", "add smoke → bronc"."""
    name = " → ".join(change.arrow)
    return f"add {name}" if change.is_added else name


def clear_changes(errors: ArrowErrors) -> list[int]:
    """Return the changes that clearly raise or lower the error, by their places."""
    least = SEEN * errors.error.value
    return [k for k, worth in enumerate(errors.worths) if abs(worth.value) > max(least, CLEAR * worth.error)]


def arrow_headline(errors: ArrowErrors, epsilon: float, last: Arrow | None = None) -> str:
    """Return the error with and without the arrow that was drawn or deleted last, else the clearest difference."""
    clear, start = clear_changes(errors), f"ε = {numeral(epsilon)}:"
    done = [k for k, change in enumerate(errors.changes) if change.arrow == last]
    drawn = [k for k in clear if not errors.changes[k].is_added]
    if not errors.changes:
        return f"{start} without arrows the error is {numeral(errors.error.value, 2)}."
    if not (done or clear):
        return f"{start} no arrow makes a clear difference to the error ({numeral(errors.error.value, 2)})."
    most = max(done or drawn or clear, key=lambda k: abs(errors.worths[k].value))
    change, saves = errors.changes[most], errors.worths[most].value > 0
    arrow, is_with = " → ".join(change.arrow), change.is_added != bool(done)  # what was done leads to the drawn graph
    start = f"{start} {'with' if is_with else 'without'} {arrow} the error"
    if most not in clear:
        return f"{start} stays at about {numeral(errors.error.value, 2)}: no clear difference."
    ends = errors.error.value, float(errors.changed[most].mean())
    before, after = distinct_texts(*(ends[::-1] if done else ends), most=2)
    verb = "falls" if is_with == saves else "rises"
    return f"{start} {verb if done else f'would {verb[:-1]}'} from {before} to {after}."


def verdict(errors: ArrowErrors) -> str:
    """Return how many drawn arrows are worth their noise, how many are not, and of how many that is not clear."""
    drawn = [k for k, change in enumerate(errors.changes) if not change.is_added]
    if not drawn:
        return "No arrow is drawn."
    nets = [errors.worths[k].value for k in clear_changes(errors) if k in drawn]
    good = sum(net > 0 for net in nets)
    bad, rest = len(nets) - good, len(drawn) - len(nets)
    return f"{many(len(drawn), 'arrow')}: {good} worth the noise, {bad} not, {rest} without a clear difference."
