"""The Which epsilon page: the least epsilon at which one answer is near enough, often enough, and what else it takes.

Releases of planned tables are simulated, which are drawn from public probabilities: both seats see everything. The
curator may ask about the table itself instead, which is marked.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.steps import Partial, Work, part_of
from dpbayes.base.text import done, escaped, many, numeral, rough
from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon.planning import (
    ErrorCurve,
    LeastRecords,
    error_steps,
    least_records_steps,
    most_records,
)
from dpbayes.experiments.least_epsilon.search import least_epsilon_steps
from dpbayes.experiments.least_epsilon.wish import LeastEpsilon
from dpbayes.figures.which_epsilon import NeededEpsilon, error_figure, needed_figure
from dpbayes.mechanisms import MECHANISMS
from dpbayes.ui.pages.which_epsilon.asking import (
    ANSWERS,
    MOST_DRAWS,
    Asking,
    ask,
    is_of_the_table,
    others,
    planned_records,
    records_of_table,
)
from dpbayes.ui.pages.which_epsilon.recipes import recipes
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.settings import MECHANISM_NAMES
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import MECHANISM, PLANNED, Facts, N, pictures_tell
from dpbayes.ui.widgets.counting import count_connected
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.running import Running, progress, running
from dpbayes.ui.widgets.show import data_and_download, sentence_instead

EPSILONS = np.geomspace(0.01, 1000, 21)
"""Where the picture has the error."""

CURVE_DRAWS, OTHER_DRAWS, RECORDS_DRAWS = 400, 500, 400
"""Simulated releases behind every point of the picture, the other mechanisms' answers, and the number of records."""

AWARE_SHARE = 4
"""How many times fewer these are where they are read with the noise in mind."""

Answered = LeastEpsilon | str
"""The least epsilon, or the sentence that says why there is none."""


def _planned(chosen: Chosen) -> str:
    return "" if is_of_the_table(chosen) else PLANNED


def _n(chosen: Chosen) -> str:
    return N["n"](chosen) if is_of_the_table(chosen) else f"{planned_records(chosen):,}"


FACTS: Facts = MECHANISM | {"tables": _planned, "n": _n}


def which_epsilon_page(chosen: Chosen) -> bool:
    """Show the error's curve first: it moves with the tolerance, all else follows when the hand rests."""
    pictures_tell(FACTS)
    page = places()
    with page.controls:
        ask(chosen)
        tables = ["tables"] if chosen.is_curator else []
        for name in ("confidence", *tables):
            controls.parameter_control(f"which_epsilon.{name}")
        if not is_of_the_table(chosen):
            controls.parameter_control("which_epsilon.records", default=records_of_table(chosen))
        controls.parameter_control("which_epsilon.recipient")
        titles = {kind.__name__: kind.label for kind in MECHANISMS}
        controls.segments("Mechanism", "mechanism", MECHANISM_NAMES, format_func=titles.__getitem__)
    with page.top:  # a connected table is counted where it lies, once it is asked about
        is_counting = is_of_the_table(chosen) and count_connected(chosen)
    first = page.first(_moving, chosen)
    if first is None:
        return is_counting
    asking, least, errors = first
    with page.picture:
        st.caption(_tables_told(asking))  # what is always there comes first: what comes and goes would move it
        _told(asking, least)
        _waiting(least, "of the search", key="which_epsilon.stop")
    works: list[Running[Any]] = [least, errors]
    if least.done and errors.done:
        with st.container(key="below"):
            with sentence_instead():
                if asking.counts is None and np.isfinite(errors.so_far.wanted).any():
                    works.append(_records(asking))
            if not works[-1].going:
                works.append(_mechanisms(asking, least.so_far))
    private = asking.counts is not None
    data_and_download(lambda: frame_of(errors.so_far), name="which-epsilon", curator_only=private, simulates=True)
    recipes(asking)
    st.page_link("pages/explore.py", label="Explore, at an ε of your own", icon=":material/arrow_forward:")
    return any(each.going for each in works)


def _moving(page: Places, chosen: Chosen) -> tuple[Asking, Running[Answered], Running[ErrorCurve]]:
    asking, name = Asking.now(chosen), chosen.settings.mechanism
    least = running("which_epsilon.least", asking.key(name, asking.options.tolerance), lambda: answered(asking, name))
    least.work()
    errors = running(
        "which_epsilon.errors",
        asking.key(name),
        lambda: errors_of(asking, name),
    )
    if least.done or not errors.taken:  # the answer comes first
        errors.work()
    with page.picture:
        _picture(asking, least, errors.so_far)
    page.lead("which_epsilon.tolerance")
    page.say(verdict(asking, least))
    return asking, least, errors


