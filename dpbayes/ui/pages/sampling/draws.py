"""Posterior sampling: the picked row, the error against the number of samples, and omega against epsilon."""

from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.sampling import RowState, best_draws, certified_bound, certified_omega, printed_omega
from dpbayes.figures.sampling import mean_error_figure, omega_figure
from dpbayes.mechanisms import Calibration, PosteriorSampler
from dpbayes.mechanisms.parameters import MOST_DRAWS
from dpbayes.model.network import Network
from dpbayes.ui.pages.explore.controls import picked
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.session.options.research import SamplingOptions
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import data_and_download


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
