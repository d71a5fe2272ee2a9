"""A memo of computed results, which the caller owns and passes; the core has no cache of its own."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar, cast

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

MOST = 128
"""The number of stored results."""

_UNKNOWN = object()


@dataclass(eq=False)
class _Kept:
    """One result, and the lock of the thread that computes it."""

    result: object = _UNKNOWN
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)


@dataclass(eq=False)
class Memo:
    """Results by their function and key; the one used longest ago is forgotten first.

    Threads may share it: if several need the same result, one computes it and the others wait. A computation must
    not wait for another thread that waits for its result.
    """

    most: int = MOST
    results: dict[Hashable, _Kept] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __reduce__(self) -> tuple[type["Memo"], tuple[int]]:
        """Let a copy, or a pickle of an object that contains it, begin empty."""
        return Memo, (self.most,)

    def once(
        self,
        key: Hashable,
        function: Callable[Arguments, Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Return `function(*arguments, **named)`, computed the first time that this function is called with this key.

        The function is compared with `==`: a bound method of an object that is made anew each time is always another.
        """
        entry = self._entry((function, key))
        if entry.result is _UNKNOWN:
            with entry.lock:
                if entry.result is _UNKNOWN:  # no other thread was faster
                    entry.result = function(*arguments, **named)
        return cast("Result", entry.result)

    def clear(self) -> None:
        """Forget all results. A thread that computes one still returns it."""
        with self.lock:
            self.results.clear()

    def _entry(self, place: Hashable) -> _Kept:
        """Return the entry of this place, which becomes the most recently used one."""
        with self.lock:
            entry = self.results[place] = self.results.pop(place) if place in self.results else _Kept()
            while len(self.results) > self.most:
                del self.results[next(iter(self.results))]
            return entry
