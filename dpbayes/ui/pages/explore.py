"""Explore: one question, what the public sees of its answer, and what a release costs and gives."""

from collections.abc import Hashable
from dataclasses import replace
from math import prod

import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import numeral, shortest, typed
from dpbayes.base.validation import InputError, finite_number
from dpbayes.boards.board import Panel, View
from dpbayes.boards.curator import RELEASES, CuratorInputs, shown_release
from dpbayes.boards.explore import PERSON, RecipientInputs, belief_text, explore_release, explore_table
from dpbayes.boards.which_epsilon import ToleranceInputs, which_epsilon
from dpbayes.experiments.planned_tables import PlannedTables, Tables, TrueTable, has_columns
from dpbayes.experiments.releases import at_any_epsilon
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.cpts import guess
from dpbayes.model.network import assignment
from dpbayes.model.question import Question
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import Document, read_document
from dpbayes.ui.pages.explore_rail import meanings_of, question_line, rail
from dpbayes.ui.pages.stories.opened import open_story
from dpbayes.ui.session.chosen import Chosen, kind_called, question_of
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.options import ExploreView, SimulatedTables
from dpbayes.ui.widgets.board import share, show
from dpbayes.ui.widgets.controls import box, parameter_control, plain_number, refusal
from dpbayes.ui.widgets.from_python import FACE, counts_in_python, program, show_python, value_in_python

NO_ARROWS = "The graph has no arrows yet. Draw one with *Edit* beside **Graph**, or choose a graph on *Network*."

SIMULATING = "Simulating releases …"

OF_RECORDS = 5
"""Simulated releases at each stop of a mechanism that reads the records, which takes long."""


def explore_page(chosen: Chosen) -> None:
    """Show the question, one of the two boards and the controls."""
    with st.container(key="explore"):
        main, controls = st.columns([9, 2], gap="medium")
    last = _of_session(chosen)
    release = None if chosen.is_curator else last
    with controls:
        rail(chosen, is_real=release is not None)
        use = st.container(key="use")
    with main:
        question_line(chosen)
        if chosen.is_curator and not (chosen.graph.edges or chosen.reads_records):
            st.caption(NO_ARROWS)
        if release is not None:
            _real_release(chosen, release)
        elif chosen.options("explore").view is ExploreView.EPSILON:
            _which_epsilon(chosen, use)
        else:
            with use:
                _make_a_release(chosen)
                if last is not None:
                    st.caption("*Recipient* shows what your last release answers.")
            _release(chosen)  # without a board, its refusal is the rest of the page


def _of_session(chosen: Chosen) -> Document | None:
    """Return the last release of this session, outside of stories, if it has a posterior and the table's columns."""
    from dpbayes.ui.pages.release_history import last_release  # late: a real release needs the ledger

    data = None if chosen.settings.story else last_release()
    document = None if data is None else kept("explore.release", data, lambda: read_document(data))
    if document is None or not isinstance(document.tables.outcome, ReleasedPosterior):
        return None
    return document if has_columns(document.network, chosen.network) else None


def _real_release(chosen: Chosen, document: Document) -> None:
    """Show what a real release answers."""
    asks, tables, reading = question_of(chosen), document.tables, chosen.options("release").reading
    question = replace(asks, network=document.network)
    updates, noisy = tables.outcome.updates[None], tables.outcome.noisy
    batch = replace(
        tables, outcome=replace(tables.outcome, updates=updates, noisy=None if noisy is None else noisy[None])
    )
    name = f"The release of {document.request.dataset} with {tables.guarantee.in_full}"
    inputs = RecipientInputs(lambda *_: batch, question, meanings_of(chosen), reading is Reading.NOISE_AWARE, real=name)
    with st.container(key="main"), st.container(key="picture"):
        show("real", (document.content["hash"], question.text, reading), lambda: explore_release(inputs))


def _make_a_release(chosen: Chosen) -> None:
    if not chosen.is_curator:
        return
    if st.button("Make a release", type="primary", key="make", width="stretch"):
        st.switch_page("pages/release.py")
    if not all(column.public for column in chosen.declared):
        st.caption("Before that, declare the values of all columns as public on *Data*.")
    if not chosen.has_public_records:
        st.caption("No guarantee covers an ε that is chosen by looking at this picture.")


