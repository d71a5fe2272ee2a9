"""Sessions draw whole pages one after the other, because their threads would block each other at every element.

Streamlit reads its configuration under a lock for every element that it sends. Threads that draw at the same time
switch at each of these reads: thirty pages then take twice the processor time that they take one after the other.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

PATIENCE_S = 1.0
"""Seconds after which a session draws although another session has the turn, because that one computes for long."""


class _Thread(threading.local):
    has_turn = False


@dataclass(eq=False)
class Turns:
    """A turn that one thread has at a time, in the order of arrival."""

    patience_s: float = PATIENCE_S
    semaphore: threading.Semaphore = field(default_factory=threading.Semaphore)
    taken: int = 0
    thread: _Thread = field(default_factory=_Thread)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Wait for the turn and hold it during the block; without the turn if another thread holds it for too long."""
        self._take()
        try:
            yield
        finally:
            self._give_back()

    @contextmanager
    def others_turn(self) -> Iterator[None]:
        """Release the turn during the block; a thread without the turn does nothing."""
        had = self._give_back()
        try:
            yield
        finally:
            if had:
                self._take()

    def _take(self) -> None:
        self.thread.has_turn = False
        before = -1
        while not self.thread.has_turn and before != self.taken:  # while other threads take and release the turn
            before = self.taken
            self.thread.has_turn = self.semaphore.acquire(timeout=self.patience_s)
        self.taken += self.thread.has_turn

    def _give_back(self) -> bool:
        had = self.thread.has_turn
        if had:
            self.thread.has_turn = False
            self.semaphore.release()
        return had


TURNS = Turns()
"""The turns of this server's sessions."""
