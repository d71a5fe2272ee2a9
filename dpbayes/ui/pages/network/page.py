"""The Network page: the drawing, its errors and noise, and its files."""

from typing import Any

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.experiments.best_noise import Comparison
from dpbayes.experiments.planned_errors import PlannedErrors
from dpbayes.ui.pages.network.adaptive import release_adaptively
from dpbayes.ui.pages.network.arrows import MANY_ARROWS, arrows
from dpbayes.ui.pages.network.costs import comparison_of, costs, every_mechanism, headline_of, is_quick, noise
from dpbayes.ui.pages.network.editor import editor, start_from
from dpbayes.ui.pages.network.errors import (
    are_errors_shown,
    error_bars,
    error_by_node,
    error_of_answer,
    errors_under_way,
    is_too_large,
    own_errors_under_way,
    place_by_node,
    place_of_bars,
    plan_sentences,
    show_progress,
    verdict,
    worst_node,
)
from dpbayes.ui.pages.network.exchange import exchange, python_of
from dpbayes.ui.pages.network.learn import learn_privately
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart.facts import EPSILON, TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.controls import parameter_control
from dpbayes.ui.widgets.frames import Frames, network_of
from dpbayes.ui.widgets.from_python import same_from_python
from dpbayes.ui.widgets.page import Places, next_page, places, settle
from dpbayes.ui.widgets.running import Running
from dpbayes.ui.widgets.show import sentence_instead

FACTS: Facts = EPSILON | TABLE | N


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
    learn_privately(chosen)
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
