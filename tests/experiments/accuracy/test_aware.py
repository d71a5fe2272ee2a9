"""Curves of recipients who know of the noise, in fewer repeats than the others."""

import numpy as np
import pytest

from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.methods import AWARE, METHODS, POINTS, methods_for
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic
from dpbayes.experiments.accuracy.study import accuracy_study
from dpbayes.mechanisms import Calibration, GaussianResiduals, LaplaceUpdates, Noise
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_aware import ShiftedPoints, noise_aware_means
from dpbayes.sources.named_networks import naive_bayes

SMALL = naive_bayes(3)
MIXED = Network.from_edges("pqtcz", ["pt", "qt", "tc", "zp"], {"p": "abc", "t": "uvw", "c": "xyzw"})
NAMES = [f"p{i}" for i in range(12)]
EXACT, LAPLACE = METHODS["exact"], METHODS["laplace"]
LAPLACE_AWARE, RESIDUALS_AWARE = AWARE


def plan_of(network: Network = SMALL, target: str = "class", **more) -> AccuracyPlan:
    given = {"epsilons": (0.5, 5.0), "repeats": 8, "source": Synthetic(records=150), "methods": (LAPLACE, *AWARE)}
    return AccuracyPlan(network=network, target=target, **(given | more))


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize(("method", "kind"), [(LAPLACE_AWARE, LaplaceUpdates), (RESIDUALS_AWARE, GaussianResiduals)])
@pytest.mark.parametrize(("network", "target"), [(SMALL, "class"), (MIXED, "t")])
def test_the_curve_is_the_noise_aware_mean_of_the_mechanisms_own_releases(network, target, method, kind, noise):
    plan = plan_of(network, target, noise=noise, methods=(method,))
    counts = Counts(network, np.random.default_rng(2).integers(0, 9, (2, network.cell_count)), plan.training)
    cpts = method.means(plan, 0.5, counts, np.random.default_rng(3))
    rng = np.random.default_rng(3)
    mechanism = kind(prior=plan.prior.on(network), epsilon=0.5, noise=noise)
    release, own = mechanism.simulate(counts, rng), np.unique(plan.blanket.cells)
    theta = noise_aware_means(*release._noise_parts(), cells=own, points=ShiftedPoints(POINTS, rng))
    assert cpts[:, own] == pytest.approx(theta, rel=1e-9)


def test_only_the_first_repeats_are_read():
    whole = accuracy_study(plan_of(repeats=60, epsilons=(0.5,)))
    assert [len(whole.measures[m].accuracy) for m in (EXACT, LAPLACE, *AWARE)] == [60, 60, 50, 50]
    few = accuracy_study(plan_of(repeats=50, epsilons=(0.5,)))
    for method in whole.methods:
        assert few.measures[method].log_loss == pytest.approx(whole.measures[method].log_loss[:50], rel=1e-4)
    assert whole.error(LAPLACE_AWARE) == pytest.approx(few.error(LAPLACE_AWARE)), "of 50 repeats, not of 60"


def test_errors_of_few_points_do_not_add_up_over_rows():
    """At epsilon .01, every posterior is the prior. With the same points for all rows, a middle state has .05 less."""
    states = {f"p{k}": "ab" for k in range(3)} | {"t": "uvw", "c": "xyz"}
    network = Network.from_edges([*states], [*((f"p{k}", "t") for k in range(3)), ("t", "c"), ("p0", "c")], states)
    plan, node = plan_of(network, "t", methods=(LAPLACE_AWARE,), epsilons=(0.01,)), network.index("t")
    counts = Counts(network, np.full((40, network.cell_count), 5), plan.training)
    means = LAPLACE_AWARE.means(plan, 0.01, counts, np.random.default_rng(3))
    means = means[:, network.cell_offsets[node] : network.cell_offsets[node + 1]].reshape(40, -1, 3)
    assert means.mean(axis=(0, 1)) == pytest.approx(1 / 3, abs=0.01)


def test_knowing_of_the_noise_loses_less_log_loss():
    study = accuracy_study(plan_of(epsilons=(0.5,), repeats=20))
    assert study.log_loss(LAPLACE_AWARE)[0] + 3 * study.log_loss_error(LAPLACE)[0] < study.log_loss(LAPLACE)[0]


def test_a_family_of_too_many_nodes_is_left_out_or_refused_in_a_sentence():
    """Nodes of one state: the table is small, its sets of nodes are many."""
    parents = [f"p{i}" for i in range(20)]
    states = {name: ("only",) for name in parents[3:]}
    network = Network.from_edges([*parents, "y"], [(p, "y") for p in parents], states)
    assert METHODS["laplace"] in methods_for(network, tuple(Calibration))
    assert not methods_for(network, tuple(Calibration), among=AWARE)
    with pytest.raises(InputError, match="A node with 20 parents"):
        plan_of(network, "y", methods=(LAPLACE_AWARE,))


def test_the_best_noise_is_not_searched_for_where_that_is_one_long_step():
    """A node with eleven and with twelve parents; the searches themselves are not begun."""
    few, many = (Network.from_edges([*p, "y"], [(name, "y") for name in p]) for p in (NAMES[:11], NAMES[:12]))
    methods = [METHODS[name] for name in ("consistent", "gaussian", "residuals")] + [RESIDUALS_AWARE]
    for network, kept in (
        (few, ["consistent", "gaussian", "residuals", "residuals_aware"]),
        (many, ["consistent", "gaussian"]),
    ):
        assert [m.name for m in methods_for(network, tuple(Calibration), among=methods)] == kept
        assert "gaussian_design" not in vars(network)
    with pytest.raises(
        InputError, match="8,192 sets of nodes within its families, but the optimal noise is computed for at most 4,096"
    ):
        plan_of(many, "y", methods=(METHODS["residuals"],))
