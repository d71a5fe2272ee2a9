"""Pictures of exact and private posteriors."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbayes.base.looks import EXACT, PRIVATE
from dpbayes.base.text import near_one, numeral, share_text
from dpbayes.base.types import FloatArray
from dpbayes.figures.style import (
    FRAME,
    LINES,
    PERCENT,
    Figure,
    Trace,
    faded,
    figure_of,
    interval_bar,
    plain,
    probabilities,
    titled,
)

_VISIBLE = 5e-3
"""The share of a density's height that is visible: half a pixel or more of a picture of a hundred."""

PLACES = np.array(
    [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, *np.arange(1, 10) / 10, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999]
)
"""Places between which the probability of a release is stated."""

UNLEARNT = 0.15
"""The largest difference between probabilities of a release and of the prior that is called nothing learned."""

ROOM = 1.15
"""The height of the frame in heights of the density that decides it."""

LEAST_TOP = 4.0
"""The least height of the frame: a density of 1 everywhere, that of no knowledge, does not fill it."""

END, INNER = 0.02, 0.5
"""How far the ends of the probabilities reach, and the share of a density between them that makes its height count."""

_NOTE: dict[str, Any] = {"xref": "paper", "yref": "paper", "showarrow": False, "font": {"size": 13}}

PRIOR_ALONE = "nothing learned: this is the prior"
"""The text in the picture of a release that is all but the prior."""


@dataclass(frozen=True, eq=False)
class Densities:
    """Densities of one cell over theta (grid,): `private` (draws, grid), the first one being this release's.

    `exact` (grid,) is there for the curator, and `as_real` (grid,), the naive density, where `private` is noise-aware.
    `below` (places,) is P(value <= a place) in this release at all `PLACES`, and `prior_below` the same of the prior.
    """

    theta: FloatArray
    private: FloatArray
    below: FloatArray
    prior_below: FloatArray
    exact: FloatArray | None = None
    as_real: FloatArray | None = None

    @property
    def is_prior(self) -> bool:
        """Whether this release is all but the prior: no event `value <= theta` differs by more than `UNLEARNT`."""
        return float(np.max(np.abs(self.below - self.prior_below))) <= UNLEARNT


def density_figure(densities: Densities, *, name: str, zoom: bool = False, colour: str = PRIVATE) -> Figure:
    """Draw the densities, this release's bold, in a frame whose height does not depend on what is at 0 and 1.

    The exact density decides the height; without it, this release's density between the ends does. Densities are cut
    off at the frame. The picture states how much probability is where this release's density leaves the frame, and
    whether the release is all but the prior.
    """
    theta, private, exact, as_real = densities.theta, densities.private, densities.exact, densities.as_real
    lines = {"type": "scatter", "mode": "lines"}
    traces = []
    places, others = theta[::2], private[1:, ::2]
    if len(others):  # one trace with gaps, of every other place: a slider waits for every trace and every point
        gap = np.full((len(others), 1), np.nan)
        traces.append(
            lines
            | {
                "x": np.tile(np.append(places, np.nan), len(others)),
                "y": np.hstack([others, gap]).ravel(),
                "line": {"color": faded(colour, 0.22), "width": 1},
                "name": "other possible releases",
                "hoverinfo": "skip",
            }
        )
    bold = {"x": theta, "y": private[0], "line": {"color": colour, "width": 3}, "name": "private (this release)"}
    traces.append(lines | bold)
    if as_real is not None:
        traces[-1]["name"] = "private, noise-aware"
        dashed = {"color": faded(colour, 0.8), "width": 2, "dash": "dash"}
        traces.append(lines | {"x": theta, "y": as_real, "line": dashed, "name": "private, naive"})
    if exact is not None:
        traces.append(_exact_line(theta, exact))
    shown = [density for density in (private[0], as_real, exact) if density is not None]
    span = _span(theta, shown) if zoom else [0.0, 1.0]
    top = _resting(max(LEAST_TOP, ROOM * _top(theta, private[0] if exact is None else exact)))
    notes = [_end_note(at, text, colour) for at, text in cut_off(densities, top, span).items()]
    if densities.is_prior:
        notes.append(_NOTE | {"x": 0.5, "y": 0.8, "text": PRIOR_ALONE})
    return figure_of(
        traces,
        x=titled(f"P({plain(name)})", range=span),
        y=titled("posterior density", range=[0, top]),
        annotations=notes,
    )


