"""The stealth increment t that suits a network: as simulated, or as proved where a simulation takes too long."""

import math
from dataclasses import replace

import numpy as np
import streamlit as st

from dpbayes.base.randomness import stream
from dpbayes.mechanisms import Calibration, Noise
from dpbayes.mechanisms.fourier import increment_for, needed_increments
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.fourier import CoefficientNoise, certified_noise, printed_noise
from dpbayes.theory.zhang16.stealth import certified_increment, negative_marginal_probability

MOST_SIMULATED = 5_000
"""Cells of a network whose increments are still simulated at once. What is proved for larger tables is as good: the
proof adds up cells, which hardly depend on each other there."""

STEALTH = 0.9
"""How often a Fourier release should be non-negative where the person has not said."""


def stealth_increment(net: Network, calibration: Calibration, probability: float, law: NoiseLaw = UNIT) -> float:
    """Return the t that keeps releases of this graph non-negative with this probability, to four digits, rounded up."""
    is_small = is_simulated(net)
    draws = needed(net, calibration, law) if is_small else None
    t = _proved(net, calibration, probability, law) if draws is None else increment_for(probability, draws)
    return math.ceil(t * 1e4) / 1e4


def is_simulated(net: Network) -> bool:
    """Return whether `stealth_increment` comes from a simulation; it is proved by a formula for large networks."""
    return net.cell_count <= MOST_SIMULATED


@st.cache_data(scope="session", max_entries=128, show_spinner=False, hash_funcs={Network: hash})
def _proved(net: Network, calibration: Calibration, probability: float, law: NoiseLaw) -> float:
    return certified_increment(net, probability, noise=noise_of(net, calibration, law))


def noise_of(net: Network, calibration: Calibration, law: NoiseLaw = UNIT) -> CoefficientNoise:
    """Return what the bounds need to know of a calibration and of the noise."""
    noise = certified_noise(net) if calibration is Calibration.CERTIFIED else printed_noise(net)
    return replace(noise, beyond=1 / law.scale) if law.noise is Noise.WHOLE else noise


def kept_share(net: Network, calibration: Calibration, t: float, law: NoiseLaw = UNIT) -> float:
    """Return how often t keeps releases of no data non-negative: as simulated, or at least as often as proved."""
    if is_simulated(net):
        return float(np.mean(needed(net, calibration, law) <= t))
    return 1 - float(negative_marginal_probability(net, noise=noise_of(net, calibration, law), t=t))


@st.cache_data(scope="session", max_entries=32, show_spinner="Simulating the noise …", hash_funcs={Network: hash})
def needed(net: Network, calibration: Calibration, law: NoiseLaw = UNIT) -> np.ndarray:
    """Return simulated needed increments of the Fourier mechanism; they depend on the graph only.

    With whole numbers, which cannot be scaled, they depend on the scale too.
    """
    draws = 10_000 if net.cell_count < 1000 else 2_000
    return needed_increments(net, calibration, stream(0, "stealth"), draws=draws, law=law)
