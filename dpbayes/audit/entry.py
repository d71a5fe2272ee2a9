"""The description of one class of mechanisms for audits: report, recalibration, picture and simulated attack.

The functions are called for exactly this class, with the sizes of the tables as keywords: `n`, and `features` if
records have features. `registry` lists the entries.
"""

from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from dpbayes.audit.loss.law import Losses
from dpbayes.audit.report.pictures import Picture
from dpbayes.audit.report.types import AuditReport
from dpbayes.base.privacy import Guarantee
from dpbayes.base.steps import Work
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.exact_class import no_audit

Numbers = Mapping[str, Any]
"""Numbers that a person sets, by name."""

Slack = Callable[[Any], float]
"""The distance of a mechanism at some setting from the target: not negative if its loss is at most the target.

The values may be infinite; a search is faster if they change smoothly with the setting.
"""


@dataclass(frozen=True, eq=False)
class TablePair:
    """The statistics of two neighbouring tables, their description, and the question of an attacker of the first table.

    `key` distinguishes the pairs of one mechanism; a `private` pair comes from true records.
    """

    first: Any
    second: Any
    description: str
    question: str = "of the first table"
    key: Hashable = "worst"
    private: bool = False


@dataclass(frozen=True, kw_only=True)
class Knob:
    """The parameter that a recalibration changes: its symbol, its name, and how it is read and changed.

    `turned` takes the mechanism and an epsilon.
    """

    symbol: str = "ε"
    setting: str = "epsilon"
    read: Callable[[Any], float] = lambda mechanism: float(mechanism.epsilon)
    turned: Callable[[Any, float], Any] = lambda mechanism, epsilon: replace(mechanism, epsilon=epsilon)


class NoiseLoss(Protocol):
    """The privacy loss of a mechanism that adds noise, bounded from above."""

    def upper_epsilon(self, delta: float) -> float: ...
    def slack(self, epsilon: float, *, delta: float) -> float: ...


@dataclass(frozen=True, kw_only=True)
class Recalibration:
    """The search for the parameter at which the loss of a mechanism is at most a target.

    `needed` (mechanism, n, delta) returns an epsilon that suffices at delta. `slack` is for mechanisms with a `Slack`
    that is cheaper than `needed`: it prepares the slack in steps, yields the completed shares and returns it. `start`
    returns the mechanism from which the search starts. `is_quick` returns whether the page recalibrates without a
    button.
    """

    needed: Callable[..., float]
    slack: Callable[..., Generator[float, None, Slack]] | None = None
    knob: Knob = Knob()
    start: Callable[[Any], Any] = lambda mechanism: mechanism
    is_quick: Callable[[Any, int], bool] = lambda mechanism, n: True

    @classmethod
    def of_noise(cls, loss: Callable[..., NoiseLoss]) -> "Recalibration":
        """Return the recalibration of noise with a `loss` (mechanism, n): each setting evaluates one delta."""

        def slack(mechanism: Any, *, n: int, target: float, delta: float) -> Generator[float, None, Slack]:
            yield from ()
            return lambda turned: loss(turned, n=n).slack(target, delta=delta)

        return cls(needed=lambda mechanism, n, delta: loss(mechanism, n=n).upper_epsilon(delta), slack=slack)


@dataclass(frozen=True, kw_only=True)
class Stepwise:
    """A slow audit: whether it is slow for a mechanism, its steps, and the message during the computation.

    `steps` takes the mechanism and `epsilons`, a function of the exact loss; it yields shares and returns the report.
    """

    are_needed: Callable[[Any], bool]
    steps: Callable[..., Work[AuditReport]]
    message: Callable[[Any], str]


@dataclass(frozen=True, kw_only=True)
class Hypothetical:
    """Hypothetical tables without a network, which a few numbers describe, such as throws of a die.

    `title` is the name in the list of audits, and `parameters` are the numbers that a person sets. From these numbers,
    `mechanism_at` returns the mechanism, and `where` describes its tables. `attacked` returns the attacked pair from
    the audit's worst case and the `chosen` numbers. `attack` (mechanism, pair, generator, size) returns the log
    ratios of simulated releases of the first table, if there are no `log_ratios`. `drawn` is the pair for the lower
    bound from simulated releases.
    """

    title: str
    parameters: tuple[str, ...]
    caption: str
    mechanism_at: Callable[[Numbers], Any]
    where: Callable[[Numbers], str]
    attacked: Callable[..., TablePair]
    attack: Callable[..., FloatArray] | None = None
    chosen: tuple[str, ...] = ()
    drawn: Callable[..., TablePair] | None = None


def _refused(mechanism: Any, **numbers: Any) -> AuditReport:
    raise no_audit(mechanism)


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The audit of exactly one class of mechanisms; all fields except `kind` are optional.

    report(mechanism, n, epsilons) -> AuditReport, its curve at `epsilons` (E,). log_ratios(mechanism, released, first,
    second) -> ln p(released | first) - ln p(released | second) of each release, from two tables' counts. picture(
    mechanism, worst, n) -> the picture of the worst pair, or None if it has too many outputs. numbers(mechanism, n)
    -> the number of released numbers; effort(mechanism, numbers) -> the cost of a release in units of sampled numbers.
    not_attacked(mechanism) -> the reason if no attack is simulated, otherwise "".

    losses(mechanism, n, releases) -> the privacy losses of several releases from one table; without it, the curve of
    one release and the guarantee of several are used.

    outputs(mechanism, first, second, rng, draws) -> the exact losses of simulated releases of two tables, in steps; for
    a mechanism without a report, which would have to enumerate too many outputs.

    `tables` states how tables are described, `doubts` are assumptions that do not hold, `not_recalibrated` is the
    reason if there is no recalibration, and `cases` are settings at which a claim is refuted, by title.
    """

    kind: type[Any]
    report: Callable[..., AuditReport] = _refused
    claimed: Callable[..., Guarantee] = lambda mechanism, n: mechanism.claimed
    log_ratios: Callable[..., FloatArray] | None = None
    losses: Callable[..., Losses] | None = None
    outputs: Callable[..., Work[Any]] | None = None
    recalibration: Recalibration | None = None
    not_recalibrated: str = "There is no recalibration, because the ε that meets a target is not known."
    picture: Callable[..., Picture | None] = lambda mechanism, worst, n: None
    tables: str = "The two tables differ in one record."
    numbers: Callable[..., int] = lambda mechanism, n: mechanism.prior.network.cell_count
    effort: Callable[[Any, int], int] = lambda mechanism, numbers: numbers
    not_attacked: Callable[[Any], str] = lambda mechanism: ""
    doubts: tuple[str, ...] = ()
    steps: Stepwise | None = None
    farthest: float = np.inf
    """A claim that exceeds the proved epsilon by more than this factor is not shown in the picture of the curve."""
    hypothetical: Hypothetical | None = None
    cases: Mapping[str, Mapping[str, object]] = field(default_factory=lambda: MappingProxyType({}))
