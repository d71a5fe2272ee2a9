"""The change of a posterior by one replaced record, against the prior's strength: exact, as stated, and as proved."""

import enum
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.posteriors.smoothness import beta_concentration, exponential_concentration, normal_concentration
from dpbayes.theory.dimitrakakis14.game import (
    BetaPair,
    GammaPair,
    Pair,
    needed_answers_bracket,
    printed_answers_tail,
    printed_divergence,
    symmetric_kl_bound,
    too_few_answers,
)


class RecordFamily(enum.Enum):
    """The distribution of the records."""

    EXPONENTIAL = "exponential"
    NORMAL = "normal"
    BINOMIAL = "binomial"


@dataclass(frozen=True)
class NeighbourTables:
    """Two hypothetical tables x and y of `records` records that differ in one record.

    Exponential: all records are `value`, and one is `value + distance` in y; rate ~ Exp(lambda). Normal with mean 0 and
    unknown precision: the same records, precision ~ Exp(lambda). Binomial: `share` of the records, at least one, are 1,
    and one of these is 0 in y; probability ~ Beta(a, a).
    """

    family: RecordFamily
    records: int
    value: float = 0.0
    distance: float = 1.0
    share: float = 0.5

    @property
    def rho(self) -> float:
        """The distance of the tables for which Assumption 2 holds: |x - y|, for normal records |x^2 - y^2| + 2|x - y|.

        [Dimitrakakis14] Lemma 3, Lemma 5, Lemma 6.
        """
        if self.family is RecordFamily.BINOMIAL:
            return 1.0
        if self.family is RecordFamily.NORMAL:
            return self.distance * (2 * self.value + self.distance) + 2 * self.distance
        return self.distance

    @property
    def ones(self) -> int:
        """The number of records in a binomial x that are 1."""
        return max(1, round(self.records * self.share))

    def pair(self, prior: ArrayLike) -> Pair:
        """Return the posteriors under lambda or a = `prior` (...)."""
        strength, n = np.asarray(prior, dtype=np.float64), self.records
        if self.family is RecordFamily.BINOMIAL:
            return BetaPair(strength + self.ones, strength + n - self.ones)
        if self.family is RecordFamily.EXPONENTIAL:
            return GammaPair(np.full_like(strength, n + 1), strength + n * self.value, self.distance)
        apart = self.distance * (2 * self.value + self.distance) / 2
        return GammaPair(np.full_like(strength, 1 + n / 2), strength + n * self.value**2 / 2, apart)

    def concentration(self, prior: ArrayLike) -> FloatArray:
        """Return the c of Assumption 2 (...), for all L >= 0. [Dimitrakakis14] Lemma 3, Lemma 5, Lemma 6, corrected."""
        concentration = {
            RecordFamily.BINOMIAL: beta_concentration,
            RecordFamily.EXPONENTIAL: exponential_concentration,
            RecordFamily.NORMAL: normal_concentration,
        }[self.family]
        values = np.asarray(prior, dtype=np.float64)
        return np.array([concentration(float(value)) for value in values.ravel()]).reshape(values.shape)


@dataclass(frozen=True, eq=False)
class Robustness:
    """All curves against the prior's strength, `prior` (...): c, divergences in nats, answers of the query model.

    `exact` is KL(x || y), `reverse` KL(y || x); `printed` and `proved` bound both. `least` and `most` bracket the
    number of answers that an attacker needs; `promised` is the number of answers that the paper states to suffice.
    """

    prior: FloatArray
    c: FloatArray
    exact: FloatArray
    reverse: FloatArray
    printed: FloatArray
    proved: FloatArray
    least: FloatArray
    most: FloatArray
    promised: FloatArray

    @property
    def moved(self) -> FloatArray:
        """The larger of the two divergences (...)."""
        return np.maximum(self.exact, self.reverse)

    @property
    def broken(self) -> BoolArray:
        """Whether a divergence exceeds the paper's bound (...)."""
        return self.moved > self.printed * (1 + 1e-9)

    @property
    def too_few(self) -> BoolArray:
        """Whether an attacker needs more answers than the paper states (...)."""
        return too_few_answers(self.promised, self.least)


def robustness(tables: NeighbourTables, prior: ArrayLike, *, error: float) -> Robustness:
    """Return all curves for priors (...) and an attacker who may lose `error` of games.

    [Dimitrakakis14] Theorem 1(ii), printed kappa rho/c and corrected rho (E_x l + E_y l); Theorem 3 (4.4), printed
    3 c ln(1/d)/(2 kappa rho) and corrected. Errors: InputError for an error outside (0, 1/2).
    """
    strength = np.asarray(prior, dtype=np.float64)
    pair, c = tables.pair(strength), tables.concentration(strength)
    least, most = needed_answers_bracket(pair, error=error)
    return Robustness(
        prior=strength,
        c=c,
        exact=pair.kl,
        reverse=pair.swapped().kl,
        printed=printed_divergence(c, tables.rho),
        proved=symmetric_kl_bound(pair),
        least=np.maximum(least, 1.0),
        most=np.maximum(most, 1.0),
        promised=printed_answers_tail(c, tables.rho, error=error),
    )
