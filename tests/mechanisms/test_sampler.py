import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import special, stats

from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Calibration
from dpbayes.mechanisms.sampler import PosteriorSampler
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import log_mass_trimmed
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.trimmed import log_mass, log_odds_bound
from tests.conftest import crossed, thorough
from tests.strategies import (
    NAIVE_BAYES,
    V_STRUCTURE,
    all_records,
    chain,
    counts_of,
    counts_per_record,
    empty,
    random_networks,
    rng,
)

CERTIFIED, AS_PRINTED = Calibration.CERTIFIED, Calibration.AS_PRINTED
ALARM = 1e-9
MIXED = Network.from_edges("abc", ["ab"], {"a": "uvw", "b": "xy", "c": ["s"]})


def sampler(network=NAIVE_BAYES, epsilon=1.0, draws=1, calibration=CERTIFIED) -> PosteriorSampler:
    return PosteriorSampler(prior=Dirichlets.symmetric(network), epsilon=epsilon, draws=draws, calibration=calibration)


# Exact privacy loss of one draw, by enumeration


def vertices(mechanism: PosteriorSampler) -> np.ndarray:
    """ln of the CPTs (2^decisions, K) at every corner of the trimmed region, where linear log ratios are extreme.

    For binary nodes only: a decision's two log-odds ends give ln w and ln(1 - w), and between them ln p(x)/p(y), which
    has at most two decisions of each node, is monotone in each.
    """
    bound = mechanism.log_odds_bound
    rows = mechanism.prior.network.row_count
    ends = np.array(list(product([-bound, bound], repeat=rows)))
    return np.stack([special.log_expit(ends), special.log_expit(-ends)], axis=-1).reshape(len(ends), -1)


def exact_loss(mechanism: PosteriorSampler, n: int) -> float:
    """max |ln density(theta | D) - ln density(theta | D')| over theta and tables of n records that differ in one."""
    network = mechanism.prior.network
    records, corners = counts_per_record(network), vertices(mechanism)
    tables = np.array(list(compositions(n - 1, len(records)))) @ records  # (tables, K), one record short
    tables = tables[:, None] + records
    masses = log_mass_trimmed(mechanism.prior.updated(tables), mechanism.log_odds_bound)
    log_density = tables @ corners.T.astype(float) - masses[..., None]
    return float((log_density.max(axis=1) - log_density.min(axis=1)).max())


def compositions(total: int, parts: int):
    if parts == 1:
        yield (total,)
        return
    for first in range(total + 1):
        for rest in compositions(total - first, parts - 1):
            yield (first, *rest)


