"""Mechanisms compared: the error of each mechanism's probabilities against epsilon, on one table or on planned ones."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.looks import BOUND, Look
from dpbayes.base.text import listed, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.boards.against_epsilon import GRID
from dpbayes.boards.board import Board, Frame, Panel, View, nearest_place
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.comparison import MechanismErrors
from dpbayes.experiments.planned_tables import Tables
from dpbayes.experiments.releases import MechanismAt
from dpbayes.figures.accuracy import BAND
from dpbayes.figures.errors import errors_figure
from dpbayes.mechanisms import PRIVATE
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.posteriors.prior_rules import PriorRule

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

    def near(self, epsilon: float) -> dict[Look, FloatArray]:
        """Return the errors (tables,) at the nearest simulated epsilon, the least mean first."""
        k = nearest_place(GRID, epsilon)
        here = [(look, errors[k]) for look, errors in self.errors.items() if np.isfinite(errors[k]).all()]
        return dict(sorted(here, key=lambda item: float(item[1].mean())))

    @cached_property
    def most(self) -> float:
        """The largest mean error at any epsilon, or without a release."""
        return max([self.blind, *(float(np.nanmax(errors.mean(axis=1))) for errors in self.errors.values())])


def alike(errors: Mapping[Look, FloatArray]) -> list[Look]:
    """Return the mechanism with the least error, the first one, and those whose drawn intervals overlap its own."""
    ends = {look: error.mean() + np.array([-BAND, BAND]) * standard_error(error) for look, error in errors.items()}
    return [look for look, (low, _) in ends.items() if low <= next(iter(ends.values()))[1]]


def idle(errors: Mapping[Look, FloatArray], blind: float) -> list[Look]:
    """Return the mechanisms whose mean errors are less than 3% below the error without a release."""
    return [look for look, error in errors.items() if float(error.mean()) > 0.97 * blind]


def are_large(errors: Mapping[Look, FloatArray], blind: float) -> bool:
    """Return whether no mean error is below half of the error without a release."""
    return all(2 * float(error.mean()) >= blind for error in errors.values())


SUMMARIES = {kind.label: getattr(kind, "summary", "") for kind in PRIVATE}

IDLE = "worse than no release, or less than 3% better"

HERE = Panel(
    "here",
    "How large is the error of each mechanism?",
    "Mean absolute error of each mechanism at the chosen epsilon, with two standard errors.",
    large=True,
    help="The error of a probability is its distance from that of the exact posterior: 60% for 50% is an error of 10 "
    "percentage points. With a δ the promise is weaker: a probability may exceed exp(ε) times its former value by δ. "
    "Without a release, a reader has only the prior, such as 50% for each of two values. A noise-aware reader makes "
    "fewer large errors, but a naive one can have the smaller mean: it takes rare values for absent, often correctly. "
    "The rows keep their order at every ε.",
)


def comparison(inputs: ComparisonInputs) -> View:
    """Return the board of the errors of all mechanisms.

    Args:
        inputs: The mechanisms and the tables.

    Returns:
        A view whose stops are the epsilons at which releases are simulated. Errors on the true table are not private.
    """
    slider = replace(SLIDER, stops=SLIDER.stops[::2])
    board = Board("comparison", "Mechanisms compared", (HERE,), {}, "1", slider, private=inputs.tables.is_private)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: ComparisonInputs, epsilon: float) -> Frame:
    if not (here := inputs.near(epsilon)):
        raise InputError("No mechanism can be used with this network and these settings.")
    place, blind, unused = GRID[nearest_place(GRID, epsilon)], inputs.blind, idle(here, inputs.blind)
    rows = {look: here[look] for look in inputs.errors if look in here}
    texts = []
    for look, error in rows.items():
        delta = f" (δ = {numeral(inputs.deltas[look.name])})" if look.name in inputs.deltas else ""
        texts.append(f"<b>{look.name}{delta}: {numeral(float(error.mean()))}</b><br>{SUMMARIES.get(look.name, '')}")
    limit = Look(f"no release: {numeral(blind)}", BOUND, "dash")
    at = f"{'At' if place == epsilon else 'At the nearest simulated'} ε = {numeral(place)}"
    return Frame(
        f"{at}, {comparison_headline(here, blind)}",
        {"here": errors_figure(rows, texts, unused, limit=limit, at=blind, most=inputs.most)},
        (*comparison_advice(here, inputs.deltas, blind), *_missing(inputs, here, place)),
        {"here": _about(inputs)},
        {look.name: float(errors.mean()) for look, errors in here.items()},
    )


def comparison_headline(errors: Mapping[Look, FloatArray], blind: float) -> str:
    """Return which mechanism has the least error, as the end of a sentence.

    The errors are those on each table in percentage points, the least mean first, and the error without any release.
    """
    first, *others = alike(errors)
    least = float(errors[first].mean())
    if are_large(errors, blind):
        return f"all errors are large: {numeral(least)} percentage points or more, {numeral(blind)} with no release."
    tied = f", tied with {others[0].name if len(others) == 1 else f'{len(others)} others'}" if others else ""
    return f"{first.name} has the least error: {numeral(least)} percentage points{tied}."


def comparison_advice(errors: Mapping[Look, FloatArray], deltas: Collection[str], blind: float) -> list[str]:
    """Return which mechanisms to choose, a delta only where it is clearly better, and which are like no release."""
    pure = {look: error for look, error in errors.items() if look.name not in deltas}
    best, without = ([look.name for look in alike(group)] for group in (errors, pure))
    both = [name for name in best if name in without]
    why = f", which need{'s' if len(both) == 1 else ''} no δ" if any(name in deltas for name in best) else ""
    if without and not both:
        why = f" if a δ is allowed, otherwise {listed(without, 'or')}"
    choice = "a larger ε" if are_large(errors, blind) else listed(both or best, "or") + why
    notes = [f"So: choose {choice}."]
    if unused := [look.name for look in idle(errors, blind)]:
        notes.append(f"{listed(unused)} {'is' if len(unused) == 1 else 'are'} {IDLE}.")
    return notes


def _about(inputs: ComparisonInputs) -> str:
    """Return what the errors are averages of."""
    cells, releases = inputs.tables.network.cell_count, many(len(inputs.compared.tables.values), "simulated release")
    whose = f"{cells:,} probabilities of the network and {releases} {inputs.tables.text}"
    bars = f"Thin lines: two standard errors; they overlap in a tie. Faded: {IDLE}."
    return f"Mean of all {whose}. {bars}"


def _missing(inputs: ComparisonInputs, here: Collection[Look], epsilon: float) -> list[str]:
    """Return why the other mechanisms cannot be used at an epsilon."""
    others = {look.name: at for look, at in inputs.mechanisms.items() if look not in here}
    rows = replace(inputs.compared, mechanisms=others).table([epsilon]).to_dict("records")
    return [f"{row['mechanism']} is missing. {row['reason']}" for row in rows]
