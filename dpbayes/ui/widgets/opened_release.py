"""An opened release: its checks, answers to questions, a picture, its promise, and the files made from it."""

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.audit.risk import belief_sentence
from dpbayes.base.amounts import Rho, amount_text, measure_of, number_of
from dpbayes.base.libraries import pd
from dpbayes.base.parameters import label_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import escaped, many, numeral
from dpbayes.boards.board import View
from dpbayes.boards.static import released_rows
from dpbayes.figures.dag import dag_mask, layered_positions, places_in_rows
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior
from dpbayes.model.network import Network, statement
from dpbayes.model.query import query
from dpbayes.model.question import Question
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_aware import MOST_CELLS
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import Document, SampledSteps, read_document
from dpbayes.releases.reading import (
    answer_texts,
    answer_under,
    prior_warning,
    records_csv,
    records_of,
    released_bif,
)
from dpbayes.releases.report import html_report, parts_of
from dpbayes.releases.signing import signature_line
from dpbayes.releases.verify import verify
from dpbayes.ui.session.chosen import question_on
from dpbayes.ui.session.current import current
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.kept import kept
from dpbayes.ui.widgets.board import show
from dpbayes.ui.widgets.show import assumption, headline, numbers, sentence_instead

NEWEST = "made"
"""The key of a release that has just been made, which comes with its next step."""

MOST_DRAWN = 30
"""The most nodes of a graph that is drawn."""

MOST_RECORDS = 1_000_000


def opened_release(data: bytes, *, key: str, places: Sequence["st.delta_generator.DeltaGenerator"] = ()) -> None:
    """Show the checks of a release file and, if all pass, an answer, the graph, the promise, and the files.

    `key` distinguishes the controls of two releases on one page; the headline and what is said of the signature
    have `places` of their own. Errors: InputError for an unusable file.
    """
    above, beside = places or (st.container(), st.container())
    verification = kept(f"{key}.verified", data, lambda: verify(data))
    if not verification.holds:
        with above:
            headline("Do not use this file.")
        st.error("It is not a valid release: ask the sender for release.json again.")
        for failed in (check for check in verification.checks if not check.holds):
            assumption(f":red[{escaped(failed.sentence)}]", holds=False)
        return
    document = kept(f"{key}.document", data, lambda: read_document(data))
    if key != NEWEST:
        with above:
            of_file = f"Release of {escaped(_summary(document))}. All checks hold."
            headline("Upload a release.json to check it. Below is an example." if key == "example" else of_file)
    _said(document, data, key=key)
    with st.expander("Full statement and checks") as statement_part:
        place = statement_part if key == NEWEST else beside  # whoever has just made a release knows its source
        said = (
            f"Made on {document.drawn.time[:10]} with {document.tables.mechanism}. {signature_line(document.content)}"
        )
        (place.success if "signature" in document.content else place.info)(escaped(said))
        for name, sentences in parts_of(document).items():
            st.markdown(f"**{name}**\n" + "".join(f"\n- {escaped(sentence)}" for sentence in sentences))
        st.markdown("**Checks**")
        for check in verification.checks:
            assumption(escaped(check.sentence))
        for sentence in verification.left_out:
            st.caption(escaped(sentence))


def _summary(document: Document) -> str:
    """Return the dataset, its records and the privacy loss of a release, in a few words."""
    request, cost = document.request, document.request.cost
    loss = f"{measure_of(cost).symbol} = {amount_text(number_of(cost))}"
    if stated := request.stated:
        loss = f"ε = {amount_text(stated.epsilon)} at δ = {numeral(float(stated.delta))}"
    return f"{request.dataset}: {many(request.n, 'record')}, {loss}"


def _said(document: Document, data: bytes, *, key: str) -> None:
    """Show what a release answers beside its promise, and then offer its files."""
    left, right = st.columns(2, gap="large")
    if key == NEWEST:
        st.markdown("Next: send release.json to its readers. They check and use it on this page, without the records.")
    files = st.container(horizontal=True)
    with left:
        question, table = st.container(), st.container()
        reading = _reading(document.tables, key=key)
        with question, sentence_instead():
            target, answer = _ask(document, reading, data, table, key=key)
            inputs = data, reading, target, answer
            show(f"{key}.rows", inputs, lambda: released_view(document, reading, target, answer))
    with right:
        for title, text in promise_lines(document).items():
            st.markdown(f"**{title}.** {escaped(text)}")
        small_graph(document.network)
        if isinstance(document.sampled, SampledSteps):
            st.caption("Arrows were chosen with noise: some can be missing or wrong.")
    with files:
        _files(document, reading, data, key=key)


def released_view(document: Document, reading: Reading, target: str, answer: str = "") -> View:
    """Return the board of the released rows of a node below an answer, with the facts of the certificate."""
    node, facts = document.network.index(target), {"release of": _summary(document)}
    return released_rows(document.network, document.tables, reading, node, answer).stating(facts)


