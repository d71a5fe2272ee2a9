"""What every mechanism speaks: what it takes, what it promises, and what it hands over."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, overload

import numpy as np

from dpbayes.base.parameters import Choice, Parameter, check_parameters
from dpbayes.base.privacy import Guarantee
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.model.counts import Counts
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import MOST_PRIOR, Dirichlets

EPSILON = Parameter(
    r"\epsilon",
    low=1e-3,
    high=1e3,
    typical=1.0,
    log=True,
    description="How much one record may change the odds of any released value: by at most a factor of exp(epsilon).",
)


LEAST_ALPHA = 1e-300
"""Least Dirichlet parameter of a mechanism's prior: a logarithm divided by a smaller one would overflow."""


class Calibration(enum.Enum):
    """Which sensitivity the noise is scaled to."""

    CERTIFIED = "certified"
    AS_PRINTED = "as printed"

    @property
    def suffix(self) -> str:
        """What it adds to a mechanism's name: nothing where it is the certified one."""
        return " as printed" if self is Calibration.AS_PRINTED else ""


class Noise(enum.Enum):
    """What is added to whole numbers: real ones, as in the papers, or whole ones, as in a real release."""

    REAL = "real numbers"
    WHOLE = "whole numbers"

    @property
    def symbol(self) -> str:
        """The Laplace law as LaTeX."""
        return r"\mathrm{Lap}" if self is Noise.REAL else r"\mathrm{Lap}_{\mathbb{Z}}"

    @property
    def drawn(self) -> str:
        """What is drawn, as a sentence to add: nothing where it is the usual law."""
        return "" if self is Noise.REAL else " The noise is of whole numbers."

    @property
    def told(self) -> str:
        """What the symbol means, as a sentence to add: nothing where it is the usual law."""
        if self is Noise.REAL:
            return ""
        return f" ${self.symbol}(b)$ draws whole numbers, $P[k] \\propto e^{{-|k|/b}}$."


NOISE = Choice(
    Noise,
    title="noise",
    description="The papers add real numbers, whose last digits may betray what they were added to. "
    "A real release adds whole numbers; at the same scale they promise the same epsilon.",
)


OutcomeT_co = TypeVar("OutcomeT_co", bound="Outcome", covariant=True)


class Outcome(Protocol):
    """Anything a release may hold: its numbers, CPT probabilities (..., K), and some of a batch of releases."""

    @property
    def numbers(self) -> FloatArray: ...

    @property
    def probabilities(self) -> FloatArray: ...

    def part(self, releases: int | slice) -> Self: ...


@dataclass(frozen=True, eq=False)
class ReleasedPosterior:
    """A posterior handed over as updates (..., K) to a public prior; Fourier updates may be negative.

    The posterior is formed from the updates clipped below at zero, which is post-processing and costs no privacy.
    """

    prior: Dirichlets
    updates: FloatArray

    @cached_property
    def posterior(self) -> Dirichlets:
        """The private posterior (..., K)."""
        return self.prior.updated(np.maximum(self.updates, 0.0))

    @property
    def numbers(self) -> FloatArray:
        """All that is handed over besides the prior: (..., K)."""
        return self.updates

    @property
    def probabilities(self) -> FloatArray:
        """Posterior mean CPTs (..., K)."""
        return self.posterior.mean

    @property
    def is_non_negative(self) -> BoolArray:
        """Whether no released update is negative (...,): for Fourier releases, whether stealth succeeded."""
        return np.asarray((self.updates >= 0).all(axis=-1))

    def part(self, releases: int | slice) -> "ReleasedPosterior":
        """Return some of a batch (releases, K)."""
        return ReleasedPosterior(self.prior, self.updates[releases])


@dataclass(frozen=True, eq=False)
class SampledCpts:
    """CPTs handed over as they are, without a law around them: `draws` (..., N, K), N of them in each release."""

    draws: FloatArray

    @property
    def numbers(self) -> FloatArray:
        """All that is handed over: (..., N, K)."""
        return self.draws

    @property
    def probabilities(self) -> FloatArray:
        """The mean of the N draws (..., K): the estimate of the posterior mean that the recipient can form."""
        return self.draws.mean(axis=-2)

    def part(self, releases: int | slice) -> "SampledCpts":
        """Return some of a batch (releases, N, K)."""
        return SampledCpts(self.draws[releases])


