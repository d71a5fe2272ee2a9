"""What every mechanism must do, and whether it keeps its promise: by enumeration, then on real releases alone."""

import inspect
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from itertools import product

import numpy as np
import pytest
from scipy import stats

from dpbayes.counts import Counts
from dpbayes.dataset import Dataset
from dpbayes.dirichlet import Dirichlets
from dpbayes.fourier import coefficients
from dpbayes.mechanisms import MECHANISMS, Calibration, Exact, LaplaceFourier, LaplaceUpdates, Mechanism
from dpbayes.network import Network
from dpbayes.parameters import Choice, Parameter, parameters_of
from dpbayes.privacy import Guarantee
from tests.core.strategies import ASIA, V_STRUCTURE, all_records, chain, empty, random_table, table_of

CERTAINTY = 1e-9
"""How improbable a false alarm of one statistical check is."""


def typical_settings(kind: type) -> list[dict]:
    """One dictionary of parameters for every combination of choices, numbers at their typical values."""
    values = {
        name: [note.typical] if isinstance(note, Parameter) else list(note.options)
        for name, note in parameters_of(kind).items()
    }
    return [dict(zip(values, chosen, strict=True)) for chosen in product(*values.values())]


VARIANTS = [(kind, settings) for kind in MECHANISMS for settings in typical_settings(kind)]
every_mechanism = pytest.mark.parametrize(
    ("kind", "settings"),
    VARIANTS,
    ids=[" ".join([k.label, *(v.value for v in s.values() if isinstance(v, Calibration))]) for k, s in VARIANTS],
)


def build(kind: type, settings: Mapping, network: Network = ASIA):
    return kind(prior=Dirichlets.symmetric(network), **settings)


def rng() -> np.random.Generator:
    return np.random.default_rng(19)


# The common shape


@every_mechanism
def test_a_mechanism_is_a_frozen_value_with_everything_the_protocol_asks_for(kind, settings):
    mechanism = build(kind, settings)
    assert is_dataclass(kind)
    assert kind.__dataclass_params__.frozen
    assert isinstance(kind.label, str)
    assert kind.label
    for method in ("statistic", "release"):
        wanted = inspect.signature(getattr(Mechanism, method))
        assert list(inspect.signature(getattr(kind, method)).parameters) == list(wanted.parameters)
    assert isinstance(mechanism.claimed, Guarantee)
    assert isinstance(mechanism.certified, Guarantee)
    assert isinstance(mechanism.statistic(random_table(ASIA, rng(), 5)), Counts)


def test_labels_are_distinct():
    assert len({kind.label for kind in MECHANISMS}) == len(MECHANISMS)


@pytest.mark.parametrize("kind", MECHANISMS)
def test_all_parameters_but_the_prior_are_described_and_typical_values_are_in_range(kind):
    described = parameters_of(kind)
    assert {field.name for field in fields(kind)} == {"prior", *described}
    for name, note in described.items():
        if isinstance(note, Parameter):
            assert note.checked(name, note.typical) == note.typical
            assert note.symbol
            assert note.description
        else:
            assert isinstance(note, Choice)


@every_mechanism
def test_the_statistic_is_deterministic_and_ignores_the_order_of_records(kind, settings):
    mechanism, data = build(kind, settings), random_table(ASIA, rng(), 40)
    once, again = (mechanism.statistic(table).values for table in (data, data.take(slice(None, None, -1))))
    assert np.array_equal(once, again)


@every_mechanism
def test_the_same_generator_state_gives_the_same_release_and_another_does_not(kind, settings):
    mechanism = build(kind, settings)
    statistic = mechanism.statistic(random_table(ASIA, rng(), 40))
    one, same, other = (mechanism.release(statistic, np.random.default_rng(seed)).outcome.updates for seed in (1, 1, 2))
    assert np.array_equal(one, same)
    assert np.array_equal(one, other) is (not mechanism.certified.is_private)


@every_mechanism
def test_released_probabilities_are_distributions_in_every_row(kind, settings):
    mechanism = build(kind, settings)
    outcome = mechanism.release(mechanism.statistic(random_table(ASIA, rng(), 40)), rng(), (3,)).outcome
    assert outcome.probabilities.shape == (3, ASIA.cell_count)
    assert np.all(outcome.probabilities > 0)
    assert ASIA.row_sums(outcome.probabilities) == pytest.approx(np.ones((3, ASIA.row_count)))


@every_mechanism
def test_the_release_leaves_the_statistic_as_it_was(kind, settings):
    mechanism = build(kind, settings)
    statistic = mechanism.statistic(random_table(ASIA, rng(), 40))
    before = statistic.values.copy()
    mechanism.release(statistic, rng(), (2,))
    assert np.array_equal(statistic.values, before)


