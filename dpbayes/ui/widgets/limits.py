"""The nearest possible settings, and a sentence, for a page whose settings exceed what can be computed.

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

Attempt = Callable[[Settings], object]
"""Tries settings out, at little cost, and raises an InputError for what cannot be done."""


@dataclass(frozen=True)
class Possible:
    """Settings that `attempt` takes, and why they are not those asked for: a sentence, "" where they are."""

    settings: Settings
    giving: Mapping[str, float]
    attempt: Attempt
    why: str = ""

    def stops(self, name: str) -> Sequence[float]:
        """Return the stops of an option's slider that can be done if what matters less than it gives way."""
        parameter = PARAMETERS[name]
        assert isinstance(parameter, Parameter)
        every, chosen = parameter.stops, self.settings.parameter(name)
        below, above = [x for x in every if x < chosen][::-1], [x for x in every if x > chosen]
        names = list(self.giving)
        others = _given_way(self.settings, {less: self.giving[less] for less in names[names.index(name) + 1 :]})
        return sorted([*self._reached(name, below, others), chosen, *self._reached(name, above, others)])

    def _reached(self, name: str, stops: Sequence[float], others: Settings) -> Sequence[float]:
        """Return the first of some stops, ever farther from what is possible, up to the last that is."""
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
    """Return the settings asked for or, where `attempt` refuses these, the nearest that it takes.

    `giving` are the options that may give way, what matters most first, each with the value at which it has given way
    in full. Errors: InputError of what was asked for, where none of them helps.
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


def _given_way(settings: Settings, giving: Mapping[str, float]) -> Settings:
    for name, end in giving.items():
        settings = settings.with_parameter(name, end)
    return settings


def _kept(requested: Settings, settings: Settings, name: str, end: float, attempt: Attempt) -> float:
    """Return the value nearest to the one asked for that `attempt` takes, on the way from `end` to it."""
    wanted: float = requested.parameter(name)
    if wanted == end or _takes(attempt, settings.with_parameter(name, wanted)):
        return wanted
    way = _way(name, end, wanted)
    return way[_refused_from(attempt, settings, name, way) - 1]


def _way(name: str, end: float, wanted: float) -> Sequence[float]:
    """Return the values from `end` to just before the one wanted: every whole number, or the stops of the slider."""
    parameter = PARAMETERS[name]
    assert isinstance(parameter, Parameter)
    if parameter.whole:
        return range(int(end), int(wanted), 1 if wanted > end else -1)
    low, high = sorted((end, wanted))
    between = [stop for stop in parameter.stops if low < stop < high]
    return [end, *(between if end == low else reversed(between))]


def _refused_from(attempt: Attempt, settings: Settings, name: str, values: Sequence[float]) -> int:
    """Return the place of the first value that `attempt` refuses, of values that it takes up to some place."""
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
