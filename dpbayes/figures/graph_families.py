"""Picture of what privacy costs graphs of growing density, under the noise of every mechanism."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.looks import BOUND
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Figure, Trace, faded, figure_of, titled, upright
from dpbayes.mechanisms.fourier import LaplaceFourier
from dpbayes.mechanisms.laplace import LaplaceUpdates

LAPLACE, CERTIFIED, PRINTED = "Laplace", "Fourier, certified", "Fourier, as printed"
COLOURS = {LAPLACE: LaplaceUpdates.colour, CERTIFIED: LaplaceFourier.colour, PRINTED: LaplaceFourier.colour}
KINDS: tuple[type, ...] = (LaplaceUpdates, LaplaceFourier)
"""The mechanisms of the paper, which have lines of their own."""

DASHES = {LAPLACE: "solid", CERTIFIED: "solid", PRINTED: "dashdot"}
COMPARED = "what Remark 1 compares"
HOLLOW = {LAPLACE: "", CERTIFIED: "", PRINTED: "-open"}
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "star")


@dataclass(frozen=True, eq=False)
class OtherNoise:
    """A mechanism besides the paper's two: its noise sds in counts, of families (families,) and random graphs.

    `needs_delta` says whether it promises nothing without a delta. NaN, or no graph, stands for what is not known yet.
    """

    name: str
    colour: str
    families: FloatArray
    random: FloatArray
    needs_delta: bool = False


def graph_families_figure(
    arrows: FloatArray,
    random: Mapping[str, FloatArray],
    families: Mapping[str, tuple[float, Mapping[str, float]]],
    *,
    scale: FloatArray,
    crossing: float | None,
    others: Sequence[OtherNoise] = (),
) -> Figure:
    """Draw noise sds in counts against arrows per node, on a logarithmic axis.

    `arrows` (densities,); `random` holds (graphs, densities) by mechanism, drawn as dots and their mean as a line in a
    band of one standard error; `families` an average in-degree and a noise by mechanism for each name; `scale`
    (graphs, densities) is what Remark 1 compares, its mean dashed; `crossing` marks where Fourier's certified line
    reaches Laplace's; `others` are further mechanisms, each a line and a mark at every family. What is not known
    of them yet has its place in the legend, so that nothing moves when it comes.
    """
    spread = {name: values for name, values in random.items() if name != LAPLACE}
    traces: list[Trace] = []
    if len(scale) > 1:
        traces += [_band(arrows, values, name, COLOURS[name]) for name, values in spread.items()]
        traces.append(_band(arrows, scale, COMPARED, BOUND))
    traces += [_dots(arrows, values, name) for name, values in spread.items()]
    traces += [
        {
            "type": "scatter",
            "mode": "lines",
            "x": arrows,
            "y": values.mean(axis=0),
            "name": name,
            "line": {"color": COLOURS[name], "width": 2.5, "dash": DASHES[name]},
        }
        for name, values in random.items()
    ]
    traces.append(
        {
            "type": "scatter",
            "mode": "lines",
            "x": arrows,
            "y": scale.mean(axis=0),
            "name": COMPARED,
            "line": {"color": BOUND, "width": 2, "dash": "dash"},
        }
    )
    traces += [_line(arrows, other) for other in others]
    for place, (symbol, (family, (average, noise))) in enumerate(zip(SYMBOLS, families.items(), strict=False)):
        marks = {name: (value, COLOURS[name]) for name, value in noise.items()}
        marks |= {other.name: (float(other.families[place]), other.colour) for other in others}
        traces.append(_family(family, average, marks, symbol=symbol))
    return figure_of(
        traces,
        x=titled("average in-degree (arrows per node)", rangemode="tozero"),
        y=titled("noise sd per cell (counts)", type="log", exponentformat="power", dtick=1, minor={"dtick": "D1"}),
        height=460,
        shapes=[] if crossing is None else [upright(crossing, {"color": BOUND, "width": 1, "dash": "dot"})],
    )


def _band(arrows: FloatArray, values: FloatArray, name: str, colour: str) -> Trace:
    """Shade one standard error around the mean over graphs."""
    mean, error = values.mean(axis=0), standard_error(values)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([arrows, arrows[::-1]]),
        "y": np.concatenate([mean + error, (mean - error)[::-1]]),
        "fill": "toself",
        "fillcolor": faded(colour, 0.25),
        "line": {"width": 0},
        "showlegend": False,
        "name": f"{name}: standard error",
        "hoverinfo": "skip",
    }


def _dots(arrows: FloatArray, values: FloatArray, name: str) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": np.broadcast_to(arrows, values.shape).ravel(),
        "y": values.ravel(),
        "marker": {"color": faded(COLOURS[name], 0.3), "size": 4, "symbol": f"circle{HOLLOW[name]}"},
        "showlegend": False,
        "name": f"a random graph, {name}",
        "hoverinfo": "skip",
    }


def _line(arrows: FloatArray, other: OtherNoise) -> Trace:
    return {
        "type": "scatter",
        "mode": "lines",
        "x": arrows,
        "y": other.random.mean(axis=0) if len(other.random) else np.full(arrows.shape, np.nan),
        "name": other.name,
        "line": {"color": other.colour, "width": 2},
    }


def _family(family: str, average: float, marks: Mapping[str, tuple[float, str]], *, symbol: str) -> Trace:
    """Mark one family's noise, in a colour, under every mechanism; a first point nowhere lends the legend its grey."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [average] * (len(marks) + 1),
        "y": [np.nan, *(noise for noise, _ in marks.values())],
        "name": family,
        "text": ["", *marks],
        "marker": {
            "symbol": [symbol, *(f"{symbol}{HOLLOW.get(name, '')}" for name in marks)],
            "size": 11,
            "color": [BOUND, *(colour for _, colour in marks.values())],
            "line": {"color": "#FFFFFF", "width": 1},
        },
        "hovertemplate": f"{family}, %{{text}}<br>%{{y:,.4~r}} counts<extra></extra>",
    }