@every_mechanism
def test_a_release_carries_the_certified_promise_and_its_mechanisms_label(kind, settings):
    mechanism = build(kind, settings)
    release = mechanism.release(mechanism.statistic(random_table(ASIA, rng(), 40)), rng())
    assert release.guarantee == mechanism.certified
    assert release.mechanism == kind.label


@every_mechanism
def test_what_is_certified_is_never_more_than_claimed_and_depends_on_no_data(kind, settings):
    mechanism = build(kind, settings)
    assert mechanism.certified.epsilon <= mechanism.claimed.epsilon
    assert mechanism.certified.delta <= mechanism.claimed.delta
    assert mechanism.certified.neighbours == mechanism.claimed.neighbours


# The release holds no data


def everything_in(value: object) -> Iterator[object]:
    """Yield `value` and all that can be reached from it: fields, cached values, items; networks are public."""
    yield value
    if isinstance(value, Network):
        return
    if isinstance(value, Mapping):
        inner = [*value.keys(), *value.values()]
    elif isinstance(value, list | tuple | set | frozenset):
        inner = list(value)
    else:
        inner = list(vars(value).values()) if type(value).__module__.startswith("dpbayes") else []
    for part in inner:
        yield from everything_in(part)


@every_mechanism
def test_a_release_holds_no_table_no_counts_and_no_source_of_randomness(kind, settings):
    mechanism = build(kind, settings)
    statistic = mechanism.statistic(random_table(ASIA, rng(), 4_000))
    release = mechanism.release(statistic, rng())
    _ = release.outcome.probabilities  # fills the cached values too
    parts = list(everything_in(release))
    assert not [p for p in parts if isinstance(p, Dataset | Counts | np.random.Generator | np.random.BitGenerator)]
    arrays = [p for p in parts if isinstance(p, np.ndarray)]
    assert len(arrays) >= 3, "the walk has reached the prior, the updates and the posterior"
    inside = (statistic.values > 0) & (statistic.values < statistic.n)  # elsewhere clipping may return the count
    exact = [1 + statistic.values, statistic.values, Dirichlets(ASIA, 1.0 + statistic.values).mean]
    held = any(np.any((a == e)[..., inside]) for a in arrays for e in exact if a.shape[-1:] == e.shape)
    assert held is (not mechanism.certified.is_private)


# The promise, by enumeration of all tables and all their neighbours


def noised(mechanism) -> tuple[type, float]:
    """The additive mechanism that this is, and the scale of its noise."""
    for kind in (Exact, LaplaceUpdates, LaplaceFourier):
        if isinstance(mechanism, kind):
            return kind, getattr(mechanism, "noise_scale", 0.0)
    raise AssertionError(f"Say in `noised` and `noisy_coordinates` how {type(mechanism).__name__} adds its noise.")


