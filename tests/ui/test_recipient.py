"""The recipient's seat over the wire: what a server sends is the same for two tables, whatever page is opened."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from dpbayes.base.parameters import Choice
from dpbayes.mechanisms import MECHANISMS
from dpbayes.ui.pages.stories.story import STORIES
from tests.browser.serving import ROOT, free_port, server_process, wait_for
from tests.conftest import thorough
from tests.pages.screen import options_of
from tests.ui.dashboard_as import FIRST, OTHER
from tests.wire import received

VOTES = {"data": "house_votes_84"}
PAGES = ("", *sorted(path.stem for path in (ROOT / "pages").glob("*.py") if path.stem != "home"))
SHOW_THE_TABLE = {"accuracy", "data", "explore"}
"""Pages that show a curator something of the table, as they open."""

_RANDOM = re.compile(
    r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"  # sessions, runs
    r"|[0-9a-f]{32,64}"  # files for download, by a random key of the server
    r"|(?<=bytes: .)[0-9a-f]{16}"  # frames begin with a random token, and their length follows, in any characters
    r"|(?<![0-9a-f])[0-9a-f]{16}(?![0-9a-f])"  # charts name the token
    r"|\b1\d{18}\b"  # when an address was written
    r"|(?<=uuid: .)[0-9a-f]{5}\b|(?<=T_)[0-9a-f]{5}(?=_)"  # tables with a style
)


@contextmanager
def dashboards(*seats: str) -> Iterator[dict[tuple[str, str], str]]:
    """Serve the dashboard in each seat, over each of two tables; yield the addresses."""
    ports = {(seat, table): str(free_port()) for seat in seats for table in (FIRST, OTHER)}
    urls = {served: f"http://127.0.0.1:{port}" for served, port in ports.items()}
    words = [":".join((*served, port)) for served, port in ports.items()]
    # Some ids of elements contain a hash of Python.
    command = ["env", "PYTHONHASHSEED=0", sys.executable, "-m", "tests.ui.dashboard_as", *words]
    first, *others = urls.values()
    with server_process(command, first, cwd=ROOT, path=ROOT) as server:
        assert all(wait_for(server, url) for url in others)
        yield urls


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[tuple[str, str], str]]:
    """The addresses of the servers, by seat and table."""
    with dashboards("recipient", "curator") as urls:
        yield urls


def messages(url: str, page: str, query: dict[str, str]) -> list[str]:
    """Return the messages of a page as texts, without what is random in each session and spinners, which need time."""
    sent = received(url, page, query)
    return [_RANDOM.sub("·", _content(message)) for message in sent if not message.delta.HasField("new_transient")]


def _content(message: ForwardMsg) -> str:
    message.ClearField("hash")
    message.ClearField("metadata")
    return str(message)


LINKS = ({}, VOTES, {"data": "upload"}, {"data": "connected"})
STEPS = [
    (step.page, {"story": key, "step": str(number)})
    for key, story in STORIES.items()
    for number, step in enumerate(story.steps, 1)
]

CHOICES = [
    (page, {name: str(option.value)})
    for page in PAGES
    for name, note in options_of(page).items()
    if isinstance(note, Choice)
    for option in note.options
]
"""Every choice on a page, one at a time."""

OF_MECHANISMS = [(page, {"mechanism": kind.__name__}) for page in ("explore", "proofs", "lab") for kind in MECHANISMS]

ADAPTIVE = [("explore", {"mechanism": "AdaptiveTables"}), ("proofs", {"mechanism": "AdaptiveTables", "records": "20"})]

CASES = thorough(
    [*((page, query) for page in PAGES for query in LINKS), *STEPS, *CHOICES, *OF_MECHANISMS, *ADAPTIVE],
    sample=[
        ("", {}),
        ("data", {}),
        ("data", VOTES),
        ("release", {}),
        ("explore", {}),
        ADAPTIVE[0],
        STEPS[-1],
    ],
)


SEEN_BY_A_CURATOR = thorough(
    [(page, query) for page, query in CASES if page in SHOW_THE_TABLE and query in ({}, VOTES)],
    sample=[("data", {})],  # what a curator sees of Explore takes ten seconds
)


@pytest.mark.parametrize(("page", "query"), CASES, ids=str)
def test_a_recipient_is_sent_the_same_for_two_tables(
    servers: dict[tuple[str, str], str], page: str, query: dict[str, str]
) -> None:
    first, other = (messages(servers["recipient", table], page, query) for table in (FIRST, OTHER))
    assert len(first) > 10
    assert first == other
    assert "(curator view)" not in "".join(first)


@pytest.mark.parametrize(("page", "query"), SEEN_BY_A_CURATOR, ids=str)
def test_what_a_recipient_must_not_see_would_be_found(
    servers: dict[tuple[str, str], str], page: str, query: dict[str, str]
) -> None:
    """The curator's seat is sent another thing, where the page shows something of the table."""
    first, other = (messages(servers["curator", table], page, query) for table in (FIRST, OTHER))
    assert len(first) > 10
    assert first != other
