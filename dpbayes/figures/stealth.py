"""Pictures of stealth: how often a Fourier release is non-negative, and whether the tables of a release agree."""

from collections.abc import Mapping

import numpy as np

from dpbayes.base.estimates import Estimate
from dpbayes.base.looks import BOUND, EXACT, Look
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Axis, Figure, Trace, figure_of, plain, titled

STOPS = [digit * 10.0**tens for tens in range(-4, 2) for digit in (1, 2, 5)]
"""Round increments for the ticks of a logarithmic axis."""


def stealth_figure(
    t: FloatArray,
    simulated: Mapping[Look, FloatArray],
    bounds: Mapping[str, FloatArray],
    real: FloatArray | None,
    *,
    chosen: tuple[float, Estimate, str] | None,
    records: float,
) -> Figure:
    """Draw probabilities of a non-negative release against t (points,), on a logarithmic axis.

    `simulated` by look, `bounds` by name (the first dashed), `real` with the curator's counts; `chosen` is the t at
    hand with its probability and a colour, `records` what t = 1 adds to every table.
    """
    traces: list[Trace] = [
        _line(t, values, name, {"color": BOUND, "dash": dash, "width": 2})
        for (name, values), dash in zip(bounds.items(), ("dash", "dot"), strict=False)
    ]
    traces += [
        _line(t, values, look.name, {"color": look.colour, "dash": look.dash, "width": look.width})
        for look, values in simulated.items()
    ]
    if real is not None:
        traces.append(_line(t, real, "real counts (curator only)", {"color": EXACT, "width": 2}))
    if chosen is not None:
        traces.append(_chosen(t, *chosen))
    return figure_of(traces, x=_increments(t, records), y=titled("probability", range=[-0.02, 1.03]), height=460)


def _line(t: FloatArray, values: FloatArray, name: str, line: Axis) -> Trace:
    return {"type": "scatter", "mode": "lines", "x": t, "y": values, "name": name, "line": line}


def _chosen(t: FloatArray, at: float, probability: Estimate, colour: str) -> Trace:
    """Mark the t at hand; one beyond the axis is marked at its end and says so."""
    place = float(np.clip(at, t[0], t[-1]))
    beyond = "" if place == at else " (beyond this axis)"
    return {
        "type": "scatter",
        "mode": "lines+markers",
        "x": [place, place],
        "y": [0.0, probability.value],
        "line": {"color": BOUND, "width": 1},
        "marker": {"symbol": ["line-ns", "diamond"], "size": 12, "color": colour, "line": {"width": 1.5}},
        "name": f"t = {numeral(at)}{beyond}",
        "hovertemplate": f"t = {numeral(at, 4)}: {probability}<extra></extra>",
    }


def _increments(t: FloatArray, records: float) -> Axis:
    stops = [stop for stop in STOPS if 0.999 * t[0] <= stop <= 1.001 * t[-1]]
    return titled(
        "t, and below it the records it adds to every table",
        type="log",
        range=[float(np.log10(t[0])), float(np.log10(t[-1]))],
        tickvals=stops,
        ticktext=[f"{numeral(stop, 6)}<br>{_short(stop * records)}" for stop in stops],
        automargin=True,
    )


def _short(records: float) -> str:
    """Return a number of records in two or three characters and a unit."""
    for size, unit in ((1e9, " bn"), (1e6, " m"), (1e4, " k")):
        if records >= size:
            return f"{numeral(records / (1000 if size == 1e4 else size))}{unit}"
    return f"{records:,.0f}" if records >= 10 else numeral(records, 2)


def agreement_figure(
    said: FloatArray, *, names: tuple[str, str], about: str, limits: tuple[float, float], colour: str
) -> Figure:
    """Draw what two tables of each release say of one node, `said` (releases, 2), as dots; they agree on the line."""
    low, high = limits
    line = {"color": BOUND, "width": 1.5, "dash": "dash"}
    agree: Trace = {"type": "scatter", "mode": "lines", "x": [low, high], "y": [low, high], "line": line}
    dots: Trace = {
        "type": "scatter",
        "mode": "markers",
        "x": said[:, 0],
        "y": said[:, 1],
        "marker": {"color": colour, "opacity": 0.5, "size": 6},
        "name": "a simulated release",
    }
    first, second = (plain(name, 20) for name in names)
    return figure_of(
        [agree | {"name": "both say the same", "hoverinfo": "skip"}, dots],
        x=titled(f"{plain(about, 24)}, says {first} (records)", range=[low, high], automargin=True),
        y=titled(f"says {second} (records)", range=[low, high], automargin=True),
        height=330,
    )
