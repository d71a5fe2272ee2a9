"""The documentation site, as far as it can be checked without the environment that builds it."""

import ast
import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import dpbayes as dp
from docs.site import check, notebook_pages, stage, theory
from tests.notebooks import read
from tests.test_docs import ROOT
from tests.test_notebooks import FIGURE, NOTEBOOKS

CONFIG = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]


def pages_of(nav: Any) -> list[str]:
    """Return the pages that a part of the navigation lists."""
    if isinstance(nav, str):
        return [nav]
    parts = nav.values() if isinstance(nav, dict) else nav
    return [page for part in parts for page in pages_of(part)]


@pytest.fixture(scope="module")
def staged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that the site is built from; formulas stay LaTeX, because their converter is not installed."""
    target = tmp_path_factory.mktemp("staged") / "docs"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stage, "mathml", lambda formula: f'<div class="formula">{formula}</div>')
        stage.stage(target)
    return target


def test_the_navigation_lists_each_page_once() -> None:
    listed = pages_of(CONFIG["nav"])
    assert sorted(listed) == sorted(stage.sources())


def test_a_page_fetches_nothing_from_other_servers(staged: Path) -> None:
    assert CONFIG["theme"]["font"] is False
    assert "extra_javascript" not in CONFIG
    assert all((staged / name).exists() for name in CONFIG["extra_css"])
    texts = [path.read_text(encoding="utf-8") for path in staged.rglob("*.md")]
    assert not [text for text in texts if re.search(r'(src|srcset)="https?:|!\[[^\]]*\]\(https?:', text)]
    style = (staged / "docs/site/style.css").read_text(encoding="utf-8")
    assert "url(" not in style
    assert "@import" not in style


def test_what_a_page_shows_is_staged_beside_it(staged: Path) -> None:
    shown = 0
    for page in staged.rglob("*.md"):
        text = page.read_text(encoding="utf-8")
        for target in [*re.findall(r' src="([^"]+)"', text), *re.findall(r"!\[[^\]]*\]\(([^)]+)\)", text)]:
            assert (page.parent / target).is_file(), (page, target)
            shown += 1
    assert shown > 20


def test_every_link_between_pages_resolves(staged: Path) -> None:
    for page in staged.rglob("*.md"):
        text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            assert target.startswith(("https://", "http://127.0.0.1")) or (page.parent / target).is_file(), target


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("guide", sorted((ROOT / "docs/guides").glob("*.md")), ids=lambda path: path.stem)
def test_what_a_guide_names_is_in_the_dashboard(guide: Path) -> None:
    """Names of pages, stories and buttons are in italics."""
    files = [
        *(ROOT / "dpbayes/ui").rglob("*.py"),
        *(ROOT / "data/stories").glob("*.toml"),
        *(ROOT / "pages").glob("*.py"),
    ]
    shown = "\n".join(map(_text, files))
    named = set(re.findall(r"(?<![*\w])\*([^*\n]+)\*(?!\*)", _text(guide))) - {"almost"}
    assert len(named) > 2
    assert not [name for name in named if name not in shown]


# Theory


def test_the_page_of_claims_is_that_of_the_registry() -> None:
    assert _text(theory.PAGE) == theory.text(), "`make theory` writes it anew"


# Reference


def documented() -> list[str]:
    pages = sorted((ROOT / "docs/reference").glob("*.md"))
    return [name for page in pages for name in re.findall(r"^::: dpbayes\.(\S+)$", _text(page), re.MULTILINE)]


def test_the_reference_has_every_public_name_once() -> None:
    (listed,) = re.findall(r"^__all__ = (.*)", _text(ROOT / "dpbayes/estimators.py"), re.MULTILINE)
    names = [*(f"api.{name}" for name in dp.__all__), *(f"plot.{name}" for name in dp.plot.__all__)]
    names += [f"estimators.{name}" for name in ast.literal_eval(listed)]
    assert sorted(documented()) == sorted(names), "each name has a line in a page of docs/reference"


# Notebooks


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_page_of_a_notebook_shows_all_of_it(path: Path, staged: Path) -> None:
    page, notebook = notebook_pages.page(path), read(path)
    drawn = notebook_pages.figures(path.stem, notebook)
    stored = [
        out["data"][FIGURE]
        for cell in notebook["cells"]
        for out in cell.get("outputs", ())
        if FIGURE in out.get("data", {})
    ]
    assert [figure.content for figure in drawn] == stored
    for cell in notebook["cells"]:
        assert "".join(cell["source"]) in page
        for output in cell.get("outputs", ()):
            assert "".join(output.get("text", "")).rstrip() in page
    for figure in drawn:
        assert f'id="{figure.name}"' in page
        script = _text(staged / stage.FIGURES / f"{figure.name}.js")
        assert json.loads(script.partition(" = ")[2].removesuffix(";\n")).keys() == {"data", "layout"}


def test_the_gallery_shows_every_figure(staged: Path) -> None:
    gallery = _text(staged / "docs/gallery.md")
    names = [figure.name for path in NOTEBOOKS for figure in notebook_pages.figures(path.stem, read(path))]
    calls = {call for path in NOTEBOOKS for call in re.findall(r"dp\.plot\.(\w+)\(", _text(path))}
    assert calls == set(dp.plot.__all__), "a figure of each kind"
    assert re.findall(r'class="figure" id="([^"]+)"', gallery) == names
    assert stage.ALL_FIGURES in _text(ROOT / "docs/gallery.md")


# Building


def test_the_check_of_the_built_site_finds_faults(tmp_path: Path) -> None:
    pages = {
        "index.html": '<h1 id="top"><a href="#top">¶</a><a href="part/two.html#ε">2</a><a href="https://a.example">a</a>',
        "part/two.html": '<h2 id="ε"><a href="../index.html">1</a><img src="p.png"><link rel="next" href="https://b.example">',
    }
    for name, page in pages.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(page, encoding="utf-8")
    (tmp_path / "part/p.png").write_bytes(b"")
    assert check.main(tmp_path) == 0
    links, loaded = (
        '<a href="nowhere.html"><a href="index.html#bottom">',
        '<img src="https://c.example/x"><img src="q.png">',
    )
    (tmp_path / "bad.html").write_text(links + loaded, encoding="utf-8")
    assert len(check.faults(tmp_path)) == 4
    assert check.main(tmp_path) == 1
