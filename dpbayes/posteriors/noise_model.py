"""The recipient's model of the noise: the distribution is public, and only the sample is secret."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.model.query import agreeing, places_of


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

    def answer_interval(
        self, tables: FloatArray, target: str, evidence: Mapping[str, str], level: float
    ) -> tuple[FloatArray, FloatArray]:
        """Return `share_interval` for P(target | evidence) in consistent tables (..., K): (..., r).

        The cells are those of a network whose only arrows lead from the evidence to the target. A family of this
        network must contain all these columns.
        """
        own = self.network
        parents = (tuple(evidence) if name == target else () for name in own.names)
        network = Network(own.names, own.states, tuple(parents))
        places = [own.closure.members.index(member) for member in network.closure.members]
        numbers = np.split(own.residuals.of_tables(tables), np.cumsum(own.residuals.sizes)[:-1], axis=-1)
        of_network = network.residuals.tables(np.concatenate([numbers[place] for place in places], axis=-1))
        aim, observed = places_of(network, target, evidence)
        cells = network.table(np.arange(network.cell_count), aim)[agreeing(network, aim, observed)]
        return NoiseModel(network, self.variances[places]).share_interval(of_network, level, cells)

    def share_interval(
        self, tables: FloatArray, level: float, cells: IntArray | slice | int
    ) -> tuple[FloatArray, FloatArray]:
        """Return intervals that contain the exact k/m of cells k in rows m at this level, by noise alone: (..., cells).

        The exact share p has k - p m = 0, so the k - p m of unbiased tables (..., K) is noise, whose variance is known
        for every p. The interval has each p at which it is within z standard deviations of 0 (Fieller 1954). It is from
        0 to 1 if the row is within z standard deviations of being empty.
        """
        rows, z = self.network.row_of_cell[cells], special.ndtri(min((1 + level) / 2, 1 - 1e-12))
        k, m, node = tables[..., cells], self.network.row_sums(tables)[..., rows], self.network.node_of_row[rows]
        total, contrast = (z**2 * own[node] for own in self.network.residuals.row_variances(self.variances))
        states = self.network.cards[node]
        of_cell = total / states**2 + contrast * (1 - 1 / states)
        a, b, c = m**2 - total, k * m - total / states, k**2 - of_cell  # a p^2 - 2 b p + c <= 0
        root, is_seen = np.sqrt(np.maximum(b**2 - a * c, 0.0)), (m > 0) & (a > 0)
        low, high = (np.clip(end / np.where(is_seen, a, 1.0), 0.0, 1.0) for end in (b - root, b + root))
        return np.where(is_seen, low, 0.0), np.where(is_seen, high, 1.0)
