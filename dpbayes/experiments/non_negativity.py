"""How often a Fourier release has a negative count, against the increment t, as it is proved for every table."""

import math

from numpy.typing import ArrayLike

from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.fourier import noise_under
from dpbayes.theory.zhang16.stealth import certified_increment, negative_marginal_probability


def proved_share(network: Network, calibration: Calibration, t: ArrayLike, law: NoiseLaw = UNIT) -> FloatArray:
    """Return the largest share of releases with a negative count that is proved, for t (...)."""
    return negative_marginal_probability(network, noise=noise_under(network, calibration, law), t=t)


def sufficient_increment(network: Network, calibration: Calibration, share: float, law: NoiseLaw = UNIT) -> float:
    """Return the t at which at most this share of releases has a negative count, rounded up."""
    t = certified_increment(network, 1 - share, noise=noise_under(network, calibration, law))
    return math.ceil(t * 1e4) / 1e4
