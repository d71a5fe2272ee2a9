"""Errors of regression against direct computations on the drawn splits, closed forms, and refusals."""

import itertools
import math

import numpy as np
import pytest
from scipy.stats import truncnorm

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.experiments import regression
from dpbayes.experiments.regression import RegressionResult, SplitTable, records_of, regression_study
from dpbayes.experiments.regression_scenario import (
    CENSUS_BOUNDS,
    CENSUS_FEATURES,
    Records,
    RegressionScenario,
    census_like,
)
from dpbayes.model.regression import RegressionData, ScaledRegression, scaled
from dpbayes.sources.shipped_tables import shipped_regression
from tests.conftest import FAR


def table(n: int = 300, d: int = 3, seed: int = 1) -> SplitTable:
    rng = stream(seed, "table")
    x = rng.uniform(-1, 1, (n, d)) / np.sqrt(d)
    y = np.clip(x @ np.linspace(-0.8, 0.9, d) + 0.1 + rng.normal(0, 0.2, n), -1, 1)
    return SplitTable.of(ScaledRegression(x, y, tuple(f"c{i}" for i in range(d + 1))))


def study(**fields: object) -> RegressionScenario:
    return RegressionScenario(**({"precisions": (0.1, 1.0, 30.0), "repeats": 4} | fields))  # type: ignore[arg-type]


def curves(records: SplitTable, design: RegressionScenario, seed: int = 1) -> RegressionResult:
    return regression_study(records, design, stream(seed, "run"))


def experiment(scenario: RegressionScenario) -> RegressionResult:
    return regression_study(
        records_of(scenario, seed=1, read=shipped_regression).table, scenario, stream(1, "regression")
    )


def splits(records: SplitTable, train: int, repeats: int, seed: int = 1) -> list[np.ndarray]:
    """Return the training rows that an experiment with this seed draws."""
    rng, _ = stream(seed, "run").spawn(2)
    return [rng.choice(records.n, train, replace=False, shuffle=False) for _ in range(repeats)]


# Against direct computation


def test_exact_errors_are_those_of_ridge_regression_on_the_same_splits() -> None:
    """[Zhang16] Lemma D.1: mu_n = (X'X + sigma^2 b I)^-1 X'y; here by least squares on an augmented table."""
    records, design = table(), study(noise_variance=0.3, train_share=0.2, repeats=30)
    measured, expected, means = curves(records, design), [], []
    for rows in splits(records, 60, 30):
        inside = np.isin(np.arange(records.n), rows)
        x, y = records.joint[:, :-2], records.joint[:, -2]
        errors = []
        for b in design.precisions:
            tall = np.vstack([x[inside], math.sqrt(0.3 * b) * np.eye(3)])
            w = np.linalg.lstsq(tall, np.append(y[inside], np.zeros(3)), rcond=None)[0]
            errors.append(np.mean((y[~inside] - x[~inside] @ w) ** 2))
        expected.append(errors)
        means.append(np.mean((y[~inside] - y[inside].mean()) ** 2))
    assert measured.exact.mean == pytest.approx(np.mean(expected, axis=0), rel=1e-9)
    assert measured.exact.standard_error == pytest.approx(np.std(expected, axis=0, ddof=1) / math.sqrt(30), rel=1e-6)
    assert measured.baseline.mean == pytest.approx(np.full(3, np.mean(means)), rel=1e-9)
    assert (measured.train, measured.test, measured.features) == (60, 240, 3)


def test_every_record_is_as_likely_to_be_trained_on_and_none_twice() -> None:
    records, train, repeats = table(40), 10, 4000
    marked = SplitTable(np.eye(40))  # Z'Z then tells which records are in
    counts = marked.split_products(train, stream(1, "uniform"), repeats)
    seen = np.einsum("rii->ri", counts)
    assert set(np.unique(seen)) == {0.0, 1.0}
    assert np.all(seen.sum(axis=1) == train)
    share = seen.mean(axis=0)
    assert np.all(np.abs(share - 0.25) < FAR * math.sqrt(0.25 * 0.75 / repeats))
    assert records.split_products(train, stream(1), 2).shape == (2, 5, 5)


# The law of private draws


