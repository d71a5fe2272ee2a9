"""The audits of Laplace noise on the posterior's updates, clipped [Zhang16] or fitted: one audit of noisy counts."""

from dpbayes.audit.entry import Audit, noise_audit
from dpbayes.audit.loss.noise import LaplaceNoise
from dpbayes.audit.pictures import noisy_number
from dpbayes.audit.report import WorstCase, opposites
from dpbayes.mechanisms import LaplaceUpdates, Noise


def audit_of_counts(kind: type[LaplaceUpdates]) -> Audit:
    """Return the audit of a mechanism that releases counts with Laplace noise, clipped or fitted afterwards: exact.

    If the two records differ in every column, 2 |I| counts change by one; every node for which the records are in the
    same cell changes two fewer. Both counts lie in [0, n], and beyond either end the ratio of densities is constant. So
    the values that clipping hides do not distinguish the tables, and the pure epsilon and the whole curve are those
    without clipping. The same holds for the probabilities of integers.
    """
    return noise_audit(
        kind,
        law=_law,
        shown=_shown,
        picture=lambda mechanism: noisy_number(mechanism.noise_law, step=1.0, what="count"),
    )


def _law(mechanism: LaplaceUpdates, *, n: int, releases: int) -> LaplaceNoise:
    moved = mechanism.prior.network.count_sensitivity if n else 0
    ratio = 1 / mechanism.noise_scale if moved else 1.0
    return LaplaceNoise(moved * releases, ratio, whole=1 if mechanism.noise is Noise.WHOLE else 0)


def _shown(mechanism: LaplaceUpdates, law: LaplaceNoise, n: int) -> tuple[WorstCase, str]:
    output = "noisy counts at or beyond those of the first table, where the two tables differ"
    worst = WorstCase(*opposites(mechanism.prior.network, n), output)
    return worst, f"The worst pair changes {law.moved:,} counts by one."


AUDIT = audit_of_counts(LaplaceUpdates)
