"""The audit of Gaussian noise on residuals, which searches the worst record from the variances alone."""

import math

from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.law import Losses
from dpbayes.audit.loss.normal import BetweenLosses, ConcentratedLoss, GaussianLoss, Loss
from dpbayes.audit.pictures import gaussian_numbers
from dpbayes.audit.report import (
    AuditReport,
    WorstCase,
    all_tables_text,
    checked_grid,
    checked_records,
    concentrated_report,
    nodes_text,
    nothing_to_lose,
    replacement,
)
from dpbayes.base.text import numeral
from dpbayes.mechanisms import GaussianResiduals, Noise
from dpbayes.mechanisms.exact_class import require_exact_class
from dpbayes.mechanisms.noise.law import inverse
from dpbayes.model.charges import Charges, WorstCharge


def audit_residual(mechanism: GaussianResiduals, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of Gaussian residuals: exact for real noise if the worst record is found exactly.

    The released tables determine all noisy residuals. For integer noise, rho gives an upper bound.
    """
    require_exact_class(mechanism, GaussianResiduals)
    grid, network = checked_grid(epsilons), mechanism.prior.network
    charge = residual_charge(mechanism)
    if not (charge.value and checked_records(n)):
        return nothing_to_lose(mechanism, grid)
    differs = nodes_text(network, charge.differs)
    worst = WorstCase(
        *replacement(n, f"the replacement of one record differs in {differs}"),
        "noisy residuals far beyond those of the first table, along the line between the two tables",
    )
    how = "up to" if charge.exact else "at most"
    distance = f"{how} {numeral(math.sqrt(charge.value), 4)} standard deviations of the noise"
    scope = f"{all_tables_text(n)} Neighbours differ by {distance}."
    return concentrated_report(mechanism, residual_loss(mechanism, n=n), epsilons=grid, worst=worst, scope=scope)


def residual_charge(mechanism: GaussianResiduals) -> WorstCharge:
    """Return the largest change of all residuals by one record, in squared standard deviations."""
    return Charges.squared(mechanism.prior.network.residuals).worst(inverse(mechanism.variances))


def residual_loss(mechanism: GaussianResiduals, *, n: int, releases: int = 1) -> Loss:
    """Return the loss of all residuals of several releases together: none if n = 0."""
    require_exact_class(mechanism, GaussianResiduals)
    if not checked_records(n):
        return GaussianLoss(0.0)
    charge = residual_charge(mechanism)
    least, most = releases * charge.at_least, releases * charge.value
    if mechanism.noise is Noise.WHOLE:
        return ConcentratedLoss(most / 2)
    return BetweenLosses(GaussianLoss(math.sqrt(least)), GaussianLoss(math.sqrt(most)))


def _losses(mechanism: GaussianResiduals, *, n: int, releases: int) -> Losses:
    """Return the losses of several releases; for real noise, a smaller change exceeds every level more rarely."""
    together = residual_loss(mechanism, n=n, releases=releases)
    return Losses(together, () if isinstance(together, ConcentratedLoss) else (together,))


AUDIT = Audit(
    kind=GaussianResiduals,
    report=audit_residual,
    losses=_losses,
    picture=lambda mechanism, worst, n: gaussian_numbers(mechanism.shift),
)
