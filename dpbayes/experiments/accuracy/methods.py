"""The methods that there are: two baselines, and the curves of every mechanism.

A mechanism that has no module here which draws for many repeats and epsilons at once has one curve, of its releases.
"""

import functools
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from dpbayes.base.looks import BOUND, Look
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.curves import aware, fourier, linear, map, sampler
from dpbayes.experiments.accuracy.curves.any_mechanism import curves_of, typical
from dpbayes.experiments.accuracy.method import Curves, Method
from dpbayes.experiments.accuracy.releases import exact_log_cpts
from dpbayes.mechanisms import PRIVATE, Calibration, Exact, NetworkMechanism, Noise, Outcome
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets

FAST: tuple[Curves, ...] = (*linear.CURVES, fourier.CURVES, sampler.CURVES, map.CURVES)
"""The mechanisms whose curves are drawn at all epsilons at once."""

CURVES: tuple[Curves, ...] = tuple(
    next((curves for curves in FAST if curves.kind is kind), None) or curves_of(kind) for kind in PRIVATE
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
    log_cpts=exact_log_cpts,  # never asked: it predicts from the target's counts alone
    certified=EXACT.certified,
)
BASELINES = (EXACT, MAJORITY)

METHODS: Mapping[str, Method] = {
    method.name: method for method in (*BASELINES, *(method for curves in CURVES for method in curves.methods))
}
"""All methods that take what is released as it is, by their names in commands."""

ALL_METHODS: Mapping[str, Method] = {**METHODS, **{method.name: method for method in aware.AWARE}}
"""All methods by their names in commands, with those that know of the noise, which take longer."""

ALL_CURVES: tuple[Curves, ...] = (*CURVES, aware.CURVES)
"""What is to be said of all methods."""


def methods_for(
    network: Network,
    calibrations: Sequence[Calibration],
    noise: Noise = Noise.REAL,
    *,
    among: Iterable[Method] = METHODS.values(),
) -> tuple[Method, ...]:
    """Return the methods of these calibrations that have this noise and fit the network; Fourier needs binary nodes."""
    return tuple(
        method
        for method in among
        if set(method.calibrations) & set(calibrations) and noise in method.noises and not refusal(method, network)
    )


def refusal(method: Method, network: Network) -> str:
    """Return why a method does not fit a network, in a sentence; nothing where it does."""
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
