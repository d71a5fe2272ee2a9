"""A board as one block of bytes, and as an HTML document that opens without a server or a network.

A block is a JSON text and the arrays that it refers to; equal parts occur once.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Figure

WEB = Path(__file__).parent / "web"

SCRIPTS = ("block.js", "moving.js", "legend.js", "slider.js", "saving.js", "chart.js", "board.js")
"""The parts of the script that draws a board, in the order in which a browser reads them."""

PLOTLY = "plotly-cartesian.min.js"

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>$title</title>
<style>
:root { color-scheme: light dark; }
body { margin: 0; padding: 1rem; background: light-dark(#ffffff, #14171c); }
h1 { margin: 0 0 0.5rem; font: 600 1.5rem system-ui, sans-serif; color: light-dark(#22262b, #fafafa); }
footer { margin-top: 0.5rem; font: 0.875rem system-ui, sans-serif; color: light-dark(#50565c, #b8bec4); }
$style
</style>
</head>
<body>
<main><h1>$title</h1><div id="board"></div></main>
<footer>$caption</footer>
<script>$plotly</script>
<script type="module">
$script
const bytes = Uint8Array.from(atob("$block"), (letter) => letter.charCodeAt(0));
const board = new Board(document.getElementById("board"), { plotly: async () => window.Plotly, rests: () => false });
board.receive(bytes);
</script>
</body>
</html>
"""


@cache
def script() -> str:
    """Return the script that defines `Board`, which draws a block."""
    return "\n".join((WEB / name).read_text(encoding="utf-8") for name in SCRIPTS)


@cache
def style() -> str:
    """Return the styles of a board."""
    return (WEB / "board.css").read_text(encoding="utf-8")


@cache
def plotly_script() -> str:
    """Return Plotly's script, which a checkout and a wheel have in different folders."""
    package = Path(__file__).resolve().parents[1]
    folders = (package / "dashboard" / "static", package.parent / "static")
    return next((folder / PLOTLY).read_text(encoding="utf-8") for folder in folders if folder.is_dir())


def document_of(block: bytes, *, title: str, caption: str) -> str:
    """Return an HTML document that draws a block.

    Args:
        block: The block of a board.
        title: The title above the board.
        caption: The line below it.

    Returns:
        An HTML document. It contains nothing else, and is always the same for the same arguments.
    """
    texts = {"title": escape(title), "caption": escape(caption), "block": b64encode(block).decode()}
    plotly = plotly_script().replace("</script", "<\\/script")
    return Template(_PAGE).substitute(texts, style=style(), plotly=plotly, script=script())


# The block

SHORT = 24
"""Characters of a text that is not worth a part of its own."""


def packed(values: Mapping[str, Any]) -> bytes:
    """Return values as one block.

    Args:
        values: JSON values, and figures among them.

    Returns:
        The length of the JSON text (32 bits, little-endian), the text, padded to four bytes, and the arrays as 32-bit
        numbers. The same values always have the same block. The text is an object with the values and their `parts`:
        {"@": k} is part k, and {"$": [start, length]} an array.
    """
    parts = _Parts()
    plain = _plain(values, parts) | {"parts": [json.loads(part) for part in parts.texts]}
    text = json.dumps(plain, allow_nan=False, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + b"".join(parts.arrays)


def _plain(value: Any, parts: "_Parts") -> Any:
    if isinstance(value, Figure):
        figure = value.plain(parts.add_array)
        layout = {name: parts.add(part) for name, part in figure["layout"].items()}
        traces = [{name: _part(value, parts) for name, value in trace.items()} for trace in figure["data"]]
        return parts.add({"data": [parts.add(trace) for trace in traces], "layout": layout})
    if isinstance(value, Mapping):
        return {key: _plain(inner, parts) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, parts) for inner in value]
    return parts.add(value) if isinstance(value, str) and len(value) > SHORT else value


def _part(value: Any, parts: "_Parts") -> Any:
    """Return a long property of a trace, which many traces have, as a part of its own."""
    is_long = isinstance(value, str | dict) and "$" not in value and len(str(value)) > SHORT
    return parts.add(value) if is_long else value


class _Parts:
    """The parts of a block, as texts, and its arrays, by their places; equal ones occur once."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}
        self.arrays: dict[bytes, tuple[int, int]] = {}
        self._size = 0

    def add(self, part: Any) -> dict[str, int]:
        """Return the place of a part."""
        return {"@": self.texts.setdefault(json.dumps(part, allow_nan=False), len(self.texts))}

    def add_array(self, numbers: FloatArray) -> dict[str, tuple[int, int]]:
        """Return the place of an array: where it begins, and how many numbers it has."""
        place = self.arrays.setdefault(numbers.astype("<f4").tobytes(), (self._size, len(numbers)))
        self._size = max(self._size, sum(place))
        return {"$": place}
