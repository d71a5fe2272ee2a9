"""The subject and the setting of a bound: network, counts, parameters and axes."""

import enum
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Any, Self

import numpy as np

from dpbayes.base.memo import Memo
from dpbayes.base.parameters import Parameter, check_parameters, parameters_of
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets

MOST_VALUES, LEAST_RELEASES, MOST_RELEASES = 6_000_000, 400, 10_000
EPSILONS = 41

MOST_CELLS = 10_000
"""The largest number of cells of a network for which releases are simulated, at every point of a curve."""


Span = tuple[float, float, int]
"""The first value, the last value and the number of points of an axis, in equal ratios."""


class Axis(enum.Enum):
    """The horizontal axis of a bound: its name in a link, its title, and its span, if it has a separate one.

    Without a span, the points are the stops of the control with this name.
    """

    EPSILON = "ε", "ε, chosen privacy loss"
    RECORDS = "n", "n, records", (10.0, 1e6, 16)
    DELTA = "δ", "δ, probability that the bound fails", (1e-4, 0.5, 13)
    T = "t", "t, sets how many records are added", (0.01, 10.0, 61)
    OMEGA = "ω", "ω, least probability"
    PRIOR = "prior", "a, the prior’s pseudo-count of every cell", (0.1, 1000.0, 41)
    LOG_RATIO = "Lρ", "Lρ, largest change of the log-likelihood, nats"
    LEVEL = "L", "L, constant of the log-likelihood, nats per unit of distance"
    NORM_BOUND = "B", "B, norm bound of the weights"
    ANSWERS = "answers", "k, answers"
    RUNS = "runs", "R, runs"
    CHANGED = "records changed", "k, records that differ"
    SAMPLES = "samples", "n, samples"
    APART = "distance", "ρ, distance between the tables"
    SHIFT = "shift", "shift, in units of the sensitivity S(x)", (0.02, 2.0, 41)
    RATE = "λ", "λ, rate"
    SIZE = "records", "n, records"

    title: str
    span: Span | None

    def __new__(cls, name: str, title: str, span: Span | None = None) -> Self:
        """Create a member whose value is the name."""
        axis = object.__new__(cls)
        axis._value_ = name
        axis.title, axis.span = title, span
        return axis

    @property
    def symbol(self) -> str:
        """The symbol for sentences, which is the beginning of the title."""
        return self.title.partition(", ")[0]

    @property
    def field(self) -> str:
        """The corresponding field of the options or of the setting."""
        return "n" if self is Axis.RECORDS else self.name.lower()

    @property
    def control(self) -> str:
        """The control of the quantity."""
        return f"bounds.{self.field}"


_logarithmic = partial(Parameter, log=True)

_LOG_RATIO = "The largest change of the log-likelihood between the two tables, in nats."
_OMEGA = "The distance of every probability from 0 and 1. A smaller ω lets one record change more."
_DELTA = "The probability with which the bound may fail, between 0 and 1."


@dataclass(frozen=True, kw_only=True)
class ClaimParameters:
    """The parameters of bounds in addition to the network, the table, epsilon and the number of samples.

    Errors: InputError for a parameter out of range; the functions of the claims do not check them again.
    """

    delta: Annotated[float, _logarithmic(r"\delta", 1e-9, 1 - 1e-9, 0.05, title="delta", description=_DELTA)]
    t: Annotated[float, _logarithmic("t", 1e-3, 50, 0.2, title="non-negativity increment")]
    omega: Annotated[
        float,
        _logarithmic(r"\omega", 1e-4, 0.49, 0.1, title="omega", description=_OMEGA),
    ]
    gap: Annotated[
        float, _logarithmic("2t", 1e-3, 1, 0.2, title="shortfall", description="The difference from the best score.")
    ]
    start: Annotated[float, _logarithmic("L_0", 0.1, 100, 10, title="L0")]
    log_ratio: Annotated[float, _logarithmic(r"L \rho", 1e-3, 20, 0.5, title="log ratio", description=_LOG_RATIO)]
    level: Annotated[
        float,
        _logarithmic(
            "L", 1e-3, 1000, 2, title="Lipschitz constant L", description="In nats per unit of distance between tables."
        ),
    ]
    rate: Annotated[float, _logarithmic(r"\lambda", 1e-3, 100, 1, title="rate")]
    concentration: Annotated[float, _logarithmic("c", 1e-2, 1000, 1, title="concentration")]
    norm_bound: Annotated[float, _logarithmic("B", 1e-2, 1000, 1, title="norm bound")]
    features: Annotated[int, _logarithmic("d", 1, 1000, 5, title="features", whole=True)]
    noise_variance: Annotated[float, _logarithmic(r"\sigma^2", 1e-3, 1000, 1, title="noise variance")]
    answers: Annotated[int, _logarithmic("k", 1, 10**6, 10, title="answers", whole=True)]
    runs: Annotated[int, _logarithmic("R", 1, 1000, 10, title="runs", whole=True)]
    changed: Annotated[int, _logarithmic("k", 1, 1000, 5, title="records changed", whole=True)]
    samples: Annotated[int, _logarithmic("n", 1, 10**7, 100, title="samples", whole=True)]
    cells: Annotated[int, _logarithmic("m", 2, 100, 4, title="cells", whole=True)]
    apart: Annotated[float, _logarithmic(r"\rho", 1e-3, 1000, 1, title="distance")]
    error: Annotated[float, _logarithmic("d", 1e-6, 0.49, 0.05, title="share of games lost")]
    shift: Annotated[float, Parameter("s", 0.0, 10.0, 0.5, title="shift", description="In units of S(x).")]
    size: Annotated[int, _logarithmic("n", 1, 10**5, 20, title="records or trials", whole=True)]
    sides: Annotated[int, Parameter("m", 2, 6, 2, whole=True, title="sides of the die")]

    def __post_init__(self) -> None:
        check_parameters(self)

    @classmethod
    def usual(cls, **others: Any) -> "ClaimParameters":
        """Return the typical values, except for `others`."""
        typical: dict[str, Any] = {
            name: parameter.typical
            for name, parameter in parameters_of(ClaimParameters).items()
            if isinstance(parameter, Parameter)
        }
        return ClaimParameters(**(typical | others))


