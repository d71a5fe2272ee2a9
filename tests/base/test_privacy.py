import math

import pytest

from dpbayes.base.privacy import NON_PRIVATE, Guarantee, compose
from dpbayes.base.validation import InputError
from dpbayes.base.zcdp import zcdp_epsilon


@pytest.mark.parametrize("values", [(-1,), (math.nan,), (1, -0.1), (1, 1.1), (1, math.nan)])
def test_what_is_no_guarantee_is_refused(values):
    with pytest.raises(InputError, match="not a privacy guarantee"):
        Guarantee(*values)


@pytest.mark.parametrize(
    ("guarantee", "private"),
    [
        (Guarantee(0), True),
        (Guarantee(1e3, 0.5), True),
        (Guarantee(1, 1), False),
        (Guarantee(math.inf), False),
        (NON_PRIVATE, False),
    ],
)
def test_infinite_epsilon_or_delta_one_promise_nothing(guarantee, private):
    assert guarantee.is_private is private


@pytest.mark.parametrize(
    ("guarantee", "text"),
    [
        (Guarantee(1), "ε = 1"),
        (Guarantee(32 / 34), "ε = 0.9412"),
        (Guarantee(0.5, 1e-6), "ε = 0.5, δ = 10⁻⁶"),
        (Guarantee(0.5, 1e-6, rho=0.01234567), "ε = 0.5, δ = 10⁻⁶"),
        (NON_PRIVATE, "no privacy guarantee"),
    ],
)
def test_a_guarantee_reads_as_in_a_paper(guarantee, text):
    assert str(guarantee) == text


def test_epsilons_and_deltas_add_up_in_any_order():
    parts = [Guarantee(1, 0.1), Guarantee(0.5), Guarantee(2, 0.3)]
    for order in (parts, parts[::-1]):
        assert compose(order).epsilon == pytest.approx(3.5)
        assert compose(order).delta == pytest.approx(0.4)


def test_deltas_add_up_to_one_at_most():
    assert compose([Guarantee(1, 0.7), Guarantee(1, 0.7)]).delta == 1


def test_nothing_released_costs_nothing_and_an_exact_value_costs_everything():
    assert compose([]).epsilon == 0
    assert not compose([Guarantee(1), NON_PRIVATE]).is_private


def test_promises_about_different_neighbours_are_not_added():
    class Other:
        epsilon, delta, neighbours = 1.0, 0.0, "something else"

    with pytest.raises(InputError, match="cannot be composed"):
        compose([Guarantee(1), Other()])


# rho


@pytest.mark.parametrize("rho", [-1e-9, math.nan])
def test_a_rho_that_is_none_is_refused(rho):
    with pytest.raises(InputError, match="not a privacy guarantee"):
        Guarantee(1, 1e-6, rho=rho)


def test_a_rho_without_an_epsilon_at_some_delta_is_refused():
    with pytest.raises(InputError, match="also needs a finite ε"):
        Guarantee(math.inf, rho=0.1)


def test_a_rho_is_stated_in_full_only():
    assert Guarantee(0.5, 1e-6, rho=0.01234567).in_full == "ε = 0.5, δ = 10⁻⁶, ρ = 0.01235"
    assert Guarantee(0.5).in_full == str(Guarantee(0.5))


def test_a_pure_promise_implies_a_rho_and_one_with_a_delta_implies_none():
    assert Guarantee(1).zcdp == pytest.approx(math.tanh(0.5))
    assert Guarantee(1, rho=0.1).zcdp == 0.1
    assert Guarantee(1, rho=0.9).zcdp == pytest.approx(math.tanh(0.5))
    assert Guarantee(1, 1e-6).zcdp == math.inf
    assert NON_PRIVATE.zcdp == math.inf
    assert math.isinf(Guarantee(1).rho), "what follows is not what is promised"


def test_rhos_add_up_and_pure_promises_bring_the_one_that_they_imply():
    gaussian = Guarantee(1, 1e-6, rho=0.02)
    assert compose([gaussian] * 3).rho == pytest.approx(0.06)
    assert compose([gaussian, Guarantee(0.1)]).rho == pytest.approx(0.02 + 0.1 * math.tanh(0.05))
    assert math.isinf(compose([gaussian, Guarantee(1, 1e-6)]).rho)
    assert math.isinf(compose([Guarantee(0.1), Guarantee(0.1)]).rho)


def test_many_releases_with_a_rho_lose_less_together_than_their_epsilons_add_up_to():
    many = compose([Guarantee(1, 1e-6, rho=0.02)] * 20)
    assert many.delta == pytest.approx(2e-5)
    assert many.epsilon == pytest.approx(zcdp_epsilon(0.4, delta=2e-5))
    assert many.epsilon < 6


def test_pure_promises_beside_one_with_a_rho_cost_whichever_is_less():
    gaussian = Guarantee(0.9, 1e-6, rho=0.02)
    few, many = [gaussian, Guarantee(0.5)], [gaussian, *[Guarantee(0.05)] * 200]
    assert compose(few).epsilon <= zcdp_epsilon(0.02, delta=1e-6) + 0.5
    assert compose(many).epsilon == pytest.approx(zcdp_epsilon(0.02 + 200 * 0.05 * math.tanh(0.025), delta=1e-6))
    assert compose([*many, Guarantee(1, 1e-3)]).epsilon == pytest.approx(compose(many).epsilon + 1)


def test_pure_promises_alone_cost_the_sum_of_their_epsilons_and_no_delta():
    assert compose([Guarantee(0.01)] * 400).epsilon == pytest.approx(4)
    assert compose([Guarantee(0.01)] * 400).delta == 0
