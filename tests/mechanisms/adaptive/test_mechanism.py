"""The adaptive release as a mechanism: exact queries on the released model for the rows of a given network."""

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.base.parameters import parameters_of
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import MECHANISMS, OF_RECORDS, AdaptiveTables, reads_records
from dpbayes.mechanisms.adaptive.mechanism import conditionals
from dpbayes.mechanisms.parameters import TableNoise
from dpbayes.mechanisms.release import ReleasedPosterior, SampledCpts
from dpbayes.model.network import Network

ASIA, CPTS = dp.load_named("asia")
TABLE = dp.sample_dataset(ASIA, CPTS, 2000, np.random.default_rng(1))
MECHANISM = AdaptiveTables(prior=ASIA, epsilon=10.0)
STATISTIC = MECHANISM.statistic(TABLE)


def rng() -> np.random.Generator:
    return np.random.default_rng(5)


def test_it_has_what_the_protocol_asks_for_and_is_no_mechanism_of_counts() -> None:
    assert not set(OF_RECORDS) & set(MECHANISMS)
    assert [kind for kind in (*MECHANISMS, *OF_RECORDS) if reads_records(kind)] == [AdaptiveTables]
    assert list(parameters_of(AdaptiveTables)) == ["epsilon", "delta", "table_noise"]


@pytest.mark.parametrize(("noise", "delta"), [(TableNoise.GAUSSIAN, 1e-5), (TableNoise.LAPLACE, 0)])
def test_its_noise_decides_whether_the_guarantee_has_a_delta(noise: TableNoise, delta: float) -> None:
    mechanism = AdaptiveTables(prior=ASIA, epsilon=10, table_noise=noise)
    released = mechanism.simulate(STATISTIC, rng())
    own = dp.simulate_adaptive(TABLE, epsilon=10, delta=delta, rng=rng())
    assert released.guarantee == mechanism.certified == mechanism.claimed == own.guarantee
    np.testing.assert_array_equal(released.outcome.models[0][1], own.probabilities)
    assert dict(released.public) == {"n": 2000, "epsilon": 10.0, "table noise": noise.value}
    assert ("rho" in mechanism.formula) == bool(delta)


def test_the_answers_are_exact_queries_on_the_released_network_and_not_on_the_drawing() -> None:
    release = dp.simulate_adaptive(TABLE, epsilon=10, delta=1e-5, rng=rng())
    own, two = MECHANISM.simulate(STATISTIC, rng()), MECHANISM.simulate(STATISTIC, rng(), (2,)).outcome
    question = "dysp", {"smoke": "yes"}
    np.testing.assert_allclose(two.query(*question)[0], dp.query(release.network, release.probabilities, *question))
    assert np.abs(two.query(*question)[0] - dp.query(ASIA, two.probabilities[0], *question)).max() > 1e-6
    assert set(release.network.edges) != set(ASIA.edges), "else the drawing would answer as well"
    for node, family in enumerate(ASIA.families):
        child, parents = ASIA.names[node], [ASIA.names[j] for j in family[:-1]]
        table = ASIA.table(own.numbers, node)
        for codes in np.ndindex(*table.shape[:-1]):
            given = {name: ASIA.states[ASIA.index(name)][code] for name, code in zip(parents, codes, strict=True)}
            answer = dp.query(release.network, release.probabilities, child, given)
            np.testing.assert_allclose(table[codes], answer, rtol=1e-9)


def test_a_batch_is_its_releases_one_after_another() -> None:
    batch, generator = MECHANISM.simulate(STATISTIC, rng(), (3,)), rng()
    singles = [MECHANISM.simulate(STATISTIC, generator, (1,)) for _ in range(3)]
    np.testing.assert_array_equal(batch.numbers, np.concatenate([single.numbers for single in singles]))
    models = [model for single in singles for model, _ in single.outcome.models]
    assert [model.edges for model in models] == [model.edges for model, _ in batch.outcome.models]
    part = batch.part(1)
    np.testing.assert_array_equal(part.numbers, batch.numbers[1])
    assert part.outcome.models == batch.outcome.models[1:2]
    assert len(batch.part(slice(0, 2)).outcome.models) == 2


def test_counts_without_records_are_refused() -> None:
    with pytest.raises(InputError, match="needs the records"):
        MECHANISM.simulate(dp.count(ASIA, TABLE), rng())
    with pytest.raises(InputError, match="different networks"):
        MECHANISM.simulate(AdaptiveTables(prior=dp.chain(2), epsilon=1).statistic(_table(dp.chain(2), 4)), rng())
    with pytest.raises(InputError, match="no column"):
        MECHANISM.statistic(_table(dp.chain(2), 4))
    with pytest.raises(InputError, match="1 to"):
        AdaptiveTables(prior=dp.chain(2), epsilon=1).statistic(_table(dp.chain(2), 0))


def test_a_release_contains_no_records() -> None:
    released = MECHANISM.simulate(STATISTIC, rng(), (2,))
    assert not isinstance(released.outcome, SampledCpts | ReleasedPosterior)
    assert set(vars(released.outcome)) == {"models", "probabilities"}
    assert all(isinstance(network, Network) and cpts.dtype == float for network, cpts in released.outcome.models)


def test_a_row_that_cannot_occur_is_uniform() -> None:
    network = dp.chain(2)
    cpts = np.array([1.0, 0.0, 0.25, 0.75, 0.5, 0.5])
    independent = Network(network.names, network.states, ((), ()))
    np.testing.assert_allclose(conditionals(independent, network, cpts), [1, 0, 0.25, 0.75])
    np.testing.assert_allclose(conditionals(network, network, cpts), [1, 0, 0.25, 0.75, 0.5, 0.5])
    impossible = np.array([1.0, 0.0, 0.25, 0.75, 0.9, 0.1])
    np.testing.assert_allclose(conditionals(network, network, impossible)[-2:], [0.5, 0.5])


def _table(network: Network, n: int) -> dp.Dataset:
    codes = np.stack([rng().integers(card, size=n) for card in network.cards], axis=1)
    return dp.Dataset(network.names, network.states, codes)
