"""The handout of what the page shows: one sheet for a class or a board, marked as a simulation."""

import streamlit as st

from dpbayes.model.labels import assignment
from dpbayes.releases.views.handout import Handout, html_handout
from dpbayes.ui.pages.release.controls import question
from dpbayes.ui.pages.release.readings import Readings
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart.saving import file_name
from dpbayes.ui.widgets.show import sentence_instead


def handout_button(chosen: Chosen, readings: Readings) -> None:
    """Offer the sheet of the question; one that has no answer gets its sentence."""
    with sentence_instead():
        sheet = html_handout(handout_of(chosen, readings))
        name = file_name("release", "handout", chosen.settings)
        st.download_button(
            "Handout on one page (HTML)", sheet, f"{name}.html", "text/html", key="handout", on_click="ignore"
        )


def handout_of(chosen: Chosen, readings: Readings) -> Handout:
    """Return what the first release shown says of the question. Errors: InputError where it has no answer."""
    (target, given), network = question(chosen), chosen.network
    _, private = readings.shown.query(target, given)
    known = ", ".join(assignment(*pair) for pair in given.items())
    release = readings.shown.release
    return Handout(
        question=f"P({target} | {known})" if known else f"P({target})",
        table=chosen.data_title,
        n=chosen.counts.n,
        mechanism=release.mechanism,
        guarantee=release.guarantee,
        answer=dict(zip(network.states[network.index(target)], map(float, private[0]), strict=True)),
    )
