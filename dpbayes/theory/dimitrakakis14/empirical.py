"""The truth beside lemmas of [Dimitrakakis14]: empirical laws, one changed value of a network, several answers."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special, stats

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import whole_number
from dpbayes.model.network import Network
from dpbayes.posteriors.smoothness import discrete_log_ratio_bound
from dpbayes.theory.claims.truth import Measured
from dpbayes.theory.dimitrakakis14.game import NormalPair
from dpbayes.theory.zhang16.kl_study import MOST_RELEASES, KlStudy, kl_quantile

MOST_SAMPLES = 10**9
MOST_CELLS = 10**4


def fair_errors(rng: np.random.Generator, *, samples: int, cells: int, draws: int) -> FloatArray:
    """Draw L1 errors of the empirical law of n = `samples` throws of a fair die of m = `cells` sides: (draws,).

    [Dimitrakakis14] Lemma 2. Errors: InputError for numbers out of range.
    """
    n, m = _checked(samples, cells)
    size = whole_number("The number of draws", draws, low=1, high=MOST_RELEASES)
    counts = rng.multinomial(n, np.full(m, 1 / m), size)
    return np.abs(counts / n - 1 / m).sum(axis=-1)


def mean_fair_error(samples: int, *, cells: int) -> float:
    """Return the exact mean of `fair_errors`: m times a binomial's mean absolute deviation over n, by De Moivre.

    That is 2 k (1 - p) P(X = k), k = floor(n p) + 1, for X ~ Bin(n, p), p = 1/m. [Dimitrakakis14] Lemma 2.
    """
    n, m = _checked(samples, cells)
    k = n // m + 1
    return float(2 * k * (m - 1) * stats.binom.pmf(k, n, 1 / m) / n)


def fair_error(
    rng: np.random.Generator, *, samples: int, cells: int, printed: FloatArray, delta: float, draws: int
) -> Measured:
    """Simulate the 1 - delta quantile of a fair die's L1 error, and how often `printed` (1,) is exceeded.

    A law that is not fair may have a larger one, so a bound for all laws is refuted by it and not confirmed.
    [Dimitrakakis14] Lemma 2.
    """
    study = KlStudy(np.ones(1), np.sort(fair_errors(rng, samples=samples, cells=cells, draws=draws))[None])
    mean = np.array([mean_fair_error(samples, cells=cells)])
    found = kl_quantile(study, mean, printed=printed, delta=delta)
    return replace(found, name=f"{numeral(1 - delta, 6)} quantile of simulated fair dice")


def largest_move(network: Network, *, least: float) -> float:
    """Return how far one changed value can move ln p where every CPT entry is at least `least`, in nats; attained.

    The largest over the nodes of L_i + the sum of its children's L_j, L = ln((1 - (r - 1) w)/w) for r states: the
    value enters these terms and no other, and each of them can be at its worst. [Dimitrakakis14] Lemma 7.
    Errors: InputError where a node has no such CPT.
    """
    constants = np.array([discrete_log_ratio_bound(least, int(card)) for card in network.cards])
    moves = constants.copy()
    for parent, child in network.edges:
        moves[network.index(parent)] += constants[network.index(child)]
    return float(moves.max())


def normal_variation(pair: NormalPair, *, answers: ArrayLike) -> FloatArray:
    """Return the total variation distance of the laws of k = `answers` (...) draws: erf(sqrt(k KL)/2), exactly.

    The mean of the draws is sufficient, and sqrt(2 k KL) standard deviations apart. [Dimitrakakis14] Lemma 8.
    """
    return np.asarray(special.erf(np.sqrt(np.asarray(answers, dtype=np.float64) * pair.kl) / 2))


def _checked(samples: int, cells: int) -> tuple[int, int]:
    return (
        whole_number("The number of samples", samples, low=1, high=MOST_SAMPLES),
        whole_number("The number of cells", cells, low=2, high=MOST_CELLS),
    )
