"""What an exhibit certifies, and on what conditions, is what its claim's own function says."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpbayes.posteriors.hellinger import Die
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import EvaluationPoint, Subject
from dpbayes.theory.dimitrakakis14 import constants, families
from dpbayes.theory.index import EXHIBITS
from dpbayes.theory.notes import mechanisms, sensitivities
from dpbayes.ui.session.settings import Settings

ASIA, _ = load_named("asia")


def shown(name: str, **knobs: float) -> Bound:
    options: Any = Settings().options("bounds")
    at = EvaluationPoint((1.0,), 1, replace(options, **knobs))
    return EXHIBITS[name].bound(Subject(ASIA, 1.0, None, None, 1), at)


def same(name: str, bound: Bound, **knobs: float) -> None:
    exhibited = shown(name, **knobs)
    assert float(exhibited.certified[0]) == pytest.approx(float(np.ravel(bound.certified)[0]), rel=1e-12)
    assert exhibited.assumptions == bound.assumptions
    assert float(exhibited.printed[0]) == pytest.approx(float(np.ravel(bound.printed)[0]), rel=1e-12)


def test_lemma_5() -> None:
    """[Dimitrakakis14] Lemma 5."""
    same("ALT_LEMMA_5", families.lemma_5(2.0, at=2.0, trials=20))


def test_lemma_6() -> None:
    """[Dimitrakakis14] Lemma 6."""
    same("ALT_LEMMA_6", families.lemma_6(1.0, at=2.0))


def test_lemma_7() -> None:
    """[Dimitrakakis14] Lemma 7."""
    same("ALT_LEMMA_7", constants.lemma_7(ASIA, least=0.1))


def test_notes_section_2_2() -> None:
    """[Notes] Section 2.2."""
    same("NOTES_LOCAL", mechanisms.local_mechanism(Die((1.0, 1.0), 20), epsilon=1.0))


@pytest.mark.parametrize(("sides", "throws", "counts"), [(2, 20, [10, 10]), (3, 200, [67, 67, 66])])
def test_notes_section_3_1(sides: int, throws: int, counts: list[int]) -> None:
    """[Notes] Section 3.1, where all candidates are enumerated and where they are too many."""
    die = Die((1.0,) * sides, throws)
    same("NOTES_REDUCTION", sensitivities.reduction(die, counts=counts), size=throws, sides=sides)
