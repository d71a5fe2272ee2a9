"""The Stealth page: which increment keeps a Fourier release non-negative, and what it costs in invented records."""

import math
import time

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.bounds.stealth import certified_table_increment, printed_increment, printed_probability
from dpbayes.experiments.stealth import Sense
from dpbayes.figures.stealth import stealth_figure
from dpbayes.fourier import require_binary
from dpbayes.mechanisms.fourier import INCREMENT
from dpbayes.networks import NAMED
from dpbayes.shipped import SHIPPED
from dpbayes.ui import controls
from dpbayes.ui.options import StealthAim
from dpbayes.ui.running import progress, run_again
from dpbayes.ui.settings import Settings, current, set_parameter, write_link
from dpbayes.ui.show import chart, data_and_download, escaped, headline, refusal, short
from dpbayes.ui.stealth_details import agreement, details
from dpbayes.ui.stealth_work import Stealth, proved_probability, stealth_of
from dpbayes.ui.work import dataset, network
from dpbayes.validation import InputError

PAINT = 0.03
"""Seconds for the browser to paint the first chart before the rest of the page competes for it."""

KEEPS = {
    Sense.MARGINALS: "{share} releases non-negative",
    Sense.PARAMETERS: "every parameter positive in {share} releases",
    Sense.TABLE: "the whole table, with all counts zero, non-negative in {share} releases",
}


def stealth_page() -> None:
    """Show the picture first, whatever its place on the page: it is what a moving slider waits for."""
    net = network(current())
    require_binary(net)
    place = st.container()
    left, right = st.columns([1, 2], gap="medium")
    found = stealth_of(current(), net)
    options = current().options("stealth")
    t, problem = None, None
    try:
        t = chosen_increment(found, current())
    except InputError as error:
        problem = error
    work = next((work for work in found.works if work.going), None)
    with right:
        _picture(found, options.sense, t)
        _progress(found)
    with left:
        _controls(t)
        if problem is not None and work is None:
            refusal(problem)
    if t is not None:
        with place:
            headline(verdict(found, current(), t, name=_name(current())))
        time.sleep(PAINT)
        with right:
            _numbers(found, options.sense, t)
        agreement(found, t, n=_records(current()))
        details(found, options.sense, t)
    if work is not None:
        write_link()
        run_again()


def _progress(found: Stealth) -> None:
    long = next((work for work in found.works if work.is_long), None)
    if long is not None:
        what = "simulated releases" if long is found.works[0] else "simulated releases of the real counts"
        progress(long, long.share, f"{100 * long.share:.0f} % of the {what}", key="stealth.stop", along=found.works)


def chosen_increment(found: Stealth, settings: Settings) -> float:
    """Return t as given, or as found for the target: by simulation, by proof where the graph is too large for that.

    Errors: InputError where there are too few draws for the target.
    """
    options = settings.options("stealth")
    if options.aim is StealthAim.INCREMENT:
        return float(options.t)
    if options.sense in found.worst:
        t = found.worst[options.sense].increment(options.target)
    else:
        t = certified_table_increment(found.network, options.target, noise=found.noise)
    return math.ceil(t * 1e4) / 1e4


def verdict(found: Stealth, settings: Settings, t: float, *, name: str) -> str:
    """Return what this t does, and what the paper's formula says of it."""
    options = settings.options("stealth")
    verb = "keeps" if options.sense in found.worst else "is proved to keep"
    if options.aim is StealthAim.TARGET:
        share = "nine of ten" if options.target == 0.9 else f"{share_text(options.target)} of"
        return (
            f"On {name}, t = {t:.3g} {verb} {KEEPS[options.sense].format(share=share)}; the paper’s formula asks for "
            + (_asked(float(printed_increment(options.target)), t, found.records))
        )
    promised = min(float(printed_probability(t)), 1 - 1e-12)
    if options.sense in found.worst:
        worst = found.worst[options.sense]
        kept, share = float(worst.probability(t)), f"{share_text(float(worst.probability(t)))} of simulated"
        false = kept + 4 * float(worst.standard_error(t)) < promised
    else:
        kept = float(proved_probability(found.network, found.mechanism.calibration, options.sense, np.array(t)))
        share, false = f"{'more than 99.9 %' if kept > 0.999 else 'at least ' + share_text(max(kept, 0.0))} of", False
    keeps = KEEPS[options.sense].format(share=share)
    return (
        f"On {name}, t = {t:.3g} {verb} {keeps}; the paper’s formula promises {share_text(promised)}"
        f"{', which is too much' if false else ''}. It invents {_many(t * found.records)} records in every table."
    )


def _asked(printed: float, t: float, records: float) -> str:
    """Return what the formula asks for, beside t."""
    if t <= 0:
        return f"t = {printed:.2g}, where none is needed."
    return (
        f"t = {printed:.2g}, {printed / t:.2g} times as many invented records "
        f"({_many(printed * records)} instead of {_many(t * records)} in every table)."
    )


