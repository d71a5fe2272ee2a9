"""The composed privacy loss of releases at a delta, for display only; the budget uses the exact sum."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpbayes.base.amounts import Amount, Rho
from dpbayes.base.libraries import extra
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import finite_number
from dpbayes.base.zcdp import renyi_epsilon, renyi_of_pure, zcdp_epsilon
from dpbayes.releases.ledger.books import checked_amount

LEAST_DELTA = 1e-10
"""At smaller deltas, rounding errors of the composition would matter."""

MOST_UNITS = 200_000
"""The largest number of steps of the grid for the sum of epsilons."""


def composed(costs: Iterable[Amount], delta: float) -> float:
    """Return an epsilon such that all releases together are (epsilon, delta)-private, up to rounding of doubles.

    For pure epsilons only, it is that of `_pure`, at most their sum; for rhos only, it follows from the sum of rhos.
    For both kinds, it follows from the sum of the Renyi divergences, alpha rho and that of randomized response.
    The bounds hold for all mechanisms with these guarantees, with independent noise, and for costs that do not depend
    on earlier outcomes. Errors: InputError for a delta outside [1e-10, 1), and for amounts that are not exact.
    """
    delta = finite_number("Delta", delta, low=LEAST_DELTA, high=math.nextafter(1, 0))
    checked = [checked_amount("Rho" if isinstance(cost, Rho) else "Epsilon", cost) for cost in costs]
    pure = [cost for cost in checked if not isinstance(cost, Rho)]
    rho = float(sum((cost.value for cost in checked if isinstance(cost, Rho)), Fraction(0)))
    if not rho:
        return _pure(pure, delta)
    return _renyi(pure, rho, delta) if pure else zcdp_epsilon(rho, delta=delta)


def _renyi(pure: Sequence[Fraction], rho: float, delta: float) -> float:
    costs = Counter(pure)

    def divergence(order: FloatArray) -> FloatArray:
        own = [times * renyi_of_pure(order, float(epsilon)) for epsilon, times in costs.items()]
        return (1 + order) * rho + sum(own)

    return renyi_epsilon(divergence, delta=delta)


def _pure(epsilons: Sequence[Fraction], delta: float) -> float:
    """Return the composed privacy loss of releases with pure epsilons at a delta.

    It is an upper bound for *all* mechanisms with these epsilons: randomized response, with log-ratios ±epsilon of
    probability 1/(1 + e^∓epsilon), dominates every pair of neighbours, and dp-accounting computes its composition
    (Kairouz, Oh and Viswanath 2015, Theorem 3.3). The distribution of Laplace noise would give a smaller value, but it
    is known to dominate only if a single number changes.
    """
    costs = Counter(epsilons)
    if not costs:
        return 0.0
    with extra("release", "The account of several releases"):
        from dp_accounting.pld import privacy_loss_distribution  # late: two seconds

    total = sum((epsilon * times for epsilon, times in costs.items()), Fraction(0))
    unit = _unit(costs, total)
    losses = privacy_loss_distribution.identity(float(unit))
    for epsilon, times in costs.items():
        chance, odds = 1 / (1 + math.exp(-epsilon)), math.exp(-epsilon)
        # Integers of units, computed exactly; if the unit does not divide epsilon, the loss is rounded up.
        steps = {math.ceil(epsilon / unit): chance, math.ceil(-epsilon / unit): chance * odds}
        loss = privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability(
            steps, 0.0, float(unit)
        )
        losses = losses.compose(loss.self_compose(times))
    return min(float(losses.get_epsilon_for_delta(delta)), float(total))


def _unit(costs: Iterable[Fraction], total: Fraction) -> Fraction:
    """Return the largest step that divides all epsilons, or a coarser one if there would be too many steps."""
    denominator = math.lcm(*(epsilon.denominator for epsilon in costs))
    numerator = math.gcd(*(int(epsilon * denominator) for epsilon in costs))
    return max(Fraction(numerator, denominator), total / MOST_UNITS)
