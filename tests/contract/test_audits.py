"""Every mechanism goes through the auditor: what is certified is never beaten, and what is refuted is refuted here."""

from dataclasses import dataclass, fields, replace

import numpy as np
import pytest

from dpbayes.audit.registry import audit
from dpbayes.audit.regression import bad_tables
from dpbayes.audit.report import AuditVerdict
from dpbayes.base.privacy import Guarantee
from dpbayes.base.validation import InputError
from dpbayes.base.zcdp import gaussian_epsilon, zcdp_epsilon
from dpbayes.mechanisms import (
    MECHANISMS,
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceFourier,
    LaplaceUpdates,
    MapExponential,
    Noise,
    PosteriorSampler,
)
from dpbayes.mechanisms.die.hellinger import HellingerEnumerated, HellingerGlobal, HellingerSmooth
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.hellinger import Die
from tests.conftest import crossed
from tests.contract.test_promises import BROKEN, TINY, buildable
from tests.contract.variants import VARIANTS, build, rng
from tests.strategies import ASIA, chain, random_table

EPSILONS = np.linspace(0, 6, 25)

NETWORKS = {**TINY, "asia": ASIA}

EVERY = [
    pytest.param(kind, settings, network, id=f"{kind.__name__} {k} {name}")
    for k, (kind, settings) in enumerate(VARIANTS)
    for name, network in NETWORKS.items()
    if buildable(kind, network)
]
DICE = [
    HellingerGlobal(die=Die((1.0, 1.0), 30), epsilon=1.0),
    HellingerGlobal(die=Die((0.5, 1.0, 2.0), 8), epsilon=3.0),
    HellingerSmooth(die=Die((1.0, 1.0), 30), epsilon=1.0, delta=1e-3),
    HellingerSmooth(die=Die((0.1, 0.1, 0.1), 8), epsilon=0.5, delta=0.1),
    HellingerEnumerated(die=Die((1.0, 1.0), 30), epsilon=1.0, delta=1e-5),
    HellingerEnumerated(die=Die((0.1, 0.5, 2.0), 8), epsilon=0.5, delta=0.1),
    LaplaceCells(die=Die((1.0, 1.0, 1.0), 8), epsilon=2.0),
    LaplaceOne(die=Die((1.0, 1.0), 30), epsilon=0.3),
]


@pytest.mark.parametrize("honest", [case for case in DICE if isinstance(case, HellingerEnumerated)])
def test_the_audit_catches_an_internal_epsilon_five_percent_too_large(honest):
    broken = HellingerSmooth(die=honest.die, epsilon=1.05 * honest.inner_epsilon, delta=honest.delta)
    report = audit(broken, n=honest.die.n, epsilons=EPSILONS)
    assert not is_kept(replace(report, certified=honest.certified))
    assert report.needed_at_least > honest.epsilon * 1.01


REGRESSIONS = [
    RegressionSampler(prior_precision=1.0),
    RegressionSampler(prior_precision=1e-3, norm_bound=0.25, noise_variance=0.5),
    RegressionSampler(prior_precision=10.0, norm_bound=3.0, draws=4),
]


def is_kept(report) -> bool:
    """Whether the audit leaves the certified promise standing, its curve too."""
    certified = report.certified
    if not certified.is_private:
        return True
    beyond = report.curve.lower[report.curve.epsilons >= certified.epsilon]
    return bool(np.all(beyond <= certified.delta + 1e-12)) and (
        certified.delta > 0 or report.at_least <= certified.epsilon * (1 + 1e-9)
    )


@pytest.mark.parametrize(
    ("kind", "settings", "network", "n"),
    [pytest.param(*case.values, n, id=f"{case.id} {n}") for case, n in crossed(EVERY, [1, 4, 1000], times=1)],
)
def test_no_audit_of_a_network_mechanism_beats_what_is_certified(kind, settings, network, n):
    report = audit(build(kind, settings, network), n=n, epsilons=EPSILONS)
    assert is_kept(report)
    assert report.at_least <= report.exact
    assert (report.verdict is AuditVerdict.NO_PROMISE) is (not report.certified.is_private)


def test_all_mechanisms_are_audited():
    assert {kind for kind, _ in VARIANTS} == set(MECHANISMS)


