"""A class at once: sessions that each move epsilon on Explore once a second, as bare clients without a browser.

A board moves in the browser, so that the server hears only where the hand rests.
"""

import asyncio
import json
import os
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from benchmarks.record import Record
from tests.browser.serving import ROOT, dashboard_process, free_port, streamlit_process

APP = ROOT / "app.py"
SESSIONS = (1, 10, 30, 50)
PERIOD_S = 1.0
"""Each session moves its slider once in so long; all of them are spread over it evenly."""

SILENCE_S = 120
"""A server that says nothing for so long has failed."""

EVENTS = "$$STREAMLIT_INTERNAL_KEY_{}__events"
"""What Streamlit calls the widget that brings a component's events."""

EARLY = ForwardMsg.ScriptFinishedStatus.FINISHED_EARLY_FOR_RERUN

MEDIAN_MS, SLOW_MS = 150.0, 500.0
"""Longest that a move may take where 50 sessions move, in the median and in 19 of 20 cases."""

OPENING_S = {30: 3.0, 60: 5.0}
"""Longest that the last of so many sessions may wait for Explore where all open it at once on a new server."""

PROCESSOR_MS = 20.0
"""Most processor time that a move may take of a full class."""

MOST_GROWTH = 1.1
"""How many times the memory after a class may be what it was after the class before."""


BOARD = "dpbayes_view"

STOPS = ("0.5", "1", "2", "5")
"""The stops of epsilon at which hands rest, in turns."""


@dataclass
class Session:
    """One person's page as the server sees it: its board, how long the answers took, and how much was received."""

    wire: ClientConnection
    page: str
    script: str = ""
    board: str = ""
    fragment: str = ""
    kept: dict[str, None] = field(default_factory=dict)
    took_ms: list[float] = field(default_factory=list)
    bytes_received: int = 0
    messages_received: int = 0

    async def open(self) -> None:
        """Look at the page, keep what its board is called, and request all its stops."""
        message = BackMsg()
        message.rerun_script.page_name = self.page
        await self.wire.send(message.SerializeToString())
        await self._hear()
        if not self.board:
            raise RuntimeError(f"The page {self.page!r} has no board.")
        await self._tell("wanted", value=True)
        self.bytes_received = self.messages_received = 0

    async def move(self, due: float) -> None:
        """Let the hand rest at another stop, at a time that may have passed, and wait for the answer."""
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        stop = STOPS[len(self.took_ms) % len(STOPS)]
        await self._tell("rest", [stop, len(self.took_ms) + 1])
        self.took_ms.append(1000 * (time.perf_counter() - due))

    async def _tell(self, event: str, value: object) -> None:
        """Send an event of the board as a browser does, with what it keeps, and wait for the answer."""
        message = BackMsg()
        message.rerun_script.page_script_hash = self.script
        message.rerun_script.fragment_id = self.fragment
        message.rerun_script.cached_message_hashes.extend(self.kept)
        state = message.rerun_script.widget_states.widgets.add()
        state.id = EVENTS.format(self.board)
        state.json_trigger_value = json.dumps([{"event": event, "value": value}])
        await self.wire.send(message.SerializeToString())
        await self._hear()

    async def _hear(self) -> None:
        """Receive until the script has finished."""
        while True:
            content = await asyncio.wait_for(self.wire.recv(decode=False), SILENCE_S)
            self.bytes_received += len(content)
            self.messages_received += 1
            message = ForwardMsg.FromString(content)
            self.script = message.navigation.page_script_hash or self.script
            part = message.delta.new_element.bidi_component
            if part.component_name == BOARD:
                self.board, self.fragment = part.id, message.delta.fragment_id
            if message.metadata.cacheable:
                self.kept[message.hash] = None
            if message.WhichOneof("type") == "script_finished" and message.script_finished != EARLY:
                return


@dataclass(frozen=True)
class Lesson:
    """What a class saw of a page: how long its moves took, what they received, and what they took of the server."""

    took_ms: list[float]
    kib: float
    messages: float
    processor_ms: float

    @property
    def median_ms(self) -> float:
        return statistics.median(self.took_ms)

    @property
    def slow_ms(self) -> float:
        """What 19 of 20 moves stay below."""
        return statistics.quantiles(self.took_ms, n=20)[-1]


