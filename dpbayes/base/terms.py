"""The meanings of the field's terms: one line each, shown at the first use on a page and listed in docs/glossary.md."""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class GlossaryEntry:
    """A term, its meaning in one line, and its other forms in sentences."""

    name: str
    meaning: str
    others: tuple[str, ...] = ()


TERMS = tuple(
    GlossaryEntry(name, entry["meaning"], tuple(entry.get("others", ())))
    for name, entry in tomllib.loads(Path(__file__).with_name("glossary.toml").read_text(encoding="utf-8")).items()
)
"""The glossary, in alphabetical order."""

_MEANINGS = {name: term for term in TERMS for name in (term.name, *term.others)}

EPSILON = _MEANINGS["ε"].meaning
DELTA = _MEANINGS["δ"].meaning
NEIGHBOURS = _MEANINGS["neighbouring tables"].meaning
SENSITIVITY = _MEANINGS["sensitivity"].meaning
PRIOR = _MEANINGS["prior"].meaning
SEED = _MEANINGS["seed"].meaning
PSEUDO_COUNT = "The Dirichlet parameter of every cell before any record is seen; 1 is a uniform prior."
SAMPLE_SIZE = "The sum of the Dirichlet parameters of a node’s cells, N′ in BDeu; it acts like so many records."

MOST_EXPLAINED = 4
"""The largest number of terms that one tooltip explains."""

_NAMES = re.compile(
    r"(?<![\w-])(?:" + "|".join(map(re.escape, sorted(_MEANINGS, key=len, reverse=True))) + r")(?![\w-])"
)


def explained(text: str) -> str:
    """Return a line for each of the first terms of a text, as Markdown; empty if it has none."""
    terms = list(dict.fromkeys(_in(text)))[:MOST_EXPLAINED]
    return "\n\n".join(f"**{term.name}**: {term.meaning}" for term in terms)


def _in(text: str) -> Iterator[GlossaryEntry]:
    for match in _NAMES.finditer(text):
        yield _MEANINGS[match[0]]
