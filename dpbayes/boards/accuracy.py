"""Accuracy of private predictions against epsilon: Figure 1 of [Zhang16], on any network and table."""

from dataclasses import dataclass, replace
from functools import cached_property

from dpbayes.base.estimates import Estimate
from dpbayes.base.text import many, numeral, share_text
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.accuracy.methods import EXACT, MAJORITY
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Method, epsilon_grid
from dpbayes.experiments.accuracy.study import AccuracyStudy, accuracy_study
from dpbayes.figures.accuracy import BAND, accuracy_figure, log_loss_figure
from dpbayes.figures.style import Figure, value_mark
from dpbayes.model.dataset import Dataset

POINTS = 17
"""The number of epsilons at which releases are simulated."""

GRID = epsilon_grid(0.01, 100, points=POINTS)
"""The usual epsilons."""


@dataclass(frozen=True, eq=False)
class AccuracyInputs:
    """What the board of accuracy is computed from.

    Attributes:
        plan: The experiment. If its source is a table, the board is for the curator only.
    """

    plan: AccuracyPlan

    @cached_property
    def study(self) -> AccuracyStudy:
        """The results of all repeats, which are the same at every stop."""
        return accuracy_study(self.plan)

    @property
    def is_private(self) -> bool:
        """Whether records of a table are predicted, and not synthetic ones."""
        return isinstance(self.plan.source, Dataset)


ACCURACY = Panel(
    "accuracy",
    "How many predictions are correct?",
    "Share of correct predictions against epsilon, one curve for each method, with bands of two standard errors.",
    large=True,
    help="Exact: the posterior of the training records without noise. Majority class: the most frequent value is "
    "predicted for every record. Proved: with the noise that the proof needs; paper: with the noise that the paper "
    "states. A noise-aware reader accounts for the noise of a release; the other readers take noisy counts for exact "
    "ones.",
)
LOSS = Panel(
    "loss",
    "Are the predicted probabilities good?",
    "Log loss of the predictions against epsilon.",
    help="Log loss: −ln of the probability that a prediction gives to the true value, in nats; 0 is perfect.",
)


def prediction_accuracy(inputs: AccuracyInputs) -> View:
    """Return the board of the accuracy of predictions. [Zhang16] Section 5.1, Figure 1.

    Args:
        inputs: The plan of the experiment.

    Returns:
        A view whose stops are the epsilons of the slider.
    """
    title = f"Accuracy of predicting {inputs.plan.target}"
    board = Board("accuracy", title, (ACCURACY, LOSS), {}, "1", SLIDER, private=inputs.is_private)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: AccuracyInputs, epsilon: float) -> Frame:
    study, grid = inputs.study, inputs.study.plan.grid
    figures: dict[str, Figure] = {
        "accuracy": _marked(accuracy_figure(study.curves, grid, epsilon=epsilon), study, epsilon),
        "loss": log_loss_figure(study.loss_curves(), grid, epsilon=epsilon),
    }
    captions = {"accuracy": comparison_sentence(study, epsilon)}
    return Frame(accuracy_headline(study, epsilon), figures, (_about(study),), captions, _numbers(study, epsilon))


def _marked(figure: Figure, study: AccuracyStudy, epsilon: float) -> Figure:
    """Mark from which epsilon on no loss of the best curve near an epsilon is detected."""
    best = study.best_near(epsilon)
    if best is None or not (later := _without_loss(study, best)):
        return figure
    colour, name = study.look(best).colour, f"no loss detected from ε = {numeral(later[0], 2)} on"
    mark = value_mark(later[0], float(study.mean(best)[-len(later)]), "", colour)
    mark |= {"name": name, "showlegend": True, "marker": {"color": colour, "size": 13, "symbol": "circle"}}
    return replace(figure, data=(*figure.data, mark))


def _numbers(study: AccuracyStudy, epsilon: float) -> dict[str, float]:
    best, k = study.best_near(epsilon), study.place_of(epsilon)
    numbers = {"exact": float(study.mean(EXACT)[0]), "majority": float(study.mean(MAJORITY)[0])}
    return numbers if best is None else numbers | {"best": float(study.mean(best)[k])}


def accuracy_headline(study: AccuracyStudy, epsilon: float) -> str:
    """Return the accuracy of the best curve with a proof near an epsilon, and that of the majority class."""
    numbers, target, method = _numbers(study, epsilon), study.plan.target, study.best_near(epsilon)
    target += "" if isinstance(study.plan.source, Dataset) else " in random models"
    exact = share_text(numbers["exact"])
    if numbers["exact"] <= numbers["majority"]:
        return f"Even the exact posterior predicts {target} no better than its majority class ({exact})."
    if method is None:
        return f"Without privacy, {target} is predicted correctly in {exact} of records."
    place = study.plan.epsilons[study.place_of(epsilon)]
    start = f"ε = {numeral(place)}" if place == epsilon else f"At the nearest simulated ε = {numeral(place)}"
    best, majority = share_text(numbers["best"]), share_text(numbers["majority"])
    return (
        f"{start}: {_name(study, method)} predicts {target} best, {best} right; the majority class alone, {majority}."
    )


def comparison_sentence(study: AccuracyStudy, epsilon: float) -> str:
    """Return the accuracy without privacy, how far the best curve is below, and from which epsilon on no more."""
    best = study.best_near(epsilon)
    if best is None:
        return "No curve in the picture has a proved ε."
    lost, name = study.behind(best, study.place_of(epsilon)), _name(study, best)
    without = f"Without privacy {share_text(_numbers(study, epsilon)['exact'])} are right"
    alike = f"no loss of {name} is detected with {many(study.plan.repeats, 'repeat')}."
    if not _is_clear(lost):
        return f"{without}; {alike}"
    points = Estimate(100 * lost.value, 100 * BAND * lost.error)
    start = f"{without}; the best private curve, {name}, is {points} points below."
    later = _without_loss(study, best)
    return f"{start} From ε = {numeral(later[0], 2)} on, {alike}" if later else start


def _name(study: AccuracyStudy, method: Method) -> str:
    return method.called(study.plan.draws).removesuffix(" (proved)")


def _without_loss(study: AccuracyStudy, method: Method) -> tuple[float, ...]:
    """Return the largest epsilons, at all of which a curve is not clearly below the exact posterior."""
    clear = [k for k in range(len(study.plan.epsilons)) if _is_clear(study.behind(method, k))]
    return study.plan.epsilons[max(clear, default=-1) + 1 :]


def _is_clear(lost: Estimate) -> bool:
    return lost.value > BAND * lost.error


def _about(study: AccuracyStudy) -> str:
    """Return what the curves are averages of."""
    plan, is_table = study.plan, isinstance(study.plan.source, Dataset)
    model = "splits of the table" if is_table else "random models with new records"
    fewest = min(len(measures.accuracy) for measures in study.measures.values())
    fewer = f" Noise-aware curves use the first {fewest:,}." if fewest < plan.repeats else ""
    return (
        f"{plan.repeats:,} {model}: {many(plan.training, 'training record')}, {many(plan.testing, 'test record')}; "
        f"bands are two standard errors.{fewer}"
    )
