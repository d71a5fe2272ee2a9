"""The noise of every mechanism at one promise: in the cells of the chosen graph, and over other graphs."""

import math
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.looks import Look
from dpbayes.base.references import Reference
from dpbayes.base.steps import Work
from dpbayes.base.text import escaped, many, numeral, times
from dpbayes.experiments.best_noise import (
    MOST_NODES,
    CellNoise,
    Comparison,
    GraphComparison,
    Promise,
    compare_steps,
    compared_graphs,
    graph_steps,
    is_searched,
    needs_delta,
    noisy_kinds,
)
from dpbayes.experiments.structure import rms_over_cells
from dpbayes.figures.noise import NoiseDot, factors_figure, noise_dots_figure
from dpbayes.mechanisms.exact_class import formula
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.fourier import (
    REMARK_COMPARISON,
    certified_noise,
    comparison_bound,
    noise_ratio,
    printed_noise,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.research import MechanismsShown
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.address import hand_moves
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.frames import Frames, network_of
from dpbayes.ui.widgets.from_python import FACE, network_in_python, program, same_from_python
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.running import Running, progress, progress_if_long, running
from dpbayes.ui.widgets.show import (
    assumption,
    data_and_download,
    inside,
    noise_is_not_error,
    numbers,
    sentence_instead,
    source,
)

AT_ONCE, AT_MOST = 40, 4_000
"""The largest network, in nodes, for which the best noise is searched without a button; and the largest number of sets
of nodes within its families for which it is searched at all."""

Graphs = tuple[GraphComparison, ...]


def noise_view(page: Places, chosen: Chosen) -> bool:
    """Show the picture first: it moves with epsilon, and all else is updated when the slider stops."""
    work = page.first(_moving, chosen, frames=Frames("epsilon", network_of))
    if work is None:
        return False
    comparison, network = work.so_far, chosen.network
    with page.beside():
        # Each in a place of its own: the browser keeps what stood at a place until the run ends, and a bar that goes
        # would leave the captions there twice.
        with st.container():
            comparison_progress(work)
        with st.container():
            _captions(comparison, network)
    with page.controls:
        promise_controls(chosen)
        with st.container(key="factors"):
            _factors(comparison)
    if not comparison.is_noisy:
        return work.going
    works: list[Running[Any]] = [work]
    if work.done:
        with sentence_instead():
            works.append(_over_graphs(comparison, shown=chosen.options("compare").shown))
    with st.container(key="below"):
        noise_is_not_error()
        data_and_download(lambda: frame_of(comparison, network), name="noise", curator_only=False)
        _formulas(comparison)
        _remark_1(comparison, network)
    same_from_python(python_of(network, comparison), name="noise")
    return any(work.going for work in works)


def python_of(network: Network, comparison: Comparison) -> str:
    """Return the code that gives every mechanism's noise per cell."""
    promise = comparison.promise
    return program(
        FACE,
        "from dpbayes.base.steps import finished",
        "from dpbayes.experiments.best_noise import Promise, compare_steps",
        network_in_python(network),
        f"comparison = finished(compare_steps(network, Promise({promise.epsilon!r}, {promise.delta!r})))",
        "print({noise.label: noise.least_noise for noise in comparison.noises})",
    )


def comparison_of(chosen: Chosen) -> Running[Comparison]:
    """Return the work that compares every mechanism on the chosen graph at its promise, a moment further.

    While a slider moves, the delta is used only by mechanisms that need one.
    """
    network, promise, kinds = chosen.network, promise_of(chosen), kinds_compared(chosen.network)
    recount = () if hand_moves() else None  # what a delta allows takes a quarter of a second

    def start() -> Work[Comparison]:
        return compare_steps(network, promise, kinds=kinds, recount=recount)

    work = running("best_noise", (network, promise, kinds, recount), start)
    work.work()
    return work


def promise_of(chosen: Chosen) -> Promise:
    """Return the promise at which mechanisms are compared."""
    return Promise(chosen.epsilon, float(chosen.parameter("delta")))


def promise_controls(chosen: Chosen) -> None:
    """Show the controls of the comparison, except epsilon."""
    controls.parameter_control("delta")
    _search(chosen.network)


def led_by_epsilon(page: Places, _chosen: Chosen) -> bool:
    """Show the slider of epsilon alone, for a view whose picture is simulated when the slider has stopped."""
    page.lead("epsilon")
    return True


def comparison_progress(work: Running[Comparison]) -> None:
    """Show the progress of a long comparison."""
    progress_if_long(work, "the noise comparison", key="best_noise.stop")


def _moving(page: Places, chosen: Chosen) -> Running[Comparison]:
    work, kinds = comparison_of(chosen), kinds_compared(chosen.network)
    comparison = work.so_far
    with page.picture:
        _picture(comparison, rows=len(kinds))
    page.lead("epsilon")
    compared = len(comparison.noises) + len(comparison.refused)
    page.say(
        verdict(comparison)
        if compared == len(kinds)
        else f"{compared} of {len(kinds)} mechanisms have been compared so far."
    )
    return work


def verdict(comparison: Comparison) -> str:
    """Return which mechanism adds the least noise, and by what factor less than Laplace.

    That is at the promise, or without its delta until all mechanisms use it.
    """
    if not comparison.is_noisy:
        return "No mechanism adds noise, because every node has a single state."
    laplace, is_recounted = comparison.laplace, comparison.is_recounted
    best = comparison.best if is_recounted else comparison.best_pure
    least_noise, laplace_noise = (noise.least_noise if is_recounted else noise.noise for noise in (best, laplace))
    alone = "" if is_recounted else "With ε alone, "
    label = best.label if is_recounted else inside(best.label)
    per_cell = "counts per cell"
    least = f"{alone}{label} adds the least noise: {numeral(least_noise)} {per_cell}"
    return f"{least}." if best is laplace else f"{least}; Laplace adds {times(laplace_noise / least_noise, 3)} as much."


def _picture(comparison: Comparison, *, rows: int) -> None:
    dots = [
        NoiseDot(
            noise.label,
            str(noise.mechanism.colour),
            noise.noise if noise.is_pure else math.nan,
            noise.noise_with_delta,
        )
        for noise in comparison.noises
    ]
    chart(
        noise_dots_figure(dots, x="noise per cell, counts (root mean square)", rows=rows),
        key="compare.noise",
        alt=f"Dots: noise per cell of {many(len(dots), 'mechanism')} at "
        f"ε = {numeral(comparison.promise.epsilon, 6)} and δ = {numeral(comparison.promise.delta)}. "
        f"{'; '.join(map(_alt, comparison.noises))}. The least is {inside(comparison.best.label)}.",
    )


def _alt(noise: CellNoise) -> str:
    alone = [f"{numeral(noise.noise)} without δ"] if noise.is_pure else []
    recounted = [f"{numeral(noise.noise_with_delta)} with δ"] if noise.recounted is not None else []
    return f"{noise.label} {', '.join(alone + recounted)}"


def _captions(comparison: Comparison, network: Network) -> None:
    laplace, pure = comparison.laplace, comparison.best_pure
    if comparison.is_noisy:
        factor = "" if pure is laplace else f"; Laplace adds {times(comparison.factor(pure), 3)} as much"
        st.caption(f"With ε alone, {inside(pure.label)} adds the least noise: {numeral(pure.noise)} counts{factor}.")
        if laplace.recounted is not None:
            st.caption(
                f"Diamonds show the noise with δ. Laplace noise at ε = {numeral(laplace.recounted.epsilon)} satisfies "
                "the same (ε, δ): this follows from the exact privacy loss of its worst pair of tables. Noise is "
                "measured before counts are clipped; Fourier uses t = 0 here. No record is used: noise depends on "
                "the graph and on the guarantee only."
            )
    for label, why in comparison.refused.items():
        st.caption(escaped(f"{label}: {why}"))


def kinds_compared(network: Network) -> tuple[type[Any], ...]:
    """Return the compared mechanisms; those with a search for the best noise only if the search is done."""
    searched = _is_searched(network)
    return tuple(kind for kind in noisy_kinds() if searched or not is_searched(kind))


def _is_searched(network: Network) -> bool:
    is_requested = len(network.names) <= AT_ONCE or network in st.session_state.get("best_noise.asked", ())
    return is_requested and len(network.closure) <= AT_MOST


def _search(network: Network) -> None:
    """Show a button for a search that takes long."""
    if _is_searched(network):
        return
    if len(network.closure) > AT_MOST:
        st.caption(
            f"This network has {len(network.closure):,} sets of nodes within a family. The best noise is computed "
            f"for at most {AT_MOST:,}. Remove parents of the nodes with the largest tables to compare all mechanisms."
        )
        return
    st.caption(
        f"The search for the best noise on {len(network.names)} nodes takes up to a minute. Its result holds for every "
        "ε and δ."
    )
    if st.button("Search for the best noise", key="best_noise.search"):
        st.session_state["best_noise.asked"] = (*st.session_state.get("best_noise.asked", ()), network)
        st.rerun()


def _factors(comparison: Comparison) -> None:
    if comparison.is_noisy:
        frame = pd.DataFrame(
            {
                "mechanism": [noise.label for noise in comparison.noises],
                "guarantee": ["ε" if noise.is_pure else "ε, δ" for noise in comparison.noises],
                "Laplace noise / mechanism noise": [comparison.factor(noise) for noise in comparison.noises],
            }
        )
        numbers(frame, height=38 + 35 * len(frame))
        st.caption("The noise of Laplace divided by the noise of the mechanism, at the same guarantee.")


def frame_of(comparison: Comparison, network: Network) -> "pd.DataFrame":
    """Return one record per mechanism, with the noise per cell."""
    noises = comparison.noises
    return pd.DataFrame(
        {
            "mechanism": [noise.label for noise in noises],
            "epsilon": comparison.promise.epsilon,
            "delta": comparison.promise.delta,
            "noise per cell without delta": [noise.noise if noise.is_pure else math.nan for noise in noises],
            "noise per cell with delta": [noise.noise_with_delta for noise in noises],
            "own epsilon with delta": [
                math.nan if noise.recounted is None else noise.recounted.epsilon for noise in noises
            ],
            "Laplace noise / mechanism noise": [comparison.factor(noise) for noise in noises],
        }
    )


# Other graphs


def _over_graphs(comparison: Comparison, *, shown: MechanismsShown) -> Running[Graphs]:
    """Show by what factor every mechanism adds less noise than Laplace, graph by graph, and return the work on it."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    left.subheader("Other graphs")
    with right:
        controls.parameter_control("compare.shown")
    promise = comparison.promise
    work = running("best_noise.graphs", promise, lambda: graph_steps(promise))
    work.work()
    graphs, winners = work.so_far, winners_text(work.so_far)
    looks = _looks(graphs, shown)
    factors = {
        look: np.array([graph.factors.get(look.name, np.nan) for graph in graphs], dtype=np.float64) for look in looks
    }
    st.markdown(f"**{winners}**")
    chart(
        factors_figure([graph.name for graph in graphs], factors),
        key="compare.graphs",
        alt=f"Dots: the noise per cell of Laplace divided by that of each mechanism on {many(len(graphs), 'graph')}. "
        f"{winners}",
    )
    if work.is_long:
        progress(work, f"{len(graphs)} of {len(compared_graphs())} graphs", key="best_noise.graphs.stop")
    st.caption(
        "Mechanisms without δ are compared with Laplace without δ, the others with Laplace that uses the same δ. "
        f"Graphs of more than {MOST_NODES} nodes are left out."
    )
    with st.expander("Best mechanism by graph"):
        numbers(graphs_frame(graphs))
    return work


def _looks(graphs: Graphs, shown: MechanismsShown) -> list[Look]:
    """Return the mechanisms that are drawn: those that win on some graph, or all; a diamond needs a delta."""
    winners = {graph.best(labels(with_delta=needed)) for graph in graphs for needed in (False, True)}
    return [
        Look(kind.label, kind.colour, symbol="diamond-open" if needs_delta(kind) else "circle")
        for kind in noisy_kinds()
        if shown is MechanismsShown.ALL or kind.label in winners
    ]


def labels(*, with_delta: bool) -> tuple[str, ...]:
    """Return the mechanisms that need a delta, or the others, by label."""
    return tuple(kind.label for kind in noisy_kinds() if needs_delta(kind) is with_delta)


def winners_text(graphs: Graphs) -> str:
    """Return which mechanism wins on the most graphs without a delta."""
    winners = pd.Series([graph.best(labels(with_delta=False)) for graph in graphs]).value_counts()
    of = many(len(graphs), "graph")
    return f"Without δ, {inside(winners.index[0])} has the least noise on {winners.iloc[0]} of {of}."


def graphs_frame(graphs: Graphs) -> "pd.DataFrame":
    """Return one record per graph: its size, who wins without a delta and with one, and by what factor."""
    pure, others = ([graph.best(labels(with_delta=needed)) for graph in graphs] for needed in (False, True))
    return pd.DataFrame(
        {
            "graph": [graph.name for graph in graphs],
            "nodes": [graph.nodes for graph in graphs],
            "cells": [graph.cells for graph in graphs],
            "best without δ": pure,
            "Laplace noise / mechanism noise": [graph.factors[best] for graph, best in zip(graphs, pure, strict=True)],
            "best with δ": others,
            "Laplace noise / mechanism noise ": [
                graph.factors[best] for graph, best in zip(graphs, others, strict=True)
            ],
        }
    )


# Formulas


def _formulas(comparison: Comparison) -> None:
    """Show the formula of every mechanism, with its numbers, and the assumptions."""
    with st.expander("Formulas, assumptions and source"):
        st.markdown("\n".join(f"- **{noise.label}**: {formula(noise.mechanism)}" for noise in comparison.noises))
        st.markdown(
            "Noise per cell is the root mean square, over all cells, of the standard deviation of the noise that is "
            "added to a count. A cell of the family $F$ is rebuilt from residuals of variances $s_A$ with the "
            "variance $\\sum_{A \\subseteq F} s_A\\, p_A \\prod_{i \\in F - A} r_i^{-2}$, $p_A = \\prod_{i \\in A} (1 "
            "- 1/r_i)$, where $r_i$ is the number of states of node $i$."
        )
        assumption(
            "Neighbouring tables differ in one replaced record, and their number of records is public.", holds=True
        )
        searched = [noise.mechanism.design for noise in comparison.noises if hasattr(noise.mechanism, "design")]
        if searched:
            assumption(
                "The largest privacy loss of a record is computed exactly for every optimised noise; otherwise a "
                "proved bound is used, which needs more noise.",
                holds=all(design.exact for design in searched),
            )
        source(Reference("Xiao23", "residuals with the best scales"))
        source(Reference("Balle18", "Theorem 8"))


def _remark_1(comparison: Comparison, network: Network) -> None:
    """Show the remark on Laplace and Fourier noise with this graph's numbers."""
    with st.expander("Remark 1 of the paper, for this graph"):
        if not network.is_binary:
            st.markdown("The remark compares Laplace with Fourier noise, which needs binary nodes.")
        else:
            printed, certified = (
                rms_over_cells(network, noise_ratio(network, noise=noise(network)))
                for noise in (printed_noise, certified_noise)
            )
            remark = float(np.asarray(comparison_bound(network).printed))
            st.markdown(
                "The paper states “The denser the graph … the greater the reduction in scale”: Fourier noise is at "
                f"most **{numeral(remark)}** times Laplace’s. Per cell, Fourier noise is **{numeral(printed)}** times "
                f"Laplace’s with the noise as stated, and **{numeral(certified)}** times with the proved noise. "
                f"{REMARK_COMPARISON.finding}"
            )
        source(REMARK_COMPARISON.reference)
