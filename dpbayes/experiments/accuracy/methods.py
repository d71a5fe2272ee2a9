"""All methods: two baselines, and the curves of every mechanism.

A mechanism without an entry in `OWN` has one curve, of single releases.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dpbayes.base.looks import BOUND, Look
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.curves import additive, aware, fourier, map, sampler
from dpbayes.experiments.accuracy.curves.any_mechanism import curves_of, typical
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import exact_log_cpts
from dpbayes.mechanisms import PRIVATE, Calibration, Exact, NetworkMechanism, Noise, Outcome
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets

OWN: tuple[Curves, ...] = (*additive.CURVES, fourier.CURVES, sampler.CURVES, map.CURVES)
"""The curves of mechanisms that sample many repeats at once, or that have several curves."""

CURVES: tuple[Curves, ...] = tuple(
    next((curves for curves in OWN if curves.kind is kind), None) or curves_of(kind) for kind in PRIVATE
)

EXACT = Method(
    name="exact",
    titled=Look("exact (not private)", Exact.colour),
    log_cpts=exact_log_cpts,
    certified=lambda releases: np.full(len(releases.plan.grid), np.inf),
)
MAJORITY = Method(
    name="majority",
    titled=Look("majority class", BOUND, "dash", "diamond-open"),
    log_cpts=exact_log_cpts,  # not used: it predicts from the counts of the target only
    certified=EXACT.certified,
)
BASELINES = (EXACT, MAJORITY)

METHODS: Mapping[str, Method] = {
    method.name: method for method in (*BASELINES, *(method for curves in CURVES for method in curves.methods))
}
"""All methods that use released numbers as if they were exact, by their names in commands."""

ALL_METHODS: Mapping[str, Method] = {**METHODS, **{method.name: method for method in aware.AWARE}}
"""All methods by their names in commands, with the noise-aware ones, which take longer."""

ALL_CURVES: tuple[Curves, ...] = (*CURVES, aware.CURVES)
"""The curves of all methods, with their formulas and notes."""


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
    try:
        method.suits(network)
    except InputError as error:
        return str(error)
    return _refusal(method.kind, network) if method.kind is not None else ""


@functools.lru_cache(maxsize=64)
def _refusal(kind: type[NetworkMechanism[Outcome]], network: Network) -> str:
    try:
        typical(kind, prior=Dirichlets.symmetric(network), epsilon=1.0)
    except InputError as error:
        return str(error)
    return ""
