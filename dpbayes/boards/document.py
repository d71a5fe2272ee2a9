"""A board as one HTML document: script, styles and numbers inside, so that it opens without a server or a network."""

from base64 import b64encode
from functools import cache
from html import escape
from pathlib import Path
from string import Template

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
