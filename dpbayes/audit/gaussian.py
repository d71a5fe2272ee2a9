"""The audit of Gaussian noise on the posterior's updates."""

import math

from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.law import Losses
from dpbayes.audit.loss.normal import GaussianLoss, WholeGaussianLoss
from dpbayes.audit.pictures import gaussian_numbers
from dpbayes.audit.report import (
    AuditReport,
    WorstCase,
    all_tables_text,
    checked_grid,
    checked_records,
    concentrated_report,
    nothing_to_lose,
    opposites,
)
from dpbayes.mechanisms import GaussianUpdates, Noise
from dpbayes.mechanisms.exact_class import require_exact_class
from dpbayes.mechanisms.noise.sensitivity import squared_count_sensitivity


def audit_gaussian(mechanism: GaussianUpdates, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of Gaussian noise on all counts: exact, as nothing is clipped.

    If the two records differ in every column, 2 |I| counts change by one. Fewer changed counts lose less: for real
    noise by its formula, and for integer noise because a part of the numbers is post-processing of all.
    """
    grid, network = checked_grid(epsilons), mechanism.prior.network
    loss = gaussian_loss(mechanism, n=n)
    moved = squared_count_sensitivity(network)
    if not (moved and n):
        return nothing_to_lose(mechanism, grid)
    worst = WorstCase(
        *opposites(network, n), "noisy counts far beyond those of the first table, in every cell that differs"
    )
    scope = f"{all_tables_text(n)} The worst pair changes {moved:,} counts by one."
    return concentrated_report(mechanism, loss, epsilons=grid, worst=worst, scope=scope)


def gaussian_loss(mechanism: GaussianUpdates, *, n: int) -> GaussianLoss | WholeGaussianLoss:
    """Return the loss of all counts together: none if n = 0."""
    require_exact_class(mechanism, GaussianUpdates)
    moved = squared_count_sensitivity(mechanism.prior.network) if checked_records(n) else 0
    if mechanism.noise is Noise.WHOLE:
        return WholeGaussianLoss(moved, mechanism.noise_scale)
    return GaussianLoss(math.sqrt(moved) / mechanism.noise_scale if moved else 0.0)


def _losses(mechanism: GaussianUpdates, *, n: int, releases: int) -> Losses:
    """Return the losses of several releases: independent noise on one count is noise on several equal changes.

    For real noise, a smaller change exceeds every level more rarely; for integer noise, each change is listed.
    """
    one = gaussian_loss(mechanism, n=n)
    if isinstance(one, WholeGaussianLoss):
        return Losses.of(WholeGaussianLoss(moved * releases, one.scale) for moved in range(one.moved, 0, -2))
    together = GaussianLoss(one.shift * math.sqrt(releases))
    return Losses(together, (together,))


AUDIT = Audit(
    kind=GaussianUpdates,
    report=audit_gaussian,
    losses=_losses,
    picture=lambda mechanism, worst, n: gaussian_numbers(mechanism.shift),
)
