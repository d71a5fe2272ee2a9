"""Accuracy of private predictions against epsilon: Figure 1 of [Zhang16], on any network and table."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.estimates import Estimate
from dpbayes.base.randomness import stream
from dpbayes.base.text import listed, many, numeral, share_text
from dpbayes.base.types import FloatArray
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.accuracy.methods import EXACT, MAJORITY
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.study import AccuracyStudy, accuracy_study
from dpbayes.figures.accuracy import BAND, accuracy_figure, log_loss_figure, noise_figure
from dpbayes.figures.style import Figure, directly_named
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates
from dpbayes.model.dataset import Dataset

SIMULATED = 1_000_000
"""Simulated numbers with noise, of which several make one count."""


@dataclass(frozen=True, eq=False)
class AccuracyInputs:
    """What the board of accuracy is computed from.

    Attributes:
        plan: The experiment. If its source is a table, the board is for the curator only.
        meaning: What the target means, if its name does not say it.
        with_noise: Whether the noise of a count by Laplace and by Fourier is drawn in place of the log loss.
    """

    plan: AccuracyPlan
    meaning: str = ""
    with_noise: bool = False

    @cached_property
    def study(self) -> AccuracyStudy:
        """The results of all repeats, which are the same at every stop."""
        return accuracy_study(self.plan)

    @cached_property
    def noises(self) -> FloatArray:
        """Noises of scale 1 of the numbers (releases, 2^nodes) whose mean is a count of the target's largest family."""
        names, parents = self.plan.network.names, self.plan.network.parents
        families = [{name, *others} for name, others in zip(names, parents, strict=True)]
        cells = 2 ** max(len(family) for family in families if self.plan.target in family)
        noises = stream(self.plan.seed, "noise of a count").laplace(size=(SIMULATED // cells, cells))
        noises[:, 0] = 0.0  # the number of records is public
        return noises

    @property
    def is_private(self) -> bool:
        """Whether records of a table are predicted, and not synthetic ones."""
        return isinstance(self.plan.source, Dataset)

    @property
    def target(self) -> str:
        """What is predicted, in words."""
        return (self.meaning or self.plan.target) + ("" if self.is_private else " in random models")


ACCURACY = Panel(
    "accuracy",
    "How many predictions are correct?",
    "Share of correct predictions against epsilon, one curve for each method, with bands of two standard errors.",
    large=True,
    help="Without privacy: the posterior of the training records without noise. Paper: with the noise that the paper "
    "states. A noise-aware reader accounts for the noise of a release, as on Explore; the other readers take noisy "
    "counts for exact ones, as in the paper, so their accuracy can differ from that on Explore.",
)
LOSS = Panel(
    "loss",
    "How wrong are the stated probabilities?",
    "Log loss of the predictions against epsilon.",
    help="Log loss: −ln of the probability that a prediction gives to the true value. It is 0 if that is always 100%, "
    "and large if a prediction is sure and wrong.",
)
NOISE = Panel(
    "noise",
    "How large is the noise of a count?",
    "Noises of simulated releases as dots: of a Laplace count, of a Fourier number, and of a count from such numbers.",
    help="Of a largest count that contains the predicted column. Laplace adds noise to the count itself. Fourier adds "
    "noise to differences of counts and computes the count as a mean, in which noises of different signs cancel out. "
    "One number of the mean is the number of records, which is public and has no noise.",
)


def prediction_accuracy(inputs: AccuracyInputs) -> View:
    """Return the board of the accuracy of predictions. [Zhang16] Section 5.1, Figure 1.

    Args:
        inputs: The plan of the experiment.

    Returns:
        A view whose stops are the epsilons of the slider.
    """
    title = f"Accuracy of predicting {inputs.plan.target}"
    panels = ACCURACY, NOISE if inputs.with_noise else LOSS
    board = Board("accuracy", title, panels, {}, "1", SLIDER, private=inputs.is_private)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: AccuracyInputs, epsilon: float) -> Frame:
    study = inputs.study
    k, grid = study.place_of(epsilon), study.plan.grid
    place, drawn = study.plan.epsilons[k], dict(zip(study.methods, study.curves, strict=True))
    first = study.ranked_at(k)[1::-1]
    right = accuracy_figure(study.curves, grid, epsilon=place, marked=[drawn[method] for method in first])
    named = _named(right, place, "top", *(share_text(float(study.mean(one)[0])) for one in (EXACT, MAJORITY)))
    figures = {"accuracy": named}
    captions = {"accuracy": f"Without other columns: always the most frequent value. {_about(study)}"}
    if inputs.with_noise:
        kinds = LaplaceUpdates, LaplaceFourier
        laplace, fourier = (inputs.noises * study.plan.mechanism(kind, place).noise_scale for kind in kinds)
        figures["noise"] = noise_figure(laplace[:, -1], fourier, colours=[kind.colour for kind in kinds])
    else:
        losses = dict(zip(study.methods, study.loss_curves(), strict=True))
        wrong = log_loss_figure([*losses.values()], grid, epsilon=place, marked=[losses[method] for method in first])
        figures["loss"] = _named(wrong, place, "bottom", *(numeral(float(losses[m].y[0])) for m in (EXACT, MAJORITY)))
        captions["loss"] = "The penalty for low probabilities of true values. Without other columns: shares of values."
    numbers = {method.name: 100 * float(study.mean(method)[k]) for method in study.methods}  # percent
    return Frame(accuracy_headline(inputs, epsilon), figures, (accuracy_advice(study),), captions, numbers)


def _named(figure: Figure, epsilon: float, height: str, exact: str, blind: str) -> Figure:
    """Name both baselines with their values at their lines, the exact one at the end away from epsilon."""
    x, side = (STOPS[0], "right") if epsilon > 3 else (STOPS[-1], "left")
    figure = directly_named(figure, EXACT.titled.name, f"without privacy: {exact}", x, f"{height} {side}")
    return directly_named(figure, MAJORITY.titled.name, f"without other columns: {blind}", STOPS[-1], "top left")


def accuracy_headline(inputs: AccuracyInputs, epsilon: float) -> str:
    """Return the accuracy of the best curve with a proof near an epsilon, and what privacy costs."""
    study = inputs.study
    k = study.place_of(epsilon)
    place, exact, majority = study.plan.epsilons[k], study.mean(EXACT)[0], study.mean(MAJORITY)[0]
    simple = f"no prediction of {inputs.target} clearly beats its most frequent value ({share_text(majority)})."
    if exact <= majority:
        return f"Even without privacy, {simple}"
    if not (ranked := study.ranked_at(k)):
        return f"Without privacy, {inputs.target} is predicted correctly in {share_text(exact)} of records."
    start = f"{'At' if place == epsilon else 'At the nearest simulated'} ε = {numeral(place)},"
    if not _is_clear(study.behind(MAJORITY, k, ranked[0])):
        return f"{start} {simple}"
    kept = [one for one in study.alike_at(k) if not _is_clear(study.behind(one, k))]
    shown = kept or study.alike_at(k)
    many_of, least = len(shown) > 1, share_text(min(float(study.mean(one)[k]) for one in shown))
    predict = f"{listed([study.look(one).name for one in shown])} predict{'' if many_of else 's'} {inputs.target}"
    right = f"{'at least ' if many_of else ''}{least} right"
    if kept:
        return f"{start} {predict} as well as without privacy: {right}."
    return f"{start} {predict} best: {right}, {share_text(exact)} without privacy."


def accuracy_advice(study: AccuracyStudy) -> str:
    """Return the mechanism that keeps nine tenths of the table's gain from the least epsilon on, and that epsilon.

    The advice is about all epsilons, so that it is the same at every stop of the slider.
    """
    exact, majority = study.mean(EXACT)[0], study.mean(MAJORITY)[0]
    if exact <= majority:
        return "So: publish the most frequent value alone; the table adds nothing to it here."
    gain = "90% of the way from the dashed line up to the blue one."
    for k, epsilon in enumerate(study.plan.epsilons):
        kept = [m for m in study.ranked_at(k) if np.all(10 * (exact - study.mean(m)[k:]) < exact - majority)]
        if kept:
            names = dict.fromkeys(study.look(one).name for one in (kept[0], *study.alike_at(k)))
            doubt = " (no clear difference)" if len(names) > 1 else ""
            return f"So: choose ε = {numeral(epsilon, 2)} or more with {' or '.join(names)}{doubt}: at least {gain}"
    return f"So: even at ε = {numeral(study.plan.epsilons[-1])}, less than {gain}"


def _is_clear(lost: Estimate) -> bool:
    return lost.value > BAND * lost.error


def _about(study: AccuracyStudy) -> str:
    """Return what the curves are averages of."""
    plan, is_table = study.plan, isinstance(study.plan.source, Dataset)
    model = "splits of the table" if is_table else "random models with new records"
    fewest = min(len(measures.accuracy) for measures in study.measures.values())
    fewer = f" Noise-aware curves use the first {fewest:,}." if fewest < plan.repeats else ""
    return (
        f"Mean of {plan.repeats:,} {model}: {many(plan.training, 'training record')}, "
        f"{many(plan.testing, 'test record')}; bands are two standard errors. "
        f"Readers are naive; the usual one on Explore is noise-aware.{fewer}"
    )