def _top(theta: FloatArray, density: FloatArray) -> float:
    """Return the height of a density away from its ends, or in its middle if most of it is at an end.

    At 0 and 1, a density may be infinite, and what is there says more about the prior than about the data.
    """
    steps = np.append(0.0, np.cumsum(np.minimum(density[1:], density[:-1]) * np.diff(theta)))
    inner = (theta >= END) & (theta <= 1 - END)
    low, high = np.interp((END, 1 - END), theta, steps)
    if high - low < INNER * steps[-1]:
        inner = (steps >= 0.1 * steps[-1]) & (steps <= 0.9 * steps[-1])
    return float(np.max(density[inner & np.isfinite(density)], initial=0.0)) or 1.0


def cut_off(densities: Densities, top: float, span: Sequence[float] = (0.0, 1.0)) -> dict[int, str]:
    """State the probability at the ends, 0 and 1, of the picture where this release's density leaves the frame.

    Args:
        densities: The densities in the picture.
        top: The height of the frame.
        span: The range of probabilities in the picture.

    Returns:
        A text such as "5.2% below 0.01" for each end of the picture at which the density is cut off.
    """
    theta, is_inside = densities.theta, densities.private[0] <= top
    if is_inside.all() or not is_inside.any():
        return {}
    low, high = theta[np.flatnonzero(is_inside)[[0, -1]]]
    notes = {}
    if low > theta[0] and span[0] <= low:
        k = min(int(np.searchsorted(PLACES, low)), len(PLACES) - 1)
        notes[0] = f"{_rounded(densities.below[k])} below {numeral(PLACES[k])}"
    if high < theta[-1] and span[1] >= high:
        k = max(int(np.searchsorted(PLACES, high, side="right")) - 1, 0)
        notes[1] = f"{_rounded(1 - densities.below[k])} above {near_one(PLACES[k])}"
    return notes


def _rounded(share: float) -> str:
    return share_text(float(f"{share:.2g}"))


def _end_note(at: int, text: str, colour: str) -> dict[str, Any]:
    place = {"x": 0.02 + 0.96 * at, "xanchor": ("left", "right")[at], "y": 0.99, "yanchor": "top"}
    return _NOTE | place | {"text": text, "font": {"size": 13, "color": colour}}


def released_draws_figure(
    drawn: FloatArray,
    possible: FloatArray | None,
    exact: tuple[FloatArray, FloatArray] | None,
    *,
    name: str,
    zoom: bool = False,
    colour: str = PRIVATE,
) -> Figure:
    """Draw the values that one release holds (N,) as ticks, shares of all `possible` ones, and the exact density.

    `exact` is (theta (grid,), density (grid,)); axes of what is not given are left out.
    """
    ticks = {"symbol": "line-ns", "size": 18, "line": {"width": 2, "color": colour}}
    bold = {"type": "scatter", "mode": "markers", "x": drawn, "y": np.zeros(len(drawn)), "marker": ticks}
    traces: list[Trace] = [
        bold
        | {
            "yaxis": "y2",
            "name": "private (this release)",
            "customdata": probabilities(drawn),
            "hovertemplate": "%{customdata}<extra></extra>",
        }
    ]
    shown = [drawn]
    axis, shares = titled("posterior density", visible=False), titled("share of samples", visible=False)
    if possible is not None:
        shown.append(possible)
        traces.insert(0, _shares(possible, colour))
        shares = titled("share of samples", rangemode="tozero", tickformat=PERCENT)
    if exact is not None:
        theta, density = exact
        shown.append(np.array(_span(theta, [density])))
        traces.append(_exact_line(theta, density))
        axis = titled("posterior density", range=[0, 1.08 * _top(theta, density)])
        shares |= {"overlaying": "y", "side": "right", "showgrid": False, "tickmode": "auto", "nticks": 6}
    everything = np.concatenate(shown)
    low, high = float(everything.min()), float(everything.max())
    margin = max(0.02, 0.05 * (high - low))
    span = [max(0.0, low - margin), min(1.0, high + margin)] if zoom else [0, 1]
    margin = FRAME["margin"] | {"r": 60}
    return figure_of(traces, x=titled(f"P({plain(name)})", range=span), y=axis, yaxis2=shares, margin=margin)


def _shares(possible: FloatArray, colour: str) -> Trace:
    low, high = float(possible.min()), float(possible.max())
    room = max(0.0, 0.02 - (high - low)) / 2  # values that are all but equal still get bars that can be seen
    heights, edges = np.histogram(possible, bins=40, range=(max(0.0, low - room), min(1.0, high + room)))
    return {
        "type": "bar",
        "x": (edges[1:] + edges[:-1]) / 2,
        "y": heights / heights.sum(),
        "width": np.diff(edges),
        "yaxis": "y2",
        "marker": {"color": faded(colour, 0.4), "line": {"width": 0}},
        "name": "samples of all possible releases",
        "hovertemplate": "%{y:.3~p} near %{x:,.3~r}<extra></extra>",
    }


