"""What waits for a slider: a release read with its noise in mind."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from benchmarks.core import counted
from benchmarks.record import Record, median_ms
from dpbayes.mechanisms import (
    Calibration,
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    Mechanism,
    Noise,
    ReleasedPosterior,
)
from dpbayes.model.cpts import random_cpts
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import load_named, naive_bayes

N, FEATURES = 1000, 16

BOUNDS = {"Asia": 20.0, "Naive Bayes 16": 60.0, "Alarm": 500.0}
"""Most milliseconds of one release's posterior of all rows, by the network."""

JOINT_BOUNDS = {"Asia": 30.0, "Alarm": 300.0}
"""Most milliseconds of one release's joint posterior, by the network."""


def networks() -> dict[str, tuple[Network, np.ndarray]]:
    bayes = naive_bayes(FEATURES)
    drawn = bayes, random_cpts(bayes, np.random.default_rng(3))
    return {"Asia": load_named("asia"), "Naive Bayes 16": drawn, "Alarm": load_named("alarm")}


def mechanisms_on(network: Network) -> dict[str, Mechanism[ReleasedPosterior]]:
    """Return a mechanism of every law of noise that a recipient may know of, by what it is called in the table."""
    every: dict[str, Mechanism[ReleasedPosterior]] = {
        "Laplace": LaplaceUpdates(prior=network, epsilon=1.0),
        "discrete Laplace": LaplaceUpdates(prior=network, epsilon=1.0, noise=Noise.WHOLE),
        "consistent Laplace": ConsistentLaplace(prior=network, epsilon=1.0),
        "Gaussian cells": GaussianUpdates(prior=network, epsilon=1.0),
        "Gaussian residuals": GaussianResiduals(prior=network, epsilon=1.0),
    }
    if network.is_binary:
        every |= {
            "Fourier as printed": LaplaceFourier(prior=network, epsilon=1.0, calibration=Calibration.AS_PRINTED),
            "Fourier certified": LaplaceFourier(prior=network, epsilon=1.0),
        }
    return every


def posteriors(*, names: Sequence[str] = tuple(BOUNDS), repeats: int = 15) -> list[Record]:
    """Time the posterior of all rows given one release, of every mechanism that tells its noise.

    It has 512 points a row, at which the Release page reads the row in its picture; all rows it reads at 128.
    """
    records = []
    for name in names:
        network, cpts = networks()[name]
        counts = counted(network, cpts, N)
        for noise, mechanism in mechanisms_on(network).items():
            release = mechanism.simulate(counts, np.random.default_rng(2))
            records.append(
                Record(
                    name=f"{name}, one release read with its noise, {noise}",
                    value=median_ms(release.noise_aware, repeats=repeats),
                    unit="ms",
                    bound=BOUNDS[name],
                )
            )
    return records


def joint_posteriors(*, names: Sequence[str] = tuple(JOINT_BOUNDS), repeats: int = 9) -> list[Record]:
    """Time the joint posterior of one release with Laplace noise, and the interval of one question under it.

    The two together have twice the bound of the posterior.
    """
    records = []
    for name in names:
        network, cpts = networks()[name]
        mechanism = LaplaceUpdates(prior=network, epsilon=1.0)
        release = mechanism.simulate(counted(network, cpts, N), np.random.default_rng(2))
        timed = (
            ("joint posterior", release.joint_noise_aware, JOINT_BOUNDS[name]),
            ("joint posterior and an interval", partial(_interval, release), 2 * JOINT_BOUNDS[name]),
        )
        records += [
            Record(name=f"{name}, {what}, Laplace", value=median_ms(work, repeats=repeats), unit="ms", bound=bound)
            for what, work, bound in timed
        ]
    return records


def _interval(release: ReleasedPosterior) -> None:
    posterior = release.joint_noise_aware()
    posterior.query(posterior.network.names[-1], interval=0.95)
