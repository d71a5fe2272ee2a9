"""The frame and the shared traces and axes of all figures."""

import json
import math
from base64 import b64encode
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpbayes.base.libraries import extra
from dpbayes.base.looks import BOUND, Look
from dpbayes.base.text import near_one, numeral, power_of_ten, share_text
from dpbayes.base.types import FloatArray

if TYPE_CHECKING:
    import plotly.graph_objects as go

PlotlyFigure: TypeAlias = "go.Figure"
Trace = dict[str, Any]
Axis = dict[str, Any]

EPSILON_AXIS = "privacy loss ε"

PERCENT = ".4~p"
"""Plotly's format of a probability on an axis: in percent, with decimals only if they are needed."""

MANY = 500
"""Arrays with more numbers are sent with seven digits."""

SMALL = 1e-30
"""Numbers from this value up to its inverse have seven digits in 32 bits."""

FRAME: dict[str, Any] = {
    "margin": {"l": 84, "r": 24, "t": 34, "b": 52},
    "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "x": 0},
    "hovermode": "closest",
}
"""The layout of all figures; the margins have room for numbers as long as 10,000, so that the frame is fixed."""


def plotly() -> ModuleType:
    """Return the module of Plotly's figures. Errors: InputError if Plotly is not installed."""
    with extra("app", "A Plotly figure"):
        import plotly.graph_objects as go
    return go


ROWS: dict[str, Any] = {"meta": {"rows": True}, "margin": {"l": 8, "r": 24, "t": 8, "b": 52}}
"""The layout of a picture of rows with names: as high as its rows need, with only the names at their left."""


@dataclass(frozen=True)
class Figure:
    """A Plotly figure as plain data: its traces with arrays, and its layout.

    Plotly's own class copies and checks each number, which takes longer than all other work of a page while a slider
    moves. The tests build that class from each figure, so they find properties that Plotly does not know.
    """

    data: tuple[Trace, ...]
    layout: dict[str, Any]

    def to_plotly(self) -> PlotlyFigure:
        """Return Plotly's figure, which checks every property; `.show()` opens it. Errors: InputError."""
        return plotly().Figure({"data": list(self.data), "layout": self.layout})

    def to_json(self) -> str:
        """Return the JSON that Plotly reads in the browser: arrays of numbers as bytes in base 64, gaps as null."""
        return json.dumps(self.plain(_packed), allow_nan=False)

    def plain(self, pack: Callable[[FloatArray], Any]) -> dict[str, Any]:
        """Return data and layout as JSON values; `pack` converts an array of numbers."""
        return {"data": _plain(self.data, pack), "layout": _plain(self.layout, pack)}


_AS_IT_IS = frozenset({str, int, bool, type(None)})
"""The types of most values in a figure."""


def _plain(value: Any, pack: Callable[[FloatArray], Any]) -> Any:
    if type(value) in _AS_IT_IS:
        return value
    if isinstance(value, np.ndarray):
        return pack(value) if value.ndim == 1 and value.dtype.kind == "f" else _plain(value.tolist(), pack)
    if isinstance(value, Mapping):
        return {key: _plain(inner, pack) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, pack) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _packed(numbers: FloatArray) -> dict[str, str]:
    """Pack numbers with all digits; many numbers with seven digits for speed, if their range allows."""
    sizes = np.abs(numbers[np.isfinite(numbers) & (numbers != 0)])
    is_usual = not len(sizes) or (sizes.min() > SMALL and sizes.max() < 1 / SMALL)
    kind = "f4" if len(numbers) > MANY and is_usual else "f8"
    return {"dtype": kind, "bdata": b64encode(numbers.astype(f"<{kind}").tobytes()).decode()}


def figure_of(traces: Sequence[Trace], *, x: Axis, y: Axis, height: int = 340, **layout: Any) -> Figure:
    """Return a figure in the shared frame; the axes have titles with units, and text has the page's theme.

    `layout` contains other properties of the layout by Plotly's names.
    """
    axes = {"xaxis": x, "yaxis": y} | {name: layout[name] for name in ("xaxis2", "yaxis2") if name in layout}
    read = {name: _in_full(axis) for name, axis in axes.items()}
    return Figure(tuple(traces), FRAME | {"height": height} | layout | read)


