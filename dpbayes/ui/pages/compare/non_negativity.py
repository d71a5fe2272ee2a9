"""How large t must be for a Fourier release without negative numbers, and what that costs in added counts."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.estimates import Estimate
from dpbayes.base.libraries import pd
from dpbayes.base.looks import BOUND, Curve, Look
from dpbayes.base.references import Reference
from dpbayes.base.text import done, latex, many, numeral, plural, share_text
from dpbayes.base.types import FloatArray
from dpbayes.figures.non_negativity import non_negativity_figure
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.fourier import INCREMENT
from dpbayes.mechanisms.stealth import Needed, Sense, are_enough
from dpbayes.model.fourier import require_binary
from dpbayes.theory.zhang16.stealth import (
    certified_increment,
    certified_table_increment,
    printed_increment,
    printed_probability,
)
from dpbayes.ui.pages.explore.non_negativity import NonNegativity, non_negativity_of, proved_probability, records_text
from dpbayes.ui.pages.proofs.claims import turn_to_bound
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.increments import is_simulated
from dpbayes.ui.session.options.research import BoundClaim, StealthAim, StealthOptions
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.frames import Frames, counts_of
from dpbayes.ui.widgets.from_python import (
    FACE,
    STREAM,
    mechanism_in_python,
    network_in_python,
    program,
    same_from_python,
    value_in_python,
)
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.running import Running, progress
from dpbayes.ui.widgets.show import data_and_download, numbers, source

NEAREST = 1 - 1e-12
"""The largest probability that a t is proved for."""

KEPT = {
    Sense.MARGINALS: "no negative count",
    Sense.PARAMETERS: "no negative parameter",
    Sense.TABLE: "no negative cell in the whole table",
}
"""What a release has that is non-negative in a sense."""

CLAIM, LEAST_T = "COROLLARY_3", 1e-3
"""The exhibit of the paper's formula, and the least t that it is evaluated at."""

THEORY = "dpbayes.theory.zhang16.stealth"


def non_negativity_view(page: Places, chosen: Chosen) -> bool:
    """Show the picture first: it moves with t or its target, and all else is updated when the slider stops."""
    require_binary(chosen.network)
    options = chosen.options("stealth")
    shown = page.first(_moving, chosen, frames=Frames(_main_number(chosen), counts_of))
    if shown is None:
        return False
    simulated, increment = shown
    with page.picture:
        _progress(simulated.work)
    with page.controls:
        _controls(increment)
    if increment is not None:
        with page.beside():
            _numbers(simulated, options, increment)
        with st.container(key="below"):
            _costs_of_trying_again(simulated.mechanism.epsilon)
            _claim(increment.t)
        same_from_python(python_of(simulated, options, increment), name="non-negativity")
    return simulated.work.going


def _moving(page: Places, chosen: Chosen) -> "tuple[NonNegativity, Increment | None]":
    options, simulated = chosen.options("stealth"), non_negativity_of(chosen)
    increment = chosen_increment(simulated, options)
    with page.picture:
        _picture(simulated, options.sense, increment)
    page.lead(_main_number(chosen))
    if increment is not None:
        page.say(verdict(simulated, options, increment))
    return simulated, increment


def _main_number(chosen: Chosen) -> str:
    return "stealth.target" if chosen.options("stealth").aim is StealthAim.TARGET else "stealth.t"


def _progress(work: Running[Any]) -> None:
    if work.is_long:
        progress(work, f"{done(work.share)} of the simulated releases", key="stealth.stop")


@dataclass(frozen=True)
class Increment:
    """The present t, and whether it is proved to reach the target or is simulated."""

    t: float
    is_proved: bool


def chosen_increment(simulated: NonNegativity, options: StealthOptions) -> Increment | None:
    """Return t as given, or for the target: by simulation, by proof where the simulation is too small for the target.

    None while more draws are to come that will be enough. Next to 1 it is the largest that is proved.
    """
    worst, target = simulated.worst.get(options.sense), options.target
    if options.aim is StealthAim.INCREMENT:
        return Increment(float(options.t), is_proved=worst is None)
    is_proved = options.sense is Sense.MARGINALS and not is_simulated(simulated.network)
    if worst is not None and not is_proved and are_enough(len(worst.increments), target):
        return Increment(_rounded(worst.increment(target)), is_proved=False)
    if worst is not None and not is_proved and simulated.work.going and are_enough(simulated.draws, target):
        return None
    proved = certified_table_increment if options.sense is Sense.TABLE else certified_increment
    t = proved(simulated.network, min(target, NEAREST), noise=simulated.noise)
    # Up to three digits: what the sentence shows is proved, too.
    return Increment(_rounded(t, 2 - math.floor(math.log10(t))) if t > 0 else 0.0, is_proved=True)


def _rounded(t: float, digits: int = 4) -> float:
    """Return t rounded up: a larger one suffices as well."""
    return math.ceil(t * 10.0**digits) / 10.0**digits


