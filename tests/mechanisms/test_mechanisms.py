import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Calibration, Exact, GaussianUpdates, LaplaceFourier, LaplaceUpdates
from dpbayes.mechanisms.gaussian import GAUSSIAN
from dpbayes.mechanisms.laplace import LAPLACE
from dpbayes.mechanisms.stealth import increment_for, needed_increments
from dpbayes.model.dataset import Counts
from dpbayes.model.fourier import coefficients
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.conftest import crossed
from tests.strategies import ASIA, NAIVE_BAYES, V_STRUCTURE, chain, counts_of, empty, random_networks, rng, sd_of_cells

CERTIFIED, AS_PRINTED = Calibration.CERTIFIED, Calibration.AS_PRINTED
ALARM = 1e-9
PRIVATE = {
    "Laplace": (LaplaceUpdates, {}),
    "Fourier certified": (LaplaceFourier, {"calibration": CERTIFIED}),
    "Fourier as printed": (LaplaceFourier, {"calibration": AS_PRINTED}),
}
with_every_private_mechanism = pytest.mark.parametrize(("kind", "options"), PRIVATE.values(), ids=PRIVATE)


def uniform(network: Network) -> Dirichlets:
    return Dirichlets.symmetric(network)


def fourier(network: Network, *, epsilon: float = 1.0, t: float = 0.5, calibration=CERTIFIED) -> LaplaceFourier:
    return LaplaceFourier(prior=uniform(network), epsilon=epsilon, t=t, calibration=calibration)


def laplace(network: Network, epsilon: float = 1.0) -> LaplaceUpdates:
    return LaplaceUpdates(prior=uniform(network), epsilon=epsilon)


# Noise: how much and of which law


@pytest.mark.parametrize(
    ("mechanism", "root", "others"),
    [
        (laplace(NAIVE_BAYES), 48.083, 48.083),
        (fourier(NAIVE_BAYES, calibration=AS_PRINTED), 68.0, 48.083),
        (fourier(NAIVE_BAYES), 64 / math.sqrt(2), 64 * math.sqrt(2) * math.sqrt(3) / 4),
        (laplace(chain(10)), 28.284, 28.284),
        (fourier(chain(10), calibration=AS_PRINTED), 40.0, 28.284),
    ],
    ids=["NB16 Laplace", "NB16 printed", "NB16 certified", "chain10 Laplace", "chain10 printed"],
)
def test_noise_at_epsilon_one_has_its_known_standard_deviation(mechanism, root, others):
    assert sd_of_cells(mechanism)[:2] == pytest.approx([root] * 2, abs=5e-4)
    assert sd_of_cells(mechanism)[2:] == pytest.approx([others] * (len(sd_of_cells(mechanism)) - 2), abs=5e-4)


@pytest.mark.parametrize(("network", "epsilon"), [(empty(1), 0.1), (V_STRUCTURE, 1.0), (chain(4), 30.0)])
def test_laplace_noise_follows_the_law_of_its_scale_and_of_no_scale_ten_percent_off(network, epsilon):
    mechanism = laplace(network, epsilon)
    middle = Counts(network, np.full(network.cell_count, 10**6), 2 * 10**6)
    noise = mechanism.simulate(middle, rng(), (200_000,)).outcome.updates[:, 0] - 10**6
    assert_scale(noise, 2 * len(network.names) / epsilon)


@pytest.mark.parametrize(
    ("setting", "calibration"), crossed([(empty(1), 0.1), (V_STRUCTURE, 1.0)], list(Calibration), times=1)
)
def test_fourier_noise_follows_the_law_of_its_scale_in_every_coefficient(setting, calibration):
    """[Zhang16] Algorithm 2: the noise of its coefficients."""
    network, epsilon = setting
    mechanism = fourier(network, epsilon=epsilon, calibration=calibration)
    exact = counts_of(network, 100)
    updates = mechanism.simulate(exact, rng(), (50_000,)).outcome.updates
    noise = coefficients(network, updates) - coefficients(network, exact.values)
    lifted = noise[:, 0] - mechanism.lift
    if calibration is CERTIFIED:
        assert np.abs(lifted).max() < 1e-9 * mechanism.lift + 1e-9, "n is public and gets no noise"
        scale = {1: 2 * 1, 3: 2 * 4}[len(network.names)] / epsilon
    else:
        scale = 2 * len(network.closure) / epsilon
        assert_scale(lifted, scale)
    for gamma in range(1, len(network.closure)):
        assert_scale(noise[:, gamma], scale)


