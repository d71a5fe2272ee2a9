"""Posterior sampling: the effect of trimming a CPT row, of more samples, and simulated query games."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.randomness import stream
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.mechanisms.sampler import PosteriorSampler
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions, sample_trimmed
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.trimmed import log_odds_quantile, log_odds_rule
from dpbayes.theory.dimitrakakis14.game import BetaPair, adversary_ceiling

LEVEL = 0.95
"""The share of games that the attacker wants to win."""

ANSWERS, GAMES = 2000, 500
"""Simulated answers of a game, as many at every epsilon, and games."""

_LATTICE = 512
"""Lattice points over the other decisions of a long row, for the density of one state."""

# One row, trimmed


@dataclass(frozen=True, eq=False)
class RowState:
    """One state of a CPT row under Dirichlet(alpha), alpha (r,), and the decisions that lead to it."""

    alpha: FloatArray
    state: int

    @classmethod
    def of(cls, beliefs: Dirichlets, cell: int) -> "RowState":
        """Return the state of a cell in its row."""
        cells = beliefs.network.cells_of_row(int(beliefs.network.row_of_cell[cell]))
        return cls(beliefs.alpha[cells], cell - cells.start)

    @cached_property
    def row(self) -> Dirichlets:
        """The row as a network of one node."""
        states = tuple(str(state) for state in range(len(self.alpha)))
        return Dirichlets(Network.from_edges(["row"], [], {"row": states}), self.alpha)

    @cached_property
    def path(self) -> tuple[FloatArray, FloatArray]:
        """Beta parameters of the decisions towards the state, (d,) for it and (d,) against it."""
        decisions = Decisions(self.row.network)
        spans = decisions.spans.reshape(-1, 3)
        on_way = (spans[:, 0] <= self.state) & (self.state < spans[:, 2])
        first = (self.state < spans[:, 1])[on_way]
        a, b = (side[on_way] for side in decisions.parameters(self.alpha))
        return np.where(first, a, b), np.where(first, b, a)

    @property
    def mean(self) -> float:
        """The exact posterior mean."""
        return float(self.row.mean[self.state])

    def region(self, bound: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return the least and the largest probability of the state if all log-odds are within +-bound (...,)."""
        steps, edge = len(self.path[0]), np.asarray(bound, dtype=np.float64)
        return np.exp(steps * special.log_expit(-edge)), np.exp(steps * special.log_expit(edge))

    def contains_mean(self, bound: ArrayLike) -> BoolArray:
        """Return whether the exact posterior mean is in the region, for bounds (...,)."""
        low, high = self.region(bound)
        return np.asarray((low <= self.mean) & (self.mean <= high))

    @property
    def deviation(self) -> float:
        """The standard deviation of the state's probability in one sample of the exact posterior."""
        return math.sqrt(self.mean * (1 - self.mean) / (float(self.alpha.sum()) + 1))

    def shift(self, bound: ArrayLike) -> FloatArray:
        """Return how far the mean of a trimmed sample is from the exact posterior mean, for bounds (...,)."""
        a, b = self.path
        rule = log_odds_rule(a, b, np.asarray(bound, dtype=np.float64)[..., None])
        return np.abs(rule.mean(special.expit(rule.nodes)).prod(axis=-1) - self.mean)

    def trimmed_density(self, bound: float, theta: FloatArray) -> FloatArray:
        """Return the density of the state's probability in one trimmed sample at theta (grid,); 0 outside the region.

        A row of two states has a trimmed Beta density. For a longer row, the other decisions are averaged on a lattice.
        """
        a, b = self.path
        if not len(a):
            return np.zeros_like(theta)
        others = np.ones(1)
        if len(a) > 1:
            steps = (np.arange(_LATTICE)[:, None] * _additive_steps(len(a) - 1) + 0.5) % 1
            others = special.expit(log_odds_quantile(steps, a[1:], b[1:], bound)).prod(axis=-1)
        share = theta / others[:, None]
        inside = (share >= special.expit(-bound) * (1 - 1e-12)) & (share <= special.expit(bound) * (1 + 1e-12))
        safe = np.where(inside, np.minimum(share, 1.0), 0.5)
        log_mass = float(log_odds_rule(a[0], b[0], bound).log_mass)
        log_density = special.xlogy(a[0] - 1, safe) + special.xlog1py(b[0] - 1, -safe) - log_mass
        density: FloatArray = np.where(inside, np.exp(log_density) / others[:, None], 0.0).mean(axis=0)
        return density

    def sample(self, bound: float, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Sample the state's probability from the trimmed posterior: (*size,)."""
        if len(self.alpha) == 1:
            return np.ones(size)
        drawn: FloatArray = sample_trimmed(self.row, bound, rng, size)[..., self.state]
        return drawn


def _additive_steps(dimensions: int) -> FloatArray:
    """Return the steps of an additive low-discrepancy sequence (dimensions,); its base generalises the golden ratio."""
    base = 2.0
    for _ in range(60):
        base = (1 + base) ** (1 / (dimensions + 1))
    return np.asarray(base ** -np.arange(1, dimensions + 1), dtype=np.float64)


# The query game


def answering(columns: int, *, epsilon: float, calibration: Calibration) -> PosteriorSampler:
    """Return the mechanism that samples one answer about `columns` binary columns. Errors: those of the mechanism."""
    network = Network.from_edges([f"column {i}" for i in range(1, columns + 1)], [])
    return PosteriorSampler(prior=Dirichlets.symmetric(network), epsilon=epsilon, calibration=calibration)


@dataclass(frozen=True, eq=False)
class GameStudy:
    """Simulated games: `log_odds` (J, G) for the true table after 1..J answers; x is true in the first half of G.

    The true table is x or y with equal probability, and the attacker's prior is the same.
    """

    log_odds: FloatArray

    @property
    def belief(self) -> FloatArray:
        """The attacker's probability for the true table (J, G)."""
        return special.expit(self.log_odds)

    @cached_property
    def right(self) -> FloatArray:
        """How often the likelier table is the true one, after every number of answers (J,).

        The estimate is the mean of the attacker's probability for the likelier table, which has the same expectation
        and a smaller variance.
        """
        return special.expit(np.abs(self.log_odds)).mean(axis=1)

    @cached_property
    def right_error(self) -> FloatArray:
        """Standard error of `right` (J,)."""
        games = self.log_odds.shape[1]
        return special.expit(np.abs(self.log_odds)).std(axis=1, ddof=1) / math.sqrt(games)

    def above(self, ceilings: FloatArray) -> float:
        """Return the share of games in which the attacker's probability exceeds its ceiling (J,) at any time."""
        return float((self.belief > ceilings[:, None] * (1 + 1e-12)).any(axis=0).mean())


def play(pair: BetaPair, rng: np.random.Generator, *, answers: int, games: int) -> GameStudy:
    """Simulate `games` games of `answers` answers, half with each table; more answers do not change the first ones."""
    half = (games + 1) // 2
    rngs = rng.spawn(2)
    gains = [side.gains(own, (answers, half)) for side, own in zip((pair, pair.swapped()), rngs, strict=True)]
    return GameStudy(np.cumsum(np.concatenate(gains, axis=1), axis=0))


def needed_answers(study: GameStudy, *, level: float) -> int | None:
    """Return the first number of answers after which the likelier table is right in `level` of games; None if later."""
    reached = np.flatnonzero(study.right >= level)
    return int(reached[0]) + 1 if len(reached) else None


@dataclass(frozen=True, eq=False)
class Game:
    """Two hypothetical tables that differ in one record, and the mechanism whose answers reveal which of them is used.

    The mechanism samples one answer about the columns of its network. In each column, `successes` of the `records` are
    1 in x, and one fewer in y (or one more, if x has none). The prior of each probability is Beta(concentration,
    concentration). Nothing here depends on data.
    """

    mechanism: PosteriorSampler
    records: int
    successes: int
    concentration: float = 1.0
    seed: int = 1

    @cached_property
    def pair(self) -> BetaPair:
        """The posteriors of the two tables."""
        a, b = self.concentration + self.successes, self.concentration + self.records - self.successes
        moved, columns = 1 if self.successes else -1, len(self.mechanism.prior.network.names)
        return BetaPair(np.asarray(a), np.asarray(b), moved, self.mechanism.log_odds_bound, columns)

    def ceiling(self, epsilon: float) -> FloatArray:
        """Return the limit (J,) of the attacker's belief after each number of answers of this epsilon each."""
        return adversary_ceiling(epsilon, np.arange(1, len(self.study.log_odds) + 1))

    @cached_property
    def study(self) -> GameStudy:
        """Simulated games."""
        return play(self.pair, stream(self.seed, "game"), answers=ANSWERS, games=GAMES)
