"""The description of one class of mechanisms for audits: report, losses and picture. `registry` lists the entries.

The audits of all mechanisms that add noise to numbers follow from the loss of the numbers that one record moves.
"""

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.exact_class import described
from dpbayes.audit.loss.law import LossLaw
from dpbayes.audit.loss.normal import Loss
from dpbayes.audit.pictures import TwoLaws
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    WorstCase,
    all_tables_text,
    checked_grid,
    checked_records,
    nothing_to_lose,
    pure_report,
)
from dpbayes.base.privacy import Guarantee
from dpbayes.base.validation import InputError, brief

Numbers = Mapping[str, Any]
"""Numbers that a person sets, by name."""


@dataclass(frozen=True, eq=False)
class TablePair:
    """The statistics of two neighbouring tables and their description.

    `key` distinguishes the pairs of one mechanism.
    """

    first: Any
    second: Any
    description: str
    key: Hashable = "worst"


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
    if isinstance(mechanism, type) or not {"simulate", "named"} & set(dir(mechanism)):
        name = getattr(mechanism, "__name__", "dp.LaplaceUpdates")
        raise InputError(f"mechanism must be an object: {name}(prior=network, epsilon=1), not {brief(mechanism)}.")
    raise InputError(
        f"There is no exact audit of {described(mechanism)}. Use audit_by_draws to estimate a lower bound on the "
        "privacy loss from simulated releases."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Audit:
    """The audit of exactly one class of mechanisms; all fields except `kind` are optional.

    report(mechanism, n, epsilons) -> AuditReport, its curve at `epsilons` (E,). picture(mechanism, worst, n) -> the
    picture of the worst pair, or None if it has too many outputs.

    losses(mechanism, n, releases) -> the privacy loss of several releases from one table; without it, the curve of one
    release and the guarantee of several are used.

    outputs(mechanism, first, second, rng, draws) -> the exact losses of simulated releases of two tables, for a
    mechanism without a report, which would have to enumerate too many outputs.

    is_slow(mechanism) -> whether the report takes seconds.

    `tables` states how tables are described, and `cases` are settings at which a claim is refuted, by the question that
    they answer.
    """

    kind: type[Any]
    report: Callable[..., AuditReport] = _refused
    claimed: Callable[..., Guarantee] = lambda mechanism, n: mechanism.claimed
    losses: Callable[..., LossLaw] | None = None
    outputs: Callable[..., Any] | None = None
    picture: Callable[..., TwoLaws | None] | None = None
    tables: str = "The two tables differ in one record."
    is_slow: Callable[[Any], bool] = lambda mechanism: False
    farthest: float = np.inf
    """A claim that exceeds the proved epsilon by more than this factor is not shown in the picture of the curve."""
    hypothetical: Hypothetical | None = None
    cases: Mapping[str, Mapping[str, object]] = field(default_factory=lambda: MappingProxyType({}))


def noise_audit(
    kind: type[Any],
    *,
    law: Callable[..., Loss],
    shown: Callable[..., tuple[WorstCase, str]],
    picture: Callable[[Any], TwoLaws],
) -> Audit:
    """Return the audit of a class of mechanisms that add noise.

    law(mechanism, n, releases) -> the loss of several releases for the worst pair of tables; shown(mechanism, law, n)
    -> this pair, and a sentence on what one record changes; picture(mechanism) -> the noise on one number.
    """

    def report(mechanism: Any, *, n: int, epsilons: ArrayLike) -> AuditReport:
        grid, loss = checked_grid(epsilons), law(mechanism, n=checked_records(n), releases=1)
        low, high = loss.deltas(np.append(0.0, grid))
        if not high[0]:
            return nothing_to_lose(mechanism, grid)
        worst, change = shown(mechanism, loss, n)
        delta = mechanism.claimed.delta
        at_least, exact = (math.inf, math.inf) if delta else loss.epsilon(0.0)
        curve, scope = DeltaCurve(grid, high[1:], low[1:]), f"{all_tables_text(n)} {change}"
        pure = pure_report(mechanism, exact=exact, at_least=at_least, curve=curve, worst=worst, scope=scope)
        needed_at_least, needed = loss.epsilon(delta)
        return replace(pure, needed=needed, needed_at_least=needed_at_least)

    def losses(mechanism: Any, *, n: int, releases: int) -> Loss:
        return law(mechanism, n=checked_records(n), releases=releases)

    return Audit(kind=kind, report=report, losses=losses, picture=lambda mechanism, worst, n: picture(mechanism))
