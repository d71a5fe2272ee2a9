"""The price of each arrow: what the network would cost without it, in error of every mechanism and in noise."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work
from dpbayes.base.text import distinct_texts, escaped
from dpbayes.base.validation import brief
from dpbayes.experiments.arrow_prices import Arrow, ArrowErrors, arrow_errors
from dpbayes.experiments.planned_errors import Plan
from dpbayes.experiments.structure import NONE, REMOVED, arrow_costs, drawn_cost
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.ui.pages.network.errors import (
    compared_mechanisms,
    is_too_large,
    key_of,
    name_with_delta,
    names_in_sentence,
    planned,
    planned_reading,
    question_text,
    shared_errors,
    tables_at_once,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.widgets.running import Running, progress_if_long, running
from dpbayes.ui.widgets.show import inside, numbers

MANY_ARROWS = 60
"""Above this many arrows, the cost of removing each is computed for the arrow picked, not for all."""

MOST_READ, MOST_SLOW = 3_000, 9_000
"""Cells of all networks with an arrow removed whose releases are read with their noise in mind, and of those where
mechanisms that draw one by one take part."""

MOST_LETTERS = 48
"""The largest number of letters of an arrow's name in a sentence."""

WAITING = "Comparing the network with and without each arrow …"

_KIND = "network.arrows"


def arrows(chosen: Chosen, *, searched: bool) -> list[Running[ArrowErrors]]:
    """Show what the network would cost with each arrow removed, in error and in noise; return the work on that."""
    net = chosen.network
    if not net.edges:
        st.caption("No arrows yet. Drag from a node's handle to another node.")
        return []
    shown = net.edges
    if len(net.edges) > MANY_ARROWS:
        labels = [f"{a} → {b}" for a, b in net.edges]
        picked = st.selectbox("Arrow to remove", range(len(labels)), format_func=labels.__getitem__)
        shown = (net.edges[picked],)
    work = _under_way(chosen, shown, searched=searched)
    noise = pd.concat([drawn_cost(net, chosen.epsilon), costs_without(net, chosen.epsilon, shown)], ignore_index=True)
    noise = noise.dropna(axis="columns")
    st.subheader("Cost of each arrow", anchor=False)
    if work is None:
        _table(noise, key="arrows.noise")
        return []
    priced = work.result
    st.markdown(verdict(priced) if priced is not None and work.done else WAITING)
    _table(pd.concat([noise.iloc[:, :1], _errors(priced, shown), noise.iloc[:, 1:]], axis=1), key="arrows.errors")
    _of_answer(chosen, work, shown)
    progress_if_long(work, "the networks", key="arrows.stop")
    st.caption(_explanation(chosen, shown, searched=searched))
    return [work]


def _of_answer(chosen: Chosen, work: Running[ArrowErrors], shown: Sequence[Arrow]) -> None:
    """Show what each arrow costs the answer to what the person asks, if she does."""
    answer = None if work.result is None else work.result.of_answer
    if answer is None:
        return
    st.markdown(f"**Your question**, {question_text(chosen)}. {verdict(answer) if work.done else WAITING}")
    removed = pd.DataFrame({REMOVED: [NONE, *(f"{parent} → {child}" for parent, child in shown)]})
    _table(pd.concat([removed, _errors(answer, shown)], axis=1), key="arrows.answer")


@session_cache(8, spinner="Computing the network without each arrow …")
def costs_without(net: Network, epsilon: float, only: tuple[Arrow, ...]) -> "pd.DataFrame":
    """Return sizes and noise of a network without each of some arrows."""
    return arrow_costs(net, epsilon, only=only)


# The work


def _under_way(chosen: Chosen, shown: tuple[Arrow, ...], *, searched: bool) -> Running[ArrowErrors] | None:
    """Return the work on the errors after its first step; None for a large network."""
    if is_too_large(chosen.network):
        return None
    places = places_of(chosen, shown, searched=searched)
    names = tuple(places)

    def on(network: Network) -> list[Any]:
        return [chosen.mechanism_on(network, name) for name in names]

    def rng(place: int) -> np.random.Generator:
        return stream(chosen.seed, "network", "errors", places[names[place]])

    key = (*key_of(chosen, names), shown)

    def start() -> Work[ArrowErrors]:
        plan = planned_for(chosen, shown)
        at_once = tables_at_once(chosen.network)
        return shared_errors().once_in_steps(key, arrow_errors, plan, on, shown, rng, at_once=at_once)

    return running(_KIND, key, start).begun()


