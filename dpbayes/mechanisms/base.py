"""The interface of every mechanism, with its optional members, and what all that add noise to numbers share."""

import enum
from typing import Any, ClassVar, Protocol, Self, overload

import numpy as np

from dpbayes.base.parameters import check_parameters
from dpbayes.base.privacy import Guarantee
from dpbayes.base.randomness import generator
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, finite_number, leading, type_checked
from dpbayes.mechanisms.release import OutcomeT_co, Release, ReleasedPosterior
from dpbayes.model.dataset import Counts, Dataset, count
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import MOST_PRIOR, Dirichlets
from dpbayes.posteriors.prior_rules import PriorRule, rule_for

LEAST_ALPHA = 1e-300
"""The smallest Dirichlet parameter of a mechanism's prior; division of a logarithm by a smaller one would overflow."""


class Prior:
    """The prior of a mechanism, always read as `Dirichlets`; a network stands for its capped or `own_prior`."""

    kind = Dirichlets

    @overload
    def __get__(self, mechanism: None, owner: type) -> Self: ...

    @overload
    def __get__(self, mechanism: object, owner: type) -> Dirichlets: ...

    def __get__(self, mechanism: object | None, owner: type) -> Self | Dirichlets:
        if mechanism is None:
            raise AttributeError("prior")  # a dataclass looks for a default value; there is none
        prior: Dirichlets = vars(mechanism)["prior"]
        return prior

    def __set__(self, mechanism: object, prior: Dirichlets | Network) -> None:
        vars(mechanism)["prior"] = (
            rule_for(type(mechanism), PriorRule()).on(prior) if isinstance(prior, Network) else prior
        )


def check_mechanism(mechanism: Any) -> None:
    """Check the prior and every annotated field of a mechanism for a network; for use in `__post_init__`.

    Errors: InputError if the prior is neither a network nor a single `Dirichlets`, or if a Dirichlet parameter is
    outside [LEAST_ALPHA, MOST_PRIOR]; and those of `check_parameters`.
    """
    prior = mechanism.prior
    if not isinstance(prior, Dirichlets) or prior.alpha.ndim != 1:
        given = brief(prior if isinstance(prior, str) else type(prior).__name__)
        raise InputError(f'prior must be one network, such as dp.network("a -> b"), or one Dirichlets, not {given}.')
    for extreme in (prior.alpha.min(), prior.alpha.max()):
        finite_number("Every value of the prior", extreme, low=LEAST_ALPHA, high=MOST_PRIOR)
    check_parameters(mechanism)


def require_own_counts(prior: Dirichlets, statistic: Counts) -> None:
    """Refuse counts of another network: the noise would have the wrong scale, and the guarantee would not hold."""
    if statistic.network != prior.network:
        raise InputError("The counts and the prior have different networks. Count the table again.")


def public_facts(mechanism: object, statistic: Counts, *names: str) -> dict[str, float | int | str]:
    """Return the public facts of a release: n, and these fields of its mechanism."""
    values = {name.replace("_", " "): getattr(mechanism, name) for name in names}
    texts = {name: value.value for name, value in values.items() if isinstance(value, enum.Enum)}
    return {"n": statistic.n} | values | texts


OPTIONAL = {
    "summary": "one line about the mechanism, for menus",
    "noise_model": "the distribution of the noise on each released number, for a noise-aware posterior",
    "design": "the optimised distribution of the noise over the numbers, with its gap to the optimum",
    "increment": "the parameter that lifts a release above zero; with `noise_law`, its value for a network is computed",
    "epsilon": "the epsilon parameter of the mechanism",
    "noise": "the `Noise`: real numbers or whole numbers",
    "noise_scale": "the scale of the noise, for mechanisms with one scale",
    "delta": "the delta of the guarantee, if delta is a parameter",
    "calibration": "the `Calibration`: the sensitivity that sets the noise, proved or as stated in the paper",
    "draws": "the number of released sets of CPTs",
    "own_prior": "the rule that replaces a capped prior, for a mechanism whose noise grows with smaller parameters",
}
"""Optional members of a mechanism, in addition to those of `Mechanism`. A page shows the controls and pictures that
need a member only if the mechanism has it."""


class Mechanism(Protocol[OutcomeT_co]):
    """A randomised algorithm that releases a posterior. Implementations are frozen dataclasses of their parameters.

    `claimed` is the guarantee that the paper states for the noise in use, and `certified` is the proved guarantee. Both
    depend only on the network and the parameters. `statistic` is deterministic and not private. `simulate` is the only
    random step and the only private one; it samples (*size, ...) independent releases at once.

    `label` is the title, `named` the name inside a sentence, and `colour` the colour of the curves. `formula` describes
    the mechanism in Markdown with its own numbers. `OPTIONAL` lists the optional members.
    """

    label: ClassVar[str]
    named: ClassVar[str]
    colour: ClassVar[str]

    @property
    def formula(self) -> str: ...

    @property
    def prior(self) -> Dirichlets: ...

    @property
    def claimed(self) -> Guarantee: ...

    @property
    def certified(self) -> Guarantee: ...

    def statistic(self, data: Dataset) -> Counts: ...

    def simulate(
        self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...] = ()
    ) -> Release[OutcomeT_co]: ...


class NetworkMechanism(Mechanism[OutcomeT_co], Protocol):
    """A mechanism with a prior and annotated parameters, from which a page can construct it."""

    def __init__(self, *, prior: Dirichlets, **parameters: Any) -> None: ...


class OfCounts:
    """What all mechanisms share that release `outcome_for` the counts of a network."""

    facts: ClassVar[tuple[str, ...]] = ()
    """The fields that a release states beside n."""

    def __post_init__(self) -> None:
        check_mechanism(self)

    @property
    def claimed(self: Any) -> Guarantee:
        """The proved guarantee, unless a paper states another one."""
        guarantee: Guarantee = self.certified
        return guarantee

    @type_checked
    def statistic(self: Any, data: Dataset) -> Counts:
        """Count a table under the prior's network. Errors: those of `count`."""
        return count(self.prior.network, data)

    @type_checked
    def simulate(
        self: Any, statistic: Counts, rng: np.random.Generator | int, size: tuple[int, ...] = ()
    ) -> Release[Any]:
        """Simulate releases (*size, ...) of the counts of a table, with a generator or a seed."""
        require_own_counts(self.prior, statistic)
        outcome = self.outcome_for(statistic, generator(rng), leading(size))
        return Release(outcome, self.certified, self.label, public_facts(self, statistic, *self.facts))


class AdditiveNoise(OfCounts):
    """The outcome is `outcome_of` noisy numbers; by default every count has noise of `noise_law`."""

    facts: ClassVar[tuple[str, ...]] = ("epsilon", "noise", "noise_scale")

    def outcome_for(self: Any, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> ReleasedPosterior:
        """Sample updates (*size, ..., K)."""
        outcome: ReleasedPosterior = self.outcome_of(self.noisy(statistic, rng, size), statistic.n)
        return outcome

    def noisy(self: Any, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Return the numbers with noise, before they are read: (*size, ..., numbers)."""
        return np.asarray(statistic.values + self.noise_law.drawn(rng, (*size, *statistic.values.shape)))

    def outcome_of(self: Any, noisy: FloatArray, n: int) -> ReleasedPosterior:
        """Return the outcome that a recipient reads from noisy numbers (..., numbers) of n records."""
        return ReleasedPosterior(self.prior, noisy, self.noise_model)
