"""The exact form of a mechanism: the integers of its real release, with noise that OpenDP samples.

The randomness is that of the operating system. Nothing is sampled before OpenDP's own privacy map confirms that the
loss at the scale in use is within the guarantee. OpenDP is imported where it is used, because the import takes a third
of a second. All functions of an exact form except `draw` take public values only.
"""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cached_property
from types import SimpleNamespace
from typing import Any, Protocol

import numpy as np

from dpbayes.base.amounts import PrivacyMeasure
from dpbayes.base.libraries import extra
from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.steps import slices
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.mechanisms.parameters import Noise
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets

CHOICES = 64
"""Selections whose scores are in memory at once."""

_WORD = 2**62
"""The limit for statistics and scores: OpenDP's integers have 64 bits and saturate at their limits."""

_MOST_ULPS = 64
"""The largest number of steps from one double to the next until the map confirms the scale; one or two suffice."""

REACH = 100
"""Noise more than this many scales from zero is treated as an error; it occurs with probability e^-100."""

SHOWN_DELTA = 1e-12
"""The delta at which a rho is converted to an epsilon for a mechanism with both: the smallest delta that is allowed."""

NINE_OF_TEN = 1.645
"""Nine of ten values are within this many standard deviations of a normal mean."""


# Calibration


@dataclass(frozen=True)
class Calibrated:
    """A scale and the privacy loss that OpenDP's map returns for it: both are doubles, stored as exact fractions."""

    scale: Fraction
    answer: Fraction


def opendp() -> SimpleNamespace:
    """Return the functions of OpenDP that the noise needs. Errors: InputError where it is not installed.

    OpenDP's prelude has all of them, but it also imports scikit-learn and Polars where they are installed: 160 MB.
    """
    with extra("release", "A real release"):
        import opendp.measurements as measurements
        from opendp.domains import atom_domain, vector_domain
        from opendp.measures import max_divergence, zero_concentrated_divergence
        from opendp.metrics import l1_distance, l2_distance, linf_distance
        from opendp.mod import enable_features
    enable_features("contrib")
    return SimpleNamespace(
        m=measurements,
        atom_domain=atom_domain,
        vector_domain=vector_domain,
        l1_distance=l1_distance,
        l2_distance=l2_distance,
        linf_distance=linf_distance,
        max_divergence=max_divergence,
        zero_concentrated_divergence=zero_concentrated_divergence,
    )


def calibrated(answered: Callable[[float], float], *, least: Fraction, most: Fraction) -> Calibrated:
    """Return the first double from `least` on at which the map, a function of the scale, returns at most `most`.

    Errors: InputError if the map returns more even slightly above `least`.
    """
    scale = rounded_up(least)
    for _ in range(_MOST_ULPS):
        answer = answered(scale)
        if not math.isfinite(answer):
            break
        if Fraction(answer) <= most:
            return Calibrated(Fraction(scale), Fraction(answer))
        scale = math.nextafter(scale, math.inf)
    raise InputError("OpenDP does not confirm the stated epsilon or rho of this noise, so no noise was sampled.")


def rounded_up(exact: Fraction) -> float:
    """Return the smallest double that is not below a fraction. Errors: OverflowError if there is none."""
    nearest = float(exact)
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


