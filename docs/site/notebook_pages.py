"""Convert the notebooks to pages of the documentation site: text, code, printed results and figures."""

import html
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FIGURE = "application/vnd.plotly.v1+json"
LIBRARY = "plotly-cartesian.min.js"
SCRIPTS = "../figures/"
"""Where the scripts of figures are, seen from a page in a folder of docs/."""


@dataclass(frozen=True)
class NotebookFigure:
    """A figure of a notebook: its name, the code that draws it, and Plotly's data and layout."""

    name: str
    code: str
    content: dict[str, Any]

    @property
    def script(self) -> str:
        """The script that makes the figure known to `figures.js`."""
        data = json.dumps({part: self.content[part] for part in ("data", "layout")}, ensure_ascii=False)
        return f"(window.dpbayesFigures ??= {{}})[{json.dumps(self.name)}] = {data};\n"

    @property
    def place(self) -> str:
        """The HTML element into which the figure is drawn."""
        label = html.escape(f"Figure of {self.code}", quote=True)
        return f'<div class="figure" id="{self.name}" role="img" aria-label="{label}"></div>'


def title(notebook: dict[str, Any]) -> str:
    """Return the title of a notebook.

    Args:
        notebook: The notebook's JSON.

    Returns:
        The first heading.
    """
    first = "".join(notebook["cells"][0]["source"])
    return first.splitlines()[0].removeprefix("# ")


def figures(name: str, notebook: dict[str, Any]) -> list[NotebookFigure]:
    """Return the figures that a notebook shows, in order.

    Args:
        name: The file's name without its ending.
        notebook: The notebook's JSON.

    Returns:
        The figures; each is named after the notebook and the number of its cell.
    """
    drawn = []
    for number, cell in enumerate(notebook["cells"]):
        for output in cell.get("outputs", ()):
            if FIGURE in output.get("data", {}):
                call = "".join(cell["source"]).rstrip().splitlines()[-1]
                drawn.append(NotebookFigure(f"{name}-{number}", call, output["data"][FIGURE]))
    return drawn


def page(path: Path) -> str:
    """Return a notebook as the Markdown of a page.

    Args:
        path: The notebook's file.

    Returns:
        Its text, its code with what the code printed, and places for its figures.
    """
    notebook = json.loads(path.read_text(encoding="utf-8"))
    drawn = iter(figures(path.stem, notebook))
    parts, names = [], []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(source)
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            if FIGURE in output.get("data", {}):
                figure = next(drawn)
                names.append(figure.name)
                parts.append(figure.place)
            else:
                parts.append(_printed(output))
    return "\n\n".join([*parts, _source(path), scripts(names)]) + "\n"


def _printed(output: dict[str, Any]) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        table = re.sub(r"\n\s*\n", "\n", "".join(data["text/html"]))
        return f'<div class="output">\n{table.strip()}\n</div>'
    text = "".join(output.get("text") or data["text/plain"])
    return f"``` {{ .text .output }}\n{text.rstrip()}\n```"


def _source(path: Path) -> str:
    return f"This page shows the notebook `docs/notebooks/{path.name}`."


def scripts(names: list[str]) -> str:
    """Return the HTML that loads figures and draws them.

    Args:
        names: The figures' names.

    Returns:
        Elements `script`, or nothing if there is no figure.
    """
    files = [LIBRARY, *(f"{name}.js" for name in names), "figures.js"] if names else []
    return "\n".join(f'<script src="{SCRIPTS}{file}"></script>' for file in files)
