"""The Audit page: its numbers are the core's, refutations are seen, and the recipient sees nothing of the data."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.audit.registry import audit
from dpbayes.audit.regression import bad_tables
from dpbayes.base.looks import INVALID
from dpbayes.base.randomness import stream
from dpbayes.figures.audit import LEAST_DELTA
from dpbayes.mechanisms import OF_RECORDS, Calibration, LaplaceFourier, LaplaceUpdates, Noise, PosteriorSampler
from dpbayes.mechanisms.die.hellinger import HellingerLocal, HellingerSmooth
from dpbayes.mechanisms.map.printed import PrintedMap
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.counts import Counts, count
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.hellinger import Die
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.ui.pages.audit.page import REFUTED_CASES
from dpbayes.ui.session.link import query_of, settings_from
from dpbayes.ui.session.options.workflow import AuditSubject
from dpbayes.ui.session.settings import Seat
from tests.conftest import crossed, thorough
from tests.pages.conftest import (
    everything,
    figures,
    fine,
    headline,
    one_sentence,
    open_page,
    plain,
    press,
    sentences,
    settings_of,
    stop_after_a_step,
    stopped_at_the_second_picture,
)

PAGE = "pages/audit.py"
SAMPLER, LOCAL, DENSITY = REFUTED_CASES
DICE = {
    AuditSubject.HellingerGlobal,
    AuditSubject.HellingerLocal,
    AuditSubject.HellingerSmooth,
    AuditSubject.LaplaceCells,
    AuditSubject.LaplaceOne,
}


def opened(subject: AuditSubject, **query: str) -> AppTest:
    return open_page(PAGE, **{"audit.subject": subject.value, **query})


def numbers(at: AppTest) -> list[str]:
    return [m.value for m in at.metric]


def reds(at: AppTest) -> list[str]:
    """Return what the metrics say in colour, and the red traces of the curve."""
    curve = figures(at)["audit.curve"]["data"]
    return [m.delta for m in at.metric if m.delta] + [t["name"] for t in curve if t["line"]["color"] == INVALID]


def asia() -> tuple[Any, Any, Counts]:
    network, cpts = load_named("asia")
    data = sample_dataset(network, cpts, 1000, stream(1, "records"))
    return network, data, count(network, data)


# Every subject, both seats

WITH_AN_AUDIT = [subject for subject in AuditSubject if subject not in {AuditSubject[k.__name__] for k in OF_RECORDS}]
"""All subjects but those whose worst case is not known: an adaptive release has no curve and no worst pair."""


@pytest.mark.parametrize(("subject", "seat"), crossed(WITH_AN_AUDIT, list(Seat), times=1))
def test_every_subject_has_its_numbers_curve_and_worst_pair_in_both_seats(subject: AuditSubject, seat: Seat) -> None:
    at = opened(subject, seat=seat.value)
    assert not sentences(at)
    assert [m.label for m in at.metric][:2] == ["Stated", "Proved"]
    shown = set(figures(at))
    assert "audit.curve" in shown
    assert "First table" in everything(at)
    assert ("laws" in str(shown) or "rows" in str(shown)) is (subject is not AuditSubject.MapExponential)


@pytest.mark.parametrize("subject", [AuditSubject.PosteriorSampler, AuditSubject.HellingerSmooth])
def test_an_audit_is_the_same_in_both_seats(subject: AuditSubject) -> None:
    curator, recipient = (opened(subject, seat=seat.value) for seat in Seat)
    assert headline(curator) == headline(recipient)
    assert numbers(curator) == numbers(recipient)
    public = set(figures(curator))
    assert all(figures(curator)[key] == figures(recipient)[key] for key in public)


# The numbers are the core's


def test_laplace_is_tight_and_its_curve_the_cores() -> None:
    at = open_page(PAGE)
    network, _, _ = asia()
    mechanism = LaplaceUpdates(prior=Dirichlets.symmetric(network), epsilon=1.0)
    assert headline(at) == "Laplace: the claim ε = 1 holds and is tight."
    assert "Worst-case privacy loss of tables of 1,000 records for the Asia network." in everything(at)
    assert numbers(at) == ["ε = 1", "ε = 1", "ε = 1"]
    assert not reds(at)
    drawn = next(t for t in figures(at)["audit.curve"]["data"] if t["name"] == "exact")
    report = audit(mechanism, n=1000, epsilons=np.array(drawn["x"]))
    assert drawn["y"] == pytest.approx(np.maximum(report.curve.deltas, LEAST_DELTA), rel=1e-9)
    assert 1.0 in drawn["x"]


def test_the_smooth_mechanism_shows_claim_proof_and_loss_at_its_delta() -> None:
    at = opened(AuditSubject.HellingerSmooth, **{"audit.delta": "0.001", "audit.n": "50", "epsilon": "2"})
    mechanism = HellingerSmooth(die=Die((1.0, 1.0), 50), epsilon=2.0, delta=1e-3)
    report = audit(mechanism, n=50, epsilons=[])
    assert numbers(at) == ["ε = 2, δ = 0.001", "ε = 3, δ = 0.0005", f"ε = {report.needed:.4g}, δ = 0.001"]
    assert f"At δ = 0 the worst-case privacy loss is ε = {report.exact:.4g}." in plain(everything(at))
    assert "the claim ε = 2, δ = 0.001 holds with" in plain(headline(at))
    points = {t["name"].partition(":")[0]: (t["x"][0], t["y"][0]) for t in figures(at)["audit.curve"]["data"]}
    assert points["stated"] == (2, 1e-3)
    assert points["proved"] == (3, 5e-4)


def test_the_worst_laws_are_the_mechanisms_own() -> None:
    at = opened(AuditSubject.HellingerLocal, **{"audit.prior": "0.1", "audit.n": "20"})
    mechanism = HellingerLocal(die=Die((0.1, 0.1), 20), epsilon=1.0)
    text = plain(everything(at))
    assert "First table:** 2, 18" in text
    laws = {t["name"]: t["y"] for t in figures(at)["audit.laws"]["data"]}
    first, second = (np.exp(mechanism.log_pmf(np.array(x))) for x in ((2, 18), (1, 19)))
    assert laws["first table"] == pytest.approx(first)
    assert laws["second table"] == pytest.approx(second)
    assert laws["privacy loss"] == pytest.approx(np.log(first / second))


def test_the_rows_of_the_samplers_worst_pair_add_up_to_its_loss() -> None:
    at = opened(AuditSubject.PosteriorSampler)
    network, _, _ = asia()
    mechanism = PosteriorSampler(prior=Dirichlets.symmetric(network), epsilon=1.0)
    report = audit(mechanism, n=1000, epsilons=[])
    bars = figures(at)["audit.rows"]["data"][0]["x"]
    assert sum(bars) == pytest.approx(report.at_least)
    assert bars == sorted(bars, reverse=True)
    assert f"ε ≤ {report.exact:.4g}" in numbers(at)


def test_only_the_number_of_records_counts_not_the_records() -> None:
    one, other = (open_page(PAGE, data_seed=str(seed)) for seed in (1, 2))
    assert figures(one)["audit.curve"] == figures(other)["audit.curve"]
    assert "tables of 50 records for the Asia network" in everything(open_page(PAGE, records="50"))
    assert "for a network of 5 nodes" in everything(open_page(PAGE, data="synthetic", source="bayes:4"))


@pytest.mark.parametrize("features", thorough([1, 2, 7], sample=[1, 7]))
def test_the_regression_sampler_shows_claim_proof_and_worst_pair(features: int) -> None:
    query = {"audit.n": "50", "audit.features": str(features), "audit.variance": "2", "audit.draws": "3"}
    at = opened(AuditSubject.RegressionSampler, **query)
    mechanism = RegressionSampler(prior_precision=1.0, noise_variance=2.0, draws=3)
    report = audit(mechanism, n=50, features=features, epsilons=[])
    assert numbers(at) == [f"ε = {report.claimed.epsilon:.4g}", "ε = 6", "ε ≤ 6"]
    assert f"tables of 50 scaled records with {features} feature" in everything(at)
    assert headline(at).endswith(" holds.")
    assert f"neighbouring tables has a privacy loss of {report.at_least:.4g}" in plain(everything(at))
    pair = bad_tables(mechanism, n=50, features=features)
    assert f"First table:** {pair.descriptions[0]}" in plain(everything(at))
    loss = next(t["y"] for t in figures(at)["audit.laws"]["data"] if t["name"] == "privacy loss")
    assert max(loss) == pytest.approx(pair.loss, rel=1e-3)
    curve = {t["name"]: t for t in figures(at)["audit.curve"]["data"]}
    assert any("off the chart" in name for name in curve)
    assert max(curve["bounds"]["x"]) == pytest.approx(1.15 * 6)


# Known cases


def test_the_printed_sampler_is_refuted() -> None:
    at = press(open_page(PAGE), SAMPLER)
    network, _, _ = asia()
    mechanism = PosteriorSampler(prior=Dirichlets.symmetric(network), epsilon=2.0, calibration=Calibration.AS_PRINTED)
    report = audit(mechanism, n=1000, epsilons=[])
    assert headline(at) == (
        "Posterior sampling as stated in the paper: the claim ε = 2 is refuted. "
        f"The worst-case privacy loss is at least {report.at_least:.4g}."
    )
    assert report.at_least > 7
    assert reds(at) == [f"{report.at_least - 2:.4g} above the claim", "above the claim", "stated"]


def test_the_density_scored_map_is_refuted() -> None:
    at = press(open_page(PAGE), DENSITY)
    report = audit(PrintedMap(prior=(1, 1), n=50, epsilon=1.0, omega=0.1), n=50, epsilons=[])
    assert headline(at).endswith(f"the claim ε = 1 is refuted. The worst-case privacy loss is {report.exact:.4g}.")
    assert numbers(at) == ["ε = 1", "none", f"ε = {report.exact:.4g}"]
    assert len(reds(at)) == 3


def test_local_sensitivity_loses_more_than_it_is_run_at() -> None:
    at = press(open_page(PAGE), LOCAL)
    assert headline(at) == (
        "The Hellinger mechanism with local sensitivity states no guarantee. "
        "At ε = 1 the worst-case privacy loss is 1.021."
    )
    assert numbers(at) == ["none", "none", "ε = 1.021"]
    assert reds(at)[0] == "0.02103 above the ε setting"
    fine(at.select_slider(key="parameter.audit.prior").set_value(1.0).run())
    assert not reds(at)


@pytest.mark.parametrize("case", list(REFUTED_CASES))
def test_a_known_case_travels_in_the_link(case: str) -> None:
    at = press(open_page(PAGE), case)
    query = query_of(settings_of(at))
    assert settings_from(query) == (settings_of(at), ())
    assert headline(open_page(PAGE, **query)) == headline(at)


def test_a_large_die_is_audited_in_steps_that_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.audit.die.hellinger.AT_ONCE", 50)
    seen = stopped_at_the_second_picture(monkeypatch)
    at = opened(AuditSubject.HellingerLocal, **{"audit.prior": "0.1", "audit.n": "100"})
    assert seen == [[1], [2]]
    assert [p.proto.text.startswith("Stopped after") for p in at.get("progress")] == [True]
    assert "Auditing 101 tables" in everything(at)
    assert "audit.curve" not in figures(at)
    press(at, "Continue")
    mechanism = HellingerLocal(die=Die((0.1, 0.1), 100), epsilon=1.0)
    assert numbers(at)[2] == f"ε = {audit(mechanism, n=100, epsilons=[]).exact:.4g}"
    assert not at.get("progress")
    assert not [button for button in at.button if button.label in ("Continue", "Stop")]


# Refusals


@pytest.mark.parametrize(
    ("query", "part", "shown"),
    [
        (
            {"audit.subject": AuditSubject.HellingerGlobal.value, "audit.n": "3000"},
            "fewer",
            "throws or records = 2,999",
        ),
        ({"audit.subject": AuditSubject.HellingerLocal.value, "audit.sides": "6"}, "fewer", "throws or records = 9"),
        (
            {"audit.subject": AuditSubject.HellingerGlobal.value, "audit.n": "3000", "audit.sides": "6"},
            "at most 3,000 can be listed here. Use at most 9 throws",
            "throws or records = 9",
        ),
        ({"audit.subject": AuditSubject.LaplaceOne.value, "audit.sides": "3"}, "determines two sides", "sides = 2"),
    ],
)
def test_more_than_can_be_audited_is_one_sentence_and_the_nearest_is_shown(
    query: dict[str, str], part: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_after_a_step()
    at = open_page(PAGE, **query)
    one_sentence(at, part)
    assert f"The page shows the nearest possible setting: {shown}." in sentences(at)[0]
    auditing = any(m.value.startswith("Auditing ") for m in at.markdown)
    assert auditing or "audit.curve" in figures(at)


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"audit.subject": AuditSubject.LaplaceFourier.value, "source": "alarm"}, "binary"),
        (
            {"audit.subject": AuditSubject.PosteriorSampler.value, "calibration": "as printed", "epsilon": "1"},
            "above 1.386",
        ),
    ],
)
def test_what_cannot_be_audited_is_one_sentence_and_the_rest_stays(query: dict[str, str], part: str) -> None:
    at = open_page(PAGE, **query)
    one_sentence(at, part)
    fine(at.selectbox(key="parameter.audit.subject").set_value(AuditSubject.HellingerSmooth).run())
    fine(at.select_slider(key="parameter.audit.n").set_value(20).run())
    assert not sentences(at)
    assert "audit.curve" in figures(at)


def test_a_hostile_link_opens_with_a_sentence() -> None:
    at = open_page(PAGE, **{"audit.subject": "<b>", "audit.n": "-1"})
    assert "Laplace: the claim" in headline(at)
    assert not at.exception


@pytest.mark.parametrize(
    "query",
    [
        {"audit.subject": s.value, "audit.n": "1", "audit.prior": "0.001", "epsilon": e}
        for s in DICE | {AuditSubject.PrintedMap}
        for e in ("0.001", "1000")
    ],
)
def test_the_edges_have_pictures(query: dict[str, str]) -> None:
    at = open_page(PAGE, **query)
    assert all("between" not in text or "epsilon" in text for text in sentences(at))
    assert "audit.curve" in figures(at)
    assert "nan" not in headline(at)


def test_the_formulas_and_their_assumptions_are_there() -> None:
    text = everything(open_page(PAGE))
    assert r"\delta(1) = 0$" in text
    assert "Mironov" in text
    assert "✓ &nbsp;Neighbours" in text
    assert "✗ &nbsp;The mechanism is sampled exactly" in text
    assert "✗ &nbsp;The guarantee is proved for every n and prior" in everything(opened(AuditSubject.HellingerLocal))


@pytest.mark.parametrize("kind", ["LaplaceUpdates", "LaplaceFourier"])
def test_whole_numbers_are_audited_by_their_own_law(kind: str) -> None:
    at = open_page(PAGE, mechanism=kind, noise="whole numbers", data="synthetic", records="50")
    network = load_named("asia")[0]
    laws = {"LaplaceUpdates": LaplaceUpdates, "LaplaceFourier": LaplaceFourier}
    whole = laws[kind](prior=network, epsilon=1.0, noise=Noise.WHOLE)
    curve = next(t for t in figures(at)["audit.curve"]["data"] if t["name"] == "exact")
    report = audit(whole, n=50, epsilons=curve["x"])
    assert curve["y"] == pytest.approx(np.maximum(report.curve.deltas, LEAST_DELTA))
    real = audit(replace(whole, noise=Noise.REAL), n=50, epsilons=curve["x"])
    assert curve["y"] != pytest.approx(np.maximum(real.curve.deltas, LEAST_DELTA))
    assert numbers(at)[0] == f"ε = {report.claimed.epsilon:g}"
    laws_shown = figures(at)["audit.laws"]
    assert laws_shown["layout"]["yaxis"]["title"]["text"] == "probability"
    assert all(place.lstrip("-").isdigit() for place in laws_shown["data"][0]["x"])
    assert r"\mathrm{Lap}_{\mathbb{Z}}" in everything(at)


def test_gaussian_noise_has_a_promise_at_every_delta_but_none_at_zero() -> None:
    shown = {metric.label: metric.value for metric in opened(AuditSubject.GaussianUpdates).metric}
    assert shown["Measured"] == f"{shown['Stated']}"
