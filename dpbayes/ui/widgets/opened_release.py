"""An opened release: its checks, answers to questions, a picture, its promise, and the files made from it."""

import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.audit.risk import belief_sentence
from dpbayes.base.amounts import Rho, amount_text, measure_of, number_of
from dpbayes.base.libraries import pd
from dpbayes.base.parameters import label_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import escaped, many, numeral, probability_text
from dpbayes.boards.board import View
from dpbayes.boards.static import released_rows
from dpbayes.figures.dag import dag_mask, layered_positions, places_in_rows
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior
from dpbayes.model.network import Network, statement
from dpbayes.model.query import query
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.noise_aware import MOST_CELLS
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import Document, SampledSteps, read_document
from dpbayes.releases.reading import answer_texts, answer_under, prior_warning, records_csv, records_of, released_bif
from dpbayes.releases.report import html_report, parts_of
from dpbayes.releases.signing import signature_line
from dpbayes.releases.verify import verify
from dpbayes.ui.session.chosen import Chosen, question_on
from dpbayes.ui.session.current import current
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets.board import show
from dpbayes.ui.widgets.show import assumption, headline, numbers, sentence_instead

EXAMPLE, FILE, NEWEST = "example", "file", "made"
"""The keys of the built-in example, of a person's own file, and of a release that has just been made."""

SEND = "Next: send release.json to its readers. They check it and ask it questions on this page, without the records."
ASK, UPLOAD = "Ask this release a question below", ", or upload a release.json that you received to check it"
"""The next step of a curator, and of anyone else."""

MOST_DRAWN = 30
"""The most nodes of a graph that is drawn."""

MOST_RECORDS = 1_000_000


def opened_release(
    data: bytes, name: str, *, key: str, places: Sequence[DeltaGenerator] = (), exact: Dirichlets | None = None
) -> None:
    """Show the checks of a release file and, if all pass, an answer, the promise, the graph, and the files.

    `key` distinguishes the controls of two releases on one page. The headline, with the `name` of the release, and
    both columns may have `places` of their own. The curator may compare answers with those of the `exact` posterior.
    Errors: InputError for an unusable file.
    """
    above = places[0] if places else st.container()
    verification = kept(f"{key}.verified", data, lambda: verify(data))
    failures = [check for check in verification.checks if not check.holds]
    if failures:
        with above:
            headline("Do not use this file.")
        st.error("It is not a valid release: ask the sender for release.json again.")
        for failed in failures:
            assumption(f":red[{escaped(failed.sentence)}]", holds=False)
        return
    document, n = kept(f"{key}.document", data, lambda: read_document(data)), len(verification.checks)
    with above:
        headline(f"{escaped(name)}: {n} of {n} checks passed.")
        st.markdown(f"{ASK}{UPLOAD * (key != FILE)}." if places else SEND)
    files = st.container(horizontal=True)
    left, right = places[1:] or st.columns(2, gap="large")
    origin = f"Made on {document.drawn.time[:10]} with {document.tables.mechanism}."
    alert = st.success if "signature" in document.content else st.info
    named = named_on(document.network, Chosen(Settings()) if key == EXAMPLE else Chosen.now())
    with right:  # before the answer, which can take long
        alert(escaped(f"{origin} {signature_line(document.content)}"))
        for title, text in promise_lines(document).items():
            st.markdown(f"**{title}.** {escaped(text)}")
        small_graph(document.network, named)
        if isinstance(document.sampled, SampledSteps):
            st.caption("Arrows were chosen with noise: some can be missing or wrong.")
    with left:
        question, table = st.container(), st.container()
        reading = _reading(document.tables, key=key)
    with files:
        _files(document, reading, data, key=key)
    with question, sentence_instead(), st.spinner("Computing the answer …"):
        target, answer = _ask(document, named, reading, table, exact, key=key)
        inputs = data, reading, target, answer
        show(f"{key}.rows", inputs, lambda: released_view(document, named, reading, target, answer))
    with st.expander("Full statement and checks"):
        for title, sentences in parts_of(document).items():
            st.markdown(f"**{title}**\n" + "".join(f"\n- {escaped(sentence)}" for sentence in sentences))
        st.markdown("**Checks**")
        for check in verification.checks:
            assumption(escaped(check.sentence))
        for sentence in verification.left_out:
            st.caption(escaped(sentence))


def _loss(document: Document) -> str:
    """Return the privacy loss of a release in a few words."""
    cost, stated = document.request.cost, document.request.stated
    if stated:
        return f"ε = {amount_text(stated.epsilon)} at δ = {numeral(float(stated.delta))}"
    return f"{measure_of(cost).symbol} = {amount_text(number_of(cost))}"


