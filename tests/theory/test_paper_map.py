"""The map from claims to code and tests: complete, and never stale, for it is read off the docstrings."""

import functools
import re
from pathlib import Path

import numpy as np
import pytest

from dpbayes.base.references import PAPERS, Reference
from dpbayes.theory.claims.claim import Claim, Verdict
from dpbayes.theory.index import CLAIMS, COUNTEREXAMPLES, counterexamples_of
from dpbayes.theory.paper_map import Mention, PaperEntry, mentions_under, naming, paper_map

ROOT = Path(__file__).parents[2]


@functools.cache
def whole_map() -> tuple[PaperEntry, ...]:
    return paper_map(ROOT / "dpbayes", ROOT / "tests")


def unknown_keys(folder: Path) -> tuple[Mention, ...]:
    """Return mentions of places in papers that are not in `PAPERS`."""
    place = re.compile(r"^[A-Z][a-z]+ \w?[\d.]+")
    return tuple(m for m in mentions_under(folder) if m.paper not in PAPERS and place.match(m.text))


refuting = functools.cache(counterexamples_of)
"""The settings at which a claim fails, computed once for all tests here."""


@pytest.mark.parametrize("number", range(len(CLAIMS)), ids=lambda number: str(CLAIMS[number].reference))
def test_every_claim_is_named_by_code_and_by_a_test(number):
    entry = whole_map()[number]
    assert entry.claim is CLAIMS[number]
    assert entry.code
    assert entry.tests


def test_no_docstring_names_an_unknown_paper():
    assert not unknown_keys(ROOT / "dpbayes")
    assert not [mention for mention in unknown_keys(ROOT / "tests") if mention.paper != "Nobody99"]


def test_places_of_claims_are_distinct():
    assert len({str(claim.reference) for claim in CLAIMS}) == len(CLAIMS)


E_NOTATION = re.compile(r"\de[-+]?\d")


@pytest.mark.parametrize("make", COUNTEREXAMPLES, ids=lambda make: make.__name__)
def test_every_counterexample_refutes_a_claim_that_is_listed(make):
    example = make()
    assert example.refutes
    assert example.claim in CLAIMS
    assert not E_NOTATION.search(example.setting)
    assert str(example) in map(str, refuting(example.claim))


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.verdict is Verdict.FALSE], ids=lambda c: str(c.reference))
def test_every_false_claim_has_a_counterexample_beyond_what_is_printed(claim):
    claims = refuting(claim)
    assert claims
    for example in claims:
        assert example.claim is claim
        assert example.truth > example.printed * (1 + 1e-6 * np.sign(example.printed))


def test_what_is_shown_to_fail_is_not_said_to_hold():
    for claim in CLAIMS:
        if refuting(claim):
            assert claim.verdict not in (Verdict.HOLDS, Verdict.LOOSE), claim.reference


def claim(place: str) -> Claim:
    return Claim(Reference("Zhang16", place), "", "", Verdict.HOLDS, "")


@pytest.mark.parametrize(
    ("text", "place", "is_named"),
    [
        ("[Zhang16] Theorem 1.", "Theorem 1", True),
        ("[Zhang16] Theorem 1.", "Theorem 1, refined", False),
        ("[Zhang16] Theorem 1, refined.", "Theorem 1, refined", True),
        ("[Zhang16] Theorem 1, refined.", "Theorem 1", False),
        ("[Zhang16] Theorem 1, with U.", "Theorem 1, U", False),
        ("[Zhang16] Theorem 10.", "Theorem 1", False),
        ("[Zhang16] Theorem 4(1)", "Theorem 4(1)", True),
        ("[Zhang16] Theorem 4(1)", "Theorem 4", False),
        ("[Zhang16] Theorem 1, Lemma 3 and Theorem 4(2).", "Theorem 4(2)", True),
        ("[Zhang16] Section 3.2, Non-negativity", "Section 3.2, Consistency", False),
        ("[Notes] Theorem 1", "Theorem 1", False),
        ("[Zhang16] Lemma 2, [Notes] Theorem 1", "Theorem 1", False),
        ("[Zhang16] Appendix C.1", "Appendix C.2", False),
    ],
)
def test_places_are_found_in_running_text(tmp_path, text, place, is_named):
    (tmp_path / "a.py").write_text(f'def f():\n    """Return it. {text}"""\n', encoding="utf-8")
    assert bool(naming(claim(place), mentions_under(tmp_path))) is is_named


def test_an_unknown_paper_is_caught(tmp_path):
    text = '"""After [Nobody99] Theorem 3, and an index [i] Of no paper."""\n'
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    (mention,) = unknown_keys(tmp_path)
    assert mention.paper == "Nobody99"
