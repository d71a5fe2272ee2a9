"""The audit of draws of regression weights: what is proved for every table, and tables that come close to it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.gaussian import exact_loss
from dpbayes.audit.report_types import AuditReport, DeltaCurve, FloatArray, WorstCase, checked_grid, pure_report
from dpbayes.audit.trimmed import range_curve
from dpbayes.mechanisms.regression_sampler import RegressionSampler
from dpbayes.privacy import Guarantee
from dpbayes.regression import Moments
from dpbayes.validation import whole_number

Record = tuple[tuple[float, ...], float]


def audit_regression(mechanism: RegressionSampler, *, n: int, features: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of N draws of the weights after n records of `features` features.

    `exact` is the upper value that is proved for every table. `at_least` is the exact loss of a pair of tables made to
    lose much: all but one record push the weights to where the odd one fits in one table and not in the other. For more
    than two features it is the pair of two features, the others being zero, in a ball of two dimensions: a bound for
    those is not known, and 0 is given. Errors: InputError for bad numbers.
    """
    grid = checked_grid(epsilons)
    n = whole_number("The number of records", n, low=0, high=2**53)
    d = whole_number("The number of features", features, low=1, high=2**31)
    claimed = mechanism.claimed(n, features=d)
    promise = _Promise(claimed, mechanism.certified)
    most = mechanism.certified.epsilon if n else 0.0
    least, worst = (0.0, None) if n == 0 or d > 2 else _bad_tables(mechanism, n, d)
    deltas = range_curve(grid, width=most, most=most)
    return pure_report(
        promise,
        exact=most,
        at_least=min(mechanism.draws * least, most),
        curve=DeltaCurve(grid, deltas, np.zeros(len(grid))),
        worst=worst,
        scope=f"All tables of {n:,} scaled records and all their neighbours; the value is what is proved for every n.",
    )


@dataclass(frozen=True)
class _Promise:
    claimed: Guarantee
    certified: Guarantee


def _bad_tables(mechanism: RegressionSampler, n: int, d: int) -> tuple[float, WorstCase]:
    """The largest exact loss of one draw among a few pairs of tables, in both orders."""
    best, worst = -1.0, WorstCase("", "", "")
    for rest, one, other in _attacks(mechanism.norm_bound, d):
        tables = [_moments([(n - 1, rest), (1, odd)], d) for odd in (one, other)]
        for place in (0, 1):
            first, second = tables[place], tables[1 - place]
            loss = float(
                exact_loss(
                    first,
                    second,
                    prior_precision=mechanism.prior_precision,
                    noise_variance=mechanism.noise_variance,
                    norm_bound=mechanism.norm_bound,
                )
            )
            if loss > best:
                odd = (one, other)[place], (other, one)[place]
                texts = [f"{n - 1:,} × {_text(rest)} and 1 × {_text(record)}" for record in odd]
                best, worst = loss, WorstCase(texts[0], texts[1], f"weights of length {mechanism.norm_bound:.4g}")
    return best, worst


def _attacks(bound: float, d: int) -> list[tuple[Record, Record, Record]]:
    """The rest, and the odd record in either table, as (x, y): their residuals exchange their sizes in the ball."""
    push = min(1.0, 1 / (2 * bound))  # the length of x at which y = 1 pulls hardest at ||w|| = B
    rest = (0.0,) * (d - 1)
    found = [
        (((-push, *rest), 1.0), ((1.0, *rest), 1.0), ((1.0, *rest), -1.0)),
        (((-1.0, *rest), 1.0), ((1.0, *rest), 1.0), ((1.0, *rest), -1.0)),
    ]
    if bound > 1:
        found.append((((-1.0, *rest), 1.0), ((1 / bound, *rest), 1.0), ((1.0, *rest), -1.0)))
    if bound > 1 and d == 2:
        # At (B, 0) the record (e_1, -1) is off by 1 + B and (u, 1) fits; at -B u it is the other way round.
        u = np.array([1 / bound, -np.sqrt(1 - bound**-2)])
        found.append(((tuple(-u * push), 1.0), (tuple(u), 1.0), ((1.0, 0.0), -1.0)))
    return found


def _moments(rows: Sequence[tuple[int, Record]], d: int) -> Moments:
    many = np.array([count for count, _ in rows], dtype=np.float64)
    x: FloatArray = np.array([record[0] for _, record in rows], dtype=np.float64).reshape(-1, d)
    y: FloatArray = np.array([record[1] for _, record in rows], dtype=np.float64)
    return Moments((x.T * many) @ x, x.T @ (many * y), np.asarray(many @ (y * y)), int(many.sum()))


def _text(record: Record) -> str:
    values = ", ".join(f"{value:.3g}" for value in record[0])
    return f"(x = ({values}), y = {record[1]:.3g})"
