"""OpenDP, and the scale of a noise that its own privacy map confirms before anything is drawn."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType

from dpbayes.base.extras import extra
from dpbayes.base.validation import InputError

_MOST_ULPS = 64
"""Most steps from one double to the next until the map agrees; one or two are enough."""


@dataclass(frozen=True)
class Calibrated:
    """A scale at which OpenDP's map was asked, and its answer: both are doubles, as the fractions that they are."""

    scale: Fraction
    answer: Fraction


def opendp() -> ModuleType:
    """Return OpenDP with the features that the noise needs. Errors: InputError where it is not installed."""
    with extra("release", "A real release"):
        import opendp.prelude as library
    library.enable_features("contrib")
    return library


def calibrated(answered: Callable[[float], float], *, least: Fraction, most: Fraction) -> Calibrated:
    """Return the first double from `least` on at which the map, a function of the scale, answers at most `most`.

    Errors: InputError where it still answers more a little above: then the calibration is wrong.
    """
    scale = rounded_up(least)
    for _ in range(_MOST_ULPS):
        answer = answered(scale)
        if not math.isfinite(answer):
            break
        if Fraction(answer) <= most:
            return Calibrated(Fraction(scale), Fraction(answer))
        scale = math.nextafter(scale, math.inf)
    raise InputError("OpenDP does not confirm that this noise satisfies epsilon, so no noise was sampled.")


def rounded_up(exact: Fraction) -> float:
    """Return the least double that is not below a fraction. Errors: OverflowError where there is none."""
    nearest = float(exact)
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)
