"""Serve the dashboard: everything is imported before the first visitor comes, and a taken port is one sentence."""

import argparse
import gc
import importlib
import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path

from streamlit.runtime.pages_manager import PagesManager
from streamlit.web import cli

from dpbayes.base.validation import InputError, whole_number

APP = Path(__file__).resolve().parents[2] / "app.py"
HOST, PORT = "127.0.0.1", 8501
NEAR = 100
"""How many ports above a taken one are tried to name a free one."""


def main(words: Sequence[str] | None = None) -> int:
    """Serve until stopped; what stands in the way is one sentence on the error stream and exit code 2."""
    parser = argparse.ArgumentParser(
        prog="python -m dpbayes",
        description="Serve the dashboard on this computer.",
        epilog="Real releases have commands of their own, each with --help: release, learn, ledger, verify, view.",
    )
    parser.add_argument("--port", default=str(PORT), help=f"where the browser finds it (default: {PORT})")
    asked = parser.parse_args(words)
    try:
        port = checked_port(asked.port)
        if not APP.is_file():
            raise InputError(f"There is no {APP}: the dashboard is served from a checkout, by make run.")
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    serve(port)
    return 0


def checked_port(text: str) -> int:
    """Return a port that is free. Errors: InputError, which says who has it and which one is free."""
    port = whole_number("The port", text, low=1, high=65535)
    reason = _obstacle(port)
    if reason is None:
        return port
    free = next((other for other in range(max(port + 1, 1024), port + NEAR) if _obstacle(other) is None), PORT)
    instead = f"start with another port: make run PORT={free}"
    if reason is PermissionError:
        raise InputError(f"Port {port} is reserved for the system; {instead}")
    raise InputError(
        f"Port {port} is taken by {listener(port)}: open http://{HOST}:{port} if that is this dashboard, or {instead}"
    )


def _obstacle(port: int) -> type[OSError] | None:
    """Return what keeps a server from listening on this port, as a server would find out."""
    with socket.socket() as probe:
        if os.name == "posix":  # a connection that has just ended is no obstacle
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
            probe.listen()
        except OSError as error:
            return type(error)
    return None


def listener(port: int) -> str:
    """Return the command and the process that listens on a port, where the system tells."""
    sockets = _listening(port)
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if any(os.readlink(link) in sockets for link in (process / "fd").iterdir()):
                command = (process / "cmdline").read_text(errors="replace").replace("\0", " ").strip()
                return f"“{command[:100]}” (process {process.name})"
        except OSError:  # it has ended, or is somebody else's
            continue
    return "another program"


def _listening(port: int) -> set[str]:
    """Return the names that open files of listening sockets of this port have in Linux; elsewhere none."""
    lines = [line.split() for table in ("tcp", "tcp6") for line in _lines(Path("/proc/net") / table)[1:]]
    return {f"socket:[{line[9]}]" for line in lines if line[3] == "0A" and int(line[1].rpartition(":")[2], 16) == port}


def _lines(path: Path) -> list[str]:
    return path.read_text().splitlines() if path.is_file() else []


def serve(port: int) -> None:
    """Import what every page needs, say that we navigate ourselves, and run the server until it is stopped."""
    PagesManager.uses_pages_directory = False  # see dpbayes/ui/__init__.py; here nobody has come yet
    gc.disable()  # nothing of what is imported is garbage
    importlib.import_module("dpbayes.ui.session.stories")  # by it nearly all but what Streamlit's caches keep
    gc.freeze()
    gc.enable()
    cli.main(["run", str(APP), "--server.port", str(port), "--server.address", HOST], prog_name="streamlit")
