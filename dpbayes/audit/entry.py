"""All that is known of the mechanisms of one class, as one value: how they are audited, recalibrated, drawn, attacked.

Every function here is asked of exactly that class, with the sizes of the tables as keywords: `n`, and `features` where
records have some. `registry` lists the entries.
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

Numbers = Mapping[str, Any]
"""Numbers that a person sets, by name."""

Slack = Callable[[Any], float]
"""How far a mechanism at some setting of its knob is from the target: not negative where it loses no more.

Its values may be infinite; a search is faster where they change smoothly with the setting.
"""


@dataclass(frozen=True, eq=False)
class TablePair:
    """The statistics of two neighbouring tables, a description of them, and what an attacker of the first asks.

    `key` tells pairs of one mechanism apart; a `private` one comes from true records.
    """

    first: Any
    second: Any
    description: str
    question: str = "of the first table"
    key: Hashable = "worst"
    private: bool = False


@dataclass(frozen=True, kw_only=True)
class Knob:
    """What a recalibration turns: its symbol, the setting that it is, how it is read off a mechanism and turned.

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
    """How the knob is found at which a mechanism loses no more than a target.

    `needed` (mechanism, n, delta) returns an epsilon that suffices at delta. `slack` is for mechanisms of which a
    `Slack` is cheaper than `needed`: it prepares one in steps, yields the shares done and returns it. `start` returns
    what is recalibrated in place of a mechanism. `is_quick` says whether the page recalibrates without a button.
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
    """An audit that may take longer than a moment: when it does, its steps, and what to say meanwhile.

    `steps` takes the mechanism and `epsilons`, a function of the exact loss; it yields shares and returns the report.
    """

    are_needed: Callable[[Any], bool]
    steps: Callable[..., Work[AuditReport]]
    message: Callable[[Any], str]


@dataclass(frozen=True, kw_only=True)
class Hypothetical:
    """Tables that belong to no network: made up by a few numbers, such as throws of a die.

    `title` stands in the list of what may be audited and `parameters` are the numbers that a person sets, of which
    `mechanism_at` makes the mechanism and `where` the words for its tables. `attacked` returns the pair that is
    attacked, from the audit's worst case and the numbers `chosen` for it; `attack` (mechanism, pair, generator,
    size) weighs simulated releases of the first, where no `log_ratios` do. `drawn` is the pair whose releases are
    counted where no number is exact.
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


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """What is known of the mechanisms of exactly one class; all but `kind` and `report` may be left out.

    report(mechanism, n, epsilons) -> AuditReport, its curve at `epsilons` (E,). log_ratios(mechanism, released, first,
    second) -> ln p(released | first) - ln p(released | second) of each release, from two tables' counts. picture(
    mechanism, worst, n) -> how the worst pair is drawn, or None where its outputs are too many. numbers(mechanism, n)
    -> how many numbers a release hands over; effort(mechanism, numbers) -> how many could be drawn in the time it
    takes. not_attacked(mechanism) -> why no attack is simulated, "" where one is.

    losses(mechanism, n, releases) -> what so many releases from one table lose together; left out, the curve of one
    release is known, and the promise of several.

    `tables` says how tables are described, `doubts` are assumptions that do not hold, `not_recalibrated` says why there
    is no recalibration, and `cases` are settings at which something is refuted, by title.
    """

    kind: type[Any]
    report: Callable[..., AuditReport]
    claimed: Callable[..., Guarantee] = lambda mechanism, n: mechanism.claimed
    log_ratios: Callable[..., FloatArray] | None = None
    losses: Callable[..., Losses] | None = None
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
    """A claim so many times what is proved is left out of the curve's picture."""
    hypothetical: Hypothetical | None = None
    cases: Mapping[str, Mapping[str, object]] = field(default_factory=lambda: MappingProxyType({}))
