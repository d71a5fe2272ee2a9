from itertools import product

import numpy as np
import pytest

from dpbayes.base.validation import InputError
from dpbayes.model import compositions as listing
from dpbayes.model.compositions import (
    composition_count,
    composition_indices,
    compositions,
    is_listable,
    neighbour_pairs,
)

SMALL = [(0, 2), (1, 2), (7, 2), (0, 3), (1, 3), (5, 3), (4, 4), (3, 5), (4, 1)]
small = pytest.mark.parametrize(("n", "sides"), SMALL)


def by_hand(n: int, sides: int) -> list[tuple[int, ...]]:
    return [c for c in product(range(n + 1), repeat=sides) if sum(c) == n]


@small
def test_every_composition_is_listed_once_in_lexicographic_order(n, sides):
    listed = compositions(n, sides=sides)
    assert list(map(tuple, listed)) == by_hand(n, sides)
    assert len(listed) == composition_count(n, sides=sides)


@small
def test_the_rank_of_a_composition_is_its_place(n, sides):
    assert np.array_equal(
        composition_indices(compositions(n, sides=sides)), np.arange(composition_count(n, sides=sides))
    )


@small
def test_neighbours_are_the_ordered_pairs_at_distance_one(n, sides):
    listed = by_hand(n, sides)
    apart = [
        (x, y)
        for (x, a), (y, b) in product(enumerate(listed), repeat=2)
        if sum(abs(s - t) for s, t in zip(a, b, strict=True)) == 2
    ]
    assert sorted(map(tuple, neighbour_pairs(n, sides=sides).tolist())) == apart


@pytest.mark.parametrize(
    ("n", "sides", "words"),
    [
        (
            2_000_000,
            2,
            "2,000,001 possible posteriors, and at most 2,000,000 can be listed here. Use at most 1,999,999",
        ),
        (100, 6, "96,560,646 possible posteriors"),
        (10**9, 1000, r"about 10[⁰¹²³⁴-⁹]+ possible posteriors.* at most 2 throws, or fewer"),
    ],
)
def test_lists_that_are_too_long_are_refused_at_once_with_their_length_and_a_remedy(n, sides, words, monkeypatch):
    monkeypatch.setattr(listing, "np", None)  # nothing is listed
    with pytest.raises(InputError, match=words):
        compositions(n, sides=sides)


@pytest.mark.parametrize("sides", [2, 3, 4, 6, 10])
def test_the_remedy_is_the_largest_that_works(sides):
    with pytest.raises(InputError) as caught:
        compositions(10**8, sides=sides)
    best = int(str(caught.value).split("at most ")[2].split()[0].replace(",", ""))
    assert is_listable(best, sides=sides)
    assert not is_listable(best + 1, sides=sides)
