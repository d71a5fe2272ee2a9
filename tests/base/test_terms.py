"""The glossary: at most forty terms of one line each, the same on pages and in the document."""

import pytest

from dpbayes.base.terms import TERMS
from dpbayes.ui.widgets.show import MOST_EXPLAINED, explained
from tests.test_docs import TEXTS

GREEK = {"δ": "delta", "ε": "epsilon", "ρ": "rho"}


def test_the_document_lists_the_terms() -> None:
    names = (", ".join((term.name, *term.others)) for term in TERMS)
    lines = [f"| {name} | {term.meaning} |" for name, term in zip(names, TERMS, strict=True)]
    assert TEXTS["docs/glossary.md"].split("| --- | --- |\n")[1] == "".join(f"{line}\n" for line in lines)


def test_there_are_at_most_forty_terms_of_one_line_in_alphabetical_order() -> None:
    names = [GREEK.get(term.name, term.name).lower() for term in TERMS]
    assert len(TERMS) <= 40
    assert names == sorted(names)
    assert len({name for term in TERMS for name in (term.name, *term.others)}) == sum(1 + len(t.others) for t in TERMS)
    for term in TERMS:
        assert len(term.meaning) <= 110, term.name
        assert term.meaning[0].isupper(), term.name
        assert term.meaning.endswith("."), term.name
        assert "\n" not in term.meaning, term.name


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("With ε = 1, a noise-aware reader of a Laplace release", ["ε", "noise-aware", "release"]),
        ("the worst-case privacy loss and the privacy loss", ["worst-case privacy loss", "privacy loss"]),
        ("rows, a row and rows again", ["row"]),
        ("a browser narrows, a claimant disclaims", []),
        ("cell, claim, CPT, ledger, prior and seed", ["cell", "claim", "CPT", "ledger"]),
    ],
)
def test_a_text_has_its_first_terms_explained_once_each(text: str, names: list[str]) -> None:
    lines = explained(text).split("\n\n") if explained(text) else []
    assert [line.split("**")[1] for line in lines] == names
    assert len(names) <= MOST_EXPLAINED
