"""The curves of Laplace noise on Fourier coefficients: as proved, and as in the plot of [Zhang16].

The plot of the paper contains only releases without a negative count.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy import special

from dpbayes.base.looks import Look
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work, finished, part_of, slices
from dpbayes.base.text import latex, numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.curves.any_mechanism import sampled_log_cpts
from dpbayes.experiments.accuracy.method import Curves, Method, Size
from dpbayes.experiments.accuracy.releases import Generator, ReleasePlan, Releases, Streams
from dpbayes.mechanisms import Calibration, LaplaceFourier, Noise
from dpbayes.mechanisms.fourier import coefficient_noise, increment_for, needed_increments
from dpbayes.mechanisms.noise.law import NoiseLaw
from dpbayes.model.fourier import cells_per_family, marginals
from dpbayes.theory.zhang16.fourier import printed_noise
from dpbayes.theory.zhang16.stealth import negative_marginal_probability, printed_increment

ATTEMPTS = 100
"""Repetitions of a Fourier release with a negative count; after the last one, negative counts become zero."""

_LEAST = 1e-300
"""Smaller tail probabilities are replaced by this larger value, which has a logarithm."""


def log10_delta_of_kept(plan: ReleasePlan) -> float:
    """Return log10 of the delta that belongs to the doubled epsilon of "Fourier (paper)", for any table.

    An attempt with density f fails, by a negative count, with probability p. A release that succeeds within
    a = ATTEMPTS + 1 attempts has the density f (1 - p^a)/(1 - p) = f (1 + p + ... + p^(a - 1)). Between neighbouring
    tables, f grows by a factor of at most e^epsilon. The sum grows only if p grows, and then by no more than 1/(1 - p)
    does, which is at most e^epsilon again. If all attempts fail, which has probability p^a, the release is clipped;
    this probability is delta. p is at most the probability for zero counts, which [Zhang16] Corollary 3, corrected,
    bounds. Errors: InputError if a node is not binary.
    """
    network, t = plan.network, float(printed_increment(plan.stealth))
    by_family = float(negative_marginal_probability(network, noise=printed_noise(network), t=t))
    terms = len(network.closure)
    failing = min(by_family, float(special.gammaincc(terms, 2 * t * terms)))
    return (ATTEMPTS + 1) * math.log10(max(failing, _LEAST))


def increment(releases: Releases, calibration: Calibration) -> float:
    """Return t. As printed, 1 - exp(-t) is the plan's share of non-negative releases; certified, t is simulated.

    [Zhang16] Corollary 3, as printed and corrected.
    """
    if calibration is Calibration.AS_PRINTED:
        return -float(np.log1p(-releases.plan.stealth))
    if releases.simulated is None:
        finished(_simulate(releases))
    assert releases.simulated is not None
    return releases.simulated


def _simulate(releases: Releases) -> Work[None]:
    """Compute the certified increment from the same simulated releases as the Release page."""
    network = releases.plan.network
    draws, rng, needed = releases.plan.simulated_releases, stream(0, "stealth"), []
    for part in slices(draws, releases.drawn_at_once // network.cell_count):
        size = part.stop - part.start
        needed.append(needed_increments(network, Calibration.CERTIFIED, rng, draws=size))
        yield part.stop / draws
    releases.simulated = increment_for(releases.plan.stealth, np.concatenate(needed))


def _log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    """Release every table at every epsilon, with the increment of the plan's share of non-negative releases."""
    plan, prior = releases.plan, releases.prior
    if plan.noise is Noise.REAL and releases.simulated is None:
        yield from part_of(_simulate(releases), 0.0, 0.5)
    if plan.noise is Noise.WHOLE and releases.increments is None:
        yield from part_of(_simulate_increments(releases), 0.0, 0.5)
    yield 0.5

    def increment_at(epsilon: float) -> float:
        if releases.increments is None:
            return increment(releases, Calibration.CERTIFIED)
        return float(releases.increments[plan.epsilons.index(epsilon)])

    def mechanism_at(epsilon: float) -> LaplaceFourier:
        return LaplaceFourier(prior=prior, epsilon=epsilon, t=increment_at(epsilon), noise=plan.noise)

    mechanisms = releases.mechanisms(CERTIFIED.name, mechanism_at)
    work = sampled_log_cpts(mechanisms, releases, counts, streams, name="FOURIER")
    return (yield from part_of(work, 0.5, 1.0))


def _simulate_increments(releases: Releases) -> Work[None]:
    """Compute the certified increment for whole numbers at every epsilon, from as many releases as the Release page."""
    plan, scales, increments = releases.plan, _scales(releases, Calibration.CERTIFIED), []
    draws, certified = plan.simulated_releases, Calibration.CERTIFIED
    for k, scale in enumerate(scales):
        law, rng = NoiseLaw(Noise.WHOLE, float(scale)), stream(0, "stealth")
        needed = needed_increments(plan.network, certified, rng, draws=draws, law=law)
        increments.append(increment_for(plan.stealth, needed))
        yield (k + 1) / len(scales)
    releases.increments = np.array(increments)


