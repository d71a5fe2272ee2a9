"""The Release page: a release from no ledger at all to a checked file, its history, and files of others."""

import re
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.__main__ import main
from dpbayes.audit.risk import SUSPICION, belief_sentence, ceiling
from dpbayes.base.amounts import PrivacyMeasure
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import in_hundred
from dpbayes.base.zcdp import zcdp_rho
from dpbayes.boards import static
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases import ledger
from dpbayes.releases.document import read_document
from dpbayes.releases.document.request import parsed_promise
from dpbayes.releases.reading import answer_under, released_bif
from dpbayes.releases.report import html_report
from dpbayes.releases.verify import verify
from dpbayes.sources.data_files import read_data
from dpbayes.ui.pages.release import ADAPTIVE
from dpbayes.ui.pages.release_history import EXAMPLE_FILE
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import Seat, Settings
from dpbayes.ui.widgets import opened_release
from tests.pages.conftest import (
    boards,
    captions,
    everything,
    fine,
    frame_of,
    one_sentence,
    open_page,
    page_headline,
    plain,
    sentences,
)
from tests.releases.made import NETWORK, opened, released

PAGE = "pages/release.py"


def box(at: AppTest, label: str) -> Any:
    return next(candidate for candidate in at.text_input if candidate.label == label)


def typed(at: AppTest, **texts: str) -> AppTest:
    """Type into boxes by their labels, in which an underscore stands for a space."""
    for label, text in texts.items():
        box(at, label.replace("_", " ")).set_value(text)
    return fine(at.run())


def make_button(at: AppTest) -> Any:
    """Return the button that makes the release, None without it."""
    return next((candidate for candidate in at.button if candidate.key == "release.make"), None)


def sums(at: AppTest) -> list[str]:
    """Return the epsilon of the button, of all releases with this one, and of the total budget."""
    (part,) = at.get("progress")
    return [make_button(at).label.rpartition(" ")[2], *re.findall(r"\*\*([0-9.]+)\*\*", part.proto.text)]


def is_valid(at: AppTest) -> bool:
    """Whether the page states that all checks of an unsigned release hold, and that anyone could have written it."""
    said = any(re.match(r"## .*: (\d+) of \1 checks passed\.", text.value) for text in at.markdown)
    return said and any("anyone could" in box.value for box in at.info)


def make(at: AppTest) -> AppTest:
    return fine(make_button(at).click().run())


def uploaded(data: bytes, **query: str) -> AppTest:
    at = open_page(PAGE, **{"seat": "recipient", **query})
    return fine(at.file_uploader(key="release.file").set_value(("release.json", data, "application/json")).run())


def rows(at: AppTest) -> list[dict[str, Any]]:
    """Return the traces of the picture of the last release on the page."""
    return list(frame_of(boards(at)[-1])["figures"]["rows"]["data"])


# Making one


@pytest.mark.parametrize(
    ("query", "name"), [({"data": "house_votes_84"}, "house-votes-84"), ({"source": "sprinkler"}, "sprinkler")]
)
def test_one_press_opens_the_dataset_and_makes_the_release(path: Path, query: dict[str, str], name: str) -> None:
    at = open_page(PAGE, epsilon="0.5", **query)
    assert not path.exists()
    assert (box(at, "Dataset name").value, box(at, "Total budget ε").value) == (name, "0.5")
    public = Chosen(at.session_state["settings"]).network
    listed = [f"**{node}**: {'; '.join(states)}" for node, states in zip(public.names, public.states, strict=True)]
    assert "  \n".join(listed) in [plain(text.value) for text in at.markdown]
    at = typed(at, Total_budget_ε="1.5")
    assert page_headline(at).endswith("at a cost of ε = 0.5.")
    at = make(at)
    assert is_valid(at)
    assert any(re.match(r"\*\*The table answers 0\.\d+\.\*\*$", text.value) for text in at.markdown)
    account = ledger.read_books(path).account(name)
    assert (account.budget, account.spent) == (Fraction(3, 2), Fraction(1, 2))
    (spending,) = ledger.read_books(path).of(name)
    assert verify(ledger.outcome(path, spending.row)).holds
    for story, shown in (("", "Your last release"), ("publish", "Built-in example")):
        at.session_state["settings"] = replace(at.session_state["settings"], seat=Seat.RECIPIENT, story=story)
        assert page_headline(fine(at.run())).startswith(shown)


