import math
from types import SimpleNamespace

import numpy as np
import pytest

from dpbayes.audit.die import audit_die
from dpbayes.audit.loss.tables import all_tables
from dpbayes.audit.printed_map import PrintedMap
from dpbayes.audit.registry import audit
from dpbayes.audit.regression import audit_regression, bad_tables, densities_along
from dpbayes.audit.report import AuditVerdict
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import Calibration, Exact, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.die.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.finite import exact_curve, exact_epsilon, exact_pure_epsilon
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.compositions import neighbour_pairs
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.hellinger import Die, neighbours_up_to_symmetry
from tests.strategies import ASIA, NAIVE_BAYES, V_STRUCTURE, chain, empty

GRID = np.linspace(0, 2, 41)
THREE = Network.from_edges("ab", ["ab"], {"a": "xyz", "b": "uv"})


def coin(n: int, prior: float = 1.0) -> Die:
    return Die((prior, prior), n)


def exponential(kind: type, die: Die, epsilon: float = 1.0, delta: float = 1e-5):
    """Return an exponential mechanism for a die; only the smooth one has a delta."""
    return kind(die=die, epsilon=epsilon, **({"delta": delta} if kind is HellingerSmooth else {}))


def on(network: Network, kind: type, epsilon: float = 1.0, **options):
    return kind(prior=Dirichlets.symmetric(network), epsilon=epsilon, **options)


EVERY = {
    "laplace": on(ASIA, LaplaceUpdates),
    "laplace three": on(THREE, LaplaceUpdates),
    "fourier": on(ASIA, LaplaceFourier),
    "fourier printed": on(ASIA, LaplaceFourier, calibration=Calibration.AS_PRINTED),
    "sampler": on(ASIA, PosteriorSampler),
    "sampler tiny": on(chain(2), PosteriorSampler, draws=2),
    "sampler three": on(THREE, PosteriorSampler),
    "sampler printed": on(ASIA, PosteriorSampler, epsilon=2.0, calibration=Calibration.AS_PRINTED),
    "map": on(ASIA, MapExponential),
    "map one": on(empty(1), MapExponential),
    "map tiny": on(chain(2), MapExponential),
    "exact": Exact(prior=Dirichlets.symmetric(ASIA)),
    "global": HellingerGlobal(die=coin(9), epsilon=1.0),
    "local": HellingerLocal(die=coin(9), epsilon=1.0),
    "smooth": HellingerSmooth(die=coin(9), epsilon=1.0, delta=1e-5),
    "one": LaplaceOne(die=coin(9), epsilon=1.0),
    "cells": LaplaceCells(die=Die((1.0, 1.0, 1.0), 9), epsilon=1.0),
    "printed map": PrintedMap(prior=(1.0, 1.0), n=9, epsilon=1.0, omega=0.1),
    "regression": RegressionSampler(prior_precision=1.0),
}


def audited(mechanism, **more):
    return audit(mechanism, **more, **({"features": 2} if isinstance(mechanism, RegressionSampler) else {}))


@pytest.mark.parametrize("mechanism", EVERY.values(), ids=EVERY)
def test_every_report_is_consistent(mechanism):
    report = audited(mechanism, n=9, epsilons=GRID)
    assert 0 <= report.at_least <= report.exact * (1 + 1e-9)
    assert report.is_exact is (report.at_least == pytest.approx(report.exact))
    assert report.needed_at_least <= report.needed <= report.exact * (1 + 1e-12)
    if report.certified.is_private and not report.certified.delta:
        assert report.exact <= report.certified.epsilon * (1 + 1e-9)
    curve = report.curve
    assert np.array_equal(curve.epsilons, GRID)
    assert np.all(curve.lower <= curve.deltas)
    assert np.all(np.diff(curve.deltas) <= 1e-12)
    assert np.all(curve.deltas[report.exact * (1 + 1e-9) <= GRID] == 0)
    assert np.all(curve.deltas <= 1)
    assert report.scope.endswith(".")
    assert report.worst is not None
    assert report.worst.first != report.worst.second
    if report.worst.laws is not None:
        laws = report.worst.laws
        assert len(laws.outputs) == len(laws.first) == len(laws.second)
        if isinstance(laws.outputs, tuple):
            assert [laws.first.sum(), laws.second.sum()] == pytest.approx([1, 1])
        assert np.log(laws.first / laws.second).max() == pytest.approx(laws.part or report.at_least)
        assert laws.part <= report.at_least


