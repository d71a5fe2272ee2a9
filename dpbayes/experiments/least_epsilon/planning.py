"""Planned releases: errors against epsilon, records that an epsilon needs, and the credible intervals of recipients."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dpbayes.base.steps import Partial, Work, part_of, slices
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon.search import crossing, interval_shares, sizes_at
from dpbayes.experiments.least_epsilon.tables import are_drawn_together, planned_tables_steps
from dpbayes.experiments.least_epsilon.wish import Wish
from dpbayes.mechanisms.base import searched, simulated
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.views.reading import QUICK_CELLS, answer_under, posterior_name, posterior_of

MOST_RECORDS, _MOST_TOGETHER = 1_000_000, 2_000_000
"""Most records of a planned table that are tried; and most records of all tables, if they are sampled one by one."""

_DOWN, _HALVINGS = 4, 6
"""The factor by which the number of records falls until it is too small, and how often the last step is halved."""


_CELLS = 360
"""Most cells of the releases of one step."""

MOST_CELLS = 10_000
"""Most cells of a network for which intervals are computed."""


@dataclass(frozen=True, eq=False)
class ErrorCurve:
    """Errors of simulated releases at epsilons (E,): the median, and the quantile of the required share.

    NaN if not computed yet, or if the mechanism does not allow the epsilon.
    """

    epsilons: FloatArray
    median: FloatArray
    wanted: FloatArray

    def epsilon_within(self, tolerance: float) -> float:
        """Return the epsilon from which on the quantile is within a tolerance; infinity if the last one is not.

        It is read between the epsilons on logarithmic scales.
        """
        computed = np.isfinite(self.wanted)
        if not computed.any():
            return math.inf
        logs = -np.log(np.maximum(self.wanted[computed], np.finfo(float).tiny))
        return crossing(self.epsilons[computed], logs, -math.log(tolerance))


def error_steps(wish: Wish, epsilons: FloatArray, rng: np.random.Generator) -> Work[ErrorCurve]:
    """Compute the errors of a wish's draws at some epsilons (E,), with the same random numbers."""
    seed = int(rng.integers(2**63))
    so_far = ErrorCurve(epsilons, *np.full((2, len(epsilons)), np.nan))
    yield from part_of(searched(wish.mechanism), 0.0, 0.0)
    for k, epsilon in enumerate(epsilons):
        try:
            sizes = sizes_at(wish, float(epsilon), np.random.default_rng(seed))
        except InputError:
            sizes = np.full(1, np.nan)
        median, wanted = so_far.median.copy(), so_far.wanted.copy()
        median[k], wanted[k] = np.quantile(sizes, [0.5, wish.confidence])
        so_far = ErrorCurve(epsilons, median, wanted)
        yield Partial((k + 1) / len(epsilons), so_far)
    return so_far


@dataclass(frozen=True)
class LeastRecords:
    """The number of records that an epsilon needs, and its 95% interval; infinite if no tried number is sufficient.

    `high` is also infinite if there are too few draws.
    """

    records: float
    low: float
    high: float


