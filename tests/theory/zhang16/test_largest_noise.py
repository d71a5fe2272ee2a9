"""[Zhang16] Proposition 1, free and clipped."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.counts import (
    clipped_proposition_1,
    exact_largest_noise,
    printed_largest_noise,
    proposition_1,
)
from tests.strategies import ASIA, NAIVE_BAYES

CONSTANT = Network.from_edges("ab", [], {"a": ["only"], "b": ["x", "y", "z"]})


def test_proposition_1_known_values():
    """[Zhang16] Proposition 1 on naive Bayes with 16 features."""
    bound = proposition_1(NAIVE_BAYES, epsilon=1.0, delta=0.05)
    assert float(bound.printed) == pytest.approx(34 * np.log(66 / 0.05))
    assert float(bound.printed) == pytest.approx(244.30, abs=0.005)
    assert float(bound.certified) == pytest.approx(243.45, abs=0.005)
    assert bound.applies
    assert bound.confidence == 0.95


@given(st.floats(1e-3, 1e3), st.floats(1e-12, 0.999))
def test_the_exact_quantile_solves_its_equation_and_is_below_the_printed_bound(epsilon, delta):
    """[Zhang16] Proposition 1: (1 - exp(-z/b))^K = 1 - delta."""
    z = float(exact_largest_noise(ASIA, epsilon=epsilon, delta=delta))
    b = 16 / epsilon
    assert ASIA.cell_count * np.log1p(-np.exp(-z / b)) == pytest.approx(np.log1p(-delta), rel=1e-9)
    assert z <= float(printed_largest_noise(ASIA, epsilon=epsilon, delta=delta)) * (1 + 1e-12)


def test_clipping_keeps_the_error_within_n():
    """[Zhang16] Proposition 1, for the clipped updates."""
    bound = clipped_proposition_1(ASIA, 100, epsilon=np.array([0.01, 1.0, 100.0]), delta=0.05)
    free = proposition_1(ASIA, epsilon=np.array([0.01, 1.0, 100.0]), delta=0.05)
    assert bound.certified[0] == 100 < bound.printed[0]
    assert bound.certified[1] == 100
    assert bound.certified[2] == free.certified[2] < 100


@pytest.mark.parametrize("epsilon", [0, -1, np.nan, np.inf, 1e9, "much", [1.0, 0.0]])
def test_a_bad_epsilon_is_refused(epsilon):
    with pytest.raises(InputError, match=r"epsilon must be"):
        proposition_1(ASIA, epsilon=epsilon, delta=0.1)


@pytest.mark.parametrize("delta", [0, 1, -0.1, 2, np.nan])
def test_a_bad_delta_is_refused(delta):
    with pytest.raises(InputError, match="delta must"):
        proposition_1(ASIA, epsilon=1.0, delta=delta)
