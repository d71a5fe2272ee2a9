"""[Notes] Section 1, Section 2.1, Section 2.2, Section 2.3.1, Section 3.1, Lemma 2.1, Lemma 2.2, Figure 1."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import integrate, special

from dpbayes.audit.registry import audit
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.die.laplace import LaplaceCells, LaplaceOne
from dpbayes.posteriors.hellinger import Die, all_distances, log_pmf
from dpbayes.theory.notes.lemmas import counterexample_lemma_2_1, counterexample_lemma_2_2, dilation, sliding
from dpbayes.theory.notes.mechanisms import (
    counterexample_metric,
    crowded_line,
    exact_die_loss,
    global_mechanism,
    law_on_line,
    local_mechanism,
    smooth_loss,
    smooth_mechanism,
)
from dpbayes.theory.notes.sensitivities import (
    MOST_ENUMERATED,
    candidates,
    largest_change,
    reduction,
    score_changes,
    smoothing,
)

COIN = Die((1.0, 1.0), 12)
DIE = Die((1.0, 0.5, 2.0), 6)


def slow_distance(a, b):
    def log_beta(v):
        return special.gammaln(v).sum() - special.gammaln(v.sum())

    return math.sqrt(-math.expm1(log_beta((a + b) / 2) - (log_beta(a) + log_beta(b)) / 2))


def slow_distances(die):
    every = [die.posterior(c) for c in die.candidates]
    return np.array([[slow_distance(p, q) if p is not q else 0.0 for q in every] for p in every])


def slow_loss(die, weights):
    """The largest log ratio over ordered neighbours, from weights (R, R)."""
    law = weights / weights.sum(axis=1, keepdims=True)
    worst = 0.0
    for x, y in product(range(die.size), repeat=2):
        if np.abs(die.candidates[x] - die.candidates[y]).sum() == 2:
            worst = max(worst, np.log(law[x] / law[y]).max())
    return worst


def test_section_1_density_needs_alpha_minus_one():
    """[Notes] Section 1: x^a (1-x)^b / B(a, b) does not integrate to one."""
    a, b = 2.0, 3.0
    printed, _ = integrate.quad(lambda x: x**a * (1 - x) ** b / special.beta(a, b), 0, 1)
    right, _ = integrate.quad(lambda x: x ** (a - 1) * (1 - x) ** (b - 1) / special.beta(a, b), 0, 1)
    assert right == pytest.approx(1)
    assert printed < 0.3


def test_section_2_1_candidates_are_counted_right_for_two_sides_only():
    """[Notes] Section 2.1: |R| = n + 1; C(n + m - 1, m - 1)."""
    assert candidates(COIN).applies
    assert float(candidates(COIN).certified) == len({tuple(c) for c in COIN.candidates}) == 13
    bound = candidates(DIE)
    assert not bound.applies
    assert float(bound.certified) == len({tuple(np.bincount(t, minlength=3)) for t in product(range(3), repeat=6)})
    assert float(bound.printed) == 7


@pytest.mark.parametrize(("die", "counts"), [(COIN, [3, 9]), (COIN, [0, 12]), (DIE, [2, 2, 2]), (DIE, [6, 0, 0])])
def test_section_3_1_reduction_by_definition(die, counts):
    """[Notes] Section 3.1, with log-gamma functions and a loop over neighbours and candidates."""
    bound = reduction(die, counts=counts)
    table, place = slow_distances(die), int(np.flatnonzero((die.candidates == counts).all(axis=1))[0])
    near = np.abs(die.candidates - np.array(counts)).sum(axis=1) == 2
    slow = np.abs(table[near] - table[place]).max()
    assert float(bound.printed) == pytest.approx(slow, rel=1e-9)
    assert float(bound.certified) == pytest.approx(float(bound.printed), rel=1e-12)


@pytest.mark.parametrize("counts", [[110, 0, 0], [40, 40, 30], [0, 109, 1]])
def test_section_3_1_reduction_beyond_what_is_enumerated(counts):
    """[Notes] Section 3.1: the neighbours alone, and all 6,216 candidates; also where a side has no throw to give."""
    die = Die((1.0, 0.5, 2.0), 110)
    assert die.size > MOST_ENUMERATED
    bound = reduction(die, counts=counts)
    assert float(bound.certified) == pytest.approx(largest_change(die, counts=counts), rel=1e-9)


def test_figure_1_the_largest_change_is_tied():
    """[Notes] Figure 1: x = (3, 17) ties with (2, 18); x = (10, 10) with both neighbours."""
    die = Die((1.0, 1.0), 20)
    for first, tied in ((3, [2, 3]), (10, [9, 10, 11])):
        changes = score_changes(die, np.array([first, 20 - first])).max(axis=0)
        assert die.candidates[changes >= changes.max() * (1 - 1e-12), 0].tolist() == tied


@pytest.mark.parametrize("die", [Die((1.0, 1.0), 1), COIN, DIE])
def test_section_2_1_mechanism_keeps_its_promise_with_room(die):
    """[Notes] Section 2.1, the mechanism: half of epsilon at least; to .69 here."""
    epsilon = 1.3
    table = slow_distances(die)
    steps = [
        np.abs(table[x] - table[y]).max()
        for x, y in product(range(die.size), repeat=2)
        if np.abs(die.candidates[x] - die.candidates[y]).sum() == 2
    ]
    slow = slow_loss(die, np.exp(-epsilon * table / (2 * max(steps))))
    bound = global_mechanism(die, epsilon=epsilon)
    assert float(bound.certified) == pytest.approx(slow, rel=1e-8)
    assert 0.49 * epsilon <= float(bound.certified) <= 0.7 * epsilon


@pytest.mark.parametrize(("n", "share"), [(1, 0.5), (20, 0.601), (200, 0.517)])
def test_section_2_1_mechanism_known_shares(n, share):
    """[Notes] Section 2.1, the mechanism (report)."""
    assert float(global_mechanism(Die((1.0, 1.0), n), epsilon=1.0).certified) == pytest.approx(share, abs=1e-3)


@pytest.mark.parametrize(
    ("prior", "n", "epsilon", "loss"),
    [(0.1, 200, 1.0, 1.02103), (0.01, 200, 1.0, 1.0745), (1.0, 20, 0.01, 0.00686), (1.0, 200, 0.01, 0.00892)],
)
def test_section_2_2_local_sensitivity_by_exact_audit(prior, n, epsilon, loss):
    """[Notes] Section 2.2 (report): above epsilon for small priors, below it for the uniform one."""
    bound = local_mechanism(Die((prior, prior), n), epsilon=epsilon)
    assert float(bound.certified) == pytest.approx(loss, rel=1e-3)
    assert (float(bound.certified) > epsilon) == (prior < 0.3)


def test_section_2_2_law_by_definition():
    """[Notes] Section 2.2: the exact loss with weights from log-gamma functions."""
    table = slow_distances(DIE)
    near = np.abs(DIE.candidates[:, None] - DIE.candidates).sum(axis=2) == 2
    local = np.array([np.abs(table[near[x]] - table[x]).max() for x in range(DIE.size)])
    slow = slow_loss(DIE, np.exp(-1.0 * table / (2 * local[:, None])))
    assert float(local_mechanism(DIE, epsilon=1.0).certified) == pytest.approx(slow, rel=1e-8)


def test_exact_loss_sees_noise_that_is_too_small():
    """[Notes] Section 2.1: half the sensitivity breaks epsilon."""
    assert exact_die_loss(COIN, epsilon=1.0, sensitivity=np.full(COIN.size, 0.1)) > 1


@pytest.mark.parametrize(("die", "epsilon"), [(COIN, 1.0), (Die((0.1, 0.1), 100), 0.5), (DIE, 2.0)])
def test_section_2_3_1_smooth_sensitivity_stays_below_what_is_proved(die, epsilon):
    """[Notes] Section 2.3.1: printed epsilon, proved 1.5 epsilon, exact about .5-.65 epsilon for a uniform prior."""
    bound = smooth_mechanism(die, epsilon=epsilon, delta=1e-5)
    assert float(bound.certified) == pytest.approx(1.5 * epsilon, rel=0.05)
    loss = smooth_loss(die, epsilon=epsilon, delta=1e-5)
    assert loss <= float(bound.certified)
    if die is COIN:
        assert 0.5 <= loss <= 0.65


def test_section_2_3_1_fails_in_another_metric_space():
    """[Notes] Section 2.3.1, in any metric space: a crowded line needs 21 times the claimed delta."""
    example = counterexample_metric()
    assert example.refutes
    assert example.truth == pytest.approx(1.181, abs=1e-3)
    assert example.printed == 1.0
    assert example.truth <= example.certified == 1.5
    assert "this epsilon needs a delta of 0.00021" in example.setting
    assert counterexample_metric(5.0).truth > 5.3


def test_section_2_3_1_on_a_crowded_line_by_definition():
    """[Notes] Section 2.3.1, in any metric space: by loops, with beta from the number of candidates."""
    line = crowded_line(beta=0.0)
    beta = math.log(1 + 1 / (2 * math.log(2 * line.size / 1e-5)))
    line = crowded_line(beta=beta)
    points, size, first = line.points, line.size, line.first
    assert np.all(np.diff(points) > 0), "all candidates are different points"
    assert line.pairs.shape == (2 * (size - 1), 2)
    local = [max(abs(points[x] - points[y]) for y in (x - 1, x + 1) if 0 <= y < size) for x in range(size)]
    law = law_on_line(line, epsilon=1.0, beta=beta)
    slow = []
    for x in (first, first + 1):
        smooth = max(local[y] * math.exp(-beta * abs(x - y)) for y in range(size))
        weights = np.array([math.exp(-abs(points[x] - r) / (2 * smooth)) for r in points])
        slow.append(weights / weights.sum())
        assert np.exp(law[x]) == pytest.approx(slow[-1], rel=1e-9)
    beside, other = slow
    assert np.maximum(other - math.e * beside, 0).sum() > 20e-5, "the pair that needs 20 times the delta"
    proved = np.maximum(np.exp(law[line.pairs[:, 0]]) - math.exp(1.5) * np.exp(law[line.pairs[:, 1]]), 0).sum(axis=1)
    assert proved.max() <= 5e-6, "(1.5 epsilon, delta/2) holds here too"


def test_section_2_3_1_beta_with_the_right_number_of_candidates():
    """[Notes] Section 2.3.1, beta."""
    bound = smoothing(COIN, epsilon=1.0, delta=1e-5)
    assert float(bound.printed) == pytest.approx(math.log(1 - 1 / (2 * math.log(1e-5 / 26))), rel=1e-12)
    assert float(bound.certified) == pytest.approx(float(bound.printed), rel=1e-12)
    wide = smoothing(Die((1.0, 1.0, 1.0), 100), epsilon=1.0, delta=1e-5)
    assert float(wide.certified) == pytest.approx(math.log1p(1 / (2 * math.log(2 * 5151 / 1e-5))))
    assert wide.certified < wide.printed


def test_lemma_2_1_sliding_fails_for_one_throw():
    """[Notes] Lemma 2.1: Pr = .3775, right-hand side delta/2 (report)."""
    example = counterexample_lemma_2_1()
    assert example.truth == pytest.approx(math.exp(-0.5) / (1 + math.exp(-0.5)))
    assert example.truth == pytest.approx(0.3775, abs=5e-5)
    assert example.printed == pytest.approx(5e-6)
    assert example.refutes


def test_lemma_2_1_sliding_holds_for_weights():
    """[Notes] Lemma 2.1."""
    bound = sliding(1.0, shift=[-1.0, 0.3, 1.0])
    assert bound.applies
    assert np.all(bound.certified <= bound.printed * (1 + 1e-12))
    assert not sliding(1.0, shift=1.5).applies


def test_lemma_2_2_dilation_fails_for_one_throw_and_its_event_needs_all_candidates():
    """[Notes] Lemma 2.2: for m = 3, n = 100 the printed event is 51 times too rare (report)."""
    assert counterexample_lemma_2_2().refutes
    die = Die((1.0, 1.0, 1.0), 100)
    bound = dilation(die, epsilon=1.0, rate=[0.02])
    assert bound.certified[0] / bound.printed[0] == pytest.approx(51)
    beta = smoothing(die, epsilon=1.0, delta=1e-5)
    assert float(dilation(die, epsilon=1.0, rate=float(beta.certified)).certified) == pytest.approx(5e-6)
    assert float(dilation(die, epsilon=1.0, rate=float(beta.printed)).certified) > 5e-6


def test_lemma_2_2_event_is_no_likelier_than_certified():
    """[Notes] Lemma 2.2: P[H > S/(e^lambda - 1)] over all tables of a die."""
    epsilon = 3.0
    table = all_distances(DIE)
    for rate in (0.3, 0.6, 1.0):
        law = np.exp(log_pmf(table, epsilon=epsilon, sensitivity=DIE.local_sensitivities))
        far = table > DIE.local_sensitivities[:, None] / math.expm1(rate)
        assert (law * far).sum(axis=1).max() <= float(dilation(DIE, epsilon=epsilon, rate=rate).certified)


def test_section_3_2_the_baseline_is_one_of_two_laplace_mechanisms():
    """[Notes] Section 3.2: noise on one count of a coin and noise on both have other privacy curves."""
    die, gap = Die((1.0, 1.0), 200), 0.35  # (1 - 0.3) / 2
    one, both = (
        float(audit(kind(die=die, epsilon=1.0), n=200, epsilons=[0.3]).curve.deltas[0])
        for kind in (LaplaceOne, LaplaceCells)
    )
    assert one == pytest.approx(1 - math.exp(-gap), rel=1e-6)
    assert both == pytest.approx(1 - math.exp(-gap) * (1 + gap / 2), rel=1e-6)


def test_impossible_arguments_are_refused():
    with pytest.raises(InputError):
        global_mechanism(Die((1.0, 1.0), 5000), epsilon=1.0)