def drawn_excess(noise_variance: float, *, claimed_variance: float) -> float:
    """Return by how many standard errors one draw's excess error is off its closed form, in a ball of no effect."""
    records = table(n=60)
    design = study(precisions=(1.0,), repeats=1, train_share=0.5, noise_variance=noise_variance)
    rows = splits(records, 30, 1)[0]
    x, y = records.joint[:, :-2], records.joint[:, -2]
    inside = np.isin(np.arange(60), rows)
    precision = x[inside].T @ x[inside] / claimed_variance + np.eye(3)
    mean = np.linalg.solve(precision, x[inside].T @ y[inside] / claimed_variance)
    moment = x[~inside].T @ x[~inside] / 30
    spread = moment @ np.linalg.inv(precision)
    slope = moment @ mean - x[~inside].T @ y[~inside] / 30
    expected = np.mean((y[~inside] - x[~inside] @ mean) ** 2) + np.trace(spread)
    # The variance of a quadratic form in a Gaussian: 2 tr (A S)^2 + 4 s'S s.
    variance = 2 * np.trace(spread @ spread) + 4 * slope @ np.linalg.solve(precision, slope)
    return float((curves(records, design).private.mean[0] - expected) / math.sqrt(variance / design.draws_made(30)))


def test_one_draw_errs_by_the_posterior_variance_besides_and_the_test_can_fail() -> None:
    assert abs(drawn_excess(0.2, claimed_variance=0.2)) < FAR
    assert abs(drawn_excess(0.4, claimed_variance=0.2)) > FAR


