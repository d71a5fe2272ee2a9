"""Posterior sampling: one CPT row, the region left by trimming, and the released samples."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.libraries import pd
from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.text import escaped, interval_texts, latex, many, near_one, numeral, share_text
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import density, density_grid
from dpbayes.experiments.sampling import (
    RowState,
    best_draws,
    certified_bound,
    certified_omega,
    exact_mass_within,
    printed_omega,
)
from dpbayes.figures.sampling import mean_error_figure, omega_figure, trim_figure
from dpbayes.mechanisms import Calibration, PosteriorSampler
from dpbayes.mechanisms.parameters import MOST_DRAWS
from dpbayes.model.network import Network
from dpbayes.ui.pages.explore.controls import picked, row_choice
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.session.options.research import SamplingOptions
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import EPSILON, TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.controls import prior_control
from dpbayes.ui.widgets.from_python import (
    FACE,
    counts_in_python,
    mechanism_in_python,
    network_in_python,
    program,
    same_from_python,
)
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.show import assumption, data_and_download, show_refusal, source


@dataclass(frozen=True, eq=False)
class ShownRow:
    """What the picture is of: the mechanism, the picked cell, its row after and before the data, its draws (N,)."""

    mechanism: PosteriorSampler
    cell: int
    posterior: RowState
    prior: RowState
    draws: np.ndarray

    @property
    def bound(self) -> float:
        """The largest log-odds drawn."""
        return self.mechanism.log_odds_bound

    @property
    def region(self) -> tuple[float, float]:
        """What the cell's probability is drawn from."""
        low, high = self.posterior.region(self.bound)
        return float(low), float(high)


def row_shown(chosen: Chosen) -> ShownRow:
    """Return the picked row under the settings. Errors: InputError where nothing can be drawn."""
    sampler, net = chosen.mechanism_called("PosteriorSampler"), chosen.network
    assert isinstance(sampler, PosteriorSampler)
    row, cell = picked(chosen)
    cells = net.cells_of_row(row)
    state = cell - cells.start
    posterior = RowState(sampler.prior.updated(chosen.counts).alpha[cells], state)
    rng = stream(chosen.seed, "sampling", net.row_label(row), state)
    draws = posterior.sample(sampler.log_odds_bound, rng, (sampler.draws,))
    return ShownRow(sampler, cell, posterior, RowState(sampler.prior.alpha[cells], state), draws)


TIMES = (1.0, 10.0, 100.0)
"""How many times the chosen epsilon the curves are drawn for."""

SIMULATED = 20_000
"""Samples behind the simulated point."""

NUMBERS = np.unique(np.round(np.geomspace(1, MOST_DRAWS, 61)).astype(np.int64))


def draws_section(chosen: Chosen, shown: ShownRow) -> None:
    """Show the trade-off between more samples and less trimming."""
    st.subheader("Number of samples")
    left, right = st.columns(2, gap="medium")
    with left:
        _error(chosen, shown)
    with right:
        _omega(shown)


def hypothetical(options: SamplingOptions) -> RowState:
    """Return the row of two states that the query game's public sliders describe."""
    successes = round(options.records * options.share)
    prior = options.concentration
    return RowState(np.array([prior + successes, prior + options.records - successes]), 0)


def _error(chosen: Chosen, shown: ShownRow) -> None:
    row = shown.posterior if chosen.is_curator else hypothetical(chosen.options("sampling"))
    net, epsilon = chosen.network, shown.mechanism.epsilon
    errors = _errors(net, row.alpha, row.state, epsilon)
    best = best_draws(errors, NUMBERS)
    labels = [f"ε = {numeral(epsilon * times, 6)}" for times in TIMES]
    certified = shown.mechanism.calibration is Calibration.CERTIFIED
    set_to = (row.alpha, row.state, shown.bound, shown.mechanism.draws, (chosen.seed, shown.cell))
    measured = _measured(*set_to) if chosen.is_curator and certified else None
    figure = mean_error_figure(NUMBERS, errors, labels, best=best, colour=shown.mechanism.colour, measured=measured)
    alt = "Error of the mean of N samples against N, for three values of epsilon. The best N is marked."
    chart(figure, key="draws", alt=alt, simulates=measured is not None)
    place = escaped(f"P({net.cell_label(shown.cell)})") if chosen.is_curator else "a hypothetical row"
    count = int(best[0])
    st.markdown(
        f"At ε = {numeral(epsilon, 6)}, the mean of **{many(count, 'sample')}** has the lowest root mean square error "
        f"for {place}: {numeral(float(errors[0].min()))}. With more samples, every sample must be trimmed more."
    )
    st.caption(
        "The curves are computed at the proved ε. Not private (curator view)."
        if chosen.is_curator
        else "The curves are computed at the proved ε and use no data."
    )
    data_and_download(
        lambda: pd.DataFrame({"samples N": NUMBERS} | dict(zip(labels, errors, strict=True))),
        name="error-by-samples",
        curator_only=chosen.is_curator,
    )


