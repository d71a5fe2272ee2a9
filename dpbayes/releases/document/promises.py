"""The numbers that a release promises, exactly as a person types them: epsilon, rho, and (epsilon, delta)."""

from fractions import Fraction

from dpbayes.base.amounts import EpsilonDelta
from dpbayes.base.validation import InputError, brief
from dpbayes.mechanisms.parameters import DELTA, EPSILON
from dpbayes.releases.document.canonical import decimal, decimal_text

_MOST_PLACES = 12
"""Places that an epsilon may have after its point."""

_MOST_DELTA_PLACES = 18

_RHO_RANGE, _MOST_RHO_PLACES = (Fraction(1, 10**7), Fraction(500)), 15
"""Between these, epsilon at the least delta that a mechanism takes is in the range of epsilons."""


def parsed_epsilon(text: str) -> Fraction:
    """Return an epsilon exactly as typed: "0.1" is 1/10. Errors: InputError for what is no decimal or out of range."""
    return checked_epsilon(decimal("epsilon", text))


def checked_epsilon(value: Fraction) -> Fraction:
    """Return an epsilon in range, with at most twelve places. Errors: InputError."""
    low, high = (Fraction(str(end)) for end in (EPSILON.low, EPSILON.high))
    if not low <= value <= high:
        raise InputError(
            f"epsilon must be between {decimal_text(low)} and {decimal_text(high)}; "
            f"{brief(decimal_text(value))} is not."
        )
    if 10**_MOST_PLACES % value.denominator:
        raise InputError(f"epsilon must be a decimal of at most {_MOST_PLACES} places.")
    return value


def parsed_rho(text: str) -> Fraction:
    """Return a rho exactly as typed. Errors: InputError for what is no decimal or out of range."""
    return checked_rho(decimal("rho", text))


def checked_rho(value: Fraction) -> Fraction:
    """Return a rho in range, with at most fifteen places. Errors: InputError."""
    low, high = _RHO_RANGE
    if not low <= value <= high:
        raise InputError(
            f"rho must be between {decimal_text(low)} and {decimal_text(high)}; {brief(decimal_text(value))} is not."
        )
    if 10**_MOST_RHO_PLACES % value.denominator:
        raise InputError(f"rho must be a decimal of at most {_MOST_RHO_PLACES} places.")
    return value


def parsed_promise(epsilon: str, delta: str) -> EpsilonDelta:
    """Return an (epsilon, delta) exactly as typed. Errors: InputError for what is no decimal or out of range."""
    return checked_stated(EpsilonDelta(decimal("epsilon", epsilon), decimal("delta", delta)))


def checked_stated(stated: EpsilonDelta) -> EpsilonDelta:
    """Return an (epsilon, delta) in range. Errors: InputError."""
    checked_epsilon(exact("epsilon", stated.epsilon))
    low, high = (Fraction(str(end)) for end in (DELTA.low, DELTA.high))
    if not low <= exact("delta", stated.delta) <= high or 10**_MOST_DELTA_PLACES % stated.delta.denominator:
        raise InputError(
            f"delta must be a decimal between {decimal_text(low)} and {decimal_text(high)}, of at most "
            f"{_MOST_DELTA_PLACES} places."
        )
    return stated


def exact(name: str, value: object) -> Fraction:
    """Return a fraction. Errors: InputError for what is none, such as a float."""
    if not isinstance(value, Fraction):
        raise InputError(f"{name} must be the fraction that was typed, not {brief(value)}.")
    return value
