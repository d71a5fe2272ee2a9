"""Private regression: errors, and the epsilon of the paper, against epsilon, Figure 2 of [Zhang16]."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpbayes.base.randomness import stream
from dpbayes.base.text import many, numeral, share_text
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.board import Board, Frame, Panel, View, nearest_place
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.regression import Read, RegressionResult, StudyRecords, records_of, regression_study
from dpbayes.experiments.regression_scenario import Records, RegressionScenario
from dpbayes.figures.regression import regression_errors_figure
from dpbayes.figures.style import value_mark
from dpbayes.mechanisms.regression import RegressionSampler

CLOSE = 0.05
"""An error that is larger than another by at most this share is called close to it."""

END = 50
"""The epsilon from which on the text of a value is at the left of its dot."""


@dataclass(frozen=True, eq=False)
class RegressionInputs:
    """What the board of regression is computed from; errors on records of a census are for the curator only.

    Attributes:
        scenario: Records, norm bound, samples and repeats.
        seed: The seed of splits and samples.
        data_seed: The seed of synthetic records.
        read: Reads the records of a census, if they are those of one.
    """

    scenario: RegressionScenario
    seed: int = 1
    data_seed: int = 1
    read: Read | None = None

    @property
    def is_private(self) -> bool:
        """Whether the records are those of a census."""
        return self.scenario.records is not Records.SYNTHETIC

    @cached_property
    def measured(self) -> tuple[RegressionResult, StudyRecords]:
        """The errors of all repeats, which are the same at every stop, and the records."""
        records = records_of(self.scenario, seed=self.data_seed, read=self.read)
        return regression_study(
            records.table, self.scenario.at_epsilons(STOPS), stream(self.seed, "regression")
        ), records


ERRORS = Panel(
    "errors",
    "How far off are private predictions?",
    "Error of private predictions against epsilon, beside that without privacy and that of always the mean.",
    large=True,
    help="The model is y = w·x + noise of variance σ²; the prior of the weights w is N(0, I/b). A sample of w of norm "
    "at most 10/√b is released, as in the paper’s Figure 2. This bound determines ε; here b follows from the chosen ε. "
    "Without privacy: the mean of the posterior, with the best b. A typical error is the root mean square.",
)


def regression(inputs: RegressionInputs) -> View:
    """Return the board of private regression. [Zhang16] Section 5.2, Figure 2.

    Args:
        inputs: The scenario and the seeds.

    Returns:
        A view whose stops are the epsilons of the slider.
    """
    board = Board("regression", "Regression", (ERRORS,), {}, "1", SLIDER, private=inputs.is_private)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: RegressionInputs, epsilon: float) -> Frame:
    result, records = inputs.measured
    study, best = result.study, float(result.exact.mean.min())
    k = nearest_place(study.certified.tolist(), epsilon)
    place = float(study.certified[k])
    numbers = {"private": float(result.private.mean[k]), "exact": best, "mean": float(result.baseline.mean[k])}
    roots = {name: records.root(error) for name, error in numbers.items()}
    text, colour = f"{round(roots['private']):,}", RegressionSampler.colour
    errors = regression_errors_figure(result.curves(records.half_width), epsilon=place)
    side = {"textposition": f"top {'right' if place < END else 'left'}"}
    mark = value_mark(place, roots["private"], text, colour) | side
    headline = f"At ε = {numeral(place)}, " + regression_headline(roots, records.target)
    captions = {
        "errors": f"Predicted: {records.target}, from {many(result.features, 'feature')} such as schooling. Of "
        f"{records.table.n:,} {'records of a census' if inputs.is_private else 'synthetic records'}, "
        f"{share_text(study.train_share)} ({result.train:,}) train the weights, the others test them; the curve is the "
        f"mean of {many(study.repeats, 'random split')}. A small ε allows only small weights: then every "
        "prediction is near the middle of the public bounds.",
    }
    figure = replace(errors, data=(*errors.data, mark))
    return Frame(headline, {"errors": figure}, (_advice(result),), captions, numbers)


def regression_headline(roots: Mapping[str, float], target: str) -> str:
    """Return the root of the error in dollars, beside the best one without privacy or that without features."""
    first = f"a private prediction of {target} typically misses by {round(roots['private']):,} dollars"
    if roots["private"] >= roots["mean"]:
        return f"{first}; always the mean, by only {round(roots['mean']):,}."
    return f"{first}; without privacy, by {round(roots['exact']):,}."


def _advice(result: RegressionResult) -> str:
    """Return from which proved epsilon on the error is close to the best one without privacy."""
    is_close = result.private.mean <= (1 + CLOSE) ** 2 * result.exact.mean.min()
    enough = int(np.append(is_close, False).argmin())  # from the largest epsilon down
    if not enough:
        return f"So: no ε of the slider has an error within {CLOSE:.0%} of the best one without privacy."
    least = numeral(result.study.certified[enough - 1], 2)
    return f"So: ε = {least} is enough: the error is within {CLOSE:.0%} of the best one without privacy."
