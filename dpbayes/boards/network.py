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
    """

    source: Network
    probabilities: FloatArray
    network: Network
    n: int
    origin: str
    prior: PriorRule = PriorRule()
    seed: int = 1

    @cached_property
    def study(self) -> ArrowStudy:
        """The graphs that are compared, at any epsilon."""
        rng = stream(self.seed, "network", "tables")
        compared = planned_pairs(self.source, self.probabilities, self.network, self.n, rng)
        return arrow_study(compared, self.network, stream(self.seed, "network", "noise"), prior=self.prior)

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
    """

    table: Dataset
    network: Network
    prior: PriorRule = PriorRule()
    seed: int = 1

    @cached_property
    def study(self) -> ArrowStudy:
        """The graphs that are compared, at any epsilon."""
        compared = table_pairs(self.table, self.network)
        return arrow_study(compared, self.network, stream(self.seed, "network", "noise"), prior=self.prior)

    @property
    def releases(self) -> str:
        """What is simulated, in a sentence."""
        return (
            f"{many(self.study.comparison.releases, 'simulated release')} of this table: not private (curator view). "
            "If this picture influences the graph, the guarantee of a release does not cover that choice."
        )


WORTH = Panel(
    "worth",
    "Which arrows are worth their noise?",
    "Bars: the error of all pairs of columns that each arrow saves at this epsilon; diamonds: the same without noise.",
)

DEFINITION = "Error: mean total variation between the true and the released distribution of every two columns."

READING = (
    "A bar shows how much the error rises if the arrow is removed; for an arrow to add, how much it falls. The diamond "
    "shows the same without noise: the distance to it is the price of the arrow. Each arrow splits its child's table "
    "into more rows, so fewer records carry the same noise. Lines: intervals of three standard errors."
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
    bars = [
        ArrowBar(arrow_name(change), worth.value, CLEAR * worth.error, change.limit, k in clear_changes(errors))
        for k, (change, worth) in enumerate(zip(errors.changes, errors.worths, strict=True))
    ]
    numbers = {"error": errors.error.value} | {bar.name: bar.worth for bar in bars}
    notes, captions = (f"{verdict(errors)} {inputs.releases}",), {"worth": f"{DEFINITION} {READING}"}
    return Frame(arrow_headline(errors, epsilon), {"worth": arrows_figure(bars)}, notes, captions, numbers)


def arrow_name(change: Change) -> str:
    """Return what a change is called: "smoke → bronc", "add smoke → bronc"."""
    name = " → ".join(change.arrow)
    return f"add {name}" if change.is_added else name


def clear_changes(errors: ArrowErrors) -> list[int]:
    """Return the changes that clearly raise or lower the error, by their places."""
    least = SEEN * errors.error.value
    return [k for k, worth in enumerate(errors.worths) if abs(worth.value) > max(least, CLEAR * worth.error)]


def arrow_headline(errors: ArrowErrors, epsilon: float) -> str:
    """Return the clearest finding about the drawn arrows, or about one to add, with the error before and after."""
    clear, start, error = clear_changes(errors), f"ε = {numeral(epsilon)}:", "the mean error of all pairs"
    if not clear:
        return f"{start} no arrow makes a clear difference to {error} ({numeral(errors.error.value, 2)})."
    drawn = [k for k in clear if not errors.changes[k].is_added]
    most = max(drawn or clear, key=lambda k: abs(errors.worths[k].value))
    change, saves = errors.changes[most], errors.worths[most].value > 0
    arrow = " → ".join(change.arrow)
    now, after = distinct_texts(errors.error.value, float(errors.changed[most].mean()), most=2)
    if change.is_added:
        return f"{start} adding {arrow} would {'lower' if saves else 'raise'} {error} from {now} to {after}."
    if saves:
        return f"{start} {arrow} is worth its noise: without it, {error} rises from {now} to {after}."
    return f"{start} {arrow} costs more than it is worth: without it, {error} falls from {now} to {after}."


def verdict(errors: ArrowErrors) -> str:
    """Return how many drawn arrows are worth their noise, and how many are not."""
    drawn = [k for k, change in enumerate(errors.changes) if not change.is_added]
    if not drawn:
        return "No arrow is drawn."
    worths = [errors.worths[k].value for k in clear_changes(errors) if k in drawn]
    good = sum(worth > 0 for worth in worths)
    return f"{many(len(drawn), 'arrow')}: {good} clearly worth the noise, {len(worths) - good} clearly not."
