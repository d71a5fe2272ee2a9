"""Collect the pages of the documentation site in build/docs, for `make docs`.

The documents stay where they are and keep their paths, so that their links work here and in the repository. What a
static site cannot show is converted: notebooks become pages, and formulas become MathML, which browsers draw without a
script. Nothing here imports dpbayes: its environment is another one.
"""

import json
import re
import shutil
import unicodedata
from pathlib import Path

from docs.site import notebook_pages

ROOT = Path(__file__).parents[2]
TARGET = ROOT / "build" / "docs"
NOTEBOOKS = "docs/notebooks"
FIGURES = "docs/figures"

FORMULA = re.compile(r"^```math\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
ALPHABET = re.compile(r'<(mi|mn) mathvariant="(script|double-struck|bold)">([^<]*)<')
TO_NOTEBOOK = re.compile(r"\]\(([^)\s:]+)\.ipynb\)")
BAR = "&#x0007C;</mo>"
"""How the bar of an absolute value is written: a browser takes it for a relation, and puts space around it."""

LONG = 60
"""Characters of a formula that is wider than a small screen."""

ALL_FIGURES = "<!-- the figures of the notebooks -->"
"""Where the gallery shows them on the site; in the repository, the notebooks show them."""


def sources(root: Path = ROOT) -> dict[str, Path]:
    """Return the pages of the site.

    Args:
        root: The folder of the project.

    Returns:
        The file that each page is made of, by the page's path.
    """
    documents = [*root.glob("*.md"), *(root / "docs").rglob("*.md")]
    pages = {path.relative_to(root).as_posix(): path for path in sorted(documents)}
    notebooks = sorted((root / NOTEBOOKS).glob("*.ipynb"))
    return pages | {f"{NOTEBOOKS}/{path.stem}.md": path for path in notebooks}


def text(path: Path) -> str:
    """Return the Markdown of a page.

    Args:
        path: A document or a notebook.

    Returns:
        The text, with links to the pages of notebooks, formulas in MathML, and places for figures.
    """
    if path.suffix == ".ipynb":
        return notebook_pages.page(path)
    content = TO_NOTEBOOK.sub(r"](\1.md)", path.read_text(encoding="utf-8"))
    return FORMULA.sub(lambda match: mathml(match[1]), content).replace(ALL_FIGURES, gallery())


def mathml(formula: str) -> str:
    """Return a formula as an HTML block.

    Args:
        formula: The formula in LaTeX.

    Returns:
        MathML, which a browser draws without a script.
    """
    from latex2mathml.converter import convert

    drawn = convert(formula, display="block")
    drawn = drawn.replace(f">{BAR}", f' lspace="0" rspace="0">{BAR}')
    drawn = ALPHABET.sub(lambda match: f"<{match[1]}>{letter(match[2], match[3])}<", drawn)
    focus = ' tabindex="0"' if len(formula) > LONG else ""  # so that the keyboard can scroll it
    return f'<div class="formula"{focus}>{drawn}</div>'


def letter(alphabet: str, sign: str) -> str:
    """Return a letter of another alphabet: browsers do not read the attribute that once named it.

    Args:
        alphabet: "script", "double-struck" or "bold".
        sign: A Latin letter or a digit.

    Returns:
        One character.
    """
    name = unicodedata.name(sign).replace("LATIN ", "").replace("LETTER ", "")
    try:
        return unicodedata.lookup(f"MATHEMATICAL {alphabet.upper()} {name}")
    except KeyError:  # the oldest of these have no such prefix
        return unicodedata.lookup(f"{alphabet.upper()} {name}")


def gallery() -> str:
    """Return all figures of the notebooks, each below a link to its notebook.

    Returns:
        Markdown.
    """
    parts, names = [], []
    for path in sorted((ROOT / NOTEBOOKS).glob("*.ipynb")):
        notebook = json.loads(path.read_text(encoding="utf-8"))
        for figure in notebook_pages.figures(path.stem, notebook):
            names.append(figure.name)
            link = f"From the notebook [{notebook_pages.title(notebook)}](notebooks/{path.stem}.md): `{figure.code}`"
            parts += [link, figure.place]
    return "\n\n".join([*parts, notebook_pages.scripts(names).replace("../", "")])


def stage(target: Path = TARGET) -> None:
    """Write all pages, pictures, figures and styles of the site, in place of what was there.

    Args:
        target: The folder to write to.
    """
    shutil.rmtree(target, ignore_errors=True)
    for name, path in sources().items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text(path), encoding="utf-8")
    for picture in (*(ROOT / "docs").glob("*.png"), ROOT / "docs" / "explore.gif"):
        shutil.copy(picture, target / "docs")
    for folder in (FIGURES, "docs/site"):
        (target / folder).mkdir()
    shutil.copy(ROOT / "docs/site/style.css", target / "docs/site")
    shutil.copy(ROOT / "docs/site/figures.js", target / FIGURES)
    shutil.copy(ROOT / "static" / notebook_pages.LIBRARY, target / FIGURES)
    for path in (ROOT / NOTEBOOKS).glob("*.ipynb"):
        for figure in notebook_pages.figures(path.stem, json.loads(path.read_text(encoding="utf-8"))):
            (target / FIGURES / f"{figure.name}.js").write_text(figure.script, encoding="utf-8")


if __name__ == "__main__":
    stage()
