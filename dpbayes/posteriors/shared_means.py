"""A hierarchical prior: the rows of a node have Dirichlet distributions with one common, unknown mean."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import special

from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number, leading
from dpbayes.model.network import Network
from dpbayes.posteriors.answers import DRAWS, even_scores
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR, WIDE_SIZE, Dirichlets

CONCENTRATION = 4.0
"""The concentration of rows around their shared mean; docs/calibration.md compares several."""

_LOG_VARIANCE = math.pi**2 / 6
"""The variance of ln of a standard exponential variable. For a uniform distribution of mu, ln(mu_k / mu_r) has twice
this variance, and two of these log ratios have this covariance."""

LEAST = 1e-9
"""The smallest parameter of a row given the shared mean."""


@dataclass(frozen=True, eq=False)
class SharedMeans(Dirichlets):
    """Rows theta ~ Dirichlet(s mu), with one unknown mean mu for all rows of a node.

    The log ratios ln(mu_k / mu_r) are normal, with the mean and covariance that they have if mu is uniform. The joint
    noise-aware posterior computes mu together with the rows. All other computations treat rows as independent, with the
    parameters `alpha`.

    Args:
        network: The network.
        alpha: The parameters (K,) of independent rows; `wide` nearly matches the mean and variance of a row.
        concentrations: s for every node (|I|,), in records; 0 for a node with independent rows.

    Raises:
        InputError: `alpha` has another shape or a value that is not positive and finite; a concentration is negative or
            not finite, or positive for a node without parents or with one state.

    Example:
        >>> network = dp.naive_bayes(2)
        >>> prior = dp.SharedMeans.wide(network, cells=3)
        >>> prior.sample(np.random.default_rng(1), 200).shape
        (200, 10)
    """

    concentrations: FloatArray

    def __post_init__(self) -> None:
        super().__post_init__()
        values, network = np.asarray(self.concentrations, dtype=np.float64), self.network
        if values.shape != (len(network.names),) or not (np.isfinite(values) & (values >= 0)).all():
            raise InputError(
                f"Shared means need one concentration, at least 0 and finite, for each of the {len(network.names)} "
                "nodes."
            )
        if self.alpha.ndim != 1 or (values[~_has_rows(network)] > 0).any():
            raise InputError("Only rows of nodes with parents and at least two states can share a mean.")
        object.__setattr__(self, "concentrations", values)

    @classmethod
    def wide(cls, network: Network, concentration: float = CONCENTRATION, *, cells: float = WIDE_SIZE) -> "SharedMeans":
        """Return the prior in which the rows of every wide node share a mean; other rows are uniform.

        The network is public, and so is the prior.

        Args:
            network: The network.
            concentration: s, in records: the larger, the more alike are the rows.
            cells: The number of cells above which a node is wide.

        Returns:
            The prior.

        Raises:
            InputError: The concentration is outside of its range.

        Example:
            >>> dp.SharedMeans.wide(dp.chain(2), cells=3).alpha.round(2)
            array([1.  , 1.  , 0.57, 0.57, 0.57, 0.57])
        """
        size = finite_number("The concentration", concentration, low=LEAST_PRIOR, high=MOST_PRIOR)
        numbers, r = np.diff(network.cell_offsets), network.cards
        is_wide = _has_rows(network) & (numbers > cells)
        # If mu is uniform, a cell has the variance of a Dirichlet row whose parameters have this sum.
        total = (r + 1) * (size + 1) / (r + size + 1) - 1
        alpha = np.where(is_wide, total / r, 1.0)
        return cls(network, np.repeat(alpha, numbers), np.where(is_wide, size, 0.0))

    @property
    def _title(self) -> str:
        nodes = int((self.concentrations > 0).sum())
        return f"SharedMeans of {nodes:,} of {len(self.network.names):,} nodes"

    # Log ratios

    @cached_property
    def ratios(self) -> dict[int, IntArray]:
        """The indices of the log ratios of every node whose rows share a mean, in a vector of all E log ratios."""
        ends = np.cumsum(np.where(self.concentrations > 0, self.network.cards - 1, 0))
        starts = np.concatenate(([0], ends[:-1]))
        return {int(node): np.arange(starts[node], ends[node]) for node in np.flatnonzero(self.concentrations > 0)}

    @property
    def ratio_count(self) -> int:
        """E: the number of log ratios of all nodes."""
        return sum(len(own) for own in self.ratios.values())

    def parameters(self, log_ratios: FloatArray) -> FloatArray:
        """Return the rows' Dirichlet parameters (..., K) given the log ratios (..., E)."""
        alpha = np.broadcast_to(self.alpha, (*log_ratios.shape[:-1], len(self.alpha))).copy()
        for node, own in self.ratios.items():
            cells = slice(self.network.cell_offsets[node], self.network.cell_offsets[node + 1])
            mean = self.concentrations[node] * shared_means(log_ratios[..., own])
            alpha[..., cells] = np.tile(np.maximum(mean, LEAST), int(self.network.rows_per_node[node]))
        return alpha

    def _drawn_parameters(self, scores: FloatArray) -> FloatArray:
        """Return parameters (..., K) for standard normal numbers (..., E)."""
        log_ratios = np.empty(scores.shape)
        for own in self.ratios.values():
            root = np.linalg.cholesky(log_ratio_covariance(len(own) + 1))
            log_ratios[..., own] = scores[..., own] @ root.T
        return self.parameters(log_ratios)

    def _even_parameters(self) -> FloatArray:
        return self._drawn_parameters(even_scores((DRAWS, self.ratio_count), 4))

    def sample(self, rng: np.random.Generator, size: int | tuple[int, ...] = ()) -> FloatArray:
        """Sample CPTs (*size, K): the shared means, and then the rows given these."""
        alpha = self._drawn_parameters(rng.standard_normal((*leading(size), self.ratio_count)))
        return Dirichlets(self.network, alpha).sample(rng)


def _has_rows(network: Network) -> BoolArray:
    """Whether nodes have parents and at least two states: (|I|,)."""
    return np.array([len(family) > 1 for family in network.families]) & (network.cards > 1)


def shared_means(log_ratios: FloatArray) -> FloatArray:
    """Return mu (..., r) from ln(mu_k / mu_r) (..., r - 1)."""
    logs = np.concatenate((log_ratios, np.zeros((*log_ratios.shape[:-1], 1))), axis=-1)
    return np.asarray(special.softmax(logs, axis=-1))


def log_ratio_covariance(r: int) -> FloatArray:
    """Return the covariance (r - 1, r - 1) of the log ratios of a node with r states."""
    return _LOG_VARIANCE * (np.eye(r - 1) + 1)
