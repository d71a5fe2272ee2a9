"""Mechanisms compared: the error of each mechanism's probabilities against epsilon, on one table or on planned ones."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.libraries import pd
from dpbayes.base.looks import Curve, Look
from dpbayes.base.randomness import stream
from dpbayes.base.text import many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.boards.board import Board, Frame, Panel, View, nearest_place
from dpbayes.boards.curator import MechanismAt
from dpbayes.boards.explore import SLIDER
from dpbayes.boards.tables import Tables
from dpbayes.experiments.planned_errors import is_near, release_errors
from dpbayes.figures.comparison import errors_figure
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading

GRID = tuple(float(f"{10 ** (k / 2):.3g}") for k in range(-4, 5))
"""The epsilons at which releases are simulated, 0.01 to 100."""

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


@dataclass(frozen=True, eq=False)
class MechanismErrors:
    """Errors of one release of every table, by mechanism: (epsilons, tables); NaN if it cannot be used.

    The tables and the random numbers are the same at every epsilon.
    """

    inputs: ComparisonInputs

    @cached_property
    def tables(self) -> Counts:
        """The tables that are released."""
        return self.inputs.tables.of(releases_of(self.inputs.tables.network))

    def errors_at(self, look: Look, epsilon: float) -> FloatArray:
        """Return the mean absolute error of one mechanism's probabilities on each table, at any epsilon: (tables,)."""
        result = self.tried(look, epsilon)
        return np.full(len(self.tables.values), np.nan) if isinstance(result, str) else result

    def tried(self, look: Look, epsilon: float) -> FloatArray | str:
        """Return the errors of one mechanism at an epsilon, or the reason why it cannot be used there."""
        rng = stream(self.inputs.seed, "comparison", look.name)
        try:
            mechanism = self.inputs.mechanisms[look](epsilon)
            return release_errors(self.tables, mechanism, self.inputs.reading, rng)
        except InputError as refusal:
            return str(refusal)

    @cached_property
    def errors(self) -> dict[Look, FloatArray]:
        """The errors on the grid."""
        looks = self.inputs.mechanisms
        return {look: np.stack([self.errors_at(look, epsilon) for epsilon in GRID]) for look in looks}

    @cached_property
    def curves(self) -> list[Curve]:
        """The mean errors over the grid, of the mechanisms that can be used."""
        grid = np.array(GRID)
        return [
            Curve(look, grid, errors.mean(axis=1), standard_error(errors.T))
            for look, errors in self.errors.items()
            if np.isfinite(errors).any()
        ]

    def near(self, epsilon: float) -> dict[Look, FloatArray]:
        """Return the errors at the point of the grid that is nearest to an epsilon, the least mean first: (tables,)."""
        k = nearest_place(GRID, epsilon)
        here = {look: errors[k] for look, errors in self.errors.items() if np.isfinite(errors[k]).all()}
        return dict(sorted(here.items(), key=lambda item: float(item[1].mean())))


ERRORS = Panel(
    "errors",
    "Which mechanism has the least error?",
    "Mean absolute error of the released probabilities against epsilon, one line for each mechanism.",
    large=True,
)


def comparison(inputs: ComparisonInputs) -> View:
    """Return the board of the errors of all mechanisms.

    Args:
        inputs: The mechanisms and the tables.

    Returns:
        A view whose stops are the epsilons of the slider. Errors on the true table are not private.
    """
    compared, is_private = MechanismErrors(inputs), inputs.tables.is_private
    board = Board("comparison", "Mechanisms compared", (ERRORS,), {}, "1", SLIDER, private=is_private)
    return View(board, lambda stop: (_frame(compared, float(stop)),))


def _frame(compared: MechanismErrors, epsilon: float) -> Frame:
    here = compared.near(epsilon)
    if not compared.curves or not here:
        raise InputError("No mechanism can be used with this network and these settings.")
    figure = errors_figure(compared.curves, epsilon=epsilon, title="mean absolute error of a probability")
    numbers = {look.name: float(errors.mean()) for look, errors in here.items()}
    note = _about(compared)
    return Frame(
        comparison_headline(here, GRID[nearest_place(GRID, epsilon)]), {"errors": figure}, (note,), {}, numbers
    )


def comparison_headline(errors: Mapping[Look, FloatArray], epsilon: float) -> str:
    """Return the mechanism with the least error, or those without a clear difference.

    Args:
        errors: The errors on each table by mechanism, the least mean first.
        epsilon: The epsilon.

    Returns:
        A sentence.
    """
    (best, least), *others = errors.items()
    tied = [look.name for look, error in others if is_near(error - least, float(least.mean()))]
    start = f"ε = {numeral(epsilon)}: {best.name} has the least mean error ({numeral(float(least.mean()), 2)})"
    if not tied:
        return f"{start}."
    names = tied[0] if len(tied) == 1 else f"{len(tied)} other mechanisms"
    return f"{start}, without a clear difference from {names}."


def _about(compared: MechanismErrors) -> str:
    """Return what the errors are averages of."""
    releases, whose = many(len(compared.tables.values), "simulated release"), compared.inputs.tables.text
    is_aware = compared.inputs.reading is Reading.NOISE_AWARE
    reader = "noise-aware where a release states its noise" if is_aware else "naive"
    return (
        f"Mean absolute error of all probabilities over {releases} {whose}; bars show one standard error. The reader "
        f"is {reader}. The prior limits the error at small ε."
    )


def table_at(compared: MechanismErrors, epsilon: float, looks: Sequence[Look] = ()) -> "pd.DataFrame":
    """Return the error and the guarantee of each mechanism at exactly one epsilon, the least error first.

    A mechanism that cannot be used is in the last rows, with the reason.

    Args:
        compared: The comparison.
        epsilon: The epsilon.
        looks: The mechanisms; all of them by default.

    Returns:
        A frame with one row for each mechanism.
    """
    rows: list[tuple[str, str, float, float, str]] = []
    for look in looks or compared.inputs.mechanisms:
        errors = compared.tried(look, epsilon)
        if isinstance(errors, str):
            rows.append((look.name, "", math.nan, math.nan, errors))
            continue
        proved = compared.inputs.mechanisms[look](epsilon).certified
        spread = float(standard_error(errors[:, None])[0])
        rows.append((look.name, str(proved), float(errors.mean()), spread, ""))
    columns = ["mechanism", "proved guarantee", "mean absolute error", "standard error", "why not"]
    frame = pd.DataFrame(rows, columns=columns).sort_values("mean absolute error", ignore_index=True)
    return frame if (frame["why not"] != "").any() else frame.drop(columns="why not")
