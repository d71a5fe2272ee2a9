"""Hundreds of visitors over two processes behind nginx, as docs/serving.md describes them, without browsers."""

import asyncio
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from benchmarks.classroom import PERIOD_S, Session, memory_mb, processor_s
from benchmarks.record import Record
from tests.engines.proxied import Site, proxied

VISITORS, MOVING = 300, (20, 40, 60, 80, 100)
"""How many visitors open a page, and how many of them then move a slider once a second."""

MOVES = 15
START_S = 10
"""Until the processes have imported the pages."""

LEFT_S = 180
"""After the visitors left, until memory is looked at: Streamlit keeps a session for two minutes."""


def visitors(number: int = VISITORS) -> list[Record]:
    """Let visitors open Explore at once, let some of them move epsilon, and let all of them leave."""
    with (
        tempfile.TemporaryDirectory(prefix="dpbayes-proxied-") as folder,
        proxied(Path(folder), Path(folder) / "ledger.sqlite") as site,
    ):
        time.sleep(START_S)
        before = memories(site)
        records, during = asyncio.run(_visit(site, number))
        time.sleep(LEFT_S)
        after = memories(site)
    looks = {"before": before, f"with {number} visitors": during, "three minutes after they left": after}
    records += [
        Record(name=f"memory of process {name} {when}", value=value, unit="MB")
        for when, look in looks.items()
        for name, value in look.items()
    ]
    return records


def memories(site: Site) -> dict[str, float]:
    """Return the memory of each process."""
    return {name: memory_mb(pid) for name, pid in site.pids.items()}


async def _visit(site: Site, number: int) -> tuple[list[Record], dict[str, float]]:
    """Open all pages, and move the sliders of more and more of them; return the memory with all pages open, too."""
    stream, protocol = f"ws{site.url.removeprefix('http')}/_stcore/stream", [Subprotocol("streamlit")]
    async with AsyncExitStack() as stack:
        wires = [connect(stream, max_size=None, subprotocols=protocol) for _ in range(number)]
        clients = [Session(await stack.enter_async_context(wire), "explore") for wire in wires]
        start = time.perf_counter()

        async def enter(client: Session) -> float:
            await client.open()
            return time.perf_counter() - start

        waited = await asyncio.gather(*(enter(client) for client in clients))
        records = [
            Record(name=f"{number} visitors open Explore at once: median", value=statistics.median(waited), unit="s"),
            Record(name=f"{number} visitors open Explore at once: last", value=max(waited), unit="s"),
        ]
        during = memories(site)
        for moving in (size for size in MOVING if size <= number):
            records += await _moves(site, clients[:moving])
        return records, during


async def _moves(site: Site, clients: list[Session]) -> list[Record]:
    """Let clients move their sliders once a second, spread over the second."""
    for client in clients:
        client.took_ms.clear()
    start, used = time.perf_counter(), {name: processor_s(pid) for name, pid in site.pids.items()}

    async def attend(client: Session, first_s: float) -> None:
        for turn in range(MOVES):
            await client.move(start + first_s + turn * PERIOD_S)

    await asyncio.gather(*(attend(client, PERIOD_S * i / len(clients)) for i, client in enumerate(clients)))
    took = [milliseconds for client in clients for milliseconds in client.took_ms]
    name = f"{len(clients)} of them move once a second"
    busy = [processor_s(pid) - used[name] for name, pid in site.pids.items()]
    return [
        Record(name=f"{name}: median", value=statistics.median(took), unit="ms"),
        Record(name=f"{name}: 95%", value=statistics.quantiles(took, n=20)[-1], unit="ms"),
        Record(name=f"{name}: processor of a move", value=1000 * sum(busy) / len(took), unit="ms"),
        Record(name=f"{name}: largest share of moves in a process", value=max(busy) / sum(busy), unit=""),
    ]
