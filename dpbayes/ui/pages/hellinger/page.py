"""The Hellinger page: which mechanism is closest to the exact posterior of a die with hypothetical throws."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.libraries import pd
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import distinct_texts, many, numeral
from dpbayes.base.validation import InputError
from dpbayes.experiments.hellinger.errors import (
    DRAWS,
    EPSILONS,
    LEVELS,
    SWEEP_DRAWS,
    Accuracy,
    ErrorLaw,
    accuracy_against_epsilon,
    accuracy_against_sides,
    accuracy_against_throws,
    error_laws,
    mean_errors_over_tables,
    most_throws,
    sides_grid,
    throws_grid,
)
from dpbayes.experiments.hellinger.scenario import MOST_SHOWN, SIDES, Balance, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.hellinger.study import HellingerStudy, at_setting, noise_along, noise_here
from dpbayes.figures.hellinger import die_errors_figure, error_box_figure, sides_figure
from dpbayes.mechanisms.die.enumeration import MOST_ENUMERATED, neighbour_count
from dpbayes.ui.pages.hellinger.details import details, download, mechanism_table, promise
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import EPSILON, Facts, pictures_tell
from dpbayes.ui.widgets.limits import Possible, lowest, nearest
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.show import data_and_download, remark

NAMES = {
    DieMethod.GLOBAL: "the exponential mechanism with global sensitivity",
    DieMethod.SMOOTH: "the exponential mechanism with smooth sensitivity",
    DieMethod.ENUMERATED: "the exponential mechanism by enumeration",
    DieMethod.LOCAL: "the exponential mechanism with local sensitivity",
    DieMethod.CELLS: "Laplace noise on every count",
    DieMethod.ONE: "Laplace noise on one count",
}
TIE = 0.03
"""Medians closer than this, relative to the larger, are called equal; the error of simulated ones is about 0.02."""

FARTHEST = 1000
"""A factor above this is not shown: one of the errors is almost zero."""


def scenario_of(settings: Settings) -> Scenario:
    """Return what the settings describe."""
    options = settings.options("hellinger")
    own = {name: getattr(options, name) for name in parameters_of(Scenario) if hasattr(options, name)}
    return Scenario(epsilon=settings.parameter("epsilon"), **own)


FACTS: Facts = EPSILON | {"n": lambda chosen: f"{chosen.options('hellinger').n:,}"}


def hellinger_page(chosen: Chosen) -> None:
    """Show the errors first: they move with epsilon, and the rest is updated when the slider stops."""
    pictures_tell(FACTS)
    page = places()
    moving = page.first(_moving, chosen)
    possible = _possible(chosen)
    with page.controls:
        _controls(scenario_of(possible.settings), possible)
    if moving is None:
        return
    scenario, laws = moving
    with page.beside():
        st.markdown(comparison_sentence(_medians(laws), scenario))
        _table(scenario, laws, seed=chosen.seed)
    with st.container(key="below"):
        sweeps(scenario, laws, seed=chosen.seed)
        details(scenario, seed=chosen.seed, enumeration=enumeration_cost(scenario) if scenario.is_enumerated else "")


def _moving(page: Places, chosen: Chosen) -> tuple[Scenario, dict[DieMethod, ErrorLaw]]:
    """Show the errors; the scenario keeps its enumeration for the rest of the page."""
    possible = _possible(chosen)
    scenario, laws = _worked_out(scenario_of(possible.settings), chosen.seed)
    with page.picture:
        remark(possible.why)
        _errors(laws)
    page.lead("epsilon")
    page.say(verdict(_medians(laws)))
    return scenario, laws


def _medians(laws: Mapping[DieMethod, ErrorLaw]) -> dict[DieMethod, float]:
    return {method: float(law.quantiles()[0, LEVELS.index(0.5)]) for method, law in laws.items()}


def _possible(chosen: Chosen) -> Possible:
    giving = {"hellinger.n": lowest("hellinger.n")}
    return nearest(chosen.settings, giving, lambda settings: scenario_of(settings).die)


def ranked(medians: Mapping[DieMethod, float]) -> tuple[DieMethod, DieMethod, bool]:
    """Return the best mechanism with a proof, the best such of the other family, and whether they are called equal."""
    proved = {method: error for method, error in medians.items() if method is not DieMethod.LOCAL}
    best = min(proved, key=proved.__getitem__)
    rival = min((m for m in proved if m.is_laplace is not best.is_laplace), key=proved.__getitem__)
    return best, rival, proved[rival] - proved[best] <= TIE * proved[rival]


def verdict(medians: Mapping[DieMethod, float]) -> str:
    """Return which mechanism with a proof is closest, or that the best of both families are equally close."""
    best, rival, is_tie = ranked(medians)
    if is_tie:
        error = numeral(medians[best], 2)
        return (
            f"No clear difference between {NAMES[best]} and {NAMES[rival]}: the median Hellinger distance is {error}."
        )
    name, error = NAMES[best][0].upper() + NAMES[best][1:], distinct_texts(medians[best], medians[rival], most=2)[0]
    return f"{name} is closest to the exact posterior: the median Hellinger distance is {error}."


def comparison_sentence(medians: Mapping[DieMethod, float], scenario: Scenario) -> str:
    """Return the error of the other family's best mechanism, and what enumeration gains."""
    best, rival, is_tie = ranked(medians)
    family = "exponential mechanism" if best.is_laplace else "Laplace mechanism"
    sentences = []
    if not is_tie:
        _, more = distinct_texts(medians[best], medians[rival], most=2)
        sentences.append(f"The best {family} with a proof ({rival.value}) has a median distance of {more}.")
    if medians[best] > 0.5:
        sentences.append("Neither mechanism is close to the exact posterior.")
    if scenario.calibration is SmoothRun.AS_PRINTED and DieMethod.SMOOTH in (best, rival):
        sentences.append(f"For smooth sensitivity only {scenario.certified(DieMethod.SMOOTH)} is proved.")
    return " ".join([*sentences, enumeration_wins(scenario)]).strip()


