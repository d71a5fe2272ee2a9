"""Robustness of posteriors: known divergences by hand and by quadrature, and what the bounds have to satisfy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from dpbayes.base.validation import InputError
from dpbayes.experiments.robustness import NeighbourTables, RecordFamily, robustness

FAMILIES = list(RecordFamily)


def posteriors(tables: NeighbourTables, prior: float) -> tuple[stats.rv_continuous, stats.rv_continuous]:
    """Return the posteriors of x and y from the records, one by one, without the module's own parameters."""
    n = tables.records
    if tables.family is RecordFamily.BINOMIAL:
        ones = max(1, round(n * tables.share))
        return stats.beta(prior + ones, prior + n - ones), stats.beta(prior + ones - 1, prior + n - ones + 1)
    x = np.full(n, tables.value)
    y = x.copy()
    y[0] += tables.distance
    if tables.family is RecordFamily.EXPONENTIAL:
        return tuple(stats.gamma(1 + n, scale=1 / (prior + table.sum())) for table in (x, y))
    return tuple(stats.gamma(1 + n / 2, scale=1 / (prior + (table**2).sum() / 2)) for table in (x, y))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("prior", [0.5, 3.0, 40.0])
def test_exact_divergences_by_quadrature(family: RecordFamily, prior: float) -> None:
    tables = NeighbourTables(family, 7, 0.3, 2.0, 0.6)
    result = robustness(tables, [prior], error=0.1)
    x, y = posteriors(tables, prior)
    for one, other, value in ((x, y, result.exact), (y, x, result.reverse)):
        low, high = one.ppf([1e-13, 1 - 1e-13])
        by_hand = integrate.quad(
            lambda t, one=one, other=other: one.pdf(t) * (one.logpdf(t) - other.logpdf(t)), low, high, limit=400
        )[0]
        assert value[0] == pytest.approx(by_hand, rel=1e-5)


@given(
    family=st.sampled_from(FAMILIES),
    n=st.integers(1, 2000),
    value=st.floats(0, 20),
    distance=st.floats(0.05, 500),
    share=st.floats(0, 1),
    error=st.floats(0.002, 0.45),
)
def test_the_proved_bound_and_the_bracket_hold(
    family: RecordFamily, n: int, value: float, distance: float, share: float, error: float
) -> None:
    tables = NeighbourTables(family, n, value, distance, share)
    result = robustness(tables, np.geomspace(0.05, 2000, 7), error=error)
    assert np.all(result.exact + result.reverse <= result.proved * (1 + 1e-6) + 1e-10)
    assert np.all(result.least <= result.most * (1 + 1e-9))
    assert np.all(np.isfinite(result.most))
    assert np.all(result.moved >= 0)


def test_the_default_breaks_the_printed_bound_by_hand() -> None:
    # Twenty exponential records of 0.05 sum to 1; one moved by 10. Rates 10 + 1 and 21, shape 21, under Exp(10).
    tables = NeighbourTables(RecordFamily.EXPONENTIAL, 20, 0.05, 10.0)
    result = robustness(tables, [10.0], error=0.05)
    assert result.exact[0] == pytest.approx(21 * (10 / 11 - math.log(21 / 11)))
    assert result.reverse[0] == pytest.approx(21 * (math.log(21 / 11) - 10 / 21))
    assert result.printed[0] == pytest.approx(4.910814964568256 * 10 / 10)
    assert result.proved[0] == pytest.approx(10 * 21 * (1 / 11 + 1 / 21))
    assert result.broken[0]
    assert not robustness(tables, [1000.0], error=0.05).broken[0]


@pytest.mark.parametrize(("family", "rho"), [("exponential", 4.0), ("normal", 4 * (2 * 3 + 4) + 8), ("binomial", 1.0)])
def test_the_distance_of_the_tables(family: str, rho: float) -> None:
    assert NeighbourTables(RecordFamily(family), 5, 3.0, 4.0).rho == rho


@pytest.mark.parametrize("family", FAMILIES)
def test_assumption_2_holds_with_this_c_and_distance(family: RecordFamily) -> None:
    # The prior mass of the parameters at which a record moves ln p by more than L rho, by a grid of quantiles.
    tables = NeighbourTables(family, 5, 1.5, 2.5)
    prior = 2.0
    quantiles = (np.arange(200_000) + 0.5) / 200_000
    if family is RecordFamily.BINOMIAL:
        theta = stats.beta(prior, prior).ppf(quantiles)
        moved = np.abs(np.log(theta) - np.log1p(-theta))
    elif family is RecordFamily.EXPONENTIAL:
        moved = stats.expon(scale=1 / prior).ppf(quantiles) * tables.distance
    else:
        moved = stats.expon(scale=1 / prior).ppf(quantiles) * ((1.5 + 2.5) ** 2 - 1.5**2) / 2
    c = float(tables.concentration(prior))
    for level in (0.1, 0.5, 1.0, 2.0, 4.0):
        assert np.mean(moved > level * tables.rho) <= math.exp(-c * level) + 1e-5


def test_an_all_zero_binomial_table_has_still_a_record_to_replace() -> None:
    assert NeighbourTables(RecordFamily.BINOMIAL, 9, share=0.0).ones == 1


def test_the_promise_is_refuted_only_where_a_whole_number_of_answers_is() -> None:
    tables = NeighbourTables(RecordFamily.EXPONENTIAL, 1, 0.0, 0.01)
    result = robustness(tables, np.geomspace(0.01, 100, 41), error=0.05)
    assert result.too_few.any()
    for least, promised, refuted in zip(result.least, result.promised, result.too_few, strict=True):
        assert refuted == (least > max(1, math.ceil(promised)))


def test_a_coin_is_right_half_of_the_time() -> None:
    with pytest.raises(InputError, match="below 1/2"):
        robustness(NeighbourTables(RecordFamily.BINOMIAL, 3), [1.0], error=0.5)
