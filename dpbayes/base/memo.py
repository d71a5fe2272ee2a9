"""What has been computed, kept by whoever asks for it: a value that is passed in, never a cache of the core's own."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar, cast

from dpbayes.base.steps import Work

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

MOST = 128
"""Results that are kept."""

_UNKNOWN = object()


@dataclass(eq=False)
class Memo:
    """Results by what they were asked under; the one that was not asked for longest is forgotten first.

    Threads may share it: two that ask for the same at the same time may both compute it.
    """

    most: int = MOST
    results: dict[Hashable, object] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __reduce__(self) -> tuple[type["Memo"], tuple[int]]:
        """Have a copy, or a pickle of whoever holds it, begin with nothing kept."""
        return Memo, (self.most,)

    def once(
        self,
        key: Hashable,
        function: Callable[Arguments, Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Return `function(*arguments, **named)`, computed the first time that this function is asked with this key."""
        place = (function, key)
        known = self._known(place)
        if known is _UNKNOWN:
            known = function(*arguments, **named)
            self._keep(place, known)
        return cast("Result", known)

    def once_in_steps(
        self,
        key: Hashable,
        work: Callable[Arguments, Work[Result]],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Work[Result]:
        """Do `once` with work in steps: none where its result is kept, and no more once others have come to it.

        What is left before its end is not kept.
        """
        place, steps = (work, key), work(*arguments, **named)
        while (known := self._known(place)) is _UNKNOWN:
            try:
                step = next(steps)
            except StopIteration as end:
                known = end.value
                self._keep(place, known)
                break
            yield step
        return cast("Result", known)

    def _known(self, place: Hashable) -> object:
        """Return what is kept, which counts as asked for, or `_UNKNOWN`."""
        with self.lock:
            if place not in self.results:
                return _UNKNOWN
            known = self.results[place] = self.results.pop(place)
            return known

    def _keep(self, place: Hashable, result: object) -> None:
        with self.lock:
            self.results[place] = result
            while len(self.results) > self.most:
                del self.results[next(iter(self.results))]
