"""The audits of the mechanisms for one die: every table and every neighbour for the exponential mechanisms.

A permutation of sides of equal prior leaves the loss of a pair as it is, so one giving and one taking side is enough
for each pair of priors. For Laplace noise, clipping and rounding can only lower the loss of the counts.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.entry import Audit, Hypothetical, Numbers, noise_audit
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.loss.normal import Loss
from dpbayes.audit.pictures import noisy_number, two_laws
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    WorstCase,
    checked_grid,
    counts_text,
    pure_report,
    require_size,
    worst_case,
)
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms import Noise
from dpbayes.mechanisms.die.base import DieMechanism
from dpbayes.mechanisms.die.hellinger import (
    Hellinger,
    HellingerEnumerated,
    HellingerGlobal,
    HellingerLocal,
    HellingerSmooth,
)
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.finite import exact_curve, exact_epsilon, exact_pure_epsilon
from dpbayes.mechanisms.noise.law import NoiseLaw
from dpbayes.posteriors.hellinger import MOST_PAIRED, Die, neighbours_up_to_symmetry

AT_ONCE = 512
"""The largest number of candidates of a die whose audit takes less than a moment."""

_PAIRS = 64
"""The number of compared tables."""

TABLES = "Each table is shown by the throws on each side: (heads | tails) for a coin."
"""The description of the tables."""


def _throws(kind: type[DieMechanism], *, are_listed: bool = True) -> Hypothetical:
    """Return the hypothetical tables of a mechanism for a die; an audit may need a list of them all."""
    own = tuple(parameters_of(kind))

    def mechanism_at(numbers: Numbers) -> DieMechanism:
        die = Die((numbers["prior"],) * numbers["sides"], numbers["n"])
        if are_listed:
            die.require_listable(MOST_PAIRED)  # what an audit needs; a release would do with more
        return kind(die=die, **{name: numbers[name] for name in own})

    return Hypothetical(
        title=f"{kind.label.removesuffix(' (not private)')} (one die)",
        parameters=(own[0], "n", "sides", "prior", *own[1:]),
        caption="The audit uses a hypothetical die; the open table is not used.",
        mechanism_at=mechanism_at,
        where=lambda numbers: f"{many(numbers['n'], 'throw')} of a die with {numbers['sides']} sides",
    )


# Exponential mechanisms


def audit_die(mechanism: Hellinger, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the exact audit of a mechanism whose outputs are the die's candidates: every pair, every output.

    Errors: InputError for dice with too many candidates to pair them all, and bad epsilons.
    """
    require_size(mechanism.die.n, n)
    grid, die, delta = checked_grid(epsilons), mechanism.die, mechanism.claimed.delta
    die.require_listable(MOST_PAIRED)
    pairs, table = neighbours_up_to_symmetry(die), mechanism.log_weights_table()
    masses = special.logsumexp(table, axis=1)
    loss = exact_pure_epsilon(table, pairs=pairs, log_masses=masses)
    deltas = exact_curve(table, pairs=pairs, epsilons=grid, log_masses=masses)
    labels = tuple(map(counts_text, die.candidates.tolist()))
    throws = many(die.n, "throw")
    scope = f"The maximum is over all {len(labels):,} tables of {throws}, all their neighbours and all outputs."
    report = pure_report(
        mechanism,
        exact=loss.epsilon,
        curve=DeltaCurve(grid, deltas, deltas),
        worst=worst_case(table - masses[:, None], loss, labels, labels),
        scope=scope,
    )
    if not delta:
        return report
    needed = exact_epsilon(table, pairs=pairs, delta=delta, log_masses=masses)
    return replace(report, needed=needed, needed_at_least=needed)


def _exponential(kind: type[Hellinger], **more: Any) -> Audit:
    return Audit(
        kind=kind,
        report=audit_die,
        picture=lambda mechanism, worst, n: two_laws(worst, x="released counts", ordered=mechanism.die.sides == 2),
        tables=TABLES,
        is_slow=lambda mechanism: mechanism.die.size > AT_ONCE,
        hypothetical=_throws(kind),
        **more,
    )


# Laplace noise


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


def _laplace(kind: type[LaplaceOne | LaplaceCells], shown: Callable[..., tuple[WorstCase, str]]) -> Audit:
    audit = noise_audit(
        kind,
        law=_law,
        shown=shown,
        picture=lambda mechanism: noisy_number(NoiseLaw(Noise.REAL, mechanism.noise_scale), step=1.0, what="count"),
    )
    return replace(audit, tables=TABLES, hypothetical=_throws(kind, are_listed=False))


AUDITS = (
    _exponential(HellingerGlobal),
    _exponential(
        HellingerLocal,
        cases={"May the noise depend on the data?": {"epsilon": 1.0, "n": 1000, "sides": 2, "prior": 0.01}},
    ),
    _exponential(HellingerSmooth),
    _exponential(HellingerEnumerated),
    _laplace(LaplaceCells, _cells_shown),
    _laplace(LaplaceOne, _one_shown),
)
