"""The handout of what the page shows: one sheet for a class or a board, marked as a simulation."""

from collections.abc import Iterable

import streamlit as st

from dpbayes.model.labels import assignment
from dpbayes.releases.views.handout import Handout, html_handout
from dpbayes.releases.views.reading import prior_warning
from dpbayes.ui.pages.explore.answers import Answered
from dpbayes.ui.pages.explore.readings import Readings
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.question import target_and_evidence
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.show import sentence_instead


def handout_button(chosen: Chosen, readings: Readings, answered: Answered | None) -> None:
    """Offer the sheet of the question; one that has no answer gets its sentence."""
    with sentence_instead():
        sheet = html_handout(handout_of(chosen, readings, answered))
        name = offered_name("handout", "html", simulates=True)
        st.download_button("Handout (HTML)", sheet, name, "text/html", key="handout", on_click="ignore")


def handout_of(chosen: Chosen, readings: Readings, answered: Answered | None) -> Handout:
    """Return the first simulated release's answer to the question. Errors: InputError where it has no answer."""
    (target, given), network = target_and_evidence(chosen), chosen.network
    _, private = readings.shown.query(target, given)
    names = _readable(chosen, (target, *given))
    condition = ", ".join(assignment(names[name], state) for name, state in given.items())
    release, states = readings.shown.release, network.states[network.index(target)]
    answer = None if answered is None else answered.answer
    intervals = () if answer is None else zip(states, zip(answer.low, answer.high, strict=True), strict=True)
    return Handout(
        question=f"P({names[target]} | {condition})" if condition else f"P({names[target]})",
        table=chosen.data_title,
        n=chosen.counts.n,
        mechanism=release.mechanism,
        guarantee=release.guarantee,
        answer=dict(zip(states, map(float, private[0] if answer is None else answer.mean), strict=True)),
        intervals={state: (float(low), float(high)) for state, (low, high) in intervals},
        warning="" if answer is None else prior_warning(answer),
        published={readable: name for name, readable in names.items() if readable.casefold() != name.casefold()},
    )


def _readable(chosen: Chosen, names: Iterable[str]) -> dict[str, str]:
    """Return what nodes are called in a sentence; by their own names where they have no others."""
    return {name: chosen.readable[name].name if name in chosen.readable else name for name in names}
