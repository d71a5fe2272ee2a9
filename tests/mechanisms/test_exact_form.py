"""The noise is the law that is stated, at a scale that OpenDP confirms, of whole numbers.

OpenDP draws from the operating system: no seed can be fixed. Each test by draws says how improbable a false alarm is.
"""

import itertools
import json
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import special, stats

from dpbayes.audit.loss.tables import all_tables
from dpbayes.base.amounts import number_of
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import RELEASABLE
from dpbayes.mechanisms.exact_form import (
    DISCRETE_GAUSSIAN,
    DISCRETE_LAPLACE,
    GUMBEL_MAXIMUM,
    Calibrated,
    ExactNoise,
    calibrated,
    gumbel_choices,
    root_above,
    with_noise,
)
from dpbayes.mechanisms.map import UNIT, cell_scores
from dpbayes.mechanisms.map_scores import cell_masses, node_sensitivities
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions
from tests.releases.asking import counted, drawn, no_noise, replace_draw, request_of
from tests.strategies import DIAMOND, V_STRUCTURE, networks

EPSILONS = st.integers(10**9, 10**15).map(lambda digits: Fraction(digits, 10**12))
FALSE_ALARM = 1e-9
TERNARY = Network.from_edges("ab", ["ab"], {"a": ["x", "y", "z"]})


# Calibration


def calibration_of(law: ExactNoise, sensitivity: int, promised: Fraction) -> Calibrated:
    least, most = law.least_scale(sensitivity, promised), law.allowed(promised)
    return calibrated(lambda scale: law.answer(sensitivity, scale), least=least, most=most)


RHOS = st.integers(10**8, 10**17).map(lambda digits: Fraction(digits, 10**15))


@pytest.mark.parametrize(
    ("law", "sensitivities", "promises"),
    [
        (DISCRETE_LAPLACE, st.integers(1, 10**6), EPSILONS),
        (GUMBEL_MAXIMUM, st.integers(2**30, 2**42), EPSILONS),
        (DISCRETE_GAUSSIAN, st.integers(1, 10**6), RHOS),
    ],
)
@given(st.data())
def test_opendp_answers_at_most_what_is_promised_read_as_an_exact_fraction(law, sensitivities, promises, data):
    """Of a Gumbel maximum, a rho of at most the range of the exponential mechanism's loss."""
    sensitivity, promised = data.draw(sensitivities), data.draw(promises)
    calibration = calibration_of(law, sensitivity, promised)
    assert Fraction(law.answer(sensitivity, float(calibration.scale))) == calibration.answer <= law.allowed(promised)
    least = law.least_scale(sensitivity, promised)
    assert least <= calibration.scale <= least * (1 + Fraction(1, 2**44))
    assert promised * (1 - Fraction(1, 2**44)) <= law.loss(sensitivity, calibration.scale) <= promised


def test_the_loss_at_a_scale_is_that_of_the_theorem():
    assert DISCRETE_LAPLACE.loss(16, Fraction(160)) == Fraction(1, 10)
    assert DISCRETE_GAUSSIAN.loss(16, Fraction(4)) == Fraction(1, 2)
    assert GUMBEL_MAXIMUM.loss(16, Fraction(160)) == Fraction(1, 5)
    assert GUMBEL_MAXIMUM.allowed(Fraction(1, 5)) == Fraction(1, 200)


def test_the_double_of_a_typed_epsilon_would_be_too_much():
    """0.1 as a double is more than 1/10: rounding to the nearest scale would promise less than was asked for."""
    assert Fraction(DISCRETE_LAPLACE.answer(16, 160.0)) > Fraction(1, 10)
    assert calibration_of(DISCRETE_LAPLACE, 16, Fraction(1, 10)).scale > 160


@pytest.mark.parametrize("answer", [0.2, math.inf, math.nan])
def test_nothing_is_drawn_where_the_map_says_more(monkeypatch, answer):
    with pytest.raises(InputError, match="no noise was sampled"):
        calibrated(lambda scale: answer, least=Fraction(160), most=Fraction(1, 10))


@pytest.mark.parametrize(
    ("law", "least", "most"),
    [(DISCRETE_LAPLACE, Fraction(160), Fraction(1, 10)), (DISCRETE_GAUSSIAN, Fraction(4), Fraction(1, 2))],
)
def test_a_wrong_sensitivity_would_not_be_confirmed(law, least, most):
    with pytest.raises(InputError, match="does not confirm"):
        calibrated(lambda scale: law.answer(17, scale), least=least, most=most)


@example(Fraction(2))  # without a rest: only the root's own square tells that it was rounded
@given(st.fractions(min_value=Fraction(1, 10**9), max_value=10**12, max_denominator=10**12))
def test_a_root_is_rounded_up(square):
    root = root_above(square)
    assert square <= root**2 <= square * (1 + Fraction(1, 2**58))
    assert root_above(square**2) == square or root_above(square**2) > square


def test_opendp_is_imported_without_the_libraries_of_its_prelude():
    imports = "import sys; from dpbayes.mechanisms.exact_form import opendp; opendp().m.make_laplace"
    said = "print(sorted({'sklearn', 'polars'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", f"{imports}; {said}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# The laws


