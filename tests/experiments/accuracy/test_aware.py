"""Curves of recipients who know of the noise, in fewer repeats than the others; and the best known at each epsilon."""

from dataclasses import replace

import numpy as np
import pytest

from dpbayes.base.steps import finished
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.cost import Cost
from dpbayes.experiments.accuracy.crossings import best_near, best_proved, overtakes
from dpbayes.experiments.accuracy.curves.aware import AWARE, POINTS, turns_of
from dpbayes.experiments.accuracy.methods import METHODS, methods_for
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic
from dpbayes.experiments.accuracy.releases import Releases, Streams
from dpbayes.experiments.accuracy.reliability import reliability_steps
from dpbayes.experiments.accuracy.study import AccuracyStudy, Measures, accuracy_steps, accuracy_study
from dpbayes.mechanisms import Calibration, GaussianResiduals, LaplaceUpdates, Noise
from dpbayes.mechanisms.release import Release, ReleasedPosterior
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_aware import ShiftedPoints, noise_aware_cells
from dpbayes.sources.named_networks import naive_bayes
from tests.experiments.crafted import crafted

SMALL = naive_bayes(3)
MIXED = Network.from_edges("pqtcz", ["pt", "qt", "tc", "zp"], {"p": "abc", "t": "uvw", "c": "xyzw"})
NAMES = [f"p{i}" for i in range(12)]
EXACT, LAPLACE = METHODS["exact"], METHODS["laplace"]
LAPLACE_AWARE, RESIDUALS_AWARE = AWARE


@pytest.fixture
def few_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    for method in AWARE:
        monkeypatch.setitem(method.__dict__, "most_repeats", 3)


def plan_of(network: Network = SMALL, target: str = "class", **more) -> AccuracyPlan:
    given = {"epsilons": (0.5, 5.0), "repeats": 8, "source": Synthetic(records=150), "methods": (LAPLACE, *AWARE)}
    return AccuracyPlan(network=network, target=target, **(given | more))


def mean_of(release: Release[ReleasedPosterior], seed: int) -> np.ndarray:
    """The noise-aware mean of a release by the points of the repeat with this seed."""
    network = release.outcome.prior.network
    points = ShiftedPoints(POINTS, turns_of(np.array([seed]), network))
    return noise_aware_cells(*release._noise_parts(), cells=np.arange(network.cell_count), points=points).mean


@pytest.mark.parametrize("noise", Noise)
@pytest.mark.parametrize(("method", "kind"), [(LAPLACE_AWARE, LaplaceUpdates), (RESIDUALS_AWARE, GaussianResiduals)])
@pytest.mark.parametrize(("network", "target"), [(SMALL, "class"), (MIXED, "t")])
def test_the_curve_is_the_noise_aware_mean_of_the_mechanisms_own_releases(network, target, method, kind, noise):
    plan = plan_of(network, target, noise=noise, methods=(method,))
    releases = Releases(plan)
    counts = np.random.default_rng(2).integers(0, 9, (2, network.cell_count)).astype(float)
    logs = finished(method.log_cpts(releases, counts, Streams(3)))
    seeds = Streams(3)(method.name.upper()).integers(2**63, size=2)
    origin = releases.blanket.local_counts(np.arange(1.0, network.cell_count + 1)).astype(int)
    for repeat, k in np.ndindex(2, 2):
        mechanism = kind(prior=plan.prior.on(network), epsilon=plan.epsilons[k], noise=noise)
        table = Counts(network, counts[repeat].astype(np.int64), plan.training)
        release = mechanism.release(table, np.random.default_rng(int(seeds[repeat])))
        theta, own = mean_of(release, seeds[repeat]), origin > 0
        assert np.exp(logs[repeat, k, own]) == pytest.approx(theta[origin[own] - 1], rel=1e-9)
        assert np.all(logs[repeat, k, ~own] == 0)


@pytest.mark.usefixtures("few_are_read")
def test_only_the_first_repeats_are_read_however_the_study_is_cut():
    whole = accuracy_study(plan_of())
    assert [len(whole.measures[m].accuracy) for m in (EXACT, LAPLACE, *AWARE)] == [8, 8, 3, 3]
    cut = finished(accuracy_steps(plan_of(), blocks=(2, 5, 1)))
    few = accuracy_study(plan_of(repeats=3))
    for method in whole.methods:
        theirs = whole.measures[method].log_loss
        assert cut.measures[method].log_loss == pytest.approx(theirs, rel=1e-4)
        assert few.measures[method].log_loss == pytest.approx(theirs[:3], rel=1e-4)
    assert whole.error(LAPLACE_AWARE) == pytest.approx(few.error(LAPLACE_AWARE)), "of three repeats, not of eight"
    frame = whole.frame()
    assert set(frame["repeats"][frame["method"] == LAPLACE_AWARE.title]) == {3}
    assert set(frame["repeats"][frame["method"] == LAPLACE.title]) == {8}
    overtakes(whole, LAPLACE_AWARE, LAPLACE)
    bins = finished(reliability_steps(plan_of(), 5.0))
    assert bins[LAPLACE].records.sum() == 8 * 100
    assert bins[LAPLACE_AWARE].records.sum() == 3 * 100


