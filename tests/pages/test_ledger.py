"""The Ledger page and making a release on Release: from no ledger at all to a checked file."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.scriptrunner import RerunData, RerunException
from streamlit.testing.v1 import AppTest

from dpbayes.base.amounts import PrivacyMeasure, Rho
from dpbayes.base.zcdp import zcdp_epsilon, zcdp_rho
from dpbayes.mechanisms import LaplaceUpdates
from dpbayes.mechanisms.noise.exact import ExactNoise
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases import ledger
from dpbayes.releases.commands.main import main
from dpbayes.releases.document import read_document, release_of
from dpbayes.releases.document.request import parsed_promise
from dpbayes.releases.ledger import Account
from dpbayes.releases.publishing import publish
from dpbayes.releases.views.reading import INTERVALS, released_bif
from dpbayes.releases.views.report import html_report
from dpbayes.sources.bif import read_bif
from dpbayes.ui.pages.explore.make import request_of
from dpbayes.ui.pages.ledger import BudgetKind, _composed, left_as_epsilon
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import opened_release
from tests.pages.conftest import figures, fine, headline, one_sentence, open_page, plain, sentences, slide, unfold
from tests.pages.numbers import E_NOTATION
from tests.releases.made import NETWORK, opened, released, request_with
from tests.releases.made_adaptive import drawn_with_a_generator

pytestmark = pytest.mark.usefixtures("first_look")

PAGE = "pages/ledger.py"


def form(at: AppTest, button: str, **texts: str) -> AppTest:
    """Fill in a form and send it."""
    for key, text in texts.items():
        at.text_input(key=f"ledger.{key}").set_value(text)
    return fine(next(candidate for candidate in at.button if candidate.label == button).click().run())


def make_open(at: AppTest) -> AppTest:
    """Open the part of the Release page that makes a release."""
    return unfold(at, "make")


def test_without_a_ledger_the_page_says_how_to_begin_one(path: Path) -> None:
    at = open_page(PAGE)
    assert headline(at) == "No dataset has a privacy budget yet."
    assert not path.exists()
    form(at, "Create dataset", name="votes", budget="1.5", reason="decided by the board")
    assert headline(at) == "votes has ε = 1.5 of 1.5 left."
    assert ledger.account_of(path, "votes").budget == Fraction(3, 2)


def test_the_form_begins_with_the_open_table_and_its_epsilon(path: Path) -> None:
    at = open_page(PAGE, data="house_votes_84", epsilon="0.094")
    assert at.text_input(key="ledger.name").value == "house-votes-84"
    assert at.text_input(key="ledger.budget").value == "0.094"
    assert at.text_input(key="ledger.reason").value == ""
    form(at, "Create dataset", reason="decided by the board")
    assert headline(at) == "house-votes-84 has ε = 0.094 of 0.094 left."
    again = open_page(PAGE, data="house_votes_84")
    assert again.text_input(key="ledger.name").value == "", "this name is taken"
    assert open_page(PAGE, source="sprinkler").text_input(key="ledger.name").value == "sprinkler"


@pytest.mark.parametrize(
    ("texts", "part"),
    [
        ({"name": "votes", "budget": "banana", "reason": "so"}, "decimal"),
        ({"name": "votes", "budget": "0", "reason": "so"}, "budget"),
        ({"name": "", "budget": "1", "reason": "so"}, "name"),
        ({"name": "votes", "budget": "1", "reason": ""}, "justification"),
    ],
)
def test_a_budget_that_is_none_is_one_sentence(path: Path, texts: dict[str, str], part: str) -> None:
    at = form(open_page(PAGE), "Create dataset", **texts)
    one_sentence(at, part)
    assert not path.exists()


def test_a_budget_is_raised_and_never_lowered(path: Path, tmp_path: Path) -> None:
    opened(tmp_path, budget="1")
    at = form(open_page(PAGE), "Raise budget", new="2.5", why="a second question")
    assert "of 2.5 left" in headline(at)
    form(at, "Raise budget", new="2", why="less")
    one_sentence(at, "can only be raised")
    assert ledger.account_of(path, "garden").budget == Fraction(5, 2)


def test_the_bars_and_the_list_are_what_the_ledger_says(path: Path, tmp_path: Path) -> None:
    published = released(tmp_path)
    at = open_page(PAGE)
    bars = figures(at)["budgets"]["data"]
    assert [trace["x"] for trace in bars] == [[0.5], [0.0], [1.5]]
    listed = at.dataframe[0].value
    assert listed["row"].tolist() == [published.row]
    assert listed["ε"].tolist() == ["0.5"]
    assert listed["status"].tolist() == ["released"]


def test_a_release_is_opened_as_it_was_released(path: Path, tmp_path: Path) -> None:
    published = released(tmp_path)
    at = open_page(PAGE)
    fine(at.selectbox(key="ledger.row").set_value(published.row).run())
    assert "The release is valid" in at.success[0].value
    document = read_document(published.document)
    shown = "\n".join(text.value for text in at.markdown)
    assert "60 records of the dataset garden" in shown
    rows = figures(at)["ledger.rows"]["data"][0]
    assert len(rows["x"]) == document.request.network.row_count
    assert rows["marker"]["color"] == LaplaceUpdates.colour
    assert read_bif(released_bif(document))[0] == document.request.network


def test_an_adaptive_release_is_opened_with_its_sentences_arrows_and_report(
    path: Path, tmp_path: Path, files: dict[str, Any]
) -> None:
    data = drawn_with_a_generator()
    at = open_page(PAGE, seat="recipient")
    fine(at.file_uploader(key="ledger.file").set_value(("release.json", data, "application/json")).run())
    assert "The release is valid" in at.success[0].value
    shown = "\n".join(text.value for text in at.markdown)
    assert "a graph over 4 columns of the dataset garden" in shown
    assert " → " in shown
    assert files["release.html"]() == html_report(read_document(data)).encode()


def test_an_opened_release_is_read_with_its_noise_in_mind_and_files_follow_the_choice(
    path: Path, tmp_path: Path, files: dict[str, Any]
) -> None:
    data = released(tmp_path).document
    document = read_document(data)
    release = release_of(document)
    at = open_page(PAGE, seat="recipient")
    fine(at.file_uploader(key="ledger.file").set_value(("release.json", data, "application/json")).run())
    cells = NETWORK.row_starts + [NETWORK.telling_state(int(node)) for node in NETWORK.node_of_row]
    aware, as_real = figures(at)["file.rows"]["data"]
    assert aware["x"] == pytest.approx(release.noise_aware().mean[cells])
    assert as_real["x"] == pytest.approx(release.posterior.mean[cells])
    assert aware["error_x"]["array"] != as_real["error_x"]["array"]
    captions = "\n".join(caption.value for caption in at.caption)
    assert INTERVALS[Reading.NOISE_AWARE] in captions
    assert files["release.bif"]() == released_bif(document).encode()
    fine(at.segmented_control(key="file.reading").set_value(Reading.AS_REAL).run())
    (alone,) = figures(at)["file.rows"]["data"]
    assert alone["x"] == as_real["x"]
    captions = "\n".join(caption.value for caption in at.caption)
    assert INTERVALS[Reading.AS_REAL] in captions
    assert files["release.bif"]() == released_bif(document, Reading.AS_REAL).encode()
    assert files["release.html"]() == html_report(document, Reading.AS_REAL).encode()
    assert b"posterior = release.posterior " in files["release.py"]()


def test_the_report_tells_of_the_suspicion_that_the_person_set(
    path: Path, tmp_path: Path, files: dict[str, Any]
) -> None:
    data = released(tmp_path).document
    at = open_page(PAGE, seat="recipient", **{"release.suspicion": "0.35"})
    fine(at.file_uploader(key="ledger.file").set_value(("release.json", data, "application/json")).run())
    assert b"35% belief can rise to at most" in files["release.html"]()


def test_an_opened_estimate_offers_no_choice(path: Path, tmp_path: Path) -> None:
    at = open_page(PAGE, seat="recipient")
    data = released(tmp_path, mechanism="map").document
    fine(at.file_uploader(key="ledger.file").set_value(("release.json", data, "application/json")).run())
    assert len(figures(at)["file.rows"]["data"]) == 1
    assert "file.reading" not in [control.key for control in at.segmented_control]
    assert "ntervals" not in "\n".join(caption.value for caption in at.caption)


def test_a_file_is_checked_in_either_seat_and_a_changed_one_is_not_shown(path: Path, tmp_path: Path) -> None:
    data = released(tmp_path).document
    for seat in ("curator", "recipient"):
        at = open_page(PAGE, seat=seat)
        fine(at.file_uploader(key="ledger.file").set_value(("release.json", data, "application/json")).run())
        assert "The release is valid" in at.success[0].value
        assert "file.rows" in figures(at)
        changed = data.replace(b'"n":60', b'"n":61')
        fine(at.file_uploader(key="ledger.file").set_value(("release.json", changed, "application/json")).run())
        assert not at.success
        assert "is not a valid release" in at.error[0].value
        assert "file.rows" not in figures(at)


def large_release(folder: Path) -> bytes:
    """Return a release of a node with 15 parents, 65,566 cells: its noise is none, which takes no time to draw."""
    names = [f"p{k}" for k in range(15)]
    network = Network.from_edges([*names, "my node"], [(name, "my node") for name in names])
    values = np.zeros(network.cell_count, dtype=np.int64)
    values[network.cell_offsets[:-1]] = 60
    with pytest.MonkeyPatch.context() as patch:
        real = ExactNoise.measurement
        patch.setattr(ExactNoise, "measurement", lambda law, scale: Noiseless(real(law, scale)))
        return publish(opened(folder), request_with(network=network), Counts(network, values, 60)).document


class Noiseless:
    """OpenDP's measurement, which answers what it is given."""

    def __init__(self, real: Any) -> None:
        self.map = real.map

    def __call__(self, values: list[int]) -> list[int]:
        return values


