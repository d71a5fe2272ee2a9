"""All that is known of the mechanisms of one class, as one value: how they are audited, recalibrated, drawn, attacked.

Every function here is asked of exactly that class, with the sizes of the tables as keywords: `n`, and `features` where
records have some. `registry` lists the entries.
"""

from collections.abc import Callable, Generator, Hashable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from dpbayes.audit.loss.law import Losses
from dpbayes.audit.report.pictures import Picture
from dpbayes.audit.report.types import AuditReport
from dpbayes.base.privacy import Guarantee
from dpbayes.base.steps import Work
from dpbayes.base.types import FloatArray

Numbers = Mapping[str, Any]
"""Numbers that a person sets, by name."""

Keeps = Callable[[Any], bool]
"""Whether a mechanism at some setting of its knob loses no more than the target."""


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


@dataclass(frozen=True, kw_only=True)
class Recalibration:
    """How the knob is found at which a mechanism loses no more than a target.

    `needed` (mechanism, n, delta) returns an epsilon that suffices at delta. `keeping`, where that would do the same
    work again at each setting, prepares it in steps, yields the shares done and returns a `Keeps`. `start` is what is
    recalibrated in the place of a mechanism, and `is_quick` whether nobody need ask for it.
    """

    needed: Callable[..., float]
    keeping: Callable[..., Generator[float, None, Keeps]] | None = None
    knob: Knob = Knob()
    start: Callable[[Any], Any] = lambda mechanism: mechanism
    is_quick: Callable[[Any, int], bool] = lambda mechanism, n: True


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
