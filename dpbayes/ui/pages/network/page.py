"""The Network page: the drawing, its errors and noise, and its files."""

from typing import Any

import streamlit as st

from dpbayes.base import terms
from dpbayes.base.libraries import pd
from dpbayes.base.references import Reference
from dpbayes.base.text import latex, numeral, plural
from dpbayes.experiments.best_noise import Comparison, Promise, compared, is_searched, noisy_kinds
from dpbayes.experiments.planned_errors import PlannedErrors
from dpbayes.experiments.structure import structure_cost
from dpbayes.figures.structure import NodeBars, noise_figure
from dpbayes.mechanisms import Calibration
from dpbayes.model.network import Network
from dpbayes.ui.pages.network.adaptive import release_adaptively
from dpbayes.ui.pages.network.arrows import MANY_ARROWS, arrows
from dpbayes.ui.pages.network.editor import editor, start_from
from dpbayes.ui.pages.network.errors import (
    are_errors_shown,
    error_bars,
    error_by_node,
    error_of_answer,
    errors_under_way,
    is_too_large,
    needs_binary,
    own_errors_under_way,
    place_by_node,
    place_of_bars,
    plan_sentences,
    show_progress,
    verdict,
    worst_node,
)
from dpbayes.ui.pages.network.exchange import exchange, python_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.increments import STEALTH, stealth_increment
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import EPSILON, TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.controls import parameter_control
from dpbayes.ui.widgets.frames import Frames, network_of
from dpbayes.ui.widgets.from_python import same_from_python
from dpbayes.ui.widgets.page import Places, next_page, places, settle
from dpbayes.ui.widgets.running import Running
from dpbayes.ui.widgets.show import inside, noise_is_not_error, sentence_instead, source

FACTS: Facts = EPSILON | TABLE | N

SEARCHED_SETS = 256
"""Sets of nodes within families up to which the best scales of noise are found in a moment."""


def network_page(chosen: Chosen) -> bool:
    """Show the drawing; only noise moves with epsilon. Return whether work continues."""
    pictures_tell(FACTS)
    page = places()
    with page.controls:
        start_from(chosen)
        error_place = st.container(key="error.bars")
        of_what, bars, farthest = st.container(), st.container(key="bars"), st.container()

    def moving(page: Places, chosen: Chosen) -> tuple[Comparison, list[Running[PlannedErrors]]]:
        page.lead("epsilon")
        under_way = errors_under_way(chosen, searched=is_quick(chosen.network))
        own = own_errors_under_way(chosen, searched=is_quick(chosen.network))
        drawn, own_errors = (errors.so_far if isinstance(errors, Running) else errors for errors in (under_way, own))
        is_compared = not is_too_large(chosen.network)
        with page.inside(error_place):
            place = place_of_bars(chosen, searched=is_quick(chosen.network)) if is_compared else st.container()
        if drawn is None:
            page.say(headline_of(chosen.network, epsilon=chosen.epsilon))
        else:
            page.say(verdict(chosen, drawn, own_errors))
            with page.inside(place):
                error_bars(chosen, drawn)
        with page.inside(error_place):
            if is_compared:
                error_of_answer(chosen, drawn, searched=is_quick(chosen.network))
        comparison = comparison_of(chosen)
        with page.inside(bars):
            if not are_errors_shown(chosen):
                noise(comparison)
            elif drawn is not None:
                error_by_node(chosen, drawn)
            else:
                place_by_node(chosen, searched=is_quick(chosen.network))
        return comparison, [work for work in (under_way, own) if isinstance(work, Running)]

    with page.picture:
        editor(chosen)
    moved = None
    with page.top, sentence_instead():  # above the drawing that it is about
        moved = page.first(moving, chosen, frames=Frames("epsilon", network_of))
    works: list[Running[Any]] = []
    if moved is not None:
        comparison, begun = moved
        net = chosen.network
        if begun:
            work = begun[0]
            works += begun
            with error_place:
                st.caption(plan_sentences(chosen))
            with of_what:
                parameter_control("network.by_node")
            if are_errors_shown(chosen):
                farthest.caption(worst_node(chosen, work.so_far))
        with page.controls, st.container(key="costs"), sentence_instead():
            costs(net, epsilon=chosen.epsilon)
            every_mechanism(comparison)
        with page.controls:
            show_progress(begun)  # at the end: nothing moves when it disappears
        with page.picture, st.container(key="arrows"):
            priced = arrows(chosen, searched=is_quick(net))
            works += priced
        _meanings(chosen)
        arrow_errors = next((work.result for work in priced if work.done and len(net.edges) <= MANY_ARROWS), None)
        same_from_python(python_of(chosen, searched=is_quick(net), priced=arrow_errors), name="network")
    release_adaptively(chosen)
    exchange(chosen)
    next_page("Explore", "pages/explore.py")
    settle()
    going = [work for work in works if work.going]
    for work in going[:1]:
        work.work()  # after all is drawn, so that nothing is greyed
    return bool(going)


def _meanings(chosen: Chosen) -> None:
    """List what the nodes mean, where their published names have readable ones."""
    readable = {name: chosen.readable[name] for name in chosen.graph.names if name in chosen.readable}
    if not readable:
        return
    with st.expander("Meaning of the nodes"):
        st.dataframe(
            pd.DataFrame(
                {
                    "node": list(readable),
                    "name": [entry.name for entry in readable.values()],
                    "meaning": [entry.meaning for entry in readable.values()],
                }
            ),
            hide_index=True,
        )


