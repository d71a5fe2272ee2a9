"""The division of noise among sets of nodes: by the weights of the tables' errors, or by given prices."""

import math
from collections.abc import Container, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from dpbayes.base.steps import Work
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError, finite_number
from dpbayes.model.network import Network
from dpbayes.model.residual_design import NoiseDesign

LEAST_WEIGHT, MOST_WEIGHT = 1e-3, 1e3
"""The range of a table's weight; all other tables have weight 1."""


def takes_weights(kind: type[Any]) -> bool:
    """Return whether a mechanism divides its noise among the tables by the weights of their errors."""
    return "weights" in {field.name for field in fields(kind)}


def weights_of(network: Network, matters: Container[str], weight: float) -> tuple[float, ...]:
    """Return the weight of the error in each node's table: `weight` for the named nodes, 1 for the others.

    The result is empty if all weights are equal.
    """
    weights = tuple(weight if name in matters else 1.0 for name in network.names)
    return weights if len(set(weights)) > 1 else ()


def weight_texts(network: Network, weights: Sequence[float]) -> list[str]:
    """Return the nodes whose tables have a weight other than 1, each with its weight: "dysp=10"."""
    named = zip(network.names, weights, strict=True) if weights else ()
    return [f"{name}={np.format_float_positional(weight, trim='-')}" for name, weight in named if weight != 1]


def require_shares(network: Network, *, weights: Sequence[float], prices: Sequence[int]) -> None:
    """Require one weight for each table or one price for each set, but not both.

    Without weights, all tables have equal weights. Without prices, the best prices are used. Errors: InputError.
    """
    nodes = len(network.names)
    if weights and len(weights) != nodes:
        raise InputError(f"There are {len(weights)} weights for {nodes} tables. Give one weight per table, or none.")
    for weight in weights:
        finite_number("Every weight", weight, low=LEAST_WEIGHT, high=MOST_WEIGHT)
    sets = len(network.closure) - 1  # refuses families that are too large
    if prices and len(prices) != sets:
        raise InputError(f"There are {len(prices)} prices for {sets} sets of nodes. Give one price per set, or none.")
    if weights and prices:
        raise InputError("Weights determine the prices. Give either weights or prices.")


def searched(mechanism: Any) -> Work[None]:
    """Compute the noise scales of a mechanism that searches for them; later calls use the stored result."""
    if hasattr(mechanism, "design_steps"):
        yield from mechanism.design_steps()


def counted(weights: Sequence[float]) -> str:
    """Return a phrase on the weights of the tables' errors, for the end of a sentence; empty for equal weights."""
    return ", weighted by table" if weights else ""


def gap_text(design: NoiseDesign, scales: str, *, weights: Sequence[float]) -> str:
    """Return a sentence on the optimality of the scales, a LaTeX symbol; empty if it is not known."""
    if not math.isfinite(design.gap):
        return ""
    error = f"the error{counted(weights)}," if weights else "the error"
    return f" No other values of ${scales}$ reduce {error} by more than {numeral(100 * design.gap, 2)}%."
