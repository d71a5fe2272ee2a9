"""What a slider moved for minutes leaves in the server's memory, with the project's configuration."""

import time
from pathlib import Path

import numpy as np

from benchmarks.browser import APP, move, prepare
from benchmarks.record import Record
from tests.browser.serving import chromium, streamlit_process

EVERY = 25
"""Moves between two looks at the memory."""


def resident_mb(process: int) -> float:
    """Return a process's resident memory, from Linux's own account."""
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")) / 1024


def memory(*, moves: int = 2000, seconds: float = 240) -> tuple[list[Record], list[tuple[int, float]]]:
    """Move epsilon on Release so often, or for so long; return records and all looks (moves so far, MB)."""
    with streamlit_process(APP) as (url, server), chromium() as page:
        prepare(page, f"{url}/release")
        looks, end = [(0, resident_mb(server.pid))], time.monotonic() + seconds
        for turn in range(moves):
            move(page, turn)
            if (turn + 1) % EVERY == 0:
                looks.append((turn + 1, resident_mb(server.pid)))
            if time.monotonic() > end:
                break
    done, size = (np.array(column, dtype=float) for column in zip(*looks, strict=True))
    half = len(looks) // 2
    return [
        Record(name="Server's memory before the slider moves", value=size[0], unit="MB"),
        Record(name=f"Server's memory after {done[-1]:.0f} moves", value=size[-1], unit="MB"),
        Record(name="Growth, first half", value=per_thousand(done[: half + 1], size[: half + 1]), unit="MB/1000 moves"),
        Record(name="Growth, second half", value=per_thousand(done[half:], size[half:]), unit="MB/1000 moves"),
    ], looks


def per_thousand(done: np.ndarray, size: np.ndarray) -> float:
    """Return the slope of memory in MB per 1000 moves."""
    return 1000 * float(np.polyfit(done, size, 1)[0]) if len(done) > 1 else 0.0
