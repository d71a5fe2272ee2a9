"""The non-negativity increment t for a network: simulated, or proved if a simulation takes too long."""

import math

import numpy as np

from dpbayes.base.randomness import stream
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.stealth import increment_for, needed_increments
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.fourier import noise_under
from dpbayes.theory.zhang16.stealth import certified_increment, negative_marginal_probability
from dpbayes.ui.session.kept import session_cache

MOST_SIMULATED = 5_000
"""The largest number of cells for which increments are simulated. For larger tables the proved bound is as good: it
adds the probabilities of cells, which are nearly independent there."""

STEALTH = 0.9
"""The default probability that a Fourier release is non-negative."""


def stealth_increment(net: Network, calibration: Calibration, probability: float, law: NoiseLaw = UNIT) -> float:
    """Return the t at which releases of this graph are non-negative with this probability, rounded up."""
    is_small = is_simulated(net)
    draws = needed(net, calibration, law) if is_small else None
    t = _proved(net, calibration, probability, law) if draws is None else increment_for(probability, draws)
    return math.ceil(t * 1e4) / 1e4


def is_simulated(net: Network) -> bool:
    """Return whether `stealth_increment` is simulated; for large networks a formula proves it."""
    return net.cell_count <= MOST_SIMULATED


@session_cache(128)
def _proved(net: Network, calibration: Calibration, probability: float, law: NoiseLaw) -> float:
    return certified_increment(net, probability, noise=noise_under(net, calibration, law))


def kept_share(net: Network, calibration: Calibration, t: float, law: NoiseLaw = UNIT) -> float:
    """Return the probability that t keeps a release of zero counts non-negative: simulated, or a proved bound."""
    if is_simulated(net):
        return float(np.mean(needed(net, calibration, law) <= t))
    return 1 - float(negative_marginal_probability(net, noise=noise_under(net, calibration, law), t=t))


@session_cache(32, spinner="Simulating the noise …")
def needed(net: Network, calibration: Calibration, law: NoiseLaw = UNIT) -> np.ndarray:
    """Return simulated increments that make releases of the Fourier mechanism non-negative; they depend on the graph.

    With integer noise, which cannot be rescaled, they also depend on the scale.
    """
    draws = 10_000 if net.cell_count < 1000 else 2_000
    return needed_increments(net, calibration, stream(0, "stealth"), draws=draws, law=law)
