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
THREE = Die((1.0, 1.0, 1.0), 200)


@pytest.mark.parametrize(
    ("name", "bound", "knobs"),
    [
        ("ALT_LEMMA_5", families.lemma_5(2.0, at=2.0, trials=20), {}),
        ("ALT_LEMMA_6", families.lemma_6(1.0, at=2.0), {}),
        ("ALT_LEMMA_7", constants.lemma_7(ASIA, least=0.1), {}),
        ("NOTES_LOCAL", mechanisms.local_mechanism(Die((1.0, 1.0), 20), epsilon=1.0), {}),
        ("NOTES_REDUCTION", sensitivities.reduction(Die((1.0, 1.0), 20), counts=[10, 10]), {"size": 20, "sides": 2}),
        (
            "NOTES_REDUCTION",
            sensitivities.reduction(Die((1.0,) * 3, 200), counts=[67, 67, 66]),
            {"size": 200, "sides": 3},
        ),
    ],
)
def test_an_exhibit_is_the_bound_of_its_claim(name: str, bound: Bound, knobs: dict[str, int]) -> None:
    """[Dimitrakakis14] Lemma 5, Lemma 6, Lemma 7. [Notes] Section 2.2, Section 3.1."""
    options: Any = Settings().options("bounds")
    at = EvaluationPoint((1.0,), 1, replace(options, **knobs))
    exhibited = EXHIBITS[name].bound(Subject(ASIA, 1.0, None, None, 1), at)
    assert exhibited.assumptions == bound.assumptions
    for one, other in ((exhibited.certified, bound.certified), (exhibited.printed, bound.printed)):
        assert float(one[0]) == pytest.approx(float(np.ravel(other)[0]), rel=1e-12)
