"""The audit of Gaussian noise on residuals, which searches the worst record from the variances alone."""

import math

from dpbayes.audit.entry import noise_audit
from dpbayes.audit.loss.normal import BetweenLosses, ConcentratedLoss, GaussianLoss, Loss
from dpbayes.audit.pictures import gaussian_numbers
from dpbayes.audit.report import WorstCase, nodes_text, replacement
from dpbayes.base.text import numeral
from dpbayes.mechanisms import GaussianResiduals, Noise
from dpbayes.mechanisms.noise.law import inverse
from dpbayes.model.residual_design import Charges, WorstCharge


def _charge(mechanism: GaussianResiduals) -> WorstCharge:
    """Return the largest change of all residuals by one record, in squared standard deviations."""
    return Charges(mechanism.prior.network.residuals).worst(inverse(mechanism.variances))


def residual_loss(mechanism: GaussianResiduals, *, n: int, releases: int = 1) -> Loss:
    """Return the loss of all residuals of several releases together: none if n = 0.

    The released tables determine all noisy residuals. It is exact for real noise if the worst record is found exactly.
    For integer noise, rho gives an upper bound.
    """
    if not n:
        return GaussianLoss(0.0)
    charge = _charge(mechanism)
    least, most = releases * charge.at_least, releases * charge.value
    if mechanism.noise is Noise.WHOLE:
        return ConcentratedLoss(most / 2)
    return BetweenLosses(GaussianLoss(math.sqrt(least)), GaussianLoss(math.sqrt(most)))


def _shown(mechanism: GaussianResiduals, law: Loss, n: int) -> tuple[WorstCase, str]:
    charge = _charge(mechanism)
    differs = nodes_text(mechanism.prior.network, charge.differs)
    worst = WorstCase(
        *replacement(n, f"the replacement of one record differs in {differs}"),
        "noisy residuals far beyond those of the first table, along the line between the two tables",
    )
    how, distance = "up to" if charge.exact else "at most", numeral(math.sqrt(charge.value), 4)
    return worst, f"Neighbours differ by {how} {distance} standard deviations of the noise."


AUDIT = noise_audit(
    GaussianResiduals,
    law=residual_loss,
    shown=_shown,
    picture=lambda mechanism: gaussian_numbers(mechanism.shift),
)
