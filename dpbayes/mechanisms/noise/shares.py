"""The division of noise among sets of nodes: the best one, or by given prices."""

import math
from collections.abc import Sequence
from typing import Any

from dpbayes.base.steps import Work
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.model.residual_design import NoiseDesign


def require_prices(network: Network, prices: Sequence[int]) -> None:
    """Require one price for each non-empty set of nodes, or none for the best prices. Errors: InputError."""
    sets = len(network.closure) - 1  # refuses families that are too large
    if prices and len(prices) != sets:
        raise InputError(f"There are {len(prices)} prices for {sets} sets of nodes. Give one price per set, or none.")


def searched(mechanism: Any) -> Work[None]:
    """Compute the noise scales of a mechanism that searches for them; later calls use the stored result."""
    if hasattr(mechanism, "design_steps"):
        yield from mechanism.design_steps()


def gap_text(design: NoiseDesign, scales: str) -> str:
    """Return a sentence on the optimality of the scales, a LaTeX symbol; empty if it is not known."""
    if not math.isfinite(design.gap):
        return ""
    return f" No other values of ${scales}$ reduce the error by more than {numeral(100 * design.gap, 2)}%."