def _kept(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    """Repeat releases with a negative count, because the plot of [Zhang16] shows only non-negative releases.

    Every epsilon keeps the first attempt that is non-negative there. The attempts of a repeat end with the first one
    whose noise is non-negative. The number of attempts, and the random numbers of later repeats, therefore do not
    depend on the grid. Every attempt has its own random stream.
    """
    scales = _scales(releases, Calibration.AS_PRINTED)
    noise = _noise(releases, Calibration.AS_PRINTED, streams("FOURIER_PRINTED"), len(counts))
    updates = np.repeat(releases.blanket.local_counts(noise)[:, None], len(scales), axis=1)
    failed = scales > _most_scale(counts, noise)[:, None]
    left = np.flatnonzero((noise < 0).any(axis=1))
    for attempt in range(1, ATTEMPTS + 1):
        if not len(left):
            break
        yield attempt / (ATTEMPTS + 1)
        noise = _noise(releases, Calibration.AS_PRINTED, streams("FOURIER_PRINTED", attempt), len(left))
        kept = failed[left] & (scales <= _most_scale(counts[left], noise)[:, None])
        if kept.any():
            updates[left] = np.where(kept[..., None], releases.blanket.local_counts(noise)[:, None], updates[left])
            failed[left] &= ~kept
        left = left[(noise < 0).any(axis=1)]
    updates *= scales[:, None]
    updates += releases.blanket.local_counts(counts)[:, None]
    return releases.log_mean(np.maximum(updates, 0.0, out=updates))


def _scales(releases: Releases, calibration: Calibration) -> FloatArray:
    return LaplaceFourier(prior=releases.prior, epsilon=1.0, calibration=calibration).noise_scale / releases.plan.grid


def _noise(releases: Releases, calibration: Calibration, rng: Generator, repeats: int) -> FloatArray:
    """Return the unit noise of all cells with the lift (R, all); it is linear in the scale. [Zhang16] Algorithm 2."""
    network = releases.plan.network
    noise = marginals(network, coefficient_noise(network, calibration, rng, (repeats,)))
    noise += 2 * increment(releases, calibration) * len(network.closure) / cells_per_family(network)
    return noise


def _most_scale(counts: FloatArray, noise: FloatArray) -> FloatArray:
    """Return the largest scale at which counts plus scaled noise, both (R, all), are non-negative: (R,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(noise < 0, counts / -noise, np.inf).min(axis=1)


def _certified_as_printed(releases: Releases) -> FloatArray:
    printed = LaplaceFourier(prior=releases.prior, epsilon=1.0, calibration=Calibration.AS_PRINTED)
    # Keeping only non-negative releases conditions on the outcome: both densities are divided by the probability of
    # success, whose ratio is at most exp(epsilon) again.
    return 2 * printed.certified.epsilon * releases.plan.grid


def _formulas(methods: Sequence[Method], releases: Releases) -> list[str]:
    plan, lines = releases.plan, []
    closure_size = f"$|N_I| = {len(plan.network.closure):,}$, "
    if PRINTED in methods:
        lines.append(
            f"- **{PRINTED.title}**: {closure_size}$t = -\\ln(1 - {latex(plan.stealth, 12)}) = "
            f"{numeral(increment(releases, Calibration.AS_PRINTED), 4)}$; the release is repeated "
            f"while a count is negative, at most {ATTEMPTS + 1} times, and is then clipped at zero."
        )
    if CERTIFIED in methods:
        t = "t" if plan.noise is Noise.WHOLE else f"t = {latex(increment(releases, Calibration.CERTIFIED))}"
        lines.append(
            f"- **{CERTIFIED.title}**: {closure_size}${t}$, found by simulation{' at each ε' if t == 't' else ''} "
            f"so that {numeral(100 * plan.stealth, 12)}% of releases have no negative count; clipped at "
            f"zero.{plan.noise.drawn}"
        )
    return lines


def _notes(methods: Sequence[Method], releases: Releases) -> list[str]:
    if releases.plan.noise is Noise.WHOLE and CERTIFIED in methods:
        return [
            f"“{PRINTED.title}” is left out because the paper’s plot uses real-valued noise. Choose real "
            "numbers to see it."
        ]
    if PRINTED not in methods:
        return []
    power = math.ceil(log10_delta_of_kept(releases.plan))
    return [
        "The paper's Fourier mechanism keeps only releases without a negative count, which at most doubles ε. If all "
        f"{ATTEMPTS + 1} tries fail, the first one is clipped and released. The bound does not cover this "
        f"case. Its probability is included as $\\delta \\le 10^{{{power}}}$."
    ]


def _prepared_seconds(size: Size) -> float:
    simulations = 1 if size.noise is Noise.REAL else size.epsilons
    return 6e-8 * size.simulated * size.cells * simulations


CERTIFIED = Method(
    name="fourier",
    titled=Look("Fourier (proved)", LaplaceFourier.colour),
    kind=LaplaceFourier,
    option=("fourier", "Fourier"),
    calibrations=(Calibration.CERTIFIED,),
    log_cpts=_log_cpts,
    seconds=lambda size: 1e-7 * size.cells * size.epsilons,
    prepared=_prepared_seconds,
)
PRINTED = Method(
    name="fourier_printed",
    titled=Look("Fourier (paper)", LaplaceFourier.colour, "dash", "diamond-open"),
    kind=LaplaceFourier,
    option=("fourier", "Fourier"),
    calibrations=(Calibration.AS_PRINTED,),
    noises=(Noise.REAL,),  # what is kept of many tries, as in the paper's plot
    log_cpts=_kept,
    certified=_certified_as_printed,
    seconds=lambda size: 1e-7 * size.cells,
)

CURVES = Curves(kind=LaplaceFourier, methods=(CERTIFIED, PRINTED), formulas=_formulas, notes=_notes)
