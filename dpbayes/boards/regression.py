"""Private regression: squared errors and epsilon against the prior precision, Figure 2 of [Zhang16]."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpbayes.base.looks import Curve
from dpbayes.base.randomness import stream
from dpbayes.base.text import many, numeral, typed
from dpbayes.boards.board import Board, Frame, Panel, Slider, View, nearest_place
from dpbayes.experiments.regression import Read, RegressionResult, StudyRecords, records_of, regression_study
from dpbayes.experiments.regression_scenario import PRECISIONS, Records, RegressionScenario
from dpbayes.figures.regression import epsilon_figure, regression_errors_figure
from dpbayes.figures.style import Figure, value_mark
from dpbayes.mechanisms.regression import PRIOR_PRECISION, RegressionSampler

CLOSE = 0.05
"""An error that is larger than another by at most this share is called close to it."""

SLIDER = Slider(
    "regression.precision",
    "Prior precision b",
    tuple(typed(precision) for precision in PRECISIONS),
    PRIOR_PRECISION.low,
    PRIOR_PRECISION.high,
    help="A strong prior, one of a large precision, draws the weights towards zero.",
    ends=("more accurate", "more private"),
)


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
        return regression_study(records.table, self.scenario, stream(self.seed, "regression")), records


@dataclass(frozen=True, eq=False)
class RegressionPrice:
    """What a recipient's board is computed from: public numbers alone.

    Attributes:
        scenario: Norm bound, samples and the share of the records that is trained on.
        n: The public number of records.
        features: The public number of features.
    """

    scenario: RegressionScenario
    n: int
    features: int


ERRORS = Panel(
    "errors",
    "How well do private weights predict?",
    "Typical error against the prior precision, one curve for each predictor.",
    large=True,
    help="The typical error is the root of the mean squared error. Figure 2 of the paper shows that error of "
    "targets that are scaled by their bounds. Trimmed: the exact posterior limited to weights whose norm is at most B.",
)
EPSILONS = Panel(
    "epsilons",
    "How large is the privacy loss?",
    "Epsilon of the samples against the prior precision, proved and as the paper states it.",
    help="The prior draws the weights towards zero; its precision b is one over its variance. The paper states 2 L(w), "
    "L(w) being the largest change of the log-likelihood by one record at the weights w.",
)


def regression(inputs: RegressionInputs | RegressionPrice) -> View:
    """Return the board of private regression. [Zhang16] Section 5.2, Figure 2.

    Args:
        inputs: The scenario and the seeds, or for a recipient public numbers, from which epsilon follows.

    Returns:
        A view whose stops are prior precisions.
    """
    is_private = isinstance(inputs, RegressionInputs) and inputs.is_private
    panels = (replace(EPSILONS, large=True),) if isinstance(inputs, RegressionPrice) else (ERRORS, EPSILONS)
    board = Board("regression", "Regression", panels, {}, "100", SLIDER, private=is_private)

    def frames_at(stop: str) -> tuple[Frame, ...]:
        k = nearest_place(PRECISIONS, float(stop))
        return (_price_frame(inputs, k) if isinstance(inputs, RegressionPrice) else _frame(inputs, k),)

    return View(board, frames_at)


def _price_frame(inputs: RegressionPrice, k: int) -> Frame:
    study = inputs.scenario
    size = study.training_records(inputs.n), inputs.features
    note = "Errors on real records are not private, even those of private samples. Only the curator sees them."
    figure, caption = _epsilons(study, size, k)
    numbers = {"proved": float(study.certified[k])}
    return Frame(_price(study, k), {"epsilons": figure}, (note,), {"epsilons": caption}, numbers)


def _frame(inputs: RegressionInputs, k: int) -> Frame:
    result, records = inputs.measured
    study, curves = result.study, [_in_dollars(curve, records.half_width) for curve in result.curves]
    errors = regression_errors_figure(np.array(PRECISIONS), curves, study.certified, marked=PRECISIONS[k])
    epsilons, caption = _epsilons(study, (result.train, result.features), k)
    numbers = {
        name: float(of.mean[k])
        for name, of in (("private", result.several), ("exact", result.exact), ("mean", result.baseline))
    }
    roots = {name: records.root(error) for name, error in numbers.items()}
    best = records.root(float(result.exact.mean.min()))
    mark = value_mark(
        PRECISIONS[k], roots["private"], f"{round(roots['private']):,}", RegressionSampler.colour, side="top right"
    )
    errors = replace(errors, data=(*errors.data, mark))
    start, figures = f"At ε = {numeral(study.certified[k])}, ", {"errors": errors, "epsilons": epsilons}
    headline = start + regression_headline(roots, best, records.target)
    return Frame(headline, figures, (_advice(result),), {"errors": _about(result), "epsilons": caption}, numbers)


def _in_dollars(curve: Curve, half_width: float) -> Curve:
    """Return the curve of a mean squared error of scaled targets as that of its root."""
    root = np.sqrt(curve.y)
    return replace(curve, y=half_width * root, error=half_width * curve.error / (2 * root))


def regression_headline(roots: Mapping[str, float], best: float, target: str) -> str:
    """Return the root of the error in dollars, beside the `best` one without privacy or that without features."""
    first = f"a private prediction of {target} misses by {round(roots['private']):,} dollars"
    if roots["private"] >= roots["mean"]:
        return f"{first}, no better than always the mean ({round(roots['mean']):,})."
    return f"{first}; the best one without privacy, by {round(best):,}."


def _advice(result: RegressionResult) -> str:
    """Return the least proved epsilon whose error is close to the best one without privacy."""
    close = result.several.mean <= (1 + CLOSE) ** 2 * result.exact.mean.min()
    if not close.any():
        return f"So: no b of the slider has an error within {CLOSE:.0%} of the best one without privacy."
    k = int(np.where(close, result.study.certified, np.inf).argmin())
    chosen = f"ε = {numeral(result.study.certified[k])} (b = {numeral(PRECISIONS[k])})"
    return f"So: choose {chosen}, the least ε whose error is within {CLOSE:.0%} of the best one without privacy."


def _price(study: RegressionScenario, k: int) -> str:
    return f"{many(study.draws, 'private sample')} of the weights: a proved ε of {numeral(study.certified[k])}."


def _epsilons(study: RegressionScenario, size: tuple[int, int], k: int) -> tuple[Figure, str]:
    """Draw and state the proved epsilon and that of the paper's formula; `size` is training records and features."""
    train, features = size
    stated, proved = study.claimed(train, features=features), study.certified
    figure = epsilon_figure(
        np.array(PRECISIONS),
        proved / study.draws,
        stated,
        several=proved if study.draws > 1 else None,
        marked=PRECISIONS[k],
        colour=RegressionSampler.colour,
    )
    per_sample = " for each sample" if study.draws > 1 else ""
    return figure, (
        f"At b = {numeral(PRECISIONS[k], 4)}, ε = {numeral(proved[k])} is proved; the paper states "
        f"{numeral(float(f'{stated[k]:.2g}'))}{per_sample}, because its formula adds up all records instead of the "
        "one that changes."
    )


def _about(result: RegressionResult) -> str:
    return (
        f"{many(result.train, 'training record')}, {result.test:,} test records, "
        f"{many(result.features, 'feature')}, {many(result.study.repeats, 'repeat')} with new splits. "
        "Predictors without an ε are not private."
    )