@pytest.mark.parametrize("mechanism", DICE, ids=lambda m: f"{type(m).__name__} m={m.die.sides}")
def test_no_audit_of_a_die_mechanism_beats_what_is_certified(mechanism):
    assert is_kept(audit(mechanism, n=mechanism.die.n, epsilons=EPSILONS))


@pytest.mark.parametrize("mechanism", REGRESSIONS)
@pytest.mark.parametrize(("features", "n"), crossed([1, 2, 5], [1, 4, 1000], times=1))
def test_no_audit_of_the_regression_sampler_beats_what_is_certified(mechanism, features, n):
    report = audit(mechanism, n=n, features=features, epsilons=EPSILONS)
    assert is_kept(report)
    assert 0 < report.at_least <= report.exact


@dataclass(frozen=True, kw_only=True)
class WideBall(RegressionSampler):
    """Broken on purpose: promises what a ball of a third of the radius would give."""

    @property
    def certified(self) -> Guarantee:
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return RegressionSampler(**{**own, "norm_bound": self.norm_bound / 3}).certified


@pytest.mark.parametrize("features", [1, 2, 5])
def test_the_audit_catches_draws_from_too_large_a_ball(features):
    broken = WideBall(prior_precision=1.0, norm_bound=1.0)
    with pytest.raises(InputError, match="of the class WideBall"):
        audit(broken, n=4, features=features, epsilons=EPSILONS)
    honest = RegressionSampler(prior_precision=1.0, norm_bound=1.0)  # the law that the broken one draws from
    report = audit(honest, n=4, features=features, epsilons=EPSILONS)
    assert is_kept(report)
    assert not is_kept(replace(report, certified=broken.certified))
    assert bad_tables(honest, n=4, features=features).loss > broken.certified.epsilon * (1 + 1e-9)


def same_law(broken):
    """The known mechanism that draws from the same law as one broken on purpose, and promises what that law keeps."""
    if isinstance(broken, PosteriorSampler):
        ways = 2 * int(Decisions(broken.prior.network).depths.sum())
        return PosteriorSampler(
            prior=broken.prior, epsilon=ways * broken.draws * broken.log_odds_bound, draws=broken.draws
        )
    if isinstance(broken, MapExponential):
        epsilon = 2 * broken.sensitivity * broken.rate
        return MapExponential(prior=broken.prior, epsilon=epsilon, cells=broken.cells)
    if isinstance(broken, GaussianUpdates):
        return same_gaussian(broken)
    if isinstance(broken, GaussianResiduals):
        pytest.skip("no honest one has scales of these proportions")
    kind = next(k for k in (LaplaceFourier, ConsistentLaplace, LaplaceUpdates) if isinstance(broken, k))
    own = {field.name: getattr(broken, field.name) for field in fields(broken)}
    honest = kind(**own)
    return replace(honest, epsilon=honest.epsilon * honest.noise_scale / broken.noise_scale)


def same_gaussian(broken) -> GaussianUpdates:
    """The same law, with what it is known to keep at the same delta."""
    honest = GaussianUpdates(**{field.name: getattr(broken, field.name) for field in fields(broken)})
    shift = honest.shift * honest.noise_scale / broken.noise_scale
    epsilon = zcdp_epsilon(shift**2 / 2, delta=honest.delta)
    if honest.noise is Noise.REAL:
        epsilon = gaussian_epsilon(shift, delta=honest.delta)
    return replace(honest, epsilon=epsilon)


@pytest.mark.parametrize(("kind", "settings"), BROKEN)
def test_the_audit_of_the_law_catches_mechanisms_that_promise_too_much(kind, settings):
    broken = build(kind, settings, chain(2))
    with pytest.raises(InputError, match=f"of the class {kind.__name__}"):
        audit(broken, n=4, epsilons=EPSILONS)
    honest = same_law(broken)
    table = honest.statistic(random_table(chain(2), rng(), 4))
    drawn, same = (mechanism.simulate(table, rng(), (100,)).outcome.probabilities for mechanism in (broken, honest))
    assert drawn == pytest.approx(same, rel=1e-12), "the same draws from the same generator"
    report = audit(honest, n=4, epsilons=EPSILONS)
    assert is_kept(report)
    assert not is_kept(replace(report, certified=broken.certified))