def test_a_typed_budget_stays_when_epsilon_changes_and_other_pages_are_opened(path: Path) -> None:
    at = typed(open_page(PAGE), Privacy_loss_ε="0.7")
    assert box(at, "Total budget ε").value == "0.7"
    at = typed(typed(at, Total_budget_ε="2"), Privacy_loss_ε="0.5")
    fine(at.switch_page("pages/data.py").run())
    at = fine(at.switch_page(PAGE).run())
    assert (box(at, "Privacy loss ε").value, box(at, "Total budget ε").value) == ("0.5", "2")
    make(at)
    assert ledger.read_books(path).account("asia").left == Fraction(3, 2)


def test_afterwards_the_panel_shows_what_is_left_and_is_not_armed(path: Path, tmp_path: Path) -> None:
    opened(tmp_path, budget="3")
    at = open_page(PAGE, epsilon="0.5")
    assert any("choose its former dataset" in text for text in captions(at))
    at = fine(at.selectbox(key="release.dataset.asia").set_value("garden").run())
    assert sums(at) == ["0.5", "0.5", "3"]
    at = make(at)
    assert page_headline(at) == "The release garden-1 is made: 8 of 8 checks passed."
    assert make_button(at) is None
    assert any(fold.label == "Another release: ε = 2.5 is left for garden" for fold in at.expander)
    again = open_page(PAGE, epsilon="0.5")
    assert again.selectbox(key="release.dataset.asia").options == ["garden"], "one budget for one table"
    assert any("exists and costs no budget again" in text for text in captions(again))
    typed(again, Privacy_loss_ε="0.75")
    assert sums(again) == ["0.75", "1.25", "3"]
    assert ledger.read_books(path).account("garden").spent == Fraction(1, 2)


def test_a_press_makes_only_the_release_that_was_shown(path: Path) -> None:
    at = open_page(PAGE, epsilon="0.5")
    at.session_state["release.pressed"] = b"another request"
    assert make_button(fine(at.run())) is not None
    assert not path.exists()


@pytest.mark.parametrize(
    ("texts", "part"),
    [
        ({"Total_budget_ε": "banana"}, "decimal"),
        ({"δ_of_the_budget": "2"}, "delta"),
        ({"Dataset_name": " "}, "name"),
        ({"Justification": ""}, "justification"),
        ({"Privacy_loss_ε": "-1"}, "psilon"),
    ],
)
def test_a_wrong_number_is_one_sentence_and_nothing_is_made(path: Path, texts: dict[str, str], part: str) -> None:
    at = typed(open_page(PAGE), **({"Justification": "the board"} | texts))
    one_sentence(at, part)
    assert page_headline(at).endswith("cost of ε = 1.") or page_headline(at).startswith("One step is missing")
    assert box(at, "Justification").value == texts.get("Justification", "the board"), "what was typed stays"
    assert not path.exists()


def test_what_was_looked_at_is_stated_unless_the_records_are_public(path: Path, monkeypatch) -> None:
    assert not any("you have looked" in text for text in captions(open_page(PAGE)))
    monkeypatch.setattr(Chosen, "has_public_records", False)
    at = open_page(PAGE)
    assert not any("you have looked" in text for text in captions(at))
    assert not any("not private" in text for text in captions(at)), "records that nobody has looked at"
    frame = frame_of(boards(at)[-1])
    assert frame["captions"]["answer"].endswith("of a made-up table as large as yours.")
    assert frame["figures"]["answer"]["layout"]["xaxis"]["ticktext"][1] == "your table’s answer", "not a number"
    at = fine(open_page("pages/explore.py").switch_page(PAGE).run())
    assert any("you have looked at exact answers of the table." in text for text in captions(at))
    assert any("not private" in text for text in captions(at))
    assert frame_of(boards(at)[-1])["captions"]["answer"].endswith("of the table.")
    fine(at.switch_page("pages/data.py").run())
    at = fine(at.switch_page(PAGE).run())
    said = "exact answers of the table and distributions of columns"
    assert any(f"you have looked at {said}." in text for text in captions(at))
    at.session_state["settings"] = replace(at.session_state["settings"], source="sprinkler")
    assert not any("you have looked" in text for text in captions(fine(at.run()))), "another table"


