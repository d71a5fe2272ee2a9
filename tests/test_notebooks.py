"""The notebooks run, and show what they have stored; `make notebooks` stores it anew."""

import base64
import time
from pathlib import Path
from typing import Any

import pytest

from tests.notebooks import FIGURE, FOLDER, executed, read, texts

NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
LONGEST_S = 20
"""Processor time that a notebook takes at most."""


def figures(notebook: dict[str, Any]) -> list[list[str]]:
    """Return the names of the curves of every figure that is shown."""
    outputs = [out for cell in notebook["cells"] for out in cell.get("outputs", ()) if FIGURE in out.get("data", {})]
    return [[trace.get("name", "") for trace in out["data"][FIGURE]["data"]] for out in outputs]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_what_it_has_stored(path: Path) -> None:
    stored, started = read(path), time.process_time()
    again = executed(stored)
    assert time.process_time() - started < LONGEST_S
    assert texts(again) == texts(stored)
    assert figures(again) == figures(stored)


def test_there_are_six_notebooks_of_the_current_format() -> None:
    assert len(NOTEBOOKS) == 6
    for path in NOTEBOOKS:
        notebook = read(path)
        assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
        names = [cell["id"] for cell in notebook["cells"]]
        assert len(names) == len(set(names))
        assert notebook["cells"][0]["source"][0].startswith("# ")
        link = f"](https://colab.research.google.com/github/dpbayes/dpbayes/blob/main/docs/notebooks/{path.name})"
        assert link in "".join(notebook["cells"][0]["source"])
        assert link in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_every_figure_has_a_static_picture_beside_it() -> None:
    outputs = [out for path in NOTEBOOKS for cell in read(path)["cells"] for out in cell.get("outputs", ())]
    figures = [out["data"] for out in outputs if FIGURE in out.get("data", {})]
    assert len(figures) >= 5
    assert all(base64.b64decode(figure["image/png"]).startswith(b"\x89PNG") for figure in figures)


def test_the_notebooks_import_the_face_alone() -> None:
    code = "".join(line for path in NOTEBOOKS for cell in read(path)["cells"] for line in cell["source"])
    assert "import dpbayes as dp" in code
    assert "dpbayes." not in code
    assert "from dpbayes" not in code


def test_a_changed_output_would_be_seen() -> None:
    notebook = read(NOTEBOOKS[0])
    changed = executed(notebook | {"cells": [{"cell_type": "code", "source": ["print(1)\n", "2"], "outputs": []}]})
    assert texts(changed) == [["1\n", "2"]]
