"""What a recipient's browser is sent holds nothing of a table but its noisy integers and n; nor does a failed draw."""

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import streamlit as st
from google.protobuf.message import Message
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest

from dpbayes.figures.style import figure_of
from dpbayes.releases import ledger, publishing
from dpbayes.releases.document import read_document
from dpbayes.releases.document.request import question_of
from dpbayes.releases.ledger import store
from dpbayes.releases.publishing import publish
from dpbayes.ui.session.settings import Settings
from tests.pages.conftest import boards, fine, open_page, press, sentences
from tests.releases import leaking
from tests.releases.leaking import TRUE, betrayed, counts_of
from tests.releases.made import opened, request_with
from tests.wire import scalars

SETTINGS = Settings(parameters=(("epsilon", 0.5),))


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the server's ledger is, with a budget for one dataset."""
    monkeypatch.setenv("DPBAYES_LEDGER", str(tmp_path / "ledger.sqlite"))
    return opened(tmp_path, budget="3")


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Message]:
    """Every message that a browser is sent, as it is sent, also what is replaced a moment later."""
    messages: list[Message] = []
    enqueue = ForwardMsgQueue.enqueue

    def kept(queue: ForwardMsgQueue, message: Any) -> None:
        messages.append(message)
        enqueue(queue, message)

    monkeypatch.setattr(ForwardMsgQueue, "enqueue", kept)
    return messages


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> dict[str, tuple[str, bytes]]:
    """The label and the content of every download, by the name of its file."""
    files: dict[str, tuple[str, bytes]] = {}
    real = st.download_button

    def kept(label: str, data: Any, *, file_name: str, **other: Any) -> bool:
        content = data() if callable(data) else data
        files[file_name] = (label, content.encode() if isinstance(content, str) else content)
        return real(label, data, file_name=file_name, **other)

    monkeypatch.setattr(st, "download_button", kept)
    return files


def all_of(messages: list[Message]) -> str:
    return "\n".join(text for message in messages for text in scalars(message))


def upload(data: bytes) -> AppTest:
    at = open_page("pages/release.py", seat="recipient")
    return fine(at.file_uploader(key="release.file").set_value(("release.json", data, "application/json")).run())


def drawn_in(at: AppTest) -> str:
    """Return all texts and numbers of the boards on the page."""
    return json.dumps(boards(at), default=lambda array: array.tolist())


def test_a_recipient_is_sent_nothing_of_the_table(
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
    sent: list[Message],
    offered: dict[str, tuple[str, bytes]],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    leaking.without_chance(monkeypatch)
    counts = counts_of(TRUE)
    request = request_with(network=leaking.NETWORK, n=counts.n)
    ledger.table_doubts(path, "garden", leaking.table_of(TRUE), remember=True)
    at = upload(publish(path, request, counts).document)
    assert boards(at)
    text = "\n".join([all_of(sent), drawn_in(at), caplog.text])
    assert "records of the dataset garden" in text
    assert not betrayed(text, counts)
    assert set(offered) == {
        *("release.json", "release.bif", "release.html", "records.csv"),
    }
    for file, (label, content) in offered.items():
        assert not betrayed("\n".join([file, label, content.decode()]), counts), file
    with store.reading(path) as (connection, books):
        kept = [event for event in books.events if event.content_hash and event.kind.value != "released"]
        secrets = [connection.content(event) for event in kept if event.kind.value != "reserved"]
    assert len(secrets) == 2
    out = [text.encode(), *(content for _, content in offered.values()), *(m.SerializeToString() for m in sent)]
    for secret in [
        *secrets,
        *(content.hex().encode() for content in secrets),
        *(event.hash.encode() for event in kept),
    ]:
        assert not any(secret in data for data in out)


def test_a_count_that_were_sent_would_be_seen(
    path: Path, monkeypatch: pytest.MonkeyPatch, sent: list[Message], offered: dict[str, tuple[str, bytes]]
) -> None:
    counts = counts_of(TRUE)
    document = publish(path, request_with(network=leaking.NETWORK, n=counts.n), counts).document
    monkeypatch.setattr("dpbayes.ui.widgets.opened_release.html_report", lambda _: f"<p>{counts.values[3]} records</p>")
    drawn = figure_of([{"type": "bar", "x": counts.values.astype(float)}], x={}, y={}, height=300)
    monkeypatch.setattr("dpbayes.boards.static.rows_figure", lambda *_, **__: drawn)
    at = upload(document)
    assert betrayed(drawn_in(at), counts)
    assert betrayed(offered["release.html"][1].decode(), counts)


# The page that draws


def make(settings: Settings) -> AppTest:
    """Make a release of the page's own table, as the curator does."""
    return press(open_page("pages/release.py", settings), "Release and spend ε = 0.5")


def test_a_draw_that_fails_on_the_page_is_one_sentence_without_a_count(
    path: Path, monkeypatch: pytest.MonkeyPatch, sent: list[Message], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    leaking.failing_draw(monkeypatch)
    at = make(SETTINGS)
    assert any("stays charged" in sentence for sentence in sentences(at))
    assert ledger.read_books(path).events[-1].kind is ledger.EventKind.RESERVED
    assert "FailedFunction" not in all_of(sent) + caplog.text


def test_the_sessions_seed_reaches_no_release(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked of OpenDP is the same whatever the seed, and the same seed does not give the same release."""
    given: list[tuple[bytes, list[int]]] = []
    real = publishing.drawn_document

    def watched(request: Any, counts: Any, *other: Any, **more: Any) -> bytes:
        given.append((question_of(request), counts.values.tolist()))
        with leaking.no_other_randomness(monkeypatch):
            return real(request, counts, *other, **more)

    monkeypatch.setattr(publishing, "drawn_document", watched)
    documents = []
    for number, seed in enumerate((5, 5, 6)):
        folder = path.parent / str(number)
        folder.mkdir()
        monkeypatch.setenv("DPBAYES_LEDGER", str(folder / "ledger.sqlite"))
        make(replace(SETTINGS, seed=seed))
        (spending,) = ledger.read_books(folder / "ledger.sqlite").of("asia")
        documents.append(ledger.outcome(folder / "ledger.sqlite", spending.row))
    assert given[0] == given[1] == given[2]
    assert len({read_document(data).sampled.integers for data in documents}) == 3
