"""The description of one class of mechanisms for audits: report, losses and picture. `registry` lists the entries."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from dpbayes.audit.exact_class import no_audit
from dpbayes.audit.loss.law import LossLaw
from dpbayes.audit.pictures import Picture
from dpbayes.audit.report import AuditReport
from dpbayes.base.privacy import Guarantee

Numbers = Mapping[str, Any]
"""Numbers that a person sets, by name."""


@dataclass(frozen=True, eq=False)
class TablePair:
    """The statistics of two neighbouring tables and their description.

    `key` distinguishes the pairs of one mechanism; a `private` pair comes from true records.
    """

    first: Any
    second: Any
    description: str
    key: Hashable = "worst"
    private: bool = False


@dataclass(frozen=True, kw_only=True)
class Hypothetical:
    """Hypothetical tables without a network, which a few numbers describe, such as throws of a die.

    `title` is the name in the list of audits, and `parameters` are the numbers that a person sets. From these numbers,
    `mechanism_at` returns the mechanism, and `where` describes its tables.
    """

    title: str
    parameters: tuple[str, ...]
    caption: str
    mechanism_at: Callable[[Numbers], Any]
    where: Callable[[Numbers], str]


def _refused(mechanism: Any, **numbers: Any) -> AuditReport:
    raise no_audit(mechanism)


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The audit of exactly one class of mechanisms; all fields except `kind` are optional.

    report(mechanism, n, epsilons) -> AuditReport, its curve at `epsilons` (E,). picture(mechanism, worst, n) -> the
    picture of the worst pair, or None if it has too many outputs.

    losses(mechanism, n, releases) -> the privacy loss of several releases from one table; without it, the curve of one
    release and the guarantee of several are used.

    outputs(mechanism, first, second, rng, draws, progress) -> the exact losses of simulated releases of two tables, for
    a mechanism without a report, which would have to enumerate too many outputs; it calls `progress` with shares.

    is_slow(mechanism) -> whether the report takes seconds.

    `tables` states how tables are described, `doubts` are assumptions that do not hold, and `cases` are settings at
    which a claim is refuted, by title.
    """

    kind: type[Any]
    report: Callable[..., AuditReport] = _refused
    claimed: Callable[..., Guarantee] = lambda mechanism, n: mechanism.claimed
    losses: Callable[..., LossLaw] | None = None
    outputs: Callable[..., Any] | None = None
    picture: Callable[..., Picture | None] = lambda mechanism, worst, n: None
    tables: str = "The two tables differ in one record."
    doubts: tuple[str, ...] = ()
    is_slow: Callable[[Any], bool] = lambda mechanism: False
    farthest: float = np.inf
    """A claim that exceeds the proved epsilon by more than this factor is not shown in the picture of the curve."""
    hypothetical: Hypothetical | None = None
    cases: Mapping[str, Mapping[str, object]] = field(default_factory=lambda: MappingProxyType({}))
