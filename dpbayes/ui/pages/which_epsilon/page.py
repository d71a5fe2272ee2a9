"""The Which epsilon page: the least epsilon at which one released probability is accurate enough.

The page simulates releases of planned tables, which are sampled from public probabilities, so both seats see
everything. The curator may choose the table itself instead, which is marked.
"""

import math
from collections.abc import Hashable
from contextlib import suppress
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.amounts import epsilon_rounded_up
from dpbayes.base.libraries import pd
from dpbayes.base.steps import Partial, Work, part_of
from dpbayes.base.text import escaped, many, numeral, rough
from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon.planning import (
    ErrorCurve,
    LeastRecords,
    PlannedIntervals,
    error_steps,
    interval_steps,
    least_records_steps,
    most_records,
)
from dpbayes.experiments.least_epsilon.search import least_epsilon_steps
from dpbayes.experiments.least_epsilon.wish import LeastEpsilon
from dpbayes.figures.which_epsilon import NeededEpsilon, error_figure, least_epsilons_figure
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_model import Reading
from dpbayes.ui.pages.which_epsilon.requirement import (
    MOST_DRAWS,
    AccuracyRequirement,
    ask,
    is_of_the_table,
    others,
    planned_records,
    records_of_table,
    states_noise,
)
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.settings import EXPLORED_NAMES, MECHANISM_NAMES
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.address import hand_moves
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import MECHANISM, PLANNED, Facts, N, pictures_tell
from dpbayes.ui.widgets.frames import Frames, counts_of, network_of
from dpbayes.ui.widgets.from_python import (
    FACE,
    STREAM,
    counts_in_python,
    mechanism_in_python,
    program,
    public_cpts_in_python,
    same_from_python,
    value_in_python,
)
from dpbayes.ui.widgets.page import Places, next_page, places
from dpbayes.ui.widgets.running import Running, progress_if_long, running
from dpbayes.ui.widgets.scanning import count_connected
from dpbayes.ui.widgets.show import data_and_download, sentence_instead

EPSILONS = np.geomspace(0.01, 1000, 21)
"""Where the picture has the error."""

CURVE_DRAWS, OTHER_DRAWS, RECORDS_DRAWS, INTERVAL_DRAWS = 400, 500, 400, 40
"""Simulated releases for each point of the picture, each other mechanism, the number of records, and intervals."""

AWARE_SHARE = 4
"""How many times fewer these are for a noise-aware recipient."""

Answered = LeastEpsilon | str
"""The least epsilon, or the message why there is none."""


def _planned(chosen: Chosen) -> str:
    return "" if is_of_the_table(chosen) else PLANNED


def _n(chosen: Chosen) -> str:
    return N["n"](chosen) if is_of_the_table(chosen) else f"{planned_records(chosen):,}"


FACTS: Facts = MECHANISM | {"tables": _planned, "n": _n}


def which_epsilon_page(chosen: Chosen) -> bool:
    """Show the error's curve first: it moves with the tolerance, and all else is updated when the slider stops."""
    pictures_tell(FACTS)
    page = places()
    with page.controls:
        ask(chosen)
        tables = ["tables"] if chosen.is_curator else []
        for name in ("confidence", *tables):
            controls.parameter_control(f"which_epsilon.{name}")
        if not is_of_the_table(chosen):
            controls.parameter_control("which_epsilon.records", default=records_of_table(chosen))
        if states_noise(chosen.settings.mechanism):
            controls.parameter_control("which_epsilon.recipient")
        names = MECHANISM_NAMES if chosen.settings.mechanism in MECHANISM_NAMES else EXPLORED_NAMES
        controls.segments("Mechanism", "mechanism", names, format_func=lambda name: kind_called(name).label)
    with page.top:  # a connected table is counted in its engine if the question is about it
        is_counting = is_of_the_table(chosen) and count_connected(chosen)
    first = page.first(_moving, chosen, frames=Frames("which_epsilon.tolerance", _inputs))
    if first is None:
        return is_counting
    goal, least, errors = first
    with page.beside():
        st.caption(_tables_text(goal))  # permanent elements come first, because temporary ones would move them
        _details(goal, least)
        progress_if_long(least, "the search", key="which_epsilon.stop")
        intervals = _intervals(goal, least)
    searching = [] if hand_moves() else [least]  # the search begins when the slider stops
    works: list[Running[Any]] = [*searching, errors, *intervals]
    if least.done and all(work.done for work in works):
        with st.container(key="below"):
            with sentence_instead():
                if goal.counts is None and np.isfinite(errors.so_far.wanted).any():
                    works.append(_records(goal))
            if not works[-1].going:
                works.append(_mechanisms(goal, least.so_far))
    private = goal.counts is not None
    data_and_download(lambda: frame_of(errors.so_far), name="which-epsilon", curator_only=private, simulates=True)
    recipes(goal)
    _next(least)
    return any(work.going for work in works)


