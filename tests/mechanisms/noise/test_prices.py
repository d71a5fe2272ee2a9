"""Noise of a scale for each number keeps the promise: in fractions, over all neighbours, of what is really drawn."""

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.audit.loss.tables import all_tables
from dpbayes.base.amounts import number_of
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.exact_form import DISCRETE_GAUSSIAN, DISCRETE_LAPLACE, ExactNoise, shared_answer, with_noise
from dpbayes.mechanisms.noise import sensitivity
from dpbayes.mechanisms.noise.sensitivity import checked_prices, largest_charge, most_charged, whole_prices
from dpbayes.model import residual_design
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.model.residual_design import Charges
from dpbayes.releases.document import read_document
from dpbayes.releases.document.request import ReleaseRequest, request_from
from dpbayes.releases.signing import NOT_SIGNED
from dpbayes.releases.verify import verify
from tests.releases.asking import counted, drawn, no_noise, replace_draw, request_of
from tests.strategies import ASIA, DIAMOND, V_STRUCTURE, networks

MIXED = Network.from_edges(
    "abcd", ["ab", "bc", "ac"], {"a": ["x", "y", "z"], "b": ["0", "1"], "c": ["0", "1", "2", "3"], "d": ["only"]}
)
CASES = [("residuals", network) for network in (V_STRUCTURE, DIAMOND, MIXED)]


def lost(request: ReleaseRequest, patch: pytest.MonkeyPatch) -> Fraction:
    """The worst loss over all neighbouring tables of one record, exactly, at the numbers and scales that are drawn."""
    scales: list[float] = []

    def same(values, own):
        scales[:] = own
        return tuple(values.tolist())

    with patch.context() as context:
        replace_draw(context, same)
        tables = all_tables(request.network, n=1)
        values = [request.entry.draw(request, counts, request.calibrated.scale) for counts in tables.counts]
    exact = [Fraction(scale) for scale in scales]
    moves = {tuple(np.subtract(values[x], values[y]).tolist()) for x, y in tables.pairs}
    if request.rho:
        return max(sum(Fraction(m * m) / (2 * s * s) for m, s in zip(move, exact, strict=True)) for move in moves)
    return max(sum(Fraction(abs(m)) / s for m, s in zip(move, exact, strict=True)) for move in moves)


@pytest.mark.parametrize(("mechanism", "network"), CASES)
def test_no_pair_of_tables_loses_more_than_is_promised_and_one_loses_all_but_nothing_less(
    monkeypatch, mechanism, network
):
    request = request_of(network, mechanism=mechanism, n=1)
    loss, promised = lost(request, monkeypatch), number_of(request.cost)
    assert promised * (1 - Fraction(1, 2**40)) <= loss <= promised


def _short_of(by: float) -> Callable[..., float]:
    """Scales to twelve bits that are rounded down, or a share of what they must be."""
    own = ExactNoise.own_scale

    def scale(law: ExactNoise, base: Fraction, price: Fraction) -> float:
        kept = by * own(law, base, price)
        step = 2.0 ** (math.frexp(kept)[1] - 12)
        return math.floor(kept / step) * step

    return scale


@pytest.mark.parametrize("by", [1.0, 0.5])
@pytest.mark.parametrize(("mechanism", "network"), CASES)
def test_scales_rounded_down_are_caught_by_the_enumeration_and_by_opendps_map(monkeypatch, mechanism, network, by):
    """The numbers' own scales alone: the common one is as it must be."""
    request = request_of(network, mechanism=mechanism, n=1)
    kept = request.calibrated
    monkeypatch.setattr(ExactNoise, "own_scale", _short_of(by))
    assert lost(request, monkeypatch) > number_of(request.cost)
    assert request.entry.answer(request, float(kept.scale)) > number_of(request.cost)


@pytest.mark.parametrize(("mechanism", "network"), CASES)
def test_prices_that_are_not_charged_are_caught_by_the_enumeration(monkeypatch, mechanism, network):
    """Where the sum forgets every other set, records that differ in its nodes lose too much."""
    real = sensitivity.charge_tables
    monkeypatch.setattr(
        sensitivity, "charge_tables", lambda net, own: real(net, np.where(np.arange(len(own)) % 2, 0, own))
    )
    assert lost(request_of(network, mechanism=mechanism, n=1), monkeypatch) > Fraction(1, 2)


def test_an_own_scale_is_not_below_the_share_that_is_promised():
    for base, price in product((Fraction(1, 3), Fraction(10**6 + 1, 7)), (3, 7, 1001)):
        assert Fraction(DISCRETE_LAPLACE.own_scale(base, price)) >= base / price
        assert Fraction(DISCRETE_GAUSSIAN.own_scale(base, Fraction(price, 5))) ** 2 >= base**2 / Fraction(price, 5)


