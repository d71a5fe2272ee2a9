"""The worst pair of neighbouring tables on the Audit page: named, and drawn where its laws can be."""

from collections.abc import Hashable
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.audit.report_regression import bad_tables, densities_along
from dpbayes.audit.reports import AuditReport, Laws, WorstCase
from dpbayes.audit.trimmed_network import cells_of, log_masses, moved_rows, reached_loss, rows_alone
from dpbayes.base.text import escaped, numeral
from dpbayes.figures.audit import laws_figure, shares_figure
from dpbayes.figures.style import distinct_labels, titled
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.hellinger import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.map import PrintedMap
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.network import Network
from dpbayes.ui.pages.audit.subject import Audited
from dpbayes.ui.widgets.show import chart, data_and_download, sentence_instead

MOST_SHOWN = 60
"""Outputs of a die with many sides: only the most probable ones are drawn."""

UNLIKELY = 1e-4
"""Outputs at either end that have less than this share of the largest probability are cut off."""

MOST_ROWS = 24


def worst_section(subject: Audited, report: AuditReport) -> None:
    """Name the two tables and the output, and draw what can be drawn."""
    st.subheader("The worst pair of neighbouring tables")
    worst = report.worst
    if worst is None:
        st.markdown("There is none: no record changes what is released.")
        return
    st.markdown(
        f"{_what_tables_show(subject.mechanism)}\n\n"
        f"- **First table:** {escaped(worst.first)}\n- **Second table:** {escaped(worst.second)}\n"
        f"- **Output that tells most:** {escaped(worst.output)}"
    )
    with sentence_instead():
        _drawn(subject, worst)


def _what_tables_show(made: Any) -> str:
    if isinstance(made, PrintedMap):
        return "A table is how many records are in the first state, and how many in the second."
    if hasattr(made, "die"):
        return "A table is how often every side came up."
    if isinstance(made, RegressionSampler):
        return "A table is scaled records, each of features x and a target y. The weights w are drawn."
    if isinstance(made, PosteriorSampler | MapExponential):
        return "Of each table, the counts of every state in those CPT rows where the two differ."
    return "The two differ in one record."


def _drawn(subject: Audited, worst: WorstCase) -> None:
    made = subject.mechanism
    if worst.laws is not None:
        _laws(subject, worst, worst.laws)
    elif isinstance(made, PosteriorSampler):
        _rows(subject)
    elif isinstance(made, RegressionSampler):
        _weights(subject, made)
    elif isinstance(made, LaplaceUpdates | LaplaceFourier | LaplaceCells | LaplaceOne):
        _noise(made.noise_scale, step=2.0 if isinstance(made, LaplaceFourier) else 1.0)
    else:
        st.caption("Its outputs are too many to be drawn.")


def _laws(subject: Audited, worst: WorstCase, laws: Laws) -> None:
    made = subject.mechanism
    if isinstance(made, PrintedMap):
        shown = np.arange(len(laws.first))
        places: np.ndarray | list[str] = made.theta
        wide = np.diff(made.theta)
        widths = (np.append(wide, 0.0) + np.append(0.0, wide)) / 2
        what = "density"
        axes: dict[str, Any] = {
            "x": "released estimate θ",
            "y": titled("density", type="log", exponentformat="power", nticks=5),
        }
    else:
        shown = shown_outputs(laws, ordered=getattr(made, "die", None) is None or made.die.sides == 2)
        places = [laws.outputs[k] for k in shown]
        widths = np.ones(len(laws.first))
        axes = {"x": "released counts" if hasattr(made, "die") else "released cell", "y": titled("probability")}
        what = "probability"
    first, second = laws.first / widths, laws.second / widths
    chart(
        laws_figure(places, first[shown], second[shown], **axes),
        key="audit.laws",
        alt=f"The {what} of every output under both tables, and the loss, the logarithm of their ratio. "
        f"It is largest at {worst.output}.",
    )
    if len(shown) < len(laws.first):
        st.caption(f"{len(shown):,} of {len(laws.first):,} outputs, the most probable ones.")
    data_and_download(lambda: _laws_frame(laws), name="worst-pair", curator_only=False)


def shown_outputs(laws: Laws, *, ordered: bool) -> np.ndarray:
    """Return the places of the outputs to draw: a range around the mass if they are `ordered`, else the likely ones."""
    most = np.maximum(laws.first, laws.second)
    if not ordered:
        return np.sort(np.argsort(-most, kind="stable")[:MOST_SHOWN])
    likely = np.flatnonzero(most >= UNLIKELY * most.max())
    return np.arange(likely[0], likely[-1] + 1)