def _inputs(chosen: Chosen) -> Hashable:
    return counts_of(chosen) if is_of_the_table(chosen) else network_of(chosen)


def _moving(page: Places, chosen: Chosen) -> tuple[AccuracyRequirement, Running[Answered], Running[ErrorCurve]]:
    goal, name = AccuracyRequirement.now(chosen), chosen.settings.mechanism
    least = running(
        "which_epsilon.least",
        goal.key(name, goal.options.tolerance),
        lambda: answer_steps(goal, name),
    )
    if not hand_moves():  # a search takes a third of a second
        least.work()
    errors = running(
        "which_epsilon.errors",
        goal.key(name),
        lambda: error_steps_of(goal, name),
    )
    if least.done or not errors.taken or hand_moves():  # the answer comes first
        errors.work()
    with page.picture:
        _picture(goal, least, errors.so_far)
    page.lead("which_epsilon.tolerance")
    page.say(verdict(goal, least) if least.done or not hand_moves() else from_curve(goal, errors.so_far))
    return goal, least, errors


def _next(least: Running[Answered]) -> None:
    """Link the proofs, at the least epsilon if there is one."""
    if not least.done or isinstance(least.so_far, str):
        next_page("Proofs", "pages/proofs.py")
        return
    epsilon = epsilon_rounded_up(least.so_far.epsilon)
    next_page(f"Proofs at ε = {numeral(epsilon)}", "pages/proofs.py", epsilon=epsilon)


def answer_steps(goal: AccuracyRequirement, name: str, most: int = MOST_DRAWS) -> Work[Answered]:
    """Find the least epsilon of a mechanism, or the message why there is none."""
    drawn = goal.share_of_tables
    try:
        wish = yield from part_of(goal.wishing(name, most), 0.0, drawn)
        return (yield from part_of(least_epsilon_steps(wish, goal.luck("least")), drawn, 1.0))
    except InputError as error:
        return str(error)


def error_steps_of(goal: AccuracyRequirement, name: str) -> Work[ErrorCurve]:
    """Compute the picture's errors; they stay unknown if the question is impossible, which the search reports."""
    unknown = ErrorCurve(EPSILONS, *np.full((2, len(EPSILONS)), np.nan))
    yield Partial(0.0, unknown)
    try:
        wish = yield from part_of(goal.wishing(name, _fewer(goal, CURVE_DRAWS)), 0.0, 0.0)
    except InputError:
        return unknown
    return (yield from error_steps(wish, EPSILONS, goal.luck("errors")))


def _fewer(goal: AccuracyRequirement, draws: int) -> int:
    return draws // (1 if goal.reading(goal.chosen.settings.mechanism) is Reading.AS_REAL else AWARE_SHARE)


