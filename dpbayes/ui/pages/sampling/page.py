"""Posterior sampling: one CPT row, the region left by trimming, and the draws handed over."""

import math

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.references import Reference
from dpbayes.base.text import ends, escaped, latex, many, near_one, numeral, share_text
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import density, density_grid
from dpbayes.experiments.sampling import exact_mass_within, printed_omega
from dpbayes.figures.sampling import trim_figure
from dpbayes.mechanisms import Calibration, PosteriorSampler
from dpbayes.ui.pages.explore.controls import has_picked, row_choice
from dpbayes.ui.pages.sampling.draws import draws_section
from dpbayes.ui.pages.sampling.row import ShownRow, row_shown
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import EPSILON, TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.from_python import (
    FACE,
    counts_in_python,
    mechanism_in_python,
    network_in_python,
    program,
    same_from_python,
)
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.show import assumption, data_and_download, refusal, source

GRID = 201
"""Points of the density inside the region, and half as many outside."""


FACTS: Facts = {"mechanism": lambda chosen: PosteriorSampler.label} | EPSILON | TABLE | N


def sampling_page(chosen: Chosen) -> None:
    """Show the picture first: it moves with epsilon; then what draws buy, where there is a release."""
    pictures_tell(FACTS)
    page = places()
    shown = page.first(_moving, chosen)
    with page.controls:
        _controls(chosen)
    if shown is None:
        return
    with page.picture:
        _measures(chosen, shown)
        data_and_download(
            lambda: _frame(chosen, shown), name="trimmed-row", curator_only=chosen.is_curator, simulates=True
        )
    _promise(chosen, shown)
    draws_section(chosen, shown)
    same_from_python(python_of(chosen, shown), name="sampling", chosen=chosen)


def python_of(chosen: Chosen, shown: ShownRow) -> str:
    """Return the code that gives the least probability drawn and, for the curator, how much of the posteriors is so."""
    mechanism = mechanism_in_python(shown.mechanism)
    if not chosen.is_curator:
        return program(FACE, network_in_python(chosen.network), mechanism, "print(mechanism.omega)")
    posterior = "posterior = mechanism.prior.updated(counts)"
    within = "exact_mass_within(posterior, mechanism.log_odds_bound).mean()"
    return program(
        FACE,
        "from dpbayes.experiments.sampling import exact_mass_within",
        counts_in_python(chosen),
        mechanism,
        posterior,
        f"print(mechanism.omega, {within})",
    )


def _moving(page: Places, chosen: Chosen) -> ShownRow | None:
    net, shown = chosen.network, None
    with page.picture:
        try:
            shown = row_shown(chosen)
            _picture(chosen, shown, name=net.cell_label(shown.cell))
        except InputError as error:
            refusal(error)
    page.lead("epsilon")
    if shown is not None:
        page.say(_headline(chosen, shown))
    elif nothing_printed(chosen):
        omega = f"ω = exp(−ε/2) = {numeral(math.exp(-chosen.epsilon / 2))}"
        epsilon = numeral(chosen.epsilon, 6)
        page.say(f"As printed, nothing can be drawn at ε = {epsilon}: trimming at {omega} leaves nothing.")
    return shown


def _controls(chosen: Chosen) -> None:
    for name in ("draws", "calibration"):
        controls.parameter_control(name)
    row_choice(chosen)
    with st.expander("Prior and seed" if chosen.is_curator else "Prior"):
        controls.text_field("Prior: pseudo-count of every cell", "prior", help=terms.PRIOR)
        if chosen.is_curator:
            controls.text_field("Seed of the simulated draws", "seed", help=terms.SEED)


def nothing_printed(chosen: Chosen) -> bool:
    """Whether the printed omega is asked for, and leaves nothing to draw from."""
    printed = chosen.parameter("calibration") is Calibration.AS_PRINTED
    return printed and bool(np.isnan(printed_omega(chosen.network, epsilon=chosen.epsilon)))


def _headline(chosen: Chosen, shown: ShownRow) -> str:
    """Speak of all rows; of the row that the person picked, where she did, after that."""
    sampler, net = shown.mechanism, chosen.network
    promise, rows = f"ε = {numeral(sampler.epsilon, 6)}", _drawn_from(sampler)
    nodes, draws = many(len(net.names), "node"), many(sampler.draws, "draw")
    if sampler.calibration is Calibration.AS_PRINTED:
        first = (
            f"With the printed ω, {rows}, and {promise} is claimed for {nodes} and {draws}; certified is "
            f"ε = {numeral(sampler.certified.epsilon, 4)}."
        )
    else:
        first = f"With {promise} shared by {nodes} and {draws}, {rows}."
    name = escaped(f"P({net.cell_label(shown.cell)})")
    if not chosen.is_curator:
        why = "which you picked" if has_picked(chosen) else "in the picture"
        return f"{first} The draws of {name}, {why}, average {near_one(shown.draws.mean(), 3)}."
    posterior = sampler.prior.updated(chosen.counts)
    text = f"{first} {_visibility(float(exact_mass_within(posterior, shown.bound).mean()))}"
    if not has_picked(chosen):
        return text
    inside = _share(shown.posterior.exact_mass_within(shown.bound))
    region = _interval(*shown.region)
    return f"{text} {name}, which you picked, is drawn from {region}, with {inside.lower()} of its exact posterior."


def _drawn_from(sampler: PosteriorSampler) -> str:
    if sampler.prior.network.is_binary:
        return f"every probability is drawn from {_interval(sampler.omega, 1 - sampler.omega)}"
    return f"no probability is drawn below {numeral(sampler.omega)}"


def _visibility(inside: float) -> str:
    verdict = "hardly visible" if inside < 0.1 else "partly visible" if inside < 0.9 else "plainly visible"
    return f"{_share(inside)} of the exact posteriors lie there, on average over all rows: the data are {verdict}."