@dataclass(frozen=True, eq=False)
class Subject:
    """A network with a symmetric prior and, if there is a table, its public n; the counts are for the curator only.

    `memo` stores results that several claims use.
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
    def key(self) -> tuple[Hashable, ...]:
        """A key that identifies this subject."""
        return self.network, self.concentration, self.counts and self.counts.digest

    @property
    def required_counts(self) -> Counts:
        """The counts. Errors: InputError without counts, or without records."""
        if self.counts is None:
            raise InputError("This bound depends on the counts, but there are no counts here.")
        if self.counts.n == 0:
            raise InputError(
                "The table has no records: every released count is 0, and the released posterior is the exact one."
            )
        return self.counts

    @property
    def records(self) -> int:
        """The number of records. Errors: InputError without a table."""
        if self.n is None:
            raise InputError("This bound depends on the number of records, but there is no table here.")
        return self.n

    @property
    def releases(self) -> int:
        """The number of releases to simulate, which is smaller for large networks."""
        wanted = MOST_VALUES // (EPSILONS * self.network.cell_count)
        return max(LEAST_RELEASES, min(MOST_RELEASES, wanted))

    @property
    def too_large(self) -> str:
        """A sentence on the reason why releases are not simulated; "" if they are."""
        cells = self.network.cell_count
        if cells <= MOST_CELLS:
            return ""
        return (
            f"Nothing is simulated: {LEAST_RELEASES:,} releases of {cells:,} numbers each are too many for one point; "
            f"the limit is {MOST_CELLS:,} numbers. Remove parents on the Network page to see simulated releases."
        )


@dataclass(frozen=True)
class EvaluationPoint:
    """A setting: epsilons (E,), and one value of every other parameter."""

    epsilon: tuple[float, ...]
    draws: int
    knobs: ClaimParameters

    @property
    def epsilons(self) -> FloatArray:
        """The epsilons as an array (E,)."""
        return np.array(self.epsilon)


def moved(subject: Subject, at: EvaluationPoint, axis: Axis, x: float) -> tuple[Subject, EvaluationPoint]:
    """Return the subject and the setting with the axis at `x`."""
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


def scaled_counts(counts: Counts, n: int) -> Counts:
    """Return the counts of a table of `n` records with the same proportions, to the nearest whole numbers.

    Errors: InputError if n is not a whole number from 0 to a billion.
    """
    n = whole_number("The number of records", n, low=0, high=10**9)
    values = np.round(counts.values * (n / max(counts.n, 1))).astype(np.int64)
    return Counts(counts.network, values, n)


def place(subject: Subject, at: EvaluationPoint, axis: Axis) -> float:
    """Return the setting's position on the axis. Errors: InputError on the axis of records without a table."""
    if axis is Axis.RECORDS:
        return float(subject.records)
    if axis is Axis.PRIOR:
        return subject.concentration
    return float(at.epsilon[0] if axis is Axis.EPSILON else getattr(at.knobs, axis.field))


def grid(subject: Subject, axis: Axis) -> tuple[float, ...]:
    """Return the points of the curves: the slider's stops, or few points if one takes long to compute."""
    if axis is Axis.EPSILON:
        return tuple(float(f"{10 ** (ten / 10):.2g}") for ten in range(-20, 21))
    if axis is Axis.OMEGA:
        return tuple(np.geomspace(1e-4, 0.98 / max(2, int(subject.network.cards.max())), 41).tolist())
    if axis.span is not None:
        low, high, points = axis.span
        return tuple(float(f"{x:.3g}") for x in np.geomspace(low, high, points))
    parameter = parameters_of(ClaimParameters)[axis.field]
    assert isinstance(parameter, Parameter)
    return tuple(x for x in parameter.stops if x <= 100 * parameter.typical)
