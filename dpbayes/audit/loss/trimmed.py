"""Exact privacy of draws from trimmed posteriors, whose log-odds are in [-B, B]: see docs/proofs.md.

One row has a curve. All CPTs of a network have an exact loss if all tables can be listed; otherwise the terms of all
nodes add up to an upper value, and a search among tables gives a lower one.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.loss.tables import all_tables, rows_alone, suspicious_tables, tables_are_few
from dpbayes.base.quadrature import panel_rule, reach, turning_point
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms.finite import checked_grid
from dpbayes.posteriors.decisions import Decisions, log_mass_trimmed
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.trimmed import distinct_log_mass, distinct_pairs, log_mass_between

MOST_ROW = 2000
"""Most records for which a row's whole curve is computed."""

_MOST_SPLITS = 2000
"""Most records for which the way they are shared between two rows is optimised; beyond, both are given all."""

_PAIRS = 1 << 15
"""Pairs of tables looked at at once."""


def row_curve(a: float, b: float, *, n: int, bound: float, epsilons: ArrayLike) -> FloatArray:
    """Return delta at every epsilon (E,), over all neighbours of n records, by quadrature of positive terms.

    For (x, y) = (k + 1, k) the loss z - ln Z'/Z exceeds epsilon from t = epsilon + ln Z'/Z on, and delta is the
    integral of p(z | x) (1 - e^(t - z)) from t to B; the other order is its mirror image. Errors: InputError for more
    than MOST_ROW records, and negative epsilons.
    """
    n, bound = checked_size(n, bound=bound)
    grid = checked_grid(epsilons)
    if n > MOST_ROW:
        raise InputError(f"A row's privacy curve is computed for at most {MOST_ROW:,} records.")
    if n == 0:
        return np.zeros(len(grid))
    k = np.arange(n + 1)
    masses = log_mass_between(a + k, b + (n - k), -bound, bound)
    rise = np.diff(masses)
    up = (a + k[1:], b + (n - k[1:]), masses[1:], rise)
    down = (b + (n - k[:-1]), a + k[:-1], masses[:-1], -rise)  # z reflected
    first, second, mass, turn = (np.concatenate(pair) for pair in zip(up, down, strict=True))
    return np.asarray(_excess(first, second, log_mass=mass, start=grid[:, None] + turn, end=bound).max(axis=1))


def _excess(a: FloatArray, b: FloatArray, *, log_mass: FloatArray, start: FloatArray, end: float) -> FloatArray:
    """The integral of exp(a ln s(z) + b ln s(-z) - log_mass) (1 - e^(start - z)) over [start, end]: (E, R)."""
    excess = np.zeros(start.shape)
    low = np.maximum(start, -end)
    alive = start < end
    if not alive.any():
        return excess
    a, b, log_mass = (np.broadcast_to(value, start.shape)[alive] for value in (a, b, log_mass))
    start, low = start[alive], low[alive]

    def log_value(z: FloatArray, across: tuple[slice | None, ...] = ()) -> FloatArray:
        inner = a[across] * special.log_expit(z) + b[across] * special.log_expit(-z) - log_mass[across]
        return inner + np.log(-np.expm1(np.minimum(start[across] - z, -1e-300)))

    def rises(z: FloatArray) -> BoolArray:
        with np.errstate(over="ignore", divide="ignore"):
            return a * special.expit(-z) - b * special.expit(z) + 1 / np.expm1(z - start) > 0

    mode, _ = turning_point(rises, low, end, halvings=45)
    top = log_value(mode)
    total = np.zeros(mode.shape)
    for limit in (low, end):
        width = reach(lambda distance: top - log_value(mode + distance), limit - mode, halvings=22)[:, None]
        total += np.abs(width[:, 0]) * (np.exp(log_value(mode[:, None] + width * _SHARES, _ACROSS)) @ _WEIGHTS)
    excess[alive] = total
    return np.minimum(excess, 1.0)


_ACROSS = (slice(None), None)


_SHARES, _WEIGHTS = panel_rule(nodes=16, panels=4)


def checked_size(n: int, *, bound: float) -> tuple[int, float]:
    """Return n and the largest log-odds as numbers in range. Errors: InputError."""
    return (
        whole_number("The number of records", n, low=0, high=2**53),
        finite_number("The largest log-odds", bound, low=0, high=1000),
    )


# All CPTs of a network


@dataclass(frozen=True, eq=False)
class NetworkLoss:
    """The pure epsilon of one draw of all CPTs: between `least`, which the witnesses reach, and `most`.

    `first` and `second` are the CPT counts (K,) of neighbours, `theta` (K,) the CPTs at which their loss is `least`.
    """

    least: float
    most: float
    first: IntArray
    second: IntArray
    theta: FloatArray

    @property
    def is_exact(self) -> bool:
        """Whether both values agree."""
        return self.most - self.least <= 1e-9 * max(1.0, self.most)


