"""Numbers in the formula of a claim."""

import math

from dpbayes.base.text import latex
from dpbayes.theory.claims.claim import Bound

LOSS_TEXT = ("a privacy loss of at most {} nats", "privacy loss, nats")
"""What an exhibit states of a privacy loss: the amount, and the title of its axis."""


def number(value: float) -> str:
    """Return a number for a formula in four digits, with separators from a thousand up."""
    return r"\text{nothing}" if math.isnan(value) or value == -math.inf else latex(value)


def ends(bound: Bound) -> tuple[str, str]:
    """Return the printed and the certified number at the setting at hand."""
    return number(float(bound.printed[0])), number(float(bound.certified[0]))
