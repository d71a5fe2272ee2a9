"""A class name means one thing in the whole package."""

import ast
import functools
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dpbayes"


@functools.cache
def names() -> tuple[list[str], set[tuple[str, str]]]:
    """Return the package's classes, and all variables and arguments, those of tests too, with their files."""
    classes, variables = [], set()
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and path.is_relative_to(PACKAGE):
                classes.append(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                variables.add((path.name, node.id))
            elif isinstance(node, ast.arg):
                variables.add((path.name, node.arg))
    return classes, variables


def test_class_names_are_unique() -> None:
    times = Counter(names()[0])
    assert len(times) > 200
    assert [name for name, number in times.items() if number > 1] == []


def test_a_variable_is_called_by_what_it_is() -> None:
    """Not by what happened to it."""
    nameless = {"found", "made", "held", "some", "there"}
    seen = names()[1]
    assert len(seen) > 10_000
    assert [(path, name) for path, name in seen if name in nameless] == []


def test_no_file_repeats_the_name_of_its_folder() -> None:
    paths = [path for path in PACKAGE.rglob("*.py") if path.stem != "__init__"]
    assert [str(path) for path in paths if path.stem.startswith(f"{path.parent.name}_")] == []
