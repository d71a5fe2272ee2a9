"""Whether every mechanism keeps its promise: by enumeration, then on real releases alone."""

import math
from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
import pytest

from dpbayes.audit.draws import SampledLoss, audit_by_draws
from dpbayes.base.privacy import Guarantee
from dpbayes.base.zcdp import zcdp_delta
from dpbayes.mechanisms import (
    Calibration,
    ConsistentLaplace,
    Exact,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    MapExponential,
    Noise,
    PosteriorSampler,
    Release,
    ReleasedPosterior,
)
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from tests.conftest import IS_THOROUGH, crossed, thorough
from tests.contract.judge import worst_loss
from tests.contract.variants import VARIANTS, build, typical_settings
from tests.strategies import V_STRUCTURE, chain, empty, table_of

CERTAINTY = 1e-9
"""How improbable a false alarm of one statistical check is."""

TIGHT = (LaplaceUpdates, LaplaceFourier, ConsistentLaplace)
"""Mechanisms whose worst pair of tables loses all that is certified."""

GAUSSIAN = (GaussianUpdates, GaussianResiduals)

# The promise, by enumeration of all tables and all their neighbours


def integrated_delta(squared_shift: float, epsilon: float) -> float:
    """The integral of (p - e^epsilon q)_+ for unit normal densities that far apart, as delta is defined."""
    shift = math.sqrt(squared_shift)
    x = np.linspace(-12, 12 + shift, 200_001)
    p, q = (np.exp(-((x - at) ** 2) / 2) / math.sqrt(2 * math.pi) for at in (shift, 0.0))
    return float(np.trapezoid(np.maximum(p - math.exp(epsilon) * q, 0.0), x))


def delta_of(mechanism) -> Callable[[float, float], float]:
    """How delta follows from the squared shift of its Gaussian noise, and epsilon."""
    return whole_delta if getattr(mechanism, "noise", Noise.REAL) is Noise.WHOLE else integrated_delta


def keeps(mechanism, promise: Guarantee) -> bool:
    """Whether the promise stands over all neighbouring tables, its rho too, judged from releases alone."""
    return worst_loss(mechanism).keeps(promise, delta_of(mechanism))


def whole_delta(squared_shift: float, epsilon: float) -> float:
    """The delta of whole Gaussian noise, of which rho is all that is used."""
    return zcdp_delta(squared_shift / 2, epsilon=epsilon)


TINY = {
    "one node": empty(1),
    "one node of three states": Network.from_edges("a", [], {"a": "xyz"}),
    "two nodes": chain(2),
    "v-structure": V_STRUCTURE,
}
PRIVATE = [(kind, settings) for kind, settings in VARIANTS if kind is not Exact]


def buildable(kind: type, network: Network) -> bool:
    return network.is_binary or not issubclass(kind, LaplaceFourier)


def tried(kind: type, network: Network) -> bool:
    """Whether a kind is judged on a network: the sampler, which takes long, on the largest one if thorough."""
    return IS_THOROUGH or network is not V_STRUCTURE or not issubclass(kind, PosteriorSampler)


def is_printed_sampler(kind: type, settings: dict) -> bool:
    return issubclass(kind, PosteriorSampler) and settings["calibration"] is Calibration.AS_PRINTED


def on_tiny_networks(variants: list[tuple[type, dict]]) -> pytest.MarkDecorator:
    """Every variant on every tiny network that it accepts."""
    cases = [
        pytest.param(kind, settings, network, id=f"{kind.__name__} {k} {name}")
        for k, (kind, settings) in enumerate(variants)
        for name, network in TINY.items()
        if buildable(kind, network) and tried(kind, network)
    ]
    return pytest.mark.parametrize(("kind", "settings", "network"), cases)


@on_tiny_networks(PRIVATE)
def test_over_all_neighbouring_tables_no_loss_is_above_what_is_certified(kind, settings, network):
    """[Zhang16] Corollary 1, and Algorithm 2 with the noise of Corollary 2; every other mechanism too."""
    mechanism = build(kind, settings, network)
    loss = worst_loss(mechanism)
    assert loss.keeps(mechanism.certified, delta_of(mechanism))
    if issubclass(kind, TIGHT):
        assert loss.epsilon == pytest.approx(mechanism.certified.epsilon, rel=1e-6)
    if issubclass(kind, GAUSSIAN) and mechanism.noise is Noise.REAL:
        assert loss.squared_shift / 2 == pytest.approx(mechanism.certified.rho, rel=1e-6)


