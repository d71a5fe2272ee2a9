"""Names say what a thing is: a class name means one thing, a variable is a noun, and a folder's name is said once."""

import ast
import functools
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dpbayes"


CODE = [
    ROOT / "app.py",
    *(path for folder in ("dpbayes", "pages", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")),
]


@functools.cache
def names() -> tuple[list[str], set[tuple[str, str]]]:
    """Return the package's classes, and all variables, arguments and functions, those of tests too, with their files.

    What leads a name, an underscore, is no part of it.
    """
    classes, others = [], set()
    for path in CODE:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and path.is_relative_to(PACKAGE):
                classes.append(node.name.lstrip("_"))
            others |= {(str(path.relative_to(ROOT)), name.strip("_").lower()) for name in named_by(node)}
    return classes, others


def named_by(node: ast.AST) -> list[str]:
    """Return the name that a piece of code gives: to a variable, an argument, a function, a match or an import."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()) | ast.arg(arg=name):
            return [name]
        case ast.FunctionDef(name=name) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
        case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
            return [name]
        case _:
            return []


def test_class_names_are_unique() -> None:
    times = Counter(names()[0])
    assert len(times) > 200
    assert [name for name, number in times.items() if number > 1] == []


def test_a_name_says_what_a_thing_is() -> None:
    """Not what happened to it."""
    nameless = {"found", "made", "held", "some", "there", "thing", "things", "stuff", "res", "tmp", "data2"}
    seen = names()[1]
    assert len(seen) > 10_000
    assert [(path, name) for path, name in seen if name in nameless] == []


def test_no_file_repeats_the_name_of_a_folder_that_it_is_in() -> None:
    """Neither before nor after its own name."""
    paths = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]
    assert [
        str(path)
        for path in paths
        for folder in path.parent.parts
        if path.stem.startswith(f"{folder}_") or path.stem.endswith(f"_{folder}")
    ] == []
