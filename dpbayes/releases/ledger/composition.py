"""What releases cost together at a delta, for reading only: the exact sum decides."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction

from dpbayes.base.amounts import Amount, Rho
from dpbayes.base.extras import extra
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import finite_number
from dpbayes.base.zcdp import renyi_epsilon, renyi_of_pure, zcdp_epsilon
from dpbayes.releases.ledger.events import checked_cost

LEAST_DELTA = 1e-10
"""Below it the sums of doubles in the composition count."""

MOST_UNITS = 200_000
"""Most steps of the grid on which the sum of epsilons lies."""


def composed(costs: Iterable[Amount], delta: float) -> float:
    """Return an epsilon such that all releases together are (epsilon, delta)-private; rounded as doubles are.

    Those of pure epsilons alone as `_pure` says, at most their sum; those of rhos alone by the sum of rhos. Of both
    kinds together the least of three bounds counts: one sum of Renyi divergences, alpha rho and that of randomized
    response; and the pure ones beside the others at half of delta each, or at their own sum, which needs no delta.
    All of it holds for any mechanisms of these promises, each drawn anew, and for costs that were chosen without
    looking at earlier outcomes. Errors: InputError for a delta outside [1e-10, 1) and amounts that are not exact.
    """
    delta = finite_number("Delta", delta, low=LEAST_DELTA, high=math.nextafter(1, 0))
    checked = [checked_cost("Rho" if isinstance(cost, Rho) else "Epsilon", cost) for cost in costs]
    pure = [cost for cost in checked if not isinstance(cost, Rho)]
    rho = float(sum((cost.value for cost in checked if isinstance(cost, Rho)), Fraction(0)))
    if not rho:
        return _pure(pure, delta)
    if not pure:
        return zcdp_epsilon(rho, delta=delta)
    half = max(delta / 2, LEAST_DELTA)
    return min(
        _renyi(pure, rho, delta),
        float(sum(pure)) + zcdp_epsilon(rho, delta=delta),
        _pure(pure, half) + zcdp_epsilon(rho, delta=half) if 2 * half <= delta else math.inf,
    )


def _renyi(pure: Sequence[Fraction], rho: float, delta: float) -> float:
    costs = Counter(pure)

    def divergence(order: FloatArray) -> FloatArray:
        own = [times * renyi_of_pure(order, float(epsilon)) for epsilon, times in costs.items()]
        return (1 + order) * rho + sum(own)

    return renyi_epsilon(divergence, delta=delta)


def _pure(epsilons: Sequence[Fraction], delta: float) -> float:
    """Return what releases of pure epsilons lose together at a delta.

    It is an upper bound for *any* mechanisms of these pure epsilons: every pair of neighbours is dominated by
    randomized response, log-ratios ±epsilon with chances 1/(1 + e^∓epsilon), whose composition is computed by
    dp-accounting (Kairouz, Oh and Viswanath 2015, Theorem 3.3). The law of Laplace noise would give less, but is
    known to dominate only where a single number changes.
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
        # Whole units, found exactly; where the unit does not divide epsilon the loss is rounded up, to the safe side.
        steps = {math.ceil(epsilon / unit): chance, math.ceil(-epsilon / unit): chance * odds}
        loss = privacy_loss_distribution.PrivacyLossDistribution.create_from_rounded_probability(
            steps, 0.0, float(unit)
        )
        losses = losses.compose(loss.self_compose(times))
    return min(float(losses.get_epsilon_for_delta(delta)), float(total))


def _unit(costs: Iterable[Fraction], total: Fraction) -> Fraction:
    """Return the largest step that divides all epsilons, or a coarser one where there would be too many steps."""
    denominator = math.lcm(*(epsilon.denominator for epsilon in costs))
    numerator = math.gcd(*(int(epsilon * denominator) for epsilon in costs))
    return max(Fraction(numerator, denominator), total / MOST_UNITS)
