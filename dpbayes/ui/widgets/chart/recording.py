"""Figures that no browser is shown yet: those of a page at other stops of its slider."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from dpbayes.figures.style import Figure

_figures: ContextVar[dict[str, Figure] | None] = ContextVar("figures", default=None)


@contextmanager
def recording() -> Iterator[dict[str, Figure]]:
    """Keep the figures of charts, by their keys, instead of showing them."""
    figures: dict[str, Figure] = {}
    token = _figures.set(figures)
    try:
        yield figures
    finally:
        _figures.reset(token)


def is_recording() -> bool:
    """Whether figures are recorded here."""
    return _figures.get() is not None


def recorded(key: str, figure: Figure) -> bool:
    """Keep a figure if figures are recorded here; return whether they are."""
    figures = _figures.get()
    if figures is not None:
        figures[key] = figure
    return figures is not None