def promise_lines(document: Document) -> dict[str, str]:
    """Return what a release contains, promises to one person and does not protect, and its accuracy, by titles."""
    cost, stated, number = document.request.cost, document.request.stated, document.composed.releases + 1
    person, total = document.content["sentences"][1], document.composed.after(cost)  # of a rho alone
    if stated or not isinstance(cost, Rho):
        own = Guarantee(float(stated.epsilon), float(stated.delta)) if stated else Guarantee(float(number_of(cost)))
        person = belief_sentence(own)
    if number > 1 and not isinstance(total, Rho):
        person += f" All {number:,} releases together: {belief_sentence(Guarantee(float(total)))}"
    elif number > 1:
        person += f" {document.content['sentences'][2]}"
    looked = f" Before the release, the curator looked at {document.drawn.looked}." * bool(document.drawn.looked)
    choice = "columns or an ε" if isinstance(document.sampled, SampledSteps) else "an ε, a graph or a prior"
    return {
        "Published": document.sampled.described,
        "One person": person,
        "Accuracy": document.sampled.accuracy,
        "Not protected": "Facts about groups; several or linked records; other publications about the same people; "
        f"{choice} chosen after looking at the records.{looked}",
    }


def small_graph(network: Network) -> None:
    """Draw a graph, unless it has many nodes."""
    if len(network.names) <= MOST_DRAWN:
        places = places_in_rows(layered_positions(network.names, network.edges), network.edges)
        style = dag_mask(places, network.edges)
        st.html(f'<div class="graph" role="img" aria-label="The graph" style="{style}"></div>')


def _reading(release: Release[Outcome], *, key: str) -> Reading:
    """Let the person choose how to read a release that states its noise; the files follow this choice, too."""
    if not release.tells_noise:
        return Reading.AS_REAL
    if release.outcome.probabilities.size > MOST_CELLS:
        st.caption(f"Answers and files are naive, because the network has more than {MOST_CELLS:,} probabilities.")
        return Reading.AS_REAL
    reading: Reading = st.segmented_control(
        "Reader",
        list(Reading),
        default=Reading.NOISE_AWARE,
        format_func=label_of,
        key=f"{key}.reading",
        required=True,
        help="A noise-aware reader models the added noise, whose distribution is public. A naive reader treats noisy "
        "counts as true counts. The picture, the answers and the files follow this choice, which costs no privacy.",
    )
    return reading


# A question


def _ask(
    document: Document, reading: Reading, data: bytes, table: "st.delta_generator.DeltaGenerator", *, key: str
) -> tuple[str, str]:
    """Answer a question about the released network, at first that of Explore; return its node and a sentence.

    Errors: those of `query`.
    """
    network = document.network
    asks = question_on(network, current())
    pairs = {
        statement(name, state): (name, state)
        for name, states in zip(network.names, network.states, strict=True)
        for state in states
    }
    left, right = st.columns([2, 3])
    target = left.selectbox("How likely is", network.names, network.names.index(asks.target), key=f"{key}.target")
    given = [text for text, (name, _) in pairs.items() if name != target]
    first = [text for text in given if target == asks.target and pairs[text] in asks.evidence.items()]
    picked = right.multiselect("if", given, first, key=f"{key}.given", placeholder="nothing else is known")
    evidence = dict(pairs[text] for text in picked)
    inputs = (data, reading, target, tuple(evidence.items()))
    frame, notes = kept(f"{key}.answer", inputs, lambda: _answer(document, reading, target, evidence))
    with table:
        numbers(frame)
        for note in notes:
            st.caption(escaped(note))
    state = network.telling_state(network.index(target))
    if target == asks.target:
        state = network.states[network.index(target)].index(asks.state)
    line, level = frame.iloc[state], f"{LEVEL:.0%} interval"
    interval = f" ({level}: {line[level]})" if level in line else ""
    question = Question(network, target, network.states[network.index(target)][state], evidence)
    return target, f"How likely is {question.text}? This release answers {line['probability']}{interval}."


def _answer(
    document: Document, reading: Reading, target: str, evidence: dict[str, str]
) -> "tuple[pd.DataFrame, list[str]]":
    network, outcome = document.network, document.tables.outcome
    states = {"state": network.states[network.index(target)]}
    if not isinstance(outcome, ReleasedPosterior):
        return pd.DataFrame({**states, "probability": query(network, outcome.probabilities, target, evidence)}), []
    law = document.tables.answering_posterior if reading is Reading.NOISE_AWARE else outcome.posterior
    answer = answer_under(law, outcome.prior, target, evidence, LEVEL)
    means, intervals = answer_texts(answer)
    columns = {**states, "probability": means} | ({f"{LEVEL:.0%} interval": intervals} if intervals else {})
    assumes = answer.assumes and f"{answer.assumes} So it has no interval."
    return pd.DataFrame(columns), [note for note in (assumes, prior_warning(answer)) if note]


# Files


def _files(document: Document, reading: Reading, data: bytes, *, key: str) -> None:
    """Offer the files of the release, which are computed from the released numbers only."""
    n = min(document.request.n, MOST_RECORDS)

    def offer(label: str, file: str, content: Any, mime: str) -> None:
        kind = "primary" if (key, file) == (NEWEST, "release.json") else "secondary"
        icon = ":material/download:"
        download_button(label, content, file, mime, key=f"{key}.{file}", type=kind, icon=icon)

    offer("Download release.json", "release.json", data, "application/json")
    offer("Report (HTML)", "release.html", lambda: html_report(document).encode(), "text/html")
    offer("Network (BIF)", "release.bif", lambda: released_bif(document, reading).encode(), "text/plain")
    offer(
        "Synthetic records (CSV)",
        "records.csv",
        lambda: records_csv(records_of(document, n, np.random.default_rng(secrets.randbits(128)), reading)),
        "text/csv",
    )