def planned_for(chosen: Chosen, shown: Sequence[Arrow]) -> Plan:
    """Return the planned tables, and how releases of them are read here."""
    return replace(planned(chosen), reading=_reading(chosen, shown))


def places_of(chosen: Chosen, shown: Sequence[Arrow], *, searched: bool) -> dict[str, int]:
    """Return the mechanisms that take part, by name, with their places above: those in the bars that are quick."""
    is_small = chosen.network.cell_count * len(shown) <= MOST_SLOW
    kinds = [type(mechanism) for mechanism in compared_mechanisms(chosen, searched=searched)]
    return {kind.__name__: k for k, kind in enumerate(kinds) if is_small or hasattr(kind, "node_noise_sd")}


def _reading(chosen: Chosen, shown: Sequence[Arrow]) -> Reading:
    """Return how releases are read: with counts as real where all else would take long."""
    is_quick = chosen.network.cell_count * len(shown) <= MOST_READ
    return planned_reading(chosen) if is_quick else Reading.AS_REAL


# In tables and words


def _errors(priced: ArrowErrors | None, shown: Sequence[Arrow]) -> "pd.DataFrame":
    """Return the errors of every mechanism for the drawing, then without each arrow, as far as they are computed."""
    if priced is None:
        return pd.DataFrame()
    rows = [priced.drawn, *(priced.without.get(arrow) for arrow in shown)]
    labels = [f"error with {inside(mechanism.label)}" for mechanism in priced.drawn.mechanisms]
    return pd.DataFrame([[np.nan] * len(labels) if row is None else row.means for row in rows], columns=labels)


def _table(frame: "pd.DataFrame", *, key: str) -> None:
    numbers(frame, height=min(38 + 35 * len(frame), 320), unknown="…", key=key)  # not computed yet


def verdict(priced: ArrowErrors) -> str:
    """Name the arrow that costs most, with the error before and after, or state that no arrow clearly does."""
    prices, shown, mechanisms = priced.prices, list(priced.without), priced.drawn.mechanisms
    dearest, near = prices.dearest, prices.near
    name, payer = _called(shown[dearest.arrow]), name_with_delta(mechanisms[dearest.mechanism])
    before, after = distinct_texts(float(prices.drawn_error), float(prices.least), most=2)
    change = f"the mean absolute error with {payer} from {before} to {after}"
    if not prices.is_clear:
        return f"No arrow clearly costs accuracy. Removing {name} would change {change}."
    rivals = list(dict.fromkeys(_called(shown[rival.arrow]) for rival in near if rival.arrow != dearest.arrow))
    if rivals:
        others = names_in_sentence(rivals, word="or")
        return f"Removing {name} lowers {change}. There is no clear difference from removing {others}."
    equal = [name_with_delta(mechanisms[rival.mechanism]) for rival in near]
    tied = f", with no clear difference from {names_in_sentence(equal)}" if equal else ""
    most = f"The arrow {name} costs most. " if len(shown) > 1 else ""
    return f"{most}Removing {'it' if most else name} lowers {change}{tied}."


def _called(arrow: Arrow) -> str:
    name = " → ".join(arrow)
    return escaped(name if len(name) <= MOST_LETTERS else brief(name))


def _explanation(chosen: Chosen, shown: Sequence[Arrow], *, searched: bool) -> str:
    """State what the errors are of, and which mechanisms are left out."""
    reader = "" if _reading(chosen, shown) is Reading.NOISE_AWARE else ", for a naive reader"
    kept = places_of(chosen, shown, searched=searched)
    kinds = [type(mechanism) for mechanism in compared_mechanisms(chosen, searched=searched)]
    absent = [inside(kind.label) for kind in kinds if kind.__name__ not in kept]
    left_out = f" Not computed, because there are too many networks: {names_in_sentence(absent)}." if absent else ""
    return (
        f"Mean absolute error of the remaining probabilities on the same simulated tables{reader}. The dependence that "
        f"an arrow describes is lost when the arrow is removed.{left_out}"
    )
