"""The audit of the exponential mechanisms for one die: every table, every neighbour, every output.

A permutation of sides of equal prior leaves the loss of a pair as it is, so one giving and one taking side is enough
for each pair of priors.
"""

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.die.base import TABLES, throws
from dpbayes.audit.entry import Audit
from dpbayes.audit.pictures import two_laws
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    checked_grid,
    counts_text,
    pure_report,
    require_size,
    worst_case,
)
from dpbayes.base.text import many
from dpbayes.mechanisms.die.hellinger import (
    EXPONENTIAL,
    Hellinger,
    HellingerEnumerated,
    HellingerGlobal,
    HellingerLocal,
    HellingerSmooth,
)
from dpbayes.mechanisms.exact_class import require_exact_class
from dpbayes.mechanisms.finite import exact_curve, exact_epsilon, exact_pure_epsilon
from dpbayes.posteriors.hellinger import MOST_PAIRED, neighbours_up_to_symmetry

AT_ONCE = 512
"""The largest number of candidates of a die whose audit takes less than a moment."""


def audit_die(mechanism: Hellinger, *, epsilons: ArrayLike) -> AuditReport:
    """Return the exact audit of a mechanism whose outputs are the die's candidates: every pair, every output.

    Errors: InputError for any but the four exponential mechanisms, for dice with too many candidates to pair them all,
    and bad epsilons.
    """
    require_exact_class(mechanism, *EXPONENTIAL)
    grid, die, delta = checked_grid(epsilons), mechanism.die, mechanism.claimed.delta
    die.require_listable(MOST_PAIRED)
    pairs, table = neighbours_up_to_symmetry(die), mechanism.log_weights_table()
    masses = special.logsumexp(table, axis=1)
    loss = exact_pure_epsilon(table, pairs=pairs, log_masses=masses)
    deltas = exact_curve(table, pairs=pairs, epsilons=grid, log_masses=masses)
    labels = tuple(map(counts_text, die.candidates.tolist()))
    throws = many(die.n, "throw")
    scope = f"The maximum is over all {len(labels):,} tables of {throws}, all their neighbours and all outputs."
    report = pure_report(
        mechanism,
        exact=loss.epsilon,
        curve=DeltaCurve(grid, deltas, deltas),
        worst=worst_case(table - masses[:, None], loss, labels, labels),
        scope=scope,
    )
    if not delta:
        return report
    needed = exact_epsilon(table, pairs=pairs, delta=delta, log_masses=masses)
    return replace(report, needed=needed, needed_at_least=needed)


def _report(mechanism: Hellinger, *, n: int, epsilons: ArrayLike) -> AuditReport:
    require_size(mechanism.die.n, n)
    return audit_die(mechanism, epsilons=epsilons)


def _audit(kind: type[Hellinger], **more: Any) -> Audit:
    return Audit(
        kind=kind,
        report=_report,
        picture=lambda mechanism, worst, n: two_laws(worst, x="released counts", ordered=mechanism.die.sides == 2),
        tables=TABLES,
        is_slow=lambda mechanism: mechanism.die.size > AT_ONCE,
        hypothetical=throws(kind),
        **more,
    )


AUDITS = (
    _audit(HellingerGlobal),
    _audit(
        HellingerLocal,
        doubts=(
            "The noise scale is independent of the data. Here the scale depends on the data and reveals information.",
        ),
        cases={"Local sensitivity, prior 0.1, n = 200": {"epsilon": 1.0, "n": 200, "sides": 2, "prior": 0.1}},
    ),
    _audit(HellingerSmooth),
    _audit(HellingerEnumerated),
)
