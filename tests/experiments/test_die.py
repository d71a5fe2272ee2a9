import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.experiments.die import Balance, DieMethod, Scenario, SmoothRun, proved_run
from dpbayes.experiments.die_errors import LEVELS, MEDIAN, error_laws, noisy_counts, sensitivities
from dpbayes.mechanisms.die.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.posteriors.hellinger import (
    Die,
    distances,
    global_sensitivity,
    hellinger_between,
    local_sensitivity,
    smooth_guarantee,
    smooth_sensitivity,
)

ALARM = 1e-9
PRINTED = SmoothRun.AS_PRINTED
EXPONENTIAL = (DieMethod.GLOBAL, DieMethod.SMOOTH, DieMethod.LOCAL)


def noise(sides: int = 2, draws: int = 20_000) -> np.ndarray:
    return stream(1, "test").laplace(size=(draws, sides))


def medians(scenario: Scenario) -> dict[DieMethod, float]:
    laws = error_laws([scenario], noise(scenario.sides))
    return {method: law.quantiles()[0, MEDIAN] for method, law in laws.items()}


# Reference medians: prior 1, delta 1e-5, the smooth mechanism as printed; exponential ones exact, Laplace simulated.
COIN = {
    10: [(0.1, ".601 .601 .601 .757 .892"), (0.5, ".415 .415 .415 .394 .291"), (1, ".415 .212 .415 .240 .147"),
         (2, ".212 .212 .212 .121 .073")],
    100: [(0.1, ".982 .949 .976 .687 .467"), (0.5, ".949 .276 .825 .159 .097"), (1, ".854 .070 .140 .081 .050"),
          (2, ".405 .070 .070 .040 .024")],
    500: [(0.1, "1.00 1.00 1.00 .353 .215"), (0.5, "1.00 .095 .095 .072 .043"), (1, "1.00 .032 .032 .037 .022"),
          (2, ".864 .032 .032 .018 .011")],
}  # fmt: skip
THREE = {
    100: [(0.1, ".999 .999 .999 .976"), (0.5, ".999 .990 .998 .336"), (1, ".998 .487 .986 .174"),
          (2, ".996 .150 .150 .087")],
    500: [(0.1, "1.00 1.00 1.00 .683"), (0.5, "1.00 1.00 1.00 .157"), (1, "1.00 .138 .138 .079"),
          (2, "1.00 .067 .067 .039")],
}  # fmt: skip
SKEWED = [(0.1, "1.0 1.0 1.0 .840 .836"), (0.5, "1.0 1.0 1.0 .398 .215"), (1, "1.0 .731 1.0 .207 .108"),
          (2, ".840 .148 .399 .101 .054")]  # fmt: skip
ORDER = (DieMethod.GLOBAL, DieMethod.LOCAL, DieMethod.SMOOTH, DieMethod.CELLS, DieMethod.ONE)
REFERENCES = [
    *((Scenario(n=n, epsilon=e, calibration=PRINTED), row) for n, rows in COIN.items() for e, row in rows),
    *((Scenario(n=100, epsilon=e, calibration=PRINTED, balance=Balance.SKEWED), row) for e, row in SKEWED),
    *((Scenario(sides=3, n=n, epsilon=e, calibration=PRINTED), row) for n, rows in THREE.items() for e, row in rows),
]  # fmt: skip


def share_within(law, errors):
    """The probability of an error of at most each of these."""
    return np.append(0.0, law.shares[0])[np.searchsorted(law.values[0], errors, side="right")]


@pytest.mark.parametrize(("scenario", "row"), REFERENCES, ids=[f"m={s.sides} n={s.n} e={s.epsilon} {s.balance.value}" for s, _ in REFERENCES])  # fmt: skip  # noqa: E501
def test_the_reference_medians_are_found(scenario, row):
    median = medians(scenario)
    expected = dict(zip(ORDER, map(float, row.split()), strict=False))
    for method in EXPONENTIAL:
        allowed = 7e-4 if expected[method] < 0.9995 else 5e-3
        assert median[method] == pytest.approx(expected[method], abs=allowed), method
    for method in scenario.methods:
        if method.is_laplace:  # both are simulated, with 20,000 draws each
            assert median[method] == pytest.approx(expected[method], abs=1e-3, rel=0.035), method


# The laws


@pytest.mark.parametrize(
    "scenario",
    [
        Scenario(n=37, epsilon=0.7, share=0.2, balance=Balance.SHARE),
        Scenario(n=9, sides=3, prior=0.3, calibration=PRINTED),
        Scenario(n=6, sides=4, epsilon=3.0, balance=Balance.SKEWED),
    ],
)
def test_quantiles_are_those_of_the_mechanisms_law(scenario):
    run, delta = scenario.smooth_run
    mechanisms = {
        DieMethod.GLOBAL: HellingerGlobal(die=scenario.die, epsilon=scenario.epsilon),
        DieMethod.LOCAL: HellingerLocal(die=scenario.die, epsilon=scenario.epsilon),
        DieMethod.SMOOTH: HellingerSmooth(die=scenario.die, epsilon=run, delta=delta),
    }
    laws = error_laws([scenario], noise(scenario.sides, 10))
    errors = distances(scenario.die, counts=scenario.counts)
    for method, mechanism in mechanisms.items():
        law = np.exp(mechanism.log_pmf(scenario.counts))
        for level, quantile in zip(LEVELS, laws[method].quantiles()[0], strict=True):
            assert law[errors <= quantile + 1e-12].sum() >= level - 1e-9
            assert law[errors < quantile - 1e-12].sum() < level
        inside = share_within(laws[method], [0.0, 0.2, 0.7, 1.0])
        assert inside == pytest.approx([law[errors <= h].sum() for h in (0.0, 0.2, 0.7, 1.0)])
        assert scenario.certified(method) == mechanism.certified
        assert scenario.claimed(method) == mechanism.claimed


