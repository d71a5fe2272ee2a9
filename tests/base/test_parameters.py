import enum
from dataclasses import dataclass
from typing import Annotated

import pytest

from dpbayes.base.parameters import Choice, Parameter, check_parameters, parameters_of
from dpbayes.base.validation import InputError


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, kw_only=True)
class Example:
    plain: int = 0
    width: Annotated[float, Parameter("w", low=1, high=2, typical=1.5)] = 1.0
    colour: Annotated[Colour, Choice(Colour)] = Colour.RED
    draws: Annotated[int, Parameter("N", low=1, high=9, typical=1, whole=True)] = 1

    def __post_init__(self):
        check_parameters(self)


def test_annotated_fields_are_found_in_order_and_plain_ones_are_not():
    assert list(parameters_of(Example)) == ["width", "colour", "draws"]


def test_a_checked_number_becomes_a_float_even_on_a_frozen_instance():
    assert isinstance(Example(width=1).width, float)


@pytest.mark.parametrize("width", [0, -1, 3, float("inf"), float("nan"), "wide", None, True])
def test_a_bad_number_is_refused_by_name(width):
    with pytest.raises(InputError, match="width must be"):
        Example(width=width)


@pytest.mark.parametrize("colour", ["red", None, 1])
def test_a_choice_outside_the_options_is_refused_and_the_options_are_named(colour):
    with pytest.raises(InputError, match='colour must be one of "red, blue"'):
        Example(colour=colour)


@pytest.mark.parametrize("draws", [2, 2.0])
def test_a_whole_number_becomes_an_integer(draws):
    assert type(Example(draws=draws).draws) is int
    assert Example(draws=draws).draws == 2
