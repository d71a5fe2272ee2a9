"""The Hellinger page's curves: errors against n, epsilon and m, and the whole experiment as files."""

from collections.abc import Mapping

import streamlit as st

from dpbayes.base.text import many, numeral
from dpbayes.experiments.commands.files import parquet_bytes
from dpbayes.experiments.hellinger.errors import (
    EPSILONS,
    SWEEP_DRAWS,
    Accuracy,
    ErrorLaw,
    accuracy_against_epsilon,
    accuracy_against_sides,
    accuracy_against_throws,
    most_throws,
    sides_grid,
    throws_grid,
)
from dpbayes.experiments.hellinger.scenario import MOST_SHOWN, SIDES, DieMethod, Scenario
from dpbayes.experiments.hellinger.study import HellingerStudy, at_setting, noise_along
from dpbayes.figures.hellinger import die_errors_figure, sides_figure
from dpbayes.mechanisms.die.enumeration import MOST_ENUMERATED
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import results_and_files


@st.cache_data(scope="session", max_entries=16, show_spinner="Comparing at every ε …", hash_funcs={Scenario: hash})
def _against_epsilon(scenario: Scenario, seed: int) -> Accuracy:
    return accuracy_against_epsilon(scenario, EPSILONS, noise_along(seed=seed))


@st.cache_data(scope="session", max_entries=16, show_spinner="Comparing at every n …", hash_funcs={Scenario: hash})
def _against_throws(scenario: Scenario, throws: tuple[int, ...], seed: int) -> Accuracy:
    return accuracy_against_throws(scenario, throws, noise_along(seed=seed))


@st.cache_data(scope="session", max_entries=16, show_spinner="Comparing at every m …", hash_funcs={Scenario: hash})
def _against_sides(scenario: Scenario, sides: tuple[int, ...], seed: int) -> Accuracy:
    return accuracy_against_sides(scenario, sides, noise_along(seed=seed))


def sweeps(scenario: Scenario, laws: Mapping[DieMethod, ErrorLaw], *, seed: int) -> None:
    """Show the errors against n, epsilon and m; each curve is computed again only if another setting changes."""
    st.subheader("Which mechanism wins when?")
    left, right = st.columns(2, gap="medium")
    with left:
        throws = _against_throws(scenario.at(n=1), throws_grid(scenario), seed)
        title = f"throws n, at ε = {numeral(scenario.epsilon, 6)}, m = {scenario.sides}"
        figure = die_errors_figure(throws.places, throws.curves, marked=scenario.n, title=title)
        chart(figure, key="hellinger.throws", alt=_alt(title), simulates=True)
    with right:
        epsilons = _against_epsilon(scenario.at(epsilon=1.0), seed)
        title = f"ε, at n = {many(scenario.n, 'throw')}, m = {scenario.sides}"
        figure = die_errors_figure(epsilons.places, epsilons.curves, marked=scenario.epsilon, title=title)
        chart(figure, key="hellinger.epsilons", alt=_alt(title), simulates=True)
    left, right = st.columns(2, gap="medium")
    with left:
        sides = _against_sides(scenario.at(sides=2), sides_grid(scenario), seed)
        if len(sides.places) > 1:
            title = f"sides m, at n = {many(scenario.n, 'throw')}, ε = {numeral(scenario.epsilon, 6)}"
            figure = sides_figure(sides.places, sides.curves, marked=scenario.sides, title=title)
            chart(figure, key="hellinger.sides", alt=_alt(title), simulates=True)
        more = more_sides(scenario)
        if more:
            st.markdown(more)
    with right:
        st.caption(
            f"Lines show medians, bands the middle half of releases. Laplace uses {SWEEP_DRAWS:,} simulated releases "
            f"per point. Enumeration covers dice of up to {MOST_ENUMERATED} tables. The throws are spread over the "
            "sides as chosen above. Laplace noise on one count applies only to a die of two sides."
        )
        study = HellingerStudy(scenario, seed, at_setting(scenario, laws), (throws, epsilons, sides))
        _numbers_and_files(study)


def _alt(title: str) -> str:
    return f"Median Hellinger error of every mechanism against {title}."


def more_sides(scenario: Scenario) -> str:
    """Return how many throws allow more sides than the picture along m shows; nothing if it shows all."""
    shown = sides_grid(scenario)[-1]
    if shown == SIDES.high:
        return ""
    first, *others = (f"{most_throws(m):,} for m = {m}" for m in range(shown + 1, int(SIDES.high) + 1))
    allowed = ", ".join([first, *others])
    if shown == 2:
        return (
            f"There is no picture against the number of sides m: with {scenario.n:,} throws, a die of more than two "
            f"sides has more than {MOST_SHOWN:,} possible posteriors. The picture needs fewer throws: up to {allowed}."
        )
    return (
        f"With {scenario.n:,} throws, the picture goes up to {shown} sides: dice of more sides have too many possible "
        f"posteriors. Fewer throws allow more sides: up to {allowed}."
    )


def _numbers_and_files(study: HellingerStudy) -> None:
    """Show the tidy frame of boxes and curves in a folded part, and offer it as CSV and Parquet with its settings."""
    results_and_files(
        study.frame,
        lambda frame: parquet_bytes(frame, study.settings),
        name="hellinger",
        caption="The last columns hold the settings: `python -m dpbayes.experiments hellinger --settings …`",
    )