def named_on(network: Network, chosen: Chosen) -> Network:
    """Return a network with what its nodes mean as their names, if they are columns of the open table."""
    if any(chosen.domains.get(name) != states for name, states in zip(network.names, network.states, strict=True)):
        return network
    said = {name: chosen.readable[name].name if name in chosen.readable else name for name in network.names}
    parents = tuple(tuple(said[name] for name in every) for every in network.parents)
    return network if len({*said.values()}) < len(said) else Network(tuple(said.values()), network.states, parents)


def released_view(document: Document, named: Network, reading: Reading, target: str, answer: str = "") -> View:
    """Return the board of the rows of a node below an answer, on a network that is `named` by what nodes mean."""
    node, request = document.network.index(target), document.request
    facts = {"release of": f"{request.dataset}: {many(request.n, 'record')}, {_loss(document)}"}
    return released_rows(named, document.tables, reading, node, answer).stating(facts)


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
    choice = "columns" if isinstance(document.sampled, SampledSteps) else "a graph, a prior"
    return {
        "Published": document.sampled.described,
        "One person": f"The privacy loss is {_loss(document)}. {person}",
        "Accuracy": document.sampled.accuracy,
        "Not protected": "Facts about groups; several or linked records; other publications about the same people; "
        f"{choice}, cut points or an ε chosen after looking at the records.{looked}",
    }


def small_graph(network: Network, named: Network) -> None:
    """Draw a graph, unless it has many nodes, and state what its nodes mean, which are the names of `named`."""
    if len(network.names) <= MOST_DRAWN:
        places = places_in_rows(layered_positions(network.names, network.edges), network.edges)
        style = dag_mask(places, network.edges)
        st.html(f'<div class="graph" role="img" aria-label="The graph" style="{style}"></div>')
        pairs = zip(network.names, named.names, strict=True)
        if meanings := ", ".join(f"{name}: {meaning}" for name, meaning in pairs if name != meaning):
            st.caption(escaped(meanings))


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
    document: Document, named: Network, reading: Reading, table: DeltaGenerator, exact: Dirichlets | None, *, key: str
) -> tuple[str, str]:
    """Answer a question about the released network, at first that of Explore; return its node and a sentence.

    Errors: those of `query`.
    """
    network = document.network
    asks = question_on(network, current())
    nodes = zip(named.names, network.names, network.states, strict=True)
    pairs = {statement(name, state): (own, state) for name, own, states in nodes for state in states}
    left, right = st.columns([2, 3])
    node = named.index(left.selectbox("How likely is", named.names, network.index(asks.target), key=f"{key}.target"))
    target, states = network.names[node], network.states[node]
    given = [text for text, (name, _) in pairs.items() if name != target]
    first = [text for text in given if target == asks.target and pairs[text] in asks.evidence.items()]
    picked = right.multiselect("if", given, first, key=f"{key}.given", placeholder="nothing else is known")
    evidence = dict(pairs[text] for text in picked)
    inputs = (document.content["hash"], reading, target, tuple(evidence.items()))
    frame, notes = kept(f"{key}.answer", inputs, lambda: _answer(document, reading, target, evidence))
    state = states.index(asks.state) if target == asks.target else network.telling_state(node)
    with table:
        if exact is not None:
            own = probability_text(float(query(network, exact.mean, target, evidence)[state]))
            warning = " Not private (curator view)." * (not Chosen.now().has_public_records)
            st.markdown(f"**The table answers {own}.**{warning}")
        if len(states) > 2:
            numbers(frame)
        for note in notes:
            st.caption(escaped(note))
    line, level = frame.iloc[state], f"{LEVEL:.0%} interval"
    interval = f" ({level}: {line[level]})" if level in line else ""
    event = statement(named.names[node], states[state]) + f" if {' and '.join(picked)}" * bool(picked)
    return target, f"How likely is {event}? This release answers {line['probability']}{interval}."


def _answer(
    document: Document, reading: Reading, target: str, evidence: dict[str, str]
) -> "tuple[pd.DataFrame, list[str]]":
    network, outcome = document.network, document.tables.outcome
    states = {"state": [state.replace(">=", "≥") for state in network.states[network.index(target)]]}
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
        download_button(label, content, file, mime, key=f"{key}.{file}", type=kind, icon=":material/download:")

    def records() -> bytes:
        return records_csv(records_of(document, n, np.random.default_rng(secrets.randbits(128)), reading))

    offer("Download release.json", "release.json", data, "application/json")
    offer("Report (HTML)", "release.html", lambda: html_report(document).encode(), "text/html")
    offer("Network (BIF)", "release.bif", lambda: released_bif(document, reading).encode(), "text/plain")
    offer("Synthetic records (CSV)", "records.csv", records, "text/csv")
