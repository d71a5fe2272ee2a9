"""How noise is shared out among the sets of nodes: by what each table's error counts, or at prices that are stated."""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError, finite_number
from dpbayes.model.network import Network
from dpbayes.model.residual_design import NoiseDesign, best_coefficients, best_gaussian
from dpbayes.model.residuals import Residuals

LEAST_WEIGHT, MOST_WEIGHT = 1e-3, 1e3
"""Between these a table's weight lies, all others being 1."""


def require_shares(network: Network, *, weights: Sequence[float], prices: Sequence[int]) -> None:
    """Refuse weights that are not one for each table, prices that are not one for each set, and both at once.

    No weights: all tables alike. No prices: the best. Errors: InputError.
    """
    nodes = len(network.names)
    if weights and len(weights) != nodes:
        raise InputError(f"{len(weights)} weights were given for {nodes} tables; give one for each, or none.")
    for weight in weights:
        finite_number("Every weight", weight, low=LEAST_WEIGHT, high=MOST_WEIGHT)
    sets = len(network.closure) - 1  # refuses families that are too large
    if prices and len(prices) != sets:
        raise InputError(f"{len(prices)} prices were given for {sets} sets of nodes; give one for each, or none.")
    if weights and prices:
        raise InputError("Weights choose the prices; give the one or the other.")


@lru_cache(maxsize=8)
def weighted_variances(residuals: Residuals, weights: tuple[float, ...]) -> NoiseDesign:
    """Return `best_gaussian`, which a moving control asks for again and again: only shapes and weights are kept."""
    return best_gaussian(residuals, np.array(weights, dtype=np.float64))


@lru_cache(maxsize=8)
def weighted_scales(residuals: Residuals, weights: tuple[float, ...]) -> NoiseDesign:
    """Return `best_coefficients`, kept likewise."""
    return best_coefficients(residuals, np.array(weights, dtype=np.float64))


def gap_text(design: NoiseDesign, scales: str, *, weights: Sequence[float]) -> str:
    """Return how good the scales, a LaTeX symbol, are, as a sentence to add; nothing where that is not known."""
    if not math.isfinite(design.gap):
        return ""
    error = "an error, each table's counted by its weight," if weights else "an error"
    return f" No other ${scales}$ have {error} lower by more than {numeral(100 * design.gap, 2)} %."
