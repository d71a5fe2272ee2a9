"""Serve the dashboard: whatever stands in the way of a start, such as a taken port, is one sentence."""

import argparse
import os
import secrets
import signal
import socket
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import click
from streamlit.web import cli

from dpbayes.base.validation import InputError, whole_number
from dpbayes.releases.output import HOLDS, REFUSED, warn
from dpbayes.ui.server.program import APP, start_command
from dpbayes.ui.session.connections import CONNECT, DATA_ROOT, named_connections
from dpbayes.ui.session.roles import TOKEN, UPLOADS, server_token

HOST, PORT = "127.0.0.1", 8501
NAMES = (HOST, "localhost")
"""Names of the server that a browser on this computer may use: a page under another name gets no connection."""

CLASS = "0.0.0.0"
"""Where a server listens that others may open: at every address of this computer."""

ELSEWHERE = ("192.0.2.1", 9)
"""An address that nobody has (RFC 5737); a way to it is chosen, and nothing is sent."""

LEDGER = "DPBAYES_LEDGER"
NEAR = 100
"""How many ports above a taken one are tried to name a free one."""


def main(args: argparse.Namespace) -> int:
    """Serve until stopped; what stands in the way is one sentence on the error stream and exit code 2."""
    host = CLASS if args.for_class else HOST
    try:
        _name_connections(args)
        token = _begin_token()
        port = checked_port(args.port, host)
        if not APP.is_file():
            raise InputError(f"{APP} is missing: install dpbayes again or restore the file.")
        address = checked_address() if args.for_class else ""
    except InputError as error:
        warn(error)
        return REFUSED
    print(curators_address(f"http://{HOST}:{port}", token), flush=True)
    if not address:
        serve(port, ["--server.address", HOST, *_allowed(args.names)])
        return HOLDS
    os.environ[UPLOADS] = os.environ.get(UPLOADS) or "visitors"
    print(who_can_look(f"http://{address}:{port}"), flush=True)
    with class_ledger():
        serve(port, ["--server.address", CLASS, "--browser.serverAddress", address, *_allowed([address, *args.names])])
    return HOLDS


def _allowed(names: Iterable[str]) -> list[str]:
    return [word for name in (*NAMES, *names) for word in ("--server.allowedHosts", name)]


def _name_connections(args: argparse.Namespace) -> None:
    """Put what visitors may connect where every session reads it. Errors: InputError."""
    if args.data_root is not None:
        os.environ[DATA_ROOT] = args.data_root
    if args.connect:
        os.environ[CONNECT] = "\n".join(args.connect)
    named_connections()


def _begin_token() -> str:
    """Return a new token, which makes the owner of the server its curator; "" where the environment names one.

    Errors: InputError for one in the environment that could be guessed.
    """
    if server_token():
        return ""
    token = os.environ[TOKEN] = secrets.token_urlsafe(32)
    return token


def curators_address(address: str, token: str) -> str:
    """Return the sentences about the curator's address."""
    shown = token or f"VALUE-OF-{TOKEN}"  # what the environment names is not written to a log
    return (
        f"You are the curator if you open {address}/?token={shown}\n"
        "Anyone else who reaches this server is a visitor, who has no ledger, no real releases and no connections."
    )


def who_can_look(address: str) -> str:
    """Return the sentence about a server that others may open at this address."""
    temporary = "a temporary ledger, which exists until this server stops"
    ledger = "the ledger that " + LEDGER + " names" if os.environ.get(LEDGER) else temporary
    allowed = os.environ.get(UPLOADS) == "visitors"
    uploads = "An upload stays in the session of its visitor." if allowed else "Visitors cannot upload tables."
    return (
        f"Everybody on this network can open {address} as a visitor. {uploads} "
        f"Your own releases are charged to {ledger}."
    )


def checked_address() -> str:
    """Return the address of this computer in its network. Errors: InputError where it has none."""
    address = local_address()
    if address is None:
        raise InputError(
            "This computer is not connected to a network. Start the dashboard for this computer only: "
            f"{start_command()}"
        )
    return address


def local_address() -> str | None:
    """Return the address by which this computer would reach others; None without a network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(ELSEWHERE)
        except OSError:
            return None
        return str(probe.getsockname()[0])


@contextmanager
def class_ledger() -> Iterator[None]:
    """Keep a class away from the person's own ledger: it has one that ends with the block, unless one is named."""
    if os.environ.get(LEDGER):
        yield
        return
    with tempfile.TemporaryDirectory(prefix="dpbayes-class-") as folder:
        os.environ[LEDGER] = str(Path(folder) / "ledger.sqlite")
        try:
            yield
        finally:
            del os.environ[LEDGER]


def checked_port(text: str, host: str = HOST) -> int:
    """Return a port that is free. Errors: InputError, which says which one is free."""
    port = whole_number("The port", text, low=1, high=65535)
    reason = _obstacle(port, host)
    if reason is None:
        return port
    free = next((other for other in range(max(port + 1, 1024), port + NEAR) if _obstacle(other, host) is None), PORT)
    instead = f"start with another port: {start_command(for_class=host == CLASS, port=free)}"
    if reason is PermissionError:
        raise InputError(f"Port {port} is reserved for the system; {instead}")
    raise InputError(
        f"Port {port} is taken by another program: open http://{HOST}:{port} if that is this dashboard, or {instead}"
    )


def _obstacle(port: int, host: str) -> type[OSError] | None:
    """Return what keeps a server from listening on this port, as a server would find out."""
    with socket.socket() as probe:
        if os.name == "posix":  # a connection that has just ended is no obstacle
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
            probe.listen()
        except OSError as error:
            return type(error)
    return None


def serve(port: int, where: Sequence[str]) -> None:
    """Run the server until it is stopped; what surrounds this call then ends, however it was stopped."""
    former = signal.signal(signal.SIGTERM, lambda *_: sys.exit(HOLDS))
    try:
        with suppress(click.Abort):  # by the keyboard
            words = ["run", str(APP), "--server.port", str(port), *where]
            cli.main(words, prog_name="streamlit", standalone_mode=False)
    finally:
        signal.signal(signal.SIGTERM, former)