# Noise and sizes


def headline_of(net: Network, *, epsilon: float) -> str:
    """Return how much noise Laplace and Fourier add to a count: the headline while errors are not computed."""
    cost, start = structure_cost(net, epsilon), f"At ε = {numeral(epsilon, 6)}, the noise on a count has an sd of"
    laplace = numeral(cost.laplace_noise)
    if cost.fourier_noise is None:
        return f"{start} {laplace} with Laplace."
    bound = "" if cost.fourier_exact else "at most "
    return f"{start} {laplace} with Laplace and {bound}{numeral(cost.fourier_noise)} with Fourier."


def comparison_of(chosen: Chosen) -> Comparison:
    """Return every mechanism's noise at the promise; of a large graph only of those whose scales need no search."""
    net, promise = chosen.network, Promise(chosen.epsilon, float(chosen.parameter("delta")))
    kinds = tuple(kind for kind in noisy_kinds() if is_quick(net) or not is_searched(kind))
    return compared(net, promise, kinds=kinds)


def is_quick(net: Network) -> bool:
    """Return whether mechanisms whose best scales are searched can be shown in a moment."""
    return len(net.closure) <= SEARCHED_SETS


def noise(comparison: Comparison) -> None:
    """Show noise by node under every mechanism; a mechanism with a delta states it."""
    net = comparison.laplace.mechanism.prior.network
    delta = f" (δ = {numeral(comparison.promise.delta)})"
    bars = [
        NodeBars(
            cell_noise.label + ("" if cell_noise.is_pure else delta),
            cell_noise.mechanism.colour,
            cell_noise.mechanism.node_noise_sd,
        )
        for cell_noise in comparison.noises
    ]
    chart(
        noise_figure(net.names, bars),
        key="noise",
        alt=f"Bars: noise in each node's counts under {', '.join(inside(node_bars.name) for node_bars in bars)}.",
    )


def every_mechanism(comparison: Comparison) -> None:
    """Show the noise of every mechanism over all cells."""
    with st.expander("Noise per cell of every mechanism"):
        frame = pd.DataFrame(
            {
                "mechanism": [cell_noise.label for cell_noise in comparison.noises],
                "promise": [str(cell_noise.mechanism.certified) for cell_noise in comparison.noises],
                "noise per cell": [numeral(cell_noise.noise) for cell_noise in comparison.noises],
            }
        )
        st.dataframe(frame, hide_index=True)
        network = comparison.laplace.mechanism.prior.network
        left_out = (
            ""
            if is_quick(network)
            else " The other mechanisms search for their best noise scales, which takes too long on this graph."
        )
        st.caption(f"Root mean square over all cells, in counts.{left_out}")
        st.page_link("pages/lab.py", label="Lab", icon=":material/arrow_forward:")


def _t_for(net: Network) -> float:
    """Return the increment that keeps 90% of noise-only releases of this graph non-negative."""
    return stealth_increment(net, Calibration.CERTIFIED, STEALTH) if net.is_binary else 0.0


def costs(net: Network, *, epsilon: float) -> None:
    """Show sizes, and noise over all nodes."""
    cost = structure_cost(net, epsilon, t=_t_for(net))
    top, bottom = st.columns(3), st.columns(2)
    top[0].metric("Rows m", f"{cost.rows:,}", help=terms.ROW)
    top[1].metric("Cells K", f"{cost.cells:,}", help=terms.CELL)
    closure = "—" if cost.closure is None else f"{cost.closure:,}"
    top[2].metric("|N_I|", closure, help="Fourier coefficients to release: the downward closure of all families.")
    bottom[0].metric("Laplace noise per cell", numeral(cost.laplace_noise), help="Standard deviation, in counts.")
    fourier = "—" if cost.fourier_noise is None else numeral(cost.fourier_noise)
    bottom[1].metric("Fourier noise per cell", fourier, help="Root mean square over cells, in counts.")
    if note := needs_binary(net):
        st.caption(note)
    if cost.fourier_lift is not None:
        st.caption(
            f"Fourier adds {plural(numeral(cost.fourier_lift), 'record')} to every table, spread evenly over its "
            "cells. Then 90% of releases have no negative count."
        )
    if cost.fourier_noise is not None:
        noise_is_not_error()
    with st.expander("Formula and source"):
        st.markdown(
            f"Laplace: $b = 2|I|/\\varepsilon = {2 * len(net.names)}/{latex(epsilon, 6)}$, sd $\\sqrt2\\,b$ in every "
            "cell. Fourier: $b = 2O/\\varepsilon$ on integer coefficients, hence sd "
            "$\\sqrt2\\,b\\,\\sqrt{2^{f}-1}/2^{f}$ in a table of $f$ variables. "
            + (f"Here $|N_I| = {cost.closure}$." if cost.closure else "")
        )
        st.caption(
            "Remark 1 of the paper compares scales of coefficients. In records per cell, denser graphs need more noise."
        )
        source(Reference("Zhang16", "Algorithms 1 and 2, Corollary 2, Remark 1"))
