"""The registry of audits, AUDITS, and the function `audit`."""

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit import adaptive, regression
from dpbayes.audit.die import hellinger
from dpbayes.audit.die import laplace as laplace_die
from dpbayes.audit.entry import Audit
from dpbayes.audit.map import printed as map_printed
from dpbayes.audit.report import AuditReport
from dpbayes.base.validation import require_type
from dpbayes.mechanisms import MECHANISMS
from dpbayes.mechanisms.exact_class import oddity


def _own_audits() -> Iterator[Audit]:
    """Yield the audits of the registered mechanisms: each is in the module of the same name, if there is one."""
    for kind in MECHANISMS:
        name = kind.__module__.replace("dpbayes.mechanisms", "dpbayes.audit", 1)
        if find_spec(name) is not None:
            yield import_module(name).AUDIT


AUDITS: tuple[Audit, ...] = (
    *_own_audits(),
    *hellinger.AUDITS,
    *laplace_die.AUDITS,
    map_printed.AUDIT,
    regression.AUDIT,
    adaptive.AUDIT,
)
"""All audits: of the registered mechanisms, and of those for a die, a node, a regression or records."""


UNKNOWN = Audit(kind=object)
"""The entry of a mechanism without an audit."""


def audit_of(mechanism: Any) -> Audit:
    """Return the entry for exactly this mechanism; UNKNOWN for a subclass, or with a replaced part."""
    kind = type(mechanism)
    return next((entry for entry in AUDITS if entry.kind is kind and not oddity(mechanism, kind)), UNKNOWN)


def audit(mechanism: Any, *, n: int, epsilons: ArrayLike, features: int | None = None) -> AuditReport:
    """Return an audit of a mechanism's privacy loss for tables of n records.

    An audit applies to the output distribution of exactly one class. Subclasses and mechanisms with replaced parts
    have no audit (see `dpbayes.mechanisms.exact_class`). If there is no exact audit,
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
    require_type("n", n, (int, np.integer), "Write the number of records, such as 1000.")
    sizes = {"n": n} if features is None else {"n": n, "features": features}
    return audit_of(mechanism).report(mechanism, epsilons=epsilons, **sizes)
