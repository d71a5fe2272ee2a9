"""The Hellinger page: who is nearest to the exact posterior of a die. Its throws are made up: both seats see it all."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import apart, many, numeral
from dpbayes.base.validation import InputError
from dpbayes.experiments.hellinger.errors import DRAWS, LEVELS, ErrorLaw, error_laws, mean_errors_over_tables
from dpbayes.experiments.hellinger.scenario import Balance, DieMethod, Scenario, SmoothRun
from dpbayes.experiments.hellinger.study import noise_here
from dpbayes.figures.hellinger import error_box_figure
from dpbayes.mechanisms.die.enumeration import MOST_ENUMERATED, neighbour_count
from dpbayes.ui.pages.hellinger.details import details, download, mechanism_table, pictures, promise
from dpbayes.ui.pages.hellinger.sweeps import sweeps
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import EPSILON, Facts, pictures_tell
from dpbayes.ui.widgets.limits import Possible, lowest, nearest
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.show import remark

NAMES = {
    DieMethod.GLOBAL: "the exponential mechanism with global sensitivity",
    DieMethod.SMOOTH: "the exponential mechanism with smooth sensitivity",
    DieMethod.ENUMERATED: "the exponential mechanism certified by enumeration",
    DieMethod.LOCAL: "the exponential mechanism with local sensitivity",
    DieMethod.CELLS: "Laplace noise on every count",
    DieMethod.ONE: "Laplace noise on one count",
}
TIE = 0.03
"""Medians closer than this, relative to the larger, are called equal; simulated ones are known to about 0.02."""

FARTHEST = 1000
"""A factor above this says nothing: one of the errors is next to zero."""


def scenario_of(settings: Settings) -> Scenario:
    """Return what the settings describe."""
    options = settings.options("hellinger")
    own = {name: getattr(options, name) for name in parameters_of(Scenario) if hasattr(options, name)}
    return Scenario(epsilon=settings.parameter("epsilon"), **own)


FACTS: Facts = EPSILON | {"n": lambda chosen: f"{chosen.options('hellinger').n:,}"}


def hellinger_page(chosen: Chosen) -> None:
    """Show the errors first: they move with epsilon, all else follows when the hand rests."""
    pictures_tell(FACTS)
    page = places()
    moving = page.first(_moving, chosen)
    possible = _possible(chosen)
    with page.controls:
        _controls(scenario_of(possible.settings), possible)
    if moving is None:
        return
    scenario, laws = moving
    noise = noise_here(scenario, seed=chosen.seed)
    with page.picture:
        _table(scenario, laws, seed=chosen.seed)
        if won := enumeration_wins(scenario):  # not in the headline, which would take another line at some epsilons
            st.markdown(won)
    with st.container(key="below"):
        pictures(chosen, scenario, laws, noise)
        sweeps(scenario, laws, seed=chosen.seed)
        details(scenario, seed=chosen.seed)


def _moving(page: Places, chosen: Chosen) -> tuple[Scenario, dict[DieMethod, ErrorLaw]]:
    """Show the errors; the scenario goes on to the rest of the page with what was enumerated for it."""
    possible = _possible(chosen)
    scenario, laws = _worked_out(scenario_of(possible.settings), chosen.seed)
    with page.picture:
        remark(possible.why)
        _errors(laws)
    page.lead("epsilon")
    medians = {method: float(law.quantiles()[0, LEVELS.index(0.5)]) for method, law in laws.items()}
    page.say(verdict(medians, scenario))
    return scenario, laws


def _possible(chosen: Chosen) -> Possible:
    giving = {"hellinger.n": lowest("hellinger.n")}
    return nearest(chosen.settings, giving, lambda settings: scenario_of(settings).die)


def ranked(medians: Mapping[DieMethod, float]) -> tuple[DieMethod, DieMethod, bool]:
    """Return the best mechanism with a proof, the best such of the other family, and whether they are called equal."""
    proved = {method: error for method, error in medians.items() if method is not DieMethod.LOCAL}
    best = min(proved, key=proved.__getitem__)
    rival = min((m for m in proved if m.is_laplace is not best.is_laplace), key=proved.__getitem__)
    return best, rival, proved[rival] - proved[best] <= TIE * proved[rival]


def verdict(medians: Mapping[DieMethod, float], scenario: Scenario) -> str:
    """Return who wins among the mechanisms with a proof: the best of them, beside the best of the other family."""
    best, rival, is_tie = ranked(medians)
    throws = many(scenario.n, "throw")
    errors = medians[best], medians[rival]
    less, more = (numeral(error, 2) for error in errors) if is_tie else apart(*errors, most=2)
    text = (
        f"At ε = {numeral(scenario.epsilon, 6)} and {throws}, {NAMES[best]} misses the exact posterior by "
        f"{less} (Hellinger distance, median), {NAMES[rival]} by {more}: "
    )
    if is_tie:
        text += "neither wins"
    else:
        text += "Laplace wins" if best.is_laplace else "the exponential mechanism wins"
    if medians[best] > 0.5:
        text += ", and neither is close"
    if scenario.calibration is SmoothRun.AS_PRINTED and DieMethod.SMOOTH in (best, rival):
        text += f". But of the smooth one only {scenario.certified(DieMethod.SMOOTH)} is proved"
    return text + "."


def enumeration_wins(scenario: Scenario) -> str:
    """Return how much nearer the smooth mechanism is once certified by enumeration; nothing where it is not shown.

    The factor is of means over all tables: medians jump from one candidate to the next, and these counts are one table.
    """
    if DieMethod.ENUMERATED not in scenario.methods:
        return ""
    proved, enumerated = mean_errors_over_tables(scenario).values()
    if proved - enumerated <= TIE * proved:
        return "Enumeration brings the smooth one no nearer."
    if proved > FARTHEST * enumerated:
        return "Enumeration brings the smooth one next to the exact posterior."
    return f"Enumeration brings the smooth one {numeral(proved / enumerated, 2)} times as near."


def enumeration_cost(scenario: Scenario) -> str:
    """Return what the enumeration went through and found, or why there is none."""
    try:
        enumerated = scenario.enumerated
    except InputError as refused:
        return f"Not certified by enumeration. {refused}"
    die, inner = enumerated.die, enumerated.inner_epsilon
    before, after = apart(*mean_errors_over_tables(scenario).values(), most=2)
    tables = many(die.size, "table")
    return (
        f"Certified by enumeration: all {tables} of {many(die.n, 'throw')}, their {neighbour_count(die):,} ordered "
        f"pairs of neighbours and every output keep {enumerated.certified} at an internal ε of "
        f"{numeral(inner, 4)}; proved for every die is {numeral(scenario.smooth_run[0], 4)}. Only public numbers "
        f"decide it. At most {MOST_ENUMERATED} tables are enumerated. Mean error over all tables: "
        f"{after} instead of {before}."
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
    """Say what is promised beside what it costs."""
    counts = " + ".join(f"{count:,}" for count in scenario.counts)
    st.caption(
        f"Boxes: the middle half of releases; whiskers: 5% to 95%. Hypothetical throws {counts}. Exponential "
        f"mechanisms: exact; Laplace: {DRAWS:,} simulated releases. The local one has no guarantee: it is not ranked."
    )
    if scenario.is_enumerated:
        st.caption(enumeration_cost(scenario))
    frame = pd.DataFrame(
        {
            "mechanism": [method.value for method in laws],
            "claimed": [promise(scenario.claimed(method)) for method in laws],
            "proved": [promise(scenario.certified(method)) for method in laws],
            "median error": [law.quantiles()[0, LEVELS.index(0.5)] for law in laws.values()],
            "95% below": [law.quantiles()[0, LEVELS.index(0.95)] for law in laws.values()],
        }
    )
    mechanism_table(frame)
    levels = np.linspace(0.01, 0.99, 99)
    shares = {method.value: law.quantiles(levels)[0] for method, law in laws.items()}
    download({"probability": levels} | shares, scenario, seed=seed, name="hellinger-errors", simulates=True)
