"""Who a person is follows from the connection alone, and what a person may not do is a sentence."""

import asyncio
import http.client
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from starlette.types import Message, Send

from dpbayes.__main__ import main
from dpbayes.base.validation import InputError
from dpbayes.ui.pages import release_history
from dpbayes.ui.server import security, serve
from dpbayes.ui.session import roles
from dpbayes.ui.session.connections import CONNECT, DATA_ROOT, connections
from dpbayes.ui.session.roles import OWNER, REFUSALS, TOKEN, UPLOADS, VISITOR, Act
from tests.browser.serving import CURATORS, ROOT, dashboard_process, free_port, streamlit_process
from tests.wire import received, texts

REFUSED = REFUSALS[Act.READ_LEDGER]
OFFER = "Release and spend"


# What a person may do


def test_a_visitor_may_nothing_but_upload_in_a_class(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(UPLOADS, raising=False)
    assert not [act for act in Act if VISITOR.may(act)]
    monkeypatch.setenv(UPLOADS, "visitors")
    assert [act for act in Act if VISITOR.may(act)] == [Act.UPLOAD]
    assert all(OWNER.may(act) for act in Act)


@pytest.mark.parametrize("act", list(Act))
def test_a_refused_act_is_one_sentence_with_the_way_to_become_the_curator(
    act: Act, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(UPLOADS, raising=False)
    with pytest.raises(InputError) as error:
        VISITOR.require(act)
    assert str(error.value) == f"{REFUSALS[act]} {roles.HOW}"
    OWNER.require(act)


def test_the_table_of_roles_in_the_documents_is_what_the_program_permits(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (ROOT / "docs" / "serving.md").read_text(encoding="utf-8")
    rows = {line.split(" | ")[0][2:]: line.removesuffix(" |").split(" | ")[1:] for line in text.splitlines()}
    for name, who in (("curator", OWNER), ("visitor", VISITOR)):
        monkeypatch.delenv(UPLOADS, raising=False)
        permitted = ["yes" if who.may(act) else "no" for act in (Act.READ_LEDGER, Act.RELEASE, Act.CONNECT, Act.UPLOAD)]
        monkeypatch.setenv(UPLOADS, "visitors")
        uploads = "in a class" if who.may(Act.UPLOAD) and permitted[-1] == "no" else permitted[-1]
        assert rows[name] == [*permitted[:-1], uploads]


# The token


Connect = Callable[..., None]


@pytest.fixture
def connect(monkeypatch: pytest.MonkeyPatch) -> Connect:
    """What begins a connection with a cookie, as a server would know it."""
    monkeypatch.undo()
    monkeypatch.setenv(TOKEN, CURATORS)

    def begin(name: str, value: str, host: str = "127.0.0.1:8501") -> None:
        context = SimpleNamespace(headers={"Host": host}, cookies={name: value})
        monkeypatch.setattr(roles.st, "context", context)

    return begin


def test_whoever_has_the_token_is_the_curator(connect: Connect) -> None:
    connect("another", CURATORS)
    assert roles.person() is VISITOR
    connect("dpbayes-8501", CURATORS)
    assert roles.person() is OWNER
    connect("dpbayes-8501", CURATORS, host="class.example")
    assert roles.person() is VISITOR, "a cookie of another address"
    connect("dpbayes", CURATORS, host="class.example")
    assert roles.person() is OWNER


@pytest.mark.parametrize("cookie", ["", CURATORS[:-1], CURATORS + "x", CURATORS.upper(), "é", f" {CURATORS}"])
def test_whoever_has_another_one_is_a_visitor(connect: Connect, cookie: str) -> None:
    connect("dpbayes-8501", cookie)
    assert roles.person() is VISITOR


@pytest.mark.parametrize("token", ["", "short", "a token with spaces in it", "x" * 300, "0123456789abcdef;Path=/"])
def test_a_server_without_a_good_token_has_no_curator(
    connect: Connect, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setenv(TOKEN, token)
    connect("dpbayes-8501", token)
    assert roles.person() is VISITOR


def test_without_a_server_everybody_is_a_visitor(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tests of pages are the curator by a fixture alone."""
    monkeypatch.undo()
    monkeypatch.setenv(TOKEN, CURATORS)
    assert roles.person() is VISITOR


def answered(target: str, *, token: str = CURATORS, scheme: str = "http") -> tuple[int, dict[str, str], str]:
    """Return how the server answers to an address: status, headers and text."""
    sent: list[Message] = []
    path, _, query = target.partition("?")

    async def app(scope: object, receive: object, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"the app"})

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": path, "query_string": query.encode(), "scheme": scheme}
    scope["headers"] = [(b"host", b"127.0.0.1:8501")]
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(TOKEN, token)
        asyncio.run(security.secured(app)(scope, None, send))  # type: ignore[arg-type]
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, sent[1].get("body", b"").decode()


def test_the_token_leaves_the_address_at_once_and_becomes_a_cookie() -> None:
    status, headers, text = answered(f"/explore?epsilon=2&token={CURATORS}&graph=a%26b")
    assert (status, text) == (303, "")
    assert headers["location"] == "/explore?epsilon=2&graph=a%26b"
    assert headers["set-cookie"] == f"dpbayes-8501={CURATORS}; Path=/; HttpOnly; SameSite=Strict"
    assert headers["cache-control"] == "no-store"
    assert set(SECURITY) <= set(headers)
    assert answered(f"/?token={CURATORS}")[1]["location"] == "/"
    assert answered(f"/?token={CURATORS}", scheme="https")[1]["set-cookie"].endswith("; Secure")


SECURITY = ("content-security-policy", "x-content-type-options", "referrer-policy")


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example", "/%2f/"])
def test_the_token_leads_to_no_other_server(path: str) -> None:
    assert re.match(r"/[^/\\]", answered(f"{path}?token={CURATORS}")[1]["location"])


@pytest.mark.parametrize("query", ["token=", "token=wrong", f"token={CURATORS}x", f"token=wrong&token={CURATORS}"])
def test_another_token_is_refused_in_a_sentence(query: str) -> None:
    status, headers, text = answered(f"/?{query}")
    assert status == 403
    assert text == security.WRONG_TOKEN
    assert "set-cookie" not in headers
    assert set(SECURITY) <= set(headers)
    assert answered("/?token=", token="")[0] == 403, "a server without a token has no empty one"


def test_an_address_without_a_token_is_the_apps() -> None:
    assert answered("/explore?epsilon=2") == (200, answered("/")[1], "the app")


# A server


@pytest.fixture(scope="module", params=["python -m dpbayes", "streamlit run app.py"])
def url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(DATA_ROOT, str(tmp_path_factory.mktemp("tables")))
        is_own = request.param == "python -m dpbayes"
        with dashboard_process(free_port()) if is_own else streamlit_process(ROOT / "app.py") as (address, _):
            yield address


def cookie_of(url: str, token: str = CURATORS) -> dict[str, str]:
    return {"Cookie": f"{roles.cookie_name(url)}={token}"}


def test_the_ledger_is_sent_to_whoever_has_the_token(url: str) -> None:
    assert OFFER in texts(received(url, "release", headers=cookie_of(url)))
    for headers in ({}, cookie_of(url, "wrong"), {"Authorization": CURATORS}, {"Cookie": f"dpbayes={CURATORS}"}):
        sent = texts(received(url, "release", headers=headers))
        assert "upload a release.json" in sent
        assert OFFER not in sent
        assert "Total budget" not in sent


def test_connections_are_offered_to_whoever_has_the_token(url: str) -> None:
    link = {"data": "connected:files"}
    assert "Files below the data root" in texts(received(url, "data", link, headers=cookie_of(url)))
    for query in ({}, link, {"data": "connected"}):
        sent = texts(received(url, "data", query))
        assert "Files below the data root" not in sent
    assert REFUSALS[Act.CONNECT] in sent


def test_an_address_with_the_token_makes_a_curator_of_whoever_opens_it(url: str) -> None:
    wire = http.client.HTTPConnection(url.removeprefix("http://"))
    wire.request("GET", f"/release?token={CURATORS}")
    answer = wire.getresponse()
    wire.close()
    assert answer.status == 303
    cookie = answer.headers["Set-Cookie"].partition(";")[0]
    assert OFFER in texts(received(url, "release", headers={"Cookie": cookie}))


def test_a_server_that_is_started_without_a_token_has_visitors_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.browser.serving.CURATORS", "")
    with streamlit_process(ROOT / "app.py") as (url, _):
        for headers in ({}, cookie_of(url, ""), cookie_of(url)):
            assert OFFER not in texts(received(url, "release", headers=headers))


def test_the_command_prints_a_new_token_at_each_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    served: list[int] = []
    monkeypatch.setattr(serve, "serve", lambda port, where: served.append(port))
    tokens = set()
    for _ in range(2):
        monkeypatch.setenv(TOKEN, "")
        assert main(["--port", str(free_port())]) == 0
        (address,) = re.findall(r"http://127\.0\.0\.1:\d+/\?token=([\w-]{40,})\n", capsys.readouterr().out)
        assert roles.is_token(address)
        tokens.add(address)
    assert len(tokens) == len(served) == 2


def test_a_token_of_the_environment_is_not_printed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "serve", lambda port, where: None)
    monkeypatch.setenv(TOKEN, CURATORS)
    assert main(["--port", str(free_port())]) == 0
    printed = capsys.readouterr().out
    assert CURATORS not in printed
    assert TOKEN in printed


def test_a_token_that_could_be_guessed_is_refused_at_the_start(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(TOKEN, "hunter2")
    assert main(["--port", str(free_port())]) == 2
    refusal = capsys.readouterr().err
    assert refusal.startswith(f"{TOKEN} must be")
    assert refusal.count("\n") == 1
    assert "hunter2" not in refusal


# Where pages get what a role may not


def test_no_page_finds_the_ledger_or_a_connection_beside_the_roles() -> None:
    sources = {path: path.read_text(encoding="utf-8") for path in (ROOT / "dpbayes" / "ui").rglob("*.py")}
    takes = {
        path.relative_to(ROOT / "dpbayes" / "ui").as_posix() for path, text in sources.items() if TAKES.search(text)
    }
    assert takes == {"pages/release.py", "pages/release_history.py"}, "whose last_release asks for the role"
    unchecked = {path.name for path, text in sources.items() if "named_connections" in text}
    assert unchecked == {"connections.py", "serve.py"}


TAKES = re.compile(r"ledger_path\(|DPBAYES_LEDGER.*Path")


@pytest.mark.parametrize(("who", "seen"), [(OWNER, b"release"), (VISITOR, None)])
def test_only_the_curator_sees_the_last_release(monkeypatch: pytest.MonkeyPatch, who: object, seen: object) -> None:
    monkeypatch.setattr(roles, "of_connection", lambda: who)
    monkeypatch.setattr(release_history, "st", SimpleNamespace(session_state={release_history.RELEASED: 1}))
    monkeypatch.setattr(release_history.ledger, "ledger_path", lambda: None)
    monkeypatch.setattr(release_history.ledger, "outcome", lambda path, row: b"release")
    assert release_history.last_release() == seen


def test_only_the_curator_has_connections(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_ROOT, str(tmp_path))
    monkeypatch.setenv(CONNECT, "clinic=duckdb:/x/clinic.duckdb\nvotes=duckdb:/x/votes.duckdb")
    assert connections().names == ("clinic", "votes", "files")
    monkeypatch.setattr(roles, "of_connection", lambda: VISITOR)
    assert connections().names == ()
    for name in ("votes", "files"):
        with pytest.raises(InputError, match="no connection called"):
            connections().address(name, "x.parquet")
