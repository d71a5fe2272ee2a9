from itertools import combinations

import numpy as np
import pytest

from dpbayes.base.randomness import stream

SEEDS_AND_LABELS = [
    (0,),
    (1,),
    (0, "a"),
    (0, "b"),
    (0, 1),
    (0, "1"),
    (0, 1.0),
    (0, "a", "b"),
    (0, "b", "a"),
    (0, "ab"),
    (0, "a\x1fstr:'b'"),
    (0, ""),
]


@pytest.mark.parametrize("key", SEEDS_AND_LABELS)
def test_the_same_seed_and_labels_give_the_same_numbers(key):
    assert np.array_equal(stream(*key).random(5), stream(*key).random(5))


@pytest.mark.parametrize(("one", "other"), list(combinations(SEEDS_AND_LABELS, 2)))
def test_different_seeds_labels_or_label_types_give_different_numbers(one, other):
    assert not np.any(stream(*one).random(5) == stream(*other).random(5))
