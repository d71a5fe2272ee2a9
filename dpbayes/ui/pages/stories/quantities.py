"""The quantities that a story may ask for, by name; each is computed from the settings, as on its page."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.amounts import epsilon_rounded_up
from dpbayes.base.memo import Memo
from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.crossings import best_near
from dpbayes.experiments.accuracy.methods import EXACT, METHODS
from dpbayes.experiments.accuracy.study import accuracy_steps
from dpbayes.experiments.hellinger.errors import LEVELS, error_laws
from dpbayes.experiments.hellinger.study import noise_here
from dpbayes.experiments.regression.scenario import study_of
from dpbayes.experiments.sampling import needed_answers
from dpbayes.experiments.structure import structure_cost
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, PosteriorSampler
from dpbayes.model.dataset import Dataset
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.ui.pages.accuracy.work import plan_at, possible
from dpbayes.ui.pages.audit.subject import audited, report_of
from dpbayes.ui.pages.explore.averages import cell_coverage, with_averages
from dpbayes.ui.pages.explore.controls import picked
from dpbayes.ui.pages.explore.readings import Readings, Simulated
from dpbayes.ui.pages.explore.simulations import simulate, simulated_once
from dpbayes.ui.pages.hellinger.page import ranked, scenario_of
from dpbayes.ui.pages.regression.page import looked_at
from dpbayes.ui.pages.sampling import game
from dpbayes.ui.pages.which_epsilon.page import answer_steps
from dpbayes.ui.pages.which_epsilon.requirement import AccuracyRequirement
from dpbayes.ui.session.chosen import Chosen, target_and_evidence

LAPLACE, FOURIER = LaplaceUpdates.label, LaplaceFourier.label
DIE_LAPLACE, DIE_EXPONENTIAL = "Laplace noise", "an exponential mechanism"
PREDICTING = {LAPLACE: "laplace", FOURIER: "fourier", PosteriorSampler.label: "sampler"}
"""The mechanisms of Figure 1 of AAAI-16, and the names of their proved curves."""

AS_EPSILON = "as an ε"
"""The unit of what a later step of a story may take as its epsilon."""

TOO_NEAR = "no clear difference"

CLEARLY = 2.0
"""Standard errors that two means must be apart for one of them to be called the smaller."""

MOST_REPEATS = 100
"""The largest number of repeats of an experiment for an answer."""

Answer = float | str

RELEASE_DETAILS = ("answer", "rows", "comparison")
"""The lower and folded parts of Explore, which show answers, errors, intervals and rows."""

MOVING, BELOW = ("headline", "picture"), "below"
"""The live part of a page, and the lower part on pages that have one of this name."""


@dataclass(frozen=True)
class Quantity:
    """A quantity: its meaning, its computation, and its unit, or its options for a choice.

    `answer_parts` has the keys of the parts of its page that reveal the answer. They are covered until a guess is made,
    as are downloads. Only the curator learns a quantity that depends on the records. Errors of `of`: InputError if the
    settings do not have the quantity.
    """

    means: str
    of: Callable[[Chosen], Answer]
    unit: str = ""
    options: tuple[str, ...] = ()
    of_records: bool = False
    answer_parts: tuple[str, ...] = ()

    @property
    def is_epsilon(self) -> bool:
        """Whether a later step may take it as its epsilon."""
        return self.unit == AS_EPSILON

    @property
    def after_number(self) -> str:
        """The unit as it follows a number."""
        return "" if self.is_epsilon else self.unit if self.unit == "%" else f" {self.unit}"

    def answer(self, chosen: Chosen) -> Answer:
        """Return the value at the chosen settings. Errors: InputError, also for a recipient."""
        if self.of_records and not chosen.is_curator:
            raise InputError(
                "The answer depends on the records, which the recipient does not see. Choose Curator above."
            )
        return self.of(chosen)


# Release


def _readings(chosen: Chosen) -> Readings:
    return with_averages(chosen, Readings.of(chosen, simulated_once(chosen), picked(chosen)[1]))


def _answers(chosen: Chosen) -> tuple[float, float]:
    """Return the probability of the question, exact and in the first release, in percent."""
    target, given = target_and_evidence(chosen)
    net = chosen.network
    state = net.telling_state(net.index(target))
    exact, private = _readings(chosen).shown.query(target, given)
    return 100 * float(exact[state]), 100 * float(private[0, state])


def _coverage_as_real(chosen: Chosen) -> float:
    return 100 * _of_posteriors(chosen).naive_coverage(LEVEL)


def _coverage_aware(chosen: Chosen) -> float:
    readings = _of_posteriors(chosen)
    if not readings.is_noise_aware:
        raise InputError("The recipient is naive here: choose the noise-aware recipient.")
    return 100 * finished(cell_coverage(readings))


def _of_posteriors(chosen: Chosen) -> Readings:
    readings = _readings(chosen)
    if not readings.as_real.is_posterior:
        raise InputError("A release of this mechanism has no posterior and no intervals: choose another mechanism.")
    return readings


def _error(chosen: Chosen) -> float:
    return 100 * float(_readings(chosen).shown.shift.mean())


def _shifts(chosen: Chosen, name: str) -> np.ndarray:
    """Return the mean distance of private probabilities from exact ones in each release, over those that come first."""
    releases = Simulated(simulate(chosen, chosen.mechanism_called(name)), Memo())
    return Readings.of(chosen, releases, picked(chosen)[1]).shown.shift


def _smaller_error(chosen: Chosen) -> str:
    laplace, fourier = (_shifts(chosen, kind.__name__) for kind in (LaplaceUpdates, LaplaceFourier))
    apart = float(fourier.mean() - laplace.mean())
    error = np.sqrt(laplace.var(ddof=1) / len(laplace) + fourier.var(ddof=1) / len(fourier))
    if abs(apart) <= CLEARLY * error:
        return TOO_NEAR
    return LAPLACE if apart > 0 else FOURIER


# Network


def _less_noise(chosen: Chosen) -> str:
    cost = structure_cost(chosen.network, chosen.epsilon)
    if cost.fourier_noise is None:
        raise InputError("Fourier needs binary nodes, and one node here is not binary.")
    if np.isclose(cost.laplace_noise, cost.fourier_noise):
        return TOO_NEAR
    return LAPLACE if cost.laplace_noise < cost.fourier_noise else FOURIER


# Which epsilon


def _least_epsilon(chosen: Chosen) -> float:
    least = finished(answer_steps(AccuracyRequirement.now(chosen), chosen.settings.mechanism))
    if isinstance(least, str):
        raise InputError(least)
    return epsilon_rounded_up(least.epsilon)


# Audit


def _exact_loss(chosen: Chosen) -> float:
    report = report_of(audited(chosen, chosen.settings))
    if not np.isfinite(report.exact):
        raise InputError("The worst-case privacy loss is infinite here: some output rules out a table.")
    return report.exact


# Mechanisms and experiments


def _game(chosen: Chosen) -> game.Game:
    return game.chosen_game(chosen.options("sampling"), chosen.parameter("calibration"))


def _answers_needed(chosen: Chosen) -> float:
    study = game.games_of(_game(chosen), seed=chosen.seed)
    needed = needed_answers(study, level=game.LEVEL).value
    if needed is None:
        raise InputError(f"More than {len(study.log_odds):,} answers are needed, and no more are simulated.")
    return float(needed)


def _guessed_right(chosen: Chosen) -> float:
    playing = _game(chosen)
    return 100 * float(game.games_of(playing, seed=chosen.seed).right[playing.options.answers - 1])


def _nearer_to_a_die(chosen: Chosen) -> str:
    scenario = scenario_of(chosen.settings)
    laws = error_laws([scenario], noise_here(scenario, seed=chosen.seed))
    medians = {method: float(law.quantiles()[0, LEVELS.index(0.5)]) for method, law in laws.items()}
    best, _, is_tie = ranked(medians)
    if is_tie:
        return TOO_NEAR
    return DIE_LAPLACE if best.is_laplace else DIE_EXPONENTIAL


def _most_accurate(chosen: Chosen) -> str:
    """Return the paper's mechanism that predicts best, certified, in few enough repeats to wait for."""
    plan = plan_at(chosen, possible(chosen).settings)
    if isinstance(plan.source, Dataset) and not chosen.is_curator:
        raise InputError("These curves depend on the records, which the recipient does not see.")
    three = {label: METHODS[name] for label, name in PREDICTING.items()}
    if not set(three.values()) <= set(plan.methods):
        raise InputError("Not all three mechanisms are shown: choose proved curves, and a network of binary nodes.")
    repeats = min(plan.repeats, MOST_REPEATS)
    study = finished(accuracy_steps(replace(plan, methods=(EXACT, *three.values()), repeats=repeats)))
    best = best_near(study, chosen.epsilon)
    if best is None or best.beside:
        return TOO_NEAR
    return next(name for name, method in three.items() if method is best.method)