def answered(asking: Asking, name: str, most: int = MOST_DRAWS) -> Work[Answered]:
    """Find the least epsilon of a mechanism, or the sentence that says why there is none."""
    drawn = asking.share_of_tables
    try:
        wish = yield from part_of(asking.wishing(name, most), 0.0, drawn)
        return (yield from part_of(least_epsilon_steps(wish, asking.luck("least")), drawn, 1.0))
    except InputError as error:
        return str(error)


def errors_of(asking: Asking, name: str) -> Work[ErrorCurve]:
    """Work out the picture's errors; where the wish cannot be made they stay unknown, and the search says why."""
    unknown = ErrorCurve(EPSILONS, *np.full((2, len(EPSILONS)), np.nan))
    yield Partial(0.0, unknown)
    try:
        wish = yield from part_of(asking.wishing(name, _fewer(asking, CURVE_DRAWS)), 0.0, 0.0)
    except InputError:
        return unknown
    return (yield from error_steps(wish, EPSILONS, asking.luck("errors")))


def _fewer(asking: Asking, draws: int) -> int:
    return draws // (1 if ANSWERS[asking.options.recipient].draws >= 2000 else AWARE_SHARE)


def verdict(asking: Asking, least: Running[Answered]) -> str:
    """Return the page's sentence: the least epsilon, rounded up, and what it keeps to how often."""
    what = escaped(asking.question.text)
    if not least.done:
        return f"Searching for the least ε that keeps {what} within {numeral(asking.options.tolerance, 6)} …"
    known = least.so_far
    if isinstance(known, str):
        return f"No ε is known to keep {what} within {numeral(asking.options.tolerance, 6)} {often(asking)}."
    floor = " or less" if known.epsilon <= known.epsilons[0] else ""
    return (
        f"ε = {numeral(rounded_up(known.epsilon))}{floor} keeps {what} within {numeral(asking.options.tolerance, 6)} "
        f"{often(asking)}."
    )


def often(asking: Asking) -> str:
    """Return the wanted share of releases as words, and of which table, if it is one."""
    table = "" if asking.counts is None else " of this table"
    return f"in {numeral(100 * asking.options.confidence)} of 100 releases{table}"


def rounded_up(epsilon: float) -> float:
    """Return an epsilon in two digits, never a smaller one."""
    place = 10.0 ** (math.floor(math.log10(epsilon)) - 1)
    return float(f"{math.ceil(epsilon / place - 1e-9) * place:.2g}")


def _picture(asking: Asking, least: Running[Answered], errors: ErrorCurve) -> None:
    known = least.so_far if least.done else ""
    share = f"{numeral(100 * asking.options.confidence)} of 100"
    needed = needed_of(asking.chosen.settings.mechanism, known)
    keeps = f"{share} releases within {numeral(asking.options.tolerance, 6)}"
    said = f" The least ε that keeps {keeps} is {numeral(needed.epsilon)}." if math.isfinite(needed.epsilon) else ""
    chart(
        error_figure(
            errors.epsilons,
            errors.median,
            errors.wanted,
            needed=needed,
            tolerance=asking.options.tolerance,
            share=share,
        ),
        key="which_epsilon.errors",
        simulates=True,
        alt=f"Two falling curves: how far the answer to {asking.question.text} is from that of the exact posterior in "
        f"half and in {share} releases, against ε.{said}",
    )


def needed_of(name: str, known: Answered) -> NeededEpsilon:
    """Return a mechanism's least epsilon for a picture; NaN where there is none."""
    kind = kind_called(name)
    if isinstance(known, str):
        return NeededEpsilon(kind.label, kind.colour, math.nan, math.nan, math.nan)
    return NeededEpsilon(kind.label, kind.colour, known.epsilon, known.low, known.high)


def _waiting(work: Running[Any], said: str, *, key: str) -> None:
    if work.is_long:
        progress(work, f"{done(work.share)} {said}", key=key)


def _told(asking: Asking, least: Running[Answered]) -> None:
    """Say how well the answer is known, and what it is made of."""
    known = least.so_far if least.done else None
    if isinstance(known, str):
        st.warning(escaped(known))
    elif known is not None:
        high = numeral(known.high) if math.isfinite(known.high) else "no end that so few draws tell"
        st.caption(
            f"The least ε is {numeral(known.epsilon)}, and its 95% interval goes from {numeral(known.low)} to {high}: "
            f"{known.wish.draws:,} releases were simulated of {known.mechanism.named}"
            f"{up_to_delta(known.mechanism.certified.delta)}. Answered with {known.wish.answer.label}."
        )