@pytest.mark.parametrize(
    "mechanism", [m for m in EVERY.values() if hasattr(m, "prior") and not isinstance(m, PrintedMap)]
)
def test_without_records_nothing_is_lost(mechanism):
    report = audit(mechanism, n=0, epsilons=GRID)
    assert report.exact == 0
    assert report.worst is None
    assert not report.curve.deltas.any()


# Verdicts


def test_laplace_is_proved_and_tight_and_fourier_pays_for_a_loose_claim():
    for network in (ASIA, NAIVE_BAYES, THREE):
        report = audit(on(network, LaplaceUpdates), n=50, epsilons=GRID)
        assert report.verdict is AuditVerdict.PROVED_AND_TIGHT
        assert report.exact == pytest.approx(1)
    report = audit(on(ASIA, LaplaceFourier, calibration=Calibration.AS_PRINTED), n=50, epsilons=GRID)
    assert report.exact == pytest.approx(14 / 21)
    assert report.verdict is AuditVerdict.HOLDS


@pytest.mark.parametrize(
    ("network", "n"), [(chain(3), 5), (chain(4), 1), (V_STRUCTURE, 5), (ASIA, 50), (NAIVE_BAYES, 1)]
)
def test_the_printed_sampler_is_refuted_at_a_nominal_epsilon_of_two(network, n):
    report = audit(on(network, PosteriorSampler, epsilon=2.0, calibration=Calibration.AS_PRINTED), n=n, epsilons=GRID)
    assert report.claimed.epsilon == pytest.approx(2)
    assert report.at_least > 2
    assert report.verdict is AuditVerdict.CLAIM_REFUTED
    honest = audit(on(network, PosteriorSampler, epsilon=2.0), n=n, epsilons=GRID)
    assert honest.exact <= 2 * (1 + 1e-9)
    assert honest.verdict in (AuditVerdict.HOLDS, AuditVerdict.UNDECIDED)


def test_local_sensitivity_promises_nothing_and_exceeds_epsilon_at_a_small_prior():
    report = audit(HellingerLocal(die=coin(200, 0.1), epsilon=1.0), n=200, epsilons=[1.0])
    assert report.exact == pytest.approx(1.02103, abs=1e-5)
    assert report.curve.deltas[0] == pytest.approx(4.55e-4, abs=1e-6)
    assert {report.worst.first, report.worst.second} == {"(2 | 198)", "(1 | 199)"}
    assert report.verdict is AuditVerdict.NO_PROMISE
    assert audit(HellingerLocal(die=coin(200), epsilon=1.0), n=200, epsilons=[1.0]).exact == pytest.approx(
        0.8568, abs=1e-4
    )


def test_the_smooth_mechanism_is_judged_at_its_own_delta():
    mechanism = HellingerSmooth(die=coin(60, 1e-3), epsilon=1.0, delta=1e-3)
    report = audit(mechanism, n=60, epsilons=GRID)
    needed = exact_epsilon(mechanism.log_pmf_table(), pairs=neighbour_pairs(60, sides=2), delta=1e-3)
    assert report.needed == needed < report.exact
    assert report.verdict is AuditVerdict.HOLDS
    assert report.certified.epsilon > report.claimed.epsilon  # holds here, is not proved in general


def test_nothing_promised_and_nothing_kept():
    report = audit(Exact(prior=Dirichlets.symmetric(ASIA)), n=5, epsilons=GRID)
    assert report.exact == math.inf
    assert report.verdict is AuditVerdict.NO_PROMISE
    assert np.all(report.curve.deltas == 1)


