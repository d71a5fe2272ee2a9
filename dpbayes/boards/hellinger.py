"""A die: which mechanism of [Notes] is closest to the exact posterior, Hellinger or Laplace.

The throws are hypothetical, so the board is the same for every seat.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.text import listed, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.die import SAID, SIDES, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.die_errors import (
    DRAWS,
    LEVELS,
    Quantiles,
    error_laws,
    misread_throws,
    noise_here,
    swept_errors,
)
from dpbayes.figures.hellinger import die_errors_figure, error_box_figure

SWEPT = 1_000
"""Simulated releases of each Laplace mechanism at every point of a curve."""

TIE = 0.03
"""Medians closer than this, relative to the larger, are called equal; the error of simulated ones is about 0.02."""

NEAR = 0.1
"""A median distance up to which a release says what the throws say."""

MEDIAN = LEVELS.index(0.5)

RANKED = set(DieMethod) - {DieMethod.LOCAL}
"""The mechanisms with a guarantee, which are ranked and drawn as curves."""


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
    def curves(self) -> dict[Look, FloatArray]:
        """The errors at every stop, of the mechanisms with a guarantee."""
        return {method.look: errors[0] for method, errors in self.along_epsilon.items() if method in RANKED}


ERRORS = Panel(
    "errors",
    "How far is a release from the truth?",
    "Boxes: the Hellinger distance between the exact and the released posterior, by mechanism.",
    large=True,
    help="A choice picks one of all possible results, more often one near the exact one. How sharply depends on "
    "what one throw can change: anywhere (global), near the given counts (smooth, or checked smooth), or at them alone "
    "(local), which has no guarantee. The distance is Hellinger’s: √(1 − overlap of the two densities).",
)
AT_EPSILON = Panel("epsilon", "Which mechanism wins at which ε?", "Median Hellinger distance against epsilon.")


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
    figures = {
        "errors": error_box_figure(
            {method.look: values for method, values in quantiles.items()}, [SAID[method] for method in quantiles]
        ),
        "epsilon": die_errors_figure(np.array(STOPS), inputs.curves, marked=epsilon),
    }
    counts = " + ".join(f"{count:,}" for count in scenario.counts)
    captions = {
        "errors": f"Boxes: the middle half of releases; whiskers: 5% to 95%; numbers: medians. Throws: {counts}.",
        "epsilon": f"Choices are computed exactly, noise from {DRAWS:,} simulated releases.",
    }
    numbers = {method.value: float(values[MEDIAN]) for method, values in quantiles.items()}
    headline = f"At ε = {numeral(epsilon)}, {die_headline(quantiles, scenario)}"
    return Frame(headline, figures, (die_advice(inputs.along_epsilon, scenario),), captions, numbers)


# Sentences about the quantiles (levels,) of the errors


def ranked(errors: Quantiles) -> list[DieMethod]:
    """Return the mechanisms with a proof, the closest first; of equal medians, the one with less spread."""
    proved = [method for method in errors if method in RANKED]
    return sorted(proved, key=lambda method: (errors[method][MEDIAN], errors[method][-1]))


def die_headline(errors: Quantiles, scenario: Scenario) -> str:
    """Return which mechanisms with a proof are closest, as the end of a sentence."""
    best, *others = ranked(errors)
    least = float(errors[best][MEDIAN])
    tied = [other.value for other in others if errors[other][MEDIAN] - least <= TIE * errors[other][MEDIAN]]
    throws = misread_throws(scenario, least)
    near = f"within {many(throws, 'misread throw')} of {scenario.n:,}" if throws else "exact"
    names = f"{listed([best.value, *tied])} {'are' if tied else 'is'}"
    return f"{names} closest to the truth: half of the releases are {near}."


def die_advice(errors: Quantiles, scenario: Scenario) -> str:
    """Return the mechanism that is near the truth from the least epsilon on, and what the Notes state too low.

    The errors are those of one die at all stops of the slider: (1, stops, levels).
    """
    near = {method: errors[method][0, :, MEDIAN] <= NEAR for method in errors if method in RANKED}
    starts = {method: int(np.append(False, is_near)[::-1].argmin()) for method, is_near in near.items()}
    most = max(starts.values())
    names = " or ".join(method.value for method, start in starts.items() if start == most)
    within = f"half of the releases within {many(misread_throws(scenario, NEAR), 'misread throw')} of {scenario.n:,}"
    text = f"So: no mechanism has {within}."
    if most:
        text = f"So: choose ε = {numeral(STOPS[-most])} or more with {names}: {within}; others need a larger ε."
    if scenario.calibration is SmoothRun.AS_PRINTED:
        stated, proved = scenario.claimed(DieMethod.SMOOTH), scenario.certified(DieMethod.SMOOTH)
        text += f" For smooth choice the Notes state {stated}; only {proved} is proved."
    return text
