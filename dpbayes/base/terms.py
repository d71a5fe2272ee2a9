"""The meanings of the field's terms: one line each, shown at the first use on a page and listed in docs/glossary.md."""

import tomllib
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

MEANINGS = {name: term for term in TERMS for name in (term.name, *term.others)}
"""The terms by their names and other forms."""

EPSILON = MEANINGS["ε"].meaning
DELTA = MEANINGS["δ"].meaning
NEIGHBOURS = MEANINGS["neighbouring tables"].meaning
SENSITIVITY = MEANINGS["sensitivity"].meaning
PRIOR = MEANINGS["prior"].meaning
SEED = MEANINGS["seed"].meaning
PSEUDO_COUNT = "The Dirichlet parameter of every cell before any record is seen; 1 is a uniform prior."
SAMPLE_SIZE = "The sum of the Dirichlet parameters of a node’s cells, N′ in BDeu; it acts like so many records."
