"""Accuracy and log loss against epsilon, and how well predictive probabilities mean what they say."""

from collections.abc import Mapping

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from dpbayes.experiments.accuracy import AccuracyPlan, AccuracyStudy, Method
from dpbayes.experiments.accuracy_reliability import Reliability
from dpbayes.figures.style import Axis, Trace, faded, figure_of, titled
from dpbayes.looks import BOUND, EXACT, INVALID, PRIVATE

FloatArray = NDArray[np.float64]

COLOURS = {
    Method.EXACT: EXACT,
    Method.MAJORITY: BOUND,
    Method.LAPLACE: PRIVATE,
    Method.FOURIER: "#2A9D77",
    Method.FOURIER_PRINTED: "#2A9D77",
    Method.SAMPLER: "#B04A8B",
    Method.SAMPLER_PRINTED: INVALID,
    Method.SAMPLER_MANY: INVALID,
    Method.MAP: "#8C6D31",
}
"""Red: the printed sampler, whose promise does not hold."""

DASHES = {
    Method.MAJORITY: "dash",
    Method.FOURIER_PRINTED: "dash",
    Method.SAMPLER_PRINTED: "dot",
    Method.SAMPLER_MANY: "dash",
}
SYMBOLS = {"solid": "circle", "dash": "diamond-open", "dot": "x-thin-open"}
"""What stands for a line where there is one point only."""

BAND = 2
"""Standard errors on either side of a curve."""


def accuracy_figure(study: AccuracyStudy) -> go.Figure:
    """Draw the share of test records predicted rightly against the epsilon that each method claims."""
    curves = {m: (study.plan.grid, study.mean(m), study.error(m)) for m in study.methods}
    return _figure(study, curves, x=_epsilon_axis(study, "ε claimed"), y=titled("accuracy", tickformat=".0%"))


def certified_figure(study: AccuracyStudy) -> go.Figure:
    """Draw the same accuracies against the epsilon that is proved; baselines run along the whole axis."""
    proved = np.concatenate([study.certified[m] for m in study.methods if not m.is_baseline] or [study.plan.grid])
    positive = proved[proved > 0] if (proved > 0).any() else study.plan.grid
    ends = np.array([positive.min(), positive.max()])
    curves = {}
    for method in study.methods:
        if method.is_baseline:
            curves[method] = ends, study.mean(method)[:1].repeat(2), study.error(method)[:1].repeat(2)
        else:
            some = study.certified[method] > 0
            curves[method] = study.certified[method][some], study.mean(method)[some], study.error(method)[some]
    x = titled("ε proved, of all that is handed over", type="log", exponentformat="power")
    return _figure(study, curves, x=x, y=titled("accuracy", tickformat=".0%"))


def log_loss_figure(study: AccuracyStudy) -> go.Figure:
    """Draw the mean log loss of the predictive probabilities against epsilon, both on logarithmic scales."""
    curves = {m: (study.plan.grid, study.log_loss(m), study.log_loss_error(m)) for m in study.methods}
    ends = np.array([value for _, values, _ in curves.values() for value in (values.min(), values.max())])
    y = titled("log loss (nats per record)", type="log", **_ticks(ends.min() * 0.9, ends.max() * 1.1))
    return _figure(study, curves, x=_epsilon_axis(study, "ε claimed"), y=y)


def reliability_figure(found: Mapping[Method, Reliability], plan: AccuracyPlan) -> go.Figure:
    """Draw how often predictions are right against the confidence they state, one dot a bin; ideal is the diagonal."""
    least = 1 / int(plan.network.cards[plan.network.index(plan.target)])
    ideal: Trace = {"type": "scatter", "mode": "lines", "x": [least, 1], "y": [least, 1], "name": "as stated"}
    traces = [ideal | {"line": {"color": BOUND, "dash": "dash", "width": 2}, "hoverinfo": "skip"}]
    for method, bins in found.items():
        some = bins.records > 0
        dots = {"x": bins.confidence[some], "y": bins.right[some], "mode": "lines+markers"}
        said = "confidence %{x:.3f}: %{y:.1%} right<extra>" + curve_name(method, plan) + "</extra>"
        traces.append(_line(method, curve_name(method, plan)) | dots | {"hovertemplate": said})
    return figure_of(
        traces,
        x=titled("confidence: probability of the predicted state", range=[least - 0.02, 1.02]),
        y=titled("share of predictions that are right", range=[-0.02, 1.04], tickformat=".0%"),
        height=480,
    )


