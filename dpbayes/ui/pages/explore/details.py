"""What the Explore page shows below the pictures, a part at a time: nothing is computed for a part that is closed."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.libraries import pd
from dpbayes.base.text import distinct_texts, escaped, interval_texts, many, numeral, whole_percent
from dpbayes.experiments.releases import ReleaseStudy, drawn_values
from dpbayes.figures.posterior import kl_figure, quantile_dots_figure, rows_figure
from dpbayes.mechanisms.adaptive.mechanism import ReleasedModels
from dpbayes.mechanisms.exact_class import formula
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.noise_aware import POINTS, roughness
from dpbayes.releases.views.reading import intervals_as_text, prior_warning
from dpbayes.ui.pages.explore.answers import Answered, answer_under_way
from dpbayes.ui.pages.explore.averages import Averages, AveragesUnderWay, averages_under_way, releases_read
from dpbayes.ui.pages.explore.board import ANCHOR
from dpbayes.ui.pages.explore.comparison import comparison
from dpbayes.ui.pages.explore.controls import ask, picked
from dpbayes.ui.pages.explore.files import handout_button, python_of, release_json
from dpbayes.ui.pages.explore.make import make_release
from dpbayes.ui.pages.explore.person import one_person
from dpbayes.ui.pages.explore.picture import curve_frame
from dpbayes.ui.pages.explore.readings import Readings, summary_as_real
from dpbayes.ui.session.chosen import Chosen, target_and_evidence
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.from_python import same_from_python
from dpbayes.ui.widgets.show import assumption, data_and_download, folded, numbers, sentence_instead, source

MANY_RELEASES = 20
"""Releases from which on the interval of 90% of them is shown instead of their range."""

ROWS_AT_ONCE = 24


def details(chosen: Chosen, readings: Readings) -> tuple[bool, list[Callable[[], bool]]]:
    """Show the folded parts below the pictures, each computed when it is opened.

    Returns whether the work of a part continues, and the functions that continue work after the page is drawn.
    """
    st.subheader("Details", anchor=ANCHOR)
    few_points(readings)
    go_on = _of_all_releases(chosen, readings)
    one_person(chosen)
    _guarantee(chosen)
    return chosen.is_curator and comparison(chosen, readings.cell), go_on


def _of_all_releases(chosen: Chosen, readings: Readings) -> list[Callable[[], bool]]:
    """Show the question, the spread of releases, their errors and all rows; return their unfinished work."""
    under_way: list[AveragesUnderWay] = []
    go_on: list[Callable[[], bool]] = []

    def averaged() -> AveragesUnderWay:
        if not under_way:
            under_way.append(averages_under_way(chosen, readings))
        return under_way[0]

    def shown() -> ReleaseStudy:
        return averaged().by_now.shown if chosen.is_curator else readings.shown

    with folded("Ask a question", key="question.open") as is_open:
        if is_open:
            with st.container(key="question"), sentence_instead():
                ask(chosen)
                answer = answer_under_way(chosen, readings)
                go_on.append(answer.go_on)
                _query(chosen, readings, shown(), answer.by_now)
                handout_button(chosen, readings, answer.by_now)
    if chosen.is_curator:
        with folded("Possible releases", key="dots.open") as is_open:
            if is_open:
                _spread(chosen, readings, averaged().by_now)
        with folded("Errors of the release", key="measures.open") as is_open:
            if is_open:
                _errors(readings, averaged(), picked(chosen)[0])
    with folded("All rows of the network", key="rows.open") as is_open:
        if is_open:
            _all_rows(chosen, readings, shown())
    return [averages.go_on for averages in under_way] + go_on


def few_points(readings: Readings) -> None:
    """If the noise-aware posterior uses few points, state this and offer more."""
    if not readings.is_noise_aware:
        return
    if sentence := roughness(readings.first_of_cell):
        st.caption(f"{sentence} More points improve the approximation.")
    if sentence or readings.points != POINTS:
        controls.parameter_control("release.points")


def _spread(chosen: Chosen, readings: Readings, averages: Averages) -> None:
    name = f"P({chosen.network.cell_label(readings.cell)})"
    exact, means = float(averages.shown.exact.mean[readings.cell]), averages.cell.means
    chart(
        quantile_dots_figure(means, exact, name=name, colour=chosen.mechanism.colour),
        key="dots",
        simulates=True,
        alt=f"Quantile dots of the private posterior mean of {name}.",
    )
    st.caption(
        f"{many(len(means), 'simulated release')}. A curator publishes one release; each further release costs ε again."
    )


def _errors(readings: Readings, under_way: AveragesUnderWay, row: int) -> None:
    """Show the errors over all rows and in this one."""
    averages = under_way.by_now
    with st.container(key="measures"):
        _compared(averages.shown, row)
        if readings.as_real.is_posterior:
            _of_posteriors(readings, averages, row)
    under_way.show_progress(releases_read(readings))
    st.caption(f"{averages.over} Not private (curator view).")


def _compared(study: ReleaseStudy, row: int) -> None:
    """Show the errors that every mechanism has, at the same place and in the same units."""
    left, middle, right = st.columns(3)
    mean, most = distinct_texts(float(study.shift.mean()), float(np.quantile(study.shift, 0.9)), most=3)
    left.metric(
        "Mean absolute error, all rows",
        mean,
        help=f"|private - exact|, mean over all probabilities of all rows and over {many(study.count, 'release')}. "
        f"In nine of ten releases the mean is at most {most}.",
    )
    what = f"KL(exact || private) of the next record's state, mean over {many(study.count, 'release')}. {terms.KL}"
    middle.metric("Prediction KL, all rows, nats", numeral(study.predictive_kl.mean()), help=f"{what} Sum over rows.")
    right.metric("Prediction KL, this row, nats", numeral(study.predictive_kl_rows[:, row].mean()), help=what)


def _of_posteriors(readings: Readings, averages: Averages, row: int) -> None:
    """Show the errors of released posteriors; their KL does not compare with that of other releases."""
    study, real = averages.shown, readings.as_real
    st.markdown("**Released posteriors** (not every mechanism releases one):")
    left, middle, right = st.columns(3)
    what = f"KL(exact || private) of the posteriors, mean over {many(study.count, 'release')}. {terms.KL}"
    error = f"Standard error {numeral(study.kl_error, 1)}."
    left.metric("Posterior KL, all rows, nats", numeral(study.kl.mean()), help=f"{what} Sum over rows. {error}")
    middle.metric("Posterior KL, this row, nats", numeral(study.kl_rows[:, row].mean()), help=what)
    right.metric(
        f"Coverage of {LEVEL:.0%} intervals, this probability",
        whole_percent(averages.coverage),
        help="The share of this probability's exact posterior that lies in its private credible interval"
        f"{', computed row by row' if readings.is_noise_aware else ''}; mean over "
        f"{many(len(averages.cell.covered), 'release')}. {terms.COVERAGE}",
    )
    if readings.is_noise_aware:
        coverage = whole_percent(readings.naive_coverage(LEVEL))
        st.markdown(
            f"Naive reading of the same {many(real.count, 'release')}: posterior KL {numeral(real.kl.mean())} nats "
            f"over all rows and {numeral(real.kl_rows[:, row].mean())} in this row; coverage {coverage}."
        )


def _query(chosen: Chosen, readings: Readings, study: ReleaseStudy, answered: Answered | None) -> None:
    net, (target, evidence) = chosen.network, target_and_evidence(chosen)
    exact, private = study.query(target, evidence)
    states = net.states[net.index(target)]
    answer = None if answered is None else answered.answer
    frame = pd.DataFrame({"state": states, "private": private[0] if answer is None else answer.mean})
    if answer is not None:
        frame[f"its {LEVEL:.0%} interval"] = intervals_as_text(answer)
        if answer.prior is not None:
            frame["prior’s interval"] = intervals_as_text(answer.prior)
    if chosen.is_curator:
        frame["exact"] = exact
        frame["mean abs. error"] = np.abs(private - exact).mean(axis=0)
        levels = (0.05, 0.95) if len(private) >= MANY_RELEASES else (0.0, 1.0)
        low, high = np.quantile(private, levels, axis=0)
        of = "90% of releases" if len(private) >= MANY_RELEASES else many(len(private), "release")
        frame[of] = [" to ".join(interval_texts(*pair)) for pair in zip(low, high, strict=True)]
    with st.container(key="answer"):
        numbers(frame)
    if answered is not None and answer is not None:
        warning = prior_warning(answer)
        advice = " Ask about a node with fewer parents, or choose a larger ε." if warning else ""
        st.caption(f"{answered.source} {warning}{advice}")
    outcome = study.release.outcome
    if isinstance(outcome, ReleasedModels) and (assumes := outcome.assumed(target, evidence)):
        st.caption(escaped(assumes))
    if chosen.is_curator:
        of = "Errors over releases are computed for the row-wise posterior. " if readings.is_averaged else ""
        st.caption(f"{of}Exact values and errors are not private (curator view).")


def _all_rows(chosen: Chosen, readings: Readings, shown: ReleaseStudy) -> None:
    net, study, as_real = chosen.network, readings.as_real, None
    columns = st.columns(2, gap="medium") if chosen.is_curator else [st.container()]
    with columns[0]:
        rows = _rows_shown(net)
        cells = net.row_starts[rows] + [net.telling_state(int(node)) for node in net.node_of_row[rows]]
        labels = [net.cell_label(int(cell)) for cell in cells]
        first = readings.summary(cells, LEVEL) if study.is_posterior else _sample_summary(study, cells)
        if readings.is_noise_aware:
            as_real = summary_as_real(study, cells, LEVEL)
        exact = _summary(study.exact, cells) if chosen.is_curator else None
        figure = rows_figure(labels, first, exact, own=chosen.mechanism.colour, as_real=as_real)
        chart(figure, key="rows", alt="Means with 95% intervals of one state of every row.", simulates=True)
    if chosen.is_curator:
        with columns[1]:
            _kl_of_rows(shown, net, chosen.mechanism.colour)


def _kl_of_rows(study: ReleaseStudy, net: Network, colour: str) -> None:
    """Show the rows with the largest KL: of predictions, which every release makes, and of released posteriors."""
    means = {"prediction": study.predictive_kl_rows.mean(axis=0)}
    if study.is_posterior:
        means["posterior"] = study.kl_rows.mean(axis=0)
    tabs = st.tabs([f"{what.capitalize()} KL" for what in means])
    for tab, (what, mean_kl) in zip(tabs, means.items(), strict=True):
        worst = np.argsort(-mean_kl)[:ROWS_AT_ONCE]
        with tab:
            chart(
                kl_figure([net.row_label(int(row)) for row in worst], mean_kl[worst], what=what, colour=colour),
                key="kl" if what == "prediction" else "posterior-kl",
                simulates=True,
                alt=f"Bars: the mean {what} KL divergence of the rows where it is largest.",
            )
    columns = {f"mean {what} KL, nats": mean_kl for what, mean_kl in means.items()}
    data_and_download(
        lambda: pd.DataFrame({"row": net.row_labels(), **columns}),
        name="kl-by-row",
        curator_only=True,
        simulates=True,
    )


def _rows_shown(net: Network) -> np.ndarray:
    if net.row_count <= ROWS_AT_ONCE:
        return np.arange(net.row_count)
    node = net.index(st.selectbox("Node", net.names, key="rows.node"))
    rows = np.arange(net.row_offsets[node], net.row_offsets[node + 1])
    if len(rows) > ROWS_AT_ONCE:
        st.caption(f"The first {ROWS_AT_ONCE} of {len(rows):,} rows of this node.")
    return rows[:ROWS_AT_ONCE]


def _summary(posterior: Dirichlets, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    low, high = posterior.interval(LEVEL, cells=cells)
    return posterior.mean[cells], low, high


def _sample_summary(study: ReleaseStudy, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean and the middle 95% of the first release's samples; of a single one, that one."""
    samples = np.stack([drawn_values(study, int(cell))[0] for cell in cells])
    low, high = np.quantile(samples, (0.5 - LEVEL / 2, 0.5 + LEVEL / 2), axis=-1)
    return samples.mean(axis=-1), low, high


