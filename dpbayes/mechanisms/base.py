"""What every mechanism speaks: what it takes, what it promises, and what it hands over."""

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, overload

import numpy as np

from dpbayes.base import terms
from dpbayes.base.parameters import Choice, Parameter, check_parameters
from dpbayes.base.privacy import Guarantee
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.model.counts import Counts
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import MOST_PRIOR, Dirichlets
from dpbayes.posteriors.mixtures import BetaMixtures, DirichletMixtures
from dpbayes.posteriors.noise_aware import noise_aware, noise_aware_cells, noise_aware_means, points_for
from dpbayes.posteriors.noise_model import NoiseModel

EPSILON = Parameter(
    r"\epsilon",
    low=1e-3,
    high=1e3,
    typical=1.0,
    log=True,
    description=terms.EPSILON,
)


DELTA = Parameter(
    r"\delta",
    low=1e-12,
    high=0.5,
    typical=1e-5,
    log=True,
    description=terms.DELTA,
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
    def gaussian_symbol(self) -> str:
        """The Gaussian law as LaTeX."""
        return r"\mathcal{N}" if self is Noise.REAL else r"\mathcal{N}_{\mathbb{Z}}"

    @property
    def gaussian_told(self) -> str:
        """What that symbol means, as a sentence to add: nothing where it is the usual law."""
        if self is Noise.REAL:
            return ""
        return f" ${self.gaussian_symbol}(0, s^2)$ draws whole numbers, $P[k] \\propto e^{{-k^2/2s^2}}$."

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


CALIBRATION = Choice(Calibration, description=terms.SENSITIVITY)

NOISE = Choice(
    Noise,
    title="noise",
    description="The papers add real numbers, whose last digits may betray what they were added to. "
    "A real release adds whole numbers; Laplace noise of the same scale promises the same epsilon, "
    "Gaussian noise the same rho.",
)


OutcomeT_co = TypeVar("OutcomeT_co", bound="Outcome", covariant=True)


class Outcome(Protocol):
    """Anything a release may hold: its numbers, CPT probabilities (..., K), and some of a batch of releases."""

    @property
    def numbers(self) -> FloatArray: ...

    @property
    def probabilities(self) -> FloatArray: ...

    def part(self, releases: int | slice | IntArray) -> Self: ...


@dataclass(frozen=True, eq=False)
class ReleasedPosterior:
    """A posterior handed over as updates (..., K) to a public prior; Fourier updates may be negative.

    The posterior is formed from the updates clipped below at zero, which is post-processing and costs no privacy. It
    takes the updates for counts; `noise_model`, where the mechanism tells it, says what was added to them. `noisy`
    (..., K) are the noisy cells themselves where the updates were fitted to them: they are handed over too.
    """

    prior: Dirichlets
    updates: FloatArray
    noise_model: NoiseModel | None = None
    noisy: FloatArray | None = None

    @cached_property
    def posterior(self) -> Dirichlets:
        """The private posterior (..., K)."""
        return self.prior.updated(np.maximum(self.updates, 0.0))

    @property
    def numbers(self) -> FloatArray:
        """All that is handed over besides the prior, or what it is made of: (..., K)."""
        return self.updates if self.noisy is None else self.noisy

    @property
    def probabilities(self) -> FloatArray:
        """Posterior mean CPTs (..., K)."""
        return self.posterior.mean

    @property
    def is_non_negative(self) -> BoolArray:
        """Whether no released update is negative (...,): for Fourier releases, whether stealth succeeded."""
        return np.asarray((self.updates >= 0).all(axis=-1))

    def part(self, releases: int | slice | IntArray) -> "ReleasedPosterior":
        """Return some of a batch (releases, K)."""
        noisy = None if self.noisy is None else self.noisy[releases]
        return replace(self, updates=self.updates[releases], noisy=noisy)


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

    def part(self, releases: int | slice | IntArray) -> "SampledCpts":
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

    @property
    def tells_noise(self) -> bool:
        """Whether the recipient knows what was added to which numbers."""
        return isinstance(self.outcome, ReleasedPosterior) and self.outcome.noise_model is not None

    def noise_aware(self, *, points: int | None = None) -> DirichletMixtures:
        """Return the posterior (..., K) that knows of the noise, of `points` components; it costs no privacy.

        Without a number, there are as many as `points_for` says of the network. Errors: InputError where a release
        does not tell what was added to which numbers, and those of `points_for`.
        """
        told = self._told()
        return noise_aware(*told, points=points or points_for(told[0].network.cell_count))

    def noise_aware_cells(self, cells: IntArray, *, points: int | None = None) -> BetaMixtures:
        """Return the marginals (..., S, C) of some cells (C,) under `noise_aware`, without the rows of all others."""
        return noise_aware_cells(*self._told(), cells=cells, points=points or points_for(len(cells)))

    def noise_aware_means(self, cells: IntArray, *, points: int | None = None) -> FloatArray:
        """Return the means of some cells (C,) under `noise_aware`, which takes less time than all of it: (..., C)."""
        return noise_aware_means(*self._told(), cells=cells, points=points or points_for(len(cells)))

    def _told(self) -> tuple[Dirichlets, NoiseModel, FloatArray, int]:
        if not isinstance(self.outcome, ReleasedPosterior) or self.outcome.noise_model is None:
            raise InputError(f"A release of {self.mechanism} does not tell what was added to which numbers.")
        return self.outcome.prior, self.outcome.noise_model, self.outcome.numbers, int(self.public["n"])

    def part(self, releases: int | slice | IntArray) -> "Release[OutcomeT_co]":
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


OPTIONAL = {
    "name": "its name inside a sentence whatever its parameters are, where `named` depends on them",
    "simulate": "`release`, digit for digit, by a faster way whose run time betrays the data: for simulations",
    "noise_model": "what was added to which numbers, so that a release can be read with its noise in mind",
    "node_noise_sd": "standard deviations of the noise in the counts of every node, for comparisons (|I|,)",
    "design": "how the noise was shared out where the least was searched for, with its gap",
    "design_steps": "the search for that, in steps; the design is kept, so that asking again is quick",
    "increment": "the parameter that lifts a release above zero; with `noise_law`, what suits a network is found",
    "epsilon": "the epsilon that it runs at",
    "noise": "the `Noise`: of real numbers or of whole ones",
    "noise_scale": "the scale of its noise: with whole numbers, how many counts may stay what they are by chance",
    "delta": "the delta of its promise, where that is a parameter",
    "draws": "how many times as many numbers as cells it hands over",
}
"""What a mechanism may have besides the members of `Mechanism`; a page offers what goes with it where it is there."""


def name_of(kind: Any) -> str:
    """Return what a class of mechanisms is called inside a sentence, whatever their parameters."""
    named = kind.named
    return named if isinstance(named, str) else str(kind.name)


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
    what it does, with its own numbers in it. `OPTIONAL` lists what one may have besides.
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
