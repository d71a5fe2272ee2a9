"""What a server does as it starts: answers leave at once, and the pages are imported while a browser loads."""

import asyncio
import gc
import importlib
import os
import socket
import stat
import sys
import threading
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

OPEN = Path("/dev/fd")
"""Where Linux and macOS list what a process has open; elsewhere there is none, and what was opened stays as it was."""

IMPORTING_INTERVAL_S = 0.0005
"""How long the imports may keep the server from answering."""

RUNNING_INTERVAL_S = 0.02
"""How long a page may: what belongs together is then sent together, and the browser draws once, not three times."""


@asynccontextmanager
async def starting(_: object) -> AsyncIterator[None]:
    """Prepare the server's socket, import the pages in a thread, and serve until the block ends."""
    send_at_once(open_sockets())
    imports = threading.Thread(target=_import_pages, name="imports", daemon=True)
    asyncio.get_running_loop().call_soon(imports.start)
    yield


def _import_pages() -> None:
    """Import what every page needs; the first visitor's browser, which loads meanwhile, is answered between."""
    sys.setswitchinterval(IMPORTING_INTERVAL_S)
    gc.disable()  # nothing of what is imported is garbage
    try:
        importlib.import_module("dpbayes.ui.app")
        gc.freeze()
    finally:
        gc.enable()
        sys.setswitchinterval(RUNNING_INTERVAL_S)


def send_at_once(sockets: Iterable[socket.socket]) -> None:
    """Turn off the wait of TCP sockets (Nagle's algorithm), and of the connections that listening ones accept later.

    Streamlit makes its listening socket without naming a protocol, and asyncio turns the wait off only where TCP is
    named: a file of the page, which leaves in two parts, then takes 44 ms instead of 1.
    """
    for open_socket in sockets:
        if open_socket.family in (socket.AF_INET, socket.AF_INET6) and open_socket.type == socket.SOCK_STREAM:
            open_socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def open_sockets() -> Iterator[socket.socket]:
    """Yield the sockets that this process has open, each as a copy of its number, which is closed again."""
    for name in os.listdir(OPEN) if OPEN.is_dir() else ():
        with suppress(OSError):  # it was closed meanwhile
            if stat.S_ISSOCK(os.fstat(int(name)).st_mode):
                with socket.socket(fileno=os.dup(int(name))) as copy:
                    yield copy