def noisy_coordinates(mechanism, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What noise is added to, and the scale of the noise in every coordinate; scale zero means none."""
    kind, scale = noised(mechanism)
    if kind is LaplaceFourier:
        values = coefficients(mechanism.prior.network, values)
    scales = np.full(values.shape[-1], scale)
    if kind is LaplaceFourier and mechanism.calibration is Calibration.CERTIFIED:
        scales[0] = 0.0
    return values, scales


def worst_privacy_loss(mechanism, n: int) -> float:
    """The supremum of |ln density ratio| of the noisy statistic over all pairs of neighbouring tables of n records.

    For independent Laplace noise it is sum_k |difference_k| / scale_k, reached far out in the tails. What follows
    the noise (clipping, rebuilding tables) is post-processing and cannot raise it.
    """
    network = mechanism.prior.network
    records = all_records(network)
    tables = list(product(range(len(records)), repeat=n))
    place = {table: k for k, table in enumerate(tables)}
    counts = np.array([mechanism.statistic(table_of(network, [records[r] for r in t])).values for t in tables])
    values, scales = noisy_coordinates(mechanism, counts)
    worst = 0.0
    for position, new in product(range(n), range(len(records))):
        neighbour = [place[(*t[:position], new, *t[position + 1 :])] for t in tables]
        moved = np.abs(values - values[neighbour])
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.where(moved > 0, moved / scales, 0.0).sum(axis=-1)
        worst = max(worst, float(loss.max()))
    return worst


def keeps(mechanism, promise: float, n: int) -> bool:
    return worst_privacy_loss(mechanism, n) <= promise * (1 + 1e-12)


TINY = {
    "one node": empty(1),
    "one node of three states": Network.from_edges("a", [], {"a": "xyz"}),
    "two nodes": chain(2),
    "v-structure": V_STRUCTURE,
}
PRIVATE = [(kind, settings) for kind, settings in VARIANTS if kind is not Exact]


def buildable(kind: type, network: Network) -> bool:
    return network.is_binary or not issubclass(kind, LaplaceFourier)


def on_tiny_networks(variants: list[tuple[type, dict]]) -> pytest.MarkDecorator:
    """Every variant on every tiny network that it accepts."""
    cases = [
        pytest.param(kind, settings, network, id=f"{kind.__name__} {k} {name}")
        for k, (kind, settings) in enumerate(variants)
        for name, network in TINY.items()
        if buildable(kind, network)
    ]
    return pytest.mark.parametrize(("kind", "settings", "network"), cases)


@on_tiny_networks(PRIVATE)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_over_all_neighbouring_tables_the_worst_loss_is_exactly_the_certified_epsilon(kind, settings, network, n):
    mechanism = build(kind, settings, network)
    assert keeps(mechanism, mechanism.certified.epsilon, n)
    assert worst_privacy_loss(mechanism, n) == pytest.approx(mechanism.certified.epsilon, rel=1e-12)


@dataclass(frozen=True, kw_only=True)
class HalfNoiseLaplace(LaplaceUpdates):
    """Broken on purpose: promises epsilon at half the noise."""

    @property
    def noise_scale(self) -> float:
        return LaplaceUpdates.noise_scale.fget(self) / 2


@dataclass(frozen=True, kw_only=True)
class SensitivityOffByTwoLaplace(LaplaceUpdates):
    """Broken on purpose: forgets that one node."""

    @property
    def noise_scale(self) -> float:
        return LaplaceUpdates.noise_scale.fget(self) - 2 / self.epsilon


@dataclass(frozen=True, kw_only=True)
class HalfNoiseFourier(LaplaceFourier):
    """Broken on purpose: promises what the full noise would give, at half the noise."""

    @property
    def noise_scale(self) -> float:
        return LaplaceFourier.noise_scale.fget(self) / 2

    @property
    def certified(self) -> Guarantee:
        return LaplaceFourier(**{f.name: getattr(self, f.name) for f in fields(self)}).certified


BROKEN = [
    (kind, settings)
    for kind in (HalfNoiseLaplace, SensitivityOffByTwoLaplace, HalfNoiseFourier)
    for settings in typical_settings(kind)
]


@on_tiny_networks(BROKEN)
@pytest.mark.parametrize("n", [1, 2])
def test_the_enumeration_catches_mechanisms_with_too_little_noise(kind, settings, network, n):
    mechanism = build(kind, settings, network)
    assert not keeps(mechanism, mechanism.certified.epsilon, n)


@pytest.mark.parametrize("network", TINY.values(), ids=TINY)
def test_the_enumeration_catches_the_exact_posterior_at_any_epsilon(network):
    assert worst_privacy_loss(build(Exact, {}, network), 1) == math.inf
    assert not keeps(build(Exact, {}, network), 1e3, 1)


# The promise, on real releases alone: nothing below trusts a stated noise scale


def provable_loss(mechanism, n: int, draws: int = 200_000) -> float:
    """A lower confidence bound of ln P(E | all zeros) - ln P(E | one record differs), for one binary node.

    E = {first update - second update >= n} is where neither kind of noise loses anything: clipped Laplace updates
    sit in the corner (n, 0), and the one Fourier coefficient is at or beyond its true value n.
    """
    network = mechanism.prior.network
    hits = []
    for seed, records in enumerate([[(0,)] * n, [(0,)] * (n - 1) + [(1,)]]):
        statistic = mechanism.statistic(table_of(network, records))
        updates = mechanism.release(statistic, np.random.default_rng(seed), (draws,)).outcome.updates
        hits.append(int((updates[:, 0] - updates[:, 1] >= n).sum()))
    low = stats.beta.ppf(CERTAINTY, hits[0], draws - hits[0] + 1)
    high = stats.beta.isf(CERTAINTY, hits[1] + 1, draws - hits[1])
    return float(np.log(low / high))


@pytest.mark.parametrize(("kind", "settings"), PRIVATE)
@pytest.mark.parametrize("n", [1, 3])
def test_real_releases_never_prove_a_loss_above_the_certified_epsilon_and_come_close(kind, settings, n):
    mechanism = build(kind, settings, empty(1))
    promise = mechanism.certified.epsilon
    assert 0.9 * promise - 0.05 < provable_loss(mechanism, n) <= promise


@pytest.mark.parametrize(("kind", "settings"), [b for b in BROKEN if b[0] is not SensitivityOffByTwoLaplace])
@pytest.mark.parametrize("n", [1, 3])
def test_real_releases_with_half_the_noise_prove_that_the_promise_is_broken(kind, settings, n):
    mechanism = build(kind, settings, empty(1))
    assert provable_loss(mechanism, n) > mechanism.certified.epsilon


def test_real_releases_of_the_exact_posterior_prove_a_large_loss():
    assert provable_loss(build(Exact, {}, empty(1)), 1) > 5
