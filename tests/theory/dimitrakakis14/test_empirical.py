"""The truth beside the lemmas of [Dimitrakakis14]: simulations and closed forms agree with other routes."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from scipy import integrate, stats

from dpbayes.base.randomness import stream
from dpbayes.model.network import Network
from dpbayes.theory.claims.setting import ClaimParameters, EvaluationPoint, Subject
from dpbayes.theory.dimitrakakis14 import draws
from dpbayes.theory.dimitrakakis14.answers import overlap_at_least
from dpbayes.theory.dimitrakakis14.constants import largest_log_move, lemma_7
from dpbayes.theory.dimitrakakis14.draws import fair_errors, mean_fair_error
from dpbayes.theory.dimitrakakis14.game import NormalPair, normal_variation
from dpbayes.theory.index import EXHIBITS
from tests.conftest import FAR
from tests.strategies import DIAMOND, all_records, chain, counts_per_record, empty


@pytest.mark.parametrize(("n", "m"), [(1, 2), (1, 7), (10, 2), (12, 3), (13, 3), (200, 6), (5, 100)])
def test_the_mean_error_of_a_fair_die_is_that_of_its_definition(n: int, m: int) -> None:
    """[Dimitrakakis14] Lemma 2: m E|X/n - 1/m|, summed over a binomial; and the mean of simulated errors."""
    k = np.arange(n + 1)
    direct = m * float(np.abs(k / n - 1 / m) @ stats.binom.pmf(k, n, 1 / m))
    assert mean_fair_error(n, cells=m) == pytest.approx(direct, rel=1e-9)
    drawn = fair_errors(stream(1, "errors"), samples=n, cells=m, draws=20_000)
    assert abs(drawn.mean() - direct) <= FAR * drawn.std() / math.sqrt(len(drawn)) + 1e-12


def test_a_radius_is_violated_as_often_as_a_fair_coins_law_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """[Dimitrakakis14] Lemma 2: with two cells the error is 2|X/n - 1/2|; within its conditions the lemma holds."""
    monkeypatch.setattr(draws, "MOST_DRAWS", 50_000)
    monkeypatch.setattr(draws, "MOST_THROWS", 10**9)
    exhibit, n = EXHIBITS["ALT_LEMMA_2"], 1000
    subject = Subject(chain(2), 1.0, None, None, 1)

    def measured(delta: float, cells: int, printed: float | None = None):
        at = EvaluationPoint((1.0,), 1, ClaimParameters.usual(samples=n, cells=cells, delta=delta))
        bound = exhibit.bound(subject, at)
        return exhibit.measure(subject, at, bound if printed is None else replace(bound, printed=np.array([printed])))

    exact = 2 * abs(stats.binom.ppf(0.95, n, 0.5) / n - 0.5)
    error = measured(0.1, 2, exact)
    assert error.value == pytest.approx([exact], abs=2 / n + 1e-9)
    assert error.low <= error.value <= error.high
    assert error.exact[0] == mean_fair_error(n, cells=2)
    assert (error.releases, error.violated.any()) == (50_000, False)
    value = float(measured(1 / 64, 3).value[0])
    assert not measured(1 / 64, 3).violated.any()
    assert measured(1 / 64, 3, 0.9 * value).violated.all()


@pytest.mark.parametrize(
    "network",
    [chain(3), DIAMOND, empty(2), Network.from_edges("xy", ["xy"], {"x": "abc"})],
)
def test_one_changed_value_moves_the_log_likelihood_as_far_as_said(network: Network) -> None:
    """[Dimitrakakis14] Lemma 7: all networks whose CPT rows give one state all but the least, all changes."""
    least = 0.1
    records, cells = all_records(network), counts_per_record(network)
    cards = network.cards[network.node_of_row]
    pairs = [
        (i, j)
        for (i, one), (j, two) in product(enumerate(records), repeat=2)
        if sum(a != b for a, b in zip(one, two, strict=True)) == 1
    ]
    first, second = np.array(pairs).T
    worst = 0.0
    for likely in product(*(range(int(card)) for card in cards)):
        rows = [
            np.where(np.arange(card) == k, 1 - (card - 1) * least, least) for card, k in zip(cards, likely, strict=True)
        ]
        log_p = cells @ np.log(np.concatenate(rows))
        worst = max(worst, float((log_p[first] - log_p[second]).max()))
    assert largest_log_move(network, least=least) == pytest.approx(worst, rel=1e-12)
    assert worst <= float(lemma_7(network, least=least).certified) + 1e-12


def test_the_distance_of_normal_answers_is_that_of_their_densities_and_of_the_best_test() -> None:
    """[Dimitrakakis14] Lemma 8: one answer by quadrature, several by simulating the likelihood-ratio test."""
    pair = NormalPair(np.array([4.0]), 1.0)
    one, two = stats.norm(0, 0.5), stats.norm(0.25, 0.5)
    half, _ = integrate.quad(lambda t: abs(one.pdf(t) - two.pdf(t)) / 2, -6, 6, points=[0.125])
    assert normal_variation(pair, answers=1)[0] == pytest.approx(half, rel=1e-9)
    games = 50_000
    for answers in (3, 20):
        kl = float(pair.kl[0])  # one answer gains N(KL, 2 KL), in the direction of the true table
        right, wrong = (
            np.mean(stream(4, answers, sign).normal(sign * kl, math.sqrt(2 * kl), (games, answers)).sum(axis=1) > 0)
            for sign in (1, -1)
        )
        exact = float(normal_variation(pair, answers=answers)[0])
        assert abs(right - wrong - exact) <= FAR * math.sqrt(0.5 / games)
        assert exact <= 1 - float(overlap_at_least(pair, answers=answers)[0])
    assert normal_variation(pair, answers=0) == 0
