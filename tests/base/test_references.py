import pytest

from dpbayes.base.references import PAPERS, Reference


def test_a_reference_prints_as_in_the_docstrings():
    assert str(Reference("Zhang16", "Corollary 2")) == "[Zhang16] Corollary 2"


def test_an_unknown_paper_is_refused_naming_the_known_ones():
    with pytest.raises(ValueError, match="Unknown paper 'Nobody99'; known are Zhang16"):
        Reference("Nobody99", "Lemma 1")


@pytest.mark.parametrize("key", PAPERS)
def test_every_paper_is_stored_under_its_own_key_and_can_be_cited(key):
    paper = PAPERS[key]
    assert paper.key == key
    assert paper.authors
    assert paper.title
    assert paper.venue
    assert paper.link.startswith("https://") or key in ("Notes", "dpbayes")