@pytest.mark.parametrize(
    ("query", "part"),
    [
        ({"mechanism": "PosteriorSampler", "epsilon": "20"}, "no exact sampler"),
        ({"mechanism": "LaplaceFourier", "calibration": "as printed"}, "mechanism with proved noise"),
        ({"data": "upload"}, "No uploaded table"),
    ],
)
def test_what_cannot_be_released_is_one_sentence(path: Path, query: dict[str, str], part: str) -> None:
    at = open_page(PAGE, **query)
    one_sentence(at, part)
    assert make_button(at) is None
    assert page_headline(at).startswith("One step is missing")


def test_more_than_the_budget_cannot_be_spent(path: Path, tmp_path: Path) -> None:
    opened(tmp_path, budget="0.3")
    at = open_page(PAGE, epsilon="0.5")
    fine(at.selectbox(key="release.dataset.asia").set_value("garden").run())
    assert make_button(at).disabled
    assert any("The cost is ε = 0.5, and 0.3 is left" in text.value for text in at.info)
    assert ledger.read_books(path).account("garden").spent == 0
    typed(at, Privacy_loss_ε="0.3")
    fine(at.selectbox(key="release.dataset.asia").set_value("garden").run())
    assert sums(at) == ["0.3", "0.3", "0.3"]
    assert not make_button(at).disabled


def test_records_that_were_released_before_have_no_second_budget(path: Path, tmp_path: Path) -> None:
    opened(tmp_path)
    ledger.open_dataset(path, "orchard", Fraction(1), reason="the same people again")
    ledger.table_doubts(path, "orchard", Chosen(Settings()).dataset, remember=True)
    at = open_page(PAGE)
    dataset = at.selectbox(key="release.dataset.asia")
    assert (dataset.value, dataset.options) == ("orchard", ["orchard"])
    ledger.table_doubts(path, "garden", Chosen(Settings()).dataset, remember=True)
    assert any("used under the name" in sentence for sentence in sentences(open_page(PAGE)))


def test_gaussian_noise_is_charged_to_a_budget_in_rho(path: Path) -> None:
    at = make(open_page(PAGE, mechanism="GaussianUpdates", epsilon="0.5"))
    assert is_valid(at)
    account = ledger.read_books(path).account("asia")
    assert account.measure is PrivacyMeasure.RHO
    assert account.left == 0
    assert 0 <= zcdp_rho(0.5, delta=1e-5) - float(account.spent) < 1e-5 * float(account.spent)


def test_a_budget_without_a_delta_pays_for_an_adaptive_release_with_laplace_noise(path: Path) -> None:
    make(typed(open_page(PAGE, epsilon="0.5"), Total_budget_ε="3"))
    at = open_page(PAGE, epsilon="0.75", mechanism=ADAPTIVE)
    assert at.selectbox(key="choice.mechanism").value == ADAPTIVE
    assert "δ" not in [candidate.label for candidate in at.text_input]
    risen = [metric.value.partition(" at most ")[2] for metric in at.metric]
    assert risen == [f"{in_hundred(ceiling(SUSPICION, Guarantee(1.25)))}%"]  # of both releases
    at = make(at)
    assert is_valid(at)
    assert list(ledger.read_books(path).accounts) == ["asia"]
    assert ledger.read_books(path).account("asia").spent == Fraction(5, 4)
    fine(at.selectbox(key="ledger.row").set_value(ledger.read_books(path).of("asia")[0].row).run())
    assert any(
        "later releases" in text.value and belief_sentence(Guarantee(1.25)) in text.value for text in at.markdown
    )


def test_one_epsilon_of_an_adaptive_release_is_everywhere_on_the_page(path: Path) -> None:
    at = typed(open_page(PAGE, mechanism=ADAPTIVE), Privacy_loss_ε="2.9", Total_budget_ε="3", δ="10^-6")
    assert sums(at) == ["2.9", "2.9", "3"]
    assert page_headline(at).endswith("at a cost of ε = 2.9 at δ = 10⁻⁶.")
    at = make(at)
    assert any(belief_sentence(Guarantee(2.9, 1e-6)) in plain(text.value) for text in at.markdown)
    assert at.table[0].value.loc["asia"].tolist()[:2] == ["3", "2.9"]
    request = read_document(ledger.outcome(path, 4)).request
    assert request.stated == parsed_promise("2.9", "0.000001")


