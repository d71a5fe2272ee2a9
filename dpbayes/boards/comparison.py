"""Mechanisms compared: the error of each mechanism's probabilities against epsilon, on one table or on planned ones."""

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpbayes.base.looks import Look
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

    def near(self, epsilon: float) -> dict[Look, FloatArray]:
        """Return the errors at the point of the grid that is nearest to an epsilon, the least mean first: (tables,)."""
        k = nearest_place(GRID, epsilon)
        here = {look: errors[k] for look, errors in self.errors.items() if np.isfinite(errors[k]).all()}
        return dict(sorted(here.items(), key=lambda item: float(item[1].mean())))

    @cached_property
    def advice(self) -> str:
        """Which mechanisms to choose, by all epsilons, so that it is the same at every stop of the slider."""
        best, weaker = Counter[str](), Counter[str]()
        for epsilon in GRID:
            pure, others = _by_promise(self.near(epsilon))
            best.update(look.name for look in alike(pure))
            weaker.update(look.name for look, error in others.items() if alike({look: error} | pure) == [look])
        most, number = max(best.values(), default=0), f"of {len(GRID)} values of ε"
        text = f"So: choose {' or '.join(name for name in best if best[name] == most)}"
        text += f": none without a δ is clearly better at {'any' if most == len(GRID) else most} {number}."
        for name, times in weaker.most_common(1):
            if 3 * times >= len(GRID):  # a few of so many comparisons differ by chance
                text += f" With a δ, a weaker promise, {name.split(' (')[0]} is clearly better at {times} of them."
        return text


def alike(errors: Mapping[Look, FloatArray]) -> list[Look]:
    """Return the mechanism with the least error, the first one, and those without a clear difference from it."""
    least = next(iter(errors.values()), np.empty(0))
    return [look for look, error in errors.items() if error is least or is_near(error - least, float(least.mean()))]


def _by_promise(errors: Mapping[Look, FloatArray]) -> tuple[dict[Look, FloatArray], dict[Look, FloatArray]]:
    """Return the errors of the mechanisms without and with a delta."""
    pure = {look: error for look, error in errors.items() if "δ" not in look.name}
    return pure, {look: error for look, error in errors.items() if look not in pure}


HERE = Panel(
    "here",
    "How large is the error of each mechanism, compared with Laplace?",
    "Mean absolute error of each mechanism at the chosen epsilon relative to Laplace, with two standard errors.",
    large=True,
    help="The error of a probability is its distance from that of the exact posterior: 60% for 50% is an error of 10 "
    "percentage points. With a δ the promise is weaker: a probability may exceed exp(ε) times its former value by δ.",
)


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
    here = inputs.near(epsilon)
    if not here:
        raise InputError("No mechanism can be used with this network and these settings.")
    numbers = {look.name: float(errors.mean()) for look, errors in here.items()}
    place = GRID[nearest_place(GRID, epsilon)]
    pure, weaker = _by_promise(here)
    summaries = {kind.label: getattr(kind, "summary", "").replace(", with δ > 0", "") for kind in PRIVATE}
    said = [summaries.get(look.name.split(" (")[0], "") for look in here]
    figures = {"here": errors_figure(here, said, inputs.blind)}
    at = f"{'At' if place == epsilon else 'At the nearest simulated'} ε = {numeral(place)}"
    without = "without a δ, " if pure and weaker else ""
    headline = f"{at}, {without}{comparison_headline(pure or weaker, inputs.blind)}"
    notes = inputs.advice, *_missing(inputs, here, place)
    return Frame(headline, figures, notes, {"here": _about(inputs)}, numbers)


def comparison_headline(errors: Mapping[Look, FloatArray], blind: float) -> str:
    """Return the mechanism with the least error, or those without a clear difference, as the end of a sentence.

    Args:
        errors: The errors on each table by mechanism in percentage points, the least mean first.
        blind: The error without any release.
    """
    tied = alike(errors)
    ends = [numeral(float(errors[look].mean())) for look in (tied[0], tied[-1])]
    if 2 * errors[tied[0]].mean() >= blind:
        return f"all errors are large: at least {ends[0]} percentage points, and {numeral(blind)} without any release."
    error = f"{' to '.join(dict.fromkeys(ends))} percentage points"
    if len(tied) == 1:
        return f"{tied[0].name} has the least error: {error} on average."
    return f"no clear difference between {listed([look.name for look in tied])}: errors of {error}."


def _about(inputs: ComparisonInputs) -> str:
    """Return what the errors are averages of."""
    cells, releases = inputs.tables.network.cell_count, many(len(inputs.compared.tables.values), "simulated release")
    whose = f"{cells:,} probabilities of the network and {releases} {inputs.tables.text}"
    blind = f"Without any release, the error is {numeral(inputs.blind)} points (dashed, where it fits)."
    return f"Mean of all {whose}; bars: two standard errors. {blind}"


def _missing(inputs: ComparisonInputs, here: Collection[Look], epsilon: float) -> list[str]:
    """Return why the other mechanisms cannot be used at an epsilon."""
    others = {look.name: at for look, at in inputs.mechanisms.items() if look not in here}
    rows = replace(inputs.compared, mechanisms=others).table([epsilon]).to_dict("records")
    return [f"{row['mechanism']} is missing. {row['reason']}" for row in rows]
