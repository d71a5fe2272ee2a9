"""The closed forms of the epsilon at a delta for one and for two noisy counts: the inverses of `laplace_..._delta`."""

import math

from scipy import special


def laplace_one_epsilon(delta: float, *, scale: float) -> float:
    return max(0.0, 1 / scale + 2 * math.log1p(-delta)) if delta < 1 else 0.0


def laplace_cells_epsilon(delta: float, *, scale: float) -> float:
    """2/b - x with (1 + x/4) e^(-x/2) = 1 - delta: x = -4 - 2 W(-2 (1 - delta) e^-2), W the lower branch."""
    missing = -4 - 2 * float(special.lambertw(-2 * (1 - delta) * math.exp(-2), -1).real)
    return 0.0 if delta == 1 else max(0.0, 2 / scale - max(missing, 0.0))