def test_the_mean_of_many_draws_is_that_of_the_truncated_normal_in_one_dimension(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """[Zhang16] Lemma D.1: the cut posterior; its mean from scipy's truncated normal."""
    records = table(d=1)
    bound, design = 0.25, study(precisions=(1.0,), repeats=1, draws=2000, noise_variance=2.0)
    monkeypatch.setattr(RegressionScenario, "norm_bounds", np.array([bound]))
    rows = splits(records, 30, 1)[0]
    inside = np.isin(np.arange(records.n), rows)
    x, y = records.joint[:, 0], records.joint[:, -2]
    precision = x[inside] @ x[inside] / 2 + 1
    mean, sd = x[inside] @ y[inside] / 2 / precision, 1 / math.sqrt(precision)
    cut = truncnorm((-bound - mean) / sd, (bound - mean) / sd, loc=mean, scale=sd)
    result = curves(records, design)
    test = 1 - inside.mean()

    def error(weight: float) -> float:
        return float(np.mean((y[~inside] - x[~inside] * weight) ** 2))

    assert test == pytest.approx(0.9)
    slope = abs(2 * np.mean(x[~inside] * (y[~inside] - x[~inside] * cut.mean())))
    allowed = FAR * slope * cut.std() / math.sqrt(2000) + 1e-5
    assert result.private.mean[0] == pytest.approx(error(cut.mean()), abs=allowed)
    assert abs(error(mean) - error(cut.mean())) > 3 * allowed, "the cut matters here"


def test_the_mean_of_n_draws_is_averaged_over_every_choice_of_n(monkeypatch: pytest.MonkeyPatch) -> None:
    """The error of N = 2 of 4 draws, by enumeration of the 6 pairs."""
    kept: list[np.ndarray] = []
    sample = regression.sample_in_ball

    def watched(*given, **more):  # type: ignore[no-untyped-def]
        kept.append(sample(*given, **more))
        return kept[-1]

    monkeypatch.setattr(RegressionScenario, "draws_made", lambda self, train: 4)
    monkeypatch.setattr(regression, "sample_in_ball", watched)
    records, design = table(n=60), study(precisions=(0.5,), repeats=1, draws=2, train_share=0.5)
    result = curves(records, design)
    inside = np.isin(np.arange(60), splits(records, 30, 1)[0])
    x, y = records.joint[~inside, :-2], records.joint[~inside, -2]
    drawn = kept[0].reshape(4, 3)
    pairs = [np.mean((y - x @ drawn[list(pair)].mean(axis=0)) ** 2) for pair in itertools.combinations(range(4), 2)]
    assert result.private.mean[0] == pytest.approx(np.mean(pairs), rel=1e-9)


@pytest.mark.parametrize("draws", [1, 3])
def test_curves_are_roots_in_the_units_of_the_target_against_epsilon(draws: int) -> None:
    result = curves(table(), study(precisions=(1.0, 100.0), draws=draws, repeats=2))
    best, private, baseline = shown = result.curves(50.0)
    assert best.y == pytest.approx([50 * math.sqrt(result.exact.mean.min())] * 2)
    assert private.y**2 == pytest.approx(2500 * result.private.mean)
    assert private.error == pytest.approx(50 * result.private.standard_error / np.sqrt(result.private.mean) / 2)
    assert baseline.y**2 == pytest.approx(2500 * result.baseline.mean)
    assert all(np.array_equal(curve.x, result.study.certified) for curve in shown)


# Promises, and the figure's shape


@pytest.mark.parametrize(
    ("b", "certified", "printed"),
    [(0.01, 10201, 8.0e7), (1, 121, 8.0e6), (100, 4, 8.3e5), (1e4, 0.40, 1.2e5), (1e6, 0.040, 4.5e4)],
)
def test_both_epsilons_of_figure_2(b: float, certified: float, printed: float) -> None:
    """[Zhang16] Figure 2 and Appendix D: 37,000 training records, 14 features, sigma^2 = 1, B = 10/sqrt(b)."""
    design = RegressionScenario(precisions=(b,))
    assert design.certified[0] == pytest.approx(certified, rel=2e-3)
    stated = design.samplers[0].claimed(37_000, features=14)
    assert stated.epsilon == pytest.approx(printed, rel=3e-2)


def test_the_shape_of_figure_2() -> None:
    """[Zhang16] Figure 2: larger b, worse errors; private only slightly worse where b is small; both end together."""
    result = experiment(RegressionScenario(n=100_000, precisions=tuple(np.geomspace(0.01, 1e6, 9)), repeats=5))
    assert np.all(np.diff(result.exact.mean[2:]) > 0)
    assert result.exact.mean[0] == pytest.approx(0.0226, rel=0.1)
    assert result.exact.mean[-1] == pytest.approx(0.0602, rel=0.1)
    assert np.all(result.private.mean[:3] / result.exact.mean[:3] < 1.1)
    assert result.private.mean[-1] == pytest.approx(result.exact.mean[-1], rel=1e-3)
    assert result.baseline.mean[0] > 2 * result.exact.mean[0]


# Records


def test_the_made_up_census_is_the_same_with_fewer_features() -> None:
    few, all_of_them = (census_like(500, features=d, rng=stream(1)) for d in (3, 14))
    assert few.names == (*CENSUS_FEATURES[:3], "income")
    assert np.array_equal(few.features, all_of_them.features[:, :3])
    assert np.array_equal(few.target, all_of_them.target)
    assert np.mean(np.abs(scaled(all_of_them, CENSUS_BOUNDS).target) == 1) < 0.02


def test_fulton_is_read_as_numbers_with_bounds_that_clip_some_of_it() -> None:
    data, bounds = shipped_regression("fulton")
    assert (data.n, data.features.shape[1], data.names[-1]) == (25_766, 14, "income")
    low, high = np.array([bounds[name] for name in data.names[:-1]]).T
    assert ((low <= data.features) & (data.features <= high)).all(), "only incomes lie outside what is stated"
    assert 0 < np.mean(data.target > bounds["income"][1]) < 0.05
    result = experiment(RegressionScenario(records=Records.FULTON, repeats=3, precisions=(0.01, 1e6)))
    assert result.exact.mean[0] < 0.9 * result.baseline.mean[0]


# Refusals


@pytest.mark.parametrize(
    ("records", "fields", "said"),
    [
        (table(20, 3), {"train_share": 0.01}, "leaves no training or no test records"),
        (table(20, 3), {"train_share": 0.999}, "leaves no training or no test records"),
        (table(20, 3), {"train_share": 0.1}, r"more features \(3\) than training records \(2\)"),
        (table(), {"repeats": 101, "draws": 10_000}, "101 repeats of 10,000 posterior samples are too many"),
        (table(), {"precisions": ()}, "increasing order"),
        (table(), {"precisions": (1.0, 1.0)}, "increasing order"),
        (table(), {"precisions": (0.0,)}, "Prior precision"),
        (table(), {"repeats": 0}, "repeats"),
    ],
)
def test_what_cannot_be_run_is_refused_before_any_work(records: SplitTable, fields: dict, said: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(InputError, match=said):
        curves(records, study(**fields))


def test_a_constant_target_is_refused() -> None:
    data = RegressionData(np.arange(20.0).reshape(10, 2), np.ones(10), ("x", "z", "income"))
    with pytest.raises(InputError, match="same in every record"):
        SplitTable.of(scaled(data, {"x": (0, 20), "z": (0, 20), "income": (0, 2)}))