def most_records(network: Network, draws: int) -> int:
    """Return the largest number of records that is tried in so many tables, which can be planned in about a second."""
    return MOST_RECORDS if are_drawn_together(network) else max(1, _MOST_TOGETHER // draws)


def least_records_steps(wish: Wish, cpts: FloatArray, rng: np.random.Generator) -> Work[LeastRecords]:
    """Find the number of records from which on a wish is satisfied at its mechanism's epsilon, in steps.

    It is tried from many records down, then by halving. The tables of the wish do not matter: tables are planned from
    CPTs (K,). Errors: InputError if tables cannot be planned, and those of the answer.
    """
    seeds = [int(seed) for seed in rng.integers(2**63, size=2)]
    shares: dict[int, float] = {}
    records = most_records(wish.question.network, wish.draws)
    for step in range(1, steps := 2 + math.ceil(math.log(records, _DOWN))):
        begun, done = 0.9 * (step - 1) / steps, 0.9 * step / steps
        shares[records] = yield from part_of(_share(wish, cpts, records, seeds), begun, done)
        yield done
        if shares[records] < wish.confidence:
            break
        records = max(records // _DOWN, 1)
    for halving in range(_HALVINGS):
        lacking = max((n for n, share in shares.items() if share < wish.confidence), default=0)
        above = min((n for n in shares if n > lacking), default=0)
        if not lacking or above <= lacking + 1:
            break
        middle = round(math.sqrt(lacking * above))
        begun, done = 0.9 + 0.1 * halving / _HALVINGS, 0.9 + 0.1 * (halving + 1) / _HALVINGS
        shares[middle] = yield from part_of(_share(wish, cpts, middle, seeds), begun, done)
        yield done
    return _crossings(shares, wish)


def _crossings(shares: Mapping[int, float], wish: Wish) -> LeastRecords:
    tried = np.array(sorted(shares))
    passed = np.array([shares[n] for n in sorted(shares)])
    wanted = (wish.confidence, *interval_shares(wish.confidence, draws=wish.draws))
    return LeastRecords(*(crossing(tried.astype(np.float64), passed, share) for share in wanted))


def _share(wish: Wish, cpts: FloatArray, records: int, seeds: list[int]) -> Work[float]:
    rng, luck = (np.random.default_rng(seed) for seed in seeds)
    tables = yield from part_of(planned_tables_steps(wish.question.network, cpts, records, wish.draws, rng), 0.0, 1.0)
    planned = replace(wish, tables=tables)
    epsilon: float = vars(wish.mechanism)["epsilon"]  # `Wish` requires an epsilon
    return float((sizes_at(planned, epsilon, luck) <= wish.tolerance).mean())


@dataclass(frozen=True, eq=False)
class PlannedIntervals:
    """Credible intervals of planned releases at one epsilon, and the name of their posterior.

    Args:
        epsilon: The epsilon of the releases.
        posterior: The name of the posterior.
        widths: The widths (R,).
        contained: Which intervals contain the true value (R,).
        decided: Which answers the prior determines, and not the release (R,).
    """

    epsilon: float
    posterior: str
    widths: FloatArray
    contained: BoolArray
    decided: BoolArray


def interval_steps(
    wish: Wish, epsilon: float, truth: float, reading: Reading, rng: np.random.Generator, *, releases: int
) -> Work[PlannedIntervals | None]:
    """Return the intervals of the first draws of a wish at one epsilon, in steps; None without a posterior.

    `truth` is the true probability. Errors: InputError if the mechanism does not allow this epsilon.
    """
    question, mechanism, tables = wish.question, wish.at(epsilon), wish.tables
    releases, cells = min(releases, wish.draws), question.network.cell_count
    state = question.network.states[question.network.index(question.target)].index(question.state)
    parts: list[tuple[FloatArray, BoolArray, BoolArray]] = []
    name = ""
    if cells > MOST_CELLS:
        return None
    for part in slices(releases, _CELLS // cells):
        size = part.stop - part.start
        own = Counts(tables.network, tables.values[part], tables.n) if wish.is_planned else tables
        release = simulated(mechanism, own, rng, () if wish.is_planned else (size,))
        if not isinstance(release.outcome, ReleasedPosterior):
            return None
        law = posterior_of(release, reading, most=QUICK_CELLS)
        answer = answer_under(law, release.outcome.prior, question.target, question.evidence, LEVEL)
        low, high, name = answer.low[..., state], answer.high[..., state], posterior_name(law)
        parts.append((high - low, (low <= truth) & (truth <= high), answer.is_of_prior[..., state]))
        yield Partial(part.stop / releases, _joined(epsilon, name, parts))
    return _joined(epsilon, name, parts)


def _joined(epsilon: float, name: str, parts: list[tuple[FloatArray, BoolArray, BoolArray]]) -> PlannedIntervals:
    widths, contained, decided = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return PlannedIntervals(epsilon, name, widths, contained, decided)