def _guarantee(chosen: Chosen) -> None:
    mechanism = chosen.mechanism
    with folded("Guarantee and its proof", key="guarantee.open") as is_open:
        if not is_open:
            return
        left, right = st.columns(2)
        left.metric("Stated", str(mechanism.claimed), help=terms.EPSILON)
        left.caption(str(mechanism.claimed.reference))
        right.metric("Proved", str(mechanism.certified), help=terms.NEIGHBOURS)
        rho = mechanism.certified.rho
        right.caption(str(mechanism.certified.reference) + (f", ρ = {numeral(rho, 4)}" if rho < np.inf else ""))
        assumption(f"Neighbours are {mechanism.certified.neighbours.value}.", holds=True)
        assumption("Every column's domain is public, not taken from the data.", holds=not chosen.leaking_columns)
        assumption("The noise is sampled exactly and kept secret. Here the noise comes from a seed.", holds=False)
        st.markdown(formula(mechanism))
        source(mechanism.claimed.reference)


def download(study: ReleaseStudy) -> None:
    """Offer the first simulated release: what a recipient would get, and nothing else."""
    net = study.exact.network
    download_button(
        "Simulated release (JSON)",
        lambda: release_json(study.release.part(0), net),
        offered_name("release", "json", simulates=True),
        "application/json",
        key="download.release",
        help="The file that a recipient would get. Its noise comes from a seed and protects nobody: use the file for "
        "demonstrations only.",
    )


def below(chosen: Chosen, readings: Readings) -> tuple[bool, list[Callable[[], bool]]]:
    """Show the sections; return whether work continues, and the functions that continue it."""
    shown = details(chosen, readings)
    st.subheader("Release and files", anchor=False)
    if chosen.is_curator:
        make_release(chosen)
    download(readings.as_real)
    data_and_download(
        lambda: curve_frame(chosen, readings), name="density", curator_only=chosen.is_curator, simulates=True
    )
    same_from_python(python_of(chosen, readings), name="release", chosen=chosen)
    return shown
