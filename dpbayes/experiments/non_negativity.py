"""How often a Fourier release has a negative count, against the increment t: simulated, and proved for every table."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.randomness import stream
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms import LaplaceFourier
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.mechanisms.stealth import needed_increments
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.fourier import invented_records, noise_under
from dpbayes.theory.zhang16.stealth import certified_increment, negative_marginal_probability

DRAWS, MOST_CELLS = 4_000, 2_000
"""Simulated releases, and cells of the largest network whose releases are simulated."""


def proved_share(network: Network, calibration: Calibration, t: ArrayLike, law: NoiseLaw = UNIT) -> FloatArray:
    """Return the largest share of releases with a negative count that is proved, for t (...)."""
    return negative_marginal_probability(network, noise=noise_under(network, calibration, law), t=t)


def sufficient_increment(network: Network, calibration: Calibration, share: float, law: NoiseLaw = UNIT) -> float:
    """Return the t at which at most this share of releases has a negative count, rounded up."""
    t = certified_increment(network, 1 - share, noise=noise_under(network, calibration, law))
    return math.ceil(t * 1e4) / 1e4


@dataclass(frozen=True, eq=False)
class NonNegativity:
    """Fourier releases of a network without records, which is the worst case. It follows from public values alone.

    Attributes:
        network: A network of binary nodes.
        calibration: The sensitivity of the noise: proved, or as stated in the paper.
        epsilon: The epsilon at which the added records are counted.
    """

    network: Network
    calibration: Calibration
    epsilon: float = 1.0

    def __post_init__(self) -> None:
        LaplaceFourier(prior=self.network, epsilon=self.epsilon, calibration=self.calibration)

    @cached_property
    def needed(self) -> FloatArray:
        """The t that each simulated release of zero counts needs; none of a large network."""
        if self.network.cell_count > MOST_CELLS:
            return np.empty(0)
        return needed_increments(self.network, self.calibration, stream(0, "stealth"), draws=DRAWS)

    def proved(self, t: ArrayLike) -> FloatArray:
        """Return `proved_share` for t (...)."""
        return proved_share(self.network, self.calibration, t)

    def added(self, t: ArrayLike) -> FloatArray:
        """Return the records that are added to every table, for t (...)."""
        return invented_records(
            self.network, noise=noise_under(self.network, self.calibration), epsilon=self.epsilon, t=t
        )
