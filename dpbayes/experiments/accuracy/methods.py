"""All methods: two baselines, a curve for every mechanism, and those of the paper's Figure 1.

A curve releases the tables of all repeats at once, at one epsilon after the other, and takes the mean that a recipient
concludes. The releases of a method at all epsilons start from the same random numbers, so that neighbouring points of a
curve share their luck, and a grid can be changed without changing the other points.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dpbayes.base.looks import BOUND, INVALID, Look
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Means, Method
from dpbayes.experiments.accuracy.trimmed import trimmed_means
from dpbayes.mechanisms import PRIVATE, Calibration, Exact, LaplaceFourier, Noise, PosteriorSampler
from dpbayes.mechanisms.parameters import DELTA
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.noise_aware import ShiftedPoints, noise_aware_means

ATTEMPTS = 100
"""Repetitions of a Fourier release with a negative count; after the last one, negative counts become zero."""

POINTS = 64
"""Possible counts of a row that a noise-aware posterior uses. An average over repeats needs fewer than one release."""

AT_DELTA = f"δ = {numeral(DELTA.typical)}"
"""The delta of mechanisms that have one; it appears next to epsilon."""


def _exact(plan: AccuracyPlan, _epsilon: float, counts: Counts, _rng: np.random.Generator) -> FloatArray:
    return plan.prior.on(plan.network).updated(counts).mean


def _endless(_plan: AccuracyPlan, _epsilon: float) -> float:
    return math.inf


EXACT = Method(name="exact", titled=Look("without privacy", Exact.colour, width=5), means=_exact, certified=_endless)
MAJORITY = Method(
    name="majority",
    titled=Look("most frequent value", BOUND, "dash", "diamond-open"),
    means=_exact,  # not used: it predicts from the counts of the target only
    certified=_endless,
)
BASELINES = (EXACT, MAJORITY)


# Any mechanism


def released(kind: type[Any], name: str, title: str = "", **more: Any) -> Method:
    """Return the curve of a mechanism: the means of its own releases."""
    title = title or kind.label

    def means(plan: AccuracyPlan, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
        return np.asarray(plan.mechanism(kind, epsilon).simulate(counts, rng).outcome.probabilities)

    def certified(plan: AccuracyPlan, epsilon: float) -> float:
        return float(plan.mechanism(kind, epsilon).certified.epsilon)

    has_delta = "delta" in parameters_of(kind)
    usual: dict[str, Any] = {
        "name": name,
        "titled": Look(f"{title} ({AT_DELTA})" if has_delta else title, kind.colour),
        "means": means,
        "certified": certified,
        "kind": kind,
        "option": (name, title),
    }
    return Method(**(usual | more))


# Noise-aware recipients


def _aware(read: Method) -> Method:
    """Return the curve of a noise-aware recipient of the releases of another curve; this costs no privacy."""
    name = f"{read.name}_aware"

    def means(plan: AccuracyPlan, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
        mechanism: Any = plan.mechanism(read.kind, epsilon)  # type: ignore[arg-type]  # it has a mechanism
        tables = mechanism.prior, mechanism.noise_model, mechanism.simulate(counts, rng).outcome.numbers, counts.n
        own = np.unique(plan.blanket.cells)  # the other cells do not matter
        cpts = np.ones(counts.values.shape)
        cpts[:, own] = noise_aware_means(*tables, cells=own, points=ShiftedPoints(POINTS, rng))
        return cpts

    return replace(
        read,
        name=name,
        titled=replace(read.titled, name=f"noise-aware {read.title}", dash="dash"),
        means=means,
        option=(name, f"noise-aware {read.option[1]}"),
        is_aware=True,
    )


# Fourier, as proved and as in the paper's plot


def _lifted(plan: AccuracyPlan, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
    """Release every table with the increment of the plan's share of non-negative releases."""
    mechanism = plan.mechanism(LaplaceFourier, epsilon, t=plan.increments[epsilon])
    return np.asarray(mechanism.simulate(counts, rng).outcome.probabilities)


def increment_in_the_plot(plan: AccuracyPlan) -> float:
    """Return the t at which [Zhang16] Corollary 3 promises the plan's share of non-negative releases."""
    return -math.log1p(-plan.stealth)


def _as_in_the_plot(plan: AccuracyPlan, epsilon: float) -> Any:
    printed = Calibration.AS_PRINTED
    return plan.mechanism(LaplaceFourier, epsilon, calibration=printed, t=increment_in_the_plot(plan))


