"""The audit of sampled regression weights: the proved bound for all tables, and tables with a loss close to it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit, Hypothetical
from dpbayes.audit.loss.gaussian import exact_loss, likelihood_difference, log_posterior_mass
from dpbayes.audit.pictures import TwoLaws
from dpbayes.audit.report import (
    PROVED_FOR_ALL,
    AuditReport,
    WorstCase,
    checked_grid,
    checked_records,
    pure_report,
    range_only_curve,
)
from dpbayes.base.text import many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.regression import Moments

Record = tuple[tuple[float, ...], float]

_TURNS = 721
"""The number of compared directions of two weights."""

_POINTS = 401
_NAMED = 4
"""The largest number of features whose values are shown."""


def audit_regression(
    mechanism: RegressionSampler, *, n: int, epsilons: ArrayLike, features: int | None = None
) -> AuditReport:
    """Return the audit of N draws of the weights after n records of `features` features.

    `exact` is the upper value that is proved for every table. `at_least` is the exact loss of a pair of tables made to
    lose much: see `bad_tables`. Errors: InputError for bad numbers, and where the number of features is not said.
    """
    if features is None:
        raise InputError("State the number of features: the epsilon as stated in the paper depends on it.")
    grid = checked_grid(epsilons)
    n, d = _sizes(n, features)
    most = mechanism.certified.epsilon if n else 0.0
    pair = bad_tables(mechanism, n=n, features=d) if n else None
    output = f"weights of length {numeral(mechanism.norm_bound, 4)}"
    report = pure_report(
        mechanism,
        exact=most,
        at_least=min(mechanism.draws * pair.loss, most) if pair else 0.0,
        curve=range_only_curve(grid, width=most, most=most),
        worst=WorstCase(*pair.descriptions, output) if pair else None,
        scope=f"The maximum is over all tables of {n:,} scaled records and all their neighbours. {PROVED_FOR_ALL}",
    )
    return replace(report, claimed=mechanism.claimed(n, features=d))


@dataclass(frozen=True, eq=False)
class BadTables:
    """Two neighbouring tables with a large loss of one sample: their moments, descriptions, and the exact `loss`.

    `spare` further features are zero in all records of both tables.
    """

    first: Moments
    second: Moments
    descriptions: tuple[str, str]
    loss: float
    spare: int


def bad_tables(mechanism: RegressionSampler, *, n: int, features: int) -> BadTables:
    """Return the pair with the largest loss of a few pairs, in both orders.

    All but one record push the weights to where the odd one fits in one table and not in the other. For more than two
    features they are pairs of one feature, the others being zero. Errors: InputError for bad numbers, and no records.
    """
    n, d = _sizes(n, features)
    if n == 0:
        raise InputError("A table without records has no neighbouring tables.")
    used = d if d <= 2 else 1
    pairs = []
    for rest, one, other in _attacks(mechanism.norm_bound, used):
        for odd in ((one, other), (other, one)):
            first, second = (_moments([(n - 1, rest), (1, record)], used) for record in odd)
            descriptions = tuple(f"{n - 1:,} × {_text(rest, d)} and 1 × {_text(record, d)}" for record in odd)
            loss = exact_loss(first, second, **_settings(mechanism), spare=d - used)
            pairs.append(BadTables(first, second, (descriptions[0], descriptions[1]), float(loss), d - used))
    return max(pairs, key=lambda pair: pair.loss)


def densities_along(mechanism: RegressionSampler, pair: BadTables, points: int) -> tuple[FloatArray, FloatArray]:
    """Return places (points,) in [-B, B] on the diameter through the weights of the largest loss, and ln p (2, points).

    Both tables' densities of one draw have the same factor left out, which depends on b, B and the features alone.
    """
    bend, slope = likelihood_difference(pair.first, pair.second, mechanism.noise_variance)
    turn = np.linspace(0, 2 * np.pi, _TURNS)
    around = np.stack([np.cos(turn), np.sin(turn)], axis=-1) if pair.first.d == 2 else np.array([[1.0], [-1.0]])
    w = mechanism.norm_bound * around
    log_ratio = np.einsum("ti,ij,tj->t", w, bend, w) / 2 + w @ slope
    places = np.linspace(-mechanism.norm_bound, mechanism.norm_bound, points)
    weights = places[:, None] * around[int(np.argmax(log_ratio))]
    laws = []
    for table in (pair.first, pair.second):
        fit = weights @ table.cross - np.einsum("ti,ij,tj->t", weights, table.gram, weights) / 2
        shrinkage = mechanism.prior_precision * places**2 / 2
        log_mass = log_posterior_mass(table, **_settings(mechanism), spare=pair.spare)
        laws.append(fit / mechanism.noise_variance - shrinkage - log_mass)
    return places, np.stack(laws)


def _settings(mechanism: RegressionSampler) -> dict[str, float]:
    return {name: getattr(mechanism, name) for name in ("prior_precision", "noise_variance", "norm_bound")}


def _sizes(n: int, features: int) -> tuple[int, int]:
    return checked_records(n), whole_number("The number of features", features, low=1, high=2**31)


def _attacks(bound: float, d: int) -> list[tuple[Record, Record, Record]]:
    """The rest, and the odd record in either table, as (x, y): their residuals exchange their sizes in the ball."""
    push = min(1.0, 1 / (2 * bound))  # the length of x at which y = 1 pulls hardest at ||w|| = B
    rest = (0.0,) * (d - 1)
    attacks = [
        (((-push, *rest), 1.0), ((1.0, *rest), 1.0), ((1.0, *rest), -1.0)),
        (((-1.0, *rest), 1.0), ((1.0, *rest), 1.0), ((1.0, *rest), -1.0)),
    ]
    if bound > 1:
        attacks.append((((-1.0, *rest), 1.0), ((1 / bound, *rest), 1.0), ((1.0, *rest), -1.0)))
    if bound > 1 and d == 2:
        # At (B, 0) the record (e_1, -1) is off by 1 + B and (u, 1) fits; at -B u it is the other way round.
        u = np.array([1 / bound, -np.sqrt(1 - bound**-2)])
        attacks.append(((tuple(-u * push), 1.0), (tuple(u), 1.0), ((1.0, 0.0), -1.0)))
    return attacks


def _moments(rows: Sequence[tuple[int, Record]], d: int) -> Moments:
    many = np.array([count for count, _ in rows], dtype=np.float64)
    x: FloatArray = np.array([record[0] for _, record in rows], dtype=np.float64).reshape(-1, d)
    y: FloatArray = np.array([record[1] for _, record in rows], dtype=np.float64)
    return Moments((x.T * many) @ x, x.T @ (many * y), np.asarray(many @ (y * y)), int(many.sum()))


def _text(record: Record, d: int) -> str:
    shown = [numeral(value) for value in record[0]] + ["0"] * (d - len(record[0]))
    values = ", ".join(shown[:_NAMED]) + (", …" if d > _NAMED else "")
    return f"(x = ({values}), y = {numeral(record[1])})"


# The entry


def _densities(mechanism: RegressionSampler, worst: WorstCase, *, n: int, features: int) -> TwoLaws:
    """Return both tables' densities of one sample along the diameter through the weights with the largest loss."""
    pair = bad_tables(mechanism, n=n, features=features)
    places, logs = densities_along(mechanism, pair, _POINTS)
    first, second = np.exp(logs - logs.max())
    return TwoLaws(
        places=places,
        first=first,
        second=second,
        x="position on a diameter of the ball, signed length",
        y="density relative to the largest",
        caption="The diameter goes through the weights with the largest loss.",
        part=pair.loss,
    )


AUDIT = Audit(
    kind=RegressionSampler,
    report=audit_regression,
    claimed=lambda mechanism, n, features: mechanism.claimed(n, features=features),
    picture=_densities,
    tables="A table has scaled records of features x and a target y. The weights w are sampled.",
    farthest=5.0,  # the epsilon stated in the paper grows with n
    hypothetical=Hypothetical(
        title="Regression sampler",
        parameters=("n", "features", "precision", "variance", "norm", "draws"),
        caption="The audit uses hypothetical records, scaled to length 1 by public bounds; the open table is not used.",
        mechanism_at=lambda numbers: RegressionSampler(
            prior_precision=numbers["precision"],
            noise_variance=numbers["variance"],
            norm_bound=numbers["norm"],
            draws=numbers["draws"],
        ),
        where=lambda numbers: (
            f"tables of {many(numbers['n'], 'scaled record')} with {many(numbers['features'], 'feature')}"
        ),
    ),
)
