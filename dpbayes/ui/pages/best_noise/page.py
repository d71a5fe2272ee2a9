"""The Best noise page: which mechanism adds the least noise at one promise, by what factor, where, and why.

Noise depends on the graph and on the promise, and answers are those of made-up records: both seats see everything.
"""

import math
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.text import done, escaped, many, numeral, times
from dpbayes.experiments.best_noise import CellNoise, Comparison, Promise, compare_steps, is_searched, noisy_kinds
from dpbayes.figures.best_noise import NoiseDot, best_noise_figure
from dpbayes.mechanisms.noise.shares import takes_weights, weights_told
from dpbayes.model.network import Network
from dpbayes.ui.pages.best_noise.answers import answers
from dpbayes.ui.pages.best_noise.details import formulas, remark_1
from dpbayes.ui.pages.best_noise.graphs import over_graphs
from dpbayes.ui.pages.best_noise.residuals import residuals
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import EPSILON, TABLE, Facts, pictures_tell
from dpbayes.ui.widgets.from_python import FACE, network_in_python, program, same_from_python
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.running import Running, progress, running
from dpbayes.ui.widgets.show import data_and_download, inside, numbers, sentence_instead
from dpbayes.ui.widgets.weights import weights_control, weights_said

AT_ONCE, AT_MOST = 40, 4_000
"""Nodes of a network up to which the best noise is searched unasked, beyond which a person asks for it; and sets of
nodes within its families up to which it is searched at all."""


FACTS: Facts = EPSILON | TABLE


def best_noise_page(chosen: Chosen) -> bool:
    """Show the picture first: it moves with epsilon, all else follows when the hand rests."""
    pictures_tell(FACTS)
    page = places()
    work = page.first(_moving, chosen)
    with page.controls:
        controls.parameter_control("delta")
        st.caption(
            "No record is looked at: noise depends on the graph and on the promise alone, and both are public. The "
            "graph is the one on *Network*."
        )
    if work is None:
        return False
    comparison, network = work.so_far, chosen.network
    with page.picture:
        # Each in a place of its own: the browser keeps what stood at a place until the run ends, and a bar that goes
        # would leave the captions there twice.
        with st.container():
            _progress(work, network)
        with st.container():
            _captions(comparison, network)
    with page.controls:
        _search(network)
        with sentence_instead():
            weights_control(chosen, network)
        _numbers(comparison)
    if not comparison.is_noisy:
        return work.going
    works: list[Running[Any]] = [work]
    if work.done:
        residuals(comparison, network)
        with sentence_instead():
            works.append(answers(chosen, comparison))
        with sentence_instead():
            works.append(over_graphs(comparison.promise))
            if comparison.weights:
                st.caption("Over graphs all tables count alike.")
    st.caption("Noise on counts is not yet error: rows with few records suffer more. Explore shows the error of each.")
    st.page_link("pages/explore.py", label="Explore", icon=":material/arrow_forward:")
    data_and_download(lambda: frame_of(comparison, network), name="best-noise", curator_only=False)
    formulas(comparison)
    remark_1(comparison, network)
    same_from_python(python_of(network, comparison), name="best-noise")
    return any(each.going for each in works)


def python_of(network: Network, comparison: Comparison) -> str:
    """Return the code that gives every mechanism's noise per cell."""
    promise = comparison.promise
    weights = f", weights={comparison.weights!r}" if comparison.weights else ""
    return program(
        FACE,
        "from dpbayes.base.steps import finished",
        "from dpbayes.experiments.best_noise import Promise, compare_steps",
        network_in_python(network),
        f"comparison = finished(compare_steps(network, Promise({promise.epsilon!r}, {promise.delta!r}){weights}))",
        "print({each.label: each.noise for each in comparison.noises})",
    )


def _moving(page: Places, chosen: Chosen) -> Running[Comparison]:
    network, promise = chosen.network, Promise(chosen.epsilon, float(chosen.parameter("delta")))
    searched = _is_searched(network)
    kinds = tuple(kind for kind in noisy_kinds() if searched or not is_searched(kind))
    weights = chosen.weights if any(map(takes_weights, kinds)) else ()
    work = running(
        "best_noise",
        (network, promise, kinds, weights),
        lambda: compare_steps(network, promise, kinds=kinds, weights=weights),
    )
    work.work()
    with page.picture:
        _picture(work.so_far)
    page.lead("epsilon")
    known = len(work.so_far.noises) + len(work.so_far.refused)
    page.say(
        verdict(work.so_far) if known == len(kinds) else f"{known} of {len(kinds)} mechanisms are worked out so far."
    )
    return work


def verdict(comparison: Comparison) -> str:
    """Return who adds the least noise without a delta and with one, and by what factor less than Laplace's."""
    promise, pure, best = comparison.promise, comparison.best_pure, comparison.best
    if not comparison.is_noisy:
        return "Every node has a single state: there is nothing to hide, and no mechanism adds noise."
    per_cell = "per cell, by the weights of the tables," if comparison.weights else "per cell"
    start = f"At ε = {numeral(promise.epsilon, 6)} the least noise"
    least = f"{start} {per_cell} is {numeral(pure.noise)} counts with {_named(pure)}"
    is_laplace = pure is comparison.laplace
    beside = "the paper’s own" if is_laplace else f"{times(comparison.factor(pure), 3)} less than Laplace’s"
    first = f"{least}, {beside}"
    with_delta = f"with δ = {numeral(promise.delta)}"
    if best.is_pure:
        return f"{first}; {with_delta} Gaussian noise is not less than that."
    return f"{first}; {with_delta} it is {numeral(best.noise)} with {_named(best)}, {_fair(comparison, best)}."