def network_loss(prior: Dirichlets, *, n: int, bound: float) -> NetworkLoss:
    """Return what one draw of all CPTs loses over all neighbouring tables of n records, decisions trimmed to +-bound.

    Exact where all tables can be listed, and for a single binary node; otherwise an upper and a lower value. Zero when
    n = 0. N draws from the same table lose N times as much.
    """
    n, bound = checked_size(n, bound=bound)
    network = prior.network
    if n == 0 or np.all(network.cards == 1):
        none = np.zeros(network.cell_count, dtype=np.int64)
        return NetworkLoss(0.0, 0.0, none, none, prior.mean)
    if tables_are_few(network, n=n):
        tables = all_tables(network, n=n)
        exact, (first, second) = worst_pair(prior, tables.counts, tables.pairs, bound)
        return _witnessed(prior, first, second, bound, (exact, exact))
    suspects = suspicious_tables(network, n=n)
    least, pair = worst_pair(rows_alone(prior, suspects.rows), suspects.counts, suspects.pairs, bound)
    first, second = (suspects.whole(network, counts) for counts in pair)
    return _witnessed(prior, first, second, bound, (least, max(least, _nodewise_most(prior, n, bound))))


def worst_pair(prior: Dirichlets, tables: IntArray, pairs: IntArray, bound: float) -> tuple[float, IntArray]:
    """The most that a pair among the tables (T, K) loses, ln p(theta | x) - ln p(theta | y), and that pair: (2, K)."""
    decisions, masses = Decisions(prior.network), log_mass_trimmed(prior.updated(tables), bound)
    best, place = -math.inf, 0
    for start in range(0, len(pairs), _PAIRS):
        x, y = pairs[start : start + _PAIRS].T
        high, low = _log_ratio_ends(decisions, tables[x] - tables[y], bound)
        losses = np.maximum(high, low).sum(axis=-1) - (masses[x] - masses[y])
        if losses.max() > best:
            best, place = float(losses.max()), start + int(np.argmax(losses))
    return max(0.0, best), tables[pairs[place]]


def _witnessed(
    prior: Dirichlets, first: IntArray, second: IntArray, bound: float, ends: tuple[float, float]
) -> NetworkLoss:
    """The loss between two values, with the CPTs at which these tables (K,) lose most."""
    decisions = Decisions(prior.network)
    high, low = _log_ratio_ends(decisions, first - second, bound)
    theta = decisions.probabilities(np.where(high > low, bound, -bound))
    return NetworkLoss(*ends, first, second, theta)


def _log_ratio_ends(decisions: Decisions, moved: IntArray, bound: float) -> tuple[FloatArray, FloatArray]:
    """What every decision adds to the log-likelihood ratio at either end of its log-odds: two arrays (..., K - m)."""
    toward, away = decisions.parameters(moved.astype(np.float64))
    likely, unlikely = float(special.log_expit(bound)), float(special.log_expit(-bound))
    return toward * likely + away * unlikely, toward * unlikely + away * likely


def _nodewise_most(prior: Dirichlets, n: int, bound: float) -> float:
    """The sum over the nodes of the most that a record's change within the node's family can lose, at any tables."""
    network = prior.network
    losses_by_prior: dict[bytes, tuple[float, float]] = {}
    total = 0.0
    for node, depth in enumerate(Decisions(network).depths):
        if network.cards[node] != 2:
            total += 2 * int(depth) * bound
            continue
        first, second, _ = distinct_pairs(*network.table(prior.alpha, node).reshape(-1, 2).T)
        alpha = np.unique(np.column_stack([first, second]), axis=0)
        key = alpha.tobytes()
        if key not in losses_by_prior:
            losses_by_prior[key] = _binary_most(alpha, n, bound)
        same, other = losses_by_prior[key]
        total += same if network.rows_per_node[node] == 1 else max(same, other)
    return total


def _binary_most(alpha: FloatArray, n: int, bound: float) -> tuple[float, float]:
    """The most that a change within one row of a binary node loses, and between two; `alpha` (R, 2) are the priors."""
    own, other = np.concatenate([alpha, alpha[:, ::-1]]).T[..., None]
    s = np.arange(n) if n <= _MOST_SPLITS else np.array([n - 1])
    parts = [np.broadcast_arrays(*pair) for pair in ((own, other + s), (own + 1, other + s))]
    parts += [np.broadcast_arrays(*pair) for pair in ((own + s, other), (own + s + 1, other))]
    a, b = np.stack(parts, axis=1)
    masses = distinct_log_mass(a, b, bound)
    against, along = masses[1] - masses[0], masses[3] - masses[2]  # ln E[theta], (2 R, s)
    same = (np.roll(along[:, -1], len(alpha)) - against[:, -1]).max()
    gain = (along.max(axis=0)[::-1] - against.min(axis=0)).max()
    return min(bound + float(same), 2 * bound), min(bound + float(gain), 2 * bound)
