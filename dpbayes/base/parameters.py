"""Descriptions of parameters with symbol and range, from which the controls of any mechanism are built."""

import dataclasses
import enum
import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args, get_type_hints

from dpbayes.base.validation import InputError, brief, finite_number, whole_number


@dataclass(frozen=True)
class Parameter:
    """The description of a number: symbol (LaTeX), closed range, typical value, whether its scale is logarithmic.

    `title` is its name on a page if its own name is only a letter; `whole` numbers are integers.
    """

    symbol: str
    low: float
    high: float
    typical: float
    log: bool = False
    whole: bool = False
    title: str = ""
    description: str = ""

    def checked(self, name: str, value: object) -> float:
        """Return `value` as a float, or an int where it is `whole`, within the range. Errors: InputError."""
        if self.whole:
            return whole_number(name, value, low=int(self.low), high=int(self.high))
        return finite_number(name, value, low=self.low, high=self.high)

    @property
    def stops(self) -> Sequence[float]:
        """The stops of a slider: 1, 1.25, 1.6, 2, ... on a logarithmic scale around the useful range, else even steps.

        Whole numbers on such a scale have their full range. The typical value is always a stop.
        """
        low, high = self.low, self.high
        if self.log:
            if not self.whole:
                low, high = max(low, self.typical / 100), min(high, self.typical * 100)
            tens = range(round(10 * math.log10(low)), round(10 * math.log10(high)) + 1)
            even = [float(f"{10 ** (ten / 10):.2g}") for ten in tens]
        else:
            top = min(high, 4 * self.typical)
            even = [float(f"{low + (top - low) * step / 100:.4g}") for step in range(101)]
        inside = {min(max(stop, self.low), self.high) for stop in (*even, low, self.typical)}
        return sorted({int(stop) for stop in inside} if self.whole else inside)


@dataclass(frozen=True)
class Choice:
    """The description of a choice among the members of an enum.

    `labels` are the names of its options on a page, in their order, if links have other texts for them.
    """

    options: type[enum.Enum]
    title: str = ""
    description: str = ""
    labels: tuple[str, ...] = ()

    def label(self, option: enum.Enum) -> str:
        """Return the name of an option on a page."""
        return self.labels[list(self.options).index(option)] if self.labels else label_of(option)

    def checked(self, name: str, value: object) -> enum.Enum:
        """Return `value` if it is a member. Errors: InputError naming the options."""
        if not isinstance(value, self.options):
            options = ", ".join(str(option.value) for option in self.options)
            raise InputError(f"{name} must be one of {brief(options, 200)}.")
        return value


def label_of(option: enum.Enum) -> str:
    """Return the name of an option on a page: its `label`, if links and files have another text for it."""
    return str(getattr(option, "label", option.value))


def read(parameter: Parameter | Choice, name: str, text: str) -> Any:
    """Return a value from text: a number in range, or the option with this value. Errors: InputError."""
    if isinstance(parameter, Parameter):
        return parameter.checked(name, text)
    options = {str(option.value): option for option in parameter.options}
    return parameter.checked(name, options.get(text, text))


def parameters_of(cls: type[Any]) -> dict[str, Parameter | Choice]:
    """Return the annotated parameters of a dataclass by field name, in the order of its fields."""
    return dict(_declared(cls))  # type: ignore[arg-type]  # mypy does not know that a class is hashable


@functools.lru_cache(maxsize=256)
def _declared(cls: type[Any]) -> dict[str, Parameter | Choice]:
    # Every run of a page calls this a hundred times, and most of the time is for the type hints.
    hints = get_type_hints(cls, include_extras=True)
    parameters: dict[str, Parameter | Choice] = {}
    for field in dataclasses.fields(cls):
        for note in get_args(hints[field.name])[1:]:
            if isinstance(note, Parameter | Choice):
                parameters[field.name] = note
    return parameters


def check_parameters(instance: Any) -> None:
    """Check every annotated field of a dataclass instance; for use in `__post_init__`.

    Errors: InputError with one sentence that names the parameter and its range.
    """
    for name, parameter in parameters_of(type(instance)).items():
        value = getattr(instance, name)
        if type(parameter) is Parameter and isinstance(value, str):  # a prior may be a text
            raise InputError(f"{name} must be a number, such as 1 without quotation marks, not {brief(value)}.")
        object.__setattr__(instance, name, parameter.checked(name, value))
