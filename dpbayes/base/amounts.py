"""The exact cost of a release and the exact budget: a pure epsilon, or a rho of zero-concentrated privacy.

A budget in rho also pays for pure releases: epsilon-privacy implies rho = epsilon tanh(epsilon/2)
(`dpbayes/base/zcdp.py`), rounded up. There is no conversion in the other direction, because no rho implies a pure
epsilon. OpenDP's cast uses the larger epsilon^2/2 of [Bun16] Proposition 1.4.
"""

import enum
from dataclasses import dataclass
from decimal import MAX_EMAX, MIN_EMIN, ROUND_DOWN, Context, Decimal, Inexact
from fractions import Fraction
from functools import lru_cache

from dpbayes.base.validation import InputError
from dpbayes.base.zcdp import zcdp_rho

_PLACES = 10**12
"""A pure release's rho is rounded up to twelve places, so that sums stay short."""

_DEPTH = 20
"""Even: then the continued fraction of tanh, cut off there, is not below it."""


class PrivacyMeasure(enum.Enum):
    """The measure of a budget: its name, and its letter as `symbol`."""

    EPSILON = "epsilon"
    RHO = "rho"

    @property
    def symbol(self) -> str:
        """Its letter."""
        return "ε" if self is PrivacyMeasure.EPSILON else "ρ"


@dataclass(frozen=True)
class Rho:
    """A rho of zero-concentrated privacy, exact; a bare fraction is a pure epsilon."""

    value: Fraction


@dataclass(frozen=True)
class EpsilonDelta:
    """An epsilon at a delta above 0, as typed, which a rho implies."""

    epsilon: Fraction
    delta: Fraction

    @property
    def rho(self) -> Fraction:
        """A rho that implies it: the largest known one, rounded down to six digits, so that it is short.

        Errors: InputError if none is known.
        """
        largest = Decimal(zcdp_rho(float(self.epsilon), delta=float(self.delta)) * (1 - 1e-9))
        if not largest:
            raise InputError("No rho implies this (epsilon, delta). Choose a larger epsilon or a larger delta.")
        return Fraction(largest.quantize(Decimal(1).scaleb(largest.adjusted() - 5), ROUND_DOWN))


Amount = Fraction | Rho


def measure_of(amount: Amount) -> PrivacyMeasure:
    """Return the measure of an amount."""
    return PrivacyMeasure.RHO if isinstance(amount, Rho) else PrivacyMeasure.EPSILON


def number_of(amount: Amount) -> Fraction:
    """Return the number of an amount without its measure."""
    return amount.value if isinstance(amount, Rho) else amount


def amount_in(measure: PrivacyMeasure, number: Fraction) -> Amount:
    """Return the amount of a number in a measure."""
    return Rho(number) if measure is PrivacyMeasure.RHO else number


def cost_in(measure: PrivacyMeasure, amount: Amount) -> Fraction | None:
    """Return the cost of an amount in the measure of a budget; None if such a budget cannot pay it."""
    if measure is measure_of(amount):
        return number_of(amount)
    return None if isinstance(amount, Rho) else rho_of(amount)


@lru_cache(maxsize=4096)
def rho_of(epsilon: Fraction) -> Fraction:
    """Return a rho that pure epsilon-privacy implies: epsilon tanh(epsilon/2), rounded up by rational arithmetic alone.

    tanh y = y/(1 + y^2/(3 + y^2/(5 + ...))), whose even convergents are not below it, and neither is 1.
    """
    y = epsilon / 2
    tail = Fraction(2 * _DEPTH + 1)
    for k in range(_DEPTH - 1, -1, -1):
        tail = 2 * k + 1 + y * y / tail
    exact = epsilon * min(Fraction(1), y / tail)
    return Fraction(-(-exact.numerator * _PLACES // exact.denominator), _PLACES)


def amount_text(value: Fraction) -> str:
    """Return a decimal in full, without zeros at its end: "0.1"; a fraction that is no decimal stays one: "1/3"."""
    # A decimal has at most as many digits as its numerator and denominator have bits.
    digits = value.numerator.bit_length() + value.denominator.bit_length() + 1
    try:
        exact = Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN, traps=[Inexact]).divide(
            Decimal(value.numerator), Decimal(value.denominator)
        )
    except Inexact:
        return str(value)
    return f"{exact:f}"