def enumeration_wins(scenario: Scenario) -> str:
    """Return the factor by which enumeration cuts the smooth mechanism's error; "" if enumeration is not shown.

    The factor is of means over all tables: medians jump from one candidate to the next, and these counts are one table.
    """
    if DieMethod.ENUMERATED not in scenario.methods:
        return ""
    proved, enumerated = mean_errors_over_tables(scenario).values()
    if proved - enumerated <= TIE * proved:
        return "On average over all tables, enumeration does not cut the error of smooth sensitivity."
    if proved > FARTHEST * enumerated:
        return "On average over all tables, enumeration cuts the error of smooth sensitivity to almost zero."
    factor = numeral(proved / enumerated, 2)
    return f"On average over all tables, enumeration cuts the error of smooth sensitivity {factor}-fold."


def enumeration_cost(scenario: Scenario) -> str:
    """Return what the enumeration compared and found, or why there is none."""
    try:
        enumerated = scenario.enumerated
    except InputError as refused:
        return f"There is no proof by enumeration here. {refused}"
    die, inner = enumerated.die, enumerated.inner_epsilon
    before, after = distinct_texts(*mean_errors_over_tables(scenario).values(), most=2)
    return (
        f"Proof by enumeration: {many(die.size, 'table')} of {many(die.n, 'throw')}, {neighbour_count(die):,} ordered "
        f"pairs of neighbours and every output were compared. {enumerated.certified} holds at an internal ε of "
        f"{numeral(inner, 4)}; the proof for every die allows {numeral(scenario.smooth_run[0], 4)}. The mean error "
        f"over all tables is {after} instead of {before}. The result depends only on public numbers. At most "
        f"{MOST_ENUMERATED} tables are enumerated."
    )


def _controls(scenario: Scenario, possible: Possible) -> None:
    controls.parameter_control("hellinger.n", reach=possible.stops("hellinger.n"))
    for name in ("sides", "balance"):
        controls.parameter_control(f"hellinger.{name}")
    if scenario.balance is Balance.SHARE:
        controls.parameter_control("hellinger.share")
    controls.parameter_control("hellinger.calibration")
    with st.expander("Prior, delta and seed"):
        controls.parameter_control("hellinger.prior")
        controls.parameter_control("hellinger.delta")
        controls.text_field("Seed of the simulated noise", "seed", help=terms.SEED)


@st.cache_resource(scope="session", max_entries=16, show_spinner=False, hash_funcs={Scenario: hash})
def _worked_out(scenario: Scenario, seed: int) -> tuple[Scenario, dict[DieMethod, ErrorLaw]]:
    """Return the scenario with all that is enumerated for it, and its errors: the page runs again for much else."""
    return scenario, error_laws([scenario], noise_here(scenario, seed=seed))


def _errors(laws: Mapping[DieMethod, ErrorLaw]) -> None:
    """Show the errors as boxes."""
    quantiles = {method: law.quantiles()[0] for method, law in laws.items()}
    summary = "; ".join(f"{method.value} {numeral(q[LEVELS.index(0.5)])}" for method, q in quantiles.items())
    chart(
        error_box_figure({method.look: levels for method, levels in quantiles.items()}),
        key="hellinger.errors",
        simulates=True,
        alt=f"Boxes: Hellinger distance between exact and released posterior by mechanism. Medians: {summary}.",
    )


def _table(scenario: Scenario, laws: Mapping[DieMethod, ErrorLaw], *, seed: int) -> None:
    """Show the guarantee of each mechanism beside its error."""
    counts = " + ".join(f"{count:,}" for count in scenario.counts)
    st.caption(
        f"Boxes show the middle half of releases, whiskers 5% to 95%, for hypothetical throws {counts}. Exponential "
        f"mechanisms are computed exactly, Laplace from {DRAWS:,} simulated releases. Local sensitivity has no privacy "
        "guarantee and is not ranked."
    )
    frame = pd.DataFrame(
        {
            "mechanism": [method.value for method in laws],
            "stated": [promise(scenario.claimed(method)) for method in laws],
            "proved": [promise(scenario.certified(method)) for method in laws],
            "median error": [law.quantiles()[0, LEVELS.index(0.5)] for law in laws.values()],
            "95% of errors below": [law.quantiles()[0, LEVELS.index(0.95)] for law in laws.values()],
        }
    )
    mechanism_table(frame)
    levels = np.linspace(0.01, 0.99, 99)
    shares = {method.value: law.quantiles(levels)[0] for method, law in laws.items()}
    download({"probability": levels} | shares, scenario, seed=seed, name="hellinger-errors", simulates=True)


# Errors against n, epsilon and m, and the whole experiment as files


@session_cache(16, spinner="Comparing at every ε …", hashed={Scenario: hash})
def _against_epsilon(scenario: Scenario, seed: int) -> Accuracy:
    return accuracy_against_epsilon(scenario, EPSILONS, noise_along(seed=seed))


@session_cache(16, spinner="Comparing at every n …", hashed={Scenario: hash})
def _against_throws(scenario: Scenario, throws: tuple[int, ...], seed: int) -> Accuracy:
    return accuracy_against_throws(scenario, throws, noise_along(seed=seed))


@session_cache(16, spinner="Comparing at every m …", hashed={Scenario: hash})
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
    """Offer the tidy frame of boxes and curves, with the settings in its last columns."""
    data_and_download(study.frame, name="hellinger", curator_only=False, simulates=True)