def _release(chosen: Chosen) -> None:
    """Show the board of this seat. Errors: those of `view_of`."""
    view, value = view_of(chosen), shortest(chosen.epsilon)
    with st.container(key="main"), st.container(key="picture"), st.spinner(SIMULATING):
        show("explore", inputs_of(chosen), lambda: view, value, is_alone=True)
    python = (lambda: show_python(python_of(chosen), "explore", chosen)) if _has_python(chosen) else None
    share(view, value, python=python)


def _has_python(chosen: Chosen) -> bool:
    """Whether the numbers of the board follow from a table that this seat may see, by a mechanism that reads counts."""
    is_noise_aware = chosen.options("release").reading is Reading.NOISE_AWARE
    may_see = chosen.is_curator or chosen.has_public_records
    return is_noise_aware and may_see and not chosen.is_connected and not chosen.reads_records


def python_of(chosen: Chosen) -> str:
    """Return the code that computes the numbers of the board. Errors: InputError without a table."""
    question = question_of(chosen)
    asks = f"{question.target!r}, {question.state!r}, {dict(question.evidence)!r}"
    return program(
        FACE,
        counts_in_python(chosen),
        f"question = dp.Question(network, {asks})",
        value_in_python("mechanism", chosen.mechanism),
        "board = dp.explore(",
        f"    data, network, question, mechanism=mechanism, seat={chosen.settings.seat.value!r}, seed={chosen.seed!r}",
        ")",
        "print(board.frame.numbers)",
    )


def view_of(chosen: Chosen) -> View:
    """Return the board of this seat, without its frames. Errors: InputError if nothing can be released."""
    question, meanings = question_of(chosen), meanings_of(chosen)
    is_noise_aware = chosen.options("release").reading is Reading.NOISE_AWARE
    if not chosen.is_curator:
        mechanism_at, seed = at_any_epsilon(chosen.mechanism), chosen.seed
        recipient = RecipientInputs(
            lambda epsilon, number: shown_release(mechanism_at(epsilon), chosen.statistic, seed + number),
            question,
            meanings,
            is_noise_aware,
            chosen.mechanism.colour,
        )
        return explore_release(recipient).stating(saved_facts(chosen))
    curator = CuratorInputs(
        lambda epsilon: at_any_epsilon(chosen.mechanism)(epsilon),
        chosen.statistic,
        question,
        meanings,
        is_noise_aware,
        fourier_at=at_any_epsilon(chosen.mechanism_called("LaplaceFourier")) if chosen.network.is_binary else None,
        table=None if chosen.is_connected else chosen.dataset,
        seed=chosen.seed,
        releases=OF_RECORDS if chosen.reads_records else RELEASES,
    )
    return explore_table(curator, beside=_beside()).stating(saved_facts(chosen))


def saved_facts(chosen: Chosen) -> dict[str, str]:
    """Return what saved pictures state of the mechanism and the table."""
    facts = {"mechanism": kind_called(chosen.settings.mechanism).label, "table": chosen.data_title}
    return facts | ({"n": n} if (n := chosen.records_text) else {})


def inputs_of(chosen: Chosen) -> Hashable:
    """Return what the board depends on, without epsilon."""
    return (*_public_inputs(chosen), chosen.statistic.digest, chosen.is_curator, _beside())


def _beside() -> tuple[Panel, ...] | None:
    """Return what the open step of a story, or its summary, is about besides the answer; None without a story."""
    story = open_story()
    guess = None if story is None or story.step is None else story.step.guess
    if story is None:
        return None
    return (PERSON,) if guess is None or guess.number == "belief" else ()


def _public_inputs(chosen: Chosen) -> tuple[Hashable, ...]:
    mechanism, question = chosen.mechanism, question_of(chosen)
    values = tuple(getattr(mechanism, name) for name in parameters_of(type(mechanism)) if name != "epsilon")
    words = (question.target, question.state, tuple(question.evidence.items()))
    reading, settings = chosen.options("release").reading, chosen.settings
    return (type(mechanism), values, chosen.network, settings.prior, words, reading, chosen.seed, chosen.data_title)


# Which epsilon

UNKNOWN, MIDDLE = " (no guess is typed)", 0.5
"""What stands for an answer of which nothing is known in public, and the answer then."""


