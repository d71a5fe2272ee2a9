"""What is known of a mechanism that can be released: its exact form, on whole numbers, beside its simulation.

All of its functions but the draw are given what is public alone.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol

from dpbayes.base.amounts import PrivacyMeasure
from dpbayes.base.parameters import Parameter
from dpbayes.base.steps import Work
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms.noise.exact import Calibrated, ExactNoise, calibrated, shared_answer, with_noise, with_own_noise
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets

REACH = 100
"""So many scales away noise is taken for a mistake: it is, but for once in e^100 draws."""

SHOWN_DELTA = 1e-12
"""The delta at which a rho is read as an epsilon where a mechanism is made of both: the least that one takes."""

NINE_OF_TEN = 1.645
"""So many standard deviations around zero hold nine of ten values of a normal law."""


class ReleaseSpec(Protocol):
    """What a mechanism's exact form is given of a release: all of it public."""

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
    @property
    def settings(self) -> Mapping[str, Fraction]: ...
    @property
    def prices(self) -> tuple[int, ...]: ...
    @property
    def sensitivity(self) -> "Sensitivity": ...


@dataclass(frozen=True)
class Sensitivity:
    """How far one replaced record moves what the noise is put on: a whole number, of what, and why."""

    value: int
    of: str
    lemma: str


def count_range(spec: ReleaseSpec, scale: Fraction) -> tuple[int, int]:
    """Return the least and the largest integer that can be believed where noise is added to counts."""
    return -spec.n - math.ceil(REACH * scale), spec.n + math.ceil(REACH * scale)


@dataclass(frozen=True, kw_only=True, eq=False)
class Releasable:
    """A mechanism that can be released: exact noise on a whole `statistic`. `settings` are its own numbers, by name.

    statistic(network, counts) -> the whole numbers, of counts (K,): the counts themselves unless another is given;
    length(spec) -> how many; span(spec, scale) -> the least and the largest that can be believed. Where they have
    scales of their own, prices(spec) -> the price of each, `own_scale` says what its scale is of the common one, and
    priced(network, weights) -> the whole prices of sets of nodes that are best where the tables' errors count by these
    weights (|I|,). outcome(spec, integers) -> what a recipient makes of them; simulated(spec) -> the mechanism that is
    audited; accuracy(spec, scale) -> a sentence. choose(spec, counts, scale) draws, where noise is not just added.
    """

    label: str
    integers: str
    noise: ExactNoise
    settings: Mapping[str, Parameter] = field(default_factory=lambda: MappingProxyType({}))
    require: Callable[[Network], object] = lambda network: None
    sensitivity: Callable[[ReleaseSpec], Sensitivity]
    statistic: Callable[[Network, IntArray], IntArray] = lambda network, counts: counts
    length: Callable[[ReleaseSpec], int] = lambda spec: spec.network.cell_count
    span: Callable[[ReleaseSpec, Fraction], tuple[int, int]] = count_range
    own_scale: str = ""
    prices: Callable[[ReleaseSpec], Sequence[Fraction]] | None = None
    priced: Callable[[Network, FloatArray], tuple[int, ...]] | None = None
    choose: Callable[[ReleaseSpec, IntArray, Fraction], Work[tuple[int, ...]]] | None = None
    outcome: Callable[[ReleaseSpec, IntArray], Outcome]
    simulated: Callable[[ReleaseSpec], Any]
    accuracy: Callable[[ReleaseSpec, Fraction], str]

    @property
    def measure(self) -> PrivacyMeasure:
        """In what its promise is stated."""
        return self.noise.measure

    @property
    def law(self) -> str:
        """The law of the noise, in words."""
        own = f", where a number has {self.own_scale}, rounded up to a double" if self.own_scale else ""
        return self.noise.law + own

    @property
    def answered(self) -> str:
        """Of what OpenDP's privacy map answers a number, in words."""
        own = ", of every number's own scale, the most per price times the sensitivity" if self.own_scale else ""
        return self.noise.answered + own

    def promised(self, spec: ReleaseSpec) -> Fraction:
        """Return the epsilon or the rho that is promised."""
        return spec.rho if self.measure is PrivacyMeasure.RHO else spec.epsilon

    def calibrated(self, spec: ReleaseSpec) -> Calibrated:
        """Return the scale in use. Errors: InputError where OpenDP does not confirm one."""
        promised = self.promised(spec)
        return calibrated(
            lambda scale: self.answer(spec, scale),
            least=self.noise.least_scale(spec.sensitivity.value, promised),
            most=self.noise.allowed(promised),
        )

    def answer(self, spec: ReleaseSpec, scale: float) -> float:
        """Return what OpenDP's map answers of all numbers together at a scale."""
        if self.prices is None:
            return self.noise.answer(spec.sensitivity.value, scale)
        return shared_answer(self.noise, self.prices(spec), spec.sensitivity.value, scale)

    def own_scales(self, spec: ReleaseSpec, scale: Fraction) -> Sequence[float]:
        """Return the scale of every number's noise, rounded up, of the common one; none where all have that."""
        prices = () if self.prices is None else self.prices(spec)
        by_price = {price: self.noise.own_scale(scale, price) for price in set(prices)}
        return [by_price[price] for price in prices]

    def draw(self, spec: ReleaseSpec, counts: IntArray, scale: Fraction) -> Work[tuple[int, ...]]:
        """Draw the integers of counts (K,): the only step that sees any."""
        if self.choose is not None:
            return self.choose(spec, counts, scale)
        values = self.statistic(spec.network, counts)
        if self.prices is None:
            return with_noise(self.noise, values, scale)
        return with_own_noise(self.noise, values, self.own_scales(spec, scale))


def nine_of_ten(what: str, within: float) -> str:
    """Say within what nine of ten of the numbers are."""
    return (
        f"Nine of ten of the {what} are within {numeral(within)} records of the true ones, so small groups cannot be "
        "told from the noise."
    )


def laplace_within(scale: Fraction) -> float:
    """Return within what nine of ten draws of Laplace noise lie."""
    return math.log(10) * float(scale)
