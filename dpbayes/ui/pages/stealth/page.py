"""The Stealth page: which increment keeps a Fourier release non-negative, and what it costs in invented records."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.estimates import Estimate
from dpbayes.base.text import done, escaped, many, numeral, plural, share_text
from dpbayes.figures.stealth import stealth_figure
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.fourier import INCREMENT
from dpbayes.mechanisms.stealth import Needed, Sense, are_enough
from dpbayes.model.fourier import require_binary
from dpbayes.sources.named_networks import NAMED
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.theory.zhang16.stealth import (
    certified_increment,
    certified_table_increment,
    printed_increment,
    printed_probability,
)
from dpbayes.ui.pages.stealth.details import agreement, details, records_text
from dpbayes.ui.pages.stealth.python import python_of
from dpbayes.ui.pages.stealth.simulations import NEAREST, Stealth, agreement_of, proved_probability, stealth_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.increments import is_simulated
from dpbayes.ui.session.options.stealth import StealthAim, StealthOptions
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import EPSILON, TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.from_python import same_from_python
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.running import Running, progress
from dpbayes.ui.widgets.show import data_and_download, numbers

KEEPS = {
    Sense.MARGINALS: "{share} releases non-negative",
    Sense.PARAMETERS: "every parameter positive in {share} releases",
    Sense.TABLE: "the whole table, with all counts zero, non-negative in {share} releases",
}


FACTS: Facts = EPSILON | TABLE | N


def stealth_page(chosen: Chosen) -> bool:
    """Show the picture first: it moves with t or its target, all else follows when the hand rests."""
    pictures_tell(FACTS)
    require_binary(chosen.network)
    page, options = places(), chosen.options("stealth")
    shown = page.first(_moving, chosen)
    if shown is None:
        return False
    stealth, increment = shown
    works: dict[str, Running[Any]] = dict(zip(("noise", "real counts"), stealth.works, strict=False))
    view = None
    if increment is not None:
        asked = st.session_state.get("stealth.shared")
        view = agreement_of(stealth, increment.t, records=chosen.n, seed=chosen.seed, asked=asked)
        works["made-up table"] = view.work
    with page.picture:
        _progress(works)
    with page.controls:
        _controls(increment.t if increment is not None else None)
    if increment is not None and view is not None:
        with page.picture:
            _numbers(stealth, options, increment)
        agreement(stealth.network, view)
        details(stealth, options.sense, increment.t, seed=chosen.seed)
        same_from_python(python_of(stealth, options, increment.t, is_proved=increment.is_proved), name="stealth")
    return any(work.going for work in works.values())


def _moving(page: Places, chosen: Chosen) -> "tuple[Stealth, Increment | None]":
    options, stealth = chosen.options("stealth"), stealth_of(chosen)
    increment = increment_for(stealth, options)
    with page.picture:
        _picture(stealth, options.sense, increment.t if increment is not None else None)
    page.lead("stealth.target" if options.aim is StealthAim.TARGET else "stealth.t")
    if increment is not None:
        page.say(verdict(stealth, options, increment, name=_name(chosen.settings)))
    return stealth, increment


def _progress(works: Mapping[str, Running[Any]]) -> None:
    """Show how far the first of the works is that takes long, by what is released."""
    long = next((name for name, work in works.items() if work.is_long), None)
    if long is not None:
        part, of = works[long].share, "" if long == "noise" else f" of the {long}"
        what = f"{done(part)} of the simulated releases{of}"
        progress(works[long], what, key="stealth.stop", along=tuple(works.values()))


@dataclass(frozen=True)
class Increment:
    """The t at hand, and whether it is proved to do what is asked or known from the simulation."""

    t: float
    is_proved: bool


def increment_for(stealth: Stealth, options: StealthOptions) -> Increment | None:
    """Return t as given, or as found for the target: by simulation, by proof where that says nothing of the target.

    None while the draws are too few and enough are still to come. Next to 1 it is the largest that is proved.
    """
    worst, target = stealth.worst.get(options.sense), options.target
    if options.aim is StealthAim.INCREMENT:
        return Increment(float(options.t), is_proved=worst is None)
    is_known = options.sense is Sense.MARGINALS and not is_simulated(stealth.network)
    if worst is not None and not is_known and are_enough(len(worst.increments), target):
        return Increment(_rounded(worst.increment(target)), is_proved=False)
    if worst is not None and not is_known and stealth.works[0].going and are_enough(stealth.draws, target):
        return None
    proved = certified_table_increment if options.sense is Sense.TABLE else certified_increment
    t = proved(stealth.network, min(target, NEAREST), noise=stealth.noise)
    # Up to three digits: what the sentence shows is proved, too.
    return Increment(_rounded(t, 2 - math.floor(math.log10(t))) if t > 0 else 0.0, is_proved=True)


def _rounded(t: float, digits: int = 4) -> float:
    """Return t rounded up: a larger one suffices as well."""
    return math.ceil(t * 10.0**digits) / 10.0**digits


def verdict(stealth: Stealth, options: StealthOptions, increment: Increment, *, name: str) -> str:
    """Return what this t does, and what the paper’s formula says of it."""
    t = increment.t
    verb, keeps = "is proved to keep" if increment.is_proved else "keeps", KEEPS[options.sense]
    if options.aim is StealthAim.TARGET:
        if options.target > NEAREST:
            return _certainty(f"On {name}", t, keeps, target=options.target)
        kept = "nine of ten" if options.target == 0.9 else f"{numeral(100 * options.target, 12)}% of"
        printed = float(printed_increment(options.target))
        asked = _asked(stealth, printed, t)
        return f"On {name}, t = {numeral(t)} {verb} {keeps.format(share=kept)}; the paper’s formula asks for {asked}"
    promised = min(float(printed_probability(t)), NEAREST)
    if options.sense in stealth.worst:
        seen = stealth.worst[options.sense].estimate(t)
        kept = simulated_share(seen, len(stealth.worst[options.sense].increments))
        false = seen.value + 4 * seen.error < promised
    else:
        proved = max(float(proved_probability(stealth.network, stealth.noise, options.sense, np.array(t))), 0.0)
        least = share_text(min(proved, NEAREST)) if proved > 0.999 else f"at least {numeral(100 * proved)}%"
        kept, false = f"{least} of", False
    return (
        f"On {name}, t = {numeral(t)} {verb} {keeps.format(share=kept)}; the paper’s formula promises "
        f"{share_text(promised)}{', which is too much' if false else ''}. "
        f"It invents {_records_of(t * stealth.records)} in every table."
    )


def _certainty(start: str, t: float, keeps: str, *, target: float) -> str:
    """Return what is true of a probability of 1, or one so near to it that nothing is proved."""
    most = f"t = {numeral(t)} is proved to keep {keeps.format(share='all but one in 10¹²')}"
    if target < 1:
        return f"{start}, {most}; nearer to 1 nothing is proved."
    return (
        f"{start}, no finite t keeps {keeps.format(share='all')}, for Laplace noise has no bound; {most}. "
        "The paper’s formula asks for an infinite t too."
    )


def simulated_share(kept: Estimate, draws: int) -> str:
    """Return a share of simulated releases with its standard error; all and none in so many words."""
    if kept.value in (0, 1):
        return f"{'all' if kept.value else 'none of'} {draws:,} simulated"
    return f"{kept.times(100)}% of simulated"


def _asked(stealth: Stealth, printed: float, t: float) -> str:
    """Return what the formula asks for, beside t: at the noise in use, and at the paper’s own."""
    if t <= 0:
        return f"t = {numeral(printed, 2)}, where none is needed."
    ratio = printed / t
    times = numeral(ratio) if ratio >= 100 else numeral(ratio, 2)
    is_printed = stealth.mechanism.calibration is Calibration.AS_PRINTED
    own = "" if is_printed else f"; {records_text(printed * stealth.printed_records)} at the noise as printed"
    return (
        f"t = {numeral(printed, 2)}, {times} times as many invented records"
        f"{'' if is_printed else ' at the same noise'} ({records_text(printed * stealth.records)} instead of "
        f"{records_text(t * stealth.records)} in every table{own})."
    )


def _records_of(number: float) -> str:
    return plural(records_text(number), "record")


def _name(settings: Settings) -> str:
    """Return what to call the network."""
    if key := settings.graph if settings.graph in NAMED else settings.published:
        return NAMED[key].title
    if not settings.graph and settings.data in SHIPPED:
        return f"the network of {escaped(SHIPPED[settings.data].title)}"
    return "this network"


def _controls(t: float | None) -> None:
    controls.parameter_control("stealth.aim")
    controls.parameter_control("stealth.sense")
    controls.parameter_control("epsilon")
    controls.parameter_control("calibration")
    controls.parameter_control("noise")
    if t is not None and t <= INCREMENT.high:
        st.button(
            f"Use t = {numeral(t, 4)} on the Explore page",
            on_click=set_parameter,
            args=("t", t),
            help="There it becomes the stealth increment of the Fourier mechanism.",
        )


def _picture(stealth: Stealth, sense: Sense, t: float | None) -> None:
    """Show the probabilities against t, and the t at hand."""
    simulated = {each.look: needed.probability(stealth.grid) for each, needed in stealth.worst.items()}
    bounds = {"the paper’s 1 − exp(−t)": printed_probability(stealth.grid), "proved, at least": stealth.proved}
    real = stealth.real.probability(stealth.grid) if stealth.real is not None else None
    chosen = None
    if t is not None:
        worst = stealth.worst.get(sense)
        proved = float(proved_probability(stealth.network, stealth.noise, sense, np.array(t)))
        chosen = (t, worst.estimate(t) if worst else Estimate(max(proved, 0.0), 0.0), sense.look.colour)
    chart(
        stealth_figure(stealth.grid, simulated, bounds, real, chosen=chosen, records=stealth.records),
        key="stealth.probability",
        simulates=True,
        alt="Probability that a Fourier release is non-negative against the increment t: as printed, as proved, and "
        f"as simulated in {len(simulated)} senses."
        + (f" At t = {numeral(chosen[0])} it is {chosen[1]}." if chosen is not None else ""),
    )


def _numbers(stealth: Stealth, options: StealthOptions, increment: Increment) -> None:
    """Show the numbers at this t, and offer the curves."""
    draws, sense, t = len(stealth.worst[Sense.MARGINALS].increments), options.sense, increment.t
    aside = (
        ""
        if Sense.TABLE in stealth.worst
        else (" The whole table of this graph is too large to simulate: for it only the proved bound is shown.")
    )
    st.caption(
        f"Simulated: the noise of {many(draws, 'release')}, with all counts zero. Real counts can only help "
        "released tables and parameters, so this holds for every n and data: it is public, and costs no privacy. Not "
        "so for the whole table rebuilt from few coefficients, which real counts can make negative. "
        f"Dotted: proved for {sense.value}.{aside}{_known_from(stealth, options, increment)}"
    )
    records = []
    for each in Sense:
        worst = stealth.worst.get(each)
        proved = float(proved_probability(stealth.network, stealth.noise, each, np.array(t)))
        records.append(
            {
                "what is non-negative": each.value,
                "simulated": float(worst.probability(t)) if worst else math.nan,
                "standard error": float(worst.standard_error(t)) if worst else math.nan,
                "proved, at least": max(proved, 0.0),
                "printed": float(printed_probability(t)),
            }
        )
    numbers(pd.DataFrame.from_records(records))
    if stealth.real is not None:
        draws = len(stealth.real.increments)
        kept = simulated_share(stealth.real.estimate(t), draws)
        about = f"{draws:,} draws, ± is the standard error; " if "±" in kept else ""
        st.caption(
            f"With the real counts, {kept} releases are non-negative ({about}{sense.value}). Curator only: not private."
        )
    elif stealth.refused:
        st.caption(f"The real counts are not shown: {escaped(stealth.refused)}")
    data_and_download(
        lambda: _curves(stealth, sense), name="stealth", curator_only=stealth.real is not None, simulates=True
    )


def _known_from(stealth: Stealth, options: StealthOptions, increment: Increment) -> str:
    """Return where a t found for a target comes from, and how far it may be off."""
    if options.aim is StealthAim.INCREMENT:
        return ""
    if not increment.is_proved:
        return " t is the upper limit of what the draws say: too small with probability 0.1% at most."
    if options.sense is Sense.MARGINALS and not is_simulated(stealth.network):
        return " t is proved by a formula, which for tables of this size is as good as a simulation."
    if options.sense in stealth.worst:
        return " They are too few for this probability: t is the one proved for it."
    return ""


def _curves(stealth: Stealth, sense: Sense) -> pd.DataFrame:
    columns = {"t": stealth.grid, "invented records": stealth.grid * stealth.records}
    for each, needed in stealth.worst.items():
        columns |= _with_errors(f"simulated: {each.value}", needed, stealth.grid)
    columns |= {f"proved: {sense.value}": stealth.proved, "printed": printed_probability(stealth.grid)}
    if stealth.real is not None:
        columns |= _with_errors("with the real counts", stealth.real, stealth.grid)
    return pd.DataFrame(columns)


def _with_errors(name: str, needed: Needed, t: np.ndarray) -> dict[str, np.ndarray]:
    return {name: needed.probability(t), f"standard error: {name}": needed.standard_error(t)}
