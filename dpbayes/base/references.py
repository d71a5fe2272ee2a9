"""The papers and the places in them: the single source of all citations."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Paper:
    """A source text: how to cite it and where to read it; `called` is its name in a sentence, if not the venue."""

    key: str
    authors: str
    title: str
    venue: str
    link: str = ""
    called: str = ""

    @property
    def name(self) -> str:
        """The name in a sentence."""
        return self.called or self.venue

    @property
    def cited(self) -> str:
        """The people and the year, such as "Zhang et al. 2016"; the venue of a text without a year."""
        first, _, others = self.authors.partition(",")
        year = re.search(r"\d{4}$", self.venue)
        return f"{first.split()[-1]}{' et al.' if others else ''} {year[0]}" if year else self.venue

    @property
    def bibtex(self) -> str:
        """The entry of a bibliography, in Unicode as BibLaTeX reads it."""
        is_people = not self.authors.endswith(" authors")
        author = self.authors.replace(", ", " and ") if is_people else f"{{{self.authors}}}"
        fields = {"author": author, "title": f"{{{self.title}}}", "howpublished": self.venue, "url": self.link}
        if year := re.search(r"\d{4}$", self.venue):
            fields["year"] = year[0]
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items() if value)
        return f"@misc{{{self.key},\n{lines}}}\n"


PAPERS = {
    key: Paper(key, **fields)
    for key, fields in tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8")).items()
}
"""The cited papers by key."""

USUAL = "Zhang16"
"""The paper of a sentence that names none."""


@dataclass(frozen=True)
class Reference:
    """A place in a paper, for example Reference("Zhang16", "Corollary 2").

    Errors: ValueError when the paper's key is unknown.
    """

    paper: str
    place: str

    def __post_init__(self) -> None:
        if self.paper not in PAPERS:
            raise ValueError(f"Unknown paper {self.paper!r}; choose one of {', '.join(PAPERS)}.")

    def __str__(self) -> str:
        return f"[{self.paper}] {self.place}"

    @property
    def cited(self) -> str:
        """The place as a list of sources names it, such as "Zhang et al. 2016, Theorem 1"."""
        place = re.sub(r"\w+\d\d", lambda key: PAPERS[key[0]].cited if key[0] in PAPERS else key[0], self.place)
        return f"{PAPERS[self.paper].cited}, {place}"

    @property
    def in_words(self) -> str:
        """The place as a sentence names it, such as "Theorem 1 (refined)", or "Lemma 3 of ALT 2014"."""
        place, _, detail = self.place.partition(", ")
        name = f"{place} ({detail})" if detail else place
        return name if self.paper == USUAL else f"{name} of {PAPERS[self.paper].name}"
