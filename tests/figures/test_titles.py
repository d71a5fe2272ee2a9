"""The axes of all pictures have titles of one form: a name, a comma and a unit."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpbayes

ROOT = Path(dpbayes.__file__).parent
UNITS = r"\((nats|counts|records|throws|probability|Hellinger distance)\b[^)]*\)$"
"""A unit in parentheses at the end of a title."""


def texts_of(source: str) -> Iterator[str]:
    """Yield the texts of a module without its docstrings."""
    tree = ast.parse(source)
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


@pytest.mark.parametrize("path", sorted((ROOT / "figures").glob("*.py")), ids=lambda path: path.name)
def test_a_title_has_its_unit_after_a_comma(path: Path) -> None:
    assert [text for text in texts_of(path.read_text(encoding="utf-8")) if re.search(UNITS, text)] == []


def test_a_unit_in_parentheses_is_found() -> None:
    assert re.search(UNITS, "privacy loss (nats)")
    assert not re.search(UNITS, "privacy loss, nats")
    assert not re.search(UNITS, "records (not private)")