def assert_scale(noise: np.ndarray, scale: float) -> None:
    assert stats.kstest(noise, stats.laplace(scale=scale).cdf).pvalue > ALARM
    for wrong in (1.1, 1 / 1.1):
        assert stats.kstest(noise, stats.laplace(scale=wrong * scale).cdf).pvalue < ALARM


@with_every_private_mechanism
def test_no_noise_is_shared_between_coordinates_or_draws(kind, options):
    network = empty(2)
    mechanism = kind(prior=uniform(network), epsilon=1.0, **options)
    middle = Counts(network, np.full(4, 10**6), 2 * 10**6)
    noise = mechanism.simulate(middle, rng(), (20_000,)).outcome.updates
    if kind is LaplaceFourier:
        noise = coefficients(network, noise)[:, 1:]
    far = 6 / math.sqrt(20_000)
    between_draws = np.corrcoef(noise[1:].T, noise[:-1].T)[: noise.shape[1], noise.shape[1] :]
    assert np.all(np.abs(np.corrcoef(noise.T) - np.eye(noise.shape[1])) < far)
    assert np.all(np.abs(between_draws) < far)


# Laplace: clipping


def test_laplace_updates_are_clipped_to_the_possible_counts_with_the_atoms_of_the_appendix():
    n, d, draws = 50, 20, 100_000
    mechanism = laplace(NAIVE_BAYES)  # b = 34
    counts = Counts(NAIVE_BAYES, np.full(66, d), n)
    z = mechanism.simulate(counts, rng(), (draws,)).outcome.updates[:, 5]
    assert (z.min(), z.max()) == (0, n)
    for atom, probability in [(0, math.exp(-d / 34) / 2), (n, math.exp(-(n - d) / 34) / 2)]:
        assert stats.binomtest(int((z == atom).sum()), draws, probability).pvalue > ALARM


# Fourier: the lift


@pytest.mark.parametrize("calibration", Calibration)
@pytest.mark.parametrize("t", [0.0, 0.127, 2.0])
@pytest.mark.parametrize("network", random_networks(5, most_nodes=5), ids=range(5))
def test_every_fourier_table_sums_to_the_same_total_which_t_raises_by_the_lift(network, t, calibration):
    """[Zhang16] Algorithm 2: the lift of the first coefficient."""
    exact = counts_of(network, 30)
    totals = []
    for mechanism in (fourier(network, t=t, calibration=calibration), fourier(network, t=0, calibration=calibration)):
        cells = mechanism.simulate(exact, rng(), (7,)).outcome.updates
        totals.append([network.table(cells, i).reshape(7, -1).sum(axis=1) for i in range(len(network.names))])
    lifted, plain = np.array(totals)
    assert lifted - plain == pytest.approx(np.full(plain.shape, fourier(network, t=t, calibration=calibration).lift))
    assert plain - plain[0] == pytest.approx(np.zeros(plain.shape), abs=1e-9)
    if calibration is CERTIFIED:
        assert plain == pytest.approx(np.full(plain.shape, 30.0))


@pytest.mark.parametrize("calibration", Calibration)
@pytest.mark.parametrize(("network", "n", "epsilon"), [(NAIVE_BAYES, 0, 1.0), (NAIVE_BAYES, 50, 0.1), (ASIA, 50, 10.0)])
def test_the_calibrated_increment_keeps_its_probability_for_every_n_and_epsilon(network, n, epsilon, calibration):
    t = increment_for(0.9, needed_increments(network, calibration, rng()))
    mechanism = fourier(network, epsilon=epsilon, t=t, calibration=calibration)
    outcome = mechanism.simulate(counts_of(network, n), np.random.default_rng(1), (20_000,)).outcome
    failures = int((outcome.updates.min(axis=-1) < 0).sum())
    assert stats.binom.sf(failures - 1, 20_000, 0.1) > ALARM
    if n == 0:
        assert failures > 0.07 * 20_000, "nor is it needlessly large where it is tight"


