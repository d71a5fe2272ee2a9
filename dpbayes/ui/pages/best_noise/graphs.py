"""Who wins over graphs: templates and published networks, one after the other."""

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.steps import Work
from dpbayes.base.text import many, numeral
from dpbayes.experiments.best_noise import Promise, needs_delta, noisy_kinds
from dpbayes.experiments.best_noise.graphs import MOST_NODES, GraphComparison, compared_graphs, graph_steps
from dpbayes.figures.best_noise import factors_figure
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import Running, progress, running
from dpbayes.ui.widgets.show import numbers

Graphs = tuple[GraphComparison, ...]


def over_graphs(promise: Promise) -> Running[Graphs]:
    """Show by what factor every mechanism adds less noise than Laplace's, graph by graph, and return the work on it."""
    st.subheader("Over graphs")

    def start() -> Work[Graphs]:
        return graph_steps(promise)

    work = running("best_noise.graphs", promise, start)
    work.work()
    graphs = work.so_far
    colours = {kind.label: kind.colour for kind in noisy_kinds()}
    factors = {
        label: np.array([graph.factors.get(label, np.nan) for graph in graphs], dtype=np.float64) for label in colours
    }
    st.markdown(f"**{told(graphs)}**")
    chart(
        factors_figure([graph.name for graph in graphs], factors, colours),
        key="best_noise.graphs",
        alt=f"Dots: times less noise per cell than Laplace's on {many(len(graphs), 'graph')}, by mechanism. "
        f"{told(graphs)}",
    )
    if work.is_long:
        progress(work, f"{len(graphs)} of {len(compared_graphs())} graphs", key="best_noise.graphs.stop")
    st.caption(
        "Without δ against Laplace without it; Gaussian noise against Laplace that makes use of the same δ. A "
        "mechanism for binary nodes has no dot where a node has more states. Published networks of more than "
        f"{MOST_NODES} nodes are left out: choose one on *Network* to see its own noise above."
    )
    with st.expander("Who wins, graph by graph"):
        numbers(frame_of(graphs))
    return work


def labels(*, with_delta: bool) -> tuple[str, ...]:
    """Return the mechanisms that need a delta, or the others, by label."""
    return tuple(kind.label for kind in noisy_kinds() if needs_delta(kind) is with_delta)


def told(graphs: Graphs) -> str:
    """Return who wins on how many of the graphs without a delta, and the factors with one."""
    winners = pd.Series([graph.best(labels(with_delta=False)) for graph in graphs]).value_counts()
    pure = ", ".join(f"{label} on {count}" for label, count in winners.items())
    gains = [graph.factors[graph.best(labels(with_delta=True))] for graph in graphs]
    of = f"Of {len(graphs)} graphs" if len(graphs) > 1 else "On one graph so far"
    span = " to ".join(dict.fromkeys(numeral(gain, 2) for gain in (min(gains), max(gains))))
    return f"{of}, the least noise without δ: {pure}. With δ the best adds {span} times less than Laplace."


def frame_of(graphs: Graphs) -> pd.DataFrame:
    """Return one record per graph: its size, who wins without a delta and with one, and by what factor."""
    pure, others = ([graph.best(labels(with_delta=needed)) for graph in graphs] for needed in (False, True))
    return pd.DataFrame(
        {
            "graph": [graph.name for graph in graphs],
            "nodes": [graph.nodes for graph in graphs],
            "cells": [graph.cells for graph in graphs],
            "best without δ": pure,
            "times less": [graph.factors[best] for graph, best in zip(graphs, pure, strict=True)],
            "best with δ": others,
            "times less ": [graph.factors[best] for graph, best in zip(graphs, others, strict=True)],
        }
    )
