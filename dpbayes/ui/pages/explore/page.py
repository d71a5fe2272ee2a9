"""Explore: one question, what the public sees of its answer, and what a release costs and gives."""

from collections.abc import Callable, Hashable
from dataclasses import replace
from typing import Any

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, shortest
from dpbayes.boards.board import View
from dpbayes.boards.explore import RELEASES, CuratorInputs, RecipientInputs, explore, explore_release, question_about
from dpbayes.mechanisms import Mechanism, Outcome, Release, ReleasedPosterior
from dpbayes.mechanisms.adaptive.mechanism import ReleasedModels
from dpbayes.mechanisms.base import simulated
from dpbayes.model.query import query
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.views.reading import answer_under, intervals_as_text, posterior_name, posterior_of, prior_warning
from dpbayes.ui.pages.explore.controls import ask, picked, question_line, rail
from dpbayes.ui.pages.explore.person import one_person
from dpbayes.ui.session.chosen import Chosen, kind_called, target_and_evidence, telling_target
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.looked import EXACT_POSTERIORS, note_looked
from dpbayes.ui.widgets.board import offer_document, show
from dpbayes.ui.widgets.chart.saving import public_records_text
from dpbayes.ui.widgets.page import next_page
from dpbayes.ui.widgets.show import folded, numbers, sentence_instead

OF_RECORDS = 3
"""Simulated releases at each stop of a mechanism that reads the records, which takes long."""


def explore_page(chosen: Chosen) -> None:
    """Show the question, the board and the controls, and below what follows from them."""
    with st.container(key="explore"):
        main, controls = st.columns([9, 2], gap="medium")
    with controls:
        rail(chosen)
    with main:
        question_line(chosen)
        _board(chosen)  # without one, its refusal is the rest of the page
    with folded("Ask another question", key="question.open") as is_open:
        if is_open:
            with sentence_instead():
                _question(chosen)
    one_person(chosen)
    if chosen.is_curator:
        st.page_link("pages/release.py", label="Make a release", icon=":material/arrow_forward:")
    next_page("Which epsilon", "pages/which_epsilon.py")


def _board(chosen: Chosen) -> None:
    """Show the board of this seat. Errors: those of `view_of`."""
    view, value = view_of(chosen), shortest(chosen.epsilon)
    note_looked(chosen, EXACT_POSTERIORS)
    with st.container(key="main"), st.container(key="picture"):
        show("explore", inputs_of(chosen), lambda: view, value, is_public=chosen.has_public_records)
    offer_document(view, value)


def view_of(chosen: Chosen) -> View:
    """Return the board of this seat, without its frames. Errors: InputError if nothing can be released."""
    question = question_about(chosen.network, picked(chosen)[1])
    is_noise_aware = chosen.options("release").reading is Reading.NOISE_AWARE
    facts = {"mechanism": kind_called(chosen.settings.mechanism).label, "table": chosen.data_title}
    facts |= {"n": n} if (n := public_records_text(chosen)) else {}
    value = shortest(chosen.epsilon)
    if not chosen.is_curator:
        recipient = RecipientInputs(lambda epsilon: _released(chosen, epsilon), question, is_noise_aware, facts)
        return explore_release(recipient, value=value)
    curator = CuratorInputs(
        lambda epsilon: _mechanism_at(chosen, epsilon),
        chosen.statistic,
        question,
        is_noise_aware,
        fourier_at=_fourier(chosen) if chosen.network.is_binary else None,
        table=None if chosen.is_connected else chosen.dataset,
        target=telling_target(chosen),
        seed=chosen.seed,
        releases=OF_RECORDS if chosen.reads_records else RELEASES,
        facts=facts,
    )
    return explore(curator, value=value)


def _mechanism_at(chosen: Chosen, epsilon: float) -> Mechanism[Outcome]:
    changed: Mechanism[Outcome] = replace(chosen.mechanism, epsilon=epsilon)  # type: ignore[type-var]
    return changed


def _fourier(chosen: Chosen) -> Callable[[float], Mechanism[Outcome]]:
    """Return the Fourier mechanism of these settings at an epsilon."""
    fourier = chosen.mechanism_called("LaplaceFourier")

    def at(epsilon: float) -> Mechanism[Outcome]:
        changed: Mechanism[Outcome] = replace(fourier, epsilon=epsilon)  # type: ignore[type-var]
        return changed

    return at


def _released(chosen: Chosen, epsilon: float) -> Release[Outcome]:
    """Return the simulated release that a recipient gets at an epsilon."""
    mechanism = _mechanism_at(chosen, epsilon)
    return simulated(mechanism, chosen.statistic, stream(chosen.seed, "release", type(mechanism).__name__), (1,))


def inputs_of(chosen: Chosen) -> Hashable:
    """Return what the board depends on, without epsilon."""
    mechanism = chosen.mechanism
    values = tuple(getattr(mechanism, name) for name in parameters_of(type(mechanism)) if name != "epsilon")
    statistic, options = chosen.statistic.digest, chosen.options("release").reading
    shown = (chosen.is_curator, picked(chosen)[1], options, chosen.seed, chosen.data_title)
    return type(mechanism), values, chosen.network, chosen.settings.prior, statistic, shown


# Any question


def _question(chosen: Chosen) -> None:
    """Show the answer of one simulated release to any question about the network."""
    ask(chosen)
    target, evidence = target_and_evidence(chosen)
    key = (inputs_of(chosen), chosen.epsilon, target, tuple(evidence.items()))
    frame, captions = kept("explore.answer", key, lambda: _answer(chosen, target, evidence))
    numbers(frame)
    for caption in captions:
        st.caption(caption)


def _answer(chosen: Chosen, target: str, evidence: dict[str, str]) -> "tuple[pd.DataFrame, list[str]]":
    """Return the answer as a table by the states of the target, and what it rests on."""
    net, release = chosen.network, _released(chosen, chosen.epsilon).part(0)
    columns: dict[str, Any] = {"state": net.states[net.index(target)]}
    captions = []
    if isinstance(release.outcome, ReleasedModels):
        columns["private"] = release.outcome.query(target, evidence)[0]
        captions = [escaped(release.outcome.assumed(target, evidence))]
    elif not isinstance(release.outcome, ReleasedPosterior):
        columns["private"] = query(net, release.outcome.probabilities, target, evidence)
    else:
        law = posterior_of(release, chosen.options("release").reading)
        answer = answer_under(law, release.outcome.prior, target, evidence, LEVEL)
        columns |= {"private": answer.mean, f"its {LEVEL:.0%} interval": intervals_as_text(answer)}
        captions = [f"From the {posterior_name(law)}.", escaped(answer.assumes), prior_warning(answer)]
    if chosen.is_curator:
        columns["exact"] = query(net, chosen.prior.updated(chosen.counts).mean, target, evidence)
        captions.append("Exact values are not private (curator view).")
    return pd.DataFrame(columns), [caption for caption in captions if caption]
