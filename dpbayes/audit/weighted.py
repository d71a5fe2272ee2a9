"""The audit of Laplace noise on Walsh coefficients with unequal scales, which searches the worst record from these."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.loss.unequal import UnequalLoss
from dpbayes.audit.report.pictures import TwoLaws, noisy_number
from dpbayes.audit.report.types import AuditReport, DeltaCurve, WorstCase, checked_grid, pure_report
from dpbayes.audit.report.words import all_tables_text, checked_records, nodes_text, nothing_to_lose, replacement
from dpbayes.mechanisms import Noise, WeightedFourier
from dpbayes.mechanisms.exact_class import require_exact_class
from dpbayes.mechanisms.noise.law import NoiseLaw, inverse
from dpbayes.model.charges import Charges


def audit_weighted(mechanism: WeightedFourier, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of unequal Laplace noise on coefficients: exact pure epsilon, and a curve between two bounds.

    The released tables determine all noisy coefficients.
    """
    grid, network = checked_grid(epsilons), mechanism.prior.network
    if not checked_records(n):
        require_exact_class(mechanism, WeightedFourier)
        return nothing_to_lose(mechanism, grid)
    loss = weighted_loss(mechanism)
    lower, upper = loss.deltas(grid)
    charges = Charges.of_coefficients(network.residuals)
    differs = nodes_text(network, charges.worst(inverse(mechanism.scales)).differs)
    worst = WorstCase(
        *replacement(n, f"the replacement of one record differs in {differs}"),
        "noisy coefficients at or beyond those of the first table, where the two tables differ",
    )
    return pure_report(
        mechanism,
        exact=loss.pure_epsilon,
        at_least=loss.at_least,
        curve=DeltaCurve(grid, upper, lower),
        worst=worst,
        scope=f"{all_tables_text(n)} The worst pair changes {len(loss.moved):,} coefficients by two.",
    )


def weighted_loss(mechanism: WeightedFourier) -> UnequalLoss:
    """Return the loss of the coefficients that one record changes, for tables with at least one record."""
    require_exact_class(mechanism, WeightedFourier)
    charges = Charges.of_coefficients(mechanism.prior.network.residuals)
    prices = inverse(mechanism.scales)
    worst = charges.worst(prices)
    moved = np.flatnonzero(charges.moved(worst.differs[None])[0] > 1)
    # A coefficient is charged two per unit of its price.
    return UnequalLoss(
        ratios=2 * prices,
        moved=moved,
        pure_epsilon=worst.value,
        most=lambda values: charges.worst_values(values / 2),
        whole=mechanism.noise is Noise.WHOLE,
    )


def _picture(mechanism: WeightedFourier, worst: WorstCase, n: int) -> TwoLaws:
    law = NoiseLaw(mechanism.noise, float(mechanism.scales[1:].min()))
    return noisy_number(law, step=2.0, what="the coefficient with the least noise")


def _loss(mechanism: WeightedFourier, *, n: int) -> UnequalLoss | LaplaceNoise:
    loss = weighted_loss(mechanism)
    return loss if checked_records(n) else LaplaceNoise(0, 1.0)


AUDIT = Audit(
    kind=WeightedFourier,
    report=audit_weighted,
    picture=_picture,
)
