"""What a server does as it starts: answers leave at once, and the pages are imported while a browser loads."""

import asyncio
import gc
import importlib
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from dpbayes.ui.wire import open_sockets, send_at_once

IMPORTING_INTERVAL_S = 0.0005
"""How long the imports may keep the server from answering."""


@asynccontextmanager
async def starting(_: object) -> AsyncIterator[None]:
    """Prepare the server's socket, import the pages in a thread, and serve until the block ends."""
    send_at_once(open_sockets())
    imports = threading.Thread(target=_import_pages, name="imports", daemon=True)
    asyncio.get_running_loop().call_soon(imports.start)
    yield


def _import_pages() -> None:
    """Import what every page needs; the first visitor's browser, which loads meanwhile, is answered between."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(IMPORTING_INTERVAL_S)
    gc.disable()  # nothing of what is imported is garbage
    try:
        importlib.import_module("dpbayes.ui.app")
        gc.freeze()
    finally:
        gc.enable()
        sys.setswitchinterval(interval)
