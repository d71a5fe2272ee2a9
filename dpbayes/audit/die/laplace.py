"""The audits of Laplace noise on the counts of one die; clipping and rounding can only lower the loss."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.die.base import TABLES, throws
from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.loss.normal import Loss
from dpbayes.audit.noise import noise_audit
from dpbayes.audit.pictures import noisy_number
from dpbayes.audit.report import WorstCase, counts_text, require_size
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms import Noise
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.noise.law import NoiseLaw

_PAIRS = 64
"""The number of compared tables."""


@dataclass(frozen=True)
class RescaledLoss:
    """The loss of counts that are rescaled: at most that of `noisy` counts, and at least `least` as a pure epsilon."""

    noisy: LaplaceNoise
    least: float

    def deltas(self, epsilons: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return 0 and the delta of the noisy counts, at epsilons (...)."""
        _, most = self.noisy.deltas(epsilons)
        return np.zeros(most.shape), most

    def epsilon(self, delta: float) -> tuple[float, float]:
        """Return a lower and an upper value of the least epsilon at which delta suffices."""
        return 0.0 if delta else self.least, self.noisy.epsilon(delta)[1]


def rescaled_loss(*, n: int, scale: float) -> tuple[float, int, str]:
    """Return a loss of rescaled counts: of (a, n - a) against (a - 1, n - a + 1), with this a and where it is met.

    Rescaling keeps the share t of the first of two counts. Its density f is known in closed form next to t = 1, where f
    is proportional to e^(a/b) (2a + b (e^(-a/b) - e^(-(n - a)/b))), and next to t = 1/2 for 2a <= n, where f is
    proportional to (n - 2a + b) e^(2a/b) + b. More than two sides show the share of the first two as well.
    """
    at_end = 1 / scale + math.log(2 + scale * (math.exp(-1 / scale) - math.exp((1 - n) / scale)))
    at_end -= math.log(-scale * math.expm1(-n / scale))
    best = (at_end, 1, "a second count next to 0")
    if n >= 2:
        a = np.unique(np.geomspace(1, n // 2, _PAIRS).astype(np.int64))
        logs = [np.logaddexp(np.log(n - 2 * k + scale) + 2 * k / scale, math.log(scale)) for k in (a, a - 1)]
        place = int(np.argmax(logs[0] - logs[1]))
        even = float((logs[0] - logs[1])[place])
        best = max(best, (even, int(a[place]), "first two counts that are nearly equal"))
    return best


def _law(mechanism: LaplaceOne | LaplaceCells, *, n: int, releases: int) -> Loss:
    require_size(mechanism.die.n, n)
    noisy = LaplaceNoise(mechanism.changed * releases if n else 0, 1 / mechanism.noise_scale)
    if not n or isinstance(mechanism, LaplaceOne):
        return noisy
    least, _, _ = rescaled_loss(n=n, scale=mechanism.noise_scale)
    return RescaledLoss(noisy, min(least, noisy.pure_epsilon))


def _one_shown(mechanism: LaplaceOne, law: object, n: int) -> tuple[WorstCase, str]:
    worst = WorstCase(counts_text((1, n - 1)), counts_text((0, n)), "a first count of 1 or more")
    return worst, "The worst pair changes the first count by one."


def _cells_shown(mechanism: LaplaceCells, law: object, n: int) -> tuple[WorstCase, str]:
    _, first, output = rescaled_loss(n=n, scale=mechanism.noise_scale)
    rest = (0,) * (mechanism.die.sides - 2)
    one, other = (counts_text((a, n - a, *rest)) for a in (first, first - 1))
    return WorstCase(one, other, output), "The loss is that before the counts are rescaled, which can only lower it."


def _audit(kind: type[LaplaceOne | LaplaceCells], shown: Callable[..., tuple[WorstCase, str]]) -> Audit:
    audit = noise_audit(
        kind,
        law=_law,
        shown=shown,
        picture=lambda mechanism: noisy_number(NoiseLaw(Noise.REAL, mechanism.noise_scale), step=1.0, what="counts"),
    )
    return replace(audit, tables=TABLES, hypothetical=throws(kind, are_listed=False))


AUDITS = (_audit(LaplaceCells, _cells_shown), _audit(LaplaceOne, _one_shown))
