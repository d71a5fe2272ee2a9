"""The audit of the private MAP estimate. [Zhang16] Algorithm 3, scored by mass."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.tables import (
    AllTables,
    Suspects,
    all_tables,
    rows_alone,
    suspicious_tables,
    tables_are_few,
)
from dpbayes.audit.pictures import two_laws
from dpbayes.audit.report import (
    MOST_NAMED,
    PROVED_FOR_ALL,
    AuditReport,
    DeltaCurve,
    Laws,
    WorstCase,
    all_tables_text,
    checked_grid,
    checked_records,
    dots,
    nothing_to_lose,
    pure_report,
    range_only_curve,
    rows_texts,
)
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms import MapExponential
from dpbayes.mechanisms.finite import exact_curve

_MOST_MASSES = 2_000_000
"""Most masses of cells computed for one audit."""


def audit_map(mechanism: MapExponential, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of the private MAP estimate: exact where all tables can be listed, otherwise between two values.

    Its decisions are drawn independently, so the loss of an output is a sum, and the worst one is found decision by
    decision. An exponential mechanism's loss has a range of epsilon at most, which bounds the curve.
    """
    grid, prior = checked_grid(epsilons), mechanism.prior
    n = checked_records(n)
    most = mechanism.certified.epsilon
    if n == 0 or most == 0:
        return nothing_to_lose(mechanism, grid)
    listed = _every_table(mechanism, n)
    suspects = (
        Suspects(np.arange(prior.network.row_count), listed.counts, listed.pairs)
        if listed
        else _some_tables(mechanism, n)
    )
    pairs, laws = suspects.pairs, mechanism.log_pmf_of_rows(rows_alone(prior, suspects.rows), suspects.counts)
    losses = _summed_losses(laws, pairs)
    x, y = pairs[int(np.argmax(losses))]
    least = max(0.0, float(losses.max()))
    exact = least if listed else most
    curve = range_only_curve(grid, width=most, most=exact)
    if listed and laws.shape[-2] == 1:
        deltas = exact_curve(laws[:, 0], pairs=pairs, epsilons=grid)
        curve = DeltaCurve(grid, deltas, deltas)
    at_decisions = _losses(laws, x, y)
    places, parts = np.nanargmax(at_decisions, axis=-1), np.nanmax(at_decisions, axis=-1)
    one, other = np.exp(laws[[x, y], int(np.argmax(parts))])
    shown = Laws(_cell_labels(mechanism.cells), one, other, float(parts.max()))
    output = ", ".join(_cell_labels(mechanism.cells)[g] for g in places[:MOST_NAMED]) + dots(len(places))
    scope = all_tables_text(n) + ("" if listed else f" {PROVED_FOR_ALL}")
    tables = [suspects.whole(prior.network, suspects.counts[place]) for place in (x, y)]
    first, second = rows_texts(prior.network, *tables)
    worst = WorstCase(first, second, output, shown)
    return pure_report(mechanism, exact=exact, at_least=least, curve=curve, worst=worst, scope=scope)


def _every_table(mechanism: MapExponential, n: int) -> AllTables | None:
    """All tables, or None where there are too many."""
    if not tables_are_few(mechanism.prior.network, n=n):
        return None
    tables, network = all_tables(mechanism.prior.network, n=n), mechanism.prior.network
    masses = len(tables.counts) * max(1, (network.cell_count - network.row_count) * mechanism.cells)
    return None if masses > _MOST_MASSES else tables


def _some_tables(mechanism: MapExponential, n: int) -> Suspects:
    every = suspicious_tables(mechanism.prior.network, n=n)
    most = max(1, _MOST_MASSES // (2 * mechanism.cells * (every.counts.shape[-1] - len(every.rows))))
    kept = np.linspace(0, len(every.pairs) - 1, min(len(every.pairs), most)).astype(np.int64)
    return Suspects(every.rows, every.counts[every.pairs[kept].ravel()], np.arange(2 * len(kept)).reshape(-1, 2))


def _summed_losses(laws: FloatArray, pairs: IntArray) -> FloatArray:
    """The largest loss over all outputs of every pair: the sum over decisions of each one's largest. (N,)."""
    losses = np.empty(len(pairs))
    step = max(1, _MOST_MASSES // laws[0].size)
    for start in range(0, len(pairs), step):
        x, y = pairs[start : start + step].T
        losses[start : start + step] = np.nanmax(_losses(laws, x, y), axis=-1).sum(axis=-1)
    return losses


def _losses(laws: FloatArray, x: IntArray, y: IntArray) -> FloatArray:
    """The loss of every cell between tables x and y; NaN for a cell that the prior excludes, whatever the table."""
    with np.errstate(invalid="ignore"):
        return np.asarray(laws[x] - laws[y])


def _cell_labels(cells: int) -> tuple[str, ...]:
    return tuple(f"[{numeral(g / cells, 4)}, {numeral((g + 1) / cells, 4)}]" for g in range(cells))


AUDIT = Audit(
    kind=MapExponential,
    report=audit_map,
    picture=lambda mechanism, worst, n: two_laws(worst, x="released interval"),
    tables="Each table is shown by its counts (first value | second value) where the two differ.",
)