@session_cache(16)
def _errors(net: Network, alpha: FloatArray, state: int, epsilon: float) -> FloatArray:
    """Return the root mean square errors (TIMES, NUMBERS) of a row's state under Dirichlet(alpha)."""
    bounds = certified_bound(net, epsilon=epsilon * np.array(TIMES)[:, None], draws=NUMBERS)
    return RowState(alpha, state).error_of_mean(bounds, NUMBERS)


@session_cache(16)
def _measured(
    alpha: FloatArray, state: int, bound: float, draws: int, seed: tuple[int, int]
) -> tuple[int, float, float]:
    """Return N, the simulated root mean square error and its standard error, for the release that is set."""
    row, repeats = RowState(alpha, state), max(20, SIMULATED // draws)
    means = row.sample(bound, stream(seed[0], "sampling", "error", seed[1]), (repeats, draws)).mean(axis=1)
    squares = (means - row.mean) ** 2
    error = float(np.sqrt(squares.mean()))
    return draws, error, float(squares.std(ddof=1) / np.sqrt(repeats) / (2 * error)) if error > 0 else 0.0


def _omega(shown: ShownRow) -> None:
    sampler = shown.mechanism
    net = sampler.prior.network
    epsilon = np.geomspace(1e-2, 1e3, 201)
    certified = certified_omega(net, epsilon=epsilon, draws=sampler.draws)
    printed = printed_omega(net, epsilon=epsilon)
    figure = omega_figure(epsilon, certified, printed, chosen=(sampler.epsilon, sampler.omega), colour=sampler.colour)
    chart(figure, key="omega", alt="Omega against epsilon: proved for this network and N, and as stated in the paper.")
    at_printed = float(printed_omega(net, epsilon=sampler.epsilon))
    if np.isnan(at_printed):
        sentence = f"The paper's ω = exp(−ε/2) leaves nothing to sample from at ε = {numeral(sampler.epsilon, 6)}."
    else:
        kept = float(certified_omega(net, epsilon=sampler.epsilon, draws=sampler.draws))
        sentence = (
            f"At ε = {numeral(sampler.epsilon, 6)} the paper's ω is {numeral(at_printed)}. "
            f"The proof {'needs' if at_printed < kept else 'needs only'} ω = {numeral(kept)} for this network "
            f"and {many(sampler.draws, 'sample')}."
        )
    st.markdown(sentence)
    st.caption(
        "ω depends only on ε, the network and N: it is public."
        + (" The dot is the paper's ω." if sampler.calibration is Calibration.AS_PRINTED else "")
    )


GRID = 201
"""Points of the density inside the region, and half as many outside."""


FACTS: Facts = {"mechanism": lambda chosen: PosteriorSampler.label} | EPSILON | TABLE | N


def sampling_page(chosen: Chosen) -> None:
    """Show the picture first: it moves with epsilon; then the number of samples, if there is a release."""
    pictures_tell(FACTS)
    page = places()
    shown = page.first(_moving, chosen)
    with page.controls:
        _controls(chosen)
    if shown is None:
        return
    with page.beside():
        _measures(chosen, shown)
        data_and_download(
            lambda: _frame(chosen, shown), name="trimmed-row", curator_only=chosen.is_curator, simulates=True
        )
    with st.container(key="below"):
        _promise(chosen, shown)
        draws_section(chosen, shown)
    same_from_python(python_of(chosen, shown), name="sampling", chosen=chosen)


def python_of(chosen: Chosen, shown: ShownRow) -> str:
    """Return the code for omega and, for the curator, the share of the exact posteriors in the region."""
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
            show_refusal(error)
    page.lead("epsilon")
    if shown is not None:
        page.say(_headline(chosen, shown))
    elif nothing_printed(chosen):
        page.say(f"The paper's ω leaves no probability to sample at ε = {numeral(chosen.epsilon, 6)}.")
    return shown


def _controls(chosen: Chosen) -> None:
    for name in ("draws", "calibration"):
        controls.parameter_control(name)
    row_choice(chosen)
    with st.expander("Prior and seed" if chosen.is_curator else "Prior"):
        prior_control()
        if chosen.is_curator:
            controls.text_field("Seed of the simulated samples", "seed", help=terms.SEED)


def nothing_printed(chosen: Chosen) -> bool:
    """Whether the paper's omega is chosen, and leaves nothing to sample from."""
    printed = chosen.parameter("calibration") is Calibration.AS_PRINTED
    return printed and bool(np.isnan(printed_omega(chosen.network, epsilon=chosen.epsilon)))


def _headline(chosen: Chosen, shown: ShownRow) -> str:
    """Return the region that all rows are sampled from and, for the curator, how much of the data is in it."""
    sampler = shown.mechanism
    if sampler.calibration is Calibration.AS_PRINTED:
        claimed, proved = numeral(sampler.epsilon, 6), numeral(sampler.certified.epsilon, 4)
        return f"The paper states ε = {claimed} for this release, but the proved ε is {proved}."
    if not chosen.is_curator:
        return f"{_region(sampler)}."
    return f"{_region(sampler)}: the samples depend {_visibility(_inside(chosen, shown))}."


def _region(sampler: PosteriorSampler) -> str:
    if sampler.prior.network.is_binary:
        low, high = interval_texts(sampler.omega, 1 - sampler.omega)
        return f"Every sampled probability lies between {low} and {high}"
    return f"No sampled probability is below {numeral(sampler.omega)}"


def _inside(chosen: Chosen, shown: ShownRow) -> float:
    """Return the share of the exact posteriors in the region, on average over all rows."""
    return float(exact_mass_within(shown.mechanism.prior.updated(chosen.counts), shown.bound).mean())


def _visibility(inside: float) -> str:
    return (
        "very little on the data" if inside < 0.1 else "partly on the data" if inside < 0.9 else "strongly on the data"
    )


def _share(inside: float) -> str:
    return "all" if inside > 1 - 1e-12 else share_text(inside)


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
    both = "exact posterior and trimmed posterior"
    whose = both if chosen.is_curator else "public trimmed prior"
    chart(figure, key="trim", alt=f"Density of P({name}): {whose}; samples as ticks below.", simulates=True)


def _measures(chosen: Chosen, shown: ShownRow) -> None:
    columns = st.columns(3)
    columns[0].metric("Least probability ω", numeral(shown.mechanism.omega), help="No sampled probability is below ω.")
    columns[1].metric("Mean of the samples", near_one(shown.draws.mean(), 3))
    if not chosen.is_curator:
        columns[2].metric("Prior mean", near_one(shown.prior.mean, 3))
        st.caption("The samples are simulated from a seed; a real release has no seed.")
        return
    columns[2].metric("Exact posterior mean", near_one(shown.posterior.mean, 3))
    _one_state_only(shown)
    st.caption(
        f"Of this row's exact posterior, {_share(shown.posterior.exact_mass_within(shown.bound))} lies in the allowed "
        f"region; on average over all rows, {_share(_inside(chosen, shown))}. The samples are simulated from "
        "a seed; a real release has no seed. Not private (curator view)."
    )


def _one_state_only(shown: ShownRow) -> None:
    """Say of a row whose records are all in one state that no sample can show it."""
    records = shown.posterior.alpha - shown.prior.alpha
    if len(records) > 1 and records.max() > 0 and np.count_nonzero(records) == 1:
        count, most = int(records.max()), near_one(float(shown.posterior.region(shown.bound)[1]), 3)
        st.caption(
            f"{'The only record of this row is' if count == 1 else f'All {count:,} records of this row are'} in one "
            f"state. No sample can show this: no probability above {most} is sampled. A larger ε widens the region, "
            "but the region never contains 1, so it excludes every deterministic row."
        )


def _frame(chosen: Chosen, shown: ShownRow) -> "pd.DataFrame":
    theta, exact, trimmed = _curves(chosen, shown)
    if exact is None:
        return pd.DataFrame({"sample": shown.draws})
    return pd.DataFrame({"theta": theta, "exact density": exact, "trimmed density": trimmed})


def _promise(chosen: Chosen, shown: ShownRow) -> None:
    sampler = shown.mechanism
    with st.expander("Privacy guarantee and assumptions"):
        left, right = st.columns(2)
        left.metric("Stated in the paper", str(sampler.claimed), help=terms.EPSILON)
        left.caption(str(sampler.claimed.reference))
        right.metric("Proved", str(sampler.certified), help=terms.NEIGHBOURS)
        right.caption(str(sampler.certified.reference))
        decisions = round(sampler.certified.epsilon / (2 * sampler.draws * sampler.log_odds_bound))
        st.markdown(
            "One record changes one factor of every node's likelihood in every sample. The proved privacy loss is "
            r"$\varepsilon = 2\,T N \ln\frac{1-w}{w}$, "
            f"with $T = {decisions}$ binary decisions that determine a record (one for a binary node), "
            f"$N = {sampler.draws}$ samples and $\\ln\\frac{{1-w}}{{w}} = {latex(sampler.log_odds_bound)}$. "
            r"The paper states $\varepsilon = 2 \ln\frac{1}{\omega}$ for any number of nodes and samples."
        )
        assumption("Neighbours are " + sampler.certified.neighbours.value + ".", holds=True)
        assumption("Every column's domain is public and is not read from the data.", holds=not chosen.leaking_columns)
        assumption("The prior is trimmed to a public region before the data are read.", holds=True)
        assumption("The sampling time does not depend on the data: there is no rejection.", holds=True)
        assumption("ε covers all samples together.", holds=sampler.calibration is Calibration.CERTIFIED)
        assumption("The samples are fresh, exact and secret. Here the samples come from a seed.", holds=False)
        source(Reference("Zhang16", "Section 4 and Appendix C.2"))
        source(Reference("Dimitrakakis14", "Algorithm 1, Theorem 2(i)"))