def verdict(goal: AccuracyRequirement, least: Running[Answered]) -> str:
    """Return the page's sentence: the least epsilon, rounded up, for the tolerance."""
    what = f"the error of {escaped(goal.question.text)} within {numeral(goal.options.tolerance, 6)}"
    if not least.done:
        return f"Searching for the least ε that keeps {what} …"
    answer = least.so_far
    if isinstance(answer, str):
        return f"No ε was found that keeps {what}."
    floor = " or less" if answer.epsilon <= answer.epsilons[0] else ""
    return f"ε = {numeral(epsilon_rounded_up(answer.epsilon))}{floor} keeps {what}."


def from_curve(goal: AccuracyRequirement, errors: ErrorCurve) -> str:
    """Return the page's sentence while its slider moves: the epsilon at which the curve falls to the tolerance."""
    epsilon, within = errors.epsilon_within(goal.options.tolerance), numeral(goal.options.tolerance, 6)
    error = f"The error of {escaped(goal.question.text)}"
    if math.isinf(epsilon):
        return f"{error} does not fall to {within} in this picture."
    if epsilon == errors.epsilons[0]:
        return f"{error} is within {within} at every ε of this picture."
    return f"{error} falls to {within} near ε = {numeral(epsilon, 2)}."


def _picture(goal: AccuracyRequirement, least: Running[Answered], errors: ErrorCurve) -> None:
    answer = least.so_far if least.done else ""
    share = f"{numeral(100 * goal.options.confidence)}%"
    needed = needed_of(goal.chosen.settings.mechanism, answer)
    keeps = f"the error of {share} of releases within {numeral(goal.options.tolerance, 6)}"
    least_text = (
        f" The least ε that keeps {keeps} is {numeral(needed.epsilon)}." if math.isfinite(needed.epsilon) else ""
    )
    chart(
        error_figure(
            errors.epsilons,
            errors.median,
            errors.wanted,
            needed=needed,
            tolerance=goal.options.tolerance,
            share=share,
        ),
        key="which_epsilon.errors",
        simulates=True,
        alt=f"Two falling curves against ε: bounds that the error of {goal.question.text} does not exceed in "
        f"{share} of the releases and in half of the releases.{least_text}",
    )


def needed_of(name: str, answer: Answered) -> NeededEpsilon:
    """Return a mechanism's least epsilon for a picture; NaN without one."""
    kind = kind_called(name)
    if isinstance(answer, str):
        return NeededEpsilon(kind.label, kind.colour, math.nan, math.nan, math.nan)
    return NeededEpsilon(kind.label, kind.colour, answer.epsilon, answer.low, answer.high)


def _details(goal: AccuracyRequirement, least: Running[Answered]) -> None:
    """Show the interval of the least epsilon, and the simulation that it comes from."""
    answer = least.so_far if least.done else None
    if isinstance(answer, str):
        st.warning(escaped(answer))
    elif answer is not None:
        interval = f"{numeral(answer.low)} to {numeral(answer.high)}"
        if not math.isfinite(answer.high):
            interval = f"from {numeral(answer.low)}, with no upper end known from so few releases"
        delta = answer.mechanism.certified.delta
        st.caption(
            f"Before rounding up, the least ε is {numeral(answer.epsilon)} (95% interval: {interval}). The estimate is "
            f"based on {answer.wish.draws:,} simulated releases of {answer.mechanism.named}, read by "
            f"a {answer.wish.reading.label} recipient." + (f" The guarantee has δ = {numeral(delta)}." if delta else "")
        )


def _intervals(goal: AccuracyRequirement, least: Running[Answered]) -> list[Running[Any]]:
    """Show what intervals recipients get at the least epsilon, and return the work on them."""
    if not least.done or isinstance(answer := least.so_far, str):
        return []
    name, epsilon = goal.chosen.settings.mechanism, epsilon_rounded_up(answer.epsilon)
    reading = goal.reading(name)

    def start() -> Work[PlannedIntervals | None]:
        rng = goal.luck("intervals")
        return interval_steps(answer.wish, epsilon, _truth(goal), reading, rng, releases=INTERVAL_DRAWS)

    work = running("which_epsilon.intervals", goal.key(name, goal.options.tolerance), start)
    with sentence_instead():
        work.work()
    if work.result is not None:
        st.caption(intervals_text(goal, work.result))
    return [work]


