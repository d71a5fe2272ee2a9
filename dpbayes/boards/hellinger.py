"""A die: which mechanism of [Notes] is closest to the exact posterior, Hellinger or Laplace.

The throws are hypothetical, so the board is the same for every seat.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.text import listed, many, numeral
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.die import SAID, SIDES, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.die_errors import (
    DRAWS,
    MEDIAN,
    Quantiles,
    error_laws,
    least_epsilons,
    misread_distances,
    misread_throws,
    noise_here,
    swept_errors,
)
from dpbayes.figures.hellinger import Box, error_box_figure, near_figure

SWEPT = 1_000
"""Simulated releases of each Laplace mechanism at every point of a curve."""

TIE = 0.03
"""Medians closer than this, relative to the larger, are called equal; the error of simulated ones is about 0.02."""

NEAR, FAR = 0.1, 0.9
"""A median distance up to which a release says what the throws say, and one from which it says nothing of them."""


@dataclass(frozen=True, eq=False)
class HellingerInputs:
    """What the board of a die is computed from.

    Attributes:
        scenario: The die, its hypothetical throws, delta and the run of the smooth mechanism; its epsilon is not used.
        seed: The seed of the simulated noise.
    """

    scenario: Scenario
    seed: int = 1

    @cached_property
    def along_epsilon(self) -> Quantiles:
        """The errors at every stop of the slider, with the same noise along all curves: (1, stops, levels)."""
        noise = np.random.default_rng([self.seed, SWEPT]).laplace(size=(SWEPT, int(SIDES.high)))
        return swept_errors([self.scenario], STOPS, noise)

    @property
    def near(self) -> int:
        """Up to how many misread throws a release is called near the truth."""
        return math.ceil(float(misread_throws(self.scenario, NEAR)))

    @cached_property
    def starts(self) -> dict[DieMethod, float]:
        """The epsilon from which on half of the releases of each mechanism are near the truth; NaN if there is none."""
        return least_epsilons(self.along_epsilon, STOPS, misread_distances(self.scenario)[: self.near + 1][-1])

    @cached_property
    def rows(self) -> list[DieMethod]:
        """The mechanisms by their least epsilons, families together, the one without a guarantee last, at any stop."""
        starts = {method: self.starts.get(method, math.nan) for method in self.scenario.methods}
        key = {method: math.inf if math.isnan(start) else start for method, start in starts.items()}
        family = {laplace: min(key[one] for one in key if one.is_laplace is laplace) for laplace in (False, True)}
        return sorted(key, key=lambda one: (one is DieMethod.LOCAL, family[one.is_laplace], one.is_laplace, key[one]))


ERRORS = Panel(
    "errors",
    "How far is a release from the truth?",
    "Boxes: the distance between the exact and the released posterior in misread throws, by mechanism.",
    large=True,
    help="The distance of two posteriors is the Hellinger distance, √(1 − overlap of the densities). An exponential "
    "mechanism chooses a posterior at random, the nearer the likelier. Its sensitivity, how far one throw can move the "
    "posterior, sets how much likelier; a smooth one needs δ. Exponential mechanisms are computed exactly, noise from "
    f"{DRAWS:,} simulated releases.",
)
AT_EPSILON = Panel("epsilon", "From which ε on is it near the truth?", "The least such epsilon of each mechanism.")

HEADINGS = {
    (True, True): "Laplace mechanism: random noise is added to the counts",
    (False, True): "Exponential mechanism: near posteriors are likelier",
    (False, False): "Not private, for comparison",
}
"""The headings of rows, by whether noise is added, and whether there is a guarantee."""


def hellinger_or_laplace(inputs: HellingerInputs) -> View:
    """Return the board of a die. [Notes] Section 2.

    Args:
        inputs: The die, its hypothetical throws and delta.

    Returns:
        A view whose stops are the epsilons of the slider.
    """
    board = Board("hellinger", "A die: Hellinger or Laplace", (ERRORS, AT_EPSILON), {}, "1", SLIDER)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: HellingerInputs, epsilon: float) -> Frame:
    scenario = inputs.scenario.at(epsilon=epsilon)
    laws = error_laws([scenario], noise_here(scenario, seed=inputs.seed))
    quantiles = {method: law.quantiles()[0] for method, law in laws.items()}
    best, rows, starts = closest(quantiles), dict[str, Box](), dict[str, tuple[Look, float]]()
    moved = misread_distances(scenario)
    for method, title in _titles(inputs.rows).items():
        median, start = float(quantiles[method][MEDIAN]), inputs.starts.get(method, math.nan)
        value = throws_text(scenario, median)
        value = f"over {value}" if median > moved[-1] + 1e-9 else f"<b>{value}</b>" if method in best else value
        rows[title] = method.look, misread_throws(scenario, quantiles[method]), value
        text = "not private" if method is DieMethod.LOCAL else "never" if math.isnan(start) else f"ε = {numeral(start)}"
        starts[f"{'<br>' * title.count('<br>')}{method.value}: {text}"] = method.look, start
    axis = f"as if so many of {scenario.n:,} throws were misread"
    counts = " + ".join(f"{count:,}" for count in scenario.counts)
    figures = {
        "errors": error_box_figure(rows, most=len(moved) - 1, title=axis),
        "epsilon": near_figure(starts, np.array(STOPS), marked=epsilon),
    }
    captions = {
        "errors": f"Truth: the exact posterior of {counts} throws. Number: the median, bold if least of the private "
        "mechanisms. Box: the middle half of the releases. Whiskers: 5% to 95%.",
        "epsilon": f"Near: half of the releases are within {many(inputs.near, 'misread throw')}.",
    }
    numbers = {method.value: float(values[MEDIAN]) for method, values in quantiles.items()}
    headline = f"At ε = {numeral(epsilon)}, {die_headline(quantiles, scenario)}"
    return Frame(headline, figures, tuple(die_advice(inputs, best, epsilon)), captions, numbers)


def _titles(methods: Sequence[DieMethod]) -> dict[DieMethod, str]:
    """Return the texts above the rows of mechanisms, the first of each family with its heading."""
    headings = dict(HEADINGS)
    above = {one: headings.pop((one.is_laplace, one is not DieMethod.LOCAL), "") for one in methods}
    return {
        one: f"<i>{text}</i><br>" * bool(text) + f"<b>{one.value}</b><br>{SAID[one]}" for one, text in above.items()
    }


def throws_text(scenario: Scenario, distance: float) -> str:
    """Return a distance as a number of misread throws, at most as many as there are of the commonest side."""
    number = numeral(float(misread_throws(scenario, distance)), 2)
    return f"{number} throw{'s' * (number != '1')}"


# Sentences about the quantiles (levels,) of the errors


def closest(errors: Quantiles) -> list[DieMethod]:
    """Return the mechanisms with a guarantee whose medians are equal to the least, the one with less spread first."""
    ranked = sorted(set(errors) - {DieMethod.LOCAL}, key=lambda one: (errors[one][MEDIAN], errors[one][-1], one.value))
    return [one for one in ranked if (1 - TIE) * errors[one][MEDIAN] <= errors[ranked[0]][MEDIAN]]


def die_headline(errors: Quantiles, scenario: Scenario) -> str:
    """Return which mechanisms with a proof are closest, as the end of a sentence."""
    best = closest(errors)
    least = float(errors[best[0]][MEDIAN])
    throws = f"{throws_text(scenario, least).replace(' ', ' misread ')} of {scenario.n:,}"
    if least > min(FAR, misread_distances(scenario)[-1] + 1e-9):
        return f"no mechanism is near the truth: half of the releases are further from it than {throws}."
    others = [one.value for one in best if not one.is_laplace]
    names = [one.value for one in best if one.is_laplace]
    if others:
        names.append("the exponential mechanism" if others[1:] else f"the exponential mechanism with {others[0]}")
    near = f"within {throws}" if least else "exact"
    return f"{listed(names)} {'are' if names[1:] else 'is'} closest to the truth: half of the releases are {near}."


def die_advice(inputs: HellingerInputs, best: Collection[DieMethod], epsilon: float) -> list[str]:
    """Return which mechanism to choose at an epsilon, the least epsilon, and what the Notes state too low."""
    scenario, starts = inputs.scenario, inputs.starts
    least = min(starts.values(), key=lambda start: (math.isnan(start), start))
    first = listed([method.value for method, start in starts.items() if start == least], "or")
    choice = listed([method.value for method in best], "or") if epsilon >= least else "a larger ε"
    whose = f"With {first}, " * (first != choice)
    notes = [f"So: choose {choice}. {whose}ε = {numeral(least)} is enough to be near the truth."]
    if math.isnan(least):
        notes = [f"So: even ε = {numeral(STOPS[-1])} is not enough to be near the truth."]
    if scenario.calibration is SmoothRun.AS_PRINTED:
        stated, proved = scenario.claimed(DieMethod.SMOOTH), scenario.certified(DieMethod.SMOOTH)
        notes.append(f"For smooth sensitivity, the Notes state {stated}; only {proved} is proved.")
    return notes
