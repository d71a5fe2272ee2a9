"""The audit of Laplace noise on Fourier coefficients. [Zhang16] Algorithm 2."""

from dataclasses import replace

from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit
from dpbayes.audit.loss.law import Losses
from dpbayes.audit.loss.noise import MOST_MOVED, LaplaceNoise
from dpbayes.audit.loss.normal import BetweenLosses
from dpbayes.audit.pictures import noisy_number
from dpbayes.audit.report import (
    AuditReport,
    WorstCase,
    all_tables_text,
    checked_grid,
    checked_records,
    noise_curve,
    nothing_to_lose,
    pure_report,
    replacement,
)
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import LaplaceFourier, Noise
from dpbayes.mechanisms.exact_class import require_exact_class
from dpbayes.mechanisms.noise.sensitivity import walsh_sensitivity
from dpbayes.model.network import Network


def audit_fourier(mechanism: LaplaceFourier, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the audit of [Zhang16] Algorithm 2: exact if O is exact, otherwise between two values.

    O coefficients change by two. The released tables determine all coefficients.
    """
    grid, network = checked_grid(epsilons), mechanism.prior.network
    noise = fourier_noise(mechanism, n=n)
    if not noise.moved:
        return nothing_to_lose(mechanism, grid)
    overlap, certain = network.closure.odd_overlap, _certain(noise, network)
    how = "up to" if overlap.exact else "at most"
    worst = WorstCase(
        *replacement(n, f"replacing one record changes {certain.moved:,} coefficients"),
        "noisy coefficients at or beyond those of the first table, where the two tables differ",
    )
    return pure_report(
        mechanism,
        exact=noise.pure_epsilon,
        at_least=certain.pure_epsilon,
        curve=noise_curve(noise, certain, grid),
        worst=worst,
        scope=f"{all_tables_text(n)} One record changes {how} {noise.moved:,} coefficients by two.",
    )


def _certain(noise: LaplaceNoise, network: Network) -> LaplaceNoise:
    """Return a number of coefficients that some record certainly changes: at least half of those of one family."""
    if network.closure.odd_overlap.exact:
        return noise
    return replace(noise, moved=min(2 ** (max(map(len, network.families)) - 1), noise.moved))


def fourier_noise(mechanism: LaplaceFourier, *, n: int) -> LaplaceNoise:
    """Return the largest number of integer coefficients that one record changes, with their noise; none if n = 0."""
    require_exact_class(mechanism, LaplaceFourier)
    moved = walsh_sensitivity(mechanism.prior.network) // 2 if checked_records(n) else 0
    if moved > MOST_MOVED:
        raise InputError(
            f"One replaced record changes {moved:,} Fourier coefficients of this network; the audit handles at most "
            f"{MOST_MOVED:,}. Remove some parents of the largest tables, or audit another mechanism."
        )
    return LaplaceNoise(moved, 2 / mechanism.noise_scale, whole=2 if mechanism.noise is Noise.WHOLE else 0)


def _losses(mechanism: LaplaceFourier, *, n: int, releases: int) -> Losses:
    # The possible numbers of changed coefficients are not listed: any number up to the largest is assumed possible.
    noise, network = fourier_noise(mechanism, n=n), mechanism.prior.network
    pairs = noise.for_fewer_moved_values(1, releases=releases)
    if not pairs or network.closure.odd_overlap.exact:
        return Losses.of(pairs)
    least = _certain(noise, network).for_fewer_moved_values(1, releases=releases)
    return Losses(BetweenLosses(least[0], pairs[0]))


AUDIT = Audit(
    kind=LaplaceFourier,
    report=audit_fourier,
    losses=_losses,
    picture=lambda mechanism, worst, n: noisy_number(mechanism.noise_law, step=2.0, what="coefficients"),
)