async def lesson(url: str, page: str, process: int, *, sessions: int, moves: int) -> Lesson:
    stream, protocol = f"ws{url.removeprefix('http')}/_stcore/stream", [Subprotocol("streamlit")]
    async with AsyncExitStack() as stack:
        wires = [connect(stream, max_size=None, subprotocols=protocol) for _ in range(sessions)]
        clients = [Session(await stack.enter_async_context(wire), page) for wire in wires]
        for client in clients:
            await client.open()
        start, used = time.perf_counter(), processor_s(process)

        async def attend(client: Session, first_s: float) -> None:
            for turn in range(moves):
                due = start + first_s + turn * PERIOD_S
                await client.move(due)

        await asyncio.gather(*(attend(client, PERIOD_S * i / sessions) for i, client in enumerate(clients)))
        total = sessions * moves
        return Lesson(
            took_ms=[milliseconds for client in clients for milliseconds in client.took_ms],
            kib=sum(client.bytes_received for client in clients) / total / 1024,
            messages=sum(client.messages_received for client in clients) / total,
            processor_ms=1000 * (processor_s(process) - used) / total,
        )


async def opening(url: str, page: str, *, sessions: int) -> list[float]:
    """Return after how many seconds each of these sessions, which open the page at once, has seen it."""
    stream, protocol = f"ws{url.removeprefix('http')}/_stcore/stream", [Subprotocol("streamlit")]
    async with AsyncExitStack() as stack:
        wires = [connect(stream, max_size=None, subprotocols=protocol) for _ in range(sessions)]
        clients = [Session(await stack.enter_async_context(wire), page) for wire in wires]
        start = time.perf_counter()

        async def enter(client: Session) -> float:
            await client.open()
            return time.perf_counter() - start

        return await asyncio.gather(*(enter(client) for client in clients))


def processor_s(process: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(process: int) -> float:
    """Return the memory that a process holds."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1024


@contextmanager
def _on_one_core(app: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Serve an app on the first core; the class has the others."""
    cores = os.sched_getaffinity(0)
    with streamlit_process(app) as (url, process):
        os.sched_setaffinity(process.pid, {min(cores)})
        os.sched_setaffinity(0, cores - {min(cores)} or cores)
        try:
            yield url, process
        finally:
            os.sched_setaffinity(0, cores)


def opened() -> list[Record]:
    """Let classes open Explore at once on a new server."""
    records = []
    for size, bound in OPENING_S.items():
        with dashboard_process(free_port()) as (url, _):
            waited = asyncio.run(opening(url, "explore", sessions=size))
        records.append(
            Record(name=f"{size} sessions open Explore at once: last", value=max(waited), unit="s", bound=bound)
        )
    return records


def classroom(*, sessions: tuple[int, ...] = SESSIONS, moves: int = 15) -> list[Record]:
    """Let classes of several sizes move epsilon on Explore.

    At last the largest class comes again, which must find room in the memory that the first one has left.
    """
    records = opened()
    for size in sessions:
        with _on_one_core(APP) as (url, server):
            moving = asyncio.run(lesson(url, "explore", server.pid, sessions=size, moves=moves))
            first = memory_mb(server.pid)
            asyncio.run(lesson(url, "explore", server.pid, sessions=size, moves=moves))
            again = memory_mb(server.pid)
        records += [
            *_records(f"{size} sessions move", moving, is_bound=size == max(sessions)),
            Record(
                name=f"{size} sessions, memory after another class",
                value=again,
                unit="MB",
                baseline="after the first",
                baseline_value=first,
                bound=MOST_GROWTH,
            ),
        ]
    return records


def _records(name: str, lesson: Lesson, *, is_bound: bool) -> list[Record]:
    return [
        Record(name=f"{name}: median", value=lesson.median_ms, unit="ms", bound=MEDIAN_MS if is_bound else None),
        Record(name=f"{name}: 95%", value=lesson.slow_ms, unit="ms", bound=SLOW_MS if is_bound else None),
        Record(
            name=f"{name}: processor of a move",
            value=lesson.processor_ms,
            unit="ms",
            bound=PROCESSOR_MS if is_bound else None,
        ),
        Record(name=f"{name}: received a move", value=lesson.kib, unit="KiB"),
        Record(name=f"{name}: messages", value=lesson.messages, unit="a move"),
    ]
