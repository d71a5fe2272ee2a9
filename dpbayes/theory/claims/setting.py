"""What a bound is evaluated on and at, and what several bounds share."""

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dpbayes.base.memo import Memo
from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.stealth import Needed, UnitNoise, least_noise
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.theory.claims.options import Axis, BoundsOptions
from dpbayes.theory.zhang16.kl_study import KlStudy, simulate_kl
from dpbayes.theory.zhang16.map import MOST_RECORDS, TrimmedRow
from dpbayes.theory.zhang16.posterior_kl import PosteriorKl, posterior_kl
from dpbayes.theory.zhang16.truths import scaled_counts

MOST_VALUES, LEAST_RELEASES, MOST_RELEASES = 6_000_000, 400, 10_000
EPSILONS = 41

MOST_CELLS = 10_000
"""Cells of a network of which LEAST_RELEASES are still drawn at once, at every point of a curve."""


@dataclass(frozen=True, eq=False)
class Subject:
    """A network with a symmetric prior and, where there is a table, its public n; the counts for the curator only.

    `memo` keeps what several claims share.
    """

    network: Network
    concentration: float
    n: int | None
    counts: Counts | None
    seed: int
    memo: Memo = field(default_factory=Memo)

    @property
    def prior(self) -> Dirichlets:
        """The prior. Errors: InputError for a concentration out of range."""
        return Dirichlets.symmetric(self.network, self.concentration)

    @property
    def digest(self) -> str:
        """A text that tells the counts apart, empty where there are none."""
        return "" if self.counts is None else self.counts.digest

    @property
    def key(self) -> tuple[Hashable, ...]:
        """What tells this subject from others."""
        return self.network, self.concentration, self.digest

    @property
    def held(self) -> Counts:
        """The counts. Errors: InputError where there are none, or no records."""
        if self.counts is None:
            raise InputError("This bound depends on the counts, and there are none here.")
        if self.counts.n == 0:
            raise InputError(
                "The table has no records: every released count is 0, and the released posterior is the exact one."
            )
        return self.counts

    @property
    def records(self) -> int:
        """The number of records. Errors: InputError where there is no table."""
        if self.n is None:
            raise InputError("This bound depends on the number of records, and there is no table here.")
        return self.n

    @property
    def releases(self) -> int:
        """How many releases to simulate: fewer of a large network."""
        wanted = MOST_VALUES // (EPSILONS * self.network.cell_count)
        return max(LEAST_RELEASES, min(MOST_RELEASES, wanted))

    @property
    def too_large(self) -> str:
        """Why releases of this network are not simulated here, in a sentence; "" where they are."""
        cells = self.network.cell_count
        if cells <= MOST_CELLS:
            return ""
        return (
            f"Nothing is simulated: {LEAST_RELEASES:,} releases of {cells:,} numbers each are too many for a point; "
            f"up to {MOST_CELLS:,} numbers are drawn. Remove parents on the Network page to see simulated releases."
        )


@dataclass(frozen=True)
class At:
    """A setting: epsilons (E,), and one value of everything else."""

    epsilon: tuple[float, ...]
    draws: int
    knobs: BoundsOptions

    @property
    def epsilons(self) -> FloatArray:
        """The epsilons as an array (E,)."""
        return np.array(self.epsilon)


def moved(subject: Subject, at: At, axis: Axis, x: float) -> tuple[Subject, At]:
    """Return subject and setting with what the axis stands for put at `x`."""
    if axis is Axis.RECORDS:
        n = round(x)
        counts = scaled_counts(subject.counts, n) if subject.counts is not None else None
        return replace(subject, n=n, counts=counts), at
    if axis is Axis.PRIOR:
        return replace(subject, concentration=x), at
    if axis is Axis.EPSILON:
        return subject, replace(at, epsilon=(x,))
    knob: dict[str, Any] = {axis.field: x}
    return subject, replace(at, knobs=replace(at.knobs, **knob))


def place(subject: Subject, at: At, axis: Axis) -> float:
    """Return where on the axis the setting is. Errors: InputError without a table on the axis of records."""
    if axis is Axis.RECORDS:
        return float(subject.records)
    if axis is Axis.PRIOR:
        return subject.concentration
    return float(at.epsilon[0] if axis is Axis.EPSILON else getattr(at.knobs, axis.field))


def grid(subject: Subject, axis: Axis) -> tuple[float, ...]:
    """Return where the curves are drawn: at the slider's stops, or at few points where one takes long to compute."""
    if axis is Axis.EPSILON:
        return tuple(float(f"{10 ** (ten / 10):.2g}") for ten in range(-20, 21))
    if axis is Axis.OMEGA:
        return tuple(np.geomspace(1e-4, 0.98 / max(2, int(subject.network.cards.max())), 41).tolist())
    if axis in SPANS:
        low, high, points = SPANS[axis]
        return tuple(float(f"{x:.3g}") for x in np.geomspace(low, high, points))
    parameter = parameters_of(BoundsOptions)[axis.field]
    assert isinstance(parameter, Parameter)
    return tuple(x for x in parameter.stops if x <= 100 * parameter.typical)


SPANS = {
    Axis.DELTA: (1e-4, 0.5, 13),
    Axis.T: (0.01, 10.0, 61),
    Axis.PRIOR: (0.1, 1000.0, 41),
    Axis.RECORDS: (10.0, 1e6, 16),
    Axis.SHIFT: (0.02, 2.0, 41),
}


# What several claims share


def kl_bounds(subject: Subject, at: At) -> PosteriorKl:
    """Return Theorem 1 for the curator's counts. Errors: InputError without counts."""
    counts, delta = subject.held, at.knobs.delta
    key = (*subject.key, at.epsilon, delta)
    return subject.memo.once(key, posterior_kl, subject.prior, counts, epsilon=at.epsilons, delta=delta)


def kl_study(subject: Subject, at: At) -> KlStudy:
    """Return simulated releases of the curator's counts. Errors: InputError without counts."""
    return subject.memo.once((*subject.key, at.epsilon, subject.releases, subject.seed), _kl_study, subject, at)


def _kl_study(subject: Subject, at: At) -> KlStudy:
    rng = stream(subject.seed, "bounds", "posterior KL")
    return simulate_kl(subject.prior, subject.held, epsilon=at.epsilons, releases=subject.releases, rng=rng)


def trimmed_row(subject: Subject, at: At) -> TrimmedRow:
    """Return the row that Corollary 4 is shown for, with its sensitivity once found. Errors: InputError."""
    if subject.records > MOST_RECORDS:
        raise InputError(
            f"This is shown for a row of at most {MOST_RECORDS:,} records, since the score's sensitivity is sought "
            f"among all tables of the row, and there are {subject.records:,}. Choose a smaller table on the Data page."
        )
    row = (subject.concentration, subject.concentration, at.knobs.omega, subject.records)
    return subject.memo.once(row, TrimmedRow, *row)


def needed_increments(subject: Subject) -> Needed:
    """Return simulated increments that keep the tables of empty releases non-negative, with the printed noise."""
    return subject.memo.once((subject.network, subject.releases, subject.seed), _needed_increments, subject)


def _needed_increments(subject: Subject) -> Needed:
    rng, draws = stream(subject.seed, "bounds", "stealth"), 4 * subject.releases
    return least_noise(UnitNoise.draw(subject.network, Calibration.AS_PRINTED, rng, draws=draws)).needed()
