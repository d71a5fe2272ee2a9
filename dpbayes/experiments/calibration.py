"""Simulation-based calibration: if theta is sampled from the prior, its rank in a calibrated posterior is uniform.

A table is sampled from theta, and a release from the table. The rank is P(value < theta) under the posterior. There is
no real table. [Talts18]
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from dpbayes.base.estimates import Estimate
from dpbayes.base.libraries import pd
from dpbayes.base.looks import BOUND, PRIVATE, Curve, Look
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Partial, Work, part_of, slices
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.experiments.least_epsilon.tables import joint_counts
from dpbayes.mechanisms import (
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    Mechanism,
    Noise,
    Release,
    ReleasedPosterior,
    WeightedFourier,
)
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.counts import Counts, count
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_aware import POINTS
from dpbayes.sources.named_networks import chain, load_named, naive_bayes
from dpbayes.sources.synthetic import sample_dataset

LEVELS = (0.5, 0.8, 0.95)
"""Levels of the central intervals whose coverage is reported."""

_JOINT = 1 << 14
"""Most joint states of a network whose table is sampled at once."""

_AT_ONCE = 360
"""Most cells of all releases of one step."""


PosteriorMechanism = Mechanism[ReleasedPosterior]
"""A mechanism whose releases state their noise."""


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


def aware(points: int = POINTS) -> Reader:
    """Return the noise-aware reader, with so many points per row."""

    def read(setting: Trial, release: Release[ReleasedPosterior], theta: FloatArray) -> FloatArray:
        cells = free_cells(setting.mechanism.prior.network)
        law = release.noise_aware(points=points)
        return law.cumulative(theta[..., cells], cells=cells)

    return read


AS_REAL = Look("naive", BOUND, "dash", "square")
AWARE = Look("noise-aware", PRIVATE)


def readings(points: int = POINTS) -> dict[Look, Reader]:
    """Return the compared readers of releases.

    With a quarter of the points, the time is a quarter, and intervals are 1% too narrow.
    """
    return {AS_REAL: as_real, AWARE: aware(points)}


def free_cells(network: Network) -> IntArray:
    """Return all cells but the last of each row, which the others determine: (C,)."""
    ends = np.append(network.row_starts[1:], network.cell_count) - 1
    return np.setdiff1d(np.arange(network.cell_count), ends)


# Ranks


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


def ranks(
    setting: Trial, readers: Sequence[Reader], rng: np.random.Generator, *, releases: int
) -> Work[tuple[Ranks, ...]]:
    """Return the ranks of so many true values under every reader of the same releases, in steps."""
    parts: list[list[FloatArray]] = [[] for _ in readers]
    prior = setting.mechanism.prior
    for part in slices(releases, _AT_ONCE // prior.network.cell_count):
        theta = prior.sample(rng, (part.stop - part.start,))
        counts = Counts(prior.network, drawn_counts(prior.network, theta, setting.n, rng), setting.n)
        release = setting.mechanism.release(counts, rng)
        for values, reader in zip(parts, readers, strict=True):
            values.append(reader(setting, release, theta))
        yield Partial(part.stop / releases, tuple(Ranks(np.concatenate(values)) for values in parts))
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


# Many settings


@dataclass(frozen=True, eq=False)
class CalibrationStudy:
    """Ranks under every reader for each setting computed so far."""

    settings: tuple[Trial, ...]
    looks: tuple[Look, ...]
    ranks: tuple[tuple[Ranks, ...], ...]

    def frame(self) -> "pd.DataFrame":
        """Return coverage and spread with their standard errors: a row for every setting and reader."""
        return pd.DataFrame(
            [
                self._line(setting, look, look_ranks)
                for setting, here in zip(self.settings, self.ranks, strict=False)
                for look, look_ranks in zip(self.looks, here, strict=True)
            ]
        )

    def _line(self, setting: Trial, look: Look, look_ranks: Ranks) -> dict[str, Any]:
        line: dict[str, Any] = {
            "setting": setting.name,
            "n": setting.n,
            "epsilon": setting.mechanism.certified.epsilon,
            "reading": look.name,
            "releases": len(look_ranks.values),
        }
        named = {f"coverage of {level:.0%}": look_ranks.coverage(level) for level in LEVELS} | {
            "spread": look_ranks.spread
        }
        for name, estimate in named.items():
            line |= {name: estimate.value, f"{name}, error": estimate.error}
        return line

    def curves(self, level: float = 0.95) -> tuple[Curve, ...]:
        """Return coverage against epsilon for every reader, for settings that differ only in epsilon."""
        done = self.settings[: len(self.ranks)]
        epsilons = np.array([setting.mechanism.certified.epsilon for setting in done])
        order = np.argsort(epsilons)
        curves = []
        for k, look in enumerate(self.looks):
            covered = [here[k].coverage(level) for here in self.ranks]
            y, error = (
                np.array([estimate.value for estimate in covered]),
                np.array([estimate.error for estimate in covered]),
            )
            curves.append(Curve(look, epsilons[order], y[order], error[order]))
        return tuple(curves)


def calibrate(
    settings: Sequence[Trial], *, seed: int, releases: int, readers: Mapping[Look, Reader] | None = None
) -> Work[CalibrationStudy]:
    """Return the ranks of all settings, in steps; the numbers of a setting do not depend on other settings."""
    readers = readings() if readers is None else readers
    settings, looks = tuple(settings), tuple(readers)
    done: list[tuple[Ranks, ...]] = []
    for k, setting in enumerate(settings):
        yield Partial(k / len(settings), CalibrationStudy(settings, looks, tuple(done)))
        labels = ("calibration", setting.name, setting.n, repr(setting.mechanism.certified.epsilon))
        work = ranks(setting, tuple(readers.values()), stream(seed, *labels), releases=releases)
        done.append((yield from part_of(work, k / len(settings), (k + 1) / len(settings))))
    return CalibrationStudy(settings, looks, tuple(done))


EPSILONS = tuple(float(epsilon) for epsilon in np.geomspace(0.1, 100, 7))
"""The epsilons at which coverage is reported."""


def combinations() -> tuple[Trial, ...]:
    """Return the settings whose calibration is tested and printed, with 1 or 0.3 in every cell of the prior."""
    asia, six = Dirichlets.symmetric(load_named("asia")[0]), chain(6)
    names = [f"v{k}" for k in range(5)]
    above = [("v0", "v1"), ("v0", "v2"), ("v1", "v3"), ("v1", "v4")]
    ternary = Dirichlets.symmetric(Network.from_edges(names, above, dict.fromkeys(names, "abc")))
    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    mixed = Dirichlets.symmetric(
        Network.from_edges("abcd", edges, {"a": "xyz", "b": ("only",), "c": "01", "d": "0123"})
    )
    whole, printed = Noise.WHOLE, Calibration.AS_PRINTED
    return (
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=1.0), 50),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=0.1), 1000),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=10.0), 1000),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=1.0), 100_000),
        Trial("Asia, whole Laplace", LaplaceUpdates(prior=asia, epsilon=1.0, noise=whole), 1000),
        Trial("Asia, Fourier", LaplaceFourier(prior=asia, epsilon=1.0), 1000),
        Trial("Asia, Fourier as printed", LaplaceFourier(prior=asia, epsilon=3.0, calibration=printed), 1000),
        Trial("chain of 6, Fourier", LaplaceFourier(prior=six, epsilon=0.1), 1000),
        Trial("chain of 6, Laplace", LaplaceUpdates(prior=six, epsilon=1.0), 1000),
        Trial("chain of 6, alpha 0.3", LaplaceUpdates(prior=Dirichlets.symmetric(six, 0.3), epsilon=1.0), 200),
        Trial("ternary tree, Laplace", LaplaceUpdates(prior=ternary, epsilon=1.0), 1000),
        Trial("mixed states, Laplace", LaplaceUpdates(prior=mixed, epsilon=0.3), 300),
        Trial("naive Bayes 16, Laplace", LaplaceUpdates(prior=naive_bayes(16), epsilon=1.0), 1000),
        Trial("Asia, consistent Laplace", ConsistentLaplace(prior=asia, epsilon=1.0), 1000),
        Trial("Asia, weighted Fourier", WeightedFourier(prior=asia, epsilon=1.0), 1000),
        Trial("mixed states, Gaussian", GaussianUpdates(prior=mixed, epsilon=1.0), 1000),
        Trial("mixed states, Gaussian residuals", GaussianResiduals(prior=mixed, epsilon=1.0, noise=whole), 1000),
        Trial("two nodes, whole Laplace", LaplaceUpdates(prior=chain(2), epsilon=0.3, noise=whole), 50),
    )


def against_epsilon(
    name: str, mechanism: Callable[[float], PosteriorMechanism], n: int, *, epsilons: tuple[float, ...] = EPSILONS
) -> tuple[Trial, ...]:
    """Return settings that differ only in epsilon, for `CalibrationStudy.curves`."""
    return tuple(Trial(name, mechanism(epsilon), n) for epsilon in epsilons)
