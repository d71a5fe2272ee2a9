"""The parameters of a guarantee, exactly as a person types them: epsilon, rho, and (epsilon, delta)."""

from fractions import Fraction

from dpbayes.base.amounts import EpsilonDelta, amount_text
from dpbayes.base.parameters import Parameter
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.parameters import DELTA, EPSILON
from dpbayes.releases.document.canonical import decimal

_MOST_PLACES = 12
"""The largest number of decimal places of an epsilon."""

_MOST_DELTA_PLACES = 18

_RHO_RANGE, _MOST_RHO_PLACES = (Fraction(1, 10**7), Fraction(500)), 15
"""For a rho in this range, epsilon at the smallest delta of a mechanism is in the range of epsilons."""


def parsed_epsilon(text: str) -> Fraction:
    """Return an epsilon exactly as typed: "0.1" is 1/10. Errors: InputError for no decimal, or out of range."""
    return checked_epsilon(decimal("epsilon", text))


def checked_epsilon(value: Fraction) -> Fraction:
    """Return an epsilon in range, with at most twelve places. Errors: InputError."""
    return _checked("epsilon", value, ends=_range_of(EPSILON), places=_MOST_PLACES)


def parsed_rho(text: str) -> Fraction:
    """Return a rho exactly as typed. Errors: InputError for no decimal, or out of range."""
    return checked_rho(decimal("rho", text))


def checked_rho(value: Fraction) -> Fraction:
    """Return a rho in range, with at most fifteen places. Errors: InputError."""
    return _checked("rho", value, ends=_RHO_RANGE, places=_MOST_RHO_PLACES)


def _checked(name: str, value: Fraction, *, ends: tuple[Fraction, Fraction], places: int) -> Fraction:
    low, high = ends
    if not low <= value <= high:
        raise InputError(
            f"{name} must be between {amount_text(low)} and {amount_text(high)}; {brief(amount_text(value))} is not."
        )
    if 10**places % value.denominator:
        raise InputError(f"{name} must be a decimal of at most {places} places.")
    return value


def _range_of(parameter: Parameter) -> tuple[Fraction, Fraction]:
    return Fraction(str(parameter.low)), Fraction(str(parameter.high))


def parsed_promise(epsilon: str, delta: str) -> EpsilonDelta:
    """Return an (epsilon, delta) exactly as typed. Errors: InputError for no decimal, or out of range."""
    return checked_stated(EpsilonDelta(decimal("epsilon", epsilon), decimal("delta", delta)))


def checked_stated(stated: EpsilonDelta) -> EpsilonDelta:
    """Return an (epsilon, delta) in range. Errors: InputError."""
    checked_epsilon(exact("epsilon", stated.epsilon))
    low, high = _range_of(DELTA)
    if not low <= exact("delta", stated.delta) <= high or 10**_MOST_DELTA_PLACES % stated.delta.denominator:
        raise InputError(
            f"delta must be a decimal between {amount_text(low)} and {amount_text(high)}, of at most "
            f"{_MOST_DELTA_PLACES} places."
        )
    return stated


def parsed_budget(epsilon: str, delta: str) -> tuple[Fraction, Fraction]:
    """Return an epsilon and a delta exactly as typed; "0" means pure privacy. Errors: those of `parsed_promise`."""
    return checked_budget(decimal("epsilon", epsilon), decimal("delta", delta))


def checked_budget(epsilon: Fraction, delta: Fraction) -> tuple[Fraction, Fraction]:
    """Return an epsilon and a delta in range, or a pure epsilon and 0. Errors: InputError."""
    if delta:
        checked_stated(EpsilonDelta(epsilon, delta))
    else:
        checked_epsilon(exact("epsilon", epsilon))
    return epsilon, delta


def exact(name: str, value: object) -> Fraction:
    """Return a fraction. Errors: InputError for another type, such as a float."""
    if not isinstance(value, Fraction):
        raise InputError(f"{name} must be an exact fraction, not {brief(value)}.")
    return value
