"""A die: which mechanism of [Notes] is closest to the exact posterior, Hellinger or Laplace.

The throws are hypothetical, so the board is the same for every seat.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.board import Board, Frame, Panel, View, distinct_texts
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.die import SIDES, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.die_errors import (
    DRAWS,
    LEVELS,
    Quantiles,
    error_laws,
    noise_here,
    swept_errors,
)
from dpbayes.figures.hellinger import die_errors_figure, error_box_figure

SWEPT = 1_000
"""Simulated releases of each Laplace mechanism at every point of a curve."""

NAMES = {
    DieMethod.GLOBAL: "the exponential mechanism with global sensitivity",
    DieMethod.SMOOTH: "the exponential mechanism with smooth sensitivity",
    DieMethod.ENUMERATED: "the exponential mechanism by enumeration",
    DieMethod.LOCAL: "the exponential mechanism with local sensitivity",
    DieMethod.CELLS: "Laplace noise on every count",
    DieMethod.ONE: "Laplace noise on one count",
}

TIE = 0.03
"""Medians closer than this, relative to the larger, are called equal; the error of simulated ones is about 0.02."""

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
    def swept(self) -> FloatArray:
        """The noise of the releases along all curves."""
        rng = np.random.default_rng([self.seed, SWEPT])
        return rng.laplace(size=(SWEPT, int(SIDES.high)))

    @cached_property
    def along_epsilon(self) -> Quantiles:
        """The errors at every stop of the slider: (1, stops, levels)."""
        return swept_errors([self.scenario], STOPS, self.swept)

    @property
    def curves(self) -> dict[Look, FloatArray]:
        """The errors at every stop, of the mechanisms with a guarantee."""
        return {method.look: errors[0] for method, errors in self.along_epsilon.items() if method in RANKED}


ERRORS = Panel(
    "errors",
    "How far is a release from the exact posterior?",
    "Boxes: the Hellinger distance between the exact and the released posterior, by mechanism.",
    large=True,
    help="The Hellinger distance of two distributions is 0 if they are equal and 1 if they do not overlap. An "
    "exponential mechanism prefers posteriors near the exact one; its sensitivity is how much one throw can change "
    "the distance: over all throws (global), near the given ones (smooth) or for them alone (local).",
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
    medians = {method: float(values[MEDIAN]) for method, values in quantiles.items()}
    figures = {
        "errors": error_box_figure({method.look: values for method, values in quantiles.items()}),
        "epsilon": die_errors_figure(np.array(STOPS), inputs.curves, marked=epsilon),
    }
    counts = " + ".join(f"{count:,}" for count in scenario.counts)
    captions = {
        "errors": f"Boxes: the middle half of releases; whiskers: 5% to 95%; numbers: medians. Throws: {counts}.",
    }
    note = (
        f"Exponential mechanisms are computed exactly, Laplace from {DRAWS:,} simulated releases. Local sensitivity "
        "has no guarantee and is not ranked."
    )
    numbers = {method.value: median for method, median in medians.items()}
    headline = f"At ε = {numeral(epsilon)}, {die_headline(quantiles)}"
    return Frame(headline, figures, (second_sentence(quantiles, scenario), note), captions, numbers)


# Sentences about the quantiles (levels,) of the errors


def ranked(errors: Quantiles) -> tuple[DieMethod, DieMethod, bool]:
    """Return the best mechanism with a proof, the best such of the other family, and whether they are called equal.

    Of equal medians, the one with the smaller largest quantile is better.
    """
    proved = {method: (float(own[MEDIAN]), float(own[-1])) for method, own in errors.items() if method in RANKED}
    best = min(proved, key=proved.__getitem__)
    rival = min((m for m in proved if m.is_laplace is not best.is_laplace), key=proved.__getitem__)
    return best, rival, proved[rival][0] - proved[best][0] <= TIE * proved[rival][0]


def die_headline(errors: Quantiles) -> str:
    """Return which mechanism with a proof is closest, or that both families are, as the end of a sentence."""
    best, rival, is_tie = ranked(errors)
    medians = {method: float(own[MEDIAN]) for method, own in errors.items()}
    if is_tie:
        error = numeral(medians[best], 2)
        finding = f"no difference is detected between {NAMES[best]} and {NAMES[rival]}"
    else:
        error = distinct_texts(medians[best], medians[rival], most=2)[0]
        finding = f"{NAMES[best]} is closest to the exact posterior"
    return f"{finding}: a median distance of {error}."


def second_sentence(errors: Quantiles, scenario: Scenario) -> str:
    """Return the error of the other family's best mechanism, and what is proved of a run as in the Notes."""
    best, rival, is_tie = ranked(errors)
    family = "exponential mechanism" if best.is_laplace else "Laplace mechanism"
    sentences = []
    if not is_tie:
        more = distinct_texts(float(errors[best][MEDIAN]), float(errors[rival][MEDIAN]), most=2)[1]
        sentences.append(f"The best {family} with a proof ({rival.value}) has a median distance of {more}.")
    if scenario.calibration is SmoothRun.AS_PRINTED:
        stated, proved = scenario.claimed(DieMethod.SMOOTH), scenario.certified(DieMethod.SMOOTH)
        sentences.append(f"For smooth sensitivity the Notes state {stated}; only {proved} is proved.")
    return " ".join(sentences)