def test_the_printed_sampler_loses_more_than_is_claimed_of_it():
    """Three nodes are the fewest that do with one record, and this epsilon is large enough."""
    mechanism = build(PosteriorSampler, {"epsilon": 4.0, "calibration": Calibration.AS_PRINTED}, empty(3))
    assert mechanism.claimed.epsilon == pytest.approx(4.0)
    assert worst_loss(mechanism).epsilon > 4.0


def broken(name: str, kind: type, attribute: str, change: Callable) -> type:
    """Return a kind that is broken on purpose: one property is changed, and the promise is that of the right kind.

    `change` returns the wrong value from the mechanism and the right value.
    """
    right = getattr(kind, attribute).fget

    def certified(self) -> Guarantee:
        return kind(**{field.name: getattr(self, field.name) for field in fields(self)}).certified

    wrong = property(lambda self: change(self, right(self)))
    members = {attribute: wrong, "certified": property(certified), "__module__": __name__}
    return dataclass(frozen=True, kw_only=True)(type(name, (kind,), members))


def first_times(factor: float) -> Callable:
    """Return a change of the value of the first node alone: its set has place 1."""
    return lambda mechanism, values: np.where(np.arange(len(values)) == 1, factor * values, values)


def one_move_less(mechanism: GaussianUpdates, scale: float) -> float:
    moved = mechanism.prior.network.count_sensitivity
    return scale * math.sqrt((moved - 1) / moved)


BROKEN_KINDS = {
    kind.__name__: kind
    for kind in (
        broken("HalfNoiseLaplace", LaplaceUpdates, "noise_scale", lambda mechanism, scale: scale / 2),
        # It forgets one node.
        broken(
            "OffByTwoLaplace", LaplaceUpdates, "noise_scale", lambda mechanism, scale: scale - 2 / mechanism.epsilon
        ),
        # It counts one move too few.
        broken(
            "OffByOneLaplace", LaplaceUpdates, "noise_scale", lambda mechanism, scale: scale - 1 / mechanism.epsilon
        ),
        broken("HalfNoiseFourier", LaplaceFourier, "noise_scale", lambda mechanism, scale: scale / 2),
        # It charges one less for all signs that one record flips.
        broken(
            "OffByOneFourier", LaplaceFourier, "noise_scale", lambda mechanism, scale: scale - 1 / mechanism.epsilon
        ),
        # It promises what a region of a quarter of these log-odds would give; n = 1 forgives a half.
        broken("WideSampler", PosteriorSampler, "log_odds_bound", lambda mechanism, bound: 4 * bound),
        # It scores cells at a rate that no sensitivity allows.
        broken("CarelessMap", MapExponential, "rate", lambda mechanism, rate: 20 * rate),
        broken("ThirdOfNoiseGaussian", GaussianUpdates, "noise_scale", lambda mechanism, scale: scale / 3),
        broken("OffByOneGaussian", GaussianUpdates, "noise_scale", one_move_less),
        broken("HalfNoiseConsistent", ConsistentLaplace, "noise_scale", lambda mechanism, scale: scale / 2),
        broken("ThirdOfNoiseResiduals", GaussianResiduals, "variances", lambda mechanism, variances: variances / 9),
        broken("OneResidualTooQuiet", GaussianResiduals, "variances", first_times(0.9)),
    )
}
"""Mechanisms with too little noise, by their names."""

BROKEN = [(kind, settings) for kind in BROKEN_KINDS.values() for settings in typical_settings(kind)]


JUDGED = [case for case in BROKEN if IS_THOROUGH or not is_printed_sampler(*case)]
"""The judge treats both samplers alike, and takes longest for them."""


@on_tiny_networks(JUDGED)
def test_the_enumeration_catches_mechanisms_with_too_little_noise(kind, settings, network):
    mechanism = build(kind, settings, network)
    assert not keeps(mechanism, mechanism.certified)


@pytest.mark.parametrize("network", TINY.values(), ids=TINY)
def test_the_enumeration_catches_the_exact_posterior_at_any_epsilon(network):
    assert worst_loss(build(Exact, {}, network)).epsilon == math.inf
    assert not keeps(build(Exact, {}, network), Guarantee(1e3))