def test_an_epsilon_at_a_delta_is_kept_in_a_rho_as_the_command_keeps_it(path: Path, tmp_path: Path) -> None:
    make(typed(open_page(PAGE, epsilon="0.1"), Total_budget_ε="1", δ_of_the_budget="0.000001"))
    words = ["ledger", "--ledger", str(tmp_path / "other.sqlite"), "open", "orchard", "--reason", "the board"]
    assert main([*words, "--budget", "1", "--delta", "0.000001"]) == 0
    other = ledger.read_books(tmp_path / "other.sqlite").account("orchard")
    assert ledger.read_books(path).account("asia").budget == other.budget
    at = raised(open_page(PAGE), "2", "0.000001")
    assert not sentences(at)
    assert ledger.read_books(path).account("asia").budget == parsed_promise("2", "0.000001").rho


@pytest.mark.parametrize(("delta", "measure"), [("0.00001", PrivacyMeasure.RHO), ("0", PrivacyMeasure.EPSILON)])
def test_an_adaptive_release_chooses_its_graph(path: Path, delta: str, measure: PrivacyMeasure) -> None:
    at = make(typed(open_page(PAGE, mechanism=ADAPTIVE), δ=delta))
    (spending,) = ledger.read_books(path).of("asia")
    document = ledger.outcome(path, spending.row)
    assert verify(document).holds
    request = read_document(document).request
    assert spending.cost == request.plan.total
    assert ledger.read_books(path).account("asia").measure is measure
    assert is_valid(at)
    assert any("Arrows" not in text.body and "mask-image" in text.body for text in at.get("html"))


# The history


def raised(at: AppTest, epsilon: str, delta: str = "") -> AppTest:
    (new,) = [candidate for candidate in at.text_input if candidate.label.startswith("New total budget ε")]
    new.set_value(epsilon)
    if delta:
        next(candidate for candidate in at.text_input if "ledger.delta" in str(candidate.key)).set_value(delta)
    at.text_input(key="ledger.why").set_value("a second question")
    return fine(next(candidate for candidate in at.button if candidate.label == "Raise budget").click().run())


def test_the_newest_budget_is_raised_first_and_none_is_lowered(path: Path, tmp_path: Path) -> None:
    opened(tmp_path, budget="1")
    at = raised(make(open_page(PAGE, epsilon="0.5")), "3")
    assert not any("ledger.delta" in str(candidate.key) for candidate in at.text_input), "δ = 0 stays"
    at = raised(open_page(PAGE), "2")
    assert any("can only be raised" in sentence for sentence in sentences(at))
    budgets = {name: account.budget for name, account in ledger.read_books(path).accounts.items()}
    assert budgets == {"garden": 1, "asia": 3}


def test_the_lists_are_what_the_ledger_says_and_a_release_opens_as_it_was_released(path: Path, tmp_path: Path) -> None:
    published = released(tmp_path)
    at = open_page(PAGE)
    budgets, releases = at.table[0].value, at.dataframe[0].value
    assert budgets.loc["garden"].tolist() == ["2", "0.5", "1.5"]
    assert releases.iloc[0].tolist()[:3] == ["garden-1", "0.5", "released"]
    fine(at.selectbox(key="ledger.row").set_value(published.row).run())
    assert not any("later releases" in text.value for text in at.markdown)
    assert "60 records of the dataset garden" in "\n".join(text.value for text in at.markdown)


def test_a_ledger_that_was_edited_is_a_sentence(path: Path, tmp_path: Path) -> None:
    opened(tmp_path)
    path.write_bytes(b"no ledger")
    assert "is not a ledger" in sentences(open_page(PAGE))[0]