@pytest.mark.parametrize(("law", "scale"), [(DISCRETE_GAUSSIAN, 3.0), (DISCRETE_LAPLACE, 8.0)])
def test_the_noise_is_of_the_stated_law_and_scale(law, scale):
    """50,000 values: a chi-square test that is wrong once in 1e9, and that a scale 10% off fails."""
    zeros = np.zeros(50_000, dtype=np.int64)
    values = np.array(with_noise(law, zeros, [scale] * len(zeros)))
    assert _misfit(values, law, scale) > FALSE_ALARM
    assert _misfit(values, law, 1.1 * scale) < FALSE_ALARM
    assert _misfit(values + 1, law, scale) < FALSE_ALARM


def _misfit(values, law, scale):
    places = np.arange(-400, 401)
    chances = np.exp(-np.abs(places) / scale if law is DISCRETE_LAPLACE else -(places**2) / (2 * scale**2))
    chances /= chances.sum()
    inner = np.abs(places) <= (40 if law is DISCRETE_LAPLACE else 9)
    counts = [np.sum(values == z) for z in places[inner]]
    expected = len(values) * np.array([*chances[inner], chances[~inner].sum()])
    return stats.chisquare([*counts, len(values) - sum(counts)], expected).pvalue


@pytest.mark.parametrize("values", [np.array([2**62 + 1]), np.array([-(2**62) - 1]), np.array([0.5])])
def test_numbers_that_opendps_integers_cannot_hold_are_refused(values):
    with pytest.raises(InputError, match="too large"):
        with_noise(DISCRETE_LAPLACE, values, [1.0])


# The noisy maximum


def _law(request, counts):
    """P[cell] of every decision, from the whole scores: (decisions, cells)."""
    number, cells = request.entry.length(request), int(request.settings["cells"])
    scale = request.calibrated.scale
    law = np.zeros((number, cells))
    for row, (places, scores) in zip(law, cell_scores(request, counts, scale)(slice(0, number)), strict=True):
        row[places] = special.softmax((scores - scores.max()) / float(scale))
    return law


@pytest.mark.parametrize("prior", ["1", "0.3", "20"])
def test_the_scores_have_the_law_that_is_simulated(prior):
    request = request_of(mechanism="map", prior=(prior,), settings={"cells": "7"})
    counts = counted()
    simulated = np.exp(request.entry.simulated(request).log_pmf(counts.values))
    np.testing.assert_allclose(_law(request, counts.values), simulated, rtol=1e-6)


def test_cells_that_the_prior_excludes_are_never_chosen():
    network = Network.from_edges("a", [])
    request = request_of(network, mechanism="map", prior=("1000000", "0.001"), settings={"cells": "10"}, n=3)
    law = _law(request, np.array([3, 0]))
    assert law[0, 0] == 0
    (place,) = request.entry.draw(request, np.array([3, 0]), request.calibrated.scale)
    assert law[0, place] > 0


def test_the_choice_is_the_exponential_mechanisms_and_not_permute_and_flips():
    """4,000 choices: a chi-square test that is wrong once in 1e9; the other law of OpenDP 0.16 fails it."""
    scores = np.array([0, 1, 2], dtype=np.int64)
    places = gumbel_choices(lambda block: [(np.arange(3), scores)] * (block.stop - block.start), 4000, Fraction(1))
    counts = np.array([Counter(places)[g] for g in range(3)])
    assert stats.chisquare(counts, 4000 * special.softmax(scores)).pvalue > FALSE_ALARM
    assert stats.chisquare(counts, 4000 * _permute_and_flip(scores)).pvalue < FALSE_ALARM


def _permute_and_flip(scores):
    """The law of the largest of scores with exponential noise, by the number of those that are passed over before."""
    law, accepted = np.zeros(len(scores)), np.exp((scores - scores.max()).astype(float))
    for flips in product((True, False), repeat=len(scores)):
        chance = np.prod(np.where(flips, accepted, 1 - accepted))
        law += chance * np.array(flips) / sum(flips) if any(flips) else 0
    return law


@pytest.mark.parametrize("network", [V_STRUCTURE, Network.from_edges("ab", ["ab"], {"a": ["x", "y", "z"]})])
@pytest.mark.parametrize("prior", ["1", "0.4"])
def test_one_record_moves_the_whole_scores_by_no_more_than_their_sensitivity(network, prior):
    request = request_of(network, mechanism="map", prior=(prior,), settings={"cells": "5"}, n=2)
    tables = all_tables(network, n=2)
    laws = np.array([_law(request, counts) for counts in tables.counts])
    scored = np.array(
        [
            [scores for _, scores in cell_scores(request, counts, Fraction(UNIT))(slice(0, laws.shape[1]))]
            for counts in tables.counts
        ]
    )
    x, y = np.array(tables.pairs).T
    moved = np.abs(scored[x] - scored[y]).max(axis=-1).sum(axis=-1).max()
    assert 0.5 * request.sensitivity.value < moved <= request.sensitivity.value
    lost = np.log(laws[x] / laws[y]).max(axis=-1).sum(axis=-1).max()
    assert 0 < lost <= float(request.epsilon)


