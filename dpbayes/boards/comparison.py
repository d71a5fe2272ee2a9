"""Mechanisms compared: the error of each mechanism's probabilities against epsilon, on one table or on planned ones."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.looks import Curve, Look
from dpbayes.base.text import listed, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.board import Board, Frame, Panel, View, nearest_place
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.comparison import MechanismErrors, is_near
from dpbayes.experiments.planned_tables import Tables
from dpbayes.experiments.releases import MechanismAt
from dpbayes.figures.errors import errors_figure, errors_here_figure
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.posteriors.prior_rules import PriorRule

STEP = 2
GRID = STOPS[::STEP]
"""The epsilons at which releases are simulated: every second stop of the usual slider."""

MOST_RELEASES, LEAST_RELEASES, MOST_CELLS = 40, 4, 1_500
"""Simulated releases of each mechanism at each epsilon, and released cells at most, if that leaves enough releases."""


def releases_of(network: Network) -> int:
    """Return the number of simulated releases of each mechanism at each epsilon."""
    return max(LEAST_RELEASES, min(MOST_RELEASES, MOST_CELLS // network.cell_count))


@dataclass(frozen=True, eq=False)
class ComparisonInputs:
    """What the board is computed from.

    Attributes:
        mechanisms: The mechanisms by their looks.
        tables: The tables that are released; a recipient's are planned.
        reading: Whether the reader of a release accounts for its noise.
        seed: The seed of the simulated releases.
    """

    mechanisms: Mapping[Look, MechanismAt]
    tables: Tables
    reading: Reading = Reading.NOISE_AWARE
    seed: int = 1

    @cached_property
    def compared(self) -> MechanismErrors:
        """The errors of one release of every table, at any epsilon."""
        mechanisms = {look.name: at for look, at in self.mechanisms.items()}
        return MechanismErrors(mechanisms, self.tables.of(releases_of(self.tables.network)), self.reading, self.seed)

    @cached_property
    def errors(self) -> dict[Look, FloatArray]:
        """The errors of the mechanisms that can be used somewhere, in percentage points: (epsilons, tables)."""
        errors = {look: 100 * self.compared.over(look.name, GRID) for look in self.mechanisms}
        return {look: values for look, values in errors.items() if np.isfinite(values).any()}

    @cached_property
    def blind(self) -> float:
        """The error of a prior's probabilities, which ignore the table, in percentage points."""
        prior = PriorRule().on(self.tables.network)
        return 100 * float(np.abs(prior.updated(self.compared.tables).mean - prior.mean).mean())

    @property
    def curves(self) -> list[Curve]:
        """The mean errors over the grid."""
        grid = np.array(GRID)
        return [
            Curve(look, grid, values.mean(axis=1), standard_error(values.T)) for look, values in self.errors.items()
        ]

    def near(self, epsilon: float) -> dict[Look, FloatArray]:
        """Return the errors at the point of the grid that is nearest to an epsilon, the least mean first: (tables,)."""
        k = nearest_place(GRID, epsilon)
        here = {look: errors[k] for look, errors in self.errors.items() if np.isfinite(errors[k]).all()}
        return dict(sorted(here.items(), key=lambda item: float(item[1].mean())))


HERE = Panel(
    "here",
    "How far are the released probabilities from the table’s?",
    "Mean absolute error of each mechanism at the chosen epsilon, with intervals of two standard errors.",
    large=True,
    help="The error of a probability is its distance from that of the exact posterior: 60% for 50% is an error of 10 "
    "percentage points. With a δ the promise is weaker: a probability may exceed exp(ε) times its former value by δ.",
)
ERRORS = Panel(
    "errors",
    "And at another ε?",
    "Mean absolute error of the released probabilities against epsilon, one line for each mechanism.",
)


def comparison(inputs: ComparisonInputs) -> View:
    """Return the board of the errors of all mechanisms.

    Args:
        inputs: The mechanisms and the tables.

    Returns:
        A view whose stops are the epsilons at which releases are simulated. Errors on the true table are not private.
    """
    slider, panels = replace(SLIDER, stops=SLIDER.stops[::STEP]), (HERE, ERRORS)
    board = Board("comparison", "Mechanisms compared", panels, {}, "1", slider, private=inputs.tables.is_private)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: ComparisonInputs, epsilon: float) -> Frame:
    here = inputs.near(epsilon)
    if not here:
        raise InputError("No mechanism can be used with this network and these settings.")
    numbers = {look.name: float(errors.mean()) for look, errors in here.items()}
    place = GRID[nearest_place(GRID, epsilon)]
    pure = {look: errors for look, errors in here.items() if "δ" not in look.name}
    weaker = {look: errors for look, errors in here.items() if look not in pure}
    figures = {
        "here": errors_here_figure(pure | weaker, inputs.blind),
        "errors": errors_figure(inputs.curves, epsilon=place),
    }
    caption = f"{_about(inputs)} The dashed line ignores the table: all values of a column are equally likely."
    at = f"{'At' if place == epsilon else 'At the nearest simulated'} ε = {numeral(place)}"
    headline, advice = comparison_headline(pure or weaker, inputs.blind)
    least, name = min(((numbers[look.name], look.name) for look in weaker), default=(np.inf, ""))
    if pure and least < min(numbers[look.name] for look in pure):
        advice += f" With the weaker promise of a δ, {name} has {numeral(least)}."
    notes = advice, *_missing(inputs, here, place)
    return Frame(f"{at}, {headline}", figures, notes, {"here": caption}, numbers)


def comparison_headline(errors: Mapping[Look, FloatArray], blind: float) -> tuple[str, str]:
    """Return the mechanism with the least error, or those without a clear difference, and what to do.

    Args:
        errors: The errors on each table by mechanism in percentage points, the least mean first.
        blind: The error without any release.

    Returns:
        The end of a sentence, and a sentence.
    """
    (best, least), *others = errors.items()
    tied = [look.name for look, error in others if is_near(error - least, float(least.mean()))]
    error, choice = f"{numeral(float(least.mean()))} percentage points", "any of these" if tied else best.name
    advice = f"So: choose {choice}." if 2 * least.mean() < blind else "So: a larger ε or more records are needed."
    advice += f" Without any release, the error is {numeral(blind)}."
    if not tied:
        return f"{best.name} has the least error: {error} on average.", advice
    return f"no clear difference between {listed([best.name, *tied])}: a mean error of {error}.", advice


def _about(inputs: ComparisonInputs) -> str:
    """Return what the errors are averages of."""
    cells, releases = inputs.tables.network.cell_count, many(len(inputs.compared.tables.values), "simulated release")
    whose = f"{cells:,} probabilities of the network and {releases} {inputs.tables.text}"
    return f"Mean of all {whose}. Whiskers are two standard errors."


def _missing(inputs: ComparisonInputs, here: Collection[Look], epsilon: float) -> list[str]:
    """Return why the other mechanisms cannot be used at an epsilon."""
    others = {look.name: at for look, at in inputs.mechanisms.items() if look not in here}
    rows = replace(inputs.compared, mechanisms=others).table([epsilon]).to_dict("records")
    return [f"{row['mechanism']} is missing. {row['reason']}" for row in rows]