def one_node_loss(omega: float, n: int) -> float:
    """The closed form for one node under a uniform prior: max_k ln((1-w)/w) + |ln Z_{k+1}/Z_k|."""
    k = np.arange(n // 2 + 2)  # to the middle and one beyond: the other half has the same masses
    masses = log_mass(1.0 + k, 1.0 + n - k, omega)
    return log_odds_bound(omega) + float(np.abs(np.diff(masses)).max())


@pytest.mark.parametrize(
    ("omega", "n", "loss"),
    [(0.3, 20, 1.5404), (0.1, 20, 3.9890), (0.1, 100, 4.2991), (0.01, 20, 7.3985), (0.01, 100, 8.4971)],
)
def test_the_exact_loss_of_one_node_has_its_known_value(omega, n, loss):
    printed = sampler(empty(1), epsilon=-2 * math.log(omega), calibration=AS_PRINTED)
    assert printed.omega == pytest.approx(omega)
    assert one_node_loss(omega, n) == pytest.approx(loss, abs=5e-5)
    assert exact_loss(printed, n) == pytest.approx(loss, abs=5e-5)
    assert loss < printed.certified.epsilon < printed.claimed.epsilon


@pytest.mark.parametrize("omega", thorough([0.01, 0.1, 0.3, 0.49], sample=[0.01, 0.49]))
def test_one_record_loses_exactly_half_of_what_is_certified_and_many_approach_all_of_it(omega):
    certified = 2 * log_odds_bound(omega)
    assert one_node_loss(omega, 1) == pytest.approx(certified / 2)
    losses = [one_node_loss(omega, n) for n in (1, 3, 10, 100, 1_000, 3_000)]
    assert all(small < large for small, large in pairwise(losses))
    assert 0.99 * certified < losses[-1] <= certified * (1 + 1e-9)


@pytest.mark.parametrize(("network", "epsilon"), crossed([empty(1), empty(2), chain(2)], [0.1, 2.0, 10.0], times=1))
def test_the_certified_promise_is_never_beaten_and_not_needlessly_weak(network, epsilon):
    mechanism = sampler(network, epsilon=epsilon)
    losses = [exact_loss(mechanism, n) for n in (1, 2, 4, 8)]
    assert mechanism.certified.epsilon == pytest.approx(epsilon)
    assert max(losses) <= epsilon * (1 + 1e-9)
    assert losses[0] >= epsilon / 2 * (1 - 1e-9)


@pytest.mark.parametrize("network", [MIXED, *random_networks(8, most_nodes=4, states=(1, 5))])
def test_no_two_records_log_likelihoods_differ_by_a_wider_range_than_certified(network):
    mechanism = sampler(network, epsilon=3.0)
    drawn = mechanism.simulate(counts_of(network, 40), rng(), (2_000,)).outcome.draws[:, 0]
    records = counts_per_record(network)[: len(all_records(network))]
    log_likelihood = np.log(drawn) @ records[:40].T
    ratios = log_likelihood[:, :, None] - log_likelihood[:, None, :]
    assert (ratios.max(axis=0) - ratios.min(axis=0)).max() <= 3.0 * (1 + 1e-9)
    assert drawn.min() >= mechanism.omega * (1 - 1e-12)


# Trim and promises


@pytest.mark.parametrize("draws", [1, 7, 1_000])
@pytest.mark.parametrize("epsilon", [0.001, 1.0, 20.0, 1000.0])
def test_the_certified_omega_shares_epsilon_among_nodes_and_draws(epsilon, draws):
    mechanism = sampler(NAIVE_BAYES, epsilon=epsilon, draws=draws)
    assert mechanism.omega == pytest.approx(1 / (1 + math.exp(epsilon / (2 * 17 * draws))))
    assert mechanism.certified.epsilon == pytest.approx(epsilon, rel=1e-12)
    assert mechanism.certified.delta == 0


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 2 * math.log(2)])
def test_the_printed_trim_is_refused_where_it_leaves_nothing(epsilon):
    with pytest.raises(InputError, match=r"an epsilon above 1\.386, or the proved calibration"):
        sampler(empty(1), epsilon=epsilon, calibration=AS_PRINTED)


def test_the_printed_trim_of_four_states_keeps_every_probability_above_omega():
    network = Network.from_edges("x", [], {"x": "abcd"})
    with pytest.raises(InputError, match=r"an epsilon above 2\.773"):
        sampler(network, epsilon=2.7, calibration=AS_PRINTED)
    mechanism = sampler(network, epsilon=4.0, calibration=AS_PRINTED)
    assert mechanism.omega == pytest.approx(math.exp(-2))
    counts = Counts(network, np.array([0, 0, 0, 10**6]), 10**6)
    drawn = mechanism.simulate(counts, rng(), (1_000,)).outcome.draws
    assert math.exp(-2) * (1 - 1e-12) <= drawn.min() < 1.01 * math.exp(-2)
    assert mechanism.claimed.epsilon == pytest.approx(4)


def test_a_network_of_constants_has_nothing_to_hide():
    network = Network.from_edges("x", [], {"x": ["only"]})
    mechanism = sampler(network)
    assert mechanism.certified.epsilon == 0
    assert np.array_equal(mechanism.simulate(counts_of(network, 3), rng()).outcome.probabilities, [1.0])


# Releases


def test_every_row_follows_its_own_trimmed_posterior():
    exact = counts_of(V_STRUCTURE, 60)
    mechanism = sampler(V_STRUCTURE, epsilon=12.0)
    draws = mechanism.simulate(exact, rng(), (50_000,)).outcome.draws[:, 0]
    alpha, w = 1 + exact.values, mechanism.omega
    without = []
    for cell in range(0, 12, 2):
        a, b = alpha[cell], alpha[cell + 1]
        low, high = special.betainc(a, b, [w, 1 - w])
        scaled = (special.betainc(a, b, draws[:, cell]) - low) / (high - low)
        assert stats.kstest(scaled, stats.uniform.cdf).pvalue > ALARM
        without.append(stats.kstest(special.betainc(a, b, draws[:, cell]), stats.uniform.cdf).pvalue)
    assert min(without) < ALARM
    far = 6 / math.sqrt(50_000)
    assert np.abs(np.corrcoef(draws[:, ::2].T) - np.eye(6)).max() < far