def _exact_line(theta: FloatArray, density: FloatArray) -> Trace:
    fill = {"fill": "tozeroy", "fillcolor": faded(EXACT, 0.15)}
    line = {"line": {"color": EXACT, "width": 3}, "name": "exact (curator view)"}
    return LINES | {"x": theta, "y": density} | line | fill


def _round_step(least: float) -> float:
    """Return the least of 1, 2, 5, 10, 20, ... (and their tenths) that is at least this large."""
    decade = 10.0 ** math.floor(math.log10(least))
    return next(decade * factor for factor in (1, 2, 5, 10) if decade * factor >= least)


def _resting(top: float) -> float:
    """Round a height up, so that an axis rests while a slider moves."""
    step = 10.0 ** (math.floor(math.log10(top)) - 1) if top > 0 else 1.0
    return step * math.ceil(top / step)


def _span(theta: FloatArray, curves: Sequence[FloatArray]) -> list[float]:
    """Return a range that holds what is seen of the curves; its ends move in steps, so that an axis rests."""
    lobes = [lobe for curve in curves if (lobe := _lobe(theta, curve))] or [(theta[0], theta[-1])]
    low, high = float(min(lobe[0] for lobe in lobes)), float(max(lobe[1] for lobe in lobes))
    if not high > low:
        return [low, high]
    step = _round_step((high - low) / 6)
    return [max(0.0, float(step * np.floor(low / step))), min(1.0, float(step * np.ceil(high / step)))]


def _lobe(theta: FloatArray, curve: FloatArray) -> tuple[float, float] | None:
    """Return the range of a density around its middle 99%, as far as it is visible; None for a point mass at an end.

    A density that rises again at 0 or 1, where it is infinite, has less than 0.5% of its mass there as a rule.
    """
    visible = curve > _VISIBLE * curve[3:-3].max()
    # Lower sums: a trapezoid at an infinite end would be too large.
    steps = np.append(0.0, np.cumsum(np.minimum(curve[1:], curve[:-1]) * np.diff(theta)))
    if not visible.any() or not steps[-1] > 0:
        return None
    low, high = np.searchsorted(steps / steps[-1], (0.005, 0.995))
    low = np.flatnonzero(np.append(True, ~visible[:low])).max()  # the place after the last one that is not visible
    high = high + np.flatnonzero(np.append(~visible[high:], True)).min() - 1
    return float(theta[min(low, len(theta) - 1)]), float(theta[np.clip(high, 0, len(theta) - 1)])


Spans = tuple[FloatArray, FloatArray, FloatArray]
"""Mean, low and high of many rows, each (rows,)."""


def rows_figure(
    labels: Sequence[str],
    private: Spans,
    exact: Spans | None,
    *,
    own: str = PRIVATE,
    as_real: Spans | None = None,
) -> Figure:
    """Draw mean and 95% interval of many rows, one line each; `as_real` is naive where `private` is noise-aware."""
    places = np.arange(len(labels), dtype=float)
    sets = [(private, own, "circle", "private (this release)" if as_real is None else "private, noise-aware")]
    if exact is not None:
        sets.insert(0, (exact, EXACT, "diamond", "exact (curator view)"))
    if as_real is not None:
        sets.append((as_real, faded(own, 0.65), "circle-open", "private, naive"))
    offsets = np.linspace(-0.16, 0.16, len(sets)) if exact is not None or as_real is not None else [0.16]
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": mean,
            "y": places + offset,
            "marker": {"color": colour, "symbol": symbol, "size": 8},
            "error_x": interval_bar(mean, low, high, width=3),
            "name": name,
            "customdata": probabilities(mean),
            "hovertemplate": "%{customdata}<extra></extra>",
        }
        for ((mean, low, high), colour, symbol, name), offset in zip(sets, offsets, strict=True)
    ]
    ticks = {"tickvals": places, "ticktext": [plain(label, 40) for label in labels]}
    return figure_of(
        traces,
        x=titled("probability, mean and 95% interval", range=[-0.01, 1.01]),
        y={"automargin": True, "range": [len(labels) - 0.4, -0.6], **ticks},
        height=110 + 24 * len(labels),
    )
