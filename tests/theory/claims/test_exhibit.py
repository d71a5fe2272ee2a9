"""Who may see a claim: what it needs of a table says so, in one place."""

import numpy as np
import pytest

from dpbayes.model.dataset import Counts
from dpbayes.theory.claims.exhibit import Uses
from dpbayes.theory.claims.setting import Subject
from tests.strategies import ASIA

COUNTS = Counts(ASIA, np.zeros(ASIA.cell_count, dtype=np.int64), 0)


@pytest.mark.parametrize(
    ("uses", "for_all", "public_with_counts", "public_without"),
    [
        (Uses.PUBLIC, True, True, True),
        (Uses.SIMULATION, True, False, True),
        (Uses.COUNTS, False, False, False),
    ],
)
def test_what_a_claim_needs_says_who_may_see_it_and_whether_it_is_public(
    uses: Uses, for_all: bool, public_with_counts: bool, public_without: bool
) -> None:
    with_counts, without = (Subject(ASIA, 1.0, 0, counts, 1) for counts in (COUNTS, None))
    assert uses.is_for_all is for_all
    assert uses.is_public_for(with_counts) is public_with_counts
    assert uses.is_public_for(without) is public_without
