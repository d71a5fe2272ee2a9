"""What has been computed, kept by whoever asks for it: a value that is passed in, never a cache of the core's own."""

import threading
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar, cast

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

MOST = 128
"""Results that are kept."""


@dataclass(eq=False)
class Memo:
    """Results by what they were asked under; the one that was not asked for longest is forgotten first.

    Threads may share it: two that ask for the same at the same time may both compute it.
    """

    most: int = MOST
    results: dict[Hashable, object] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def once(
        self,
        key: Hashable,
        function: Callable[Arguments, Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Return `function(*arguments, **named)`, computed the first time that this function is asked with this key."""
        place = (function, key)
        with self.lock:
            if place in self.results:
                known = self.results[place] = self.results.pop(place)
                return cast("Result", known)
        result = function(*arguments, **named)
        with self.lock:
            self.results[place] = result
            while len(self.results) > self.most:
                del self.results[next(iter(self.results))]
        return result
