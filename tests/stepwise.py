"""Work in steps, taken step by step."""

from collections.abc import Generator
from typing import TypeVar

Step = TypeVar("Step")
Result = TypeVar("Result")


def taken(work: Generator[Step, None, Result]) -> tuple[list[Step], Result]:
    """Return everything that work yields, and its result."""
    steps = []
    while True:
        try:
            steps.append(next(work))
        except StopIteration as end:
            return steps, end.value
