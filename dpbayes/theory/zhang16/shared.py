"""What several claims of [Zhang16] share at a setting: each is computed once."""

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.stealth import Needed, UnitNoise, least_noise
from dpbayes.theory.claims.setting import At, Subject
from dpbayes.theory.zhang16.kl_study import KlStudy, simulate_kl
from dpbayes.theory.zhang16.map import MOST_RECORDS, TrimmedRow
from dpbayes.theory.zhang16.posterior_kl import PosteriorKl, posterior_kl


def kl_bounds(subject: Subject, at: At) -> PosteriorKl:
    """Return Theorem 1 for the curator's counts. Errors: InputError without counts."""
    counts, delta = subject.held, at.knobs.delta
    key = (*subject.key, at.epsilon, delta)
    return subject.memo.once(key, posterior_kl, subject.prior, counts, epsilon=at.epsilons, delta=delta)


def kl_study(subject: Subject, at: At) -> KlStudy:
    """Return simulated releases of the curator's counts. Errors: InputError without counts."""
    return subject.memo.once((*subject.key, at.epsilon, subject.releases, subject.seed), _kl_study, subject, at)


def _kl_study(subject: Subject, at: At) -> KlStudy:
    rng = stream(subject.seed, "bounds", "posterior KL")
    return simulate_kl(subject.prior, subject.held, epsilon=at.epsilons, releases=subject.releases, rng=rng)


def trimmed_row(subject: Subject, at: At) -> TrimmedRow:
    """Return the row that Corollary 4 is shown for, with its sensitivity once found. Errors: InputError."""
    if subject.records > MOST_RECORDS:
        raise InputError(
            f"This is shown for a row of at most {MOST_RECORDS:,} records, since the score's sensitivity is sought "
            f"among all tables of the row, and there are {subject.records:,}. Choose a smaller table on the Data page."
        )
    row = (subject.concentration, subject.concentration, at.knobs.omega, subject.records)
    return subject.memo.once(row, TrimmedRow, *row)


def needed_increments(subject: Subject) -> Needed:
    """Return simulated increments that keep the tables of empty releases non-negative, with the printed noise."""
    return subject.memo.once((subject.network, subject.releases, subject.seed), _needed_increments, subject)


def _needed_increments(subject: Subject) -> Needed:
    rng, draws = stream(subject.seed, "bounds", "stealth"), 4 * subject.releases
    return least_noise(UnitNoise.draw(subject.network, Calibration.AS_PRINTED, rng, draws=draws)).needed()
