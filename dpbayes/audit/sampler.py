"""The audit of draws from the posterior under a trimmed prior. [Zhang16] Appendix C.2."""

from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.trimmed import MOST_ROW, network_loss, row_curve
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    WorstCase,
    all_tables_text,
    checked_grid,
    nothing_to_lose,
    pure_report,
    range_only_curve,
    rows_texts,
)
from dpbayes.mechanisms import Calibration, PosteriorSampler


def audit_sampler(mechanism: PosteriorSampler, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of posterior draws: exact where all tables can be listed, otherwise between two values.

    N independent draws lose N times as much as one. The curve is exact for one draw from one binary node; otherwise it
    is the largest that the range of the loss allows.
    """
    grid, network, bound = checked_grid(epsilons), mechanism.prior.network, mechanism.log_odds_bound
    loss = network_loss(mechanism.prior, n=n, bound=bound)
    if loss.most == 0:
        return nothing_to_lose(mechanism, grid)
    single = network.cell_count == 2 and mechanism.draws == 1 and n <= MOST_ROW
    if single:
        a, b = mechanism.prior.alpha
        deltas = row_curve(float(a), float(b), n=n, bound=bound, epsilons=grid)
        curve = DeltaCurve(grid, deltas, deltas)
    else:
        curve = range_only_curve(grid, width=mechanism.certified.epsilon, most=mechanism.draws * loss.most)
    first, second, theta = rows_texts(network, loss.first, loss.second, loss.theta)
    searched = "" if loss.is_exact else " The value is the sum of the worst cases of all nodes, an upper bound."
    return pure_report(
        mechanism,
        exact=mechanism.draws * loss.most,
        at_least=mechanism.draws * loss.least,
        curve=curve,
        worst=WorstCase(first, second, theta),
        scope=all_tables_text(n) + searched,
    )


AUDIT = Audit(
    kind=PosteriorSampler,
    report=audit_sampler,
    tables="Each table is shown by its counts in the CPT rows where the two differ.",
    cases={
        "Is a sample of a trimmed posterior private?": {
            "calibration": Calibration.AS_PRINTED,
            "epsilon": 2.0,
            "draws": 1,
        }
    },
)
