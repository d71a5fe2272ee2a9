"""The notebooks of docs/notebooks: `python -m tests.notebooks` executes them and stores their outputs.

A notebook is executed cell by cell in one namespace, as Jupyter does, and the value of a cell's last expression is its
result. This needs nothing of Jupyter, so that the tests can do the same.
"""

import ast
import contextlib
import io
import json
from pathlib import Path
from typing import Any

from tests.browser.serving import chromium

FIGURE = "application/vnd.plotly.v1+json"
FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"

Cell = dict[str, Any]


def read(path: Path) -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """Return the notebook with the outputs of its code."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells: list[Cell] = []
    count = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell = cell | {"execution_count": count, "outputs": _outputs("".join(cell["source"]), names, count)}
        cells.append(cell)
    return notebook | {"cells": cells}


def _outputs(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    body = ast.parse(source).body
    last = ast.Expression(body.pop().value) if body and isinstance(body[-1], ast.Expr) else None
    value, printed = None, io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), f"<cell {count}>", "exec"), names)
        if last is not None:
            value = eval(compile(last, f"<cell {count}>", "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        outputs.append(
            {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": _shown(value)}
        )
    return outputs


def _shown(value: Any) -> dict[str, Any]:
    """Return a value in the forms that Jupyter shows."""
    if hasattr(value, "to_plotly_json"):
        return {FIGURE: json.loads(value.to_json()), "text/plain": ["Plotly figure"]}
    html = getattr(value, "_repr_html_", lambda: None)()
    return {"text/plain": _lines(repr(value))} | ({"text/html": _lines(html)} if html else {})


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def texts(notebook: dict[str, Any]) -> list[list[str]]:
    """Return what each code cell prints and shows as text; figures are compared elsewhere."""
    shown = []
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            outputs = cell["outputs"]
            shown.append(["".join(out.get("text") or out["data"]["text/plain"]) for out in outputs])
    return shown


def main() -> None:
    """Execute all notebooks, and store their outputs with a static picture beside every figure."""
    with chromium() as page:
        page.add_script_tag(path=FOLDER.parents[1] / "static" / "plotly-cartesian.min.js")
        for path in sorted(FOLDER.glob("*.ipynb")):
            notebook = executed(read(path))
            for cell in notebook["cells"]:
                for output in cell.get("outputs", ()):
                    if FIGURE in output.get("data", {}):
                        address = page.evaluate(PICTURE, output["data"][FIGURE])
                        output["data"]["image/png"] = address.partition(",")[2]
            path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


PICTURE = """(figure) => Plotly.toImage({data: figure.data, layout: {...figure.layout, template: undefined}},
    {format: "png", width: 700, height: 420})"""
"""The address of the picture of a figure, by Plotly's own script."""


if __name__ == "__main__":
    main()
