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
def test_every_paper_is_stored_under_its_own_key_and_can_be_cited(key):
    paper = PAPERS[key]
    assert paper.key == key
    assert paper.authors
    assert paper.title
    assert paper.venue
    assert paper.link.startswith("https://") or key in ("Notes", "dpbayes")


# Bibliographies


def entry(key):
    """Read an entry back: its kind, its key and its fields."""
    kind, cited, body = re.fullmatch(r"@(\w+)\{(\w+),\n(.*)\}\n", PAPERS[key].bibtex, re.DOTALL).groups()
    return kind, cited, dict(re.findall(r"  (\w+) = \{(.*)\},\n", body))


@pytest.mark.parametrize("key", PAPERS)
def test_every_paper_is_a_whole_entry_of_a_bibliography(key):
    paper = PAPERS[key]
    kind, cited, fields = entry(key)
    assert cited == key
    assert fields["title"] == f"{{{paper.title}}}", "braces keep its capitals"
    assert paper.bibtex.count("{") == paper.bibtex.count("}")
    years = re.findall(r"\b\d{4}\b", paper.venue)
    assert fields.get("year") == (years[-1] if years else None)
    assert kind == "unpublished" or years
    if not paper.authors.endswith(" authors"):
        assert fields["author"].split(" and ") == paper.authors.split(", ")
    assert (fields.get("doi") or fields.get("eprint") or "") in paper.link


def test_kinds_of_papers_have_their_own_fields():
    assert entry("Zhang16")[0] == "inproceedings"
    assert entry("Zhang16")[2]["booktitle"] == "AAAI"
    assert entry("Zhang16")[2]["eprint"] == "1512.06992"
    kind, _, fields = entry("Zhang17")
    assert (kind, fields["journal"], fields["volume"], fields["number"]) == ("article", "ACM TODS", "42", "4")
    assert fields["doi"] == "10.1145/3134428"
    assert entry("Talts18")[0] == "misc"
    kind, _, fields = entry("Notes")
    assert (kind, fields["author"], fields["note"]) == ("unpublished", "{unnamed authors}", "Unpublished notes")
