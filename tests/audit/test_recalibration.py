"""The search for the largest setting that meets a target: few settings are tried, whatever shape the slack has."""

import math
from collections.abc import Callable

import pytest

from dpbayes.audit.recalibration import _KnobSearch
from dpbayes.base.validation import InputError

ROOT = 1.3
SHAPES: dict[str, tuple[Callable[[float], float], int]] = {
    "linear": (lambda x: ROOT - x, 30),
    "logarithm": (lambda x: math.log(ROOT / x), 30),
    "steep power": (lambda x: (ROOT / x) ** 8 - 1, 30),
    "exponential": (lambda x: 1 - math.exp(min(5 * (x - ROOT), 500)), 30),
    "step down": (lambda x: 1e-9 if x <= ROOT else -1e9, 60),
    "step up": (lambda x: 1e9 if x <= ROOT else -1e-9, 60),
    "infinite where it meets the target": (lambda x: math.inf if x <= ROOT else -1.0, 60),
}


def tried(slack: Callable[[float], float], start: float) -> tuple[list[float], float]:
    """Return the settings that were tried, and the result."""
    search, settings = _KnobSearch(start), list[float]()
    while not search.is_close:
        settings.append(search.next_setting())
        search = search.with_slack(settings[-1], slack(settings[-1]))
        assert len(settings) <= 1000
    return settings, search.low


@pytest.mark.parametrize("start", [0.01, 0.4, 1.0, 1.29, 2.0, 100.0])
@pytest.mark.parametrize("shape", SHAPES)
def test_few_settings_are_tried_and_the_result_is_next_to_the_largest(shape: str, start: float) -> None:
    slack, most = SHAPES[shape]
    settings, result = tried(slack, start)
    assert len(settings) <= most
    assert result in settings
    assert ROOT * (1 - 1e-5) <= result <= ROOT * (1 + 1e-15)


def test_a_target_that_all_settings_meet_has_the_largest() -> None:
    assert tried(lambda x: 1.0, 5.0)[1] == 1e3


def test_a_target_that_no_setting_meets_is_refused() -> None:
    with pytest.raises(InputError, match="Even the smallest internal epsilon"):
        tried(lambda x: -1.0, 5.0)
