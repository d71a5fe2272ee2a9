"""What releases cost together at a delta, for reading only: the exact sum of epsilons decides."""

import math
from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from dpbayes.base.validation import finite_number
from dpbayes.releases.ledger.events import checked_amount

LEAST_DELTA = 1e-10
"""Below it the sums of doubles in the composition count."""

MOST_UNITS = 200_000
"""Most steps of the grid on which the sum of epsilons lies."""


def composed(epsilons: Iterable[Fraction], delta: float) -> float:
    """Return an epsilon such that all releases together are (epsilon, delta)-private; at most the sum of theirs.

    It is an upper bound for *any* mechanisms of these pure epsilons, each drawn anew: every pair of neighbours is
    dominated by randomized response, log-ratios ±epsilon with chances 1/(1 + e^∓epsilon), whose composition is computed
    by dp-accounting (Kairouz, Oh and Viswanath 2015, Theorem 3.3). The law of Laplace noise would give less, but is
    known to dominate only where a single number changes. The bound holds for epsilons that were chosen without looking
    at earlier outcomes. Rounded as doubles are. Errors: InputError for a delta outside [1e-10, 1) and amounts that are
    not exact.
    """
    delta = finite_number("Delta", delta, low=LEAST_DELTA, high=math.nextafter(1, 0))
    costs = Counter(checked_amount("Epsilon", epsilon) for epsilon in epsilons)
    if not costs:
        return 0.0
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