def test_rescaled_counts_lose_something_in_between():
    report = audit(LaplaceCells(die=coin(40), epsilon=1.0), n=40, epsilons=GRID)
    assert not report.is_exact
    assert 0.97 <= report.at_least < report.exact == 1
    many = audit(LaplaceCells(die=Die((1.0, 1.0, 1.0), 40), epsilon=1.0), n=40, epsilons=GRID)
    assert many.at_least == report.at_least, "the ratio of two counts is the same law beside a third"


def test_more_features_than_two_have_a_pair_of_one_feature():
    """d = 3 to 64: named, its loss between half of what is proved and all of it; the claim is that of d features."""
    mechanism = RegressionSampler(prior_precision=1e-3, norm_bound=1.0)
    reports = {d: audit_regression(mechanism, n=100, features=d, epsilons=GRID) for d in (1, 2, 3, 10, 64)}
    losses = [report.at_least for report in reports.values()]
    assert losses == sorted(losses, reverse=True)
    assert 2 < losses[-1] < losses[0] < 4
    assert all("99 × (x = (-" in report.worst.first for report in reports.values())
    for d, report in reports.items():
        assert report.claimed.epsilon == pytest.approx(100 * (1 + 2 * math.sqrt(d) + d))
        assert audit(mechanism, n=100, epsilons=GRID, features=d).claimed == report.claimed
        assert report.verdict is AuditVerdict.HOLDS


def test_the_claim_for_one_draw_is_refuted_for_many():
    mechanism = RegressionSampler(prior_precision=1e-3, norm_bound=1.0, draws=20)
    assert audit(mechanism, n=1, features=2, epsilons=GRID).verdict is AuditVerdict.CLAIM_REFUTED


@pytest.mark.parametrize("features", [1, 2, 6])
def test_the_densities_along_the_diameter_have_the_pairs_loss_at_their_end(features):
    mechanism = RegressionSampler(prior_precision=2.0, norm_bound=1.5)
    pair = bad_tables(mechanism, n=30, features=features)
    places, logs = densities_along(mechanism, pair, 201)
    assert (places[0], places[-1]) == (-1.5, 1.5)
    assert (logs[0] - logs[1]).max() == pytest.approx(pair.loss, rel=1e-4)
    if features == 1:
        assert np.trapezoid(np.exp(logs), places, axis=-1) == pytest.approx([1, 1], rel=1e-3)


@pytest.mark.parametrize(("bound", "features", "limit"), [(0.25, 1, 1.0), (1.0, 1, 4.0), (1.0, 2, 4.0), (2.0, 2, 9.0)])
def test_regression_tables_come_close_to_what_is_proved(bound, features, limit):
    mechanism = RegressionSampler(prior_precision=1e-3, norm_bound=bound)
    reports = [audit_regression(mechanism, n=n, features=features, epsilons=GRID) for n in (1, 100, 10**6)]
    assert [r.exact for r in reports] == [limit] * 3
    assert 0.45 * limit < reports[0].at_least < reports[1].at_least < reports[2].at_least <= limit
    assert reports[2].at_least > 0.9999 * limit
    assert reports[2].verdict is AuditVerdict.HOLDS  # the printed epsilon grows with n and promises nothing of use
    assert audit_regression(mechanism, n=0, features=features, epsilons=GRID).exact == 0


@pytest.mark.parametrize("network", [empty(1), chain(2), THREE])
def test_the_map_audit_finds_the_worst_output_by_listing_them(network):
    # All outputs of all decisions at once, for few cells.
    mechanism, n = on(network, MapExponential, epsilon=3.0, cells=3), 2
    tables = all_tables(network, n=n)
    laws = mechanism.log_pmf(tables.counts)
    joint = laws[:, 0]
    for decision in range(1, laws.shape[1]):
        joint = (joint[:, :, None] + laws[:, decision][:, None]).reshape(len(laws), -1)
    report = audit(mechanism, n=n, epsilons=GRID)
    assert report.is_exact
    assert report.exact == pytest.approx(exact_pure_epsilon(joint, pairs=tables.pairs).epsilon, rel=1e-9)
    exact = exact_curve(joint, pairs=tables.pairs, epsilons=GRID)
    assert np.all(report.curve.deltas >= exact - 1e-12)
    if laws.shape[1] == 1:
        assert report.curve.deltas == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("network", [empty(1), chain(2), ASIA])
