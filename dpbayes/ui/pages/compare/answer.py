"""The error that noise causes in one answer, by mechanism: simulated on records sampled from public probabilities."""

import math
from dataclasses import replace
from typing import Any

import streamlit as st

from dpbayes.base.estimates import Estimate
from dpbayes.base.libraries import pd
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work, in_parts
from dpbayes.base.text import escaped, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.best_noise import Comparison, answer_error
from dpbayes.experiments.least_epsilon.answers import Question
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.figures.noise import NoiseDot, noise_dots_figure
from dpbayes.model.counts import Counts
from dpbayes.model.cpts import random_cpts
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.ui.pages.compare.noise import comparison_of, comparison_progress, led_by_epsilon, promise_controls
from dpbayes.ui.pages.explore.controls import ask
from dpbayes.ui.session.chosen import Chosen, target_and_evidence
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.from_python import (
    FACE,
    STREAM,
    mechanism_in_python,
    network_in_python,
    program,
    same_from_python,
)
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.running import Running, progress_if_long, running
from dpbayes.ui.widgets.show import data_and_download, inside

RELEASES, FEWEST, MOST_VALUES = 200, 10, 4_000_000
"""Simulated releases behind every error, fewer of a network whose releases would hold more values than that."""

MOST_RECORDS, USUAL_RECORDS = 100_000, 1_000
"""The largest number of records of the sampled table, and their number without a public number of records."""

CLEARLY, MOST_NAMED = 2.0, 1
"""Standard errors that two errors are apart at least for a clear difference; mechanisms named for want of one."""

Errors = tuple[Estimate, ...]


def answer_view(page: Places, chosen: Chosen) -> bool:
    """Show the slider first; the picture is simulated when the slider has stopped."""
    page.first(led_by_epsilon, chosen)
    with page.controls:
        ask(chosen)
        promise_controls(chosen)
    work = comparison_of(chosen)
    if not work.done or not work.so_far.is_noisy:
        with page.picture:
            comparison_progress(work)
        page.say("The noise of the mechanisms is being computed." if work.going else "There is no noise to compare.")
        return work.going
    question, comparison = question_of(chosen), under_prior(work.so_far, chosen.prior)
    n = min(chosen.n or USUAL_RECORDS, MOST_RECORDS)
    errors = _errors(chosen, comparison, question, n)
    dots, sentence = dots_of(comparison, errors.so_far), verdict(comparison, errors.so_far, question)
    page.say(sentence)
    with page.picture:
        chart(
            noise_dots_figure(dots, x="error of the answer (root mean square)", rows=len(dots)),
            key="compare.answer",
            simulates=True,
            alt=f"Dots: root mean squared error of the answer, by mechanism. {sentence}",
        )
        progress_if_long(errors, "the simulated releases", key="best_noise.answer.stop")
        st.caption(_caption(errors.so_far, question, n=n, is_published=public_cpts(chosen)[1]))
    data_and_download(lambda: _frame(comparison, errors.so_far), name="answer", curator_only=False, simulates=True)
    same_from_python(python_of(chosen, comparison, question, n), name="answer")
    return errors.going


def python_of(chosen: Chosen, comparison: Comparison, question: Question, n: int) -> str:
    """Return the code that prints the error of the first mechanism at the chosen epsilon."""
    mechanism, releases = comparison.noises[0].mechanism, releases_per_answer(question.network.cell_count)
    return program(
        FACE,
        STREAM,
        "from dpbayes.experiments.best_noise import answer_error",
        "from dpbayes.experiments.least_epsilon.answers import Question",
        "from dpbayes.experiments.least_epsilon.tables import planned_tables",
        public_cpts_in_python(chosen),
        mechanism_in_python(mechanism),
        f"question = Question.of_telling_state(network, {question.target!r}, {dict(question.evidence)!r})",
        f'tables = planned_tables(network, probabilities, {n!r}, 1, stream({chosen.seed!r}, "best_noise", "records"))',
        f"counts = dp.Counts(network, tables.values[0], {n!r})",
        f'rng = stream({chosen.seed!r}, "best_noise", "answer", {mechanism.label!r})',
        f"print(answer_error(mechanism, counts, question, rng, releases={releases!r}))",
    )


def under_prior(comparison: Comparison, prior: Dirichlets) -> Comparison:
    """Return a comparison of the same noise by mechanisms with another prior."""

    def changed(mechanism: Any) -> Any:
        return mechanism and replace(mechanism, prior=prior)

    noises = (
        replace(noise, mechanism=changed(noise.mechanism), recounted=changed(noise.recounted))
        for noise in comparison.noises
    )
    return replace(comparison, noises=tuple(noises))


def verdict(comparison: Comparison, errors: Errors, question: Question) -> str:
    """Return which mechanism changes the answer least, and which have no clear difference from it."""
    labels = [mechanism.label for mechanism in _mechanisms(comparison)]
    ranked = sorted(zip(labels, errors, strict=False), key=lambda pair: pair[1].value)
    label, least = ranked[0]
    near = list(
        dict.fromkeys(
            inside(other)
            for other, error in ranked
            if other != label and error.value - least.value <= CLEARLY * math.hypot(error.error, least.error)
        )
    )
    start = f"{label} has the smallest error for {escaped(question.text)}: {numeral(least.value, 2)}"
    if len(near) > MOST_NAMED:
        return f"{start}, with no clear difference from {many(len(near), 'other mechanism')}."
    return f"{start}{f', with no clear difference from {near[0]}' if near else ''}."


