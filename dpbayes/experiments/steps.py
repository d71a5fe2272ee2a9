"""Work in short steps, so that it can be watched, stopped and gone on with; and random streams that never notice."""

from collections.abc import Generator, Iterator
from typing import TypeVar

import numpy as np

from dpbayes.base.randomness import stream

Result = TypeVar("Result")
Work = Generator[float, None, Result]
"""Yields after every step the share of its work that is done, and returns what it found."""


def finished(work: Work[Result]) -> Result:
    """Take all steps and return what was found."""
    while True:
        try:
            next(work)
        except StopIteration as end:
            result: Result = end.value
            return result


def part_of(work: Work[Result], start: float, end: float) -> Work[Result]:
    """Take steps of work that is only a part: its share runs from `start` to `end` of the whole."""
    while True:
        try:
            share = next(work)
        except StopIteration as over:
            result: Result = over.value
            return result
        yield start + share * (end - start)


def slices(length: int, step: int) -> Iterator[slice]:
    """Yield consecutive slices of at most `step`, at least 1, that cover a length."""
    step = max(1, step)
    return (slice(start, min(start + step, length)) for start in range(0, length, step))


class Streams:
    """The streams of one study by name. Each goes on from repeat to repeat, so that blocks may be cut anywhere."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._known: dict[tuple[str | int, ...], np.random.Generator] = {}

    def __call__(self, *labels: str | int) -> np.random.Generator:
        """Return the stream of this name, where its last use left it."""
        if labels not in self._known:
            self._known[labels] = stream(self.seed, "accuracy", *labels)
        return self._known[labels]
