"""A simulated adaptive release: a graph and its tables under one budget."""

from collections.abc import Callable
from fractions import Fraction
from itertools import groupby
from typing import TypeVar

import numpy as np
import streamlit as st

from dpbayes.base.amounts import number_of
from dpbayes.base.libraries import pd
from dpbayes.base.randomness import stream
from dpbayes.base.text import many, numeral
from dpbayes.base.validation import InputError
from dpbayes.experiments.table_errors import pair_error
from dpbayes.figures.budgets import Payment, payments_figure
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, ProcessStep, plan_for
from dpbayes.mechanisms.adaptive.process import PairChoice, require_feasible
from dpbayes.mechanisms.adaptive.release import AdaptiveRelease, simulate_adaptive
from dpbayes.mechanisms.adaptive.scores import values_of_pairs
from dpbayes.mechanisms.laplace import LaplaceUpdates
from dpbayes.mechanisms.residual import GaussianResiduals
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.releases.document.request import parsed_budget
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.drawings import replace_drawing
from dpbayes.ui.session.graphs import Graph, code_of, drawable
from dpbayes.ui.session.kept import is_kept, kept
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import WITHOUT_BUTTON
from dpbayes.ui.widgets.show import folded, sentence_instead

MOST_CELLS = 100_000
"""Cells of the drawing's tables up to which its error is compared."""

STAGES = {
    "columns": "single columns",
    "forest": "choice of the forest",
    "pairs": "columns and pairs",
    "parents": "choice of parents",
    "families": "families",
}
CHOICES = ("forest", "parents")

Result = TypeVar("Result")


def release_adaptively(chosen: Chosen) -> None:
    """Offer to release a graph and its tables together, to the curator only."""
    if not chosen.is_curator:
        return
    with folded("Adaptive release …", key="adaptive") as is_open:
        if is_open:
            with sentence_instead():
                _offer(chosen)


def _offer(chosen: Chosen) -> None:
    nodes = _drawn_columns(chosen)
    st.markdown(
        f"The arrows among the {len(nodes):,} columns and their tables are released together, under one (ε, δ). Arrows "
        "are added only if they are useful despite the noise."
    )
    plan, data = _plan(chosen), chosen.dataset.select(nodes)
    require_feasible(data.states, data.n)
    simulated = _simulated(chosen, plan, data)
    if simulated is not None:
        _show_simulated(chosen, simulated, data)
    st.page_link("pages/release.py", label="Make a release", icon=":material/arrow_forward:")


def _plan(chosen: Chosen) -> AdaptivePlan:
    left, right = st.columns(2)
    epsilon = left.text_input("ε of the release", numeral(chosen.epsilon), key="adaptive.epsilon")
    of_pure = "0 is pure privacy, with larger errors."
    delta = right.text_input("δ of the release", "0.00001", key="adaptive.delta", help=of_pure)
    return plan_for(*parsed_budget(epsilon, delta))


# Simulated


def _simulated(chosen: Chosen, plan: AdaptivePlan, data: Dataset) -> AdaptiveRelease | None:
    """Return a simulated release, once for each setting; None until the person starts a long simulation."""

    def simulate() -> AdaptiveRelease:
        with st.spinner("Choosing arrows and measuring tables …"):
            rng = stream(chosen.seed, "adaptive")
            return simulate_adaptive(data, epsilon=plan.epsilon, delta=plan.delta, rng=rng)

    inputs = chosen.dataset, data.names, data.states, plan, chosen.seed
    values, label = values_of_pairs(len(data.names), data.n), "Simulate the release"
    return _simulated_on_request("adaptive.simulated", inputs, simulate, values=values, label=label)


def _show_simulated(chosen: Chosen, release: AdaptiveRelease, data: Dataset) -> None:
    error = pair_error(data, release.network, release.probabilities)
    arrows = many(len(release.network.edges), "arrow")
    st.markdown(
        f"The simulated release has {arrows}. The mean total variation of the tables of two columns is "
        f"**{numeral(error, 2)}**{_with_the_drawing(chosen, release, data)}."
    )
    payments = payments_of(release)
    described = ", ".join(f"{payment.stage} {payment.share:.0%}" for payment in payments)
    chart(
        payments_figure(payments),
        key="adaptive.budget",
        alt=f"Bars: shares of the budget: {described}.",
        simulates=True,
    )
    st.dataframe(table_costs(release, data), hide_index=True)
    st.caption("Simulation and errors: not private (curator view).")
    if st.button("Use this graph as the drawing", key="adaptive.take", help="A real release must not use this graph."):
        _take_drawing("The simulated graph", release.network)