def _fair(comparison: Comparison, best: CellNoise) -> str:
    """Compare with Laplace noise at the same promise, as soon as that is known."""
    factor = comparison.factor(best)
    if not math.isfinite(factor):
        return "and what Laplace gains by that δ is being counted"
    return f"{times(factor, 3)} less than Laplace’s that uses δ too"


def _named(noise: CellNoise) -> str:
    return str(noise.mechanism.named)


def _picture(comparison: Comparison) -> None:
    dots = [
        NoiseDot(
            noise.label,
            str(noise.mechanism.colour),
            noise.noise if noise.is_pure else math.nan,
            noise.noise_with_delta,
        )
        for noise in comparison.noises
    ]
    least = comparison.best
    chart(
        best_noise_figure(dots, x="noise per cell: root mean squared error (counts)"),
        key="best_noise.cells",
        alt=f"Dots: noise per cell of {many(len(dots), 'mechanism')} at "
        f"ε = {numeral(comparison.promise.epsilon, 6)} and δ = {numeral(comparison.promise.delta)}. "
        f"{'; '.join(map(_alt, comparison.noises))}. The least is {inside(least.label)}.",
    )


def _alt(noise: CellNoise) -> str:
    alone = [f"{numeral(noise.noise)} without δ"] if noise.is_pure else []
    known = [f"{numeral(noise.noise_with_delta)} with δ"] if noise.recounted is not None else []
    return f"{noise.label} {', '.join(alone + known)}"


def _captions(comparison: Comparison, network: Network) -> None:
    laplace = comparison.laplace
    if comparison.weights and comparison.is_noisy:
        st.caption(shared_told(comparison, network))
    if laplace.recounted is not None and comparison.is_noisy:
        st.caption(
            f"To be fair to Laplace: what its worst pair of tables loses is known exactly, and with an ε of its own of "
            f"{numeral(laplace.recounted.epsilon)} it is (ε, δ)-private already. Open dots are so counted; of Gaussian "
            "noise the exact curve is used too. Noise is before clipping."
        )
    for label, why in comparison.refused.items():
        st.caption(escaped(f"{label}: {why}"))


def shared_told(comparison: Comparison, network: Network) -> str:
    """Return whose errors count how often, in which noise that matters, and what the best noise is here and there."""
    best, matter = comparison.best, np.array(comparison.weights) != 1
    sharing = ", ".join(noise.label for noise in comparison.noises if takes_weights(type(noise.mechanism)))
    here, elsewhere = (numeral(best.in_tables(nodes)) for nodes in (matter, ~matter))
    aside = f", and {elsewhere} elsewhere" if not matter.all() else ""
    return (
        f"{weights_said(network, comparison.weights)}, in every mechanism’s dot; {sharing} share their noise out by "
        f"that. {best.label}: {here} counts per cell there{aside}."
    )


def _progress(work: Running[Comparison], network: Network) -> None:
    if work.is_long:
        counted = sum(noise.recounted is not None for noise in work.so_far.noises)
        told = f"{counted} of {len(work.so_far.noises)} mechanisms, {done(work.share)} of the work"
        progress(work, told, key="best_noise.stop")


# Large networks


def _is_searched(network: Network) -> bool:
    is_asked = len(network.names) <= AT_ONCE or network in st.session_state.get("best_noise.asked", ())
    return is_asked and len(network.closure) <= AT_MOST


def _search(network: Network) -> None:
    """Offer the search where it takes so long that nobody wants it unasked."""
    if _is_searched(network):
        return
    if len(network.closure) > AT_MOST:
        st.caption(
            f"This network has {len(network.closure):,} sets of nodes within a family; the best scales are searched "
            f"for at most {AT_MOST:,}. Remove parents of its largest tables to see them."
        )
        return
    st.caption(
        f"The best scales for a network of {len(network.names)} nodes are a search of up to a minute, which can be "
        "stopped. Afterwards they are known for every ε and δ."
    )
    if st.button("Search for the best noise", key="best_noise.search"):
        st.session_state["best_noise.asked"] = (*st.session_state.get("best_noise.asked", ()), network)
        st.rerun()


# Numbers


def _numbers(comparison: Comparison) -> None:
    if comparison.is_noisy:
        frame = pd.DataFrame(
            {
                "noise": [noise.label for noise in comparison.noises],
                "promises": ["ε" if noise.is_pure else "ε, δ" for noise in comparison.noises],
                "times less": [comparison.factor(noise) for noise in comparison.noises],
            }
        )
        numbers(frame, height=38 + 35 * len(frame))
        st.caption("Times less noise than Laplace: without δ, or where both make use of it.")


def frame_of(comparison: Comparison, network: Network) -> pd.DataFrame:
    """Return one record per mechanism; noise per cell by the weights of the tables, which stand beside it."""
    noises = comparison.noises
    return pd.DataFrame(
        {
            "mechanism": [noise.label for noise in noises],
            "epsilon": comparison.promise.epsilon,
            "delta": comparison.promise.delta,
            "weights": "; ".join(weights_told(network, comparison.weights)),
            "noise per cell without delta": [noise.noise if noise.is_pure else math.nan for noise in noises],
            "noise per cell with delta": [noise.noise_with_delta for noise in noises],
            "own epsilon with delta": [
                math.nan if noise.recounted is None else noise.recounted.epsilon for noise in noises
            ],
            "times less than Laplace": [comparison.factor(noise) for noise in noises],
        }
    )
