"""A die: which mechanism of [Notes] is closest to the exact posterior, Hellinger or Laplace.

The throws are hypothetical, so the board is the same for every seat.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

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
    misread_ticks,
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
        return math.ceil(misread_throws(self.scenario, NEAR))

    @cached_property
    def starts(self) -> dict[DieMethod, float]:
        """The epsilon from which on half of the releases of each mechanism are near the truth; NaN if there is none."""
        return least_epsilons(self.along_epsilon, STOPS, misread_distances(self.scenario)[: self.near + 1][-1])


ERRORS = Panel(
    "errors",
    "How far is a release from the truth?",
    "Boxes: the distance between the exact and the released posterior in misread throws, by mechanism.",
    large=True,
    help="A release is k misread throws away if it is as far from the exact posterior as the posterior of the throws "
    "with k of them misread. The scale is the Hellinger distance, √(1 − overlap of the two densities), 0 to 1. The "
    "spread of a choice follows from what one throw can change: anywhere (global), near the given counts (smooth; "
    "checked: confirmed for every table), or at them alone (local), which reveals them. Choices are computed exactly, "
    f"noise from {DRAWS:,} simulated releases.",
)
AT_EPSILON = Panel("epsilon", "From which ε on is it near the truth?", "The least such epsilon of each mechanism.")


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
    ticks = {f"{throws:,}": distance for throws, distance in misread_ticks(scenario).items()}
    title = f"distance, in misread throws of {scenario.n:,}"
    starts = {
        f"{method.value}: {'never' if math.isnan(start) else f'ε = {numeral(start)}'}": (method.look, start)
        for method, start in inputs.starts.items()
    }
    counts = " + ".join(f"{count:,}" for count in scenario.counts)
    figures = {
        "errors": error_box_figure(_boxes(quantiles, scenario), ticks=ticks, title=title),
        "epsilon": near_figure(starts, np.array(STOPS), marked=epsilon),
    }
    captions = {
        "errors": f"The truth: the posterior of the throws {counts}. A release: a private version of it. Numbers: "
        "medians. Boxes: the middle half of releases; whiskers: 5% to 95%.",
        "epsilon": f"Near: half of the releases are within {many(inputs.near, 'misread throw')}.",
    }
    numbers = {method.value: float(values[MEDIAN]) for method, values in quantiles.items()}
    headline = f"At ε = {numeral(epsilon)}, {die_headline(quantiles, scenario)}"
    return Frame(headline, figures, (die_advice(inputs),), captions, numbers)


def _boxes(quantiles: Quantiles, scenario: Scenario) -> dict[str, Box]:
    """Return the rows of all mechanisms, of each family below its heading, the closest with bold values."""
    best, rows = closest(quantiles), dict[str, Box]()
    headings = {
        False: "<i>Pick a random result, near ones more often</i><br>",
        True: "<i>Add noise to the counts</i><br>",
    }
    for method, values in quantiles.items():
        value, noun = throws_text(scenario, values[MEDIAN])
        value = f"<b>{value}</b><br>{noun}" if method in best else f"{value}<br>{noun}"
        heading = headings.pop(method.is_laplace, "")
        rows[f"{heading}<b>{method.value}</b>: {SAID[method]}"] = method.look, values, value
    return rows


def throws_text(scenario: Scenario, distance: float) -> tuple[str, str]:
    """Return a distance as a number of misread throws, with a plus if no such throws are so far, and its noun."""
    is_beyond = bool(distance >= misread_distances(scenario)[-1])
    number = numeral(misread_throws(scenario, distance), 2) + "+" * is_beyond
    return number, "throw" if number == "1" else "throws"


# Sentences about the quantiles (levels,) of the errors


def closest(errors: Quantiles) -> list[DieMethod]:
    """Return the mechanisms with a guarantee whose medians are equal to the least, the one with less spread first."""
    ranked = sorted(set(errors) - {DieMethod.LOCAL}, key=lambda one: (errors[one][MEDIAN], errors[one][-1], one.value))
    return [one for one in ranked if (1 - TIE) * errors[one][MEDIAN] <= errors[ranked[0]][MEDIAN]]


def die_headline(errors: Quantiles, scenario: Scenario) -> str:
    """Return which mechanisms with a proof are closest, as the end of a sentence."""
    best = closest(errors)
    least = float(errors[best[0]][MEDIAN])
    throws = f"{' misread '.join(throws_text(scenario, least))} of {scenario.n:,}"
    if least >= FAR:
        return f"no mechanism is near the truth: half of the releases miss by {throws} or more."
    names = f"{listed([one.value for one in best])} {'are' if best[1:] else 'is'}"
    return f"{names} closest to the truth: half of the releases are {f'within {throws}' if least else 'exact'}."


def die_advice(inputs: HellingerInputs) -> str:
    """Return the mechanism that is near the truth from the least epsilon on, and what the Notes state too low."""
    scenario, starts = inputs.scenario, inputs.starts
    within = f"half of the releases within {many(inputs.near, 'misread throw')} of {scenario.n:,}"
    least = min(starts.values(), key=lambda start: (math.isnan(start), start))
    names = " or ".join(method.value for method, start in starts.items() if start == least)
    text = f"choose ε = {numeral(least)} or more with {names}: {within}" if names else f"no mechanism has {within}"
    if scenario.calibration is not SmoothRun.AS_PRINTED:
        return f"So: {text}."
    stated, proved = scenario.claimed(DieMethod.SMOOTH), scenario.certified(DieMethod.SMOOTH)
    return f"So: {text}. For smooth choice the Notes state {stated}; only {proved} is proved."
