import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpbayes.audit.draws import epsilon_lower_bound
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.parameters import MOST_DRAWS
from dpbayes.mechanisms.regression import RegressionSampler, norm_bound_for
from dpbayes.model.regression import Moments, RegressionData, ScaledRegression, moments, scaled
from tests.strategies import rng


def stacked(parts: Sequence[Moments]) -> Moments:
    """Return moments of equal n as one batch (len(parts), ...)."""
    gram, cross, square = (np.stack([getattr(part, name) for part in parts]) for name in ("gram", "cross", "square"))
    return Moments(gram, cross, square, parts[0].n)


def sampler(b: float = 1.0, variance: float = 1.0, bound: float = 1.0, draws: int = 1) -> RegressionSampler:
    return RegressionSampler(prior_precision=b, noise_variance=variance, norm_bound=bound, draws=draws)


def simulated(n: int = 200, d: int = 3) -> ScaledRegression:
    draw = rng()
    features = draw.uniform(-1, 1, (n, d)) / math.sqrt(d)
    target = np.clip(features @ np.linspace(-1, 1, d) + 0.1 * draw.standard_normal(n), -1, 1)
    return ScaledRegression(features, target, tuple(f"c{j}" for j in range(d + 1)))


# Promises


def test_the_printed_promise_is_2_l_at_its_worst_weights():
    d, bound, n = 5, 0.7, 40
    worst = np.full(d, bound / math.sqrt(d))
    printed = 2 * n / (2 * 0.3) * (1 + 2 * np.abs(worst).sum() + d * np.linalg.norm(worst))
    claimed = sampler(variance=0.3, bound=bound).claimed(n, features=d)
    assert claimed.epsilon == pytest.approx(printed)
    assert str(claimed.reference) == "[Zhang16] Appendix D"
    others = rng().standard_normal((1_000, d))
    others *= bound / np.linalg.norm(others, axis=1, keepdims=True)
    assert np.all(np.abs(others).sum(axis=1) <= np.abs(worst).sum() * (1 + 1e-12))


def test_the_certified_promise_is_continuous_where_its_two_forms_meet():
    below, above = (sampler(bound=b).certified.epsilon for b in (1 - 1e-12, 1 + 1e-12))
    assert below == pytest.approx(above, abs=1e-10)
    assert below == pytest.approx(4)


def test_draws_cost_as_much_as_each_other_and_noise_pays_for_them():
    assert sampler(bound=2.0, draws=7).certified.epsilon == pytest.approx(63)
    assert sampler(bound=2.0, draws=7, variance=7.0).certified.epsilon == pytest.approx(9)
    assert sampler().certified.delta == 0


@given(st.floats(1e-3, 1e3), st.floats(1e-4, 1e4), st.integers(1, MOST_DRAWS))
def test_the_norm_bound_for_an_epsilon_is_certified_with_that_epsilon(epsilon, variance, draws):
    bound = norm_bound_for(epsilon, noise_variance=variance, draws=draws)
    mechanism = sampler(variance=variance, bound=bound, draws=draws)
    assert mechanism.certified.epsilon == pytest.approx(epsilon, rel=1e-9)


# Releases


@pytest.mark.parametrize("draws", [1, 4])
@pytest.mark.parametrize("size", [(), (5,), (2, 3)])
@pytest.mark.parametrize("batch", [(), (6,)])
def test_draws_come_after_the_size_and_the_batch(size, batch, draws):
    mechanism, part = sampler(bound=0.3, draws=draws), moments(simulated())
    part = stacked([part] * 6) if batch else part
    released = mechanism.simulate(part, rng(), size)
    assert released.shape == (*size, *batch, draws, 3)
    assert np.all(np.linalg.norm(released, axis=-1) <= 0.3 * (1 + 1e-14))


def test_a_release_without_records_is_a_draw_from_the_cut_prior():
    nothing = Moments(np.zeros((1, 1)), np.zeros(1), np.zeros(()), 0)
    drawn = sampler(b=4.0, bound=0.6).simulate(nothing, rng(), (50_000,)).ravel()
    assert stats.kstest(drawn, stats.truncnorm(-1.2, 1.2, scale=0.5).cdf).pvalue > 1e-9
    assert stats.kstest(drawn, stats.truncnorm(-1.5, 1.5, scale=0.4).cdf).pvalue < 1e-9


def test_a_loose_bound_and_many_draws_recover_ridge_regression():
    part = moments(simulated())
    mechanism = sampler(b=2.0, variance=0.01, bound=100.0, draws=10_000)
    ridge = np.linalg.solve(part.gram + 0.02 * np.eye(3), part.cross)
    sd = np.sqrt(np.diag(np.linalg.inv(mechanism.posterior(part).precision)))
    assert np.all(np.abs(mechanism.simulate(part, rng()).mean(axis=-2) - ridge) < 6 * sd / 100)


def test_samples_alone_show_a_ball_larger_than_promised():
    first, second = (Moments(np.ones((1, 1)), np.full(1, y), np.asarray(1.0), 1) for y in (1.0, -1.0))
    promise = sampler(b=1e-3, bound=1.0).certified.epsilon

    def shown(bound: float) -> float:
        mechanism = sampler(b=1e-3, bound=bound)
        one, other = (mechanism.simulate(part, rng(), (200_000,)) > 0.75 * bound for part in (first, second))
        return epsilon_lower_bound(one.ravel(), opposite=other.ravel(), doubt=1e-9)

    assert 1 < shown(1.0) <= promise
    assert shown(3.0) > promise


# Refusals


def test_only_scaled_records_are_taken():
    raw = RegressionData(np.array([[3.0]]), np.array([0.5]), ("x", "y"))
    with pytest.raises(InputError, match="Scale it by its public bounds"):
        sampler().statistic(raw)  # type: ignore[arg-type]
    table = scaled(raw, {"x": (0, 4), "y": (0, 1)})
    assert sampler().statistic(table).cross == pytest.approx(0)


@pytest.mark.parametrize(("gram", "square"), [(9.1, 1.0), (1.0, 9.1)])
def test_moments_of_records_outside_the_unit_ball_are_refused(gram, square):
    with pytest.raises(InputError, match="not those of scaled records"):
        sampler().simulate(Moments(np.full((1, 1), gram), np.zeros(1), np.asarray(square), 9), rng())


@pytest.mark.parametrize("name", ["prior_precision", "noise_variance", "norm_bound", "draws"])
@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, "much", None, True, 1e300])
def test_bad_parameters_are_refused_by_name(name, bad):
    with pytest.raises(InputError, match=f"{name} must be"):
        RegressionSampler(**{"prior_precision": 1.0, name: bad})


@pytest.mark.parametrize(("n", "features"), [(-1, 1), (1.5, 1), (1, 0), (1, 0.5), (math.nan, 1)])
def test_bad_sizes_have_no_printed_promise(n, features):
    with pytest.raises(InputError, match="number of"):
        sampler().claimed(n, features=features)


@pytest.mark.parametrize(
    ("epsilon", "variance", "draws"), [(0, 1, 1), (math.inf, 1, 1), (1, 0, 1), (1, math.nan, 1), (1, 1, 0)]
)
def test_no_norm_bound_for_bad_values(epsilon, variance, draws):
    with pytest.raises(InputError, match="must be"):
        norm_bound_for(epsilon, noise_variance=variance, draws=draws)
