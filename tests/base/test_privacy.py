import math

import pytest

from dpbayes.base.privacy import NON_PRIVATE, Guarantee, Neighbours, compose
from dpbayes.base.validation import InputError


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
        (NON_PRIVATE, "no privacy guarantee"),
    ],
)
def test_a_guarantee_reads_as_in_a_paper(guarantee, text):
    assert str(guarantee) == text


def test_guarantees_are_about_replacing_one_record():
    assert Guarantee(1).neighbours is Neighbours.REPLACE_ONE
    assert "same public size n" in Neighbours.REPLACE_ONE.value


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

    with pytest.raises(InputError, match="do not add up"):
        compose([Guarantee(1), Other()])
