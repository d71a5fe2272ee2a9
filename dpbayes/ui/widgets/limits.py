"""The nearest possible settings, and a message, for a page whose settings exceed the limits of a computation.

A widget of Streamlit has a fixed range. Here, the range of an option depends on other options.
"""

import bisect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpbayes.base.parameters import Parameter
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError
from dpbayes.ui.session.settings import PARAMETERS, Settings, parameter_title
from dpbayes.ui.widgets.show import remark, show_refusal

Attempt = Callable[[Settings], object]
"""Checks settings at little cost, and raises an InputError for settings that exceed a limit."""


@dataclass(frozen=True)
class Possible:
    """Settings that `attempt` accepts, and why they differ from the requested ones: a sentence, or ""."""

    settings: Settings
    giving: Mapping[str, float]
    attempt: Attempt
    why: str = ""

    def stops(self, name: str) -> Sequence[float]:
        """Return the possible stops of an option's slider if the less important options give way."""
        parameter = PARAMETERS[name]
        assert isinstance(parameter, Parameter)
        every, chosen = parameter.stops, self.settings.parameter(name)
        below, above = [x for x in every if x < chosen][::-1], [x for x in every if x > chosen]
        names = list(self.giving)
        others = _given_way(self.settings, {less: self.giving[less] for less in names[names.index(name) + 1 :]})
        return sorted([*self._reached(name, below, others), chosen, *self._reached(name, above, others)])

    def _reached(self, name: str, stops: Sequence[float], others: Settings) -> Sequence[float]:
        """Return the stops up to the last possible one; the stops lead away from the possible values."""
        if not stops or _takes(self.attempt, others.with_parameter(name, stops[-1])):
            return stops
        return stops[: _refused_from(self.attempt, others, name, stops)]


def lowest(name: str) -> float:
    """Return the least value of an option."""
    parameter = PARAMETERS[name]
    assert isinstance(parameter, Parameter)
    return parameter.low


def highest(name: str) -> float:
    """Return the largest value of an option."""
    parameter = PARAMETERS[name]
    assert isinstance(parameter, Parameter)
    return parameter.high


def nearest(requested: Settings, giving: Mapping[str, float], attempt: Attempt) -> Possible:
    """Return the requested settings or, if `attempt` refuses them, the nearest settings that it accepts.

    `giving` has the options that may change, the most important first, each with its extreme value. Errors: InputError
    of the requested settings if `attempt` refuses the extreme values, too.
    """
    try:
        attempt(requested)
    except InputError as error:
        refused = error
    else:
        return Possible(requested, giving, attempt)
    settings = _given_way(requested, giving)
    if not _takes(attempt, settings):
        raise refused
    for name, end in giving.items():
        settings = settings.with_parameter(name, _kept(requested, settings, name, end, attempt))
    changed = [name for name in giving if settings.parameter(name) != requested.parameter(name)]
    shown = ", ".join(f"{parameter_title(name)} = {_number(settings.parameter(name))}" for name in changed)
    return Possible(settings, giving, attempt, f"{refused} The page shows the nearest possible setting: {shown}.")


def nearest_shown(find: Callable[[], Possible]) -> Possible | None:
    """Return the nearest possible settings, with a message if they differ; None after the message of an InputError."""
    try:
        nearby = find()
    except InputError as error:
        show_refusal(error)
        return None
    remark(nearby.why)
    return nearby


def reach_of(name: str, nearby: Possible | None) -> Sequence[float] | None:
    """Return the possible stops of an option's slider; None if the option does not give way."""
    return nearby.stops(name) if nearby is not None and name in nearby.giving else None


def _given_way(settings: Settings, giving: Mapping[str, float]) -> Settings:
    for name, end in giving.items():
        settings = settings.with_parameter(name, end)
    return settings


def _kept(requested: Settings, settings: Settings, name: str, end: float, attempt: Attempt) -> float:
    """Return the value nearest to the requested one, between it and `end`, that `attempt` accepts."""
    wanted: float = requested.parameter(name)
    if wanted == end or _takes(attempt, settings.with_parameter(name, wanted)):
        return wanted
    way = _way(name, end, wanted)
    return way[_refused_from(attempt, settings, name, way) - 1]


def _way(name: str, end: float, wanted: float) -> Sequence[float]:
    """Return the values from `end` to just before the wanted one: all whole numbers, or the stops of the slider."""
    parameter = PARAMETERS[name]
    assert isinstance(parameter, Parameter)
    if parameter.whole:
        return range(int(end), int(wanted), 1 if wanted > end else -1)
    low, high = sorted((end, wanted))
    between = [stop for stop in parameter.stops if low < stop < high]
    return [end, *(between if end == low else reversed(between))]


def _refused_from(attempt: Attempt, settings: Settings, name: str, values: Sequence[float]) -> int:
    """Return the index of the first value that `attempt` refuses; it accepts all values before."""
    return bisect.bisect_left(
        values, x=True, key=lambda value: not _takes(attempt, settings.with_parameter(name, value))
    )


def _takes(attempt: Attempt, settings: Settings) -> bool:
    try:
        attempt(settings)
    except InputError:
        return False
    return True


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else numeral(value, 6)
