"""The nearest possible setting: what was asked for where it can be done, else as near as its limits leave."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.ui.session.settings import PARAMETERS, Settings
from dpbayes.ui.widgets.limits import nearest

GIVING = {"accuracy.training": 1, "accuracy.repeats": 2}


def settings(**values: float) -> Settings:
    chosen = Settings()
    for name, value in values.items():
        chosen = chosen.with_parameter(f"accuracy.{name}", value)
    return chosen


def affordable(requested: Settings) -> None:
    """Train on less than all, and work no more than a thousand steps."""
    options = requested.options("accuracy")
    if options.training >= options.records:
        raise InputError("There are too few records.")
    if options.training * options.repeats > 1000:
        raise InputError("That is too much work.")


def test_what_can_be_done_is_left_alone() -> None:
    requested = settings(records=100, training=10, repeats=100)
    affordable_one = nearest(requested, GIVING, affordable)
    assert affordable_one.settings == requested
    assert not affordable_one.why


@given(st.integers(2, 10**7), st.integers(1, 10**7), st.integers(2, 10**9))
def test_no_option_gives_way_by_more_than_it_must(records: int, training: int, repeats: int) -> None:
    requested = settings(records=records, training=training, repeats=repeats)
    affordable_one = nearest(requested, GIVING, affordable)
    options = affordable_one.settings.options("accuracy")
    assert options.training == min(training, records - 1, 500)
    assert options.repeats == min(repeats, 1000 // options.training)
    assert options.records == records
    assert bool(affordable_one.why) == (affordable_one.settings.options("accuracy") != requested.options("accuracy"))


def test_the_sentence_says_what_is_too_much_and_what_is_shown() -> None:
    affordable_one = nearest(settings(records=20_000_00, training=40, repeats=10**9), GIVING, affordable)
    assert affordable_one.why == "That is too much work. The page shows the nearest possible setting: repeats = 25."


def test_an_option_may_give_way_upwards_and_by_stops() -> None:
    def rising(requested: Settings) -> None:
        options = requested.options("accuracy")
        if not options.low < options.high:
            raise InputError("The range is empty.")

    ends = {name: getattr(PARAMETERS[f"accuracy.{name}"], name) for name in ("low", "high")}
    giving = {"accuracy.high": ends["high"], "accuracy.low": ends["low"]}
    affordable_one = nearest(settings(low=3.2, high=1.0), giving, rising)
    options = affordable_one.settings.options("accuracy")
    assert (options.low, options.high) == (0.79, 1.0)
    top = nearest(settings(low=3.2), dict(reversed(giving.items())), rising).stops("accuracy.high")
    assert min(top) == 4.0
    assert max(top) == 1000.0


def test_a_slider_ends_where_it_leaves_nothing_to_what_matters_less() -> None:
    affordable_one = nearest(settings(records=60, training=10, repeats=100), GIVING, affordable)
    assert max(affordable_one.stops("accuracy.training")) == 50  # the next stop is 63
    assert max(affordable_one.stops("accuracy.repeats")) == 100
    assert min(affordable_one.stops("accuracy.repeats")) == 2
    freer = nearest(settings(records=10_000, training=3), GIVING, affordable)
    assert max(freer.stops("accuracy.training")) == 500
    assert max(freer.stops("accuracy.repeats")) == 320


def test_where_nothing_helps_the_refusal_is_that_of_the_requested_settings() -> None:
    def never(_: Settings) -> None:
        raise InputError("There is no table.")

    with pytest.raises(InputError, match="There is no table"):
        nearest(settings(), GIVING, never)
