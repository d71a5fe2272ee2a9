"""How every claim of the Bounds page is evaluated, and how what it bounds is measured."""

from dataclasses import replace

import numpy as np

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.theory.claims.claim import Bound, flat, joined
from dpbayes.theory.claims.setting import At, Subject
from dpbayes.theory.claims.truth import Measured, exactly, mean_alone, nothing_known
from dpbayes.theory.zhang16 import counts as updates
from dpbayes.theory.zhang16 import formulas, fourier, map, sampling, stealth
from dpbayes.theory.zhang16 import truths as measured
from dpbayes.theory.zhang16.posterior_kl import ORDER, printed_order
from dpbayes.theory.zhang16.shared import kl_bounds, kl_study, needed_increments, trimmed_row
from dpbayes.theory.zhang16.truths import NoisyTable

CELLS = 20
"""Cells of the MAP estimate in Lemma 4, as the mechanism's default."""


# Laplace


def theorem_1(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 1, with the exact mean."""
    return kl_bounds(subject, at).theorem


def c_squared(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 1, certified by McDiarmid's inequality with c squared."""
    found = kl_bounds(subject, at)
    return replace(found.theorem, certified=found.tails.mcdiarmid)


def closed_form(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 1, with U."""
    return kl_bounds(subject, at).closed_form


def mean(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 1, U."""
    return kl_bounds(subject, at).mean


def refined_mean(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 1, refined."""
    return kl_bounds(subject, at).refined_mean


def order(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 1, last display, with constant 1."""
    found = kl_bounds(subject, at)
    printed = printed_order(subject.network.row_count, subject.records, found.scale, delta=at.knobs.delta)
    return replace(found.theorem, claim=ORDER, printed=printed)


def kl_quantile(subject: Subject, at: At, bound: Bound) -> Measured:
    """Simulate the KL divergence and take its quantile."""
    expected = kl_bounds(subject, at).expected
    if subject.too_large:
        return mean_alone(expected, subject.too_large)
    return measured.kl_quantile(kl_study(subject, at), expected, printed=bound.printed, delta=at.knobs.delta)


def kl_mean(subject: Subject, at: At, bound: Bound) -> Measured:
    """Take the exact mean of the KL divergence, and simulate it."""
    expected = kl_bounds(subject, at).expected
    if subject.too_large:
        return replace(exactly(expected, printed=bound.printed, name="exact mean"), note=subject.too_large)
    return measured.kl_mean(kl_study(subject, at), expected, printed=bound.printed)


def proposition_1(subject: Subject, at: At) -> Bound:
    """[Zhang16] Proposition 1."""
    return updates.proposition_1(subject.network, epsilon=at.epsilons, delta=at.knobs.delta)


def largest_noise(subject: Subject, at: At, bound: Bound) -> Measured:
    """Simulate the largest noise."""
    if subject.too_large:
        return mean_alone(measured.mean_of_largest(subject.network, at.epsilons), subject.too_large)
    return measured.largest_noise(
        subject.network,
        stream(subject.seed, "bounds", "largest noise"),
        epsilon=at.epsilons,
        printed=bound.printed,
        delta=at.knobs.delta,
        releases=subject.releases,
    )


def clipped(subject: Subject, at: At) -> Bound:
    """[Zhang16] Proposition 1, for the clipped updates."""
    return updates.clipped_proposition_1(subject.network, subject.records, epsilon=at.epsilons, delta=at.knobs.delta)


def largest_change(subject: Subject, at: At, bound: Bound) -> Measured:
    """Simulate the largest change of a released count, where the counts may be seen."""
    if subject.counts is None or subject.too_large:
        return nothing_known(len(at.epsilon), "" if subject.counts is None else subject.too_large)
    return measured.largest_change(
        subject.held,
        stream(subject.seed, "bounds", "largest change"),
        epsilon=at.epsilons,
        printed=bound.printed,
        delta=at.knobs.delta,
        releases=subject.releases,
    )


# Fourier


def corollary_2(subject: Subject, at: At) -> Bound:
    """[Zhang16] Corollary 2."""
    return fourier.scale_bound(subject.network, at.epsilons)


def theorem_3(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 3, for the largest table."""
    node = formulas.largest_family(subject.network)
    bound = fourier.table_error_bound(subject.network, epsilon=at.epsilons, t=at.knobs.t, delta=at.knobs.delta)
    return replace(bound, printed=bound.printed[..., node], certified=bound.certified[..., node])


def table_error(subject: Subject, at: At, bound: Bound) -> Measured:
    """Simulate the error of the largest table."""
    if subject.too_large:
        return nothing_known(len(at.epsilon), subject.too_large)
    network = subject.network
    return measured.table_error(
        stream(subject.seed, "bounds", "table error"),
        table=NoisyTable(
            nodes=len(network.families[formulas.largest_family(network)]),
            lift=2 * at.knobs.t * len(network.closure),
            scale=fourier.printed_noise(network).scale(at.epsilons),
        ),
        printed=bound.printed,
        delta=at.knobs.delta,
        releases=subject.releases,
    )


def corollary_3(subject: Subject, at: At) -> Bound:
    """[Zhang16] Corollary 3, for the released tables."""
    noise = fourier.printed_noise(subject.network)
    return stealth.negative_marginal_bound(subject.network, noise=noise, t=np.array([at.knobs.t]))


def negative_share(subject: Subject, at: At, bound: Bound) -> Measured:
    """Simulate how often released tables have a negative cell."""
    if subject.too_large:
        return nothing_known(1, subject.too_large)
    needed = needed_increments(subject)
    return measured.negative_share(needed, np.array([at.knobs.t]), printed=bound.printed)


# Draws and the mode


def theorem_4_1(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 4(1)."""
    return flat(sampling.theorem_4_1(subject.network, omega=at.knobs.omega, draws=at.draws))


def theorem_4_2(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 4(2)."""
    return flat(sampling.theorem_4_2(subject.network, prior=subject.concentration, start=at.knobs.start))


def appendix_c_2(subject: Subject, at: At) -> Bound:
    """[Zhang16] Appendix C.2."""
    return sampling.appendix_c_2(subject.network, epsilon=at.epsilons, draws=at.draws)


def corollary_4(subject: Subject, at: At) -> Bound:
    """[Zhang16] Corollary 4. Errors: InputError without records or with too many."""
    return map.corollary_4(trimmed_row(subject, at), epsilon=at.epsilons)


def printed_map_loss(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact loss between the worst of a few pairs of tables."""
    exact = map.printed_loss(trimmed_row(subject, at), epsilon=at.epsilons)
    return exactly(exact, printed=bound.printed, name="exact loss of one pair of tables")


def _shortfall(subject: Subject) -> map.Shortfall:
    network, counts, root = subject.network, subject.held, formulas.binary_root(subject.network)
    if root is None:
        raise InputError("Lemma 4 is shown for a binary node without parents, and this network has none.")
    first, second = (int(value) for value in network.table(counts.values, root).ravel())
    prior = subject.concentration
    return map.shortfall(prior, prior, counts=(first, second), cells=CELLS, sensitivity=1.0)


def lemma_4(subject: Subject, at: At) -> Bound:
    """[Zhang16] Lemma 4, with scores that are masses. Errors: InputError without a binary root."""
    mechanism, t = _shortfall(subject), np.array([at.knobs.gap / 2])
    every = [map.lemma_4(mechanism, epsilon=epsilon, t=t) for epsilon in at.epsilon]
    return joined(every)


def shortfall(subject: Subject, at: At, bound: Bound) -> Measured:
    """Find the exact probability of falling short."""
    mechanism = _shortfall(subject)
    exact = np.array([float(mechanism.outside(epsilon=epsilon, t=at.knobs.gap / 2)) for epsilon in at.epsilon])
    return exactly(exact, printed=bound.printed, name="exact probability")