def verdict(simulated: NonNegativity, options: StealthOptions, increment: Increment) -> str:
    """Return what share of releases is non-negative at this t."""
    start, kept = f"With t = {numeral(increment.t)}", KEPT[options.sense]
    if options.aim is StealthAim.TARGET:
        if options.target == 1:
            lacking = kept.removeprefix("no ")
            return f"For every finite t, a release can have a {lacking}, because Laplace noise is unbounded."
        share = "1 − 10⁻¹²" if options.target > NEAREST else f"{numeral(100 * options.target, 12)}%"
        if increment.is_proved:
            return f"{start}, at least {share} of Fourier releases have {kept} (proved)."
        return f"{start}, {share} of Fourier releases have {kept}."
    if options.sense in simulated.worst:
        worst = simulated.worst[options.sense]
        return f"{start}, {simulated_share(worst.estimate(increment.t), len(worst.increments))} releases have {kept}."
    at = np.array(increment.t)
    proved = max(float(proved_probability(simulated.network, simulated.noise, options.sense, at)), 0.0)
    return f"{start}, at least {share_text(min(proved, NEAREST))} of Fourier releases have {kept} (proved)."


def simulated_share(kept: Estimate, draws: int) -> str:
    """Return a share of simulated releases with its standard error; the words "all" and "none" for 1 and 0."""
    if kept.value in (0, 1):
        return f"{'all' if kept.value else 'none of'} {draws:,} simulated"
    return f"{kept.times(100)}% of simulated"


def _controls(increment: Increment | None) -> None:
    for name in ("stealth.aim", "stealth.sense", "epsilon", "calibration", "noise"):
        controls.parameter_control(name)
    if increment is not None and increment.t <= INCREMENT.high:
        st.button(
            f"Use t = {numeral(increment.t, 4)} on Explore",
            on_click=set_parameter,
            args=("t", increment.t),
            help="Sets the non-negativity increment of the Fourier mechanism.",
        )


def _picture(simulated: NonNegativity, sense: Sense, increment: Increment | None) -> None:
    """Show the probabilities against t, and the present t."""
    proved, worst = simulated.proved(sense), simulated.worst.get(sense)
    bound = Curve(Look("proved, at least", BOUND, "dot", width=2), simulated.grid, proved, np.full(len(proved), np.nan))
    curves = [] if worst is None else [simulated.simulated(sense, "simulated, all counts zero")]
    curves += [bound, simulated.stated]
    marked = None
    if increment is not None:
        at_least = float(proved_probability(simulated.network, simulated.noise, sense, np.array(increment.t)))
        marked = (increment.t, worst.estimate(increment.t) if worst else Estimate(max(at_least, 0.0), 0.0))
    chart(
        non_negativity_figure(curves, t=simulated.grid, marked=marked, counts=simulated.counts),
        key="compare.non_negativity",
        simulates=True,
        alt=f"Probability that a Fourier release has {KEPT[sense]} against t: simulated, as proved and as stated."
        + (f" At t = {numeral(marked[0])} it is {marked[1]}." if marked is not None else ""),
    )


def _numbers(simulated: NonNegativity, options: StealthOptions, increment: Increment) -> None:
    """Show the cost in added counts, and the numbers at this t by what has to be non-negative."""
    draws, sense, t = len(simulated.worst[Sense.MARGINALS].increments), options.sense, increment.t
    _cost(simulated, options, t)
    records = []
    for numbers_sense in Sense:
        worst = simulated.worst.get(numbers_sense)
        proved = float(proved_probability(simulated.network, simulated.noise, numbers_sense, np.array(t)))
        records.append(
            {
                "non-negative quantity": numbers_sense.value,
                "simulated": float(worst.probability(t)) if worst else math.nan,
                "standard error": float(worst.standard_error(t)) if worst else math.nan,
                "proved, at least": max(proved, 0.0),
                "stated": float(printed_probability(t)),
            }
        )
    numbers(pd.DataFrame.from_records(records))
    aside = (
        ""
        if Sense.TABLE in simulated.worst
        else " The whole table of this graph is too large to simulate; its proved bound is shown."
    )
    st.caption(
        f"Simulated: the noise of {many(draws, 'release')} with all counts zero. For released tables and parameters, "
        "true counts can only raise the probability. These numbers are therefore public lower bounds for all data. For "
        f"the whole table, true counts can lower the probability.{aside}{_source_of_t(simulated, options, increment)} "
        "Explore draws the probability with the true counts for the curator."
    )
    data_and_download(lambda: _curves(simulated, sense), name="non-negativity", curator_only=False, simulates=True)


def _cost(simulated: NonNegativity, options: StealthOptions, t: float) -> None:
    """State what t adds to every table, and what the paper's formula would add for the same target."""
    st.markdown(f"**The increment t adds {plural(records_text(t * simulated.counts), 'count')} to every table.**")
    if options.aim is StealthAim.INCREMENT:
        promised = min(float(printed_probability(t)), NEAREST)
        worst = simulated.worst.get(options.sense)
        is_false = worst is not None and (kept := worst.estimate(t)).value + 4 * kept.error < promised
        aside = ", which is false here" if is_false else ""
        st.caption(f"For this t the paper states {share_text(promised)}{aside}.")
    elif options.target < 1:
        stated = float(printed_increment(options.target))
        own = (
            ""
            if simulated.mechanism.calibration is Calibration.AS_PRINTED
            else f" ({records_text(stated * simulated.printed_counts)} with the noise as stated in the paper)"
        )
        st.caption(
            f"The paper’s formula needs t = {numeral(stated, 2)}, which adds "
            f"{records_text(stated * simulated.counts)} counts to every table{own}."
        )
    else:
        st.caption(
            "The paper’s formula also needs an infinite t. The t shown here is proved for a probability of 1 − 10⁻¹²."
        )