def _truth(goal: AccuracyRequirement) -> float:
    """Return the probability in question: of the planned tables' network, or of the loaded table's exact posterior."""
    if goal.counts is None:
        return float(goal.question.answers(goal.cpts))
    prior = goal.mechanism(goal.chosen.settings.mechanism).prior
    return float(goal.question.answers(prior.updated(goal.counts).mean))


def intervals_text(goal: AccuracyRequirement, planned: PlannedIntervals) -> str:
    """Return how wide the intervals are, how many contain the truth, and whether the prior decides the answers."""
    releases, width = many(len(planned.widths), "simulated release"), numeral(float(np.median(planned.widths)), 2)
    truth = "planned probability" if goal.counts is None else "exact answer"
    sentence = (
        f"At ε = {numeral(planned.epsilon)}, {LEVEL:.0%} intervals of the {planned.posterior} have a median width of "
        f"{width}. In {int(planned.contained.sum())} of {releases}, they contain the {truth}."
    )
    decided = int(planned.decided.sum())
    return f"{sentence} The prior decides the answer in {decided} of them." if decided else sentence


def _tables_text(goal: AccuracyRequirement) -> str:
    """Return the share of releases that the answer is for, their tables, and the privacy cost of the choice."""
    share = (
        f"The least ε keeps the error of {numeral(100 * goal.options.confidence)}% of releases within the tolerance."
    )
    if goal.counts is None:
        return (
            f"{share} Each release is of a new table: {many(goal.n, 'record')} sampled from {goal.tables_of}. "
            "Your records are not used, so this choice of ε costs no privacy."
        )
    return (
        f"**Not private (curator view): no guarantee covers an ε that is chosen from the records.** {share} Each "
        f"release is of the table’s {many(goal.n, 'record')}. A choice of ε from planned tables costs no privacy."
    )


# How many records


def _records(goal: AccuracyRequirement) -> Running[LeastRecords]:
    """Show how many records another ε needs, and return the work on it."""
    name, options = goal.chosen.settings.mechanism, goal.options
    st.subheader("Records needed at another ε")
    controls.parameter_control("epsilon")
    draws = _fewer(goal, RECORDS_DRAWS)

    def start() -> Work[LeastRecords]:
        drawn = goal.share_of_tables
        wish = yield from part_of(goal.wishing(name, draws), 0.0, drawn)
        return (yield from part_of(least_records_steps(wish, goal.cpts, goal.luck("records")), drawn, 1.0))

    work = running("which_epsilon.records", goal.key(name, options.tolerance, goal.chosen.epsilon), start)
    work.work()
    if not work.done:
        progress_if_long(work, "the tables", key="which_epsilon.records.stop")
        return work
    st.markdown(f"**{needed_records_text(goal, work.so_far, most_records(goal.network, goal.draws(name, draws)))}**")
    return work


def needed_records_text(goal: AccuracyRequirement, needed: LeastRecords, most: int) -> str:
    """Return the number of records that an epsilon needs, as a sentence."""
    epsilon = numeral(goal.chosen.epsilon)
    if not math.isfinite(needed.records):
        return f"At ε = {epsilon}, even {most:,} records are too few."
    if needed.records <= 1:
        return f"At ε = {epsilon}, one record is enough."
    high = _about(needed.high) if math.isfinite(needed.high) else "more"
    return (
        f"At ε = {epsilon} you need about {_about(needed.records)} records "
        f"(95% interval: {_about(needed.low)} to {high})."
    )


def _about(number: float) -> str:
    return rough(math.ceil(number))


# Every mechanism


