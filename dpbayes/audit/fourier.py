"""The audit of Laplace noise on Fourier coefficients. [Zhang16] Algorithm 2."""

from dataclasses import replace

from dpbayes.audit.entry import noise_audit
from dpbayes.audit.loss.noise import MOST_MOVED, LaplaceNoise
from dpbayes.audit.loss.normal import BetweenLosses
from dpbayes.audit.pictures import noisy_number
from dpbayes.audit.report import WorstCase, replacement
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import LaplaceFourier, Noise
from dpbayes.mechanisms.noise.sensitivity import walsh_sensitivity

Law = LaplaceNoise | BetweenLosses[LaplaceNoise]


def _law(mechanism: LaplaceFourier, *, n: int, releases: int) -> Law:
    """Return the loss of the largest number of coefficients that one record changes by two; none if n = 0."""
    network = mechanism.prior.network
    moved = walsh_sensitivity(network) // 2 if n else 0
    if moved > MOST_MOVED:
        raise InputError(
            f"One replaced record changes {moved:,} Fourier coefficients of this network; the audit handles at most "
            f"{MOST_MOVED:,}. Remove some parents of the largest tables, or audit another mechanism."
        )
    whole = 2 if mechanism.noise is Noise.WHOLE else 0
    most = LaplaceNoise(moved * releases, 2 / mechanism.noise_scale, whole=whole)
    if network.odd_overlap.exact or not moved:
        return most
    certain = min(2 ** (max(map(len, network.families)) - 1), moved)
    return BetweenLosses(replace(most, moved=certain * releases), most)


def _shown(mechanism: LaplaceFourier, law: Law, n: int) -> tuple[WorstCase, str]:
    least, most, how = (law, law, "up to") if isinstance(law, LaplaceNoise) else (law.least, law.most, "at most")
    worst = WorstCase(
        *replacement(n, f"replacing one record changes {least.moved:,} coefficients"),
        "noisy coefficients at or beyond those of the first table, where the two tables differ",
    )
    return worst, f"One record changes {how} {most.moved:,} coefficients by two."


# The possible numbers of changed coefficients are not listed: any number up to the largest is assumed possible.
AUDIT = noise_audit(
    LaplaceFourier,
    law=_law,
    shown=_shown,
    picture=lambda mechanism: noisy_number(mechanism.noise_law, step=2.0, what="coefficient"),
)
