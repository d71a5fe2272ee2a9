"""The registry of audits, AUDITS, the function `audit`, and audits with a curve that shows all guarantees."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit import adaptive, die, printed_map, regression
from dpbayes.audit.entry import Audit
from dpbayes.audit.exact_class import oddity
from dpbayes.audit.report import AuditReport
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms import MECHANISMS, Calibration


def _own_audits() -> Iterator[Audit]:
    """Yield the audits of the registered mechanisms: each is in the module of the same name, if there is one."""
    for kind in MECHANISMS:
        name = kind.__module__.replace("dpbayes.mechanisms", "dpbayes.audit", 1)
        if find_spec(name) is not None:
            yield import_module(name).AUDIT


AUDITS: tuple[Audit, ...] = (
    *_own_audits(),
    *die.AUDITS,
    printed_map.AUDIT,
    regression.AUDIT,
    adaptive.AUDIT,
)
"""All audits: of the registered mechanisms, and of those for a die, a node, a regression or records."""


POINTS = 121
"""Points of a privacy curve from 0 to beyond all guarantees."""

UNKNOWN = Audit(kind=object)
"""The entry of a mechanism without an audit."""


def audit_of(mechanism: Any) -> Audit:
    """Return the entry for exactly this mechanism; UNKNOWN for a subclass, or with a replaced part."""
    kind = type(mechanism)
    return next((entry for entry in AUDITS if entry.kind is kind and not oddity(mechanism, kind)), UNKNOWN)


def audit(mechanism: Any, *, n: int, epsilons: ArrayLike, features: int | None = None) -> AuditReport:
    """Return an audit of a mechanism's privacy loss for tables of n records.

    An audit applies to the output distribution of exactly one class. Subclasses and mechanisms with replaced parts
    have no audit (see `dpbayes.audit.exact_class`). If there is no exact audit,
    `audit_by_draws` gives a lower bound on the loss.

    Args:
        mechanism: The mechanism, with its parameters.
        n: The public number of records.
        epsilons: Where the privacy curve is evaluated (E,).
        features: The number of features, for a regression only; the paper's epsilon depends on it.

    Returns:
        The claim, what is proved, the worst-case loss, the curve and the worst pair of neighbours.

    Raises:
        InputError: There is no audit for such a mechanism, a number is outside its range, a regression lacks its number
            of features, or a die or a MAP estimate as stated in the paper has another number of records than n.

    Example:
        >>> report = dp.audit_report(dp.LaplaceUpdates(prior=dp.chain(2), epsilon=1), n=100, epsilons=[0.5, 1])
        >>> report.verdict.value, round(report.exact, 9)
        ('holds and is tight', 1.0)
    """
    sizes = {"n": n} | ({"features": features} if audit_of(mechanism) is regression.AUDIT else {})
    return audit_of(mechanism).report(mechanism, epsilons=epsilons, **sizes)


@dataclass(frozen=True, eq=False)
class Audited:
    """A mechanism and the public sizes of the tables for which it is audited.

    Attributes:
        mechanism: The mechanism.
        sizes: The sizes by name: n, and features for a regression.
        where: The tables in words: "tables of 1,000 records for the Asia network".
    """

    mechanism: Any
    sizes: Mapping[str, int]
    where: str

    @cached_property
    def entry(self) -> Audit:
        """The audit of the mechanism's class."""
        return audit_of(self.mechanism)

    @property
    def name(self) -> str:
        """The mechanism inside a sentence, with the sensitivity in use if it is not the proved one."""
        return str(self.mechanism.named) + getattr(self.mechanism, "calibration", Calibration.CERTIFIED).suffix

    @property
    def is_slow(self) -> bool:
        """Whether the audit takes seconds."""
        return self.entry.is_slow(self.mechanism)

    @property
    def claimed(self) -> Guarantee:
        """What is claimed of such tables."""
        return self.entry.claimed(self.mechanism, **self.sizes)

    @property
    def promised(self) -> Guarantee:
        """The epsilon setting if it is proved, or else the claim, or else the setting, which is not a guarantee."""
        claim, proved, run_at = self.claimed, self.certified, getattr(self.mechanism, "epsilon", np.inf)
        if claim.is_private:
            return proved if np.isclose(proved.epsilon, run_at, rtol=1e-9, atol=0) else claim
        return Guarantee(run_at, reference=claim.reference)

    @property
    def certified(self) -> Guarantee:
        """What is proved."""
        return getattr(self.mechanism, "certified", NON_PRIVATE)

    def report(self) -> AuditReport:
        """Return the audit with a curve from 0 to beyond all guarantees. Errors: InputError for tables without one."""
        # Without a proof, nothing bounds the loss before it is known.
        exact = 0.0 if self.certified.is_private else self._report([]).exact
        return self._report(self._epsilons_up_to(exact))

    def _report(self, epsilons: ArrayLike) -> AuditReport:
        return self.entry.report(self.mechanism, epsilons=epsilons, **self.sizes)

    def _epsilons_up_to(self, exact: float) -> FloatArray:
        """Return a grid from 0 to beyond `exact` and the guarantees, which are on it."""
        most = self.entry.farthest * self.certified.epsilon
        promises = [g.epsilon for g in (self.promised, self.certified) if g.is_private and g.epsilon <= most]
        top = 1.15 * max(epsilon for epsilon in (*promises, exact) if np.isfinite(epsilon))
        return np.unique(np.concatenate([np.linspace(0, top, POINTS), promises]))