@dataclass(frozen=True, eq=False)
class Release(Generic[OutcomeT_co]):
    """All that the recipient may see: no data, no seed, no true count."""

    outcome: OutcomeT_co
    guarantee: Guarantee
    mechanism: str
    public: Mapping[str, float | int | str] = field(default_factory=dict)

    @property
    def numbers(self) -> FloatArray:
        """The numbers of the outcome."""
        return self.outcome.numbers

    @property
    def posterior(self) -> Dirichlets:
        """The private posterior (..., K). Errors: InputError for a release of CPTs, which has no law around them."""
        if not isinstance(self.outcome, ReleasedPosterior):
            raise InputError(
                f"A release of {self.mechanism} holds probabilities, not a posterior: read them as "
                "release.outcome.probabilities."
            )
        return self.outcome.posterior

    def part(self, releases: int | slice) -> "Release[OutcomeT_co]":
        """Return some of a batch of releases; each keeps its own promise."""
        return Release(self.outcome.part(releases), self.guarantee, self.mechanism, self.public)


class Prior:
    """The field of a mechanism that holds its prior; where a network is given, the uniform one over its rows is meant.

    Read, it is always a `Dirichlets`.
    """

    kind = Dirichlets

    @overload
    def __get__(self, mechanism: None, owner: type) -> Self: ...

    @overload
    def __get__(self, mechanism: object, owner: type) -> Dirichlets: ...

    def __get__(self, mechanism: object | None, owner: type) -> Self | Dirichlets:
        if mechanism is None:
            raise AttributeError("prior")  # a dataclass asks for a default: there is none
        prior: Dirichlets = vars(mechanism)["prior"]
        return prior

    def __set__(self, mechanism: object, prior: Dirichlets | Network) -> None:
        vars(mechanism)["prior"] = Dirichlets.symmetric(prior) if isinstance(prior, Network) else prior


def check_mechanism(mechanism: Any) -> None:
    """Check the prior and every annotated field of a mechanism for a network; for use in `__post_init__`.

    What passes can be released and audited alike. Errors: InputError for what is no prior, for a batch of priors, for
    Dirichlet parameters out of [LEAST_ALPHA, MOST_PRIOR], and those of `check_parameters`.
    """
    prior = mechanism.prior
    if not isinstance(prior, Dirichlets) or prior.alpha.ndim != 1:
        raise InputError(
            "A mechanism needs one prior: a network, or a Dirichlets with one value for each of its cells, no batch."
        )
    for extreme in (prior.alpha.min(), prior.alpha.max()):
        finite_number("Every value of the prior", extreme, low=LEAST_ALPHA, high=MOST_PRIOR)
    check_parameters(mechanism)


def require_own_counts(prior: Dirichlets, statistic: Counts) -> None:
    """Refuse counts of another network: noise would be scaled to the wrong sensitivity, and the promise be void."""
    if statistic.network != prior.network:
        raise InputError("These counts belong to another network than the prior; count the table again.")


def simulated(
    mechanism: "Mechanism[OutcomeT_co]", statistic: Counts, rng: np.random.Generator, size: tuple[int, ...] = ()
) -> Release[OutcomeT_co]:
    """Return `release`, digit for digit, by the mechanism's faster `simulate` where it has one.

    The run time of that betrays the data: for what the curator is shown, never for what is handed over.
    """
    draw = getattr(mechanism, "simulate", mechanism.release)
    release: Release[OutcomeT_co] = draw(statistic, rng, size)
    return release


class Mechanism(Protocol[OutcomeT_co]):
    """A way to hand over a posterior; implementations are frozen dataclasses of their parameters.

    `claimed` is what the paper states for the noise in use, `certified` what is proved; both depend on the network
    and the parameters alone. `statistic` is deterministic and stays with the curator; `release` is the only random
    and the only private step, and draws (*size, ...) independent releases at once.

    `label` is its title and `named` its name inside a sentence, `colour` that of its curves; `formula` says in Markdown
    what it does, with its own numbers in it.
    """

    label: ClassVar[str]
    colour: ClassVar[str]

    @property
    def named(self) -> str: ...

    @property
    def formula(self) -> str: ...

    @property
    def prior(self) -> Dirichlets: ...

    @property
    def claimed(self) -> Guarantee: ...

    @property
    def certified(self) -> Guarantee: ...

    def statistic(self, data: Dataset) -> Counts: ...

    def release(
        self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...] = ()
    ) -> Release[OutcomeT_co]: ...


class NetworkMechanism(Mechanism[OutcomeT_co], Protocol):
    """One that is made of a prior and of parameters that describe themselves, so that a page can make it too."""

    def __init__(self, *, prior: Dirichlets, **parameters: Any) -> None: ...
