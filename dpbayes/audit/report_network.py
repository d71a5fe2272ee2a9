"""Audits of the mechanisms for a network's posterior, over all tables of n records."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpbayes.audit.finite import exact_curve
from dpbayes.audit.neighbours import all_tables
from dpbayes.audit.noise import MOST_MOVED, LaplaceNoise
from dpbayes.audit.report_die import nothing_to_lose
from dpbayes.audit.report_types import AuditReport, DeltaCurve, Laws, WorstCase, checked_grid, pure_report
from dpbayes.audit.trimmed import MOST_ROW, range_curve, range_epsilon, row_curve
from dpbayes.audit.trimmed_network import (
    Suspects,
    largest_loss,
    network_loss,
    rows_alone,
    suspicious_tables,
    tables_are_few,
)
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.mechanisms import Exact, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.known import require_known
from dpbayes.mechanisms.sensitivity import count_sensitivity, walsh_sensitivity
from dpbayes.model.network import Network

MOST_RECORDS = 2**53

_MOST_MASSES = 2_000_000
"""Most masses of cells computed for one audit of the private MAP estimate."""

_NAMED = 6
"""Most nodes or rows that a label names."""


def audit_exact(mechanism: Exact, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of handing over the exact posterior: any two tables with different counts are told apart."""
    require_known(mechanism, Exact)
    grid = checked_grid(epsilons)
    if _records(n) == 0 or count_sensitivity(mechanism.prior.network) == 0:
        return nothing_to_lose(mechanism, grid)
    ones = np.ones(len(grid))
    worst = WorstCase(*_opposites(mechanism.prior.network, n), "the first table's own counts")
    return pure_report(
        mechanism, exact=np.inf, at_least=np.inf, curve=DeltaCurve(grid, ones, ones), worst=worst, scope=_all(n)
    )