def _share(inside: float) -> str:
    said = "all" if inside > 1 - 1e-12 else share_text(inside)
    return said[0].upper() + said[1:]


def _interval(low: float, high: float) -> str:
    """Return [low, high] with as many digits as tell the ends apart."""
    return "\\[" + ", ".join(ends(low, high)) + "\\]"


def _grid(chosen: Chosen, shown: ShownRow) -> np.ndarray:
    """Points where the densities have their mass, and both sides of the region's ends."""
    low, high = shown.region
    inside = np.linspace(low, high, GRID)
    just = np.array([low * (1 - 1e-9), high * (1 + 1e-9)])
    exact: list[float] | np.ndarray = (
        density_grid([shown.mechanism.prior.updated(chosen.counts)], shown.cell) if chosen.is_curator else []
    )
    points = np.concatenate([np.linspace(0, 1, GRID // 2), inside, just, exact])
    return np.unique(np.clip(points, 1e-6, 1 - 1e-6))


def _curves(chosen: Chosen, shown: ShownRow) -> tuple[np.ndarray, np.ndarray | None, np.ndarray]:
    """Return theta, the exact density and the trimmed one; the recipient gets nothing exact and the prior's."""
    theta = _grid(chosen, shown)
    if not chosen.is_curator:
        return theta, None, shown.prior.trimmed_density(shown.bound, theta)
    exact = shown.posterior.row
    state = shown.posterior.state
    if len(shown.posterior.alpha) == 1:
        return theta, np.zeros_like(theta), np.zeros_like(theta)
    return theta, density(exact, state, theta), shown.posterior.trimmed_density(shown.bound, theta)


def _picture(chosen: Chosen, shown: ShownRow, *, name: str) -> None:
    densities, colour = _curves(chosen, shown), shown.mechanism.colour
    figure = trim_figure(densities, shown.draws, region=shown.region, name=name, colour=colour)
    both = "exact posterior, and of the trimmed one that is drawn from"
    whose = both if chosen.is_curator else "public trimmed prior"
    chart(figure, key="trim", alt=f"Density of P({name}): {whose}; the draws as ticks below.", simulates=True)


def _measures(chosen: Chosen, shown: ShownRow) -> None:
    columns = st.columns(3)
    columns[0].metric("ω, least probability", numeral(shown.mechanism.omega), help="No drawn probability is below it.")
    columns[1].metric("Mean of the draws", near_one(shown.draws.mean(), 3))
    if chosen.is_curator:
        columns[2].metric("Exact posterior mean", near_one(shown.posterior.mean, 3))
        _one_state_only(shown)
        st.caption("Curator only: not private. The draws are simulated from a seed; a real release has none.")
    else:
        columns[2].metric("Prior mean", near_one(shown.prior.mean, 3))
        st.caption("You see the draws, and what is public. They are simulated from a seed; a real release has none.")


def _one_state_only(shown: ShownRow) -> None:
    """Say of a row whose records are all in one state that no draw will: a region of certainties is none."""
    records = shown.posterior.alpha - shown.prior.alpha
    if len(records) > 1 and records.max() > 0 and np.count_nonzero(records) == 1:
        count, most = int(records.max()), near_one(float(shown.posterior.region(shown.bound)[1]), 3)
        st.caption(
            f"{'The 1 record of this row is' if count == 1 else f'All {count:,} records of this row are'} in one "
            "state. No draw can say so: if the row is deterministic in truth, it lies outside every trimmed region, "
            f"and here no probability above {most} is drawn. More ε widens the region; nothing brings it to 1."
        )


def _frame(chosen: Chosen, shown: ShownRow) -> pd.DataFrame:
    theta, exact, trimmed = _curves(chosen, shown)
    if exact is None:
        return pd.DataFrame({"draw": shown.draws})
    return pd.DataFrame({"theta": theta, "exact density": exact, "trimmed density": trimmed})


def _promise(chosen: Chosen, shown: ShownRow) -> None:
    sampler = shown.mechanism
    with st.expander("What is promised, by whom, and why"):
        left, right = st.columns(2)
        left.metric("Claimed", str(sampler.claimed), help=terms.EPSILON)
        left.caption(str(sampler.claimed.reference))
        right.metric("Certified", str(sampler.certified), help=terms.NEIGHBOURS)
        right.caption(str(sampler.certified.reference))
        decisions = round(sampler.certified.epsilon / (2 * sampler.draws * sampler.log_odds_bound))
        st.markdown(
            "One record moves a term of every node, in every draw: "
            r"$\varepsilon = 2\,T N \ln\frac{1-w}{w}$, "
            f"with $T = {decisions}$ yes-no decisions on the way to a record's states (one for a binary node), "
            f"$N = {sampler.draws}$ draws and $\\ln\\frac{{1-w}}{{w}} = {latex(sampler.log_odds_bound)}$. "
            r"Printed is $\varepsilon = 2 \ln\frac{1}{\omega}$, whatever the number of nodes and draws."
        )
        assumption("Neighbours are " + sampler.certified.neighbours.value + ".", holds=True)
        assumption("Every column's domain is public, not taken from the data.", holds=not chosen.leaking_columns)
        assumption("The prior is trimmed to a public region, before the data are seen.", holds=True)
        assumption("The work done for a draw does not depend on the data: no rejection.", holds=True)
        assumption("All draws together are charged for, not one.", holds=sampler.calibration is Calibration.CERTIFIED)
        assumption("The draws are made afresh, exactly, and unseen: not in this simulation.", holds=False)
        source(Reference("Zhang16", "Section 4 and Appendix C.2"))
        source(Reference("Dimitrakakis14", "Algorithm 1, Theorem 2(i)"))
