"""All methods: two baselines, a curve for every mechanism, and those of the paper's Figure 1.

A curve releases the tables of all repeats at once, at one epsilon after the other, and takes the mean that a recipient
concludes. The releases of a method at all epsilons start from the same random numbers, so that neighbouring points of a
curve share their luck, and a grid can be changed without changing the other points.
"""

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import special

from dpbayes.base.looks import BOUND, INVALID, Look
from dpbayes.base.parameters import parameters_of
from dpbayes.base.steps import slices
from dpbayes.base.text import many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.setting import AnyMechanism, PredictionSetting, typical
from dpbayes.experiments.accuracy.trimmed import trimmed_means
from dpbayes.mechanisms import (
    PRIVATE,
    Calibration,
    Exact,
    LaplaceFourier,
    Noise,
    PosteriorSampler,
)
from dpbayes.mechanisms.base import simulated
from dpbayes.mechanisms.parameters import DELTA
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.noise_aware import ShiftedPoints, noise_aware_cells
from dpbayes.theory.zhang16.fourier import printed_noise
from dpbayes.theory.zhang16.stealth import negative_marginal_probability, printed_increment

ATTEMPTS = 100
"""Repetitions of a Fourier release with a negative count; after the last one, negative counts become zero."""

POINTS = 64
"""Possible counts of a row that a noise-aware posterior uses. An average over repeats needs fewer than one release."""

AWARE_REPEATS = 50
"""The number of repeats of noise-aware curves, whose posteriors take a thousand times as long as the releases."""

MOST_SETS = 4096
"""The search for the best noise on so many sets of nodes takes at most ten seconds; on 16,000, half a minute."""

AT_DELTA = f"δ = {numeral(DELTA.typical)}"
"""The delta of mechanisms that have one; it appears next to epsilon."""

_LEAST, _AWARE_CELLS = 1e-300, 4000
"""A tail probability has at least this value, which has a logarithm. Cells of noise-aware posteriors at a time."""

Means = Callable[[PredictionSetting, float, Counts, np.random.Generator], FloatArray]
"""Takes the counts of R tables, and returns the CPTs (R, all) that a recipient concludes at an epsilon."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A curve: its `name`, and its look and title, in which "N samples" becomes the plan's number.

    `kind` is the class of its mechanism; None for a baseline, which has no epsilon. `option` is the option of the page
    that leaves the curve out: its name in the link, and its title. `certified` returns the proved epsilon, and `note` a
    remark on what is proved. `noises` are the kinds of noise that it can sample. The method is measured only in the
    first `most_repeats` repeats of a study.
    """

    name: str
    titled: Look = field(compare=False)
    means: Means = field(compare=False)
    certified: Callable[[PredictionSetting, float], float] = field(
        compare=False, default=lambda setting, epsilon: epsilon
    )
    note: Callable[[PredictionSetting], str] = field(compare=False, default=lambda setting: "")
    kind: type[AnyMechanism] | None = field(compare=False, default=None)
    option: tuple[str, str] = field(compare=False, default=("", ""))
    calibrations: tuple[Calibration, ...] = field(compare=False, default=tuple(Calibration))
    noises: tuple[Noise, ...] = field(compare=False, default=tuple(Noise))
    most_repeats: int = field(compare=False, default=10**9)

    @property
    def title(self) -> str:
        """Its name in a legend."""
        return self.titled.name

    @property
    def is_baseline(self) -> bool:
        """Whether it has no epsilon."""
        return self.kind is None

    def called(self, draws: int) -> str:
        """Return its title with the number of samples."""
        return self.title.replace("N samples", many(draws, "sample"))

    def look(self, draws: int) -> Look:
        """Return how its curve looks."""
        return self.titled.called(self.called(draws))


def _exact(setting: PredictionSetting, _epsilon: float, counts: Counts, _rng: np.random.Generator) -> FloatArray:
    return setting.prior.on(setting.network).updated(counts).mean


def _endless(_setting: PredictionSetting, _epsilon: float) -> float:
    return math.inf


EXACT = Method(name="exact", titled=Look("exact (not private)", Exact.colour), means=_exact, certified=_endless)
MAJORITY = Method(
    name="majority",
    titled=Look("majority class", BOUND, "dash", "diamond-open"),
    means=_exact,  # not used: it predicts from the counts of the target only
    certified=_endless,
)
BASELINES = (EXACT, MAJORITY)


# Any mechanism