# The sum over the worst record


@given(networks(most_nodes=4), st.integers(0, 2**32 - 1))
def test_the_whole_sum_is_that_of_the_worst_record_among_all(network, seed):
    sizes = network.residuals.sizes[1:]
    own = np.where(sizes > 0, np.random.default_rng(seed).integers(1, 1000, len(sizes)), 0).tolist()
    every = np.array(list(product((0, 1), repeat=len(network.names))))
    charges = Charges(network.residuals)
    of_units = np.divide(sizes, charges.factors[1:], out=np.zeros(len(sizes)), where=sizes > 0)
    by_hand = np.rint((charges.moved(every)[:, 1:] @ (own * of_units)).max(initial=0.0))
    assert most_charged(network, own).value == by_hand
    assert most_charged(network, own).exact


def test_families_that_are_too_dense_are_charged_each_by_itself_and_no_less(monkeypatch):
    own = request_of(ASIA, mechanism="residuals").prices
    exact = most_charged(ASIA, own)
    monkeypatch.setattr("dpbayes.model.elimination.MAX_TABLE_BITS", 2)
    bound = most_charged(ASIA, own)
    assert (exact.exact, bound.exact) == (True, False)
    assert bound.value > exact.value
    assert "bounded" in request_of(ASIA, mechanism="residuals").sensitivity.lemma


# Prices