def test_a_large_release_is_shown_by_a_few_of_its_rows(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, checked = large_release(tmp_path), []
    monkeypatch.setattr(opened_release, "MOST_CELLS", 60_000)
    verify = opened_release.verify
    monkeypatch.setattr(opened_release, "verify", lambda data: checked.append(data) or verify(data))
    at = open_page(PAGE, seat="recipient")
    fine(at.file_uploader(key="ledger.file").set_value(("release.json", data, "application/json")).run())
    assert "The release is valid" in at.success[0].value
    assert len(figures(at)["file.rows"]["data"][0]["x"]) == opened_release.ROWS_AT_ONCE
    captions = "\n".join(caption.value for caption in at.caption)
    assert "first 40 of 32,783 rows" in captions
    assert "more than 20,000 cells" in captions
    assert 'not read "my node" in a BIF file' in plain(captions), "a name with a space"
    labels = [button.label for button in at.get("download_button")]
    assert "Network (BIF)" in labels
    assert "use the naive reading" in captions, "the picture's rows alone are worked out with the noise in mind"
    assert [trace["name"] for trace in figures(at)["file.rows"]["data"]] == [
        "private, noise-aware",
        "private, naive",
    ]
    assert not [label for label in labels if "draws" in label], "65,566 columns make no file"
    fine(at.text_input(key="file.records").set_value("20").run())
    assert checked == [data], "checked once, not at every move"


def test_the_recipient_sees_nothing_of_the_ledger(path: Path, tmp_path: Path) -> None:
    released(tmp_path)
    at = open_page(PAGE, seat="recipient")
    assert "garden" not in "\n".join([*(m.value for m in at.markdown), *(c.value for c in at.caption)])
    assert not at.dataframe
    assert not figures(at)


def test_a_ledger_that_was_edited_is_one_sentence(path: Path, tmp_path: Path) -> None:
    opened(tmp_path)
    path.write_bytes(b"no ledger")
    one_sentence(open_page(PAGE), "is not a ledger")


def test_a_hash_that_was_kept_is_looked_for(path: Path, tmp_path: Path) -> None:
    opened(tmp_path)
    at = open_page(PAGE)
    unfold(at, "ledger.check")
    kept = next(caption.value for caption in at.caption if "hash of the last row" in caption.value).rpartition(" ")[2]
    fine(at.text_input(key="ledger.seen").set_value(kept).run())
    assert "2 rows are unchanged" in at.success[0].value
    fine(at.text_input(key="ledger.seen").set_value("0" * 64).run())
    one_sentence(at, "its last rows were removed")
    assert not at.success


# Making one


def test_a_release_is_made_after_one_confirmation_and_shown_again_for_nothing(path: Path, tmp_path: Path) -> None:
    opened(tmp_path, budget="3")
    at = make_open(open_page("pages/explore.py", epsilon="0.5"))
    assert [metric.value for metric in at.metric if metric.label == "Cost (ε)"] == ["0.5"]
    button = next(candidate for candidate in at.button if candidate.label.startswith("Make release"))
    assert button.disabled
    fine(at.checkbox(key="make.unseen").check().run())
    fine(next(candidate for candidate in at.button if candidate.label.startswith("Make release")).click().run())
    assert "The release is valid" in at.success[0].value
    assert "made.rows" in figures(at)
    assert ledger.account_of(path, "garden").spent == Fraction(1, 2)
    assert [metric.value for metric in at.metric if "Remaining" in metric.label] == ["2.5"], "the budget of now"
    assert not [button for button in at.button if button.label.startswith("Make release")]
    assert not [box for box in at.checkbox if box.key == "make.unseen"], "nothing is armed"
    fine(at.run())
    assert "This release exists already" in at.info[0].value
    assert ledger.account_of(path, "garden").spent == Fraction(1, 2)
    slide(at, "epsilon", 1.0)
    assert not at.checkbox(key="make.unseen").value, "the next release is to be confirmed anew"


def confirmed(at: AppTest) -> AppTest:
    """Tick what must be stated, and press the button that spends."""
    fine(at.checkbox(key="make.unseen").check().run())
    return fine(next(candidate for candidate in at.button if candidate.label.startswith("Make release")).click().run())


def test_noisy_counts_that_are_to_be_fitted_are_requested_by_the_page() -> None:
    chosen = Chosen(Settings(mechanism="ConsistentLaplace"))
    assert request_of(chosen, "garden").mechanism == "consistent"


def test_gaussian_noise_is_charged_to_a_budget_in_rho(path: Path, tmp_path: Path) -> None:
    at = form(open_page(PAGE), "Create dataset", name="garden", budget="1", reason="Gaussian noise")
    assert "ε = 1" in headline(at)
    fine(at.radio(key="ledger.kind").set_value(BudgetKind.CONCENTRATED).run())
    form(at, "Create dataset", **{"name": "orchard", "budget.rho": "0.5", "reason": "Gaussian noise"})
    assert figures(at)["budgets.rho"]["data"][2]["x"] == [0.5]
    at = make_open(open_page("pages/explore.py", mechanism="GaussianUpdates", epsilon="0.5"))
    fine(at.selectbox(key="make.dataset").set_value("garden").run())
    assert any("is in pure ε" in sentence for sentence in sentences(at))
    fine(at.selectbox(key="make.dataset").set_value("orchard").run())
    (spent,) = [metric.value for metric in at.metric if metric.label == "Cost (ρ)"]
    assert 0 <= zcdp_rho(0.5, delta=1e-5) - float(spent) < 1e-5 * float(spent)
    at = confirmed(at)
    assert "The release is valid" in at.success[0].value
    assert ledger.account_of(path, "orchard").spent == Fraction(spent)
    at = open_page(PAGE)
    assert at.dataframe[0].value["ρ"].tolist() == [spent]
    assert at.dataframe[0].value["ε"].tolist() == ["–"]
    at.session_state["ledger.together"] = True
    page_text = "\n".join(text.value for text in fine(at.run()).markdown)
    assert f"orchard: ρ = {spent} is charged. The privacy loss is at most ε = " in page_text
    form(at, "Raise budget", new="2", why="a second question")


def test_an_epsilon_at_a_delta_is_kept_in_a_rho_as_the_command_keeps_it(path: Path, tmp_path: Path) -> None:
    at = open_page(PAGE)
    fine(at.radio(key="ledger.kind").set_value(BudgetKind.APPROXIMATE).run())
    form(at, "Create dataset", name="orchard", budget="1", reason="the board")
    one_sentence(at, "delta")
    typed = {"name": "orchard", "budget": "1", "budget.delta": "0.000001", "reason": "the board"}
    form(at, "Create dataset", **typed)
    words = ["ledger", "--ledger", str(tmp_path / "other.sqlite"), "open", "orchard", "--reason", "the board"]
    assert main([*words, "--budget", "1", "--delta", "0.000001"]) == 0
    budget = ledger.account_of(path, "orchard").budget
    assert budget == ledger.account_of(tmp_path / "other.sqlite", "orchard").budget
    assert f"orchard has ρ = {float(budget)} of {float(budget)} left." == headline(at)
    assert figures(at)["budgets.rho"]["data"][2]["x"] == [float(budget)]

    def left() -> str:
        return next(text.value for text in at.markdown if "the remaining ρ" in text.value)

    assert "is ε = 1 at δ = 10⁻⁶. The total budget is ε = 1 at δ = 10⁻⁶." in left()
    fine(at.text_input(key="ledger.at").set_value("0.001").run())
    assert f"is ε = {zcdp_epsilon(float(budget), delta=1e-3):.4g} at δ = 0.001" in left()
    fine(at.text_input(key="ledger.at").set_value("0").run())
    one_sentence(at, "delta must be between")
    fine(at.text_input(key="ledger.at").set_value("0.001").run())
    form(at, "Raise budget", **{"new": "2", "new.delta": "0.000001", "why": "a second question"})
    assert ledger.account_of(path, "orchard").budget == parsed_promise("2", "0.000001").rho


def test_what_is_left_of_a_rho_is_stated_as_an_epsilon() -> None:
    half = Account(dataset="*x*", budget=Fraction(1), measure=PrivacyMeasure.RHO, released=Fraction(1, 2))
    line = left_as_epsilon(half, 1e-5)
    assert line.startswith("\\*x\\*: the remaining ρ = 0.5 is ε = ")
    assert f"ε = {zcdp_epsilon(0.5, delta=1e-5):.4g} at δ = 0.00001" in line
    assert f"The total budget is ε = {zcdp_epsilon(1.0, delta=1e-5):.4g} at δ = 0.00001." in line
    assert "no budget is left" in left_as_epsilon(replace(half, reserved=Fraction(1, 2)), 1e-5)


def shown_shares(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return a list that fills with the shares that the page's bar shows."""
    shares: list[float] = []
    show = DeltaGenerator.progress

    def shown(bar: DeltaGenerator, value: float, text: str | None = None) -> DeltaGenerator:
        shares.append(value)
        return show(bar, value, text)

    monkeypatch.setattr(DeltaGenerator, "progress", shown)
    return shares


def test_a_long_draw_shows_how_far_it_is(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened(tmp_path, budget="3")
    monkeypatch.setattr("dpbayes.mechanisms.noise.exact.BLOCK", 9)
    shares = shown_shares(monkeypatch)
    at = confirmed(make_open(open_page("pages/explore.py", epsilon="0.5")))
    assert shares == [0.25, 0.5, 0.75, 1.0], "36 cells of Asia, nine at a step"
    assert not at.get("progress"), "the bar goes when the release is there"
    assert "The release is valid" in at.success[0].value


def test_a_click_during_the_draw_waits_until_the_ledger_has_the_release(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened(tmp_path, budget="3")
    monkeypatch.setattr("dpbayes.mechanisms.noise.exact.BLOCK", 9)
    shown: list[float] = []

    def interrupted(bar: DeltaGenerator, value: float, text: str | None = None) -> DeltaGenerator:
        shown.append(value)
        raise RerunException(RerunData())

    monkeypatch.setattr(DeltaGenerator, "progress", interrupted)
    confirmed(make_open(open_page("pages/explore.py", epsilon="0.5")))
    assert shown == [0.25], "the first step was told, and Streamlit ended the run there"
    (spending,) = ledger.spendings(path, "garden")
    assert spending.state == "released"
    at = make_open(open_page("pages/explore.py", epsilon="0.5"))
    assert "This release exists already" in at.info[0].value


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"mechanism": "PosteriorSampler", "epsilon": "20"}, "no exact sampler"),
        (
            {"mechanism": "LaplaceFourier", "calibration": "as printed"},
            "A real release needs a mechanism with proved noise",
        ),
    ],
)
def test_what_cannot_be_really_released_is_one_sentence(
    path: Path, tmp_path: Path, query: dict[str, str], part: str
) -> None:
    opened(tmp_path)
    at = make_open(open_page("pages/explore.py", **query))
    assert any(part in sentence for sentence in sentences(at))
    assert not [candidate for candidate in at.button if candidate.label.startswith("Make release")]


