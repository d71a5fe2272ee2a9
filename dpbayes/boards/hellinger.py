"""A die: which mechanism of [Notes] is closest to the exact posterior, Hellinger or Laplace.

The throws are hypothetical, so the board is the same for every seat.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.looks import Look
from dpbayes.base.text import distinct_texts, numeral
from dpbayes.base.types import FloatArray
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.board import Board, Frame, Panel, View, nearest_place
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.die import SIDES, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.die_errors import (
    DRAWS,
    LEVELS,
    MOST_SWEPT,
    DieNoise,
    ErrorLaw,
    error_laws,
    noise_here,
    throws_grid,
)
from dpbayes.figures.hellinger import die_errors_figure, error_box_figure, sides_figure
from dpbayes.figures.style import Figure, without_legend
from dpbayes.model.compositions import is_listable

SWEPT = 1_000
"""Simulated releases of each Laplace mechanism at every point of a curve."""

THROWS = 8
"""Points of the picture against the number of throws."""

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


@dataclass(frozen=True, eq=False)
class HellingerInputs:
    """What the board of a die is computed from.

    Attributes:
        scenario: The die, its hypothetical throws, delta and the run of the smooth mechanism; its epsilon is not used.
        seed: The seed of the simulated noise.
    """

    scenario: Scenario
    seed: int = 1

    @property
    def sides(self) -> tuple[int, ...]:
        """The numbers of sides of the picture against sides: those with few candidates, and that of the scenario."""
        every = range(int(SIDES.low), int(SIDES.high) + 1)
        few = [m for m in every if is_listable(self.scenario.n, sides=m, most=MOST_SWEPT)]
        return tuple(sorted({*few, self.scenario.sides}))

    @cached_property
    def swept(self) -> DieNoise:
        """The noise of the releases along all curves."""
        rng = np.random.default_rng([self.seed, SWEPT])
        return DieNoise.draw(rng, sides=int(SIDES.high), draws=SWEPT)

    @cached_property
    def along_epsilon(self) -> "Swept":
        """The errors at every stop of the slider."""
        return swept([self.scenario], STOPS, self.swept)

    @cached_property
    def along_throws(self) -> "Swept":
        """The errors at every number of throws and every stop."""
        grid = throws_grid(self.scenario, THROWS)
        return swept([self.scenario.at(n=n) for n in grid], STOPS, self.swept)

    @cached_property
    def along_sides(self) -> "Swept":
        """The errors at every number of sides and every stop."""
        return swept([self.scenario.at(sides=m) for m in self.sides], STOPS, self.swept)


@dataclass(frozen=True, eq=False)
class Swept:
    """Quantiles of errors, by method: (scenarios, epsilons, levels); NaN if a die has no such mechanism."""

    errors: Mapping[DieMethod, FloatArray]

    def at(self, k: int) -> dict[Look, FloatArray]:
        """Return the quantiles along the scenarios at one epsilon: (scenarios, levels)."""
        return {method.look: errors[:, k] for method, errors in self.errors.items()}


def swept(scenarios: Sequence[Scenario], epsilons: Sequence[float], noise: DieNoise) -> Swept:
    """Return the errors of all mechanisms in some scenarios, each at some epsilons.

    Args:
        scenarios: The scenarios, whose epsilons are not used.
        epsilons: The epsilons.
        noise: Standard noise with a column for each side of the largest die.

    Returns:
        The quantiles by method.
    """
    laws = [error_laws([scenario.at(epsilon=epsilon) for epsilon in epsilons], noise) for scenario in scenarios]
    none = np.full((len(epsilons), len(LEVELS)), np.nan)
    methods = [method for method in DieMethod if any(method in here for here in laws)]
    return Swept(
        {
            method: np.stack([here[method].quantiles() if method in here else none for here in laws])
            for method in methods
        }
    )


ERRORS = Panel(
    "errors",
    "Which mechanism is closest to the exact posterior?",
    "Boxes: the Hellinger distance between the exact and the released posterior, by mechanism.",
    large=True,
)
AT_EPSILON = Panel("epsilon", "Which mechanism wins at which ε?", "Median Hellinger distance against epsilon.")
AT_THROWS = Panel("throws", "And with how many throws?", "Median Hellinger distance against the number of throws.")
AT_SIDES = Panel("sides", "And with how many sides?", "Median Hellinger distance against the number of sides.")


def hellinger_or_laplace(inputs: HellingerInputs) -> View:
    """Return the board of a die. [Notes] Section 2.

    Args:
        inputs: The die, its hypothetical throws and delta.

    Returns:
        A view whose stops are the epsilons of the slider.
    """
    panels = (ERRORS, AT_EPSILON, AT_THROWS, *((AT_SIDES,) if len(inputs.sides) > 1 else ()))
    board = Board("hellinger", "A die: Hellinger or Laplace", panels, {}, "1", SLIDER)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: HellingerInputs, epsilon: float) -> Frame:
    scenario = inputs.scenario.at(epsilon=epsilon)
    laws = error_laws([scenario], noise_here(scenario, seed=inputs.seed))
    medians = medians_of(laws)
    figures = {
        "errors": error_box_figure({method.look: law.quantiles()[0] for method, law in laws.items()}),
    } | _curves(inputs, scenario)
    counts = " + ".join(f"{count:,}" for count in scenario.counts)
    captions = {
        "errors": f"Boxes show the middle half of releases, whiskers 5% to 95%, for hypothetical throws {counts}.",
        "throws": "Colours as in the boxes; Laplace noise on one count is dashed.",
    }
    note = (
        f"Exponential mechanisms are computed exactly, Laplace from {DRAWS:,} simulated releases. Local sensitivity "
        "has no guarantee and is not ranked."
    )
    numbers = {method.value: median for method, median in medians.items()}
    return Frame(die_headline(medians), figures, (second_sentence(medians, scenario), note), captions, numbers)


def _curves(inputs: HellingerInputs, scenario: Scenario) -> dict[str, Figure]:
    k = nearest_place(STOPS, scenario.epsilon)
    n, m = scenario.n, scenario.sides
    here = {method.look: errors[0, ::3] for method, errors in inputs.along_epsilon.errors.items()}
    throws, title = np.array(throws_grid(inputs.scenario, THROWS), dtype=float), "throws n"
    figures = {
        "epsilon": die_errors_figure(
            np.array(STOPS[::3]), here, marked=scenario.epsilon, title="ε, nats of privacy loss"
        ),
        "throws": die_errors_figure(throws, inputs.along_throws.at(k), marked=n, title=title),
    }
    if len(inputs.sides) > 1:
        places = np.array(inputs.sides, dtype=float)
        figures["sides"] = sides_figure(places, inputs.along_sides.at(k), marked=m, title="sides m")
    return {key: without_legend(figure) for key, figure in figures.items()}


# Sentences


def medians_of(laws: Mapping[DieMethod, ErrorLaw]) -> dict[DieMethod, float]:
    """Return the median error of each mechanism."""
    return {method: float(law.quantiles()[0, MEDIAN]) for method, law in laws.items()}


def ranked(medians: Mapping[DieMethod, float]) -> tuple[DieMethod, DieMethod, bool]:
    """Return the best mechanism with a proof, the best such of the other family, and whether they are called equal."""
    proved = {method: error for method, error in medians.items() if method is not DieMethod.LOCAL}
    best = min(proved, key=proved.__getitem__)
    rival = min((m for m in proved if m.is_laplace is not best.is_laplace), key=proved.__getitem__)
    return best, rival, proved[rival] - proved[best] <= TIE * proved[rival]


def die_headline(medians: Mapping[DieMethod, float]) -> str:
    """Return which mechanism with a proof is closest, or that the best of both families are equally close."""
    best, rival, is_tie = ranked(medians)
    if is_tie:
        error = numeral(medians[best], 2)
        return (
            f"No clear difference between {NAMES[best]} and {NAMES[rival]}: the median Hellinger distance is {error}."
        )
    name, error = NAMES[best][0].upper() + NAMES[best][1:], distinct_texts(medians[best], medians[rival], most=2)[0]
    return f"{name} is closest to the exact posterior: the median Hellinger distance is {error}."


def second_sentence(medians: Mapping[DieMethod, float], scenario: Scenario) -> str:
    """Return the error of the other family's best mechanism, and what is proved of a run as in the Notes."""
    best, rival, is_tie = ranked(medians)
    family = "exponential mechanism" if best.is_laplace else "Laplace mechanism"
    sentences = []
    if not is_tie:
        more = distinct_texts(medians[best], medians[rival], most=2)[1]
        sentences.append(f"The best {family} with a proof ({rival.value}) has a median distance of {more}.")
    if scenario.calibration is SmoothRun.AS_PRINTED and DieMethod.SMOOTH in (best, rival):
        sentences.append(f"For smooth sensitivity only {scenario.certified(DieMethod.SMOOTH)} is proved.")
    return " ".join(sentences)


# Guarantees


def die_guarantees(scenario: Scenario) -> "pd.DataFrame":
    """Return the stated and the proved guarantee of each mechanism; Proofs measures their exact losses.

    Args:
        scenario: The die at an epsilon.

    Returns:
        A frame with one row for each mechanism.
    """
    methods = scenario.methods
    return pd.DataFrame(
        {
            "mechanism": [method.value for method in methods],
            "stated": [str(scenario.claimed(method)) for method in methods],
            "proved": [str(scenario.certified(method)) for method in methods],
        }
    )
