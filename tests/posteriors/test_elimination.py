"""The root of a covariance, family by family, against the inverse of the whole matrix."""

import numpy as np
import pytest

from dpbayes.posteriors.joint.design import Elimination, inverse_root

SIZE = 120


def factors_of_a_chain(rng: np.random.Generator, size: int) -> list[np.ndarray]:
    """Overlapping sets of numbers in random order: neighbours share two numbers, and every fifth set a common one."""
    order, starts = rng.permutation(size), range(0, size - 2, 6)
    factors = [order[start : start + 8] for start in starts]
    return [np.union1d(own, order[:1]) if k % 5 == 0 else np.sort(own) for k, own in enumerate(factors)]


def precision_of(factors: list[np.ndarray], rng: np.random.Generator, size: int) -> np.ndarray:
    precision = np.eye(size) * 0.01
    for own in factors:
        root = rng.normal(size=(len(own), len(own)))
        precision[np.ix_(own, own)] += root @ root.T
    return precision


@pytest.mark.parametrize("size", [12, SIZE])
def test_a_root_times_its_transpose_is_the_inverse(size):
    rng = np.random.default_rng(1)
    factors = factors_of_a_chain(rng, size)
    precision = precision_of(factors, rng, size)
    root = Elimination.of(factors, size).root(precision.copy())
    np.testing.assert_allclose(root @ root.T, np.linalg.inv(precision), rtol=1e-9, atol=1e-12)


def test_numbers_of_one_factor_are_eliminated_first():
    rng = np.random.default_rng(2)
    factors = factors_of_a_chain(rng, SIZE)
    elimination = Elimination.of(factors, SIZE)
    times = np.bincount(np.concatenate(factors), minlength=SIZE)
    assert elimination.shared.tolist() == np.flatnonzero(times > 1).tolist()
    assert 0 < len(elimination.shared) < SIZE / 2
    for own, (alone, others) in zip(factors, elimination.own, strict=True):
        assert sorted([*alone, *elimination.shared[others]]) == own.tolist()


@pytest.mark.parametrize("size", [12, SIZE])
def test_columns_out_of_reach_are_zero(size):
    """The covariance of a factor's numbers needs no other columns."""
    rng = np.random.default_rng(3)
    factors = factors_of_a_chain(rng, size)
    elimination = Elimination.of(factors, size)
    root = elimination.root(precision_of(factors, rng, size))
    for factor, numbers in enumerate(factors):
        far = np.setdiff1d(np.arange(size), elimination.reach(factor))
        assert (root[np.ix_(numbers, far)] == 0).all()


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf])
@pytest.mark.parametrize("place", ["shared", "alone"])
def test_a_matrix_that_is_no_precision_has_no_root(wrong, place):
    rng = np.random.default_rng(4)
    factors = factors_of_a_chain(rng, SIZE)
    elimination, precision = Elimination.of(factors, SIZE), precision_of(factors, rng, SIZE)
    number = elimination.shared[3] if place == "shared" else elimination.own[3][0][0]
    precision[number, number] = wrong
    root = elimination.root(precision)
    assert np.isnan(root[number]).any()


def test_no_numbers_have_an_empty_root():
    assert inverse_root(np.empty((0, 0))).shape == (0, 0)