def of_repeats(cost: Cost, repeats: int) -> Cost:
    return replace(cost, size=replace(cost.size, repeats=repeats))


@pytest.mark.usefixtures("few_are_read")
def test_what_is_read_in_few_repeats_is_estimated_so():
    many, more = (plan_of(repeats=repeats).cost for repeats in (1000, 2000))
    without = replace(many, methods=tuple(m for m in many.methods if m not in AWARE))
    read = 3 * (many.seconds - without.seconds)
    assert many.total_seconds == pytest.approx(without.total_seconds + read)
    assert more.total_seconds - many.total_seconds == pytest.approx(1000 * without.seconds)
    for seconds in (0.02, 0.5, 3.0):
        most = more.repeats_in(seconds)
        assert of_repeats(more, most).total_seconds <= seconds or not most
        assert of_repeats(more, most + 1).total_seconds > seconds or most == 2000
    assert sum(more.blocks()) == 2000


def test_errors_of_few_points_do_not_add_up_over_rows():
    """At epsilon .01, every posterior is the prior. With the same points for all rows, a middle state has .05 less."""
    states = {f"p{k}": "ab" for k in range(3)} | {"t": "uvw", "c": "xyz"}
    network = Network.from_edges([*states], [*((f"p{k}", "t") for k in range(3)), ("t", "c"), ("p0", "c")], states)
    plan = plan_of(network, "t", methods=(LAPLACE_AWARE,), epsilons=(0.01,))
    releases = Releases(plan)
    logs = finished(LAPLACE_AWARE.log_cpts(releases, np.full((40, network.cell_count), 5.0), Streams(3)))
    origin = releases.blanket.local_counts(np.arange(1.0, network.cell_count + 1)).astype(int)
    node = network.index("t")
    cells = 1 + np.arange(network.cell_offsets[node], network.cell_offsets[node + 1])
    means = np.exp(logs[:, 0, np.flatnonzero(np.isin(origin, cells))]).reshape(40, -1, 3)
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
        assert not network.designs.results
    with pytest.raises(
        InputError, match="8,192 sets of nodes within its families, but the optimal noise is computed for at most 4,096"
    ):
        plan_of(many, "y", methods=(METHODS["residuals"],))


# The best known


def test_the_best_proved_is_the_most_accurate():
    """Printed sampling is ahead everywhere, and not proved; the certified sampler leads Laplace at the second point."""
    study = crafted([0.15, 0.15], [-0.1, 0.1])
    grid = study.plan.grid
    proved = {LAPLACE: grid, METHODS["sampler"]: grid, METHODS["sampler_many"]: 100 * grid}
    rows = best_proved(AccuracyStudy(study.plan, study.measures, proved))
    assert [(row.epsilon, row.method, row.beside) for row in rows] == [
        (1.0, LAPLACE, ()),
        (10.0, METHODS["sampler"], ()),
    ]
    assert [row.behind for row in rows] == pytest.approx([0.2, 0.1])
    assert rows[0].error == pytest.approx(0, abs=1e-15), "both are the same in all repeats"
    assert rows[1].error == pytest.approx(1e-3 / np.sqrt(39))
    whole = AccuracyStudy(study.plan, study.measures, proved)
    assert best_near(whole, 2.9) == rows[0]
    assert best_near(whole, 3.3) == rows[1]


def test_the_best_of_fewer_repeats_is_compared_in_those():
    """Their records were easy ones; that does not make a curve the best."""
    study = crafted([0.0], [0.0])
    easy = np.repeat([[0.3], [0.0]], [10, 30], axis=0)
    measures = {m: Measures(curve.accuracy + easy, curve.log_loss) for m, curve in study.measures.items()}
    measures[METHODS["sampler"]] = Measures(measures[LAPLACE].accuracy[:10] - 0.05, np.ones((10, 1)))
    proved = dict.fromkeys((LAPLACE, METHODS["sampler"]), study.plan.grid) | {METHODS["sampler_many"]: study.plan.grid}
    (row,) = best_proved(AccuracyStudy(study.plan, measures, proved))
    assert row.method is LAPLACE
    assert row.behind == pytest.approx(0.2)


def test_there_is_no_best_where_nothing_is_proved():
    study = accuracy_study(plan_of(methods=(METHODS["sampler_many"],), epsilons=(0.1, 50.0)))
    assert best_proved(study) == ()
    assert best_near(study, 1.0) is None