def test_cells_that_a_firm_prior_excludes_leave_the_map_audit_as_it_is(network):
    """Cells of prior mass below 1e-308 have no loss; a warning here would be an error."""
    prior = Dirichlets(network, np.full(network.cell_count, 1000.0))
    mechanism = MapExponential(prior=prior, epsilon=1.0)
    assert np.isneginf(mechanism.log_pmf(np.zeros(network.cell_count))).any()
    report = audit(mechanism, n=5, epsilons=GRID)
    assert 0 < report.at_least <= report.exact <= 1
    assert "[0, " not in report.worst.output, "the first cell is an excluded one"


@pytest.mark.parametrize("prior", [(0.3, 0.3, 0.3), (0.3, 1.0, 0.3), (0.5, 1.0, 2.0), (1.0, 1.0)])
@pytest.mark.parametrize("kind", [HellingerGlobal, HellingerLocal, HellingerSmooth])
def test_sides_of_equal_prior_need_one_pair_of_neighbours_of_each_kind(kind, prior):
    mechanism = exponential(kind, Die(prior, 7), 2.0, delta=1e-4)
    few, every, table = (
        neighbours_up_to_symmetry(mechanism.die),
        neighbour_pairs(mechanism.die.n, sides=mechanism.die.sides),
        mechanism.log_pmf_table(),
    )
    assert {tuple(pair) for pair in few.tolist()} <= {tuple(pair) for pair in every.tolist()}
    assert (len(few) < len(every)) is (len(set(prior)) < len(prior))
    report, whole = (
        audit_die(mechanism, n=mechanism.die.n, epsilons=GRID),
        exact_curve(table, pairs=every, epsilons=GRID),
    )
    assert report.exact == pytest.approx(exact_pure_epsilon(table, pairs=every).epsilon, rel=1e-12)
    assert report.curve.deltas == pytest.approx(whole, abs=1e-15)
    if mechanism.claimed.delta:
        assert report.needed == pytest.approx(exact_epsilon(table, pairs=every, delta=1e-4), rel=1e-9)


# Refusals


def test_what_cannot_be_audited_is_refused_in_a_sentence():
    with pytest.raises(InputError, match="mechanism must be an object"):
        audit(object(), n=5, epsilons=GRID)
    with pytest.raises(InputError, match="audit_by_draws"):
        audit(SimpleNamespace(simulate=len), n=5, epsilons=GRID)
    with pytest.raises(InputError, match="number of features"):
        audit(RegressionSampler(prior_precision=1.0), n=5, epsilons=GRID)


@pytest.mark.parametrize("name", ["global", "one", "cells", "printed map"])
def test_what_has_its_own_number_of_records_is_audited_for_that_one(name):
    with pytest.raises(InputError, match="is for tables of 9 records"):
        audit(EVERY[name], n=8, epsilons=GRID)


@pytest.mark.parametrize("epsilons", [[-1.0], [math.nan], 0.5])
@pytest.mark.parametrize("mechanism", EVERY.values(), ids=EVERY)
def test_bad_grids_are_refused(mechanism, epsilons):
    with pytest.raises(InputError, match="not negative"):
        audited(mechanism, n=9, epsilons=epsilons)


@pytest.mark.parametrize("n", [-1, 2.5, math.nan])
def test_bad_numbers_of_records_are_refused(n):
    for name in ("laplace", "fourier", "sampler", "map", "exact", "regression"):
        with pytest.raises(InputError, match="number of records"):
            audited(EVERY[name], n=n, epsilons=GRID)
