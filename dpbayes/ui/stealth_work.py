"""What the Stealth page simulates, once for each graph and calibration; a moving t only looks numbers up."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpbayes.bounds.fourier import CoefficientNoise, certified_noise, printed_noise
from dpbayes.bounds.stealth import negative_marginal_probability, negative_table_probability
from dpbayes.counts import Counts, count
from dpbayes.dirichlet import Dirichlets
from dpbayes.experiments.stealth import LeastNoise, Needed, Sense, UnitNoise, is_table_in_reach, least_noise, simulate
from dpbayes.mechanisms import Calibration, LaplaceFourier
from dpbayes.network import Network
from dpbayes.randomness import stream
from dpbayes.synthetic import sample_dataset
from dpbayes.ui.settings import Settings
from dpbayes.ui.show import is_curator
from dpbayes.ui.work import counts
from dpbayes.validation import InputError

MOST_SHOWN = 20_000
"""Most records of the made-up table."""

MOST_VALUES = 1_000_000
"""Draws times cells that are simulated anew, with the real counts, each time that epsilon moves."""

POINTS = 161
HIGHEST = 5.0


@dataclass(frozen=True, eq=False)
class Stealth:
    """All that the page shows of one network: the mechanism, simulations by sense, bounds on a grid of increments.

    `real` is simulated with the real counts, for the curator; `refused` says why it is not there.
    """

    mechanism: LaplaceFourier
    worst: Mapping[Sense, Needed]
    real: Needed | None
    refused: str
    grid: np.ndarray
    proved: np.ndarray

    @property
    def network(self) -> Network:
        """The network."""
        return self.mechanism.prior.network

    @property
    def noise(self) -> CoefficientNoise:
        """The noise in use, as the bounds know it."""
        return noise_of(self.network, self.mechanism.calibration)

    @property
    def records(self) -> float:
        """Records that t = 1 adds to every table."""
        return 2 * len(self.network.closure) * self.mechanism.noise_scale


def noise_of(network: Network, calibration: Calibration) -> CoefficientNoise:
    """Return what the bounds need to know of a calibration."""
    return certified_noise(network) if calibration is Calibration.CERTIFIED else printed_noise(network)


def stealth_of(settings: Settings, network: Network) -> Stealth:
    """Return simulations and bounds for the settings. Errors: InputError when a node is not binary."""
    calibration, sense = settings.parameter("calibration"), settings.options("stealth").sense
    prior = Dirichlets.symmetric(network, settings.prior)
    mechanism = LaplaceFourier(prior=prior, epsilon=settings.parameter("epsilon"), t=0.0, calibration=calibration)
    least, table = _worst(network, calibration)
    worst = {Sense.MARGINALS: least.needed(), Sense.PARAMETERS: least.needed(settings.prior / mechanism.noise_scale)}
    if table is not None:
        worst[Sense.TABLE] = table
    grid = _grid(worst[Sense.MARGINALS])
    real, refused = _real(settings, mechanism, sense) if is_curator() else (None, "")
    return Stealth(mechanism, worst, real, refused, grid, _proved(network, calibration, sense, tuple(grid)))


def proved_probability(network: Network, calibration: Calibration, sense: Sense, t: np.ndarray) -> np.ndarray:
    """Return the proved probability of a non-negative release; positive parameters need no more than the tables."""
    bound = negative_table_probability if sense is Sense.TABLE else negative_marginal_probability
    return 1 - bound(network, noise=noise_of(network, calibration), t=t)


_proved = st.cache_data(scope="session", max_entries=32, show_spinner=False, hash_funcs={Network: hash})(
    lambda network, calibration, sense, grid: proved_probability(network, calibration, sense, np.array(grid))
)


def _grid(worst: Needed) -> np.ndarray:
    low = float(np.clip(0.3 * worst.increments[len(worst.increments) // 20], 1e-3, 0.02))
    return np.geomspace(10 ** (math.floor(math.log10(low) * 10) / 10), HIGHEST, POINTS)


def _draws(network: Network) -> int:
    """Return as many draws as the Release page's default t comes from, so that the two pages agree."""
    return 10_000 if network.cell_count < 1000 else 2_000


def _noise(network: Network, calibration: Calibration, draws: int) -> UnitNoise:
    """Draw the very noise of the Release page."""
    return UnitNoise.draw(network, calibration, stream(0, "stealth"), draws=draws)


@st.cache_data(scope="session", max_entries=16, show_spinner="Simulating the noise …", hash_funcs={Network: hash})
def _worst(network: Network, calibration: Calibration) -> tuple[LeastNoise, Needed | None]:
    """Simulate what depends on the graph alone; the whole table only where it is in reach."""
    draws = _draws(network)
    noise = _noise(network, calibration, draws)
    if not is_table_in_reach(network, draws=draws):
        return least_noise(noise), None
    mechanism = LaplaceFourier(prior=Dirichlets.symmetric(network), epsilon=1.0, calibration=calibration)
    return least_noise(noise), simulate(Sense.TABLE, noise, mechanism)


def _real(settings: Settings, mechanism: LaplaceFourier, sense: Sense) -> tuple[Needed | None, str]:
    """Simulate with the real counts; kept while they and the mechanism stay the same. Never shared."""
    try:
        found = counts(settings)
    except InputError as error:
        return None, str(error)
    network = mechanism.prior.network
    made_of = (network, mechanism.calibration, mechanism.epsilon, settings.prior, sense)
    kept = st.session_state.get("stealth.real")
    if kept and kept[0] is found and kept[1] == made_of:
        return kept[2], ""
    draws = max(200, min(_draws(network), MOST_VALUES // network.cell_count))
    if sense is Sense.TABLE and not is_table_in_reach(network, draws=draws):
        return None, ""
    needed = simulate(sense, _noise(network, mechanism.calibration, draws), mechanism, found.values)
    st.session_state["stealth.real"] = (found, made_of, needed)
    return needed, ""


@st.cache_data(scope="session", max_entries=8, show_spinner=False, hash_funcs={Network: hash})
def made_up_counts(network: Network, n: int, seed: int) -> Counts:
    """Count a table of n fair coin flips in every column: it holds nothing of anybody's data."""
    fair = np.full(network.cell_count, 0.5)
    return count(network, sample_dataset(network, fair, n, stream(seed, "stealth", "table")))
