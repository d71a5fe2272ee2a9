"""The audit of Gaussian noise on the posterior's updates."""

import math

from dpbayes.audit.entry import noise_audit
from dpbayes.audit.loss.normal import GaussianLoss, WholeGaussianLoss
from dpbayes.audit.pictures import gaussian_numbers
from dpbayes.audit.report import WorstCase, opposites
from dpbayes.mechanisms import GaussianUpdates, Noise


def _law(mechanism: GaussianUpdates, *, n: int, releases: int) -> GaussianLoss | WholeGaussianLoss:
    """Return the loss of all counts together, of which 2|I| change by one, or none if n = 0. Fewer counts lose less."""
    moved = mechanism.prior.network.count_sensitivity * releases if n else 0
    if mechanism.noise is Noise.WHOLE:
        return WholeGaussianLoss(moved, mechanism.noise_scale)
    return GaussianLoss(math.sqrt(moved) / mechanism.noise_scale if moved else 0.0)


def _shown(mechanism: GaussianUpdates, law: object, n: int) -> tuple[WorstCase, str]:
    network = mechanism.prior.network
    output = "noisy counts far beyond those of the first table, in every cell that differs"
    moved = network.count_sensitivity
    return WorstCase(*opposites(network, n), output), f"The worst pair changes {moved:,} counts by one."


AUDIT = noise_audit(
    GaussianUpdates,
    law=_law,
    shown=_shown,
    picture=lambda mechanism: gaussian_numbers(mechanism.shift),
)
