"""The audits of Laplace noise on the posterior's updates, clipped [Zhang16] or fitted: one audit of noisy counts."""

from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.law import Losses
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.pictures import noisy_number
from dpbayes.audit.report import (
    AuditReport,
    WorstCase,
    all_tables_text,
    checked_grid,
    checked_records,
    noise_curve,
    nothing_to_lose,
    opposites,
    pure_report,
)
from dpbayes.mechanisms import ConsistentLaplace, LaplaceUpdates, Noise
from dpbayes.mechanisms.exact_class import require_exact_class
from dpbayes.mechanisms.noise.sensitivity import count_sensitivity

LaplaceCounts = LaplaceUpdates | ConsistentLaplace


def audit_laplace(mechanism: LaplaceCounts, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of Laplace noise on all counts: exact, clipping included.

    If the two records differ in every column, 2 |I| counts change by one. Both counts lie in [0, n], and beyond either
    end the ratio of densities is constant. So the values that clipping hides do not distinguish the tables, and the
    pure epsilon and the whole curve are those without clipping. The same holds for the probabilities of integers.
    """
    grid, network = checked_grid(epsilons), mechanism.prior.network
    noise = noise_of_moved_counts(mechanism, n=n)
    if not noise.moved:
        return nothing_to_lose(mechanism, grid)
    worst = WorstCase(
        *opposites(network, n),
        "noisy counts at or beyond those of the first table, where the two tables differ",
    )
    return pure_report(
        mechanism,
        exact=noise.pure_epsilon,
        at_least=noise.pure_epsilon,
        curve=noise_curve(noise, noise, grid),
        worst=worst,
        scope=f"{all_tables_text(n)} The worst pair changes {noise.moved:,} counts by one.",
    )


def noise_of_moved_counts(mechanism: LaplaceCounts, *, n: int) -> LaplaceNoise:
    """Return the number of counts that one record changes, with their noise; none if n = 0."""
    require_exact_class(mechanism, LaplaceUpdates, ConsistentLaplace)
    moved = count_sensitivity(mechanism.prior.network) if checked_records(n) else 0
    ratio = 1 / mechanism.noise_scale if moved else 1.0
    return LaplaceNoise(moved, ratio, whole=1 if mechanism.noise is Noise.WHOLE else 0)


def _losses(mechanism: LaplaceCounts, *, n: int, releases: int) -> Losses:
    # Every node for which the records are in different cells changes two counts.
    return Losses.of(noise_of_moved_counts(mechanism, n=n).for_fewer_moved_values(2, releases=releases))


def audit_of_counts(kind: type[LaplaceCounts]) -> Audit:
    """Return the audit of a mechanism that releases counts with Laplace noise, clipped or fitted afterwards."""
    return Audit(
        kind=kind,
        report=audit_laplace,
        losses=_losses,
        picture=lambda mechanism, worst, n: noisy_number(mechanism.noise_law, step=1.0, what="counts"),
    )


# Counts lie in [0, n]. At and beyond either end the ratio of densities is constant, so it is also the ratio of the
# atoms of the clipped distribution: clipping hides nothing. Probabilities of integers have the same ratio.
AUDIT = audit_of_counts(LaplaceUpdates)
