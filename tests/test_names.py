"""Names say what a thing is: a class name means one thing, a variable is a noun, and a folder's name is said once."""

import ast
import functools
import re
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "dpbayes"


CODE = [
    ROOT / "app.py",
    *(path for folder in ("dpbayes", "pages", "tests", "benchmarks") for path in (ROOT / folder).rglob("*.py")),
]


@functools.cache
def names() -> tuple[list[str], set[tuple[str, str]], set[tuple[str, str]]]:
    """Return the package's classes, all names that code gives, and the names of files, classes and keywords.

    Names that code gives are those of variables, arguments and functions, also of tests. They and the last ones are
    pairs of a file and a name as it is written.
    """
    classes, variables, others = [], set(), set()
    for path in CODE:
        file = str(path.relative_to(ROOT))
        others.add((file, path.stem))
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.ClassDef(name=name) | ast.keyword(arg=str(name)):
                    others.add((file, name))
                case _:
                    variables |= {(file, name) for name in named_by(node)}
            if isinstance(node, ast.ClassDef) and path.is_relative_to(PACKAGE):
                classes.append(node.name.lstrip("_"))
    return classes, variables, others


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
    seen = {(path, name.strip("_").lower()) for path, name in names()[1]}
    assert len(seen) > 10_000
    assert [(path, name) for path, name in seen if name in nameless] == []


VAGUE = {"asked", "each", "found", "held", "known", "thrown", "told"}
"""Words that say what happened to a value, or that it is one of several, and not what it is."""

OF_SENTENCES = {"each", "found", "known"}
"""Those of them that the name of a test may have, which is a sentence: there they stand beside the noun."""


def every_name() -> set[tuple[str, str]]:
    """Return the names of files, classes, functions, variables, arguments, fields and keywords, with their files."""
    _, variables, others = names()
    return variables | others


def words_of(name: str) -> set[str]:
    """Return the words of a name, of one in CamelCase and of one with underscores."""
    return {word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name)}


def is_vague(name: str) -> bool:
    """Whether a name has a word that says nothing of its value."""
    vague = VAGUE - OF_SENTENCES if name.startswith("test_") else VAGUE
    return bool(words_of(name) & vague)


def test_no_name_has_a_word_that_says_nothing_of_its_value() -> None:
    """Name the value: `posterior`, not `known`; `mechanism`, not `each`; `requested`, not `asked`."""
    assert len(every_name()) > 10_000
    assert sorted((file, name) for file, name in every_name() if is_vague(name)) == []


ALIKE = {
    "every page and every command has one": {"main", "program", "python_of", "share"},
    "a paper's own numbering": {"counterexample_lemma_4", "lemma_1", "lemma_2", "lemma_3", "lemma_4", "theorem_3"},
    "one thing of several kinds of experiments, tables or views": {
        *("ask", "counts_of", "network_of", "question_of", "records_of", "release", "table_of"),
    },
    "checked against the limits of its own module": {"checked_delta", "checked_epsilons"},
    "the picture of what has this name": {"audit", "network"},
}
"""Public functions of several modules that do the same in each, by what they have in common."""


def test_functions_of_one_name_do_one_thing() -> None:
    """Give a function that does something else another name, or add its name to `ALIKE`."""
    modules: dict[str, set[Path]] = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                modules.setdefault(node.name, set()).add(path)
    shared = {name for name, paths in modules.items() if len(paths) > 1}
    assert len(modules) > 1000
    assert sorted(shared - set().union(*ALIKE.values())) == []


def test_no_file_repeats_the_name_of_a_folder_that_it_is_in() -> None:
    """Neither before nor after its own name."""
    paths = [path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py")]
    assert [
        str(path)
        for path in paths
        for folder in path.parent.parts
        if path.stem.startswith(f"{folder}_") or path.stem.endswith(f"_{folder}")
    ] == []