def _many(records: float) -> str:
    """Return a number of records: whole from a thousand up, however large."""
    return f"{records:,.0f}" if records >= 1000 else short(records)


def share_text(share: float) -> str:
    """Return a probability in percent; what is not quite all or none does not look so."""
    percent = 100 * share
    if 0 < percent < 0.1 or 99.9 < percent < 100:
        return "less than 0.1 %" if percent < 1 else "more than 99.9 %"
    return f"{percent:.3g} %"


def _name(settings: Settings) -> str:
    """Return what to call the network."""
    if settings.graph in NAMED:
        return NAMED[settings.graph].title
    if not settings.graph and settings.data == "synthetic" and settings.source in NAMED:
        return NAMED[settings.source].title
    if not settings.graph and settings.data in SHIPPED:
        return f"the network of {escaped(SHIPPED[settings.data].title)}"
    return "this network"


def _records(settings: Settings) -> int | None:
    """Return the public n, where there is a table."""
    try:
        return dataset(settings).n
    except InputError:
        return None


def _controls(t: float | None) -> None:
    controls.parameter_control("stealth.aim")
    controls.parameter_control(
        "stealth.target" if current().options("stealth").aim is StealthAim.TARGET else "stealth.t"
    )
    controls.parameter_control("stealth.sense")
    controls.parameter_control("epsilon")
    controls.parameter_control("calibration")
    if t is not None and t <= INCREMENT.high:
        st.button(
            f"Use t = {t:.4g} on the Release page",
            on_click=set_parameter,
            args=("t", t),
            help="There it becomes the stealth increment of the Fourier mechanism.",
        )


def _picture(found: Stealth, sense: Sense, t: float | None) -> None:
    """Show the probabilities against t, and the t at hand."""
    simulated = {each: needed.probability(found.grid) for each, needed in found.worst.items()}
    bounds = {"the paper’s 1 − exp(−t)": printed_probability(found.grid), "proved, at least": found.proved}
    real = found.real.probability(found.grid) if found.real is not None else None
    chosen = None
    if t is not None:
        worst, calibration = found.worst.get(sense), found.mechanism.calibration
        kept = worst.probability(t) if worst else proved_probability(found.network, calibration, sense, np.array(t))
        chosen = (t, float(kept))
    chart(
        stealth_figure(found.grid, simulated, bounds, real, chosen=chosen, records=found.records),
        key="stealth.probability",
        alt="Probability that a Fourier release is non-negative against the increment t: as printed, as proved, and "
        f"as simulated in {len(simulated)} senses."
        + (f" At t = {chosen[0]:.3g} it is {chosen[1]:.3f}." if chosen is not None else ""),
    )


def _numbers(found: Stealth, sense: Sense, t: float) -> None:
    """Show the numbers at this t, and offer the curves."""
    draws = len(found.worst[Sense.MARGINALS].increments)
    aside = (
        ""
        if Sense.TABLE in found.worst
        else (" The whole table of this graph is too large to simulate: for it only the proved bound is shown.")
    )
    st.caption(
        f"Simulated: the noise of {draws:,} releases, with all counts zero. Real counts can only help released tables "
        "and parameters, so this holds for every n and data: it is public, and costs no privacy. Not so for the whole "
        "table rebuilt from few coefficients, which real counts can make negative. "
        f"Dotted: proved for {sense.value}.{aside}"
    )
    calibration = found.mechanism.calibration
    records = []
    for each in Sense:
        worst = found.worst.get(each)
        proved = float(proved_probability(found.network, calibration, each, np.array(t)))
        records.append(
            {
                "what is non-negative": each.value,
                "simulated": float(worst.probability(t)) if worst else math.nan,
                "standard error": float(worst.standard_error(t)) if worst else math.nan,
                "proved, at least": max(proved, 0.0),
                "printed": float(printed_probability(t)),
            }
        )
    st.dataframe(pd.DataFrame.from_records(records).round(4), hide_index=True)
    if found.real is not None:
        st.caption(
            f"With the real counts, {share_text(float(found.real.probability(t)))} of "
            f"{len(found.real.increments):,} simulated releases are "
            f"non-negative ({sense.value}; standard error {100 * float(found.real.standard_error(t)):.2g} %). "
            "Curator only: not private."
        )
    elif found.refused:
        st.caption(f"The real counts are not shown: {escaped(found.refused)}")
    data_and_download(lambda: _curves(found, sense), name="stealth", curator_only=found.real is not None)


def _curves(found: Stealth, sense: Sense) -> pd.DataFrame:
    columns = {"t": found.grid, "invented records": found.grid * found.records}
    columns |= {f"simulated: {each.value}": needed.probability(found.grid) for each, needed in found.worst.items()}
    columns |= {f"proved: {sense.value}": found.proved, "printed": printed_probability(found.grid)}
    if found.real is not None:
        columns["with the real counts"] = found.real.probability(found.grid)
    return pd.DataFrame(columns)
