"""The Explore page: the picked cell's picture and how far releases are from exact; controls and details beside it."""

from contextlib import suppress

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.text import apart, escaped, many, near_one, numeral, whole_percent
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import ReleaseStudy, density, density_grid, drawn_values
from dpbayes.figures.explore import HEIGHT
from dpbayes.figures.posterior import Densities, density_figure, draws_figure
from dpbayes.model.labels import assignment
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_aware import POINTS, roughness
from dpbayes.ui.pages.explore.averages import (
    Averages,
    AveragesUnderWay,
    averages_under_way,
    releases_of,
    with_averages,
)
from dpbayes.ui.pages.explore.board import board, follow, subject
from dpbayes.ui.pages.explore.controls import has_asked, has_picked, lead_control, picked, question, release_controls
from dpbayes.ui.pages.explore.details import release_details
from dpbayes.ui.pages.explore.handout import handout_button
from dpbayes.ui.pages.explore.make import make_release
from dpbayes.ui.pages.explore.person import in_short
from dpbayes.ui.pages.explore.python import python_of
from dpbayes.ui.pages.explore.readings import Readings
from dpbayes.ui.pages.explore.simulations import simulated_once
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import EPSILON, MECHANISM, TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.from_python import same_from_python
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.running import Running, blank
from dpbayes.ui.widgets.searching import search_under_way, show_search
from dpbayes.ui.widgets.show import data_and_download, inside, refusal

SHOWN_CURVES = 16

SLOTS = 40
"""More than the elements that follow the picture."""


FACTS: Facts = MECHANISM | EPSILON | TABLE | N


def explore_page(chosen: Chosen) -> bool:
    """Show the picture first: it moves with epsilon, all else follows when the hand rests."""
    pictures_tell(FACTS)
    page, beside = board(chosen)
    readings = page.first(_moving, chosen)
    with page.controls:
        subject(chosen)
        release_controls(chosen)
    works = follow(chosen, beside)
    if not isinstance(readings, Readings):
        page.settle()
    if readings is None:
        return False
    if isinstance(readings, Running):
        with page.picture:
            show_search(readings, key="release.search")
            blank(SLOTS)
        blank(SLOTS)
        return readings.going
    row, _ = picked(chosen)
    under_way = averages_under_way(chosen, readings) if chosen.is_curator else None
    _measures(chosen, readings, under_way, row)
    page.settle()
    handout_button(chosen, readings)
    if chosen.is_curator:
        make_release(chosen)
    st.divider()
    goes_on = release_details(chosen, readings, under_way.by_now if under_way else None)
    same_from_python(python_of(chosen, readings), name="release", chosen=chosen)
    more = under_way is not None and under_way.go_on()
    for work in works:
        work.work()
    return goes_on or more or bool(works)


def _moving(page: Places, chosen: Chosen) -> Readings | Running[None] | None:
    _, cell = picked(chosen)
    with page.picture:
        readings = _picture(chosen, cell)
        if isinstance(readings, Readings) and chosen.is_curator:
            st.caption(_errors_told(chosen, readings, cell))
    lead_control(page, chosen)
    if isinstance(readings, Running):
        nodes = len(chosen.network.names)
        page.say(f"The best noise on a network of {nodes} nodes is being searched for; no record is looked at.")
    elif readings is not None:
        page.say(_headline(chosen, readings, cell))
        with page.top:
            in_short(chosen)
    return readings


def _headline(chosen: Chosen, readings: Readings, cell: int) -> str:
    """State the mean error over all probabilities; to the recipient, what the release says of one of them."""
    study = readings.shown
    if not chosen.is_curator:
        name, value = next(iter(_said(chosen, readings, cell).items()))
        promise = escaped(str(study.release.guarantee))
        return f"With {promise}, this release says that {name} is about {_probability(value)}."
    reader = "a noise-aware reader of " if study.aware is not None else ""
    return (
        f"With {escaped(str(study.release.guarantee))}, {reader}a {inside(study.release.mechanism)} release has a mean "
        f"absolute error of {numeral(study.shift.mean(), 2)}."
    )