def _laws_frame(laws: Laws) -> pd.DataFrame:
    with np.errstate(divide="ignore", invalid="ignore"):
        loss = np.log(laws.first) - np.log(laws.second)
    columns = {"output": laws.outputs, "first": laws.first, "second": laws.second, "loss (nats)": loss}
    return pd.DataFrame(columns)


# Laplace noise


def _noise(scale: float, *, step: float) -> None:
    """Draw the laws of one number that moves: each of them loses at most step/scale, and the losses add up."""
    value = np.linspace(-6 * scale, 6 * scale + step, 401)
    first, second = (np.exp(-np.abs(value - at) / scale) / (2 * scale) for at in (step, 0.0))
    what = "counts" if step == 1 else "coefficients"
    chart(
        laws_figure(
            value,
            first,
            second,
            x=f"noisy value less the second table's ({what})",
            y=titled("density"),
        ),
        key="audit.laws",
        alt=f"Two Laplace densities of scale {numeral(scale, 4)}, {numeral(step, 6)} apart, and the loss between them.",
    )
    st.caption(
        f"One of the numbers that move, before clipping: it loses {numeral(step / scale, 4)} at most, and all add up."
    )


# Regression weights


def _weights(subject: Audited, made: RegressionSampler) -> None:
    """Draw both tables' densities of one draw along the diameter of the ball through the weights that tell most."""
    assert subject.features is not None
    pair = bad_tables(made, n=subject.n, features=subject.features)
    places, logs = densities_along(made, pair, 401)
    first, second = np.exp(logs - logs.max())
    chart(
        laws_figure(
            places,
            first,
            second,
            x="weights on a diameter of the ball (signed length)",
            y=titled("density / largest"),
        ),
        key="audit.laws",
        alt="Densities of one draw of the weights under both tables along a diameter, and the loss between them.",
    )
    times = "" if made.draws == 1 else f" {made.draws:,} draws lose {made.draws:,} times as much."
    st.caption(f"On the diameter through the weights that tell most. One draw loses {numeral(pair.loss, 4)}.{times}")
    data_and_download(
        lambda: pd.DataFrame({"weights": places, "first": first, "second": second, "loss (nats)": logs[0] - logs[1]}),
        name="worst-pair",
        curator_only=False,
    )


# Posterior draws


def _rows(subject: Audited) -> None:
    """Draw which rows of the CPTs the loss of the worst pair that was found comes from."""
    made = subject.mechanism
    rows, losses = _losses_by_row(subject.key, made, subject.n)
    order = np.argsort(-losses)[:MOST_ROWS]
    net = made.prior.network
    chart(
        shares_figure(distinct_labels([net.row_label(rows[k]) for k in order], 48), losses[order]),
        key="audit.rows",
        alt="Bars: how much every row of the CPTs adds to the loss of this pair, for one draw.",
    )
    more = f" The {MOST_ROWS} largest of {len(rows):,} rows." if len(rows) > MOST_ROWS else ""
    times = "" if made.draws == 1 else f" {made.draws:,} draws lose {made.draws:,} times as much."
    st.caption(f"One draw loses the sum of the rows, {numeral(losses.sum(), 4)}.{times}{more}")
    data_and_download(
        lambda: pd.DataFrame({"row": [net.row_label(row) for row in rows], "loss (nats)": losses}),
        name="worst-pair",
        curator_only=False,
    )


@st.cache_data(
    scope="session",
    max_entries=16,
    show_spinner="Taking the loss apart …",
    hash_funcs={Network: hash},
)
def _losses_by_row(key: Hashable, _made: PosteriorSampler, n: int) -> tuple[list[int], np.ndarray]:
    """The rows in which the worst tables differ, and the loss of each: what changing that row alone would lose."""
    network, bound = _made.prior.network, _made.log_odds_bound
    worst = reached_loss(_made.prior, n=n, bound=bound)
    rows = moved_rows(network, worst.first, worst.second)
    cells, few = cells_of(network, rows), rows_alone(_made.prior, rows)
    first, second, theta = worst.first[cells], worst.second[cells], worst.theta[cells]
    own = np.where(few.network.row_of_cell == np.arange(len(rows))[:, None], first - second, 0)
    masses = log_masses(few, np.concatenate([second[None], second + own]), bound=bound)
    return rows.tolist(), own @ np.log(np.maximum(theta, 1e-300)) - (masses[1:] - masses[0])
