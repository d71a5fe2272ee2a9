"""The adaptive release on Explore, on Audit and beside them: pictures, refusals, and what the recipient sees."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpbayes as dp
from dpbayes.audit.adaptive import LEAST_DRAWS
from dpbayes.base.randomness import stream
from dpbayes.experiments.releases import ReleaseStudy, study_release
from dpbayes.mechanisms import AdaptiveTables
from dpbayes.ui.pages.audit import outputs
from dpbayes.ui.pages.explore.files import release_json
from dpbayes.ui.session.chosen import Chosen
from tests.conftest import thorough
from tests.pages.conftest import (
    captions,
    figures,
    fine,
    headline,
    metrics,
    one_sentence,
    open_page,
    press,
    put,
    sentences,
    settings_of,
    stop_after_a_step,
    unfold,
)
from tests.wire import MARKS

PAGE, AUDIT = "pages/explore.py", "pages/audit.py"
QUERY = {"mechanism": "AdaptiveTables", "source": "sprinkler", "records": "300"}


def explored(**query: str) -> AppTest:
    return open_page(PAGE, **QUERY, **query)


def studied(at: AppTest, releases: int) -> ReleaseStudy:
    chosen = Chosen(settings_of(at))
    mechanism = AdaptiveTables(prior=chosen.prior, epsilon=chosen.epsilon)
    statistic = mechanism.statistic(chosen.dataset)
    return study_release(mechanism, statistic, stream(chosen.seed, "release", "AdaptiveTables"), releases)


# Explore


def test_explore_shows_the_releases_beside_the_exact_posterior_and_moves_with_epsilon() -> None:
    at = explored()
    study = studied(at, 5)
    assert f"an adaptive release has a mean absolute error of {study.shift.mean():.2g}" in headline(at)
    ticks, own, exact = figures(at)["density"]["data"]
    assert exact["name"].startswith("exact")
    assert sum(ticks["y"]) == pytest.approx(1)
    assert "Averages are over 5 releases. Not private (curator view)." in captions(at)
    before = figures(at)
    put(at, "box.epsilon", "10")
    after = figures(at)
    assert before["density"]["data"][1] != after["density"]["data"][1] != own["name"]
    assert before["explore.divergence"]["layout"] != after["explore.divergence"]["layout"]
    assert f"{studied(at, 5).shift.mean():.2g}" in headline(at)
    assert not sentences(at)


def test_the_other_pictures_state_what_there_is_not() -> None:
    at = explored()
    texts = captions(at)
    assert any(text.endswith("nats (no bound is proved).") for text in texts)
    assert "Adaptive releases probabilities, not counts: no count can be negative." in texts
    assert any("Compare mechanisms* shows the error of their tables" in text for text in texts)
    assert {"explore.counts", "explore.accuracy"}.isdisjoint(figures(at))
    curve = figures(at)["explore.divergence"]["data"]
    assert max(len(trace["x"]) for trace in curve) >= 11


def test_the_first_release_is_shown_at_once_and_the_others_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after_a_step()
    at = explored()
    assert "Averages are over 1 release. Not private (curator view)." in captions(at)
    assert f"{studied(at, 1).shift.mean():.2g}" in headline(at)
    fine(at.run())
    assert f"{studied(at, 2).shift.mean():.2g}" in headline(at)
    assert "Averages are over 2 releases. Not private (curator view)." in captions(at)


@pytest.mark.usefixtures("first_look")
def test_a_large_table_is_simulated_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.explore.simulations.WITHOUT_BUTTON", 100)
    at = explored()
    assert "density" not in figures(at)
    assert not sentences(at)
    at = press(at, "Simulate the release")
    assert "density" in figures(at)
    assert "an adaptive release has a mean absolute error" in headline(at)


def test_the_comparison_leaves_out_a_release_that_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.explore.simulations.WITHOUT_BUTTON", 100)
    at = unfold(open_page(PAGE, source="sprinkler", records="300"), "comparison")
    one_sentence(at, "The adaptive release of this table takes too long for this comparison.")


def test_the_picture_against_epsilon_is_left_out_for_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpbayes.ui.pages.explore.board.MOST_RECORD_VALUES", 100)
    at = explored()
    assert "explore.divergence" not in figures(at)
    assert "A release of this size is simulated at one ε only; the picture against ε is left out." in captions(at)


def test_a_question_is_answered_by_the_released_models() -> None:
    at = explored(target="rain", evidence="wet~yes", epsilon="10")
    _, private = studied(at, 5).query("rain", {"wet": "yes"})
    (frame,) = (own.value for own in at.dataframe if "private" in own.value.columns)
    np.testing.assert_allclose(frame["private"], private[0])


def test_the_code_of_the_page_gives_its_number_and_the_file_has_the_released_probabilities() -> None:
    at, printed = explored(), list[Any]()
    (python,) = [block.value for block in at.code if block.language == "python"]
    exec(python, {"print": printed.append})
    assert printed == [pytest.approx(studied(at, 5).shift.mean())]
    release, network = studied(at, 1).release.part(0), Chosen(settings_of(at)).network
    content = json.loads(release_json(release, network))
    assert [value for row in content["rows"] for value in row["probabilities"]] == release.numbers.tolist()
    assert content["guarantee"]["delta"] == 1e-5


@pytest.mark.parametrize(("query", "part"), [({"records": "0"}, "needs 1 to"), ({"data": "upload"}, "upload")])
def test_what_cannot_be_released_is_one_sentence(query: dict[str, str], part: str) -> None:
    at = open_page(PAGE, **{**QUERY, **query})
    one_sentence(at, part)


@pytest.mark.usefixtures("first_look")
def test_a_real_release_is_made_on_network(path: Path) -> None:
    at = unfold(explored(), "make")
    assert any("made on Network" in text.value for text in at.markdown)
    assert not any("Make release" in button.label for button in at.button)
    unfold(at, "person.open")
    assert any("This follows from the guarantee" in text.value for text in at.markdown)


def test_which_epsilon_plans_no_adaptive_release(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after_a_step()
    at = open_page("pages/which_epsilon.py", **QUERY)
    assert any("plans releases of a given graph" in text for text in sentences(at))
    fine(at.pills(key="segments.mechanism").set_value("LaplaceUpdates").run())
    assert not sentences(at)
    labels = [option.content for option in at.pills(key="segments.mechanism").proto.options]
    assert "Adaptive" not in labels


@pytest.mark.parametrize("page", ["accuracy", "claims", "compare", "network", "home", "sampling"])
def test_other_pages_open_with_a_link_that_names_it(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after_a_step()
    assert not sentences(open_page(f"pages/{page}.py", **QUERY))


def test_the_recipient_sees_one_release_and_nothing_exact() -> None:
    """All releases are of another table with the same seed: what then differs is shown of the records."""
    at, other = (explored(seat="recipient", data_seed=seed) for seed in ("1", "2"))
    (own,) = figures(at)["density"]["data"]
    assert own["name"].startswith("private")
    assert "explore.divergence" not in figures(at)
    assert headline(at) != headline(other), "the releases depend on the records"
    exact = Chosen(settings_of(at)).counts
    posterior = Chosen(settings_of(at)).prior.updated(exact).mean
    seen = texts(at)
    assert not any(f"{value:.6f}"[:7] in seen for value in posterior if 0.01 < value < 0.99 and value != 0.5)
    assert "curator view)" not in seen.replace("curator view only", "")
    assert "exact" not in seen.lower().replace("exactly", "")


def texts(at: AppTest) -> str:
    shown = [*at.markdown, *at.caption, *at.code]
    values: list[Any] = [element.value for element in shown] + [metric.value for metric in at.metric]
    frames = [frame.value.to_string() for frame in at.dataframe]
    return "\n".join([str(value).translate(MARKS) for value in values] + frames + [str(figures(at))])


# Audit


@pytest.fixture
def _few_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "DRAWS", 5)


@pytest.mark.usefixtures("_few_draws")
@pytest.mark.parametrize(
    "query",
    thorough([{"mechanism": "AdaptiveTables"}, {"audit.subject": "Adaptive"}], sample=[{"audit.subject": "Adaptive"}]),
)
def test_audit_shows_the_losses_of_simulated_outputs_against_the_claim(query: dict[str, str]) -> None:
    at = open_page(AUDIT, source="sprinkler", records="30", **query)
    assert headline(at) == "Adaptive release: simulated outputs do not refute the claim ε = 1, δ = 0.00001."
    first, second, claim = figures(at)["audit.losses"]["data"]
    assert claim["x"] == [1, 1]
    assert len(first["x"]) == len(second["x"]) == 5
    chosen = Chosen(settings_of(at))
    table = chosen.dataset.select(chosen.network.names)
    record = [len(states) - 1 - code for states, code in zip(table.states, table.codes[0].tolist(), strict=True)]
    rng = stream(chosen.seed, "audit", "AdaptiveTables")
    audit = dp.audit_adaptive(table, table.replace(0, record), epsilon=1, delta=1e-5, rng=rng, draws=5)
    np.testing.assert_allclose(first["x"], np.sort(audit.first), rtol=1e-5)
    assert float(metrics(at)["Largest simulated loss"]) == pytest.approx(audit.largest, rel=1e-3)
    assert metrics(at)["Lower bound"].startswith("ε ≥ ")
    before = figures(at)["audit.losses"]["data"]
    put(at, "box.epsilon", "10")
    assert figures(at)["audit.losses"]["data"] != before
    assert "ε = 10" in headline(at)


@pytest.mark.usefixtures("_few_draws")
def test_the_recipient_and_large_tables_get_an_example_table() -> None:
    at = open_page(AUDIT, source="sprinkler", records="30", seat="recipient", mechanism="AdaptiveTables")
    other = open_page(
        AUDIT, source="sprinkler", records="30", seat="recipient", mechanism="AdaptiveTables", data_seed="2"
    )
    assert figures(at) == figures(other)
    assert (captions(at), metrics(at), headline(at)) == (captions(other), metrics(other), headline(other))
    assert any("In the second table all records are the same." in text for text in captions(at))
    large = open_page(AUDIT, source="alarm", records="50", mechanism="AdaptiveTables")
    assert any("An example of 4 columns and 20 records is audited." in text for text in captions(large))


@pytest.mark.usefixtures("_few_draws")
def test_a_record_that_is_not_there_and_an_empty_table_are_one_sentence() -> None:
    query = {"source": "sprinkler", "mechanism": "AdaptiveTables"}
    one_sentence(open_page(AUDIT, records="5", **query, **{"audit.record": "6"}), "There is no record 6")
    one_sentence(open_page(AUDIT, records="0", **query), "no neighbouring tables")


def test_the_audit_continues_in_steps_and_stops(monkeypatch: pytest.MonkeyPatch) -> None:
    stop_after_a_step()
    at = open_page(AUDIT, source="sprinkler", records="30", mechanism="AdaptiveTables")
    assert headline(at) == "The losses of adaptive releases are being simulated."
    for _ in range(LEAST_DRAWS):
        fine(at.run())
    assert len(figures(at)["audit.losses"]["data"][0]["x"]) >= LEAST_DRAWS
    press(at, "Stop")
    taken = len(figures(at)["audit.losses"]["data"][0]["x"])
    fine(at.run())
    assert len(figures(at)["audit.losses"]["data"][0]["x"]) == taken


def test_losses_above_the_claim_refute_it_on_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "DRAWS", 30)
    monkeypatch.setattr("dpbayes.audit.adaptive._loss", lambda *_: 31.0)
    at = open_page(AUDIT, source="sprinkler", records="5", mechanism="AdaptiveTables", epsilon="30")
    assert headline(at) == "Adaptive release: the claim ε = 30, δ = 0.00001 is refuted."
    assert 30 < float(metrics(at)["Lower bound"].removeprefix("ε ≥ ")) < 31
    assert metrics(at)["Largest simulated loss"] == "31"
