"""What all methods of an accuracy experiment predict from: the numbers of a plan, and what follows from them."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.randomness import seed_of, stream
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.blanket import Blanket
from dpbayes.mechanisms.base import NetworkMechanism, rule_for
from dpbayes.mechanisms.fourier import LaplaceFourier
from dpbayes.mechanisms.map.exponential import CELLS
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.parameters import MOST_DRAWS, NOISE, Calibration, Noise
from dpbayes.mechanisms.release import Outcome
from dpbayes.mechanisms.stealth import increment_for, needed_increments
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.prior_rules import PRIOR, PriorRule
from dpbayes.sources.synthetic import MAX_RECORDS

TRAINING = Parameter(
    "n",
    low=1,
    high=MAX_RECORDS,
    typical=50,
    log=True,
    whole=True,
    title="training records",
    description="The number of records from which each release is made.",
)
REPEATS = Parameter(
    "",
    low=2,
    high=10_000,
    typical=100,
    log=True,
    whole=True,
    title="repeats",
    description="Every repeat uses a new split and, for synthetic records, a new random model.",
)
TESTING = Parameter(
    "",
    low=1,
    high=MAX_RECORDS,
    typical=100_000,
    log=True,
    whole=True,
    title="test records (at most)",
    description="If fewer records are left after training, all of them are test records.",
)
STEALTH = Parameter(
    "",
    low=0.5,
    high=0.999,
    typical=0.9,
    title="share of non-negative releases",
    description="The share of Fourier releases without a negative count; it sets the increment t.",
)
DRAWS = Parameter(
    "N",
    low=1,
    high=MOST_DRAWS,
    typical=100,
    log=True,
    whole=True,
    title="samples of the paper's sampler",
    description="The number of posterior samples in one release. Predictions use their average.",
)

AnyMechanism = NetworkMechanism[Outcome]


def typical(kind: type[AnyMechanism], *, prior: Dirichlets, **chosen: object) -> AnyMechanism:
    """Return a mechanism with the `chosen` values of its parameters, and typical values of all others.

    Args:
        kind: The class of the mechanism.
        prior: The prior over the rows of a network.
        chosen: Values by parameter; those of parameters that the mechanism does not have are left out.

    Returns:
        The mechanism.

    Raises:
        InputError: The mechanism does not fit the network.
    """
    usual = {
        name: parameter.typical if isinstance(parameter, Parameter) else next(iter(parameter.options))
        for name, parameter in parameters_of(kind).items()
    }
    return kind(prior=prior, **{name: chosen.get(name, value) for name, value in usual.items()})


@dataclass(frozen=True, kw_only=True)
class PredictionSetting:
    """The part of an accuracy plan that its releases depend on; `AccuracyPlan` describes the fields and checks them."""

    network: Network
    target: str
    epsilons: tuple[float, ...]
    training: Annotated[int, TRAINING] = 50
    testing: Annotated[int, TESTING] = MAX_RECORDS
    repeats: Annotated[int, REPEATS] = 100
    prior: Annotated[PriorRule, PRIOR] = PriorRule()
    stealth: Annotated[float, STEALTH] = 0.9
    draws: Annotated[int, DRAWS] = 100
    cells: Annotated[int, CELLS] = 20
    noise: Annotated[Noise, NOISE] = Noise.REAL
    seed: Annotated[int, seed_of("all random numbers")] = 1

    @cached_property
    def grid(self) -> FloatArray:
        """The epsilons: (E,)."""
        return np.array(self.epsilons)

    @cached_property
    def blanket(self) -> Blanket:
        """The families that contain the target, which alone matter to a prediction."""
        return Blanket(self.network, self.network.index(self.target))

    @property
    def states(self) -> int:
        """How many states the target has."""
        return self.blanket.states

    def mechanism(self, kind: type[Any], epsilon: float, **chosen: object) -> Any:
        """Return a mechanism at an epsilon, with the plan's prior, noise and cells."""
        prior = rule_for(kind, self.prior).on(self.network)
        shared = {"epsilon": epsilon, "noise": self.noise, "cells": self.cells}
        return typical(kind, prior=prior, **(shared | chosen))

    @property
    def simulated_releases(self) -> int:
        """How many simulated releases determine the certified Fourier increment, as on the Release page."""
        if self.stealth > 0.99:
            return 20_000
        return 10_000 if self.network.cell_count < 1000 else 2_000

    @cached_property
    def increments(self) -> Mapping[float, float]:
        """The certified Fourier increment t by epsilon; with real-valued noise, t is the same for all of them."""
        laws = {epsilon: UNIT for epsilon in self.epsilons}
        if self.noise is not Noise.REAL:
            laws = {epsilon: self.mechanism(LaplaceFourier, epsilon).noise_law for epsilon in self.epsilons}
        simulated = {law: self._increment(law) for law in dict.fromkeys(laws.values())}
        return {epsilon: simulated[law] for epsilon, law in laws.items()}

    def _increment(self, law: NoiseLaw) -> float:
        draws, rng = self.simulated_releases, stream(0, "stealth")
        return increment_for(
            self.stealth, needed_increments(self.network, Calibration.CERTIFIED, rng, draws=draws, law=law)
        )
