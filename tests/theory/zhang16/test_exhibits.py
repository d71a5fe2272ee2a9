"""The exhibits of [Zhang16]: each bound by its formula written out here, and its truth by another route."""

import math
from typing import Any

import numpy as np
import pytest

from dpbayes.base.randomness import stream
from dpbayes.base.validation import InputError
from dpbayes.model.dataset import count
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import ClaimParameters, EvaluationPoint, Subject
from dpbayes.theory.index import EXHIBITS
from dpbayes.theory.zhang16 import fourier, map, rebuilt_tables, sampling, stealth
from dpbayes.theory.zhang16.map import TrimmedRow
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl
from dpbayes.theory.zhang16.smoothness import mass_without
from dpbayes.theory.zhang16.stealth import first_success_loss, rerun_bound

ASIA, PUBLISHED = load_named("asia")
NODES, CELLS = 8, 36
COUNTS = count(ASIA, sample_dataset(ASIA, PUBLISHED, 1000, stream(1, "records")))
SUBJECT = Subject(ASIA, 1.0, 1000, COUNTS, 1)


def setting(epsilon: float = 1.0, draws: int = 1, **knobs: Any) -> EvaluationPoint:
    return EvaluationPoint((epsilon,), draws, ClaimParameters.usual(**knobs))


def evaluated(name: str, at: EvaluationPoint) -> Bound:
    """The bound of an exhibit, which has to be of the exhibit's claim and of one number."""
    bound = EXHIBITS[name].bound(SUBJECT, at)
    assert bound.claim is EXHIBITS[name].claim
    assert bound.printed.shape == bound.certified.shape == (1,)
    return bound


@pytest.mark.parametrize(
    ("name", "at", "printed", "certified"),
    [
        ("LEMMA_1", setting(), 16, 16),
        ("COROLLARY_1", setting(2.5), 2.5, 2.5),
        ("PROPOSITION_1", setting(2.0), 8 * math.log(CELLS / 0.05), -8 * math.log(1 - 0.95 ** (1 / CELLS))),
        ("CLIPPED", setting(0.01), 1600 * math.log(CELLS / 0.05), 1000),
        ("COROLLARY_2", setting(2.0), len(ASIA.closure), ASIA.odd_overlap.value),
        ("RERUNS", setting(runs=20), 20, 2),
        ("LEMMA_2", setting(level=5.0), 5.0 * NODES, 5.0 * (NODES + 1) / 2),
        ("LEMMA_3", setting(level=16.0), math.exp(-16 * (1 - math.log(NODES) / 10)), NODES * math.exp(-16)),
        ("LEMMA_3", setting(level=5.0), math.nan, NODES * math.exp(-5)),
        ("THEOREM_4_1", setting(omega=0.2, draws=3), 2 * NODES * math.log(4), 6 * NODES * math.log(4)),
        ("APPENDIX_C2", setting(4.0, 2), 4.0, 4 * NODES * math.log(math.exp(2) - 1)),
        ("APPENDIX_D", setting(norm_bound=4.0), 20 * (1 + 8 * math.sqrt(5) + 20), 25),
        ("APPENDIX_D", setting(norm_bound=0.5, draws=3), 20 * (1 + math.sqrt(5) + 2.5), 6),
        ("GRADIENT", setting(norm_bound=4.0), (1 + 8 * math.sqrt(5) + 20) / 2, 5 * math.sqrt(17)),
        ("PROPORTIONAL", setting(norm_bound=4.0), 16, 25),
    ],
)
def test_an_exhibit_has_the_numbers_of_its_formula(
    name: str, at: EvaluationPoint, printed: float, certified: float
) -> None:
    bound = evaluated(name, at)
    assert float(bound.printed[0]) == pytest.approx(printed, rel=1e-9, nan_ok=True)
    assert float(bound.certified[0]) == pytest.approx(certified, rel=1e-9)


def test_the_exhibits_of_theorem_1_are_the_bounds_of_the_posterior() -> None:
    """[Zhang16] Theorem 1, with U, refined, and its last display: nothing is put in place of what is certified."""
    kl = posterior_kl(Dirichlets.symmetric(ASIA), COUNTS, epsilon=0.5, delta=0.05)
    for name, printed, certified in (
        ("THEOREM_1", kl.theorem.printed, kl.tails.best),
        ("C_SQUARED", kl.theorem.printed, kl.tails.mcdiarmid),
        ("CLOSED_FORM", kl.closed_form.printed, kl.tails.best),
        ("EXPECTATION", kl.mean.printed, kl.expected),
        ("REFINED", kl.refined_mean.printed, kl.expected),
        ("ORDER", kl.order.printed, kl.tails.best),
    ):
        bound = evaluated(name, setting(0.5))
        np.testing.assert_allclose(bound.printed, printed, rtol=1e-12, err_msg=name)
        np.testing.assert_allclose(bound.certified, certified, rtol=1e-12, err_msg=name)
    size = 18 * 1000 * math.log(1000)
    expected = -size * math.expm1(-1000 / 32) + math.sqrt(-size * math.log(0.05))
    assert float(kl.order.printed[0]) == pytest.approx(expected, rel=1e-12)