# How real noise is made whole, and what that loses


@dataclass(frozen=True, kw_only=True)
class CutLaplace(LaplaceUpdates):
    """Broken on purpose: real noise whose fraction is cut off, which rounds towards the true count.

    Then P[0] is 1 - q and P[1] is q (1 - q)/2: a ratio of 2/q where q is promised. Rounding to the nearest is
    post-processing of the noisy count, as counts are whole; so is rounding it down.
    """

    def simulate(self, statistic, rng, size=()) -> Release:
        noise = np.trunc(rng.laplace(scale=self.noise_scale, size=(*size, *statistic.values.shape)))
        return released(self, statistic, noise)


@dataclass(frozen=True, kw_only=True)
class RoundedLaplace(LaplaceUpdates):
    """Not broken: real noise rounded to the nearest whole number, as the noisy count would be."""

    def simulate(self, statistic, rng, size=()) -> Release:
        noise = np.round(rng.laplace(scale=self.noise_scale, size=(*size, *statistic.values.shape)))
        return released(self, statistic, noise)


def released(mechanism: LaplaceUpdates, statistic: Counts, noise: np.ndarray) -> Release:
    updates = np.clip(statistic.values + noise, 0.0, float(statistic.n))
    return Release(ReleasedPosterior(mechanism.prior, updates), mechanism.certified, mechanism.label)


@pytest.mark.parametrize("n", [1, 3])
def test_real_releases_with_noise_cut_towards_zero_prove_that_the_promise_is_broken(n):
    cut = CutLaplace(prior=empty(1), epsilon=1.0)
    assert audited_by_draws(cut, n).refutes(cut.certified)
    kept = RoundedLaplace(prior=empty(1), epsilon=1.0)
    assert not audited_by_draws(kept, n).refutes(kept.certified)


@pytest.mark.parametrize("epsilon", [0.7, 1.3, 3.0])
@pytest.mark.parametrize("noise", Noise)
def test_a_scale_rounded_down_breaks_the_promise(epsilon, noise):
    rounded = broken("WholeScaleLaplace", LaplaceUpdates, "noise_scale", lambda mechanism, scale: math.floor(scale))
    mechanism = rounded(prior=chain(2), epsilon=epsilon, noise=noise)
    assert worst_loss(mechanism).epsilon == pytest.approx(4 / math.floor(4 / epsilon))
    assert not keeps(mechanism, mechanism.certified)


# The promise, on real releases alone: nothing below trusts a stated noise scale


def audited_by_draws(mechanism, n: int, draws: int = 200_000) -> SampledLoss:
    """A lower bound for two neighbouring tables of one binary node: all records zeros, and one of them replaced."""
    tables = ([(0,)] * n, [(0,)] * (n - 1) + [(1,)])
    first, second = (mechanism.statistic(table_of(mechanism.prior.network, records)) for records in tables)
    rng = np.random.default_rng(7)
    return audit_by_draws(mechanism, first=first, second=second, rng=rng, draws=draws, doubt=CERTAINTY)


PROVABLY_BROKEN = [
    (kind, settings)
    for kind, settings in BROKEN
    if kind.__name__ not in ("OffByTwoLaplace", "OffByOneGaussian", "OneResidualTooQuiet")
    and (kind.__name__ != "WideSampler" or settings["epsilon"] < 2)
]


LAST_OF_A_KIND = list({kind: (kind, settings) for kind, settings in PROVABLY_BROKEN}.values())
"""Each kind of too little noise once."""


@pytest.mark.parametrize(("kind", "settings"), PRIVATE)
def test_the_auditor_without_formulas_refutes_no_certified_promise(kind, settings):
    mechanism = build(kind, settings, empty(1))
    assert not audited_by_draws(mechanism, 3).refutes(mechanism.certified)


@pytest.mark.parametrize(("case", "n"), crossed(thorough(PROVABLY_BROKEN, sample=LAST_OF_A_KIND), [3, 1], times=1))
def test_the_auditor_without_formulas_catches_mechanisms_with_too_little_noise(case, n):
    mechanism = build(*case, empty(1))
    assert audited_by_draws(mechanism, n).refutes(mechanism.certified)
