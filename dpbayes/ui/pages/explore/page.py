"""The Explore page: the picked cell's picture and how far releases are from exact; controls and details beside it."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.text import escaped, many, near_one, numeral
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import ReleaseStudy
from dpbayes.model.labels import assignment
from dpbayes.ui.pages.explore.answers import answer_kept
from dpbayes.ui.pages.explore.board import board, follow_hand, pictures_beside
from dpbayes.ui.pages.explore.controls import has_picked, lead_control, main_parameter, picked, rail
from dpbayes.ui.pages.explore.person import in_short
from dpbayes.ui.pages.explore.picture import picture
from dpbayes.ui.pages.explore.readings import Readings
from dpbayes.ui.pages.explore.simulations import (
    offer_simulation,
    releases_to_simulate,
    simulation,
    waits_for_request,
)
from dpbayes.ui.session.chosen import Chosen, has_question, target_and_evidence
from dpbayes.ui.widgets.chart.saving import EPSILON, MECHANISM, TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.frames import Frames, counts_of
from dpbayes.ui.widgets.numbers import show_number
from dpbayes.ui.widgets.page import Places, next_page, settle
from dpbayes.ui.widgets.running import Running, blank, progress
from dpbayes.ui.widgets.shares import show_search
from dpbayes.ui.widgets.show import inside

SLOTS = 40
"""More than the elements that follow the picture."""


FACTS: Facts = MECHANISM | EPSILON | TABLE | N


def explore_page(chosen: Chosen) -> bool:
    """Show the picture first: it moves with epsilon, and all else is updated when the slider stops."""
    pictures_tell(FACTS)
    _ = chosen.network  # without one, the page is the message alone
    page, beside = board(chosen)
    frames = None if chosen.reads_records else Frames(main_parameter(chosen), counts_of, follow_hand)
    readings = page.first(_moving, chosen, frames=frames)
    with page.controls:
        is_edited = rail(chosen)
    works = [] if readings is None else pictures_beside(chosen, beside)  # what refuses the posterior refuses the others
    if isinstance(readings, Readings):
        works += _more_releases(chosen, page, readings)
    if readings is None:
        with page.picture, suppress(InputError):  # a refusal is shown already
            if waits_for_request(chosen):
                offer_simulation(chosen)
    if isinstance(readings, Running):
        with page.picture:
            show_search(readings, key="release.search")
            blank(SLOTS)
    with st.container(key="below"):
        goes_on, go_on = _below(chosen, readings)
        next_page("Which epsilon", "pages/which_epsilon.py")
    settle()
    goes_on |= any([more() for more in go_on])
    for work in works:
        work.work()
    return (goes_on or bool(works)) and not is_edited  # another run would close the editor


def _more_releases(chosen: Chosen, page: Places, readings: Readings) -> list[Running[Any]]:
    """Show how many releases are simulated, if there are to be more; return the work if it continues."""
    done, total = readings.as_real.count, releases_to_simulate(chosen.mechanism)
    if done == total:
        return []
    work = simulation(chosen)
    with page.picture:
        if work.is_long:
            progress(work, f"{done} of {many(total, 'simulated release')}", key="release.simulated.stop")
    return [work] if work.going else []


def _below(chosen: Chosen, readings: Readings | Running[None] | None) -> tuple[bool, list[Callable[[], bool]]]:
    """Show the sections below the board; return whether work continues, and the functions that continue it."""
    if readings is None:
        return False, []
    if isinstance(readings, Running):
        blank(SLOTS)
        return readings.going, []
    from dpbayes.ui.pages.explore.details import below  # the pictures above are sent before this is imported

    return below(chosen, readings)


def _moving(page: Places, chosen: Chosen) -> Readings | Running[None] | None:
    _, cell = picked(chosen)
    with page.picture:
        readings = picture(chosen, cell)
    if isinstance(readings, Readings):
        show_number("released probability", readings.private_mean)
    if isinstance(readings, Readings) and chosen.is_curator:
        show_number("exact probability", float(readings.as_real.exact.mean[cell]))
        show_number("error", float(readings.shown.shift.mean()))
        page.add(_errors_sentence(chosen, readings, cell), to="picture")
    lead_control(page, chosen)
    if isinstance(readings, Running):
        nodes = len(chosen.network.names)
        page.say(f"The best noise for this network of {nodes} nodes is being computed. No record is used.")
    elif readings is not None:
        page.say(_headline(chosen, readings, cell))
        page.add(in_short(chosen), to="headline")
    return readings


def _headline(chosen: Chosen, readings: Readings, cell: int) -> str:
    """State the mean error over all probabilities; for a recipient, the release's estimate of one of them."""
    study = readings.shown
    if not chosen.is_curator:
        name, value = next(iter(_released_values(chosen, readings, cell).items()))
        promise = escaped(str(study.release.guarantee))
        return f"With {promise}, this release estimates {name} at {_probability(value)}."
    reader = "a noise-aware reader of " if study.aware is not None else ""
    release = f"{reader}{_a(inside(study.release.mechanism))} release"
    return (
        f"With {escaped(str(study.release.guarantee))}, {release} has a mean absolute error of "
        f"{numeral(study.shift.mean(), 2)}."
    )


def _a(label: str) -> str:
    """Return a mechanism's label with the indefinite article."""
    return f"{'an' if label.startswith(('a', 'e')) else 'a'} {label}"


def _errors_sentence(chosen: Chosen, readings: Readings, cell: int) -> str:
    """State the picked probability and its mean error, and that of the answer to the question if there is one."""
    study, true = readings.shown, _probability(float(readings.as_real.exact.mean[cell]))
    released, error = _probability(readings.private_mean), numeral(study.shifts[:, cell].mean(), 2)
    sentence = f"Exact {true}, this release {released}; mean absolute error {error}"
    if answers := _answers(chosen, study):
        exact, private = answers
        sentence += f"; {_question_name(chosen)}: {numeral(float(np.abs(private - exact).mean()), 2)}"
    return f"{sentence}."


def _released_values(chosen: Chosen, readings: Readings, cell: int) -> dict[str, float]:
    """Return the first release's answer to the person's question and its picked probability, else the one shown."""
    values, net = {}, chosen.network
    if answers := _answers(chosen, readings.shown):
        node = net.index(target_and_evidence(chosen)[0])
        state = net.telling_state(node)
        kept = answer_kept(chosen, readings)
        answer = answers[1][0] if kept is None else kept.mean
        values[f"{_question_name(chosen, net.states[node][state])} (your question)"] = float(answer[state])
    if has_picked(chosen) or not values:
        values[escaped(f"P({net.cell_label(cell)})")] = readings.private_mean
    return values


def _answers(chosen: Chosen, study: ReleaseStudy) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the answers to the person's question; None without a question or an answer, which is shown below."""
    if not has_question(chosen):
        return None
    with suppress(InputError):
        return study.query(*target_and_evidence(chosen))
    return None


def _question_name(chosen: Chosen, state: str = "") -> str:
    target, given = target_and_evidence(chosen)
    event = assignment(target, state) if state else target
    condition = ", ".join(assignment(*pair) for pair in given.items())
    return escaped(f"P({event} | {condition})" if condition else f"P({event})")


def _probability(value: float) -> str:
    return near_one(value) if value > 0.99 else numeral(value, 2)
