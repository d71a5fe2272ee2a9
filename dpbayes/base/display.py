"""The display of values: at most ten lines in a console, a small table in a notebook, a safe file in a spreadsheet."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import accumulate, islice

from dpbayes.base.libraries import pd

_FORMULA_STARTS = ("=", "+", "-", "@")

MOST_ROWS = 12
"""Rows of a table that a notebook shows."""

MOST_LINES = 8
"""Lines below the title that a console shows."""

LONGEST = 96
"""Letters of a line that a console shows."""

WIDE, TALL = 120, 12
"""Size of a bar, in pixels."""

SHADES = ("#0072B2", "#9EC9E2")
"""Colours of the parts of a bar, in turn."""


def titled_lines(title: str, lines: Iterable[str], total: int) -> str:
    """Return a title and the first of `total` lines below it, each cut to the width of a console."""
    shown = [line if len(line) <= LONGEST else f"{line[: LONGEST - 1]}…" for line in islice(lines, MOST_LINES)]
    more = [f"and {total - len(shown):,} more"] if total > len(shown) else []
    return "\n  ".join([title, *shown, *more])


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], total: int) -> str:
    """Return a table as HTML with the first of `total` rows; a cell is text, or the SVG of `distribution_bar`."""
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    shown = [
        "".join(f"<td>{text if isinstance(text, Svg) else escape(text)}</td>" for text in row)
        for row in islice(rows, MOST_ROWS)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in shown)
    more = f"<p>and {total - len(shown):,} more rows</p>" if total > len(shown) else ""
    return f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


class Svg(str):
    """A drawing that a table shows without escaping."""

    __slots__ = ()


def distribution_bar(shares: Sequence[float]) -> Svg:
    """Return a distribution as a bar whose parts are as long as its probabilities."""
    starts = [0.0, *accumulate(shares)]
    parts = "".join(
        f'<rect x="{WIDE * start:.1f}" width="{WIDE * share:.1f}" height="{TALL}" fill="{SHADES[k % 2]}"/>'
        for k, (start, share) in enumerate(zip(starts, shares, strict=False))
    )
    return Svg(f'<svg width="{WIDE}" height="{TALL}" role="img" aria-label="distribution">{parts}</svg>')


def safe_csv(frame: "pd.DataFrame") -> bytes:
    """Return the frame as CSV whose texts cannot run as spreadsheet formulas: they get a leading apostrophe."""
    guarded = frame.rename(columns=_guarded).map(_guarded)
    return guarded.to_csv(index=False).encode()


def _guarded(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.replace("\r", " ")  # a bare carriage return opens a new line, and a new cell, in a spreadsheet
    return f"'{text}" if text.startswith("\t") or text.lstrip().startswith(_FORMULA_STARTS) else text
