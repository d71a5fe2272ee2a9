"""The posterior that knows of the noise of every mechanism that adds some, at the edges of what it may be given."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from dpbayes import Counts, Dirichlets, Network, count
from dpbayes.experiments.accuracy.plan import typical
from dpbayes.mechanisms import MECHANISMS, LaplaceFourier, Noise
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import noise_aware
from tests.conftest import thorough
from tests.posteriors.test_noise_aware import MIXED, require_sound
from tests.strategies import V_STRUCTURE, random_table

KINDS = [kind for kind in MECHANISMS if hasattr(kind, "noise_model")]
NAMES = [kind.__name__ for kind in KINDS]
BINARY_ALONE = (LaplaceFourier,)

ENDS = list(product((1e-3, 1.0, 1e3), (1e-3, 1.0, 1e6)))
FEW_ENDS = [(1e-3, 1.0), (1.0, 1e-3), (1.0, 1e6), (1e3, 1.0)]
BY_TURNS = [(kind, list(Noise)[(i + j) % 2], *end) for i, kind in enumerate(KINDS) for j, end in enumerate(FEW_ENDS)]
"""Every kind at every end, and with either noise, which is the other one at the next end."""

every_kind = pytest.mark.parametrize("kind", KINDS, ids=NAMES)
every_noise = pytest.mark.parametrize("noise", list(Noise), ids=[noise.name.lower() for noise in Noise])


def mechanism_of(kind: type[Any], network: Network, *, alpha: float = 1.0, epsilon: float = 1.0, **more: Any) -> Any:
    mechanism: Any = typical(kind, prior=Dirichlets.symmetric(network, alpha), epsilon=epsilon)
    return replace(mechanism, **more)


def networks_for(kind: type[Any]) -> list[Network]:
    return [V_STRUCTURE] if kind in BINARY_ALONE else [V_STRUCTURE, MIXED]


def posterior(mechanism: Any, numbers: Any, n: int, points: int = 128) -> DirichletMixtures:
    return noise_aware(mechanism.prior, mechanism.noise_model, np.asarray(numbers, dtype=float), n, points=points)


def drawn(mechanism: Any, counts: Counts, seed: int = 1) -> np.ndarray:
    return np.asarray(mechanism.simulate(counts, np.random.default_rng(seed)).numbers)


def counted(network: Network, n: int) -> Counts:
    return count(network, random_table(network, np.random.default_rng(1), n))


def test_all_that_add_noise_are_here() -> None:
    assert {"LaplaceUpdates", "ConsistentLaplace", "LaplaceFourier"} <= set(NAMES)
    assert {"GaussianUpdates", "GaussianResiduals"} <= set(NAMES)


@pytest.mark.parametrize(
    ("kind", "noise", "epsilon", "alpha"),
    thorough([(kind, noise, *end) for kind, noise, end in product(KINDS, Noise, ENDS)], sample=BY_TURNS),
)
def test_any_release_of_any_table_has_a_posterior(kind, noise, epsilon, alpha) -> None:
    """Of no record, one and two, of a node with one state, and of numbers all 0 or all n, as no table would have it."""
    for network in networks_for(kind):
        mechanism = mechanism_of(kind, network, alpha=alpha, epsilon=epsilon, noise=noise)
        for n in (0, 1, 2, 40):
            cells = network.cell_count
            released = [drawn(mechanism, counted(network, n)), np.zeros(cells), np.full(cells, float(n))]
            law = posterior(mechanism, released, n, points=32)
            require_sound(law)
            if n == 0:
                np.testing.assert_allclose(law.mean, np.broadcast_to(mechanism.prior.mean, law.mean.shape))


@every_kind
@every_noise
def test_almost_without_noise_it_is_the_exact_posterior(kind, noise) -> None:
    """At epsilon 1000 the noise of every cell is below a tenth of a count, or a few of them are off by one."""
    for network in networks_for(kind):
        mechanism, counts = mechanism_of(kind, network, epsilon=1e3, noise=noise), counted(network, 300)
        law, exact = posterior(mechanism, drawn(mechanism, counts), 300), mechanism.prior.updated(counts)
        np.testing.assert_allclose(law.mean, exact.mean, atol=0.01)
        np.testing.assert_allclose(law.sd, exact.sd, rtol=0.05)