def _in_full(axis: Axis) -> Axis:
    """Return an axis whose numbers are "10,000" and "0.0002", also at the pointer, and not "10k" and "200μ"."""
    if axis.get("type") == "category":
        return axis
    exponents = (
        {"exponentformat": "none"} if axis.get("type") == "log" else {"exponentformat": "power", "minexponent": 5}
    )
    pointed = {} if "tickformat" in axis else {"hoverformat": ",.4~r"}
    return {"separatethousands": True} | exponents | pointed | axis


LINES: Trace = {"type": "scatter", "mode": "lines"}
"""The trace of a line, to which its points, name and look are added."""


def line_of(look: Look, x: FloatArray, y: FloatArray, **more: Any) -> Trace:
    """Return a line with the colour, the width, the dashes and the name of a look."""
    line = {"color": look.colour, "width": look.width, "dash": look.dash}
    return LINES | {"x": x, "y": y, "name": look.name, "line": line} | more


def band_of(x: FloatArray, low: FloatArray, high: FloatArray, fill: str, **more: Any) -> Trace:
    """Return the area between two curves over x (points,), without an outline, a legend entry or a text."""
    outline = {"x": np.concatenate([x, x[::-1]]), "y": np.concatenate([high, low[::-1]])}
    quiet = {"fill": "toself", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    return LINES | outline | quiet | {"fillcolor": fill} | more


def interval_bar(value: FloatArray, low: FloatArray, high: FloatArray, **more: Any) -> dict[str, Any]:
    """Return error bars from `low` to `high` around values (points,) in between."""
    return {"type": "data", "symmetric": False, "array": high - value, "arrayminus": value - low} | more


def positive_range(*values: FloatArray, otherwise: tuple[float, float] = (1.0, 1.0)) -> tuple[float, float]:
    """Return the least and the largest of the values that a logarithmic axis can show, if there are any."""
    shown = np.concatenate([np.empty(0), *(np.ravel(array) for array in values)])
    shown = shown[np.isfinite(shown) & (shown > 0)]
    return (float(shown.min()), float(shown.max())) if shown.size else otherwise


def upright(x: float, line: Axis) -> dict[str, Any]:
    """Return a line from bottom to top of the picture at `x`, for a layout's `shapes`."""
    return {"type": "line", "x0": x, "x1": x, "xref": "x", "y0": 0, "y1": 1, "yref": "y domain", "line": line}


def chosen_epsilon(x: FloatArray, epsilon: float) -> dict[str, Any]:
    """Return a line at the chosen value of `x` for a layout's `shapes`, at the end of the axis if it is beyond."""
    line = {"color": BOUND, "width": 1.5, "dash": "dot"}
    return upright(float(np.clip(epsilon, x.min(), x.max())), line) | {"layer": "below"}  # texts are readable


ENDS = (0.05, 5.0)
"""The epsilons beyond which the text of a value is on the side of the picture's middle."""


def value_mark(x: float, y: float, text: str, colour: str, *, side: str = "bottom right") -> Trace:
    """Return a dot at epsilon `x` with its value as a text on a side, at either end of the axis on the inner side."""
    low, high = ENDS
    above, beside = side.split()
    place = f"{above} {'right' if x < low else 'left' if x > high else beside}"
    dot = {"mode": "markers+text", "marker": {"color": colour, "size": 8}, "textposition": place, "cliponaxis": False}
    return {"type": "scatter", "x": [x], "y": [y], "text": [text], "hoverinfo": "skip", "showlegend": False} | dot


def directly_named(figure: Figure, name: str, text: str, x: float, side: str) -> Figure:
    """Name a curve by a text beside its point next to `x`, in place of an entry of the legend.

    Args:
        figure: The figure; one without the curve is returned as it is.
        name: The name of the curve.
        text: The text.
        x: Where the text is.
        side: On which side of the point, by Plotly's names.
    """
    curve = next((trace for trace in figure.data if trace.get("name") == name and len(trace["x"])), None)
    if curve is None:
        return figure
    place = int(np.abs(np.log(np.asarray(curve["x"]) / x)).argmin())
    at = {"x": [curve["x"][place]], "y": [curve["y"][place]], "text": [text], "textposition": side}
    unseen = {"mode": "markers+text", "marker": {"size": 8, "opacity": 0}}  # keeps the text off the line
    label = {"type": "scatter", "hoverinfo": "skip", "showlegend": False, "cliponaxis": False} | unseen | at
    others = [trace | {"showlegend": False} if trace is curve else trace for trace in figure.data]
    return replace(figure, data=(*others, label))


def epsilon_axis(x: FloatArray) -> Axis:
    """Return the logarithmic axis of pictures against epsilon (E,), which has the powers of ten."""
    span = [float(np.log10(x.min())) - 0.03, float(np.log10(x.max())) + 0.03]
    return titled(EPSILON_AXIS, type="log", range=span, dtick=1, exponentformat="none")


def small_epsilon_axis(x: FloatArray) -> Axis:
    """Return the same axis of a small picture, whose first number says what it is."""
    axis = {name: value for name, value in epsilon_axis(x).items() if name not in ("title", "dtick")}
    powers = range(round(np.log10(x.min())), round(np.log10(x.max())) + 1)
    texts = [f"{'ε = ' if power == powers[0] else ''}{10.0**power:,g}" for power in powers]
    return axis | {"tickvals": [10.0**power for power in powers], "ticktext": texts}


def titled(text: str, **more: Any) -> Axis:
    """Return an axis with a title."""
    return {"title": {"text": text}, **more}


CLOSE = (1, 1.5, 2, 3, 5, 7)
"""The first digits of the numbers of a logarithmic axis within a power of ten."""


def log_axis(text: str, low: float, high: float, **more: Any) -> Axis:
    """Return a logarithmic axis with powers of ten, on a short axis also 2 and 5 times these, or within one more."""
    minor = {"dtick": "D1"}
    if high >= 1000 * low:
        return titled(text, type="log", dtick=1, minor=minor, **more)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = [(step, power) for power in powers for step in ((1, 2, 5) if high >= 10 * low else CLOSE)]
    shown = {"tickvals": [step * 10.0**power for step, power in steps], "ticktext": [_stop(*at) for at in steps]}
    return titled(text, type="log", minor=minor, **shown, **more)


def _stop(step: float, power: int) -> str:
    return numeral(step * 10.0**power) if -4 <= power < 6 else f"{step}·10<sup>{power}</sup>"


def powers_axis(text: str, low: float, high: float, **more: Any) -> Axis:
    """Return a logarithmic axis between two logarithms, with few powers of ten as texts of one size."""
    step = max(1, math.ceil((high - low) / 6))
    powers = range(math.ceil(low / step) * step, math.floor(high) + 1, step)
    texts = [numeral(10.0**power) if -3 <= power <= 3 else power_of_ten(power) for power in powers]
    shown = {"tickvals": [10.0**power for power in powers], "ticktext": texts}
    return titled(text, type="log", range=[low, high], **shown, **more)


def names_axis(text: str = "", **more: Any) -> Axis:
    """Return an axis of names with the room that they need."""
    return titled(text, type="category", automargin=True, **more)


def numerals(values: FloatArray) -> list[str]:
    """Return numbers of any magnitude as texts for the pointer, with four digits; Plotly's formats would use an e."""
    return [numeral(float(value), 4) for value in values]


def probabilities(values: Iterable[float]) -> list[str]:
    """Return probabilities as texts for the pointer; only exact values are written as 0 or 1."""
    return [near_one(float(value)) for value in values]


def shares(values: Iterable[float]) -> list[str]:
    """Return shares in percent as texts for the pointer."""
    return [share_text(float(value)) for value in values]


def faded(colour: str, opacity: float) -> str:
    """Return a hex colour with the given opacity."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity:g})"


def plain(text: str, limit: int = 48) -> str:
    """Return a name that Plotly shows as text and not as markup, cut to `limit` characters."""
    short = text if len(text) <= limit else text[: limit - 1] + "…"
    return short.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def distinct_labels(texts: Iterable[str], limit: int) -> list[str]:
    """Return `plain` names for a category axis; equal names differ by an invisible character."""
    seen: Counter[str] = Counter()
    labels = []
    for text in texts:
        short = plain(text, limit)
        labels.append(short + "\u200b" * seen[short])
        seen[short] += 1
    return labels
