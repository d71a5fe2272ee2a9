"""The map from claims to code and tests: complete, and never stale, for it is read off the docstrings."""

from pathlib import Path

import pytest

from dpbayes.bounds.base import Claim, Verdict
from dpbayes.bounds.registry import CLAIMS, COUNTEREXAMPLES, counterexamples_of
from dpbayes.paper_map import Sources, paper_map, unknown_keys
from dpbayes.references import Reference

ROOT = Path(__file__).parents[2]
MAP = paper_map(ROOT / "dpbayes", ROOT / "tests")


@pytest.mark.parametrize("entry", MAP, ids=lambda entry: str(entry.claim.reference))
def test_every_claim_is_named_by_code_and_by_a_test(entry):
    assert entry.code
    assert entry.tests


def test_no_docstring_names_an_unknown_paper():
    assert not unknown_keys(Sources(ROOT / "dpbayes"))
    assert not [mention for mention in unknown_keys(Sources(ROOT / "tests")) if mention.paper != "Nobody99"]


def test_places_of_claims_are_distinct():
    assert len({str(claim.reference) for claim in CLAIMS}) == len(CLAIMS)


@pytest.mark.parametrize("make", COUNTEREXAMPLES, ids=lambda make: make.__name__)
def test_every_counterexample_refutes_a_claim_that_is_listed(make):
    example = make()
    assert example.refutes
    assert example.claim in CLAIMS
    assert example in counterexamples_of(example.claim)


def test_what_is_shown_to_fail_is_not_said_to_hold():
    for claim in CLAIMS:
        if counterexamples_of(claim):
            assert claim.verdict not in (Verdict.HOLDS, Verdict.LOOSE), claim.reference


def folder(tmp_path: Path, text: str) -> Sources:
    (tmp_path / "a.py").write_text(text, encoding="utf-8")
    return Sources(tmp_path)


def claim(place: str) -> Claim:
    return Claim(Reference("Zhang16", place), "", "", Verdict.HOLDS, "")


@pytest.mark.parametrize(
    ("text", "place", "found"),
    [
        ("[Zhang16] Theorem 1.", "Theorem 1", True),
        ("[Zhang16] Theorem 1.", "Theorem 1, refined", True),
        ("[Zhang16] Theorem 10.", "Theorem 1", False),
        ("[Zhang16] Theorem 4(1)", "Theorem 4(1)", True),
        ("[Zhang16] Lemmas 2 and 3", "Lemma 3", True),
        ("[Zhang16] Corollary 1, Lemma 1", "Lemma 1", True),
        ("[Notes] Theorem 1", "Theorem 1", False),
        ("[Zhang16] Lemma 2, [Notes] Theorem 1", "Theorem 1", False),
        ("[Zhang16] Appendix C.1", "Appendix C.2", False),
    ],
)
def test_places_are_found_in_running_text(tmp_path, text, place, found):
    sources = folder(tmp_path, f'def f():\n    """Return it. {text}"""\n')
    assert bool(sources.of(claim(place))) is found


def test_an_unknown_paper_is_caught(tmp_path):
    text = '"""After [Nobody99] Theorem 3, and an index [i] Of no paper."""\n'
    (mention,) = unknown_keys(folder(tmp_path, text))
    assert mention.paper == "Nobody99"
