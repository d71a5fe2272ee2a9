"""What an observer notices of releases: whose tables agree, and which look like counts."""

import numpy as np
import pytest
from scipy import stats

from dpbayes.base.estimates import Estimate
from dpbayes.experiments import agreement
from dpbayes.experiments.agreement import largest_gap, noticed, said_of, sharing_families
from dpbayes.mechanisms import Calibration, LaplaceFourier, LaplaceUpdates
from dpbayes.model.counts import Counts, count
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from tests.strategies import ASIA, random_table

PRINTED, CERTIFIED = Calibration.AS_PRINTED, Calibration.CERTIFIED


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def fourier(network: Network, calibration: Calibration = PRINTED, **more: float) -> LaplaceFourier:
    prior = Dirichlets.symmetric(network, more.pop("prior", 1.0))
    return LaplaceFourier(prior=prior, calibration=calibration, **({"epsilon": 1.0} | more))


def test_families_that_share_a_node_say_how_often_it_occurs():
    data = random_table(ASIA, rng(), 80)
    updates = np.stack([count(ASIA, data).values.astype(float)] * 2)
    for node, name in enumerate(ASIA.names):
        families = sharing_families(ASIA, node)
        assert families[0] == node
        assert all(node in ASIA.families[k] for k in families)
        said = said_of(ASIA, updates, node=node, families=families)
        state = ASIA.telling_state(node)
        assert said == pytest.approx(np.full((2, len(families)), np.count_nonzero(data.column(name) == state)))


def test_fourier_tables_agree_and_laplace_tables_do_not():
    counts = count(ASIA, random_table(ASIA, rng(), 500))
    prior = Dirichlets.symmetric(ASIA)
    laplace = noticed(LaplaceUpdates(prior=prior, epsilon=1.0), counts, rng(), releases=50, node=2, families=(2, 3))
    for calibration in Calibration:
        about = {"node": 2, "families": sharing_families(ASIA, 2)}
        consistent = noticed(fourier(ASIA, calibration, t=0.5), counts, rng(), releases=50, **about)
        assert consistent.spread == Estimate(0, 0)
        assert np.abs(np.diff(consistent.said, axis=-1)).max() < 1e-8
    assert laplace.spread.value > 10
    assert 0 < laplace.spread.error < laplace.spread.value / 5
    assert np.abs(np.diff(laplace.said, axis=-1)).mean() > 5


@pytest.mark.parametrize("block", [1, 100, 10**6])
def test_releases_in_blocks_are_those_of_one_block(block, monkeypatch):
    counts = count(ASIA, random_table(ASIA, rng(), 500))
    for mechanism in (LaplaceUpdates(prior=Dirichlets.symmetric(ASIA), epsilon=3.0), fourier(ASIA, t=0.02)):
        monkeypatch.setattr(agreement, "BLOCK", block)
        seen = noticed(mechanism, counts, rng(), releases=40, node=5, families=(5, 6, 7))
        updates = mechanism.release(counts, rng(), (40,)).outcome.updates
        assert np.array_equal(seen.totals, np.add.reduceat(updates, ASIA.cell_offsets[:-1], axis=-1))
        assert np.array_equal(seen.said, said_of(ASIA, updates, node=5, families=(5, 6, 7)))
        whole = np.isclose(updates, np.round(updates), rtol=0, atol=1e-6).mean(axis=-1)
        assert seen.whole == Estimate.of(whole)
        assert seen.negative == Estimate.share(int((updates < 0).any(axis=-1).sum()), draws=40)


def test_what_an_observer_notices():
    mechanism = fourier(ASIA, CERTIFIED, t=0.5)
    counts = count(ASIA, random_table(ASIA, rng(), 500))
    seen = noticed(mechanism, counts, rng(), releases=100)
    assert seen.total.value == pytest.approx(500 + mechanism.lift)
    assert seen.total.error < 1e-9, "n is public: no noise moves a total"
    assert seen.whole.value < 0.01
    assert seen.negative.value < 0.05
    assert noticed(fourier(ASIA, t=0.0), Counts(ASIA, counts.values * 0, 0), rng(), releases=100).negative.value > 0.9
    exact = noticed(fourier(ASIA, CERTIFIED, epsilon=1000.0, t=0.0), counts, rng(), releases=3)
    assert exact.total.value == pytest.approx(500)


def test_what_shows_has_the_standard_errors_of_independent_releases():
    counts = count(ASIA, random_table(ASIA, rng(), 500))
    laplace = LaplaceUpdates(prior=Dirichlets.symmetric(ASIA), epsilon=1.0)
    seen = noticed(laplace, counts, rng(), releases=200)
    totals = seen.totals
    assert seen.total == Estimate(pytest.approx(totals.mean()), pytest.approx(stats.sem(totals.mean(axis=-1))))
    gaps = totals.max(axis=-1) - totals.min(axis=-1)
    assert seen.spread == Estimate(pytest.approx(gaps.mean()), pytest.approx(stats.sem(gaps)))
    # Twenty more batches lie around the first as its error says: chi-squared of 20 degrees is beyond 85 with p < 1e-9.
    others = [noticed(laplace, counts, rng(10 + i), releases=200).spread for i in range(20)]
    middle = np.mean([other.value for other in others])
    assert 1 < sum(((other.value - middle) / other.error) ** 2 for other in others) < 85


def test_only_floating_point_is_no_difference():
    said = np.array([[1e5, 1e5 + 1e-7], [1e5, 1e5 + 1e-3], [0.0, 0.0]])
    assert largest_gap(said) == pytest.approx([0, 1e-3, 0], rel=1e-6)