@pytest.mark.parametrize(("method", "sides"), [(DieMethod.CELLS, 2), (DieMethod.CELLS, 3), (DieMethod.ONE, 2)])
def test_noisy_counts_are_the_mechanisms_releases(method, sides):
    kind = {DieMethod.CELLS: LaplaceCells, DieMethod.ONE: LaplaceOne}[method]
    scenarios = [Scenario(sides=sides, n=8, balance=Balance.SKEWED, epsilon=e) for e in (0.05, 1.0, 4.0)]
    standard = np.random.default_rng(3).laplace(size=(500, sides if method is DieMethod.CELLS else 1))
    counts = noisy_counts(scenarios, method, standard)
    for scenario, values in zip(scenarios, counts, strict=True):
        mechanism = kind(die=scenario.die, epsilon=scenario.epsilon)
        released = mechanism.simulate(scenario.counts, np.random.default_rng(3), (500,))
        assert scenario.die.posterior(values) == pytest.approx(released)


@pytest.mark.parametrize("factor", [1.0, 1.1])
def test_the_simulated_median_of_one_count_is_the_exact_one(factor):
    # |Laplace| has median ln 2 / epsilon, and at balanced data H grows with the distance on either side.
    scenario, draws = Scenario(n=1000, epsilon=0.5), 20_000
    off = scenario.counts + np.array([1, -1]) * factor * np.log(2) / 0.5
    exact = float(hellinger_between(scenario.die, first=scenario.counts, second=off))
    below = share_within(error_laws([scenario], noise(draws=draws))[DieMethod.ONE], [exact])[0]
    alarm = stats.binomtest(round(below * draws), draws, 0.5).pvalue < ALARM
    assert alarm == (factor != 1)  # a scale that is 10% off is rejected


@pytest.mark.parametrize("sides", [2, 3])
def test_sensitivities_of_many_epsilons_are_the_cores(sides):
    scenarios = [Scenario(sides=sides, n=30, prior=0.4, epsilon=e, balance=Balance.SKEWED) for e in (0.1, 1.0, 9.0)]
    die, counts = scenarios[0].die, scenarios[0].counts
    smooth = [smooth_sensitivity(die, counts=counts, beta=scenario.beta) for scenario in scenarios]
    assert sensitivities(scenarios, DieMethod.SMOOTH) == pytest.approx(smooth, rel=1e-12)
    assert sensitivities(scenarios, DieMethod.LOCAL) == pytest.approx([local_sensitivity(die, counts=counts)] * 3)
    assert sensitivities(scenarios, DieMethod.GLOBAL) == pytest.approx([global_sensitivity(die)] * 3)


# Guarantees


@given(sides=st.integers(2, 6), n=st.integers(1, 300), epsilon=st.floats(1e-3, 1e3), delta=st.floats(1e-12, 0.1))
def test_a_proved_run_spends_no_more_than_allowed_and_wastes_little(sides, n, epsilon, delta):
    die = Die((1.0,) * sides, n)
    run, run_delta = proved_run(die, epsilon=epsilon, delta=delta)
    assert smooth_guarantee(die, epsilon=run, delta=run_delta) <= epsilon * (1 + 1e-9)
    assert run_delta / 2 <= delta
    assert 0.5 * epsilon < run <= epsilon / 1.5


def test_certified_and_printed_runs_promise_what_they_say():
    certified, printed = Scenario(), Scenario(calibration=PRINTED)
    assert str(certified.certified(DieMethod.SMOOTH)) == "ε = 1, δ = 0.00001"
    assert str(certified.claimed(DieMethod.SMOOTH)) == "ε = 0.6667, δ = 0.00002"
    assert str(printed.claimed(DieMethod.SMOOTH)) == "ε = 1, δ = 0.00001"
    assert str(printed.certified(DieMethod.SMOOTH)) == "ε = 1.5, δ = 5 × 10⁻⁶"
    for method in (DieMethod.GLOBAL, DieMethod.CELLS, DieMethod.ONE):
        assert printed.certified(method).epsilon == printed.claimed(method).epsilon == 1
    assert not printed.certified(DieMethod.LOCAL).is_private


# Scenarios


@given(sides=st.integers(2, 6), n=st.integers(1, 10_000), balance=st.sampled_from(Balance), share=st.floats(0, 1))
def test_hypothetical_counts_add_up(sides, n, balance, share):
    counts = Scenario(sides=sides, n=n, balance=balance, share=share).counts
    assert counts.shape == (sides,)
    assert counts.sum() == n
    assert counts.min() >= 0
    if balance is Balance.BALANCED:
        assert np.ptp(counts) <= 1
    if balance is Balance.SHARE:
        assert abs(counts[0] - share * n) <= 1


@pytest.mark.parametrize(
    ("name", "bad"),
    [("sides", 7), ("sides", 1), ("n", 0), ("n", 2.5), ("epsilon", 0), ("delta", 0.2), ("share", 1.1), ("prior", 0)],
)
def test_a_bad_scenario_is_refused(name, bad):
    with pytest.raises(InputError, match=name):
        Scenario(**{name: bad})
