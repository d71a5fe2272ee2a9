"""The non-negativity increment t for a network, and how often a release has a negative count, both proved."""

import math

from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.fourier import noise_under
from dpbayes.theory.zhang16.stealth import certified_increment, negative_marginal_probability
from dpbayes.ui.session.kept import session_cache

STEALTH = 0.9
"""The default probability that a Fourier release is non-negative."""


@session_cache(128)
def stealth_increment(net: Network, calibration: Calibration, probability: float, law: NoiseLaw = UNIT) -> float:
    """Return the t at which releases of this graph are non-negative with this probability, rounded up."""
    t = certified_increment(net, probability, noise=noise_under(net, calibration, law))
    return math.ceil(t * 1e4) / 1e4


def largest_negative_share(net: Network, calibration: Calibration, t: float, law: NoiseLaw = UNIT) -> float:
    """Return the largest share of releases with a negative count that t allows, whatever the table."""
    return float(negative_marginal_probability(net, noise=noise_under(net, calibration, law), t=t))
