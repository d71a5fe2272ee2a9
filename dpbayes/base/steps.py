"""Work in short steps, so that it can be shown, stopped and continued."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")
Other = TypeVar("Other")


@dataclass(frozen=True, eq=False)
class Partial(Generic[Result]):
    """The state of work after a step: the completed share, and the result so far."""

    share: float
    result: Result


Work = Generator[float | Partial[Result], None, Result]
"""It yields the completed share after each step, perhaps with a partial result, and returns its result."""


def finished(work: Work[Result], progress: Callable[[float], object] = lambda share: None) -> Result:
    """Take all steps and return the result; `progress` is called with the completed share after each."""
    while True:
        try:
            step = next(work)
        except StopIteration as end:
            result: Result = end.value
            return result
        progress(step.share if isinstance(step, Partial) else step)


def mapped(work: Work[Result], change: Callable[[Result], Other]) -> Work[Other]:
    """Take steps of work, and change its results, partial ones too."""
    while True:
        try:
            step = next(work)
        except StopIteration as end:
            return change(end.value)
        yield Partial(step.share, change(step.result)) if isinstance(step, Partial) else step


def slices(length: int, step: int) -> Iterator[slice]:
    """Yield consecutive slices of at most `step`, at least 1, that cover a length."""
    step = max(1, step)
    return (slice(start, min(start + step, length)) for start in range(0, length, step))
