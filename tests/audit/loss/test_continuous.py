import math
from itertools import pairwise

import pytest
from scipy import integrate

from tests.audit.loss.closed_forms import (
    laplace_cells_delta,
    laplace_cells_epsilon,
    laplace_one_delta,
    laplace_one_epsilon,
)

KINDS = {"one": (laplace_one_delta, laplace_one_epsilon, 1), "cells": (laplace_cells_delta, laplace_cells_epsilon, 2)}
with_every_kind = pytest.mark.parametrize(("delta_of", "epsilon_of", "moved"), KINDS.values(), ids=KINDS)


def density(z: float, scale: float) -> float:
    return math.exp(-abs(z) / scale) / (2 * scale)


def one_by_quadrature(epsilon: float, scale: float) -> float:
    """The integral of (f(z) - e^epsilon f(z - 1))_+; epsilon may be negative."""

    def excess(z: float) -> float:
        return max(density(z, scale) - math.exp(epsilon) * density(z - 1, scale), 0.0)

    turn = min(max((1 - epsilon * scale) / 2, 0.0), 1.0)
    pieces = [-40 * scale, 0.0, turn, 1.0, 1 + 40 * scale]
    return sum(integrate.quad(excess, a, b, epsabs=1e-12)[0] for a, b in pairwise(pieces))


def cells_by_quadrature(epsilon: float, scale: float) -> float:
    """One cell's loss is known given its noise; what is left to the other one is `one_by_quadrature`."""

    def weighted(z: float) -> float:
        loss = (abs(z - 1) - abs(z)) / scale
        return density(z, scale) * one_by_quadrature(epsilon - loss, scale)

    pieces = [0.0, min(max((1 - epsilon * scale + 1) / 2, 0.0), 1.0), 1.0]
    inside = sum(integrate.quad(weighted, a, b, epsabs=1e-10)[0] for a, b in pairwise(pieces))
    below = one_by_quadrature(epsilon - 1 / scale, scale) / 2  # z < 0: the loss is constant
    above = one_by_quadrature(epsilon + 1 / scale, scale) * math.exp(-1 / scale) / 2
    return below + inside + above


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.0, 1.2])
def test_the_curves_agree_with_quadrature(scale, share):
    assert float(laplace_one_delta(share / scale, scale=scale)) == pytest.approx(
        one_by_quadrature(share / scale, scale), abs=1e-9
    )
    assert float(laplace_cells_delta(2 * share / scale, scale=scale)) == pytest.approx(
        cells_by_quadrature(2 * share / scale, scale), abs=1e-8
    )


@with_every_kind
@pytest.mark.parametrize("scale", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-3, 0.01])
def test_epsilon_at_delta_inverts_the_curve(delta_of, epsilon_of, moved, scale, delta):
    epsilon = epsilon_of(delta, scale=scale)
    assert 0 <= epsilon <= moved / scale
    if epsilon > 0:
        assert float(delta_of(epsilon, scale=scale)) == pytest.approx(delta, rel=1e-3, abs=1e-14)
