"""Hundreds of visitors over two processes behind nginx, as docs/serving.md describes them, without browsers."""

import asyncio
import os
import statistics
import tempfile
import time
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from benchmarks.classroom import PERIOD_S, Session, memory_mb, processor_s
from benchmarks.record import Record
from tests.engines.proxied import Site, proxied

VISITORS, MOVING = 300, (20, 40, 60, 80, 100)
"""How many visitors open a page, and how many of them then move a slider once a second."""

PROMISED, SLOW_MS = 60, 150.0
"""How many visitors may move at the same time, and how long 19 of 20 of their moves may take at most."""

OPENING_S = 15.0
"""Longest that the last of VISITORS visitors may wait for Explore, where all open it at once."""

MOST_LEFT = 1.1
"""How many times the memory with one visitor the memory of a process may be, LEFT_S after all visitors left."""

ALONE, AFTER = "with one visitor", "three minutes after they left"

MOVES = 15
PROTOCOLS = [Subprotocol("streamlit")]
START_S = 10
"""Until the processes have imported the pages."""

LEFT_S = 180
"""After the visitors left, until memory is looked at: Streamlit keeps a session for two minutes."""

FIRST_MOVES = MOVES
"""Moves of the first visitor of each process, as many as those of the others: the process then has imported and
computed what all visitors share."""


def visitors(number: int = VISITORS) -> list[Record]:
    """Let visitors open Explore at once, let some of them move epsilon, and let all of them leave."""
    with (
        tempfile.TemporaryDirectory(prefix="dpbayes-proxied-") as folder,
        proxied(Path(folder), Path(folder) / "ledger.sqlite") as site,
    ):
        time.sleep(START_S)
        looks = {"before": footprints(site)}
        asyncio.run(_first(site))
        looks[ALONE] = footprints(site)
        records, during = asyncio.run(_visit(site, number))
        looks |= during
        looks["when they left"] = footprints(site)
        time.sleep(LEFT_S)
        looks[AFTER] = footprints(site)
    records += [record for when, look in looks.items() for record in look.records(when)]
    return records + looks[AFTER].kept_since(looks[ALONE])


@dataclass(frozen=True)
class Footprint:
    """What each process holds of the system: memory in MB, and open files."""

    memory: dict[str, float]
    files: dict[str, int]

    def records(self, when: str) -> list[Record]:
        """Return a record for each process and quantity."""
        return [
            *(Record(name=f"memory of process {name} {when}", value=mb, unit="MB") for name, mb in self.memory.items()),
            *(Record(name=f"open files of process {name} {when}", value=n, unit="") for name, n in self.files.items()),
        ]

    def kept_since(self, before: "Footprint") -> list[Record]:
        """Return a record for each process: its memory beside what it was."""
        return [
            Record(
                name=f"memory of process {name} {AFTER}, beside",
                value=mb,
                unit="MB",
                baseline=ALONE,
                baseline_value=before.memory[name],
                bound=MOST_LEFT,
            )
            for name, mb in self.memory.items()
        ]


def footprints(site: Site) -> Footprint:
    """Return what each process holds now."""
    return Footprint(
        memory={name: memory_mb(pid) for name, pid in site.pids.items()},
        files={name: len(os.listdir(f"/proc/{pid}/fd")) for name, pid in site.pids.items()},
    )


async def _first(site: Site) -> None:
    """Open Explore in each process with one visitor, who moves the slider."""
    for url in site.urls.values():
        async with connect(_stream(url), max_size=None, subprotocols=PROTOCOLS) as wire:
            client = Session(wire, "explore")
            await client.open()
            for _ in range(FIRST_MOVES):
                await client.move(time.perf_counter())


def _stream(url: str) -> str:
    return f"ws{url.removeprefix('http')}/_stcore/stream"


async def _visit(site: Site, number: int) -> tuple[list[Record], dict[str, Footprint]]:
    """Open all pages, and move the sliders of more and more of them; return the footprints before and after."""
    async with AsyncExitStack() as stack:
        wires = [connect(_stream(site.url), max_size=None, subprotocols=PROTOCOLS) for _ in range(number)]
        clients = [Session(await stack.enter_async_context(wire), "explore") for wire in wires]
        start = time.perf_counter()

        async def enter(client: Session) -> float:
            await client.open()
            return time.perf_counter() - start

        waited = await asyncio.gather(*(enter(client) for client in clients))
        records = [
            Record(name=f"{number} visitors open Explore at once: median", value=statistics.median(waited), unit="s"),
            Record(
                name=f"{number} visitors open Explore at once: last",
                value=max(waited),
                unit="s",
                bound=OPENING_S if number <= VISITORS else None,
            ),
        ]
        during = {f"with {number} visitors": footprints(site)}
        for moving in (size for size in MOVING if size <= number):
            records += await _moves(site, clients[:moving])
        during[f"with {number} visitors after the moves"] = footprints(site)
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
        Record(
            name=f"{name}: 95%",
            value=statistics.quantiles(took, n=20)[-1],
            unit="ms",
            bound=SLOW_MS if len(clients) <= PROMISED else None,
        ),
        Record(name=f"{name}: processor of a move", value=1000 * sum(busy) / len(took), unit="ms"),
        Record(name=f"{name}: largest share of moves in a process", value=max(busy) / sum(busy), unit=""),
    ]