def _which_epsilon(chosen: Chosen, place: "st.delta_generator.DeltaGenerator") -> None:
    """Show the board of the least epsilon for each tolerance, and lead to a release with that epsilon.

    Errors: those of `tolerance_inputs`.
    """
    value, inputs = typed(chosen.options("explore").tolerance), tolerance_inputs(chosen)
    about = inputs.tables.text
    key = (*_public_inputs(chosen), about, inputs.tables.is_private and chosen.counts.digest, chosen.n)
    view = which_epsilon(inputs).stating(saved_facts(chosen))
    with st.container(key="main"), st.container(key="picture"), st.spinner(SIMULATING):
        least = show("which_epsilon", key, lambda: view, value).frame.numbers.get("least epsilon")
    share(view, value)
    if least is None:
        return
    with place:
        if chosen.is_curator:
            is_doubtful = UNKNOWN in about or (inputs.tables.is_private and not chosen.has_public_records)
            label = f"Make a release at ε = {shortest(least)}"
            if st.button(label, type="secondary" if is_doubtful else "primary", key="epsilon.use", width="stretch"):
                set_parameter("epsilon", least)
                st.switch_page("pages/release.py")
        if not chosen.settings.story:  # which may ask for this limit
            st.caption(belief_text(inputs.mechanism_at(least).certified))


def tolerance_inputs(chosen: Chosen, tables: Tables | None = None) -> ToleranceInputs:
    """Return what the board of the least epsilon depends on, on these tables or on those that the person chooses.

    Errors: InputError for a mechanism that reads records.
    """
    if chosen.reads_records:
        raise InputError(
            "The least ε is computed for a given graph. Choose a mechanism other than Adaptive, such as Laplace."
        )
    return ToleranceInputs(
        lambda epsilon: at_any_epsilon(chosen.mechanism)(epsilon),
        question_of(chosen),
        tables or _tables(chosen),
        meanings_of(chosen),
        chosen.options("release").reading,
        chosen.seed,
    )


def _tables(chosen: Chosen) -> Tables:
    """Offer whose releases are simulated, and public guesses about made-up tables; return these tables.

    Errors: InputError for a column with one state whose guess is not 1.
    """
    question, planned = question_of(chosen), chosen.planned_tables
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tables.line"):
        st.markdown("Simulated on" if chosen.is_curator else "Simulated on made-up tables", width="content")
        if chosen.is_curator:
            parameter_control("explore.tables", label="collapsed")
            if chosen.options("explore").tables is SimulatedTables.LOADED:
                return TrueTable(chosen.counts)
        is_published = planned.source == PlannedTables.source
        with st.popover("My guesses", key="my.guesses"):
            answer = _guess(question, "Without looking at the table, what answer do you expect?", "answer", "0 to 1", 1)
            words = "And how many records match the condition?"
            rows = _guess(question, words, "records", "number", planned.n) if question.evidence else None
    if not is_published and (answer is None or (question.evidence and rows is None)):
        st.caption("Type what you expect from public knowledge. Until then, this ε is only an example.")
    return planned if is_published and answer is rows is None else guessed(question, planned, answer, rows)


def _guess(question: Question, words: str, label: str, otherwise: str, most: int) -> float | None:
    """Offer a box for a number about a question that is known in public; return it, None if none is typed."""
    guesses: dict[tuple[str, str], float | None] = st.session_state.setdefault("guesses", {})
    place, key = (question.text, label), f"guess.{label}"
    number_guessed = guesses.get(place)
    shown = "" if number_guessed is None else typed(number_guessed)

    def take(text: str) -> None:
        number = plain_number(text, whole=most > 1)
        guesses[place] = finite_number("A guess here", number, low=most > 1, high=most) if number else None

    st.markdown(words)
    box(label, key, shown, take, label_visibility="collapsed", placeholder=otherwise, width=88)
    refusal(f"box.{key}", shown)
    return number_guessed


def guessed(question: Question, planned: PlannedTables, answer: float | None, rows: float | None) -> PlannedTables:
    """Return made-up tables that agree with guesses; what these leave open is random, the answer, or even."""
    states = dict(zip(question.network.names, question.network.states, strict=True))
    given = {name: state for name, state in question.evidence.items() if len(states[name]) > 1}
    is_published = planned.source == PlannedTables.source
    otherwise = float(question.answers(planned.probabilities)) if is_published else MIDDLE
    near = otherwise if answer is None else answer
    about = planned.n / prod(len(states[name]) for name in given) if rows is None else min(rows, planned.n)
    share = (about / planned.n) ** (1 / max(len(given), 1))
    stated = {assignment(name, state): share for name, state in given.items()}
    stated[assignment(question.target, question.state)] = near
    note = UNKNOWN if answer is None and not is_published else ""
    source = f"with an answer near {numeral(near, 2)}{note}{f' from about {about:,.0f} of them' if given else ''}"
    return replace(planned, probabilities=guess(question.network, stated), source=source)
