"""The exhibits of [Zhang16] Theorem 1: the measured divergence for every bound, and the formulas."""

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.randomness import stream
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, whole_number
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.divergence import kl
from dpbayes.theory.claims.claim import Bound, number
from dpbayes.theory.claims.exhibit import (
    MOST_RELEASES,
    BoundKind,
    Exhibit,
    Measured,
    Simulation,
    Uses,
    exactly,
    mean_alone,
    mean_beside,
    quantile_beside,
)
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.zhang16.counts import checked_epsilons, noise_scale, scale_in_words
from dpbayes.theory.zhang16.posterior_kl import bounds as claims
from dpbayes.theory.zhang16.posterior_kl.bounds import PosteriorKl, posterior_kl
from dpbayes.theory.zhang16.posterior_kl.exact import distinct_rows, expected_kl

MOST_NUMBERS = 100_000_000
"""The largest number of KL values in memory: releases times epsilons."""

_BLOCK = 1 << 18
"""Numbers in one step, few enough for the processor's cache."""

_ROUNDING = 1e-6
"""The largest relative error at which the quick formula replaces the stable one."""


def simulate_kl(
    prior: Dirichlets, counts: Counts, *, epsilon: ArrayLike, releases: int, rng: np.random.Generator
) -> Simulation:
    """Simulate releases of `LaplaceUpdates` at every epsilon (E,) and return their KL from the exact posterior.

    Errors: InputError for counts of another network, batches, epsilon out of range, and more than MOST_RELEASES
    releases or MOST_NUMBERS values.
    """
    releases = whole_number("The number of releases", releases, low=1, high=MOST_RELEASES)
    epsilons = np.atleast_1d(checked_epsilons(epsilon))
    groups = distinct_rows(prior, counts)
    if releases * len(epsilons) > MOST_NUMBERS:
        raise InputError(f"The simulation needs more than {MOST_NUMBERS:,} values. Choose fewer releases.")
    scale = noise_scale(prior.network, epsilons)
    is_quick = _rounding(prior, counts) <= _ROUNDING * float(expected_kl(groups, scale).min())
    exact, divergences = prior.updated(counts), np.empty((len(scale), releases))
    for part in slices(releases, _BLOCK // (len(scale) * prior.network.cell_count)):
        noise = rng.laplace(size=(part.stop - part.start, prior.network.cell_count))
        updates = np.clip(counts.values + scale[:, None, None] * noise, 0.0, float(counts.n))
        released = prior.updated(updates)
        divergences[:, part] = _quick_kl(exact, released) if is_quick else kl(exact, released)
    divergences.sort(axis=-1)
    return Simulation(divergences)


def _rounding(prior: Dirichlets, counts: Counts) -> float:
    """A bound on the rounding error of `_quick_kl`: all terms are below the size of y ln y at the largest y."""
    network = prior.network
    largest = network.row_sums(prior.alpha) + counts.n * network.cards[network.node_of_row]
    return float(8 * np.finfo(float).eps * (largest * np.log(largest + 3)).sum())


def _quick_kl(exact: Dirichlets, posterior: Dirichlets) -> FloatArray:
    """ln B(b) - ln B(a) + (a - b) . (psi(a) - psi(a_0)), summed over rows; it loses digits for large counts."""
    network, a, released = exact.network, exact.alpha, posterior.alpha
    slope = special.digamma(a) - special.digamma(network.row_sums(a))[network.row_of_cell]
    constant = _log_beta(network, a) - a @ slope
    divergence: FloatArray = _log_beta(network, released) - released @ slope - constant
    return np.maximum(divergence, 0.0)


def _log_beta(network: Network, alpha: FloatArray) -> FloatArray:
    cells: FloatArray = special.gammaln(alpha).sum(axis=-1)
    return cells - special.gammaln(network.row_sums(alpha)).sum(axis=-1)


UNIT = "KL divergence from the exact posterior, nats"


def _kl_bounds(subject: Subject, at: EvaluationPoint) -> PosteriorKl:
    """Return Theorem 1 for the curator's counts. Errors: InputError without counts."""
    counts, delta = subject.required_counts, at.knobs.delta
    key = (*subject.key, at.epsilon, delta)
    return subject.memo.once(key, posterior_kl, subject.prior, counts, epsilon=at.epsilons, delta=delta)


def _kl_study(subject: Subject, at: EvaluationPoint) -> Simulation:
    return subject.memo.once((*subject.key, at.epsilon, subject.releases, subject.seed), _simulated_kl, subject, at)


def _simulated_kl(subject: Subject, at: EvaluationPoint) -> Simulation:
    rng = stream(subject.seed, "bounds", "posterior KL")
    return simulate_kl(subject.prior, subject.required_counts, epsilon=at.epsilons, releases=subject.releases, rng=rng)


def _measured_quantile(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    expected = _kl_bounds(subject, at).expected
    if subject.too_large:
        return mean_alone(expected, subject.too_large)
    return quantile_beside(_kl_study(subject, at), expected, printed=bound.printed, delta=at.knobs.delta)


def _measured_mean(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    expected = _kl_bounds(subject, at).expected
    if subject.too_large:
        return replace(exactly(expected, printed=bound.printed, name="exact mean"), note=subject.too_large)
    return mean_beside(_kl_study(subject, at), expected, printed=bound.printed)


def _deviation(subject: Subject, at: EvaluationPoint) -> tuple[str, str]:
    deviation = _kl_bounds(subject, at).deviation
    total = number(-2 * deviation**2 / math.log(at.knobs.delta))
    return (
        f"\\bigl(-\\tfrac12 \\textstyle\\sum c_{{ij}} \\ln\\delta\\bigr)^{{1/2}} = \\bigl(-\\tfrac12 \\cdot {total} "
        f"\\cdot \\ln {number(at.knobs.delta)}\\bigr)^{{1/2}} = {number(deviation)}",
        number(deviation),
    )


def _table(subject: Subject, at: EvaluationPoint) -> str:
    scale, rows = scale_in_words(subject, at), subject.network.row_count
    return f"- {scale}; $n = {subject.records}$, $m = {rows}$ rows."


def _stated_theorem_1(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    filled, deviation = _deviation(subject, at)
    mean = number(float(_kl_bounds(subject, at).expected[0]))
    return f"""
{_table(subject, at)}
- **As stated**: deviation ${filled}$ nats, so $\\mathbb E f + {deviation} = {mean} + {deviation} = {bound.stated}$.
  The mean $\\mathbb E f$ is not given in a form that can be computed; the exact mean is used."""


def _theorem_1_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    return f"{_stated_theorem_1(subject, at, bound)}\n{_tails(subject, at, bound.proved)}\n"


def _c_squared_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    return f"""{_stated_theorem_1(subject, at, bound)}
- **Proved**: $\\mathbb E f + \\bigl(-\\tfrac12 \\textstyle\\sum c_{{ij}}^2 \\ln\\delta\\bigr)^{{1/2}} = {bound.proved}$
  nats: McDiarmid's inequality as published, with the exact oscillations of the rows as $c_{{ij}}$. “Theorem 1” shows
  far sharper proved bounds.
"""


def _tails(subject: Subject, at: EvaluationPoint, certified: str) -> str:
    """Return all proved bounds of the tail; the certified bound is the smallest."""
    tails = _kl_bounds(subject, at).tails
    law = (
        "the convolution of a distribution that dominates those of all rows"
        if tails.is_convolved
        else ("the rows differ too much for a convolution here; Chernoff's bound is used instead")
    )
    every = {
        "McDiarmid's inequality, with the sum of c squared": tails.mcdiarmid,
        "Chernoff's bound": tails.chernoff,
        law: tails.quantile,
        "the largest possible divergence": tails.largest,
    }
    lines = "\n".join(f"  - {name}: ${number(float(value[0]))}$" for name, value in every.items())
    return f"- **Proved**: ${certified}$ nats, the smallest of the proved bounds:\n{lines}"


def _closed_form_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    filled, deviation = _deviation(subject, at)
    bounds = _kl_bounds(subject, at)
    largest = number(float(bounds.tails.largest[0]))
    mean = number(float(bounds.mean.printed[0]))
    return f"""
{_table(subject, at)}
- **As stated**: $\\mathcal U + {filled.partition("=")[0].strip()} = {mean} + {deviation} = {bound.stated}$ nats, for
  every $\\epsilon$.
- **Proved**: ${bound.proved}$ nats. The largest possible divergence for these counts is ${largest}$ nats.
"""


def _expectation_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    return f"""
{_table(subject, at)}
- **As stated**: $\\mathcal U = \\sum_{{ij}} n \\ln\\bigl((\\alpha + \\Delta\\alpha)(\\beta + \\Delta\\beta)\\bigr) =
  {bound.stated}$ nats, which does not depend on $\\epsilon$.
- **Proved**: the exact mean, ${bound.proved}$ nats, by quadrature.
"""


def _refined_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    return f"""
{_table(subject, at)}
- **As stated**: $\\sum_{{ij}} \\tfrac n2 e^{{-n/b}} \\ln[(\\alpha + n + 1)(\\beta + n + 1)] = {bound.stated}$ nats.
- **Proved**: the exact mean, ${bound.proved}$ nats, by quadrature.
"""


def _order_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    m, n = subject.network.row_count, subject.records
    size = number(m * n * math.log(max(n, 1)))
    return f"""
- {scale_in_words(subject, at)}; $m n \\ln n = {m} \\cdot {n} \\cdot \\ln {n} = {size}$.
- **As stated**, with constant 1 for the $\\mathcal O$ terms:
  $mn \\ln n\\,[1 - e^{{-n/b}}] + \\sqrt{{-mn \\ln n \\ln {number(at.knobs.delta)}}} = {bound.stated}$ nats.
- **Proved**: ${bound.proved}$ nats.
"""


_kl_exhibit = partial(
    Exhibit,
    axes=(Axis.EPSILON, Axis.RECORDS, Axis.DELTA),
    amount="a KL divergence of at most {} nats",
    unit=UNIT,
    also=("bounds.prior",),
    says=BoundKind.QUANTILE,
    measure=_measured_quantile,
    uses=Uses.COUNTS,
    defaults=(("prior", 2.0), ("epsilon", 0.1)),  # at which the condition of the theorem is met
)
_mean_exhibit = partial(
    _kl_exhibit,
    axes=(Axis.EPSILON, Axis.RECORDS),
    amount="a mean KL divergence of at most {} nats",
    also=("bounds.epsilon", "bounds.prior"),
    says=BoundKind.MEAN,
    measure=_measured_mean,
)


def _part(name: str) -> Callable[[Subject, EvaluationPoint], Bound]:
    """Return the function that evaluates one of the bounds of `PosteriorKl`, by its name."""
    return lambda subject, at: getattr(_kl_bounds(subject, at), name)


EXHIBITS: dict[str, Exhibit] = {
    "THEOREM_1": _kl_exhibit(claims.THEOREM_1, _part("theorem"), _theorem_1_formula),
    "C_SQUARED": _kl_exhibit(claims.THEOREM_1, _part("c_squared"), _c_squared_formula, variant="with c squared"),
    "CLOSED_FORM": _kl_exhibit(claims.CLOSED_FORM, _part("closed_form"), _closed_form_formula),
    "EXPECTATION": _mean_exhibit(claims.EXPECTATION, _part("mean"), _expectation_formula),
    "REFINED": _mean_exhibit(claims.REFINED, _part("refined_mean"), _refined_formula),
    "ORDER": _kl_exhibit(claims.ORDER, _part("order"), _order_formula),
}