def _errors_told(chosen: Chosen, readings: Readings, cell: int) -> str:
    """State the mean error of the picked probability, and of the answer to the person's question if there is one."""
    study = readings.shown
    name = escaped(f"P({chosen.network.cell_label(cell)})")
    told = f"{name}: mean absolute error {numeral(study.shifts[:, cell].mean(), 2)}"
    if answers := _answers(chosen, study):
        exact, private = answers
        told += f"; {_question_name(chosen)}: {numeral(float(np.abs(private - exact).mean()), 2)}"
    return f"{told}."


def _said(chosen: Chosen, readings: Readings, cell: int) -> dict[str, float]:
    """Return what the first release says of what the person asked for and picked, else of what is in the picture."""
    said, net = {}, chosen.network
    if answers := _answers(chosen, readings.shown):
        node = net.index(question(chosen)[0])
        state = net.telling_state(node)
        said[f"{_question_name(chosen, net.states[node][state])}, your question,"] = float(answers[1][0, state])
    if has_picked(chosen) or not said:
        why = "which you picked" if has_picked(chosen) else "in the picture"
        said[f"{escaped(f'P({net.cell_label(cell)})')}, {why},"] = readings.says
    return said


def _answers(chosen: Chosen, study: ReleaseStudy) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the answers to the person's question; none if she has none, or it has no answer: that is said below."""
    if not has_asked(chosen):
        return None
    with suppress(InputError):
        return study.query(*question(chosen))
    return None


def _question_name(chosen: Chosen, state: str = "") -> str:
    target, given = question(chosen)
    asked = assignment(target, state) if state else target
    known = ", ".join(assignment(*pair) for pair in given.items())
    return escaped(f"P({asked} | {known})" if known else f"P({asked})")


def _probability(value: float) -> str:
    return near_one(value) if value > 0.99 else numeral(value, 2)


def _picture(chosen: Chosen, cell: int) -> Readings | Running[None] | None:
    """Show the densities and return the releases behind them; a setting that cannot be released gets its sentence.

    As long as the noise is still being searched for, nothing is shown, and the search is returned.
    """
    try:
        if (search := search_under_way(chosen.mechanism)) is not None:
            return search
        releases = simulated_once(chosen)
    except InputError as error:
        refusal(error)
        return None
    study, readings = releases.study, with_averages(chosen, Readings.of(chosen, releases, cell))
    name, zoom, colour = chosen.network.cell_label(cell), chosen.settings.zoom, chosen.mechanism.colour
    beside = " beside the exact density." if chosen.is_curator else "."
    if study.is_posterior:
        key = cell, chosen.is_curator, readings.knows_noise, readings.points
        densities = readings.memo.once(key, _densities, chosen, readings, cell)
        figure = density_figure(densities, name=name, zoom=zoom, colour=colour)
        figure.layout["height"] = HEIGHT
        chart(figure, key="density", alt=f"Density of the private posterior of P({name}){beside}", simulates=True)
    else:
        figure = draws_figure(*_draws(chosen, study, cell), name=name, zoom=zoom, colour=colour)
        figure.layout["height"] = HEIGHT
        said = f"The values of P({name}) that this release holds{beside}"
        chart(figure, key="density", alt=said, simulates=True)
    return readings


def _densities(chosen: Chosen, readings: Readings, cell: int) -> Densities:
    """Return the densities to draw; the recipient gets one release and nothing exact."""
    study = readings.as_real
    releases = study.release.posterior
    known = [study.exact, releases.part(0)] if chosen.is_curator else [releases.part(0)]
    if readings.knows_noise:
        first = readings.first_of_cell
        theta = density_grid(known, cell, within=(float(first.mean[0]), float(first.sd[0])))
        private = np.exp(first.log_density(theta[:, None])).T
        as_real = density(releases.part(0), cell, theta)
    else:
        theta, as_real = density_grid(known, cell), None
        private = density(releases.part(slice(0, SHOWN_CURVES if chosen.is_curator else 1)), cell, theta)
    return Densities(theta, private, density(study.exact, cell, theta) if chosen.is_curator else None, as_real)


