"""What the noise does to one answer: simulated on made-up records, so that nothing depends on anybody's."""

import math
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.estimates import Estimate
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work, in_parts
from dpbayes.base.text import apart, done, escaped, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.best_noise import Comparison
from dpbayes.experiments.best_noise.answers import answer_error
from dpbayes.experiments.least_epsilon.answers import Question
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.figures.best_noise import NoiseDot, best_noise_figure
from dpbayes.model.counts import Counts
from dpbayes.model.cpts import random_cpts
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.ui.pages.explore.controls import ask
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.question import question
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.from_python import STREAM, network_in_python
from dpbayes.ui.widgets.running import Running, progress, running

RELEASES, FEWEST, MOST_VALUES = 200, 10, 4_000_000
"""Simulated releases behind every error, fewer of a network whose releases would hold more values than that."""

MOST_RECORDS, USUAL_RECORDS = 100_000, 1_000
"""Records that are made up at most, and where there is no table whose number of records could be taken."""

Errors = tuple[Estimate, ...]


def answers(chosen: Chosen, comparison: Comparison) -> Running[Errors]:
    """Show how far every mechanism's noise moves the answer to the question, and return the work on it."""
    st.subheader("What it does to one answer")
    left, right = st.columns([2, 1], gap="medium")
    with right:
        ask(chosen)
    asked = asked_of(chosen)
    n = min(chosen.n or USUAL_RECORDS, MOST_RECORDS)
    pairs = _mechanisms(comparison)
    releases = releases_of(chosen.network.cell_count)
    key = (chosen.network, comparison.promise, comparison.weights, asked.text, n, chosen.seed, len(pairs))

    def start() -> Work[Errors]:
        counts = made_up_counts(chosen, n)

        def error(k: int) -> Estimate:
            rng = stream(chosen.seed, "best_noise", "answer", pairs[k].label)
            return answer_error(pairs[k], counts, asked, rng, releases=releases)

        return in_parts(error, len(pairs))

    work = running("best_noise.answer", key, start)
    work.work()
    with left:
        _show(comparison, work, asked, n=n, is_published=public_cpts(chosen)[1])
    return work


def releases_of(cells: int) -> int:
    """Return how many releases are simulated of a network of so many cells."""
    return max(FEWEST, min(RELEASES, MOST_VALUES // cells))


def asked_of(chosen: Chosen) -> Question:
    """Return the question: the probability of the target's telling state."""
    return Question.of_telling_state(chosen.network, *question(chosen))


def public_cpts(chosen: Chosen) -> tuple[FloatArray, bool]:
    """Return probabilities that no record has a part in, and whether they are published: others are drawn."""
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


def made_up_counts(chosen: Chosen, n: int) -> Counts:
    """Return the counts of n records drawn from public probabilities."""
    tables = planned_tables(chosen.network, public_cpts(chosen)[0], n, 1, stream(chosen.seed, "best_noise", "records"))
    return Counts(chosen.network, tables.values[0], n)


def _mechanisms(comparison: Comparison) -> list[Any]:
    """Every mechanism at the promise, then those that make use of the delta besides."""
    pure = [noise.recounted for noise in comparison.noises if noise.is_pure and noise.recounted is not None]
    return [*(noise.mechanism for noise in comparison.noises), *pure]


def _show(comparison: Comparison, work: Running[Errors], asked: Question, *, n: int, is_published: bool) -> None:
    dots = dots_of(comparison, work.so_far)
    known = [(min(_finite(dot)), dot.label) for dot in dots if _finite(dot)]
    error, label = min(known)
    least, alone = apart(error, dots[0].alone, most=2)
    st.markdown(
        f"**{escaped(asked.text)} moves by {least} (root mean square) with {label}, the least of all"
        f"{' so far' if work.going else ''}; by {alone} with {dots[0].label} at ε alone.**"
    )
    chart(
        best_noise_figure(dots, x="error of the answer (root mean square)"),
        key="best_noise.answer",
        simulates=True,
        alt=f"Dots: how far noise moves the answer, by mechanism. "
        f"{'; '.join(f'{name} {numeral(error, 2)}' for error, name in known)}.",
    )
    if work.is_long:
        progress(work, f"{done(work.share)} of the simulated releases", key="best_noise.answer.stop")
    releases, doubt = releases_of(asked.network.cell_count), doubt_of(work.so_far)
    whose = "its published probabilities" if is_published else "probabilities drawn at random"
    st.caption(
        f"Simulated: {many(releases, 'release')} of {many(n, 'record')} made up from {whose}, so that each error is "
        f"known to about {numeral(100 * doubt, 1)}%. The answer is the one that takes noisy counts as real; its "
        "distance is from that of the counts without noise, and Fourier is without its lift."
    )


def dots_of(comparison: Comparison, errors: Errors) -> list[NoiseDot]:
    """Return what is known by now of every mechanism's error, in the order of `_mechanisms`."""
    known = [*(error.value for error in errors), *[math.nan] * (2 * len(comparison.noises))]
    later = iter(known[len(comparison.noises) :])
    dots = []
    for noise, error in zip(comparison.noises, known, strict=False):
        with_delta = error if not noise.is_pure else next(later) if noise.recounted is not None else math.nan
        dots.append(
            NoiseDot(noise.label, str(noise.mechanism.colour), error if noise.is_pure else math.nan, with_delta)
        )
    return dots


def doubt_of(errors: Errors) -> float:
    """Return the largest standard error there is as a share of its error."""
    return max(error.error / error.value if error.value else 0.0 for error in errors)


def _finite(dot: NoiseDot) -> list[float]:
    return [value for value in (dot.alone, dot.with_delta) if np.isfinite(value)]