def _kept(plan: AccuracyPlan, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
    """Repeat releases with a negative count, because the plot of [Zhang16] shows only non-negative releases."""
    mechanism = _as_in_the_plot(plan, epsilon)
    updates = np.asarray(mechanism.simulate(counts, rng).outcome.updates)
    for _ in range(ATTEMPTS):
        left = np.flatnonzero((updates < 0).any(axis=1))
        if not len(left):
            break
        again = Counts(counts.network, counts.values[left], counts.n)
        tried = np.asarray(mechanism.simulate(again, rng).outcome.updates)
        fits = (tried >= 0).all(axis=1)
        updates[left[fits]] = tried[fits]
    return mechanism.prior.updated(np.maximum(updates, 0.0)).mean


def _certified_of_kept(plan: AccuracyPlan, epsilon: float) -> float:
    # Keeping only non-negative releases conditions on the outcome: both densities are divided by the probability of
    # success, whose ratio is at most exp(epsilon) again.
    return 2 * float(_as_in_the_plot(plan, epsilon).certified.epsilon)


# Posterior sampling, as proved and as in the paper


def max_decisions_per_node(network: Network) -> int:
    """Return the largest number of binary decisions that lead to a state of any node: 1 in a binary network."""
    return max(1, int(np.max(Decisions(network).depths)))


def printed_bound(network: Network, epsilon: float) -> float:
    """Return the paper's bound of log-odds; zero where the paper's omega allows only even odds."""
    return math.log(max(math.expm1(epsilon / (2 * max_decisions_per_node(network))), 1.0))


def _samples(bound_of: Callable[[AccuracyPlan, float], float], draws_of: Callable[[AccuracyPlan], int]) -> Means:
    def means(plan: AccuracyPlan, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
        posterior, bound = plan.prior.on(plan.network).updated(counts), bound_of(plan, epsilon)
        return trimmed_means(posterior, bound, rng, draws=draws_of(plan))

    return means


def _printed_sampler(name: str, look: Look, option: tuple[str, str], draws_of: Callable[[AccuracyPlan], int]) -> Method:
    """Return the curve as in the paper; red, because its claim does not hold."""

    def certified(plan: AccuracyPlan, epsilon: float) -> float:
        terms = int(Decisions(plan.network).depths.sum())
        return 2 * terms * draws_of(plan) * printed_bound(plan.network, epsilon)

    return released(
        PosteriorSampler,
        name,
        titled=look,
        option=option,
        means=_samples(lambda plan, epsilon: printed_bound(plan.network, epsilon), draws_of),
        certified=certified,
        calibrations=(Calibration.AS_PRINTED,),
    )


# All of them

_ONE, _MANY = ("sampling", "posterior sampling, 1 sample"), ("sampling_many", "posterior sampling, N samples")
_CERTIFIED = (Calibration.CERTIFIED,)

OWN: tuple[Method, ...] = (
    released(
        LaplaceFourier,
        "fourier",
        "Fourier",
        means=_lifted,
        titled=Look("Fourier", LaplaceFourier.colour),
        calibrations=_CERTIFIED,
    ),
    released(
        LaplaceFourier,
        "fourier_printed",
        "Fourier",
        titled=Look("Fourier (paper)", LaplaceFourier.colour, "dash", "diamond-open"),
        option=("fourier", "Fourier"),
        means=_kept,
        certified=_certified_of_kept,
        calibrations=(Calibration.AS_PRINTED,),
        noises=(Noise.REAL,),  # what is kept of many tries, as in the paper's plot
    ),
    released(
        PosteriorSampler,
        "sampler",
        titled=Look("sampling (1 sample)", PosteriorSampler.colour),
        option=_ONE,
        means=_samples(lambda plan, epsilon: plan.mechanism(PosteriorSampler, epsilon).log_odds_bound, lambda plan: 1),
        calibrations=_CERTIFIED,
    ),
    _printed_sampler(
        "sampler_printed", Look("sampling (paper, 1 sample)", INVALID, "dot", "x-thin-open"), _ONE, lambda plan: 1
    ),
    _printed_sampler(
        "sampler_many",
        Look("sampling (paper, N samples)", INVALID, "dash", "diamond-open"),
        _MANY,
        lambda plan: plan.draws,
    ),
)
"""The curves of the two mechanisms that have several: as proved, and as in the paper."""

_NAMES = {"LaplaceUpdates": "laplace", "GaussianUpdates": "gaussian", "GaussianResiduals": "residuals"} | {
    "MapExponential": "private_map",
    "ConsistentLaplace": "consistent",
}
"""Short names of curves; the others are called as their classes."""


def _curves(kind: type[Any]) -> tuple[Method, ...]:
    own = tuple(method for method in OWN if method.kind is kind)
    name = _NAMES.get(kind.__name__, kind.__name__)
    return own or (released(kind, name.lower(), option=(name, kind.label)),)


METHODS: Mapping[str, Method] = {
    method.name: method for method in (*BASELINES, *(method for kind in PRIVATE for method in _curves(kind)))
}
"""All methods that use released numbers as if they were exact, by name."""

AWARE = (_aware(METHODS["laplace"]), _aware(METHODS["residuals"]))
"""The noise-aware curves of the paper's noise and of the best known."""

ALL_METHODS: Mapping[str, Method] = {**METHODS, **{method.name: method for method in AWARE}}
"""All methods by name, with the noise-aware ones, which take longer."""


def methods_for(
    network: Network,
    calibrations: Sequence[Calibration],
    noise: Noise = Noise.REAL,
    *,
    among: Iterable[Method] = METHODS.values(),
) -> tuple[Method, ...]:
    """Return the methods with one of these calibrations and this noise that fit the network."""
    return tuple(
        method
        for method in among
        if set(method.calibrations) & set(calibrations) and noise in method.noises and not method.refusal(network)
    )
