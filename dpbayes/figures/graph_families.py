"""Picture of what privacy costs graphs of growing density, under the noise of every mechanism."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.looks import BOUND, Look
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Figure, Trace, faded, figure_of, titled, upright

COMPARED = "what Remark 1 compares"
SYMBOLS = ("circle", "square", "diamond", "cross", "x", "star")


@dataclass(frozen=True, eq=False)
class OtherNoise:
    """A mechanism besides the paper's two: its noise sds in counts, of families (families,) and random graphs.

    `needs_delta` says whether it promises nothing without a delta. NaN, or no graph, stands for what is not known yet.
    """

    look: Look
    families: FloatArray
    random: FloatArray
    needs_delta: bool = False


def graph_families_figure(
    arrows: FloatArray,
    random: Mapping[Look, FloatArray],
    families: Mapping[str, tuple[float, Mapping[Look, float]]],
    *,
    scale: FloatArray,
    crossing: float | None,
    others: Sequence[OtherNoise] = (),
) -> Figure:
    """Draw noise sds in counts against arrows per node, on a logarithmic axis.

    `arrows` (densities,); `random` holds (graphs, densities) by look, drawn as dots and their mean as a line in a band
    of one standard error, or where all graphs are alike as a line; `families` an average in-degree and a noise by look
    for each name; `scale`
    (graphs, densities) is what Remark 1 compares, its mean dashed; `crossing` marks where Fourier's certified line
    reaches Laplace's; `others` are further mechanisms, each a line and a mark at every family. What is not known
    of them yet has its place in the legend, so that nothing moves when it comes.
    """
    compared = Look(COMPARED, BOUND, dash="dash", width=2)
    spread = {look: values for look, values in random.items() if _varies(values)}
    traces = [_band(arrows, v, look) for look, v in {**spread, compared: scale}.items() if _varies(v)]
    traces += [_dots(arrows, values, look) for look, values in spread.items()]
    traces += [_line(arrows, values.mean(axis=0), look) for look, values in {**random, compared: scale}.items()]
    unknown = np.full(arrows.shape, np.nan)
    traces += [
        _line(arrows, other.random.mean(axis=0) if len(other.random) else unknown, other.look) for other in others
    ]
    for place, (symbol, (family, (average, noise))) in enumerate(zip(SYMBOLS, families.items(), strict=False)):
        marks = {**noise, **{other.look: float(other.families[place]) for other in others}}
        traces.append(_family(family, average, marks, symbol=symbol))
    return figure_of(
        traces,
        x=titled("average in-degree (arrows per node)", rangemode="tozero"),
        y=titled("noise sd per cell (counts)", type="log", exponentformat="power", dtick=1, minor={"dtick": "D1"}),
        height=460,
        shapes=[] if crossing is None else [upright(crossing, {"color": BOUND, "width": 1, "dash": "dot"})],
    )


def _varies(values: FloatArray) -> bool:
    """Whether values (graphs, densities) differ between graphs."""
    return bool(np.ptp(values, axis=0).any())


def _band(arrows: FloatArray, values: FloatArray, look: Look) -> Trace:
    """Shade one standard error around the mean over graphs."""
    mean, error = values.mean(axis=0), standard_error(values)
    return {
        "type": "scatter",
        "mode": "lines",
        "x": np.concatenate([arrows, arrows[::-1]]),
        "y": np.concatenate([mean + error, (mean - error)[::-1]]),
        "fill": "toself",
        "fillcolor": faded(look.colour, 0.25),
        "line": {"width": 0},
        "showlegend": False,
        "name": f"{look.name}: standard error",
        "hoverinfo": "skip",
    }


def _dots(arrows: FloatArray, values: FloatArray, look: Look) -> Trace:
    return {
        "type": "scatter",
        "mode": "markers",
        "x": np.broadcast_to(arrows, values.shape).ravel(),
        "y": values.ravel(),
        "marker": {"color": faded(look.colour, 0.3), "size": 4, "symbol": look.symbol},
        "showlegend": False,
        "name": f"a random graph, {look.name}",
        "hoverinfo": "skip",
    }


def _line(arrows: FloatArray, noise: FloatArray, look: Look) -> Trace:
    line = {"color": look.colour, "width": look.width, "dash": look.dash}
    return {"type": "scatter", "mode": "lines", "x": arrows, "y": noise, "name": look.name, "line": line}


def _family(family: str, average: float, marks: Mapping[Look, float], *, symbol: str) -> Trace:
    """Mark one family's noise, in a colour, under every mechanism; a first point nowhere lends the legend its grey."""
    return {
        "type": "scatter",
        "mode": "markers",
        "x": [average] * (len(marks) + 1),
        "y": [np.nan, *marks.values()],
        "name": family,
        "text": ["", *(look.name for look in marks)],
        "marker": {
            "symbol": [symbol, *(f"{symbol}-open" if look.is_hollow else symbol for look in marks)],
            "size": 11,
            "color": [BOUND, *(look.colour for look in marks)],
            "line": {"color": "#FFFFFF", "width": 1},
        },
        "hovertemplate": f"{family}, %{{text}}<br>%{{y:,.4~r}} counts<extra></extra>",
    }
