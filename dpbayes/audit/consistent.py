"""The audit of Laplace noise on counts that are fitted afterwards: that of the noisy counts, which are handed over."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit, Recalibration
from dpbayes.audit.laplace import noise_on_counts, report_on_counts
from dpbayes.audit.loss.law import Losses
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.report.pictures import noisy_number
from dpbayes.audit.report.types import AuditReport
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import ConsistentLaplace
from dpbayes.mechanisms.known import require_known
from dpbayes.mechanisms.release import ReleasedPosterior


def audit_consistent(mechanism: ConsistentLaplace, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of noisy counts and of what is fitted to them: exact, as the noisy counts are handed over."""
    return report_on_counts(mechanism, consistent_noise(mechanism, n=n), n=n, epsilons=epsilons)


def consistent_noise(mechanism: ConsistentLaplace, *, n: int) -> LaplaceNoise:
    """Return how many counts one record moves, and how far: none when n = 0."""
    require_known(mechanism, ConsistentLaplace)
    return noise_on_counts(mechanism, n=n)


def _losses(mechanism: ConsistentLaplace, *, n: int, releases: int) -> Losses:
    # The noisy counts are handed over: what is fitted to them tells nothing more.
    return Losses.of(consistent_noise(mechanism, n=n).of_fewer(2, releases=releases))


def _log_ratios(
    mechanism: ConsistentLaplace, released: ReleasedPosterior, *, first: IntArray, second: IntArray
) -> FloatArray:
    if released.noisy is None:
        raise InputError("This release has no noisy counts to which its tables were fitted.")
    told = (np.abs(released.noisy - second) - np.abs(released.noisy - first)).sum(axis=-1)
    return told / mechanism.noise_scale if mechanism.noise_scale else np.zeros_like(told)


AUDIT = Audit(
    kind=ConsistentLaplace,
    report=audit_consistent,
    log_ratios=_log_ratios,
    losses=_losses,
    picture=lambda mechanism, worst, n: noisy_number(mechanism.noise_law, step=1.0, what="counts"),
    recalibration=Recalibration(
        needed=lambda mechanism, n, delta: consistent_noise(mechanism, n=n).upper_epsilon(delta)
    ),
)
