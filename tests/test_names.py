"""A class name means one thing in the whole package."""

import ast
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dpbayes"


def test_class_names_are_unique() -> None:
    trees = (ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py"))
    names = Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    assert len(names) > 200
    assert [name for name, times in names.items() if times > 1] == []


def test_a_variable_is_called_by_what_it_is() -> None:
    """Not by what happened to it."""
    nameless = {"found", "made", "held", "some", "there"}
    seen = set()
    for path in [*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                seen.add((path.name, node.id))
            elif isinstance(node, ast.arg):
                seen.add((path.name, node.arg))
    assert len(seen) > 10_000
    assert [(path, name) for path, name in seen if name in nameless] == []


def test_no_file_repeats_the_name_of_its_folder() -> None:
    paths = [path for path in PACKAGE.rglob("*.py") if path.stem != "__init__"]
    assert [str(path) for path in paths if path.stem.startswith(f"{path.parent.name}_")] == []