def _epsilon_axis(study: AccuracyStudy, title: str) -> Axis:
    low, high = np.log10([study.plan.epsilons[0], study.plan.epsilons[-1]])
    room = 0.02 * (high - low) or 0.1
    return titled(title, type="log", range=[low - room, high + room], **_ticks(10 ** (low - room), 10 ** (high + room)))


def _ticks(low: float, high: float) -> Axis:
    """Return ticks at 1, 2 and 5 between two numbers, or at powers of ten only where those are many."""
    tens = range(int(np.floor(np.log10(low))), int(np.ceil(np.log10(high))) + 1)
    ticks = [float(f"{digit}e{ten}") for ten in tens for digit in (1, 2, 5)]
    shown = [tick for tick in ticks if low <= tick <= high]
    if len(shown) > 12:
        shown = [tick for tick in shown if f"{tick:e}".startswith("1")]
    return {"tickvals": shown, "ticktext": [f"{tick:g}" for tick in shown]} if len(shown) > 1 else {}


def _figure(
    study: AccuracyStudy,
    curves: Mapping[Method, tuple[FloatArray, FloatArray, FloatArray]],
    *,
    x: Axis,
    y: Axis,
) -> go.Figure:
    """Draw curves (places, values, standard errors) with their bands below all lines."""
    bands, lines = [], []
    for method, (places, values, errors) in curves.items():
        doubt = BAND * np.where(np.isfinite(errors), errors, 0.0)
        low = np.maximum(values - doubt, values / 10)  # a logarithmic axis takes nothing below zero
        around: Trace = {"type": "scatter", "mode": "lines", "fill": "toself", "line": {"width": 0}}
        outline = {"x": np.concatenate([places, places[::-1]]), "y": np.concatenate([values + doubt, low[::-1]])}
        name = curve_name(method, study.plan)
        quiet = {"hoverinfo": "skip", "showlegend": False, "name": f"{name} ± {BAND} standard errors"}
        bands.append(around | outline | quiet | {"fillcolor": faded(COLOURS[method], 0.14)})
        lines.append(_line(method, name) | {"x": places, "y": values} | _dot(method, places, doubt))
    height = 400 + 14 * len(lines)
    return figure_of([*bands, *lines], x=x, y=y, height=height)


def _dot(method: Method, places: FloatArray, doubt: FloatArray) -> Trace:
    """Return what makes a visible dot, with its band as a bar, of a curve whose points are all at one place."""
    if not len(places) or places.min() < places.max():
        return {}
    bar = {"type": "data", "array": doubt[:1], "thickness": 1.5, "color": COLOURS[method]}
    symbol = SYMBOLS[DASHES.get(method, "solid")]
    marker = {"color": COLOURS[method], "size": 10, "symbol": symbol, "line": {"color": COLOURS[method], "width": 2}}
    return {"mode": "markers", "marker": marker, "error_y": bar}


def curve_name(method: Method, plan: AccuracyPlan) -> str:
    """Return a method's name with the number of draws that it stands for."""
    draws = f"{plan.draws:,} draw" + ("s" if plan.draws > 1 else "")
    return method.value.replace("N draws", draws)


def _line(method: Method, name: str) -> Trace:
    line = {"color": COLOURS[method], "width": 2.5, "dash": DASHES.get(method, "solid")}
    marker = {"color": COLOURS[method], "size": 7}
    hover = "ε = %{x:,.3~r}: %{y:.3f}<extra>" + name + "</extra>"
    return {
        "type": "scatter",
        "mode": "lines",
        "line": line,
        "marker": marker,
        "name": name,
        "hovertemplate": hover,
    }