def test_the_increment_falls_short_of_the_true_quantile_no_more_often_than_stated():
    runs, doubt = 2_000, 0.05
    answers = np.array([increment_for(0.9, sample, doubt=doubt) for sample in rng().random((runs, 400))])
    short = int((answers < 0.9).sum())
    assert stats.binom.sf(short - 1, runs, doubt) > ALARM
    assert stats.binom.sf(short - 1, runs, doubt / 4) < ALARM, "nor is it needlessly careful"
    assert np.all(answers < 0.9 + 6 * math.sqrt(0.09 / 400))


@pytest.mark.parametrize("probability", [-0.1, 1.1, math.nan, "often"])
def test_what_is_no_probability_is_refused(probability):
    with pytest.raises(InputError, match="target probability must be"):
        increment_for(probability, np.arange(100.0))


# Promises


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 1000.0])
def test_claimed_and_certified_epsilons_of_naive_bayes(epsilon):
    promises = {
        laplace(NAIVE_BAYES, epsilon): (1, 1),
        fourier(NAIVE_BAYES, epsilon=epsilon): (34 / 32, 1),
        fourier(NAIVE_BAYES, epsilon=epsilon, calibration=AS_PRINTED): (1, 32 / 34),
    }
    for mechanism, (claimed, certified) in promises.items():
        assert mechanism.claimed.epsilon == pytest.approx(claimed * epsilon)
        assert mechanism.certified.epsilon == pytest.approx(certified * epsilon)
        assert mechanism.certified.delta == mechanism.claimed.delta == 0


# Limits and shapes


def test_the_exact_mechanism_is_the_conjugate_update():
    exact = counts_of(ASIA, 100)
    outcome = Exact(prior=uniform(ASIA)).simulate(exact, rng()).outcome
    assert np.array_equal(outcome.posterior.alpha, uniform(ASIA).updated(exact).alpha)


def test_negative_updates_count_as_zero_in_the_posterior():
    outcome = fourier(ASIA, epsilon=0.01, t=0.0).simulate(counts_of(ASIA, 10), rng()).outcome
    assert outcome.updates.min() < 0
    assert np.array_equal(outcome.posterior.alpha, 1 + np.maximum(outcome.updates, 0))


# Refusals


def test_fourier_refuses_a_node_that_is_not_binary_by_name():
    with pytest.raises(InputError, match='"sky" has 3 states'):
        fourier(Network.from_edges(["sky"], [], {"sky": "xyz"}))


@pytest.mark.parametrize("kind", [LaplaceUpdates, GaussianUpdates])
def test_a_family_too_wide_for_its_residuals_is_released_without_a_noise_model(kind):
    """Twenty parents of one state make a small table with 2^21 subsets."""
    names = [f"x{i}" for i in range(21)]
    wide = Network.from_edges(names, [(name, "x20") for name in names[:-1]], {name: ["only"] for name in names[:-1]})
    release = kind(prior=wide, epsilon=1.0).simulate(Counts(wide, np.array([5] * 20 + [2, 3]), 5), rng())
    assert release.posterior.mean[-2:].sum() == pytest.approx(1)
    assert not release.tells_noise
    with pytest.raises(InputError, match="does not state which noise was added"):
        release.noise_aware()


@pytest.mark.parametrize(("form", "power"), [(LAPLACE, 1), (GAUSSIAN, 2)])
@pytest.mark.parametrize("scale", [0.1, 0.5, 1.0, 1.6, 10.0, 160.0])
def test_an_accuracy_states_the_least_distance_of_nine_of_ten_values(form, power, scale):
    distances = np.abs(np.arange(-int(40 * scale) - 1, int(40 * scale) + 2))
    mass = np.exp(-((distances / scale) ** power) / power)
    least = next(d for d in range(len(mass)) if mass[distances <= d].sum() >= 0.9 * mass.sum())
    assert (f"within {least:,} record" if least else "equal to") in form.accuracy(None, Fraction(scale))
