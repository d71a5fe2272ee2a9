"""A stand-in for the drawing of noise that counts how often it is called."""

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass
class Drawing:
    """Returns `outcome`, or does what `instead` does, and remembers that it was called."""

    outcome: bytes = b"outcome"
    instead: Callable[[], object] | None = None
    calls: list[None] = field(default_factory=list)

    def __call__(self) -> bytes:
        self.calls.append(None)
        return self.outcome if self.instead is None else self.instead()  # type: ignore[return-value]


def raising(error: BaseException) -> Drawing:
    def fail() -> None:
        raise error

    return Drawing(instead=fail)