def test_a_hash_that_was_kept_is_looked_for(path: Path, tmp_path: Path) -> None:
    opened(tmp_path)
    at = open_page(PAGE)
    at.session_state["ledger.check"] = True
    fine(at.run())
    kept = next(caption for caption in captions(at) if "hash of the last row" in caption).rpartition(" ")[2]
    fine(at.text_input(key="ledger.seen").set_value(kept).run())
    assert "2 rows are unchanged" in at.success[0].value
    fine(at.text_input(key="ledger.seen").set_value("0" * 64).run())
    one_sentence(at, "its last rows were removed")


# A release that somebody has


def test_without_a_file_there_is_an_example_that_verifies() -> None:
    at = open_page(PAGE, seat="recipient")
    assert page_headline(at) == "Built-in example: 8 of 8 checks passed."
    assert "ε = 0.6" in next(plain(text.value) for text in at.markdown if text.value.startswith("**One person"))
    assert frame_of(boards(at)[-1])["headline"].startswith("How likely is bronchitis = yes if smoking = yes? This")
    assert "or upload a release.json" in everything(at)
    own = uploaded(read_data(EXAMPLE_FILE))
    assert page_headline(own) == "Your file release.json: 8 of 8 checks passed."
    assert "or upload a release.json" not in everything(own)


def test_an_opened_release_is_read_with_its_noise_in_mind_and_all_follow_the_choice(
    path: Path, tmp_path: Path, files: dict[str, Any]
) -> None:
    data = released(tmp_path).document
    document = read_document(data)
    release = document.tables
    at = uploaded(data)
    cells = NETWORK.row_starts[1:] + NETWORK.telling_state(1)  # the rows of grass
    aware = rows(at)[0]
    assert aware["x"] == pytest.approx(release.joint_noise_aware().mean[cells])
    assert "account for the noise" in frame_of(boards(at)[-1])["captions"]["rows"]
    assert files["release.bif"]() == released_bif(document).encode()
    assert files["release.html"]() == html_report(document).encode()
    target = NETWORK.names[-1]
    fine(at.multiselect(key="file.given").set_value([]).run())
    for reading in (Reading.NOISE_AWARE, Reading.AS_REAL):
        fine(at.segmented_control(key="file.reading").set_value(reading).run())
        answer = answer_under(release.posterior_under(reading), release.outcome.prior, target, {}, LEVEL)
        assert [float(text) for text in at.dataframe[0].value["probability"]] == pytest.approx(answer.mean, abs=0.005)
    alone = rows(at)[0]
    assert alone["x"] == pytest.approx(release.posterior.mean[cells])
    assert files["release.bif"]() == released_bif(document, Reading.AS_REAL).encode()


def test_an_opened_estimate_offers_no_choice(path: Path, tmp_path: Path) -> None:
    at = uploaded(released(tmp_path, mechanism="map").document)
    assert "file.reading" not in [control.key for control in at.segmented_control]
    assert "no intervals" in frame_of(boards(at)[-1])["captions"]["rows"]


def test_a_file_is_checked_and_a_changed_one_is_not_shown(path: Path, tmp_path: Path) -> None:
    data = released(tmp_path).document
    at = uploaded(data)
    assert is_valid(at)
    changed = data.replace(b'"n":60', b'"n":61')
    fine(at.file_uploader(key="release.file").set_value(("release.json", changed, "application/json")).run())
    assert "not a valid release" in at.error[0].value
    assert not boards(at)


def test_of_a_large_release_a_few_rows_are_shown_and_answers_are_naive(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, checked = released(tmp_path).document, []
    monkeypatch.setattr(opened_release, "MOST_CELLS", 1)
    monkeypatch.setattr(static, "ROWS_SHOWN", 2)
    monkeypatch.setattr(opened_release, "verify", lambda data: checked.append(data) or verify(data))
    at = uploaded(data)
    assert len(rows(at)[0]["x"]) == 2
    assert "Answers and files are naive" in "\n".join(captions(at))
    fine(at.multiselect(key="file.given").set_value(["rain = yes"]).run())
    assert checked.count(data) == 1, "checked once, not at every move"


def test_the_recipient_sees_nothing_of_the_ledger_and_makes_no_release(path: Path, tmp_path: Path) -> None:
    released(tmp_path)
    at = open_page(PAGE, seat="recipient")
    assert "garden" not in "\n".join([*(m.value for m in at.markdown), *captions(at)])
    assert make_button(at) is None
