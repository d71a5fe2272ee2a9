"""From every claim of the papers to the code and the tests that name it in a docstring, behind its paper's key.

A docstring names a claim by its place, in full: "[Zhang16] Lemma 2, Lemma 3", and not "[Zhang16] Lemmas 2 and 3".
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.index import CLAIMS

_KEY = re.compile(r"\[(\w+)\]\s+(?=[A-Z])")
_SEGMENT = 200
"""How far behind a paper's key its places are looked for."""


@dataclass(frozen=True)
class Mention:
    """Where a paper is named: file, function or class ("" for the file itself), and the text behind the key."""

    path: str
    name: str
    paper: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.name}" if self.name else self.path


def mentions_under(folder: Path) -> tuple[Mention, ...]:
    """Return every mention of a paper in the docstrings under a folder, in the order of files and lines."""
    return tuple(mention for path in sorted(folder.rglob("*.py")) for mention in _mentions(path, folder.parent))


def naming(claim: Claim, mentions: Iterable[Mention]) -> tuple[Mention, ...]:
    """Return the mentions of a claim's place, as the claim states it.

    Where several claims share a number, the longest place decides: "Theorem 1, refined" is not "Theorem 1".
    """
    paper, place = claim.reference.paper, claim.reference.place
    others = {other.reference.place for other in CLAIMS if other.reference.paper == paper}
    longest_first = sorted(others | {place}, key=len, reverse=True)
    places = re.compile(rf"\b({'|'.join(map(re.escape, longest_first))})(?!\.?[\w(])", re.IGNORECASE)
    named = (mention for mention in mentions if mention.paper == paper)
    return tuple(dict.fromkeys(m for m in named if place.lower() in map(str.lower, places.findall(m.text))))


@dataclass(frozen=True)
class PaperEntry:
    """One line of the map."""

    claim: Claim
    code: tuple[Mention, ...]
    tests: tuple[Mention, ...]


def paper_map(package: Path, tests: Path) -> tuple[PaperEntry, ...]:
    """Return the entry of every claim; without the folder of tests, none is found there."""
    code, checks = mentions_under(package), mentions_under(tests)
    return tuple(PaperEntry(claim, naming(claim, code), naming(claim, checks)) for claim in CLAIMS)


def _mentions(path: Path, base: Path) -> Iterator[Mention]:
    source = path.read_text(encoding="utf-8")
    if not _KEY.search(source):
        return
    place = path.relative_to(base).as_posix()
    for node in _statements(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = " ".join((ast.get_docstring(node) or "").split())
            name = "" if isinstance(node, ast.Module) else node.name
            for match in _KEY.finditer(text):
                behind = text[match.end() : match.end() + _SEGMENT]
                yield Mention(place, name, match.group(1), behind.split("[")[0])


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Return the module and all statements in it, as `ast.walk` would, but nothing of the expressions in them."""
    nodes: list[ast.AST] = [tree]
    for node in nodes:
        yield node
        inside = ast.iter_child_nodes(node)
        nodes += [part for part in inside if isinstance(part, ast.stmt | ast.excepthandler | ast.match_case)]