def test_more_than_the_budget_is_one_sentence_and_nothing_is_drawn(path: Path, tmp_path: Path) -> None:
    opened(tmp_path, budget="0.3")
    at = make_open(open_page("pages/explore.py", epsilon="0.5"))
    fine(at.checkbox(key="make.unseen").check().run())
    fine(next(candidate for candidate in at.button if candidate.label.startswith("Make release")).click().run())
    assert any("budget of" in sentence for sentence in sentences(at))
    assert "made.rows" not in figures(at)
    assert ledger.account_of(path, "garden").spent == 0


def test_the_same_records_under_another_name_are_doubted_before_anything_is_spent(path: Path, tmp_path: Path) -> None:
    opened(tmp_path)
    ledger.open_dataset(path, "orchard", Fraction(1), reason="the same people again")
    ledger.remember_table(path, "orchard", Chosen(Settings()).dataset)
    at = make_open(open_page("pages/explore.py"))
    assert not sentences(at)
    fine(at.selectbox(key="make.dataset").set_value("garden").run())
    assert any("used under the name" in sentence for sentence in sentences(at))
    assert ledger.account_of(path, "garden").spent == 0


def test_without_a_budget_the_release_page_leads_to_the_ledger(path: Path) -> None:
    at = make_open(open_page("pages/explore.py"))
    assert any("No dataset has a privacy budget yet" in info.value for info in at.info)


def test_the_recipient_makes_no_release(path: Path, tmp_path: Path) -> None:
    opened(tmp_path)
    at = make_open(open_page("pages/explore.py", seat="recipient"))
    assert not [part for part in at.expander if part.label.startswith("Make this release")]


@pytest.mark.parametrize("measure", PrivacyMeasure)
def test_what_tiny_releases_cost_together_is_rounded_up_and_without_an_e(measure: PrivacyMeasure) -> None:
    tiny = Fraction(1, 123_457)
    amount = tiny if measure is PrivacyMeasure.EPSILON else Rho(tiny)
    account = Account(dataset="votes", budget=Fraction(1), measure=measure, released=tiny)
    said = plain(_composed(account, [amount], 1e-6))
    assert not E_NOTATION.search(said)
    match = re.search(r"at most (?:ε = )?([0-9.]+)(?: × 10⁻⁶)? at δ", said)
    assert match, said
    bound = float(match[1]) * (1e-6 if "× 10⁻⁶ at" in said else 1)
    assert ledger.composed([amount], 1e-6) <= bound * (1 + 1e-12)