@pytest.mark.parametrize("prior", ["1", "1000000000"])
def test_the_sensitivity_of_scores_has_room_for_rounding_and_for_the_error_of_the_masses(prior):
    """Rounding moves the difference of two scores by one, and errors of 1e-10 move it by 2e-10 units of mass."""
    request = request_of(mechanism="map", prior=(prior,))
    touched = 2 * int(Decisions(request.network).depths.sum())
    moved = float(node_sensitivities(request.dirichlets).sum())
    assert request.sensitivity.value >= UNIT * moved + touched * (1 + 2e-10 * UNIT)


@given(networks(most_nodes=4))
def test_every_entry_is_calibrated_to_its_own_sensitivity(network):
    for key, entry in RELEASABLE.items():
        request = request_of(network, mechanism=key)
        calibration, promised = request.calibrated, number_of(request.cost)
        assert calibration.answer <= entry.noise.allowed(promised)
        loss = entry.noise.loss(request.sensitivity.value, calibration.scale)
        assert promised * (1 - Fraction(1, 2**40)) <= loss <= promised


@pytest.mark.parametrize("key", RELEASABLE)
def test_the_mechanism_that_is_audited_has_the_guarantee_and_the_noise_of_the_release(key: str) -> None:
    request = request_of(V_STRUCTURE, mechanism=key)
    mechanism, promised = request.entry.simulated(request), float(number_of(request.cost))
    proved = mechanism.certified
    assert (proved.rho if proved.delta else proved.epsilon) == pytest.approx(promised, rel=1e-6)
    if hasattr(mechanism, "noise_scale"):
        law = mechanism.noise_law
        assert law.scale == pytest.approx(float(request.calibrated.scale), rel=1e-6)
        numbers = law.drawn(np.random.default_rng(1), (100,))
        assert np.array_equal(numbers, np.rint(numbers))
    assert set(request.settings) == {name for name in ("t", "cells") if hasattr(mechanism, name)}
    assert all(getattr(mechanism, name) == float(value) for name, value in request.settings.items())


@pytest.mark.parametrize(
    ("mechanism", "network"),
    [
        *product(["laplace", "consistent", "fourier", "gaussian"], [V_STRUCTURE, DIAMOND]),
        *product(["laplace", "consistent", "gaussian"], [TERNARY]),
    ],
)
def test_one_record_moves_what_is_noisy_by_the_sensitivity_and_no_more(monkeypatch, mechanism, network):
    """Over all neighbours, of what noise is really added to, at the scale: in L1, or in squares for Gaussian noise."""
    used: list[Sequence[float]] = []
    replace_draw(monkeypatch, lambda values, scales: used.append(scales) or no_noise(values, scales))
    request, tables = request_of(network, mechanism=mechanism, n=1), all_tables(network, n=1)
    scale = request.calibrated.scale
    documents = [json.loads(drawn(request, Counts(network, counts, 1))) for counts in tables.counts]
    released = np.array([document["integers"] for document in documents])
    assert np.array_equal(used, np.full(released.shape, float(scale)))
    x, y = np.array(tables.pairs).T
    moves = np.abs(released[x] - released[y]) ** (2 if mechanism == "gaussian" else 1)
    moved = int(moves.sum(axis=-1).max())
    assert moved == request.sensitivity.value
    assert (moved / (2 * scale**2) if mechanism == "gaussian" else moved / scale) <= number_of(request.cost)


def test_the_masses_are_as_exact_as_the_sensitivity_takes_them_to_be():
    """Of the cells about the mean, against a series in 30 digits: the error stays below 1e-10."""
    cells, sizes = 20, ((0.3, 0.7), (0.001, 2.0), (1.0, 300.0), (7.5, 7.5), (2000.3, 500.0), (20_000.3, 20_000.0))
    with mpmath.workdps(30):
        for a, b in sizes:
            masses, place = cell_masses(a, b, cells=cells), int(a / (a + b) * cells)
            for g in {max(place - 1, 0), min(place, cells - 1), min(place + 1, cells - 1)}:
                exact = _distribution(a, b, mpmath.mpf(g + 1) / cells) - _distribution(a, b, mpmath.mpf(g) / cells)
                assert abs(exact - masses[g]) < 1e-10, (a, b, cells, g)


def _distribution(a, b, x):
    """The distribution function of Beta(a, b), by the series of the side on which it converges fast."""
    if x <= 0 or x >= 1:
        return mpmath.mpf(int(x >= 1))
    return _series(a, b, x) if x <= a / mpmath.mpf(a + b) else 1 - _series(b, a, 1 - x)


def _series(a, b, x):
    log_beta = mpmath.loggamma(a) + mpmath.loggamma(b) - mpmath.loggamma(a + b)
    term = total = mpmath.mpf(1)
    for k in itertools.count():
        term *= (a + b + k) / mpmath.mpf(a + 1 + k) * x
        total += term
        if term < mpmath.mpf(10) ** -20 * total:
            return mpmath.exp(a * mpmath.log(x) + b * mpmath.log1p(-x) - log_beta) * total / a
