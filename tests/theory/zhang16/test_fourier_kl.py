"""The proved bound on the divergence of a Fourier release, against simulated releases and a finer search."""

import itertools

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.validation import InputError
from dpbayes.posteriors.divergence import kl_rows
from dpbayes.theory.zhang16.fourier import certified_noise, printed_noise
from dpbayes.theory.zhang16.posterior_kl.fourier import fourier_kl_bound

NETWORK, CPTS = dp.load_named("asia")
COUNTS = dp.count(NETWORK, dp.sample_dataset(NETWORK, CPTS, 1000, np.random.default_rng(1)))
EPSILONS = np.array([0.03, 0.3, 3.0, 30.0])
T, DELTA = 0.24, 0.05


def at(epsilon: float, **more: object) -> dp.LaplaceFourier:
    return dp.LaplaceFourier(prior=NETWORK, epsilon=epsilon, t=T, **more)


def divergences(mechanism: dp.LaplaceFourier, releases: int = 1000) -> np.ndarray:
    release = mechanism.simulate(COUNTS, np.random.default_rng(2), (releases,))
    return kl_rows(mechanism.prior.updated(COUNTS), release.posterior).sum(axis=-1)


@pytest.mark.parametrize(
    ("calibration", "noise"), [(dp.Calibration.CERTIFIED, certified_noise), (dp.Calibration.AS_PRINTED, printed_noise)]
)
def test_releases_exceed_the_bound_at_most_as_often_as_it_says(calibration, noise):
    bound = fourier_kl_bound(at(1).prior, COUNTS, noise=noise(NETWORK), epsilon=EPSILONS, t=T, delta=DELTA)
    for epsilon, most in zip(EPSILONS, bound, strict=True):
        simulated = divergences(at(float(epsilon), calibration=calibration))
        assert np.mean(simulated > most) <= DELTA
        assert most < 20 * np.quantile(simulated, 1 - DELTA), "the bound is not vacuous"


def test_no_point_within_the_radius_has_a_larger_divergence():
    """For one node: the cells' noise is one draw, so that the box is [-r, r]; a grid of it has no larger value."""
    coin = dp.chain(1)
    counts = dp.Counts(coin, np.array([3, 17]), 20)
    prior = dp.Dirichlets.symmetric(coin)
    noise = certified_noise(coin)
    (bound,) = fourier_kl_bound(prior, counts, noise=noise, epsilon=1.0, t=0.5, delta=DELTA)
    scale = float(noise.scale(1.0))
    reach = -np.log(DELTA / coin.cell_count)  # 2 P(X > x) = e^-x for one Laplace draw
    lift, radius = 2 * 0.5 * len(coin.closure) * scale / 2, reach * scale / 2
    grid = np.linspace(-radius, radius, 41)
    updates = counts.values + lift + np.array(list(itertools.product(grid, grid)))
    inside = kl_rows(prior.updated(counts), prior.updated(np.maximum(updates, 0))).sum(axis=-1)
    assert bound == pytest.approx(inside.max(), rel=1e-6)


def test_a_larger_probability_of_failure_lowers_the_bound_and_bad_ones_are_refused():
    low, high = (
        fourier_kl_bound(at(1).prior, COUNTS, noise=certified_noise(NETWORK), epsilon=1.0, t=T, delta=delta)
        for delta in (0.2, 0.01)
    )
    assert low < high
    with pytest.raises(InputError):
        fourier_kl_bound(at(1).prior, COUNTS, noise=certified_noise(NETWORK), epsilon=1.0, t=T, delta=0)
