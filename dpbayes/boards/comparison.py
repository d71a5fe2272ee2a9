"""Mechanisms compared: the error of each mechanism's probabilities against epsilon, on one table or on planned ones."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpbayes.base.looks import BOUND, Look
from dpbayes.base.text import listed, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.board import Board, Frame, Panel, View, nearest_place
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.comparison import MechanismErrors, is_near
from dpbayes.experiments.planned_tables import Tables
from dpbayes.experiments.releases import MechanismAt
from dpbayes.figures.errors import errors_figure
from dpbayes.mechanisms import PRIVATE
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
        deltas: The delta of each mechanism that has one, by its name.
        tables: The tables that are released; a recipient's are planned.
        reading: Whether the reader of a release accounts for its noise.
        seed: The seed of the simulated releases.
    """

    mechanisms: Mapping[Look, MechanismAt]
    tables: Tables
    deltas: Mapping[str, float] = field(default_factory=dict)
    reading: Reading = Reading.NOISE_AWARE
    seed: int = 1

    @cached_property
    def compared(self) -> MechanismErrors:
        """The errors of one release of every table, at any epsilon."""
        mechanisms = {look.name: at for look, at in self.mechanisms.items()}
        return MechanismErrors(mechanisms, self.tables.of(releases_of(self.tables.network)), self.reading, self.seed)

    @cached_property
    def errors(self) -> dict[Look, FloatArray]:
        """The errors of the mechanisms that can be used somewhere, in percentage points, the least mean first."""
        errors = {look: 100 * self.compared.over(look.name, GRID) for look in self.mechanisms}
        used = {look: values for look, values in errors.items() if np.isfinite(values).any()}
        return dict(sorted(used.items(), key=lambda item: float(np.nanmean(item[1]))))

    @cached_property
    def blind(self) -> float:
        """The error of a prior's probabilities, which ignore the table, in percentage points."""
        prior = PriorRule().on(self.tables.network)
        return 100 * float(np.abs(prior.updated(self.compared.tables).mean - prior.mean).mean())

    def near(self, epsilon: float) -> tuple[dict[Look, FloatArray], dict[Look, FloatArray]]:
        """Return the errors (tables,) at the nearest simulated epsilon without and with a delta, the least first."""
        k = nearest_place(GRID, epsilon)
        here = [(look, errors[k]) for look, errors in self.errors.items() if np.isfinite(errors[k]).all()]
        here.sort(key=lambda item: float(item[1].mean()))
        pure = {look: errors for look, errors in here if look.name not in self.deltas}
        return pure, {look: errors for look, errors in here if look.name in self.deltas}

    @cached_property
    def most(self) -> float:
        """The largest mean error at any epsilon, or without a release."""
        return max([self.blind, *(float(np.nanmax(errors.mean(axis=1))) for errors in self.errors.values())])

    @cached_property
    def advice(self) -> str:
        """Which mechanisms to choose, by all epsilons, so that it is the same at every stop of the slider."""
        best, weaker = Counter[str](), Counter[str]()
        for epsilon in GRID:
            pure, others = self.near(epsilon)
            best.update(look.name for look in alike(pure or others))
            weaker.update(look.name for look, error in others.items() if pure and alike({look: error} | pure) == [look])
        times = max(best.values(), default=0)
        often = "at most values of ε" if 2 * times > len(GRID) else "more often than any other"
        names = listed([name for name in best if best[name] == times], "or")
        text = f"So: choose {names}, best or tied for best {often}."
        for name, times in weaker.most_common(1):
            if 2 * times > len(GRID):
                text += f" With a δ, {name} is clearly better than all without one at most values of ε."
        return text


def alike(errors: Mapping[Look, FloatArray]) -> list[Look]:
    """Return the mechanism with the least error, the first one, and those without a clear difference from it."""
    least = next(iter(errors.values()), np.empty(0))
    return [look for look, error in errors.items() if error is least or is_near(error - least, float(least.mean()))]


SUMMARIES = "\n".join(f"{kind.label}: {getattr(kind, 'summary', '')}" for kind in PRIVATE)

