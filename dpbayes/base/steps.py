"""Work in short steps, so that it can be watched, stopped and gone on with."""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

Part = TypeVar("Part")
Result = TypeVar("Result")
Other = TypeVar("Other")


@dataclass(frozen=True, eq=False)
class Partial(Generic[Result]):
    """What work has come to after a step: the share of it that is done, and its result so far."""

    share: float
    result: Result


Work = Generator[float, None, Result]
"""Yields after every step but the last the share of its work that is done, and returns its result."""

Steps = Generator[float | Partial[Result], None, Result]
"""Yields after every step but the last the share that is done, with its result so far where that is new."""


def finished(work: Work[Result] | Steps[Result]) -> Result:
    """Take all steps and return the result."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: Result = end.value
            return result


def results(work: Generator[float | Partial[Result], None, Result]) -> Iterator[Result]:
    """Take all steps and yield the result so far whenever there is a new one, the whole one last."""
    while True:
        try:
            step = next(work)
        except StopIteration as end:
            yield end.value
            return
        if isinstance(step, Partial):
            yield step.result


def part_of(work: Work[Result], start: float, end: float) -> Work[Result]:
    """Take steps of work that is only a part: its share runs from `start` to `end` of the whole."""
    while True:
        try:
            share = next(work)
        except StopIteration as over:
            result: Result = over.value
            return result
        yield start + share * (end - start)


def in_parts(step: Callable[[int], Part], total: int) -> Steps[tuple[Part, ...]]:
    """Take `total` steps, at least one, of which number k makes the part k; the result are all parts."""
    parts = [step(0)]
    for k in range(1, total):
        yield Partial(k / total, tuple(parts))
        parts.append(step(k))
    return tuple(parts)


def mapped(steps: Steps[Result], change: Callable[[Result], Other]) -> Steps[Other]:
    """Take steps whose result is changed, each time there is one."""
    while True:
        try:
            step = next(steps)
        except StopIteration as end:
            return change(end.value)
        yield Partial(step.share, change(step.result)) if isinstance(step, Partial) else step


def slices(length: int, step: int) -> Iterator[slice]:
    """Yield consecutive slices of at most `step`, at least 1, that cover a length."""
    step = max(1, step)
    return (slice(start, min(start + step, length)) for start in range(0, length, step))