def released(kind: type[Any], name: str, title: str = "", **more: Any) -> Method:
    """Return the curve of a mechanism: the means of its own releases."""
    title = title or kind.label

    def means(setting: PredictionSetting, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
        return np.asarray(simulated(setting.mechanism(kind, epsilon), counts, rng).outcome.probabilities)

    def certified(setting: PredictionSetting, epsilon: float) -> float:
        return float(setting.mechanism(kind, epsilon).certified.epsilon)

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

    def means(setting: PredictionSetting, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
        mechanism: Any = setting.mechanism(read.kind, epsilon)  # type: ignore[arg-type]  # it has a mechanism
        turns = rng.random((len(counts.values), int(setting.network.cards.max())))
        numbers, noise = simulated(mechanism, counts, rng).outcome.numbers, mechanism.noise_model
        own = np.unique(setting.blanket.cells)  # the other cells do not matter
        cpts = np.ones(counts.values.shape)
        for part in slices(len(cpts), _AWARE_CELLS // len(own)):
            points = ShiftedPoints(POINTS, turns[part])
            marginals = noise_aware_cells(mechanism.prior, noise, numbers[part], counts.n, cells=own, points=points)
            cpts[part, own] = marginals.mean
        return cpts

    return replace(
        read,
        name=name,
        titled=replace(read.titled, name=f"{read.title}, noise-aware", dash="dash"),
        means=means,
        option=(name, f"{read.option[1]}, noise-aware"),
        most_repeats=AWARE_REPEATS,
    )


# Fourier, as proved and as in the paper's plot


def _lifted(setting: PredictionSetting, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
    """Release every table with the increment of the plan's share of non-negative releases."""
    mechanism = setting.mechanism(LaplaceFourier, epsilon, t=setting.increments[epsilon])
    return np.asarray(simulated(mechanism, counts, rng).outcome.probabilities)


def _as_in_the_plot(setting: PredictionSetting, epsilon: float) -> Any:
    printed, t = Calibration.AS_PRINTED, float(printed_increment(setting.stealth))
    return setting.mechanism(LaplaceFourier, epsilon, calibration=printed, t=t)


def _kept(setting: PredictionSetting, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
    """Repeat releases with a negative count, because the plot of [Zhang16] shows only non-negative releases."""
    mechanism = _as_in_the_plot(setting, epsilon)
    updates = np.asarray(simulated(mechanism, counts, rng).outcome.updates)
    for _ in range(ATTEMPTS):
        left = np.flatnonzero((updates < 0).any(axis=1))
        if not len(left):
            break
        again = Counts(counts.network, counts.values[left], counts.n)
        tried = np.asarray(simulated(mechanism, again, rng).outcome.updates)
        fits = (tried >= 0).all(axis=1)
        updates[left[fits]] = tried[fits]
    return mechanism.prior.updated(np.maximum(updates, 0.0)).mean


def _certified_of_kept(setting: PredictionSetting, epsilon: float) -> float:
    # Keeping only non-negative releases conditions on the outcome: both densities are divided by the probability of
    # success, whose ratio is at most exp(epsilon) again.
    return 2 * float(_as_in_the_plot(setting, epsilon).certified.epsilon)


def log10_delta_of_kept(setting: PredictionSetting) -> float:
    """Return log10 of the delta that belongs to the doubled epsilon of "Fourier (paper)", for any table.

    An attempt with density f fails, by a negative count, with probability p. A release that succeeds within
    a = ATTEMPTS + 1 attempts has the density f (1 - p^a)/(1 - p) = f (1 + p + ... + p^(a - 1)). Between neighbouring
    tables, f grows by a factor of at most e^epsilon. The sum grows only if p grows, and then by no more than 1/(1 - p)
    does, which is at most e^epsilon again. If all attempts fail, which has probability p^a, the release is clipped;
    this probability is delta. p is at most the probability for zero counts, which [Zhang16] Corollary 3, corrected,
    bounds. Errors: InputError if a node is not binary.
    """
    network, t = setting.network, float(printed_increment(setting.stealth))
    by_family = float(negative_marginal_probability(network, noise=printed_noise(network), t=t))
    terms = len(network.closure)
    failing = min(by_family, float(special.gammaincc(terms, 2 * t * terms)))
    return (ATTEMPTS + 1) * math.log10(max(failing, _LEAST))


def _note_of_kept(setting: PredictionSetting) -> str:
    return (
        "The paper's Fourier mechanism keeps only releases without a negative count, which at most doubles ε. If all "
        f"{ATTEMPTS + 1} tries fail, the first one is clipped and released. The bound does not cover this case. Its "
        f"probability is included as $\\delta \\le 10^{{{math.ceil(log10_delta_of_kept(setting))}}}$."
    )


# Posterior sampling, as proved and as in the paper


def max_decisions_per_node(network: Network) -> int:
    """Return the largest number of binary decisions that lead to a state of any node: 1 in a binary network."""
    return max(1, int(np.max(Decisions(network).depths)))


def largest_degenerate_epsilon(network: Network) -> float:
    """Return the largest epsilon at which the paper's omega = e^(-epsilon/2) gives only even odds; binary: 2 ln 2."""
    return 2 * max_decisions_per_node(network) * math.log(2)


def printed_bound(network: Network, epsilon: float) -> float:
    """Return the paper's bound of log-odds; zero where the paper's omega allows only even odds."""
    return math.log(max(math.expm1(epsilon / (2 * max_decisions_per_node(network))), 1.0))


def _samples(
    bound_of: Callable[[PredictionSetting, float], float], draws_of: Callable[[PredictionSetting], int]
) -> Means:
    def means(setting: PredictionSetting, epsilon: float, counts: Counts, rng: np.random.Generator) -> FloatArray:
        posterior, bound = setting.prior.on(setting.network).updated(counts), bound_of(setting, epsilon)
        return trimmed_means(posterior, bound, rng, draws=draws_of(setting))

    return means


def _printed_sampler(
    name: str, look: Look, option: tuple[str, str], draws_of: Callable[[PredictionSetting], int]
) -> Method:
    """Return the curve as in the paper; red, because its claim does not hold."""

    def certified(setting: PredictionSetting, epsilon: float) -> float:
        terms = int(Decisions(setting.network).depths.sum())
        return 2 * terms * draws_of(setting) * printed_bound(setting.network, epsilon)

    return released(
        PosteriorSampler,
        name,
        titled=look,
        option=option,
        means=_samples(lambda setting, epsilon: printed_bound(setting.network, epsilon), draws_of),
        certified=certified,
        calibrations=(Calibration.AS_PRINTED,),
        note=_note_of_sampler,
    )


def _note_of_sampler(setting: PredictionSetting) -> str:
    return (
        "The paper's sampler charges for one changed factor of one sample. Up to "
        f"ε = {numeral(largest_degenerate_epsilon(setting.network), 4)} its ω allows only even odds: every sample is a "
        "fair coin."
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
        titled=Look("Fourier (proved)", LaplaceFourier.colour),
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
        note=_note_of_kept,
    ),
    released(
        PosteriorSampler,
        "sampler",
        titled=Look("sampling (proved, 1 sample)", PosteriorSampler.colour),
        option=_ONE,
        means=_samples(
            lambda setting, epsilon: setting.mechanism(PosteriorSampler, epsilon).log_odds_bound, lambda setting: 1
        ),
        calibrations=_CERTIFIED,
    ),
    _printed_sampler(
        "sampler_printed", Look("sampling (paper, 1 sample)", INVALID, "dot", "x-thin-open"), _ONE, lambda setting: 1
    ),
    _printed_sampler(
        "sampler_many",
        Look("sampling (paper, N samples)", INVALID, "dash", "diamond-open"),
        _MANY,
        lambda setting: setting.draws,
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

LAPLACE, SAMPLER, SAMPLER_MANY = METHODS["laplace"], METHODS["sampler"], METHODS["sampler_many"]

AWARE = (_aware(LAPLACE), _aware(METHODS["residuals"]))
"""The noise-aware curves of the paper's noise and of the best known."""

ALL_METHODS: Mapping[str, Method] = {**METHODS, **{method.name: method for method in AWARE}}
"""All methods by name, with the noise-aware ones, which take longer."""


ADDED = frozenset({"private_map", "consistent", "gaussian", *(method.option[0] for method in AWARE)})
"""Options of curves that a picture has only if their mechanism is chosen: one with all of them is unreadable."""


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
        if set(method.calibrations) & set(calibrations) and noise in method.noises and not refusal(method, network)
    )


def refusal(method: Method, network: Network) -> str:
    """Return why a method does not fit a network, as a sentence; an empty text if it fits."""
    if method.kind is None:
        return ""
    try:
        if method in AWARE or hasattr(method.kind, "design"):
            sets = len(network.closure)  # refuses families of too many nodes
            if hasattr(method.kind, "design") and sets > MOST_SETS:
                return (
                    f"This network has {sets:,} sets of nodes within its families, but the optimal noise is computed "
                    f"for at most {MOST_SETS:,} here. Remove some parents, or leave out the mechanisms that need it."
                )
    except InputError as error:
        return str(error)
    return _refusal(method.kind, network)


@functools.lru_cache(maxsize=64)
def _refusal(kind: type[AnyMechanism], network: Network) -> str:
    try:
        typical(kind, prior=Dirichlets.symmetric(network), epsilon=1.0)
    except InputError as error:
        return str(error)
    return ""