HERE = Panel(
    "here",
    "How large is the error of each mechanism?",
    "Mean absolute error of each mechanism at the chosen epsilon, with two standard errors.",
    large=True,
    help="The error of a probability is its distance from that of the exact posterior: 60% for 50% is an error of 10 "
    "percentage points. With a δ the promise is weaker: a probability may exceed exp(ε) times its former value by δ."
    f"\n\n{SUMMARIES}",
)

NO_RELEASE = Look("No release", BOUND)


def comparison(inputs: ComparisonInputs) -> View:
    """Return the board of the errors of all mechanisms.

    Args:
        inputs: The mechanisms and the tables.

    Returns:
        A view whose stops are the epsilons at which releases are simulated. Errors on the true table are not private.
    """
    slider = replace(SLIDER, stops=SLIDER.stops[::STEP])
    board = Board("comparison", "Mechanisms compared", (HERE,), {}, "1", slider, private=inputs.tables.is_private)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: ComparisonInputs, epsilon: float) -> Frame:
    pure, weaker = inputs.near(epsilon)
    if not (here := {**pure, **weaker}):
        raise InputError("No mechanism can be used with this network and these settings.")
    delta = f"With δ = {numeral(max(inputs.deltas.values(), default=0))}, a weaker promise"
    named = {"Pure ε (no δ)": pure, delta: weaker, "For comparison": {NO_RELEASE: np.full(2, inputs.blind)}}
    groups = {group: errors for group, errors in named.items() if errors}
    best, order = [look for errors in groups.values() for look in alike(errors)], [*inputs.errors, NO_RELEASE]
    rows = {group: {look: errors[look] for look in order if look in errors} for group, errors in groups.items()}
    place = GRID[nearest_place(GRID, epsilon)]
    at = f"{'At' if place == epsilon else 'At the nearest simulated'} ε = {numeral(place)}"
    return Frame(
        f"{at}, {comparison_headline(pure, weaker, inputs.blind)}",
        {"here": errors_figure(rows, best, inputs.most)},
        (inputs.advice, *_missing(inputs, here, place)),
        {"here": _about(inputs)},
        {look.name: float(errors.mean()) for look, errors in here.items()},
    )


def comparison_headline(pure: Mapping[Look, FloatArray], weaker: Mapping[Look, FloatArray], blind: float) -> str:
    """Return which mechanism has the least error, without a delta if any has none, as the end of a sentence.

    The errors are those on each table in percentage points, the least mean first, and the error without any release.
    """
    least = min(float(errors.mean()) for errors in [*pure.values(), *weaker.values()])
    if 2 * least >= blind:
        return f"all errors are large: {numeral(least)} percentage points or more, {numeral(blind)} with no release."
    first, *others = alike(errors := pure or weaker)
    error = f"{numeral(float(errors[first].mean()))} percentage points"
    tied = f", tied with {others[0].name if len(others) == 1 else f'{len(others)} others'}" if others else ""
    return f"{first.name} has the least error{' without a δ' if pure and weaker else ''}: {error}{tied}."


def _about(inputs: ComparisonInputs) -> str:
    """Return what the errors are averages of."""
    cells, releases = inputs.tables.network.cell_count, many(len(inputs.compared.tables.values), "simulated release")
    whose = f"{cells:,} probabilities of the network and {releases} {inputs.tables.text}"
    doubt = " Naive 95% intervals can miss most true values." if inputs.reading is Reading.AS_REAL else ""
    return f"Mean of all {whose}; lines: two standard errors. Pale: clearly worse than the best of its group.{doubt}"


def _missing(inputs: ComparisonInputs, here: Collection[Look], epsilon: float) -> list[str]:
    """Return why the other mechanisms cannot be used at an epsilon."""
    others = {look.name: at for look, at in inputs.mechanisms.items() if look not in here}
    rows = replace(inputs.compared, mechanisms=others).table([epsilon]).to_dict("records")
    return [f"{row['mechanism']} is missing. {row['reason']}" for row in rows]
