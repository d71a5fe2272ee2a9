"""The stealth increment t that suits a network: as simulated, or as proved where a simulation takes too long."""

import math

import numpy as np
import streamlit as st

from dpbayes.base.randomness import stream
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.fourier import increment_for, needed_increments
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.fourier import CoefficientNoise, certified_noise, printed_noise
from dpbayes.theory.zhang16.stealth import certified_increment, negative_marginal_probability

MOST_SIMULATED = 5_000
"""Cells of a network whose increments are still simulated at once. What is proved for larger tables is as good: the
proof adds up cells, which hardly depend on each other there."""

STEALTH = 0.9
"""How often a Fourier release should be non-negative where the person has not said."""


def stealth_increment(net: Network, calibration: Calibration, probability: float) -> float:
    """Return the t that keeps releases of this graph non-negative with this probability, to four digits, rounded up."""
    is_small = is_simulated(net)
    t = increment_for(probability, needed(net, calibration)) if is_small else _proved(net, calibration, probability)
    return math.ceil(t * 1e4) / 1e4


def is_simulated(net: Network) -> bool:
    """Return whether `stealth_increment` comes from a simulation; it is proved by a formula for large networks."""
    return net.cell_count <= MOST_SIMULATED


@st.cache_data(scope="session", max_entries=128, show_spinner=False, hash_funcs={Network: hash})
def _proved(net: Network, calibration: Calibration, probability: float) -> float:
    return certified_increment(net, probability, noise=noise_of(net, calibration))


def noise_of(net: Network, calibration: Calibration) -> CoefficientNoise:
    """Return what the bounds need to know of a calibration."""
    return certified_noise(net) if calibration is Calibration.CERTIFIED else printed_noise(net)


def kept_share(net: Network, calibration: Calibration, t: float) -> float:
    """Return how often t keeps releases of no data non-negative: as simulated, or at least as often as proved."""
    if is_simulated(net):
        return float(np.mean(needed(net, calibration) <= t))
    return 1 - float(negative_marginal_probability(net, noise=noise_of(net, calibration), t=t))


@st.cache_data(scope="session", max_entries=32, show_spinner="Simulating the noise …", hash_funcs={Network: hash})
def needed(net: Network, calibration: Calibration) -> np.ndarray:
    """Return simulated needed increments of the Fourier mechanism; they depend on the graph only."""
    draws = 10_000 if net.cell_count < 1000 else 2_000
    return needed_increments(net, calibration, stream(0, "stealth"), draws=draws)
