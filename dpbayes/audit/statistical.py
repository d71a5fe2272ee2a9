"""What samples alone prove about a mechanism: a lower bound on its epsilon that is seldom too high."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from dpbayes.validation import InputError, finite_number


def epsilon_lower_bound(hits: ArrayLike, *, opposite: ArrayLike, doubt: float, delta: float = 0.0) -> float:
    """Return a lower confidence bound on epsilon from two samples of booleans: did the output fall into the event E?

    `hits` comes from one table, `opposite` from its neighbour; E must be fixed before these samples are drawn. With
    Clopper-Pearson bounds, each wrong with probability doubt/2, it is ln((P_low - delta) / Q_high), never below 0. A
    mechanism that is (epsilon, delta)-private gets a bound above epsilon with probability at most `doubt`.
    """
    doubt = finite_number("doubt", doubt, low=1e-300, high=0.5)
    delta = finite_number("delta", delta, low=0, high=1)
    first, second = _checked(hits), _checked(opposite)
    low = stats.beta.ppf(doubt / 2, first.sum(), (~first).sum() + 1) if first.any() else 0.0
    high = stats.beta.isf(doubt / 2, second.sum() + 1, (~second).sum()) if not second.all() else 1.0
    return max(0.0, math.log((low - delta) / high)) if low > delta else 0.0


def _checked(sample: ArrayLike) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    values = np.asarray(sample)
    if values.ndim != 1 or values.dtype != np.bool_ or not values.size:
        raise InputError("Each sample must be a list of true and false, one for every draw, and not empty.")
    return values