def _epsilon_of_weights(chosen: Chosen) -> float:
    scenario = chosen.options("regression")
    study = study_of(scenario)
    return float(study.certified[looked_at(study, scenario)])


BESIDE = ("follows-divergence", "follows-counts", "follows-accuracy")
"""The pictures beside the posterior: their few points can be read off, and one may have the number of the answer."""

QUANTITIES: dict[str, Quantity] = {
    "exact probability": Quantity(
        "The exact probability P(target | evidence) on Explore, without noise. The state is yes or a similar "
        "state, if the target has such a state, and the first state otherwise.",
        lambda chosen: _answers(chosen)[0],
        unit="%",
        of_records=True,
        answer_parts=RELEASE_DETAILS,
    ),
    "released probability": Quantity(
        "P(target | evidence) in the first release.",
        lambda chosen: _answers(chosen)[1],
        unit="%",
        answer_parts=("headline", *RELEASE_DETAILS),
    ),
    "error of probabilities": Quantity(
        "Mean absolute error of the private probabilities, over all rows and many releases.",
        _error,
        unit="percentage points",
        of_records=True,
        answer_parts=("headline", "measures", *RELEASE_DETAILS),
    ),
    "coverage, counts as real": Quantity(
        "Share of the exact posterior in the picture that the naive 95% interval contains.",
        _coverage_as_real,
        unit="%",
        of_records=True,
        answer_parts=("measures", *RELEASE_DETAILS),
    ),
    "coverage, noise-aware": Quantity(
        "Share of the exact posterior in the picture that the noise-aware 95% interval contains.",
        _coverage_aware,
        unit="%",
        of_records=True,
        answer_parts=("measures", *BESIDE, *RELEASE_DETAILS),
    ),
    "mechanism with the smaller error": Quantity(
        "Laplace or Fourier, by the mean absolute error, if the two differ by two standard errors.",
        _smaller_error,
        options=(LAPLACE, FOURIER, TOO_NEAR),
        of_records=True,
        answer_parts=("headline", "measures", *RELEASE_DETAILS),
    ),
    "mechanism with less noise": Quantity(
        "Laplace or Fourier, by the noise per cell of the network.",
        _less_noise,
        options=(LAPLACE, FOURIER, TOO_NEAR),
        answer_parts=("headline", "costs", "bars", "arrows"),  # while the slider moves, the headline shows it
    ),
    "records": Quantity(
        "Number of records in the table.", lambda chosen: float(chosen.dataset.n), "records", answer_parts=("headline",)
    ),
    "rows": Quantity(
        "Number of rows in all tables of the network.",
        lambda chosen: float(chosen.network.row_count),
        "rows",
        answer_parts=("costs", "arrows"),
    ),
    "cells": Quantity(
        "Number of cells in all tables of the network.",
        lambda chosen: float(chosen.network.cell_count),
        "cells",
        answer_parts=("costs", "arrows"),
    ),
    "least epsilon": Quantity(
        "The least ε on Which epsilon for the chosen mechanism, rounded up to two digits.",
        _least_epsilon,
        AS_EPSILON,
        answer_parts=(*MOVING, BELOW),
    ),
    "exact loss": Quantity(
        "The exact worst-case privacy loss on Audit.", _exact_loss, AS_EPSILON, answer_parts=(*MOVING, BELOW)
    ),
    "answers needed": Quantity(
        "Number of answers after which the attacker of the query game is right in 95% of games.",
        _answers_needed,
        "answers",
        answer_parts=("game-told", "game-needed"),
    ),
    "games guessed right": Quantity(
        "Share of games in which the attacker is right after the chosen number of answers.",
        _guessed_right,
        "%",
        answer_parts=("game-told", "game-beliefs", "game-needed"),
    ),
    "mechanism nearer to a die": Quantity(
        "The kind of mechanism on Hellinger that is closer to the exact posterior.",
        _nearer_to_a_die,
        options=(DIE_LAPLACE, DIE_EXPONENTIAL, TOO_NEAR),
        answer_parts=(*MOVING, BELOW),
    ),
    "most accurate mechanism": Quantity(
        "The most accurate of the three mechanisms of AAAI-16 on Accuracy, with proved curves, at the grid point "
        "closest to ε.",
        _most_accurate,
        options=(*PREDICTING, TOO_NEAR),
        answer_parts=(*MOVING, "accuracy-reliable", "accuracy-best", "accuracy-crossings"),
    ),
    "epsilon of the weights": Quantity(
        "The proved ε on Regression at the chosen precision.",
        _epsilon_of_weights,
        AS_EPSILON,
        answer_parts=(*MOVING, BELOW),
    ),
}
"""Every quantity that a guess can be about, by its name in a story's file."""
