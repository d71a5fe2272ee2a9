"""The exact form of a mechanism that has a real release: integer statistics with exact noise.

All of its functions except `draw` take public values only.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from dpbayes.base.amounts import PrivacyMeasure
from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.text import many
from dpbayes.base.types import IntArray
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.mechanisms.noise.exact import ExactNoise, shared_answer, with_noise
from dpbayes.mechanisms.parameters import Noise
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets

REACH = 100
"""Noise more than this many scales from zero is treated as an error; it occurs with probability e^-100."""

SHOWN_DELTA = 1e-12
"""The delta at which a rho is converted to an epsilon for a mechanism with both: the smallest delta that is allowed."""

NINE_OF_TEN, NINE_OF_TEN_LAPLACE = 1.645, math.log(10)
"""Nine of ten values are within this many standard deviations of a normal mean, or scales of a Laplace one."""


class ReleaseSpec(Protocol):
    """The public description of a release, which the exact form of a mechanism uses; its epsilon or its rho is 0."""

    @property
    def network(self) -> Network: ...
    @property
    def dirichlets(self) -> Dirichlets: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def rho(self) -> Fraction: ...
    @property
    def n(self) -> int: ...
    @cached_property
    def settings(self) -> Mapping[str, Fraction]: ...
    @property
    def prices(self) -> tuple[int, ...]: ...
    @property
    def sensitivity(self) -> "Sensitivity": ...


@dataclass(frozen=True)
class Sensitivity:
    """The sensitivity of the statistic to one replaced record: an integer, its unit, and its proof."""

    value: int
    of: str
    lemma: str


def count_range(spec: ReleaseSpec, scale: Fraction) -> tuple[int, int]:
    """Return the smallest and the largest plausible integer if noise is added to counts."""
    return -spec.n - math.ceil(REACH * scale), spec.n + math.ceil(REACH * scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class Releasable:
    """The real release of a mechanism of the class `kind`: exact noise on an integer `statistic`.

    statistic(network, counts) -> the integers of counts (K,), by default the counts themselves; length(spec) -> their
    number; span(spec, scale) -> the smallest and the largest plausible integer. If the numbers have different scales,
    prices(spec) -> the price of each, `own_scale` describes how its scale follows from the common scale, and
    priced(network) -> the best integer prices of sets of nodes.
    read(mechanism, integers, n) -> the outcome that a recipient computes; accuracy(spec, scale) -> a sentence on it.
    choose(spec, counts, scale) samples the output of mechanisms that do not add noise.
    """

    kind: type[Any]
    integers: str
    noise: ExactNoise
    require: Callable[[Network], object] = lambda network: None
    sensitivity: Callable[[ReleaseSpec], Sensitivity]
    statistic: Callable[[Network, IntArray], IntArray] = lambda network, counts: counts
    length: Callable[[ReleaseSpec], int] = lambda spec: spec.network.cell_count
    span: Callable[[ReleaseSpec, Fraction], tuple[int, int]] = count_range
    own_scale: str = ""
    prices: Callable[[ReleaseSpec], Sequence[Fraction]] | None = None
    priced: Callable[[Network], tuple[int, ...]] | None = None
    choose: Callable[[ReleaseSpec, IntArray, Fraction], tuple[int, ...]] | None = None
    read: Callable[[Any, IntArray, int], Outcome] = lambda mechanism, integers, n: mechanism.outcome_of(
        integers.astype(np.float64), n
    )
    accuracy: Callable[[ReleaseSpec, Fraction], str]

    @property
    def label(self) -> str:
        """The mechanism's name."""
        return str(self.kind.label)

    @cached_property
    def settings(self) -> Mapping[str, Parameter]:
        """The mechanism's parameters by name, without those of the guarantee and of the noise."""
        every = parameters_of(self.kind).items()
        return {name: own for name, own in every if isinstance(own, Parameter) and name not in ("epsilon", "delta")}

    def simulated(self, spec: ReleaseSpec) -> Any:
        """Return the mechanism with the same distribution, for simulations and audits."""
        values: dict[str, Any] = {"epsilon": float(spec.epsilon), "noise": Noise.WHOLE, "prices": spec.prices}
        if self.noise.measure is PrivacyMeasure.RHO:
            values |= {"epsilon": zcdp_epsilon(float(spec.rho), delta=SHOWN_DELTA), "delta": SHOWN_DELTA}
        values |= {name: own.checked(name, float(spec.settings[name])) for name, own in self.settings.items()}
        own = {field.name for field in fields(self.kind)}
        return self.kind(prior=spec.dirichlets, **{name: value for name, value in values.items() if name in own})

    def outcome(self, spec: ReleaseSpec, integers: IntArray) -> Outcome:
        """Return the outcome that a recipient computes from released integers."""
        return self.read(self.simulated(spec), integers, spec.n)

    @property
    def law(self) -> str:
        """The distribution of the noise, in words."""
        own = f", where a number has {self.own_scale}, rounded up to a double" if self.own_scale else ""
        return self.noise.law + own

    @property
    def answered(self) -> str:
        """The measure that OpenDP's privacy map returns, in words."""
        own = ", of every number's own scale, the most per price times the sensitivity" if self.own_scale else ""
        return self.noise.answered + own

    def answer(self, spec: ReleaseSpec, scale: float) -> float:
        """Return the privacy loss that OpenDP's map gives for all numbers together at a scale."""
        if self.prices is None:
            return self.noise.answer(spec.sensitivity.value, scale)
        return shared_answer(self.noise, self.prices(spec), spec.sensitivity.value, scale)

    def own_scales(self, spec: ReleaseSpec, scale: Fraction) -> Sequence[float]:
        """Return the noise scale of every number for a common scale, rounded up. Only priced numbers have their own."""
        assert self.prices is not None
        prices = self.prices(spec)
        by_price = {price: self.noise.own_scale(scale, price) for price in set(prices)}
        return [by_price[price] for price in prices]

    def draw(self, spec: ReleaseSpec, counts: IntArray, scale: Fraction) -> tuple[int, ...]:
        """Sample the released integers for counts (K,). No other step reads the counts."""
        if self.choose is not None:
            return self.choose(spec, counts, scale)
        values = self.statistic(spec.network, counts)
        scales = [float(scale)] * len(values) if self.prices is None else self.own_scales(spec, scale)
        return with_noise(self.noise, values, scales)


def nine_of_ten(what: str, within: float, unit: str = "record") -> str:
    """Return a sentence on the whole distance within which, on average, nine of ten of the numbers are."""
    distance = many(math.ceil(within), unit) if unit else f"{math.ceil(within):,}"
    sentence = f"On average, 90% of the {what} are within {distance} of the true ones"
    return sentence + (", so smaller groups cannot be distinguished from the noise." if within >= 1 else ".")
