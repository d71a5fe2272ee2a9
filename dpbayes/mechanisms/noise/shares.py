"""How noise is shared out among the sets of nodes: by what each table's error counts, or at prices that are stated."""

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
"""Between these a table's weight lies, all others being 1."""


def takes_weights(kind: type[Any]) -> bool:
    """Return whether a mechanism shares its noise out among the tables by what their errors count."""
    return "weights" in {field.name for field in fields(kind)}


def weights_of(network: Network, matters: Container[str], weight: float) -> tuple[float, ...]:
    """Return how much the error in each node's table counts: `weight` in those that matter, 1 in the others.

    None where all count alike.
    """
    weights = tuple(weight if name in matters else 1.0 for name in network.names)
    return weights if len(set(weights)) > 1 else ()


def weight_texts(network: Network, weights: Sequence[float]) -> list[str]:
    """Return the nodes whose tables count otherwise than once, each with its weight: "dysp=10"."""
    named = zip(network.names, weights, strict=True) if weights else ()
    return [f"{name}={np.format_float_positional(weight, trim='-')}" for name, weight in named if weight != 1]


def require_shares(network: Network, *, weights: Sequence[float], prices: Sequence[int]) -> None:
    """Refuse weights that are not one for each table, prices that are not one for each set, and both at once.

    No weights: all tables alike. No prices: the best. Errors: InputError.
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
    """Work out the scales of a mechanism's noise, if it searches for them; afterwards it has them at once."""
    if hasattr(mechanism, "design_steps"):
        yield from mechanism.design_steps()


def counted(weights: Sequence[float]) -> str:
    """Return how the tables' errors count, to add to a sentence on them; nothing where all count alike."""
    return ", weighted by table" if weights else ""


def gap_text(design: NoiseDesign, scales: str, *, weights: Sequence[float]) -> str:
    """Return how good the scales, a LaTeX symbol, are, as a sentence to add; nothing where that is not known."""
    if not math.isfinite(design.gap):
        return ""
    error = f"the error{counted(weights)}," if weights else "the error"
    return f" No other values of ${scales}$ reduce {error} by more than {numeral(100 * design.gap, 2)}%."
