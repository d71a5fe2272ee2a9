"""From every claim of the papers to the code and the tests that name it in a docstring, behind its paper's key."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from dpbayes.theory.claims.claim import Claim
from dpbayes.theory.index import CLAIMS

_KEY = re.compile(r"\[(\w+)\]\s+(?=[A-Z])")
_SEGMENT = 200
"""How far behind a paper's key its places are looked for."""

_KINDS = (
    r"Theorems?|Lemmas?|Corollar(?:y|ies)|Propositions?|Assumptions?|Algorithms?|Appendi(?:x|ces)|Sections?|Tables?"
    r"|Figures?|Remarks?|Definitions?|Examples?|Equations?"
)
_NUMBER = r"(?:[A-Z]\.)?\d+(?:\.\d+)*(?:\([ivx\d]+\))?|[A-Z](?:\.\d+)*"
_PLACE = re.compile(rf"\b({_KINDS})\s+({_NUMBER})(?![\w(])", re.IGNORECASE)
_NEXT = re.compile(rf"(,? and |, | or | to | ?[-–] ?)({_NUMBER}|\([ivx\d]+\))(?![\w(])")
"""How a list behind a plural goes on, as in "Theorems 1, 3 and 4(2)" or "Lemmas 3 to 6"."""


@dataclass(frozen=True)
class Place:
    """One place named in running text: its kind, its number, and the text behind it, where a detail may stand."""

    kind: str
    number: str
    rest: str = field(default="", compare=False)


def places_in(text: str) -> tuple[Place, ...]:
    """Return every place that a text names, each of a list and of a range of whole numbers too."""
    return tuple(place for match in _PLACE.finditer(text) for place in _listed(text, match))


def _listed(text: str, match: re.Match[str]) -> Iterator[Place]:
    kind, end, last = _singular(match.group(1)), match.end(), match.group(2)
    yield Place(kind, last, text[end:])
    plural = _singular(match.group(1)) != match.group(1).lower()
    while plural and (more := _NEXT.match(text, end)):
        joint, number, end = more.group(1).strip(), more.group(2), more.end()
        if number.startswith("("):  # "Theorems 1(i) and (ii)"
            number = last.partition("(")[0] + number
        if joint in ("to", "-", "–") and last.isdecimal() and number.isdecimal():
            yield from (Place(kind, str(k)) for k in range(int(last) + 1, int(number)))
        yield Place(kind, number, text[end:])
        last = number


def _singular(kind: str) -> str:
    kind = kind.lower()
    return {"corollaries": "corollary", "appendices": "appendix"}.get(kind, kind.removesuffix("s"))


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

    @cached_property
    def named(self) -> tuple[tuple[Mention, Place], ...]:
        return tuple((mention, place) for mention in self.mentions for place in places_in(mention.text))

    def of(self, claim: Claim) -> tuple[Mention, ...]:
        """Return the mentions of a claim's place.

        Where several claims share a number, the detail decides: "Theorem 1, refined" is not "Theorem 1".
        """
        paper, sought = claim.reference.paper, _place(claim)
        others = (_place(other) for other in CLAIMS if other.reference.paper == paper)
        details = {"", sought.rest} | {other.rest for other in others if other == sought}
        mentions = (
            mention
            for mention, place in self.named
            if mention.paper == paper
            and place == sought
            and max((detail for detail in details if _begins(place.rest, detail)), key=len) == sought.rest
        )
        return tuple(dict.fromkeys(mentions))


def _place(claim: Claim) -> Place:
    return places_in(claim.reference.place)[0]


def _begins(text: str, detail: str) -> bool:
    return text.startswith(detail) and not re.match(r"\w", text[len(detail) :] if detail else "")


@dataclass(frozen=True)
class PaperEntry:
    """One line of the map."""

    claim: Claim
    code: tuple[Mention, ...]
    tests: tuple[Mention, ...]


def paper_map(package: Path, tests: Path) -> tuple[PaperEntry, ...]:
    """Return the entry of every claim; without the folder of tests, none is found there."""
    code, checks = Sources(package), Sources(tests)
    return tuple(PaperEntry(claim, code.of(claim), checks.of(claim)) for claim in CLAIMS)


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
