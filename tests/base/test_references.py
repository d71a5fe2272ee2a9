import re

import pytest

from dpbayes.base.references import PAPERS, Reference


@pytest.mark.parametrize(
    ("paper", "place", "said"),
    [
        ("Zhang16", "Theorem 1", "Theorem 1"),
        ("Zhang16", "Theorem 1, refined", "Theorem 1 (refined)"),
        ("Dimitrakakis14", "Lemma 3", "Lemma 3 of ALT 2014"),
        ("Notes", "Section 2.2, local", "Section 2.2 (local) of the Notes"),
    ],
)
def test_a_sentence_names_the_place_and_every_paper_but_the_usual_one(paper, place, said):
    assert Reference(paper, place).in_words == said


def test_an_unknown_paper_is_refused_naming_the_known_ones():
    with pytest.raises(ValueError, match="Unknown paper 'Nobody99'; choose one of Zhang16"):
        Reference("Nobody99", "Lemma 1")


@pytest.mark.parametrize("key", PAPERS)
def test_every_paper_is_a_whole_entry_of_a_bibliography(key):
    paper = PAPERS[key]
    cited, body = re.fullmatch(r"@misc\{(\w+),\n(.*)\}\n", paper.bibtex, re.DOTALL).groups()
    fields = dict(re.findall(r"  (\w+) = \{(.*)\},\n", body))
    assert cited == paper.key == key
    assert all((paper.authors, paper.title, paper.venue))
    assert paper.link.startswith("https://") or key in ("Notes", "dpbayes")
    assert fields["title"] == f"{{{paper.title}}}", "braces keep its capitals"
    assert paper.bibtex.count("{") == paper.bibtex.count("}")
    assert fields.get("year", "") == (re.findall(r"\b\d{4}\b", paper.venue) or [""])[-1]
    assert fields.get("url", "") == paper.link
    if not paper.authors.endswith(" authors"):
        assert fields["author"].split(" and ") == paper.authors.split(", ")