@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-12, 1e12)), min_size=1, max_size=9))
def test_whole_prices_are_near_the_wanted_ones_and_never_none(wanted):
    values = np.array(wanted)
    whole = np.array(whole_prices(values), dtype=np.float64)
    assert ((whole > 0) == (values > 0)).all()
    large = values > values.max() / 2.0**36
    if large.any():
        ratio = whole[large] / values[large]
        assert ratio.max() / ratio.min() <= (1 + 1 / 64) ** 2
        assert len({price // (price & -price) for price in whole_prices(values) if price}) <= 64


@pytest.mark.parametrize(
    ("stated", "said"),
    [
        ((1,) * 4, "4 prices were stated; the network has 5 sets"),
        ((1, 1, 1, 1, 0), "must be an integer above 0"),
        ((1, 1, 1, 1, -1), "must be an integer above 0"),
        ((1, 1, 1, 1, True), "must be an integer above 0"),
        ((2**60,) * 5, "too large"),
        ((2**60 - 4, 1, 1, 1, 1), "too large"),
    ],
)
def test_prices_that_cannot_be_are_refused(stated, said):
    with pytest.raises(InputError, match=said):
        checked_prices(Network.from_edges("abc", ["ab", "bc"]), stated)


@pytest.mark.parametrize("mechanism", ["residuals"])
def test_a_file_without_prices_is_refused_before_any_are_searched_for(monkeypatch, mechanism):
    content = {name: value for name, value in request_of(ASIA, mechanism=mechanism).content.items() if name != "prices"}
    monkeypatch.setattr(residual_design, "_best_weights", lambda *_, **__: pytest.fail("it was searched for"))
    with pytest.raises(InputError, match="must state the prices"):
        request_from(content)


def test_only_a_mechanism_of_many_scales_has_prices():
    with pytest.raises(InputError, match="no prices"):
        request_of(ASIA, prices=(1,) * 20)
    stated = request_of(ASIA, mechanism="residuals", prices=(1,) * 20)
    assert stated.content != request_of(ASIA, mechanism="residuals").content


# What a recipient makes of it


@pytest.mark.parametrize("mechanism", ["residuals"])
@pytest.mark.parametrize("network", [ASIA, MIXED])
def test_without_noise_the_tables_are_the_true_ones(monkeypatch, mechanism, network):
    replace_draw(monkeypatch, no_noise)
    request, counts = request_of(network, mechanism=mechanism), counted(network)
    document = read_document(drawn(request, counts))
    np.testing.assert_allclose(document.tables.outcome.updates, counts.values, atol=1e-9)


def test_whole_residuals_are_exact_where_doubles_are_not():
    """Of 10^12 records a double's residual is off by many."""
    values = np.array([10**17 + 1, 10**17 + 3, 5], dtype=np.int64)
    network = Network.from_edges("a", [], {"a": ["x", "y", "z"]})
    assert network.residuals.whole(values).tolist() == [2 * 10**17 + 9, -2, 2 * 10**17 + 4 - 10]
    np.testing.assert_allclose(
        MIXED.residuals.whole(counted(MIXED).values),
        MIXED.residuals.of_tables(counted(MIXED).values.astype(float)) * MIXED.residuals.lengths,
        atol=1e-9,
    )


@pytest.mark.parametrize("mechanism", ["residuals"])
def test_the_stated_variances_are_those_of_the_scales_that_are_drawn(mechanism):
    request = request_of(ASIA, mechanism=mechanism)
    stated = read_document(drawn(request)).tables.outcome.noise_model.variances[1:]
    scales = np.array(request.entry.own_scales(request, request.calibrated.scale))
    sizes = np.array([member.bit_count() for member in ASIA.closure.members[1:]])
    variances = noise_variances(mechanism, scales) / 2.0**sizes
    np.testing.assert_allclose(stated, variances, rtol=1e-6)


def noise_variances(mechanism: str, scales: np.ndarray) -> np.ndarray:
    if mechanism == "residuals":
        return scales**2
    return np.array([2 * sum(k * k * math.tanh(0.5 / b) * math.exp(-k / b) for k in range(1, 4000)) for b in scales])


def test_each_number_gets_noise_of_its_own_scale_in_its_own_place():
    """Of 4,000 draws the mean square is off by a quarter, seven of its standard deviations, in one of 10^9 at most."""
    scales = np.tile([1.5, 40.0, 6.0], 4_000)
    values = np.arange(len(scales), dtype=np.int64) * 10**6
    for law, name in ((DISCRETE_LAPLACE, "laplace"), (DISCRETE_GAUSSIAN, "residuals")):
        drawn = with_noise(law, values, scales.tolist())
        assert all(isinstance(value, int) for value in drawn)
        off = (np.array(drawn) - values).reshape(-1, 3).astype(float)
        ratio = (off**2).mean(axis=0) / noise_variances(name, scales[:3])
        assert (np.abs(ratio - 1) < 0.25).all()
        assert np.abs(off).max() < 10**4


@pytest.mark.parametrize(
    ("mechanism", "network", "loss"),
    [("residuals", MIXED, {"rho": Fraction(1, 10**7)}), ("residuals", MIXED, {"rho": Fraction(500)})],
)
def test_a_release_at_an_end_of_the_range_of_one_record_is_verified(mechanism, network, loss):
    verification = verify(drawn(request_of(network, mechanism=mechanism, n=1, **loss)))
    assert verification.holds
    assert verification.left_out == (NOT_SIGNED,)


def test_a_release_of_records_that_are_all_in_the_last_of_several_states_is_verified() -> None:
    """Its last residual is -3 n, farther from zero than any count is."""
    n, network = 10**6, Network.from_edges("a", [], {"a": "wxyz"})
    document = drawn(request_of(network, mechanism="residuals", n=n), Counts(network, np.array([0, 0, 0, n]), n))
    assert min(read_document(document).sampled.integers) < -2 * n
    assert verify(document).holds


def test_prices_up_to_what_whole_numbers_hold_are_charged_exactly() -> None:
    network = Network.from_edges("abc", ["ab", "bc"])
    assert network.residuals.sizes.tolist()[1:] == [1] * 5
    prices = (2**60 - 5, 1, 1, 1, 1)
    assert checked_prices(network, prices) == prices
    assert 2 * prices[0] < most_charged(network, prices).value <= 2 * sum(prices)


@pytest.mark.parametrize("stated", [(0, 2**60 - 4, 1, 1, 1, 1), (0, 2**62 - 5, 1, 1, 1, 1), (1, 1, 1, 1, 1, 1)])
def test_a_charge_that_64_bits_may_not_hold_and_a_price_of_the_empty_set_are_refused(stated: tuple[int, ...]) -> None:
    network = Network.from_edges("abc", ["ab", "bc"])
    with pytest.raises(InputError, match="the price of the empty set must be 0"):
        largest_charge(network, np.array(stated, dtype=np.int64))


@pytest.mark.parametrize("scale", [Fraction(3), Fraction(1000, 7), Fraction(12345, 1)])
def test_numbers_lose_together_no_less_than_any_of_them_per_price(scale: Fraction) -> None:
    prices, charge = (64, 65, 97, 127 << 9), 1234
    for law in (DISCRETE_LAPLACE, DISCRETE_GAUSSIAN):
        together = Fraction(shared_answer(law, [Fraction(price) for price in prices], charge, float(scale)))
        per_price = [Fraction(law.answer(1, law.own_scale(scale, Fraction(price)))) / price for price in prices]
        assert len(set(per_price)) > 1, "rounding parts them"
        assert charge * max(per_price) <= together <= charge * max(per_price) * (1 + Fraction(1, 2**50))
