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
    def bibtex(self) -> str:
        """The entry of a bibliography, in Unicode as BibLaTeX reads it; the venue determines its kind."""
        kind, where = self._kind()
        fields = {"author": self._author(), "title": f"{{{self.title}}}", **where} | self._address()
        lines = "".join(f"  {name} = {{{value}}},\n" for name, value in fields.items())
        return f"@{kind}{{{self.key},\n{lines}}}\n"

    def _author(self) -> str:
        is_people = not self.authors.endswith(" authors")
        return self.authors.replace(", ", " and ") if is_people else f"{{{self.authors}}}"

    def _kind(self) -> tuple[str, dict[str, str]]:
        if journal := re.fullmatch(r"(.+) (\d+)\((\d+)\), (\d{4})", self.venue):
            return "article", dict(zip(("journal", "volume", "number", "year"), journal.groups(), strict=True))
        if preprint := re.fullmatch(r"preprint, (\d{4})", self.venue):
            return "misc", {"year": preprint[1]}
        if talk := re.fullmatch(r"(.+) (\d{4})", self.venue):
            return "inproceedings", {"booktitle": talk[1], "year": talk[2]}
        return "unpublished", {"note": self.venue[0].upper() + self.venue[1:]}

    def _address(self) -> dict[str, str]:
        """An identifier, if the link has one."""
        if arxiv := re.fullmatch(r"https://arxiv\.org/abs/(.+)", self.link):
            return {"eprint": arxiv[1], "eprinttype": "arxiv", "url": self.link}
        if doi := re.fullmatch(r"https://doi\.org/(.+)", self.link):
            return {"doi": doi[1]}
        return {}


PAPERS = {
    key: Paper(key, **fields)
    for key, fields in tomllib.loads(Path(__file__).with_name("papers.toml").read_text(encoding="utf-8")).items()
}
"""The cited papers by key."""


THE_NOTES = (
    f"The Notes are an unpublished manuscript without named authors, *{PAPERS['Notes'].title}*, about exponential "
    "mechanisms that score posteriors by their Hellinger distance from the exact posterior."
)
"""The name of the Notes on the pages, for readers who do not know them."""

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
    def in_words(self) -> str:
        """The place as a sentence names it, such as "Theorem 1 (refined)", or "Lemma 3 of ALT 2014"."""
        place, _, detail = self.place.partition(", ")
        name = f"{place} ({detail})" if detail else place
        return name if self.paper == USUAL else f"{name} of {PAPERS[self.paper].name}"
