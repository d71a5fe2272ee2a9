"""Simulation-based calibration: if theta is sampled from the prior, its rank in a calibrated posterior is uniform.

A table is sampled from theta, and a release from the table. The rank is P(value < theta) under the posterior. There is
no real table. [Talts18]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpbayes.base.estimates import Estimate
from dpbayes.base.randomness import stream
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.experiments.planned_tables import joint_counts
from dpbayes.mechanisms import Mechanism, Release, ReleasedPosterior
from dpbayes.model.dataset import Counts, count
from dpbayes.model.network import Network
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.noise_aware import POINTS

_JOINT = 1 << 14
"""Most joint states of a network whose table is sampled at once."""

_AT_ONCE = 360
"""Most cells of all releases of one step."""


@dataclass(frozen=True)
class Trial:
    """A mechanism with its network and prior, and the number of records; `name` is its name in tables."""

    name: str
    mechanism: Mechanism[ReleasedPosterior]
    n: int


Reader = Callable[[Trial, Release[ReleasedPosterior], FloatArray], FloatArray]
"""Returns the ranks (releases, C): P(value < theta) of cells (C,) under the posteriors of a setting's releases."""


def as_real(setting: Trial, release: Release[ReleasedPosterior], theta: FloatArray) -> FloatArray:
    """Return the ranks of a naive recipient, who treats noisy counts as exact counts, as the papers do."""
    posterior, cells = release.posterior, free_cells(setting.mechanism.prior.network)
    return np.asarray(special.betainc(posterior.alpha[..., cells], posterior.rest[..., cells], theta[..., cells]))


def row_wise(points: int = POINTS) -> Reader:
    """Return the reader of the row-wise noise-aware posterior, with so many points per row."""

    def read(setting: Trial, release: Release[ReleasedPosterior], theta: FloatArray) -> FloatArray:
        cells = free_cells(setting.mechanism.prior.network)
        return release.noise_aware(points=points).marginals(cells).cumulative(theta[..., cells])

    return read


def together(setting: Trial, release: Release[ReleasedPosterior], theta: FloatArray) -> FloatArray:
    """Return the ranks under the joint noise-aware posterior."""
    cells = free_cells(setting.mechanism.prior.network)
    return release.joint_noise_aware().marginals(cells).cumulative(theta[..., cells])


def free_cells(network: Network) -> IntArray:
    """Return all cells but the last of each row, which the others determine: (C,)."""
    ends = np.append(network.row_starts[1:], network.cell_count) - 1
    return np.setdiff1d(np.arange(network.cell_count), ends)


@dataclass(frozen=True, eq=False)
class Ranks:
    """P(value < theta) under the posterior, by release and cell (R, C): uniform if the posterior is calibrated.

    Cells of one release are dependent, so standard errors are computed from independent releases.
    """

    values: FloatArray

    def coverage(self, level: float) -> Estimate:
        """Return how often the central interval of this level contains the true value."""
        return Estimate.of((np.abs(self.values - 0.5) <= level / 2).mean(axis=-1))

    @property
    def spread(self) -> Estimate:
        """Return the mean square of the ranks as normal scores: 1 if calibrated, larger if intervals are too narrow."""
        scores = special.ndtri(np.clip(self.values, 1e-12, 1 - 1e-12))
        return Estimate.of((scores**2).mean(axis=-1))


def ranks(setting: Trial, readers: Sequence[Reader], *, seed: int, releases: int) -> tuple[Ranks, ...]:
    """Return the ranks of so many true values under every reader of the same releases.

    The numbers of a setting depend on the seed and on the setting alone.
    """
    rng = stream(seed, "calibration", setting.name, setting.n, repr(setting.mechanism.certified.epsilon))
    parts: list[list[FloatArray]] = [[] for _ in readers]
    prior = setting.mechanism.prior
    for part in slices(releases, _AT_ONCE // prior.network.cell_count):
        theta = prior.sample(rng, (part.stop - part.start,))
        counts = Counts(prior.network, drawn_counts(prior.network, theta, setting.n, rng), setting.n)
        release = setting.mechanism.simulate(counts, rng)
        for values, reader in zip(parts, readers, strict=True):
            values.append(reader(setting, release, theta))
    return tuple(Ranks(np.concatenate(values)) for values in parts)


def drawn_counts(network: Network, cpts: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    """Draw the counts of a table of n records from each of many CPTs (R, K): (R, K).

    In a forest, a node's table depends on its parent's column only through the counts of the parent's states. Small
    networks have few joint states. For other networks, the records of each table are sampled.
    """
    if all(len(family) <= 2 for family in network.families):
        return _forest_counts(network, cpts, n, rng)
    if int(np.prod(network.cards)) <= _JOINT:
        return joint_counts(network, cpts, n, rng)
    return np.stack([count(network, sample_dataset(network, theta, n, rng)).values for theta in cpts])


def _forest_counts(network: Network, cpts: FloatArray, n: int, rng: np.random.Generator) -> IntArray:
    counts = np.zeros(cpts.shape, dtype=np.int64)
    of_states: dict[int, IntArray] = {}
    for node in network.order:
        cells = slice(network.cell_offsets[node], network.cell_offsets[node + 1])
        chances = cpts[:, cells].reshape(len(cpts), -1, int(network.cards[node]))
        parents = network.families[node][:-1]
        records = of_states[parents[0]] if parents else np.full((len(cpts), 1), n)
        drawn = rng.multinomial(records, chances / chances.sum(axis=-1, keepdims=True))
        counts[:, cells], of_states[node] = drawn.reshape(len(cpts), -1), drawn.sum(axis=1)
    return counts
