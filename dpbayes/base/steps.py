"""A long axis in parts, so that little is in memory at once."""

from collections.abc import Iterator


def slices(length: int, step: int) -> Iterator[slice]:
    """Yield consecutive slices of at most `step`, at least 1, that cover a length."""
    step = max(1, step)
    return (slice(start, min(start + step, length)) for start in range(0, length, step))
