"""The pure epsilon of one draw from one trimmed row in closed form: curves over all neighbours must agree with it."""

from dataclasses import dataclass

import numpy as np

from dpbayes.posteriors.trimmed import log_mass_between


@dataclass(frozen=True)
class RowLoss:
    """The exact pure epsilon of one draw from one row, and where: `first` and `second` records in the first state."""

    epsilon: float
    first: int
    second: int
    log_odds: float


def row_loss(a: float, b: float, *, n: int, bound: float) -> RowLoss:
    """Return the largest loss of one draw of theta ~ Beta(a, b) trimmed to log-odds of +-bound, after n records.

    [Zhang16] Appendix C.2 claims 2 ln(1/omega); the limit for large n is 2 * bound. Zero when n = 0.
    """
    if n == 0:
        return RowLoss(0.0, 0, 0, 0.0)
    ends = np.array([0, n - 1])
    more = log_mass_between(a + (ends + 1), b + (n - 1 - ends), -bound, bound)
    fewer = log_mass_between(a + ends, b + (n - ends), -bound, bound)
    rise = more - fewer
    place = int(np.argmax(np.abs(rise)))
    k, size = int(ends[place]), bound + float(abs(rise[place]))
    # P[theta | k + 1] / P[theta | k] = e^(z - rise): largest at z = B where the rise is negative.
    return RowLoss(size, k + 1, k, bound) if rise[place] <= 0 else RowLoss(size, k, k + 1, -bound)