def test_the_exhibits_of_tables_draws_and_the_mode_are_those_of_their_arguments() -> None:
    """[Zhang16] Theorem 3, Corollary 3, Theorem 4(2), Corollary 4, Lemma 4, Algorithm 3: the case shown, by hand."""
    noise, row = fourier.printed_noise(ASIA), TrimmedRow(1.0, 1.0, 0.2, 1000)
    errors = rebuilt_tables.table_error_bound(ASIA, epsilon=0.5, t=0.3, delta=0.05)
    largest = int(np.argmax(errors.printed))
    first, second = (int(value) for value in ASIA.table(COUNTS.values, 0).ravel())
    mode = map.shortfall(1.0, 1.0, counts=(first, second), cells=20, sensitivity=1.0)
    negative = stealth.negative_marginal_bound(ASIA, noise=noise, t=2.0)
    moved = sampling.theorem_4_2(ASIA, prior=1.0, start=20.0)
    density = TrimmedRow(1.0, 1.0, 1 / (1 + math.exp(2)), 6).density_sensitivity
    for name, at, printed, certified in (
        ("THEOREM_3", setting(0.5, t=0.3), errors.printed[largest], errors.certified[largest]),
        ("COROLLARY_3", setting(t=2.0), math.exp(-2), negative.certified),
        ("THEOREM_4_2", setting(start=20.0), moved.printed, moved.certified),
        ("COROLLARY_4", setting(0.5, omega=0.2), 0.5, 0.5 * row.density_sensitivity / math.sqrt(math.log(4))),
        ("ALGORITHM_3", setting(log_ratio=2.0, size=6), math.sqrt(2), density),
        ("LEMMA_4", setting(9.0, gap=0.4), math.exp(-1.8) / mode.near(0.2), min(1, math.exp(-0.9) / mode.near(0.2))),
    ):
        bound = evaluated(name, at)
        assert float(bound.printed[0]) == pytest.approx(float(printed), rel=1e-9), name
        assert float(bound.certified[0]) == pytest.approx(float(certified), rel=1e-9), name


def test_algorithm_3_more_records_than_are_gone_through_are_refused() -> None:
    """[Zhang16] Algorithm 3."""
    with pytest.raises(InputError, match="5,000 are too many"):
        EXHIBITS["ALGORITHM_3"].limit(SUBJECT, setting(size=5000))


# The truths, by independent routes


@pytest.mark.parametrize("epsilon", [0.01, 0.7, 3.0])
def test_re_running_the_loss_of_the_first_success_by_its_law(epsilon: float) -> None:
    """[Zhang16] Section 3.2, Re-running: one run is epsilon-private, and what the first success shows is as said."""
    e, share = math.exp(epsilon), 0.01
    rare = 1e-2 / e
    first = np.array([share * rare, (1 - share) * rare])
    second = first * [1 / e, e]
    runs = [np.append(law, 1 - law.sum()) for law in (first, second)]
    assert np.abs(np.log(runs[0] / runs[1])).max() == pytest.approx(epsilon, rel=1e-9)
    # Run after run until the first success, summed.
    tries = np.arange(100_000)[:, None]
    for law, run in zip((first, second), runs, strict=True):
        np.testing.assert_allclose((law * run[2] ** tries).sum(axis=0), law / law.sum(), rtol=1e-6)
    loss = np.abs(np.log((first / first.sum()) / (second / second.sum()))).max()
    assert float(first_success_loss(np.array([epsilon]))[0]) == pytest.approx(loss, rel=1e-9)
    assert epsilon < loss < float(rerun_bound(epsilon, 2).certified)


def test_lemma_3_the_exact_mass_is_that_of_simulated_rates() -> None:
    """[Zhang16] Lemma 3: a false alarm in a billion."""
    at = setting(level=2.5, concentration=1.0, start=10.0)
    bound = EXHIBITS["LEMMA_3"].bound(Subject(ASIA, 1.0, None, None, 1), at)
    exact = mass_without(Subject(ASIA, 1.0, None, None, 1), at)
    draws = 100_000
    share = float((stream(1, "rates").exponential(size=(draws, NODES)).max(axis=1) > 2.5).mean())
    assert abs(share - exact) < 6.2 * math.sqrt(exact * (1 - exact) / draws)
    assert exact < bound.certified[0] == NODES * math.exp(-2.5)