def root_above(square: Fraction) -> Fraction:
    """Return a fraction not below the square root of another, with a relative error below 2^-60; exact if possible."""
    shift = max(0, 64 + (square.denominator.bit_length() - square.numerator.bit_length() + 1) // 2)
    whole_part, rest = divmod(square.numerator << 2 * shift, square.denominator)
    root = math.isqrt(whole_part)
    return Fraction(root + bool(rest or root * root < whole_part), 1 << shift)


# The distributions


@dataclass(frozen=True, kw_only=True, eq=False)
class ExactNoise:
    """A distribution that OpenDP samples; its guarantee is a number of `measure`.

    make(library, domain, scale) -> OpenDP's measurement; distance(sensitivity) -> the input of its privacy map. The map
    returns a value of the measure `answered`, which must be at most allowed(promised). loss(sensitivity, scale) -> the
    exact privacy loss; least_scale(sensitivity, promised) -> the scale with this loss, not rounded down; share(scale,
    price) -> the scale of a number with this price if the scale for price 1 is `scale`, not rounded down.
    """

    law: str
    answered: str
    measure: PrivacyMeasure
    make: Callable[[Any, Any, float], Any]
    distance: Callable[[int], float] = lambda sensitivity: sensitivity
    allowed: Callable[[Fraction], Fraction] = lambda promised: promised
    loss: Callable[[int, Fraction], Fraction]
    least_scale: Callable[[int, Fraction], Fraction]
    share: Callable[[Fraction, Fraction], Fraction]

    def measurement(self, scale: float) -> Any:
        """Return OpenDP's measurement."""
        library = opendp()
        return self.make(library, library.vector_domain(library.atom_domain(T="i64")), scale)

    def answer(self, sensitivity: int, scale: float) -> float:
        """Return the result of OpenDP's map."""
        return float(self.measurement(scale).map(self.distance(sensitivity)))

    def own_scale(self, scale: Fraction, price: Fraction) -> float:
        """Return the scale of a number with this price if the scale for price 1 is `scale`, rounded up."""
        return rounded_up(self.share(scale, price))


DISCRETE_LAPLACE = ExactNoise(
    law="discrete Laplace: P[z] proportional to exp(-|z| / scale) over the whole numbers",
    answered="epsilon of pure privacy",
    measure=PrivacyMeasure.EPSILON,
    make=lambda library, domain, scale: library.m.make_laplace(domain, library.l1_distance(T="i64"), scale=scale),
    loss=lambda sensitivity, scale: sensitivity / scale,
    least_scale=lambda sensitivity, epsilon: sensitivity / epsilon,
    share=lambda scale, price: scale / price,
)
"""P[z] ~ exp(-|z| / b); with L1 sensitivity Delta, epsilon = Delta / b."""

DISCRETE_GAUSSIAN = ExactNoise(
    law="discrete Gaussian: P[z] proportional to exp(-z^2 / (2 scale^2)) over the whole numbers",
    answered="rho of zero-concentrated privacy",
    measure=PrivacyMeasure.RHO,
    make=lambda library, domain, scale: library.m.make_gaussian(domain, library.l2_distance(T="f64"), scale=scale),
    distance=lambda squared: rounded_up(root_above(Fraction(squared))),
    loss=lambda squared, scale: squared / (2 * scale**2),
    least_scale=lambda squared, rho: root_above(squared / (2 * rho)),
    share=lambda scale, price: root_above(scale**2 / price),
)
"""P[z] ~ exp(-z^2 / (2 s^2)); with L2 sensitivity sqrt(D) for an integer D, rho = D / (2 s^2) of zero-concentrated
privacy, as for real-valued noise. [Canonne20] Theorem 14."""

GUMBEL_MAXIMUM = ExactNoise(
    law="exponential mechanism: P[cell] proportional to its prior mass times exp(score / scale), by Gumbel noise",
    answered=(
        "rho of zero-concentrated privacy, at most epsilon^2 / 8: the loss of this law has a range of epsilon, and is "
        "itself at most epsilon"
    ),
    measure=PrivacyMeasure.EPSILON,
    make=lambda library, domain, scale: library.m.make_noisy_max(
        domain, library.linf_distance(T="i64"), library.zero_concentrated_divergence(), scale=scale
    ),
    allowed=lambda epsilon: epsilon**2 / 8,
    loss=lambda sensitivity, scale: 2 * sensitivity / scale,
    least_scale=lambda sensitivity, epsilon: 2 * sensitivity / epsilon,
    share=lambda scale, price: scale / price,
)
"""The index of the maximum of integer scores with Gumbel noise of scale b: P[g] ~ exp(score_g / b) exactly.

This is the exponential mechanism. If scores change by Delta in total, the loss is at most 2 Delta / b, and its range
has at most this length. OpenDP 0.16 provides the distribution as `make_noisy_max` for zero-concentrated privacy, and
its map returns rho = epsilon^2 / 8 for this range. For pure privacy, and under the old name
`make_report_noisy_max_gumbel`, OpenDP uses permute-and-flip, which is a different distribution. [Cesar and Rogers,
"Bounding, concentrating, and truncating", 2021, Lemma 3.4]
"""


def shared_answer(noise: ExactNoise, prices: Collection[Fraction], charge: int, scale: float) -> float:
    """Return the loss of numbers with these prices for a `charge`, by the largest loss per price, rounded up."""
    answers = {price: noise.answer(1, noise.own_scale(Fraction(scale), price)) for price in set(prices)}
    if not all(map(math.isfinite, answers.values())):
        return math.inf
    return rounded_up(charge * max(Fraction(answer) / price for price, answer in answers.items()))


# Sampling


def with_noise(noise: ExactNoise, values: IntArray, scales: Sequence[float]) -> tuple[int, ...]:
    """Add noise to integers (N,), each with its own scale. Errors: InputError for integers that are too large."""
    _require_words(values)
    own, drawn = np.asarray(scales), np.empty(len(values), dtype=np.int64)
    for scale in set(scales):
        same = own == scale
        drawn[same] = noise.measurement(scale)(values[same].tolist())
    return tuple(drawn.tolist())


Scores = list[tuple[IntArray, IntArray]]
"""The indices of the candidates and their integer scores, for several selections."""


def gumbel_choices(scored: Callable[[slice], Scores], number: int, scale: Fraction) -> tuple[int, ...]:
    """Select the index of a noisy maximum for each of several selections; `scored` returns some of them."""
    draw = GUMBEL_MAXIMUM.measurement(float(scale))
    chosen = []
    for block in slices(number, CHOICES):
        for places, scores in scored(block):
            _require_words(scores)
            chosen.append(int(places[draw(scores.tolist())]))
    return tuple(chosen)


def whole(values: FloatArray) -> IntArray:
    """Round to integers. Errors: InputError if they are too large for exact noise."""
    if np.any(np.abs(values) > _WORD):
        raise _too_large()
    return np.rint(values).astype(np.int64)


def _require_words(values: IntArray) -> None:
    if values.dtype != np.int64 or np.any(values > _WORD) or np.any(values < -_WORD):
        raise _too_large()


def _too_large() -> InputError:
    return InputError("The numbers are too large for exact noise; choose a larger epsilon.")


# The form of a mechanism


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


def moved_counts(spec: ReleaseSpec) -> Sensitivity:
    """Return the largest change of all counts by one record."""
    return Sensitivity(
        spec.network.count_sensitivity,
        "all counts together, in L1",
        "Zhang, Rubinstein and Dimitrakakis 2016, Lemma 1: a replaced record changes two counts of every node by one",
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Releasable:
    """The real release of a mechanism of the class `kind`: exact noise on an integer `statistic`.

    statistic(network, counts) -> the integers of counts (K,), by default the counts themselves; length(spec) -> their
    number; span(spec, scale) -> the smallest and the largest plausible integer; `sensitivity` is that of counts in L1
    by default. If the numbers have different scales,
    prices(spec) -> the price of each, `own_scale` describes how its scale follows from the common scale, and
    priced(network) -> the best integer prices of sets of nodes.
    read(mechanism, integers, n) -> the outcome that a recipient computes; accuracy(spec, scale) -> a sentence on it.
    choose(spec, counts, scale) samples the output of mechanisms that do not add noise.
    """

    kind: type[Any]
    integers: str
    noise: ExactNoise
    require: Callable[[Network], object] = lambda network: None
    sensitivity: Callable[[ReleaseSpec], Sensitivity] = moved_counts
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


def laplace_distance(scale: Fraction) -> int:
    """Return the least whole distance within which nine of ten values of discrete Laplace noise are.

    With q = exp(-1 / scale), P[|z| > d] = 2 q^(d + 1) / (1 + q).
    """
    log_share = math.log(0.05 * (1.0 + math.exp(-1.0 / float(scale))))
    return max(math.ceil(-float(scale) * log_share) - 1, 0)


def nine_of_ten(what: str, distance: int, unit: str = "record") -> str:
    """Return a sentence on the whole distance within which the noise of a number is nine times of ten."""
    within = f"within {many(distance, unit) if unit else f'{distance:,}'} of" if distance else "equal to"
    return f"Each {what} is {within} the true one with a probability of at least 90%."
