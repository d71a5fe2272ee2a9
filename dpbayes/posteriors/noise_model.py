"""The recipient's model of the noise: the distribution is public, and only the sample is secret."""

import enum
from dataclasses import dataclass

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.model.network import Network


class Reading(enum.Enum):
    """The way in which a recipient reads released tables."""

    NOISE_AWARE = "knows of the noise"
    AS_REAL = "takes counts as real"

    @property
    def label(self) -> str:
        """The name of this reading on a page; links and documents use the value."""
        return "noise-aware" if self is Reading.NOISE_AWARE else "naive"


@dataclass(frozen=True, eq=False)
class NoiseModel:
    """The noise of released tables (..., K), clipped to [0, n] or not, in terms of the residuals of the tables.

    `variances` (M,) is the variance of every number of each residual of `Residuals.consistent`, in squared counts; the
    noise has mean zero. If independent Laplace noise, real-valued or integer, was added to every cell, `scale` is its b
    and `sd` its standard deviation. Otherwise both are 0.
    """

    network: Network
    variances: FloatArray
    scale: float = 0.0
    sd: float = 0.0

    def __post_init__(self) -> None:
        variances = np.asarray(self.variances, dtype=np.float64)
        if variances.shape != (len(self.network.closure),) or not (variances >= 0).all():
            raise InputError(
                f"Noise needs one non-negative variance for each of the {len(self.network.closure)} residuals."
            )
        object.__setattr__(self, "variances", variances)

    @classmethod
    def laplace_cells(cls, network: Network, *, scale: float, sd: float) -> "NoiseModel":
        """Return the model of Laplace noise of scale b and this standard deviation in every cell."""
        return cls(network, sd**2 * network.residuals.of_unit_cells, scale, sd)

    @classmethod
    def gaussian_cells(cls, network: Network, *, sd: float) -> "NoiseModel":
        """Return the model of Gaussian noise in every cell, not clipped; least squares preserve all its information."""
        return cls(network, sd**2 * network.residuals.of_unit_cells)

    @classmethod
    def coefficients(cls, network: Network, *, variances: FloatArray) -> "NoiseModel":
        """Return the model of independent noise on integer Walsh coefficients with these variances (M,); n is public.

        The residual of a set of k binary nodes is the coefficient divided by 2^(k/2).
        """
        sizes = np.array([member.bit_count() for member in network.closure.members])
        return cls(network, np.where(sizes > 0, variances / 2.0**sizes, 0.0))