def _caption(errors: Errors, question: Question, *, n: int, is_published: bool) -> str:
    whose = "the published probabilities" if is_published else "randomly generated probabilities"
    releases = many(releases_per_answer(question.network.cell_count), "simulated release")
    return (
        f"Root mean squared error over {releases} of a table with {many(n, 'record')} sampled from {whose}; standard "
        f"errors are at most {numeral(100 * doubt_of(errors), 1)}% of each error. The answers are naive: noisy counts "
        "are read as true counts, under the prior chosen on *Explore*. Fourier uses t = 0 here."
    )


def _errors(chosen: Chosen, comparison: Comparison, question: Question, n: int) -> Running[Errors]:
    mechanisms = _mechanisms(comparison)
    releases = releases_per_answer(chosen.network.cell_count)
    key = (
        chosen.network,
        chosen.settings.prior,
        comparison.promise,
        comparison.weights,
        question.text,
        n,
        chosen.seed,
        len(mechanisms),
    )

    def start() -> Work[Errors]:
        counts = sampled_counts(chosen, n)

        def error(k: int) -> Estimate:
            rng = stream(chosen.seed, "best_noise", "answer", mechanisms[k].label)
            return answer_error(mechanisms[k], counts, question, rng, releases=releases)

        return in_parts(error, len(mechanisms))

    work = running("best_noise.answer", key, start)
    work.work()
    return work


def releases_per_answer(cells: int) -> int:
    """Return the number of simulated releases for a network with this number of cells."""
    return max(FEWEST, min(RELEASES, MOST_VALUES // cells))


def question_of(chosen: Chosen) -> Question:
    """Return the question: the probability of the target's telling state."""
    return Question.of_telling_state(chosen.network, *target_and_evidence(chosen))


def public_cpts(chosen: Chosen) -> tuple[FloatArray, bool]:
    """Return probabilities that depend on no record, and whether they are published: others are generated."""
    key = chosen.settings.fitted
    if key in NAMED:
        network, cpts = load_named(key)
        if network == chosen.network:
            return cpts, True
    return random_cpts(chosen.network, stream(chosen.seed, "best_noise", "cpts")), False


def public_cpts_in_python(chosen: Chosen) -> str:
    """Return the code that makes `network` and these `probabilities`."""
    if public_cpts(chosen)[1]:
        return f"network, probabilities = dp.load_named({chosen.settings.fitted!r})"
    drawn = f'probabilities = random_cpts(network, stream({chosen.seed!r}, "best_noise", "cpts"))'
    imports = f"{STREAM}\nfrom dpbayes.model.cpts import random_cpts"
    return f"{imports}\n{network_in_python(chosen.network)}\n{drawn}"


def sampled_counts(chosen: Chosen, n: int) -> Counts:
    """Return the counts of n records sampled from public probabilities."""
    tables = planned_tables(chosen.network, public_cpts(chosen)[0], n, 1, stream(chosen.seed, "best_noise", "records"))
    return Counts(chosen.network, tables.values[0], n)


def _mechanisms(comparison: Comparison) -> list[Any]:
    """Every mechanism at the promise, then the pure ones with the larger epsilon that the delta allows."""
    pure = [noise.recounted for noise in comparison.noises if noise.is_pure and noise.recounted is not None]
    return [*(noise.mechanism for noise in comparison.noises), *pure]


def dots_of(comparison: Comparison, errors: Errors) -> list[NoiseDot]:
    """Return what has been simulated of every mechanism's error, in the order of the mechanisms."""
    values = [*(error.value for error in errors), *[math.nan] * (2 * len(comparison.noises))]
    later = iter(values[len(comparison.noises) :])
    dots = []
    for noise, error in zip(comparison.noises, values, strict=False):
        with_delta = error if not noise.is_pure else next(later) if noise.recounted is not None else math.nan
        dots.append(
            NoiseDot(noise.label, str(noise.mechanism.colour), error if noise.is_pure else math.nan, with_delta)
        )
    return dots


def _frame(comparison: Comparison, errors: Errors) -> "pd.DataFrame":
    """Return one record per simulated mechanism: its own epsilon, its error and the standard error of that."""
    mechanisms = _mechanisms(comparison)[: len(errors)]
    return pd.DataFrame(
        {
            "mechanism": [mechanism.label for mechanism in mechanisms],
            "own epsilon": [mechanism.epsilon for mechanism in mechanisms],
            "error of the answer": [error.value for error in errors],
            "standard error": [error.error for error in errors],
        }
    )


def doubt_of(errors: Errors) -> float:
    """Return the largest standard error there is as a share of its error."""
    return max(error.error / error.value if error.value else 0.0 for error in errors)
