"""A memo of computed results, which the caller owns and passes; the core has no cache of its own."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, ParamSpec, TypeVar, cast

from dpbayes.base.steps import Partial, Work

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

MOST = 128
"""The number of stored results."""

_UNKNOWN = object()


@dataclass(eq=False)
class _Kept:
    """One result, or the work on it: its `steps`, and the value of the `last` step."""

    result: object = _UNKNOWN
    steps: Work[Any] | None = None
    last: float | Partial[Any] | None = None
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

    def once_in_steps(
        self,
        key: Hashable,
        work: Callable[Arguments, Work[Result]],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Work[Result]:
        """Do `once` with work in steps: without a step if its result is stored.

        Threads that need the same result take turns with the steps of one work. A later thread begins with the value
        of the last step, and continues work that another thread left unfinished.
        """
        entry = self._entry((work, key))
        if entry.result is _UNKNOWN and entry.last is not None:
            yield entry.last
        while entry.result is _UNKNOWN:
            with entry.lock:
                if entry.result is not _UNKNOWN:
                    break
                steps = entry.steps = entry.steps or work(*arguments, **named)
                try:
                    step = entry.last = next(steps)
                except StopIteration as end:
                    entry.result, entry.steps, entry.last = end.value, None, None
                    break
                except BaseException:
                    entry.steps = entry.last = None
                    raise
            yield step
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
