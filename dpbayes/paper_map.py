"""From every claim of the papers to the code and the tests that name it in a docstring, as `[Zhang16] Theorem 1`."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from dpbayes.bounds.base import Claim
from dpbayes.bounds.registry import CLAIMS
from dpbayes.references import PAPERS

_KEY = re.compile(r"\[(\w+)\]\s+(?=[A-Z])")
_SEGMENT = 200
"""How far behind a paper's key its places are looked for."""

_KINDS = (
    "Theorem|Lemma|Corollary|Proposition|Assumption|Algorithm|Appendix|Section|Table|Figure|Remark|Definition|Example"
)


@dataclass(frozen=True)
class Mention:
    """Where a paper is named: file, function or class ("" for the file itself), and the text behind the key."""

    path: str
    name: str
    paper: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}:{self.name}" if self.name else self.path


@dataclass(frozen=True)
class Sources:
    """All docstrings under a folder that name a paper."""

    root: Path

    @cached_property
    def mentions(self) -> tuple[Mention, ...]:
        """Every mention, in the order of files and lines."""
        files = sorted(self.root.rglob("*.py"))
        return tuple(mention for path in files for mention in _mentions(path, self.root.parent))

    def of(self, claim: Claim) -> tuple[Mention, ...]:
        """Return the mentions of a claim's place; "Theorem 1, refined" is found where Theorem 1 is named."""
        paper, place = claim.reference.paper, claim.reference.place.split(",")[0]
        kind, _, number = place.partition(" ")
        exact = rf"(?<![\w.]){re.escape(number)}(?![\w]|\.\d)" if number else ""
        pattern = re.compile(rf"\b{re.escape(kind.removesuffix('s'))}s?\b[^\[]*?{exact}", re.IGNORECASE)
        return tuple(m for m in self.mentions if m.paper == paper and pattern.search(m.text))


def unknown_keys(sources: Sources) -> tuple[Mention, ...]:
    """Return mentions of places in papers that are not in `PAPERS`."""
    known = re.compile(rf"^(?:{_KINDS})s?\s")
    return tuple(m for m in sources.mentions if m.paper not in PAPERS and known.match(m.text))


@dataclass(frozen=True)
class Entry:
    """One line of the map."""

    claim: Claim
    code: tuple[Mention, ...]
    tests: tuple[Mention, ...]


def paper_map(package: Path, tests: Path) -> tuple[Entry, ...]:
    """Return the entry of every claim; without the folder of tests, none is found there."""
    code, checks = Sources(package), Sources(tests)
    return tuple(Entry(claim, code.of(claim), checks.of(claim)) for claim in CLAIMS)


def _mentions(path: Path, base: Path) -> Iterator[Mention]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    place = path.relative_to(base).as_posix()
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = " ".join((ast.get_docstring(node) or "").split())
            name = "" if isinstance(node, ast.Module) else node.name
            for match in _KEY.finditer(text):
                behind = text[match.end() : match.end() + _SEGMENT]
                yield Mention(place, name, match.group(1), behind.split("[")[0])