def _with_the_drawing(chosen: Chosen, release: AdaptiveRelease, data: Dataset) -> str:
    """Return the error if the drawing were public, which bounds what a choice of arrows can reach; "" if too large."""
    net = chosen.network
    if set(net.names) != set(data.names) or net.cell_count > MOST_CELLS:
        return ""
    epsilon, delta = float(release.plan.epsilon), float(release.plan.delta)
    try:
        mechanism = (
            GaussianResiduals(prior=chosen.prior, epsilon=epsilon, delta=delta)
            if delta
            else LaplaceUpdates(prior=chosen.prior, epsilon=epsilon)
        )
        read = mechanism.release(count(net, data), stream(chosen.seed, "adaptive drawing")).noise_aware()
        error = pair_error(data.select(list(net.names)), net, read.mean)
    except InputError:
        return ""
    return f"; with the drawing as a public graph, it would be {numeral(error, 2)}"


def payments_of(release: AdaptiveRelease) -> list[Payment]:
    """Return the share of the budget of every stage, in the order of the steps."""
    payments = []
    for stage, steps in groupby(release.steps, key=lambda step: step.stage):
        own = list(steps)
        share = float(sum((step.cost for step in own), Fraction(0)) / release.plan.total)
        payments.append(Payment(STAGES[stage], share, _purpose(stage, own), stage in CHOICES))
    return payments


def _purpose(stage: str, steps: list[ProcessStep]) -> str:
    if stage in CHOICES:
        arrows = [step.outcome for step in steps if step.outcome != "nothing"]
        return f"{many(len(arrows), 'choice')} among {max(step.number for step in steps):,} candidates"
    return f"{many(steps[0].number, 'table')}, noise of {numeral(steps[0].error, 2)} records per cell"


def table_costs(release: AdaptiveRelease, data: Dataset) -> "pd.DataFrame":
    """Return, for every table, the arrows' share of the budget, the expected error of a cell, and the true one."""
    network, measured = release.network, release.measured
    expected = np.sqrt(network.residuals.cell_variances(measured.variances))
    away = np.abs(measured.tables - count(network, data).values)
    paid: dict[frozenset[int], float] = {}
    for event in release.process.events:
        if isinstance(event, PairChoice) and event.chosen.pair is not None:
            paid[frozenset(event.chosen.pair)] = float(number_of(event.chosen.cost) / release.plan.total)
    lines = []
    for node, family in enumerate(network.families):
        child, parents = network.names[node], [network.names[j] for j in family[:-1]]
        share = sum(paid.get(frozenset((parent, node)), 0.0) for parent in family[:-1])
        cells = slice(int(network.cell_offsets[node]), int(network.cell_offsets[node + 1]))
        lines.append(
            {
                "table": f"{child} | {', '.join(parents)}" if parents else child,
                "budget for its arrows": f"{share:.1%}" if parents else "",
                "expected error, records (sd)": numeral(float(expected[node]), 2),
                "mean abs. error, records": numeral(float(away[cells].mean()), 2),
            }
        )
    return pd.DataFrame(lines)


def _drawn_columns(chosen: Chosen) -> list[str]:
    """Return the columns of the table that are nodes of the drawing. Errors: InputError for fewer than two."""
    columns = [name for name in chosen.dataset.names if name in chosen.graph.names]
    if len(columns) < 2:
        raise InputError("Fewer than two nodes of the drawing are columns of the table. Add columns as nodes.")
    return columns


def _simulated_on_request(
    name: str, inputs: object, simulate: Callable[[], Result], *, values: int, label: str
) -> Result | None:
    """Return a simulation, which is computed once for its inputs.

    A simulation that reads more than WITHOUT_BUTTON `values` is started by a button; until then the result is None.
    """
    is_long = values > WITHOUT_BUTTON and not is_kept(name, inputs)
    if is_long and not st.button(label, help="The simulation takes a while with so many records and columns."):
        return None
    return kept(name, inputs, simulate)


def _take_drawing(by: str, network: Network) -> None:
    """Replace the drawing by a released graph, and run the page again."""
    replace_drawing(by, graph=code_of(drawable(Graph.of(network))))
    st.rerun()