def _draws(
    chosen: Chosen, study: ReleaseStudy, cell: int
) -> tuple[np.ndarray, np.ndarray | None, tuple[np.ndarray, np.ndarray] | None]:
    """Return the first release's values, all possible ones and the exact density; the recipient gets the first."""
    drawn = drawn_values(study, cell)
    if not chosen.is_curator:
        return drawn[0], None, None
    theta = density_grid([study.exact], cell)
    return drawn[0], drawn.ravel(), (theta, density(study.exact, cell, theta))


def _measures(chosen: Chosen, readings: Readings, under_way: AveragesUnderWay | None, row: int) -> None:
    """Say how far the releases are from exact, for the curator; offer the numbers."""
    controls.toggle("Zoom to the posteriors", "zoom")
    if under_way is not None:
        averages = under_way.by_now
        with st.container(key="measures"):
            _compared(averages.shown, row)
            if readings.as_real.is_posterior:
                _of_posteriors(readings, averages, row)
        under_way.show_progress(releases_of(readings))
        st.caption(f"{averages.over} Curator only: not private.")
    _few_points(readings)
    data_and_download(
        lambda: _curve_frame(chosen, readings), name="density", curator_only=chosen.is_curator, simulates=True
    )


def _compared(study: ReleaseStudy, row: int) -> None:
    """Show what every mechanism has, at the same place and in the same units whichever it is."""
    left, middle, right = st.columns(3)
    mean, most = apart(float(study.shift.mean()), float(np.quantile(study.shift, 0.9)), most=3)
    left.metric(
        "Mean difference, all rows",
        mean,
        help=f"|private - exact|, mean over all probabilities of all rows and over {many(study.count, 'release')}. "
        f"In nine of ten releases the mean is at most {most}.",
    )
    what = f"KL(exact || private) of the next record's state, mean over {many(study.count, 'release')}. {terms.KL}"
    middle.metric("Prediction KL, all rows, nats", numeral(study.predictive_kl.mean()), help=f"{what} The rows' sum.")
    right.metric("Prediction KL, this row, nats", numeral(study.predictive_kl_rows[:, row].mean()), help=what)


def _of_posteriors(readings: Readings, averages: Averages, row: int) -> None:
    """Show what only a release that holds posteriors has; its KL is of whole laws, and no other release's compares."""
    study, real = averages.shown, readings.as_real
    st.markdown("**Of the released posteriors**, which not every mechanism has:")
    left, middle, right = st.columns(3)
    what = f"KL(exact || private) of the posteriors, mean over {many(study.count, 'release')}. {terms.KL}"
    error = f"Standard error {numeral(study.kl_error, 1)}."
    left.metric("Posterior KL, all rows, nats", numeral(study.kl.mean()), help=f"{what} The rows' sum. {error}")
    middle.metric("Posterior KL, this row, nats", numeral(study.kl_rows[:, row].mean()), help=what)
    right.metric(
        f"Coverage of {LEVEL:.0%} intervals, this probability",
        whole_percent(averages.coverage),
        help="How much of this probability's exact posterior lies in its private credible interval, mean over "
        f"{many(len(averages.cell.covered), 'release')}. {terms.COVERAGE}",
    )
    if readings.knows_noise:
        coverage = whole_percent(readings.coverage_as_real(LEVEL))
        st.markdown(
            f"With counts taken as real, over {many(real.count, 'release')}: {numeral(real.kl.mean())} nats over all "
            f"rows, {numeral(real.kl_rows[:, row].mean())} in this row, coverage {coverage}."
        )


def _few_points(readings: Readings) -> None:
    """Where the posterior that knows of the noise rests on few points, say so and offer more."""
    if not readings.knows_noise:
        return
    if said := roughness(readings.first_of_cell):
        st.caption(f"{said} More points make it finer.")
    if said or readings.points != POINTS:
        controls.parameter_control("release.points")


def _curve_frame(chosen: Chosen, readings: Readings) -> pd.DataFrame:
    cell = readings.cell
    if not readings.as_real.is_posterior:
        return pd.DataFrame({"draw of this release": drawn_values(readings.as_real, cell)[0]})
    drawn = _densities(chosen, readings, cell)
    columns = {
        "theta": drawn.theta,
        "private": drawn.private[0],
        "counts taken as real": drawn.as_real,
        "exact": drawn.exact,
    }
    return pd.DataFrame({name: values for name, values in columns.items() if values is not None})