def _tables_told(asking: Asking) -> str:
    """Say whose releases were simulated, and what a choice of ε by them costs."""
    if asking.counts is None:
        return (
            f"Planned: each release is of a table of its own, {many(asking.n, 'record')} drawn from "
            f"{asking.tables_of}. No record of yours is looked at, so that this choice of ε costs no privacy."
        )
    return (
        "**Curator only: the choice of ε from a true table is outside the guarantee.** Every release is of the "
        f"{many(asking.n, 'record')} of the table: this ε tells of them, and what is released at it does not account "
        "for that. Planned tables cost nothing."
    )


def up_to_delta(delta: float) -> str:
    """Return what a promise allows to fail, as the end of a sentence: nothing where it holds for certain."""
    return f", whose promise may fail with δ = {numeral(delta)}" if delta > 0 else ""


# How many records


def _records(asking: Asking) -> Running[LeastRecords]:
    """Say from how many records on the ε that is asked about would do, and return the work on it."""
    name, options = asking.chosen.settings.mechanism, asking.options
    st.subheader("How many records would another ε need?")
    controls.parameter_control("epsilon")
    draws = _fewer(asking, RECORDS_DRAWS)

    def start() -> Work[LeastRecords]:
        drawn = asking.share_of_tables
        wish = yield from part_of(asking.wishing(name, draws), 0.0, drawn)
        return (yield from part_of(least_records_steps(wish, asking.cpts, asking.luck("records")), drawn, 1.0))

    work = running("which_epsilon.records", asking.key(name, options.tolerance, asking.chosen.epsilon), start)
    work.work()
    if not work.done:
        _waiting(work, "of the tables", key="which_epsilon.records.stop")
        return work
    st.markdown(f"**{records_told(asking, work.so_far, most_records(asking.network, asking.draws(name, draws)))}**")
    st.caption("A table of other records is planned each time; the number of records counts as public.")
    return work


def records_told(asking: Asking, needed: LeastRecords, most: int) -> str:
    """Return from how many records on an epsilon would do, as a sentence."""
    what, epsilon = escaped(asking.question.text), numeral(asking.chosen.epsilon)
    tolerance = numeral(asking.options.tolerance, 6)
    if not math.isfinite(needed.records):
        return f"ε = {epsilon} does not keep {what} within {tolerance} with up to {most:,} records."
    if needed.records <= 1:
        return f"ε = {epsilon} keeps {what} within {tolerance} with any number of records."
    high = _about(needed.high) if math.isfinite(needed.high) else "more"
    return f"ε = {epsilon} would do from about {_about(needed.records)} records on ({_about(needed.low)} to {high})."


def _about(number: float) -> str:
    return rough(math.ceil(number))


# Every mechanism


def _mechanisms(asking: Asking, known: Answered) -> Running[tuple[NeededEpsilon, ...]]:
    """Show the least epsilon of every mechanism, and return the work on it."""
    name = asking.chosen.settings.mechanism
    rest = others(asking.chosen)
    st.subheader("Which mechanism needs the least ε?")

    def start() -> Work[tuple[NeededEpsilon, ...]]:
        needs: tuple[NeededEpsilon, ...] = ()
        for place, other in enumerate(rest):
            steps = answered(asking, other, OTHER_DRAWS)
            each = yield from part_of(steps, place / len(rest), (place + 1) / len(rest))
            needs = (*needs, needed_of(other, each))
            yield Partial((place + 1) / len(rest), needs)
        return needs

    key = (asking.key(name, asking.options.tolerance), *(asking.key(other) for other in rest))
    work = running("which_epsilon.mechanisms", key, start)
    work.work()
    needs = (needed_of(name, known), *(work.result or ()))
    shown = [need for need in needs if math.isfinite(need.epsilon)]
    if shown:
        chart(
            needed_figure(shown),
            key="which_epsilon.mechanisms",
            simulates=True,
            alt=f"Dots: the least ε by mechanism. {'; '.join(f'{n.label} {numeral(n.epsilon)}' for n in shown)}.",
        )
    if missing := [need.label for need in needs if not math.isfinite(need.epsilon)]:
        st.caption(f"None is known of: {', '.join(missing)}.")
    _waiting(work, "of the other mechanisms", key="which_epsilon.mechanisms.stop")
    st.caption(
        f"From at most {OTHER_DRAWS} simulated releases each, but for the chosen mechanism; lines are 95% intervals. "
        "Gaussian noise promises its ε up to a δ, which the others do without."
    )
    return work


def frame_of(errors: ErrorCurve) -> pd.DataFrame:
    """Return one record per epsilon of the picture."""
    return pd.DataFrame(
        {"epsilon": errors.epsilons, "median error": errors.median, "error of the wanted share": errors.wanted}
    )