def _source_of_t(simulated: NonNegativity, options: StealthOptions, increment: Increment) -> str:
    """Return where a t for a target comes from, and how far it may be off."""
    if options.aim is StealthAim.INCREMENT:
        return ""
    if not increment.is_proved:
        return " t is an upper confidence limit: t is too small with probability at most 0.1%."
    if options.sense is Sense.MARGINALS and not is_simulated(simulated.network):
        return (
            " A formula proves that this t is large enough. For tables of this size the formula is as accurate as a "
            "simulation."
        )
    if options.sense in simulated.worst:
        return " The simulation is too small for this probability, so a formula proves that t is large enough."
    return ""


def _curves(simulated: NonNegativity, sense: Sense) -> "pd.DataFrame":
    columns: dict[str, FloatArray] = {"t": simulated.grid, "added counts": simulated.grid * simulated.counts}
    for curve_sense, needed in simulated.worst.items():
        columns |= _with_errors(f"simulated: {curve_sense.value}", needed, simulated.grid)
    columns |= {f"proved: {sense.value}": simulated.proved(sense), "stated": printed_probability(simulated.grid)}
    return pd.DataFrame(columns)


def _with_errors(name: str, needed: Needed, t: FloatArray) -> dict[str, FloatArray]:
    return {name: needed.probability(t), f"standard error: {name}": needed.standard_error(t)}


def _claim(t: float) -> None:
    """Lead to the claim that this is about: its formula, assumptions and counterexamples, on this network and at t."""
    if st.button("Corollary 3: formula and counterexamples", icon=":material/arrow_forward:"):
        set_parameter("bounds.t", max(t, LEAST_T))
        turn_to_bound(BoundClaim[CLAIM])
    source(Reference("Zhang16", "Section 3.2, Algorithm 2, Corollaries 2 and 3, Theorem 3"))


def _costs_of_trying_again(epsilon: float) -> None:
    with st.expander("Cost of repeated runs"):
        st.markdown(
            f"The paper charges $\\varepsilon$ for every run: ten runs cost {numeral(10 * epsilon, 6)}. Releasing "
            f"only the first non-negative run costs $2\\varepsilon = {latex(2 * epsilon, 6)}$, for any number of "
            "runs: $P(A \\mid S) = P(A \\cap S)/P(S)$, and both probabilities change by a factor of at most "
            "$e^\\varepsilon$. This bound holds if the number of runs is kept secret, and if runs continue until one "
            "is non-negative. The paper’s Figure 1 plots the successful runs and states only $\\varepsilon$ for them."
        )


# The same from Python


def python_of(simulated: NonNegativity, options: StealthOptions, increment: Increment) -> str:
    """Return the code that prints the present t, simulated or proved, or the share of releases for a given t."""
    t = increment.t
    if increment.is_proved:
        return _proved_in_python(simulated, options, t)
    smallest = f"needed.increment({options.target!r})"
    last = _rounded_up(smallest, 4) if options.aim is StealthAim.TARGET else f"needed.probability({t!r})"
    law = "law=mechanism.noise_law.drawn_once"
    return program(
        FACE,
        STREAM,
        "from dpbayes.mechanisms.stealth import Sense, UnitNoise, simulate_for_counts",
        "import math" if options.aim is StealthAim.TARGET else "",
        network_in_python(simulated.network),
        mechanism_in_python(simulated.mechanism),
        'rng = stream(0, "stealth")',
        f"noise = UnitNoise.draw(network, mechanism.calibration, rng, draws={simulated.draws!r}, {law})",
        f"needed = simulate_for_counts(Sense.{options.sense.name}, noise, mechanism)",
        f"print({last})",
    )


def _proved_in_python(simulated: NonNegativity, options: StealthOptions, t: float) -> str:
    is_table = options.sense is Sense.TABLE
    parts = [FACE, network_in_python(simulated.network), value_in_python("noise", simulated.noise)]
    if options.aim is StealthAim.TARGET:
        proved = "certified_table_increment" if is_table else "certified_increment"
        target = min(options.target, NEAREST)
        last = _rounded_up(f"{proved}(network, {target!r}, noise=noise)", 2 - math.floor(math.log10(t)) if t else 0)
        parts.append("import math")
    else:
        proved = "negative_table_probability" if is_table else "negative_marginal_probability"
        last = f"1 - {proved}(network, noise=noise, t={t!r})"
    return program(*parts, f"from {THEORY} import {proved}", f"print({last})")


def _rounded_up(number: str, digits: int) -> str:
    """Return the code that rounds a number up as the page does: a larger t is enough as well."""
    return f"math.ceil({number} * 10**{digits}) / 10**{digits}"
