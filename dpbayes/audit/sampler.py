"""The audit of draws from the posterior under a trimmed prior. [Zhang16] Appendix C.2."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.trimmed import MOST_ROW, network_loss, row_curve
from dpbayes.audit.pictures import POINTS, two_laws
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    Laws,
    WorstCase,
    all_tables_text,
    checked_grid,
    nothing_to_lose,
    pure_report,
    range_only_curve,
    rows_texts,
)
from dpbayes.base.types import IntArray
from dpbayes.mechanisms import Calibration, PosteriorSampler
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.trimmed import distinct_log_mass


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
        worst=WorstCase(first, second, theta, _ratio(mechanism, np.stack([loss.first, loss.second]))),
        scope=all_tables_text(n) + searched,
    )


def _ratio(mechanism: PosteriorSampler, tables: IntArray) -> Laws:
    """The density of the one sampled probability that loses most between two tables (2, K), relative to the second."""
    prior, bound = mechanism.prior, mechanism.log_odds_bound
    a, b = Decisions(prior.network).parameters(prior.updated(tables).alpha)
    a, b, mass = (x[0] - x[1] for x in (a, b, distinct_log_mass(a, b, bound)))
    z = np.linspace(-bound, bound, POINTS)[:, None]
    most = np.max(a * special.log_expit(z[[0, -1]]) + b * special.log_expit(-z[[0, -1]]) - mass, axis=0)
    row = [int(np.argmax(most))]
    losses = a[row] * special.log_expit(z) + b[row] * special.log_expit(-z) - mass[row]
    return Laws(special.expit(z[:, 0]), np.exp(losses[:, 0]), np.ones(POINTS), float(most.max()))


AUDIT = Audit(
    kind=PosteriorSampler,
    report=audit_sampler,
    picture=lambda mechanism, worst, n: two_laws(
        worst, x="sampled probability", y="times as likely as for the second table"
    ),
    tables="Each table is shown by its counts (first value | second value) where the two differ.",
    cases={
        "Is a sample of a trimmed posterior private?": {
            "calibration": Calibration.AS_PRINTED,
            "epsilon": 2.0,
            "draws": 1,
        }
    },
)