def _mechanisms(goal: AccuracyRequirement, answer: Answered) -> Running[tuple[NeededEpsilon, ...]]:
    """Show the least epsilon of every mechanism, and return the work on it."""
    name = goal.chosen.settings.mechanism
    rest = others(goal.chosen)
    st.subheader("Least ε by mechanism")

    def start() -> Work[tuple[NeededEpsilon, ...]]:
        needs: tuple[NeededEpsilon, ...] = ()
        for place, other in enumerate(rest):
            steps = answer_steps(goal, other, OTHER_DRAWS)
            other_answer = yield from part_of(steps, place / len(rest), (place + 1) / len(rest))
            needs = (*needs, needed_of(other, other_answer))
            yield Partial((place + 1) / len(rest), needs)
        return needs

    key = (goal.key(name, goal.options.tolerance), *(goal.key(other) for other in rest))
    work = running("which_epsilon.mechanisms", key, start)
    work.work()
    needs = (needed_of(name, answer), *(work.result or ()))
    shown = [need for need in needs if math.isfinite(need.epsilon)]
    if shown:
        chart(
            least_epsilons_figure(shown),
            key="which_epsilon.mechanisms",
            simulates=True,
            alt=f"Dots: the least ε of each mechanism. {'; '.join(f'{n.label} {numeral(n.epsilon)}' for n in shown)}.",
        )
    if missing := [need.label for need in needs if not math.isfinite(need.epsilon)]:
        st.caption(f"No ε was found for {', '.join(missing)}.")
    progress_if_long(work, "the other mechanisms", key="which_epsilon.mechanisms.stop")
    st.caption(
        f"Lines are 95% intervals. The other mechanisms have at most {OTHER_DRAWS} simulated releases each. Mechanisms "
        "with Gaussian noise have a δ above 0. Mechanisms that do not state their noise are read naively."
    )
    return work


def frame_of(errors: ErrorCurve) -> "pd.DataFrame":
    """Return one record per epsilon of the picture."""
    return pd.DataFrame(
        {
            "epsilon": errors.epsilons,
            "median error": errors.median,
            "error bound for the share of releases": errors.wanted,
        }
    )


# The same from Python


def recipes(goal: AccuracyRequirement) -> None:
    """Show how the same question is answered without the page."""
    with suppress(InputError):  # the page states why nothing can be simulated
        same_from_python(python_of(goal), name="which_epsilon", chosen=goal.chosen)


def python_of(goal: AccuracyRequirement) -> str:
    """Return the Python that gives the page's answer, of the same draws. Errors: InputError as of `draws`."""
    question, options, name = goal.question, goal.options, goal.chosen.settings.mechanism
    seed, draws = goal.chosen.seed, goal.draws(name)
    evidence = dict(question.evidence)
    return program(
        FACE,
        STREAM,
        "from dpbayes.experiments.least_epsilon.search import least_epsilon",
        "from dpbayes.experiments.least_epsilon.wish import Question, Wish",
        _tables(goal, draws),
        mechanism_in_python(goal.mechanism(name)),
        value_in_python("reading", goal.reading(name)),
        "wish = Wish(",
        "    mechanism=mechanism,",
        f"    question=Question(network, {question.target!r}, {question.state!r}, {evidence!r}),",
        "    tables=tables,",
        f"    tolerance={options.tolerance!r},",
        f"    confidence={options.confidence!r},",
        f"    draws={draws!r},",
        "    reading=reading,",
        ")",
        f'print(least_epsilon(wish, stream({seed!r}, "which_epsilon", "least")).epsilon)',
    )


def _tables(goal: AccuracyRequirement, draws: int) -> str:
    """Return the code that makes `network` and the `tables` whose releases are simulated."""
    if goal.counts is not None:
        return f"{counts_in_python(goal.chosen)}\ntables = counts  # of the records themselves: not private"
    return "\n".join(
        [
            "from dpbayes.experiments.least_epsilon.tables import planned_tables",
            public_cpts_in_python(goal.chosen),
            f'rng = stream({goal.chosen.seed!r}, "which_epsilon", "tables")',
            f"tables = planned_tables(network, probabilities, {goal.n!r}, {draws!r}, rng)",
        ]
    )
