"""The appearance of all pictures: one palette, which colour-blind readers can distinguish on light and on dark."""

from dataclasses import dataclass, replace

from dpbayes.base.types import FloatArray

EXACT = "#2E86C1"
PRIVATE = "#E08A00"
BOUND = "#808890"
INVALID = "#D33A2C"
GREEN = "#2A9D77"
PURPLE = "#B04A8B"
BROWN = "#8C6D31"
SLATE = "#6A5ACD"
CYAN = "#17A2B8"
ROSE = "#D9688A"
STEEL = "#5F7F9E"
VIOLET = "#9B5FD0"
LEAF = "#4E9A2E"
RUST = "#C2622E"
OLIVE = "#7E9A00"
WINE = "#8E3B46"

FREE = ("#B8860B",)
"""Unused colours: a new mechanism takes one of them, which then gets a name above."""


@dataclass(frozen=True)
class Look:
    """The name, colour, dash, symbol and width of a curve; a hollow symbol marks a claim that does not hold."""

    name: str
    colour: str
    dash: str = "solid"
    symbol: str = "circle"
    width: float = 2.5

    def called(self, name: str) -> "Look":
        return replace(self, name=name)


@dataclass(frozen=True, eq=False)
class Curve:
    """A curve `y` (P,) over `x` (P,), and its standard error on either side (P,): NaN if it is unknown."""

    look: Look
    x: FloatArray
    y: FloatArray
    error: FloatArray
