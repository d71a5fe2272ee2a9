"""What has been computed, kept by whoever asks for it: a value that is passed in, never a cache of the core's own."""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar, cast

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

MOST = 128
"""Results that are kept."""


@dataclass(eq=False)
class Memo:
    """Results by what they were asked under; the one that was not asked for longest is forgotten first."""

    most: int = MOST
    results: dict[Hashable, object] = field(default_factory=dict)

    def once(
        self,
        key: Hashable,
        function: Callable[Arguments, Result],
        *arguments: Arguments.args,
        **named: Arguments.kwargs,
    ) -> Result:
        """Return `function(*arguments, **named)`, computed the first time that this function is asked with this key."""
        place = (function, key)
        result = self.results.pop(place) if place in self.results else function(*arguments, **named)
        self.results[place] = result
        while len(self.results) > self.most:
            del self.results[next(iter(self.results))]
        return cast("Result", result)
