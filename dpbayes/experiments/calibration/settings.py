"""What is tried: networks of several shapes, few records and many, little noise and much, every fitting mechanism."""

from collections.abc import Callable
from itertools import pairwise

import numpy as np

from dpbayes.experiments.calibration.study import Told, Trial
from dpbayes.mechanisms import (
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    Noise,
    WeightedFourier,
)
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named

EPSILONS = tuple(float(epsilon) for epsilon in np.geomspace(0.1, 100, 7))
"""Where coverage against epsilon is told."""


def combinations() -> tuple[Trial, ...]:
    """Return the settings whose calibration is tested and printed."""
    asia, six = load_named("asia")[0], _chain(6)
    names = [f"v{k}" for k in range(5)]
    above = [("v0", "v1"), ("v0", "v2"), ("v1", "v3"), ("v1", "v4")]
    ternary = Network.from_edges(names, above, dict.fromkeys(names, "abc"))
    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    mixed = Network.from_edges("abcd", edges, {"a": "xyz", "b": ("only",), "c": "01", "d": "0123"})
    features = [f"x{k}" for k in range(16)]
    bayes = Network.from_edges(["y", *features], [("y", feature) for feature in features])
    whole, printed = Noise.WHOLE, Calibration.AS_PRINTED
    return (
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=1.0), 50),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=0.1), 1000),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=10.0), 1000),
        Trial("Asia, Laplace", LaplaceUpdates(prior=asia, epsilon=1.0), 100_000),
        Trial("Asia, whole Laplace", LaplaceUpdates(prior=asia, epsilon=1.0, noise=whole), 1000),
        Trial("Asia, Fourier", LaplaceFourier(prior=asia, epsilon=1.0), 1000),
        Trial("Asia, Fourier as printed", LaplaceFourier(prior=asia, epsilon=3.0, calibration=printed), 1000),
        Trial("chain of 6, Fourier", LaplaceFourier(prior=six, epsilon=0.1), 1000),
        Trial("chain of 6, Laplace", LaplaceUpdates(prior=six, epsilon=1.0), 1000),
        Trial("chain of 6, alpha 0.3", LaplaceUpdates(prior=Dirichlets.symmetric(six, 0.3), epsilon=1.0), 200),
        Trial("ternary tree, Laplace", LaplaceUpdates(prior=ternary, epsilon=1.0), 1000),
        Trial("mixed states, Laplace", LaplaceUpdates(prior=mixed, epsilon=0.3), 300),
        Trial("naive Bayes 16, Laplace", LaplaceUpdates(prior=bayes, epsilon=1.0), 1000),
        Trial("Asia, consistent Laplace", ConsistentLaplace(prior=asia, epsilon=1.0), 1000),
        Trial("Asia, weighted Fourier", WeightedFourier(prior=asia, epsilon=1.0), 1000),
        Trial("mixed states, Gaussian", GaussianUpdates(prior=mixed, epsilon=1.0), 1000),
        Trial("mixed states, Gaussian residuals", GaussianResiduals(prior=mixed, epsilon=1.0, noise=whole), 1000),
        Trial("two nodes, whole Laplace", LaplaceUpdates(prior=_chain(2), epsilon=0.3, noise=whole), 50),
    )


def against_epsilon(
    name: str, mechanism: Callable[[float], Told], n: int, *, epsilons: tuple[float, ...] = EPSILONS
) -> tuple[Trial, ...]:
    """Return settings that differ in epsilon alone, for `CalibrationStudy.curves`."""
    return tuple(Trial(name, mechanism(epsilon), n) for epsilon in epsilons)


def _chain(size: int) -> Network:
    names = [f"v{k}" for k in range(size)]
    return Network.from_edges(names, pairwise(names))
