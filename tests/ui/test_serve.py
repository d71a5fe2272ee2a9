"""The server's start: what stands in its way is one sentence."""

import asyncio
import signal
import socket
import subprocess
import sys
from contextlib import nullcontext
from fractions import Fraction
from pathlib import Path

import pytest
from streamlit.web import cli

from benchmarks.classroom import opening
from dpbayes.__main__ import main
from dpbayes.base.validation import InputError
from dpbayes.releases.ledger import ledger_path, open_dataset
from dpbayes.ui.server import serve
from dpbayes.ui.server.serve import HOST, checked_port
from dpbayes.ui.session.connections import CONNECT, DATA_ROOT, connections
from dpbayes.ui.session.roles import UPLOADS, VISITOR, Act
from tests.browser.serving import dashboard_process, free_port, wait_for


def test_a_taken_port_is_named_with_a_free_one_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind((HOST, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(InputError, match=f"Port {port} is taken by .* make run PORT="):
            checked_port(str(port))
        assert main(["--port", str(port)]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert checked_port(str(port)) == port


@pytest.mark.parametrize("text", ["0", "65536", "-1", "eighty", ""])
def test_what_is_no_port_is_a_sentence(text: str) -> None:
    with pytest.raises(InputError, match="The port"):
        checked_port(text)


def test_what_is_imported_before_the_first_visitor_comes_is_no_more_than_needed() -> None:
    code = "import sys; import dpbayes.ui.app, dpbayes.ui.pages.explore; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "dpbayes.theory.zhang16.stealth" in loaded
    # The first picture needs none of them, and each takes long to import.
    assert not loaded & {"pandas", "pyarrow", "networkx", "scipy.stats", "scipy.optimize", "scipy.signal", "scipy.fft"}
    assert not loaded & {"openpyxl", "dpbayes.releases.ledger"}


def test_a_start_and_a_first_visit_warn_of_nothing() -> None:
    port = free_port()
    command = [sys.executable, "-m", "dpbayes", "--port", str(port)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        wait_for(server, f"http://{HOST}:{port}")
        assert len(asyncio.run(opening(f"http://{HOST}:{port}", "network", sessions=1))) == 1
    finally:
        server.terminate()
        printed = server.communicate(timeout=30)[0]
    assert f"http://{HOST}:{port}" in printed
    assert "WARNING" not in printed
    assert "ScriptRunContext" not in printed


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_server_that_is_stopped_ends_in_order(how: signal.Signals) -> None:
    """So what surrounds it ends too, as a class's ledger does."""
    with dashboard_process(free_port()) as (_, server):
        server.send_signal(how)
        assert server.wait(timeout=30) == 0


def test_what_may_be_connected_is_named_at_the_start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[int] = []
    monkeypatch.setattr(serve, "serve", lambda port, where: served.append(port))
    monkeypatch.setattr(serve, "checked_port", lambda text, host: int(text))
    for name in (DATA_ROOT, CONNECT):
        monkeypatch.setenv(name, "")
    addresses = ["--connect", "clinic=duckdb:/x/clinic.duckdb", "--connect", "spark:local[2]?table=t"]
    assert main(["--data-root", str(tmp_path), *addresses]) == 0
    assert (connections().root, connections().names) == (tmp_path, ("clinic", "2", "files"))
    assert served == [8501]


def test_an_app_that_is_missing_is_a_sentence_with_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "APP", tmp_path / "app.py")
    assert main(["--port", str(free_port())]) == 2
    assert capsys.readouterr().err == f"{tmp_path / 'app.py'} is missing: install dpbayes again or restore the file.\n"


# The local network


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What Streamlit would be started with."""
    commands: list[list[str]] = []
    monkeypatch.setattr(cli, "main", lambda words, **_: commands.append(words))
    monkeypatch.setattr(serve, "local_address", lambda: "192.0.2.7")
    monkeypatch.setattr(serve, "class_ledger", nullcontext)
    monkeypatch.setenv(UPLOADS, "")  # and as it was, at the end
    return commands


def test_usually_this_computer_alone_is_served(started: list[list[str]], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--port", str(free_port())]) == 0
    (words,) = started
    assert words[words.index("--server.address") + 1] == "127.0.0.1"
    assert "--browser.serverAddress" not in words
    said = capsys.readouterr().out
    assert "/?token=" in said
    assert "Anyone else who reaches this server is a visitor" in said
    assert said.count("\n") == 2


def test_a_class_is_served_at_an_address_it_can_open_and_who_can_look_is_said(
    started: list[list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    port = free_port()
    assert main(["--class", "--port", str(port)]) == 0
    (words,) = started
    assert words[words.index("--server.address") + 1] == "0.0.0.0"
    assert words[words.index("--browser.serverAddress") + 1] == "192.0.2.7"
    said = capsys.readouterr().out
    assert f"http://192.0.2.7:{port}" in said
    assert "Everybody on this network" in said
    assert "An upload stays in the session of its visitor" in said
    assert f"http://127.0.0.1:{port}/?token=" in said, "the curator's own does not go over the network"
    assert said.count("token=") == 1
    assert said.count("\n") == 3


def test_visitors_upload_where_a_class_is_served_unless_the_owner_forbids_it(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--port", str(free_port())]) == 0
    assert not VISITOR.may(Act.UPLOAD)
    assert main(["--class", "--port", str(free_port())]) == 0
    assert VISITOR.may(Act.UPLOAD)
    monkeypatch.setenv(UPLOADS, "none")
    assert main(["--class", "--port", str(free_port())]) == 0
    assert not VISITOR.may(Act.UPLOAD)
    assert "Visitors cannot upload tables." in capsys.readouterr().out


def test_without_a_network_nobody_else_is_served(
    started: list[list[str]], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serve, "local_address", lambda: None)
    assert main(["--class", "--port", str(free_port())]) == 2
    assert "not connected to a network" in capsys.readouterr().err
    assert not started


def test_a_port_that_is_taken_on_another_address_is_taken_for_a_class() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.2", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        assert checked_port(port) == int(port)
        with pytest.raises(InputError, match="make serve PORT="):
            checked_port(port, serve.CLASS)


def test_a_class_has_a_ledger_of_its_own_unless_one_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DPBAYES_LEDGER", raising=False)
    mine = ledger_path()
    with serve.class_ledger():
        theirs = ledger_path()
        assert theirs != mine
        assert not theirs.exists()
        open_dataset(theirs, "votes", Fraction(1), reason="the class tries it")
    assert not theirs.parent.exists(), "it ends with the server"
    assert ledger_path() == mine, "the person's own is as it was"
    monkeypatch.setenv("DPBAYES_LEDGER", "/named/ledger.db")
    with serve.class_ledger():
        assert str(ledger_path()) == "/named/ledger.db"
