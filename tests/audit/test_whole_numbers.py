"""Audits of whole-number noise beside the enumeration of all releases of tiny networks."""

import math
from itertools import product

import numpy as np
import pytest

from dpbayes.audit.loss.tables import all_tables
from dpbayes.audit.pictures import FAR, NEAR, POINTS, noisy_number
from dpbayes.audit.registry import audit
from dpbayes.audit.report import AuditVerdict
from dpbayes.audit.residual import residual_loss
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.mechanisms import Calibration, GaussianResiduals, LaplaceFourier, LaplaceUpdates, Noise
from dpbayes.mechanisms.finite import exact_curve, exact_pure_epsilon
from dpbayes.mechanisms.noise.law import NoiseLaw
from dpbayes.model.fourier import coefficients
from dpbayes.model.network import Network
from tests.strategies import V_STRUCTURE, chain, empty

GRID = np.linspace(0, 2.5, 26)


def test_the_loss_of_whole_residuals_is_that_of_the_farthest_of_all_neighbouring_tables():
    """Rho is half of the squared distance in standard deviations, here over all pairs of tables of two records."""
    mechanism = GaussianResiduals(prior=V_STRUCTURE, epsilon=1.0, delta=1e-5, noise=Noise.WHOLE)
    residuals, tables = V_STRUCTURE.residuals, all_tables(V_STRUCTURE, n=2)
    numbers = residuals.of_tables(tables.counts.astype(float))
    variances = mechanism.variances[residuals.set_of_number]
    is_noisy = variances > 0  # the number of records has no noise
    x, y = tables.pairs.T
    squared = ((numbers[x] - numbers[y])[:, is_noisy] ** 2 / variances[is_noisy]).sum(axis=-1)
    for releases in (1, 3):
        loss = residual_loss(mechanism, n=2, releases=releases)
        expected = zcdp_epsilon(releases * squared.max() / 2, delta=1e-5)
        assert loss.epsilon(1e-5)[1] == pytest.approx(expected, rel=1e-9)


TINY = {
    "one node": (empty(1), 3),
    "three states": (Network.from_edges("a", [], {"a": "xyz"}), 3),
    "two nodes": (chain(2), 2),
    "v-structure": (V_STRUCTURE, 1),
}


def log_law(mean: int, ends: tuple[int, int], scale: float) -> np.ndarray:
    """ln P of mean + D clipped to both ends, from P[D = k] = (1 - q)/(1 + q) q^|k|: summed over 1,000 scales."""
    low, high = ends
    reach = int(60 * scale) + abs(low) + abs(high) + 2
    k = np.arange(-reach, reach + 1)
    mass = np.exp(-np.abs(k) / scale)
    law = np.zeros(high - low + 1)
    np.add.at(law, np.clip(mean + k, low, high) - low, mass / mass.sum())
    return np.log(law)


def enumerated(mechanism, n: int) -> tuple[np.ndarray, np.ndarray]:
    """ln P of every release from every table (X, R), and all neighbouring pairs (N, 2).

    Clipped counts as they are; of coefficients, which lie in [-n, n], what is beyond is told no further: the ratio of
    probabilities stays what it is at the ends.
    """
    network, scale = mechanism.prior.network, mechanism.noise_scale
    tables = all_tables(network, n=n)
    values, ends = tables.counts, (0, n)
    if isinstance(mechanism, LaplaceFourier):
        values, ends = np.round(coefficients(network, values)).astype(int)[:, 1:], (-n, n)
    one = {mean: log_law(mean, ends, scale) for mean in range(ends[0], ends[1] + 1)}
    laws = []
    for row in values:
        law = np.zeros(1)
        for mean in row:
            law = np.add.outer(law, one[int(mean)]).ravel()
        laws.append(law)
    return np.stack(laws), tables.pairs


def cases() -> list:
    settings = []
    for (name, (network, n)), epsilon in product(TINY.items(), [0.5, 1.0, 2.0]):
        settings.append(pytest.param(LaplaceUpdates, {}, network, n, epsilon, id=f"laplace {name} {epsilon}"))
        if network.is_binary:
            settings += [
                pytest.param(LaplaceFourier, {"calibration": c}, network, n, epsilon, id=f"{c.value} {name} {epsilon}")
                for c in Calibration
            ]
    return settings


@pytest.mark.parametrize(("kind", "options", "network", "n", "epsilon"), cases())
def test_the_audit_is_what_all_releases_of_all_neighbouring_tables_show(kind, options, network, n, epsilon):
    mechanism = kind(prior=network, epsilon=epsilon, noise=Noise.WHOLE, **options)
    laws, pairs = enumerated(mechanism, n)
    report = audit(mechanism, n=n, epsilons=GRID)
    assert report.exact == pytest.approx(exact_pure_epsilon(laws, pairs=pairs).epsilon, rel=1e-9)
    assert report.exact == pytest.approx(mechanism.certified.epsilon, rel=1e-12)
    assert report.at_least == report.exact
    is_tight = mechanism.claimed.epsilon == mechanism.certified.epsilon
    assert report.verdict is (AuditVerdict.PROVED_AND_TIGHT if is_tight else AuditVerdict.HOLDS)
    exact = exact_curve(laws, pairs=pairs, epsilons=GRID)
    assert report.curve.deltas == pytest.approx(exact, abs=1e-9)
    assert report.curve.lower == pytest.approx(exact, abs=1e-9)
    # No real noise in its place.
    real = audit(kind(prior=network, epsilon=epsilon, **options), n=n, epsilons=GRID)
    assert np.abs(real.curve.deltas - exact).max() > 1e-5


@pytest.mark.parametrize(("scale", "step"), [(0.1, 1), (2.0, 1), (2.0, 2), (28.0, 2), (5e3, 2)])
def test_the_picture_has_probabilities_of_whole_numbers_and_the_loss_between_them(scale, step):
    picture = noisy_number(NoiseLaw(Noise.WHOLE, scale), step=float(step), what="counts")
    places = np.array([float(str(place).replace("\N{MINUS SIGN}", "-")) for place in picture.places])
    reach = math.ceil(max(NEAR * step, FAR * scale))
    assert places[0] == -reach
    assert reach - places[-1] < max(1, 2 * reach // POINTS)
    assert set(np.diff(places)) == {max(1, 2 * reach // POINTS)}
    assert picture.first == pytest.approx(
        math.tanh(1 / (2 * scale)) * np.exp(-np.abs(places - step) / scale), rel=1e-12
    )
    loss = np.log(picture.first) - np.log(picture.second)
    assert loss.max() == pytest.approx(step / scale)
    assert picture.y == "probability"
    assert picture.part == step / scale
    assert noisy_number(NoiseLaw(Noise.REAL, scale), step=float(step), what="counts").y == "density"