def audit_laplace(mechanism: LaplaceUpdates, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of [Zhang16] Algorithm 1: exact, clipping included.

    All of 2 |I| counts move by one when the odd records differ in every column. Both counts lie in [0, n], and beyond
    either end the ratio of densities is constant: what clipping hides does not help to tell the tables apart, so the
    pure epsilon and the whole curve stay as they are without it.
    """
    grid, network = checked_grid(epsilons), mechanism.prior.network
    noise = laplace_noise(mechanism, n=n)
    if not noise.moved:
        return nothing_to_lose(mechanism, grid)
    worst = WorstCase(*_opposites(network, n), "noisy counts at or beyond the first table's, in every cell that moves")
    return pure_report(
        mechanism,
        exact=noise.pure_epsilon,
        at_least=noise.pure_epsilon,
        curve=_noise_curve(noise, noise, grid),
        worst=worst,
        scope=f"{_all(n)} The worst differ in every column, so that {noise.moved:,} counts move by one.",
    )


def audit_fourier(mechanism: LaplaceFourier, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of [Zhang16] Algorithm 2: exact where O is, otherwise between two values.

    O coefficients move by two. The tables handed over hold all of them: rebuilding is one to one.
    """
    grid, network = checked_grid(epsilons), mechanism.prior.network
    noise = fourier_noise(mechanism, n=n)
    if not noise.moved:
        return nothing_to_lose(mechanism, grid)
    overlap = network.closure.odd_overlap
    # A record can always flip half of the coefficients of one family.
    family = 2 ** (max(map(len, network.families)) - 1)
    certain = noise if overlap.exact else LaplaceNoise(min(family, noise.moved), noise.ratio)
    how = "Exactly" if overlap.exact else "At most"
    worst = WorstCase(
        f"{n:,} records, one of which flips {certain.moved:,} coefficients when it is replaced",
        f"the same {n:,} records after the replacement",
        "noisy coefficients at or beyond the first table's, wherever they move",
    )
    return pure_report(
        mechanism,
        exact=noise.pure_epsilon,
        at_least=certain.pure_epsilon,
        curve=_noise_curve(noise, certain, grid),
        worst=worst,
        scope=f"{_all(n)} {how} {noise.moved:,} coefficients move by two.",
    )


def audit_sampler(mechanism: PosteriorSampler, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of posterior draws: exact where all tables can be listed, otherwise between two values.

    N independent draws lose N times as much as one. The curve is exact for one draw from one binary node; otherwise it
    is the largest that the range of the loss allows.
    """
    require_known(mechanism, PosteriorSampler)
    grid, network, bound = checked_grid(epsilons), mechanism.prior.network, mechanism.log_odds_bound
    found = network_loss(mechanism.prior, n=n, bound=bound)
    if found.most == 0:
        return nothing_to_lose(mechanism, grid)
    single = network.cell_count == 2 and mechanism.draws == 1 and n <= MOST_ROW
    if single:
        a, b = mechanism.prior.alpha
        deltas = row_curve(float(a), float(b), n=n, bound=bound, epsilons=grid).deltas
        curve = DeltaCurve(grid, deltas, deltas)
    else:
        curve = _range_curve(grid, width=mechanism.certified.epsilon, most=mechanism.draws * found.most)
    first, second, theta = _rows_texts(network, found.first, found.second, found.theta)
    searched = "" if found.is_exact else " The value is a sum of the nodes' own worst cases, which may not meet."
    return pure_report(
        mechanism,
        exact=mechanism.draws * found.most,
        at_least=mechanism.draws * found.least,
        curve=curve,
        worst=WorstCase(first, second, theta),
        scope=_all(n) + searched,
    )


def audit_map(mechanism: MapExponential, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of the private MAP estimate: exact where all tables can be listed, otherwise between two values.

    Its decisions are drawn independently, so the loss of an output is a sum, and the worst one is found decision by
    decision. An exponential mechanism's loss has a range of epsilon at most, which bounds the curve.
    """
    require_known(mechanism, MapExponential)
    grid, prior = checked_grid(epsilons), mechanism.prior
    n = _records(n)
    most = mechanism.certified.epsilon
    if n == 0 or most == 0:
        return nothing_to_lose(mechanism, grid)
    listed = _all_tables_for_map(mechanism, n)
    suspects = Suspects(np.arange(prior.network.row_count), *listed) if listed else _some_tables_for_map(mechanism, n)
    pairs, laws = suspects.pairs, mechanism.log_pmf_of_rows(rows_alone(prior, suspects.rows), suspects.counts)
    losses = _summed_losses(laws, pairs)
    x, y = pairs[int(np.argmax(losses))]
    least = max(0.0, float(losses.max()))
    exact = least if listed else most
    curve, shown = _range_curve(grid, width=most, most=exact), None
    if listed and laws.shape[-2] == 1:
        deltas = exact_curve(laws[:, 0], pairs=pairs, epsilons=grid).deltas
        curve = DeltaCurve(grid, deltas, deltas)
        shown = Laws(_cell_labels(mechanism.cells), *np.exp(laws[[x, y], 0]))
    places = np.nanargmax(_losses(laws, x, y), axis=-1)
    output = ", ".join(_cell_labels(mechanism.cells)[g] for g in places[:_NAMED]) + _dots(len(places))
    scope = _all(n) + ("" if listed else " The value is what is proved for every n.")
    tables = [suspects.whole(prior.network, suspects.counts[place]) for place in (x, y)]
    first, second = _rows_texts(prior.network, *tables)
    worst = WorstCase(first, second, output, shown)
    return pure_report(mechanism, exact=exact, at_least=least, curve=curve, worst=worst, scope=scope)


def laplace_noise(mechanism: LaplaceUpdates, *, n: int) -> LaplaceNoise:
    """Return how many counts one record moves, and how far: none when n = 0."""
    require_known(mechanism, LaplaceUpdates)
    moved = count_sensitivity(mechanism.prior.network) if _records(n) else 0
    return LaplaceNoise(moved, 1 / mechanism.noise_scale if moved else 1.0)


def fourier_noise(mechanism: LaplaceFourier, *, n: int) -> LaplaceNoise:
    """Return how many integer coefficients one record moves at most, and how far: none when n = 0."""
    require_known(mechanism, LaplaceFourier)
    moved = walsh_sensitivity(mechanism.prior.network) // 2 if _records(n) else 0
    if moved > MOST_MOVED:
        raise InputError(
            f"One replaced record moves {moved:,} Fourier coefficients of this network, and what that loses is worked "
            f"out for at most {MOST_MOVED:,}; remove some parents of its largest tables, or audit another mechanism."
        )
    return LaplaceNoise(moved, 2 / mechanism.noise_scale)


def sampler_epsilon(mechanism: PosteriorSampler, *, n: int, delta: float) -> float:
    """Return an epsilon that suffices at delta: the exact one for delta = 0 and tiny networks, else an upper value."""
    require_known(mechanism, PosteriorSampler)
    most = mechanism.draws * largest_loss(mechanism.prior, n=n, bound=mechanism.log_odds_bound)
    return range_epsilon(width=mechanism.certified.epsilon, most=most, delta=delta)


def map_epsilon(mechanism: MapExponential, *, n: int, delta: float) -> float:
    """Return an epsilon that suffices at delta: the exact one for delta = 0 and tiny networks, else an upper value."""
    require_known(mechanism, MapExponential)
    most = mechanism.certified.epsilon if _records(n) else 0.0
    listed = _all_tables_for_map(mechanism, n)
    if listed is not None and most:
        most = max(0.0, float(_summed_losses(mechanism.log_pmf(listed[0]), listed[1]).max()))
    return range_epsilon(width=mechanism.certified.epsilon, most=most, delta=delta)


def _records(n: int) -> int:
    return whole_number("The number of records", n, low=0, high=MOST_RECORDS)


def _range_curve(grid: FloatArray, *, width: float, most: float) -> DeltaCurve:
    return DeltaCurve(grid, range_curve(grid, width=width, most=most), np.zeros(len(grid)))


def _noise_curve(upper: LaplaceNoise, lower: LaplaceNoise, grid: FloatArray) -> DeltaCurve:
    low, high = lower.deltas(grid)
    return DeltaCurve(grid, upper.deltas(grid)[1] if upper is not lower else high, low)


# The private MAP estimate


def _all_tables_for_map(mechanism: MapExponential, n: int) -> tuple[IntArray, IntArray] | None:
    """All tables (T, K) and pairs (N, 2) of them, or None where there are too many."""
    if not tables_are_few(mechanism.prior.network, n=n):
        return None
    found = all_tables(mechanism.prior.network, n=n)
    return None if len(found.counts) * _masses_each(mechanism) > _MOST_MASSES else (found.counts, found.pairs)


def _some_tables_for_map(mechanism: MapExponential, n: int) -> Suspects:
    every = suspicious_tables(mechanism.prior.network, n=n)
    most = max(1, _MOST_MASSES // (2 * mechanism.cells * (every.counts.shape[-1] - len(every.rows))))
    kept = np.linspace(0, len(every.pairs) - 1, min(len(every.pairs), most)).astype(np.int64)
    return Suspects(every.rows, every.counts[every.pairs[kept].ravel()], np.arange(2 * len(kept)).reshape(-1, 2))


def _masses_each(mechanism: MapExponential) -> int:
    network = mechanism.prior.network
    return max(1, (network.cell_count - network.row_count) * mechanism.cells)


def _summed_losses(laws: FloatArray, pairs: IntArray) -> FloatArray:
    """The largest loss over all outputs of every pair: the sum over decisions of each one's largest. (N,)."""
    found = np.empty(len(pairs))
    step = max(1, _MOST_MASSES // laws[0].size)
    for start in range(0, len(pairs), step):
        x, y = pairs[start : start + step].T
        found[start : start + step] = np.nanmax(_losses(laws, x, y), axis=-1).sum(axis=-1)
    return found


def _losses(laws: FloatArray, x: IntArray, y: IntArray) -> FloatArray:
    """The loss of every cell between tables x and y; NaN for a cell that the prior excludes, whatever the table."""
    with np.errstate(invalid="ignore"):
        return np.asarray(laws[x] - laws[y])


def _cell_labels(cells: int) -> tuple[str, ...]:
    return tuple(f"[{g / cells:.4g}, {(g + 1) / cells:.4g}]" for g in range(cells))


# Words


def _all(n: int) -> str:
    return f"All tables of {n:,} {'record' if n == 1 else 'records'} and all their neighbours."


def _dots(length: int) -> str:
    return ", …" if length > _NAMED else ""


def _opposites(network: Network, n: int) -> tuple[str, str]:
    """Two tables whose odd records differ in every column."""
    odd, common = (_record_text(network, place) for place in (0, -1))
    return f"{n - 1:,} × ({common}) and 1 × ({odd})", f"{n:,} × ({common})"


def _record_text(network: Network, place: int) -> str:
    pairs = [f"{name}={states[place]}" for name, states in zip(network.names, network.states, strict=True)]
    return ", ".join(pairs[:_NAMED]) + _dots(len(pairs))


def _rows_texts(network: Network, *values: NDArray[Any]) -> tuple[str, ...]:
    """Every array's values (K,), in those rows only in which the first two arrays differ."""
    rows = np.unique(network.row_of_cell[values[0] != values[1]]).tolist()
    dots = "; …" if len(rows) > _NAMED else ""

    def text(value: NDArray[Any], row: int) -> str:
        style = ",d" if value.dtype.kind == "i" else ".4g"
        cells = value[network.cells_of_row(row)].tolist()
        return f"{network.row_label(row)}: {', '.join(format(cell, style) for cell in cells)}"

    return tuple("; ".join(text(value, row) for row in rows[:_NAMED]) + dots for value in values)
