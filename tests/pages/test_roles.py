"""Every page as each role sees it: what a role may not do is a sentence, and nothing of it is drawn."""

import ast
from collections.abc import Callable
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.amounts import Rho
from dpbayes.releases import ledger
from dpbayes.ui.session import roles
from dpbayes.ui.session.connections import DATA_ROOT
from dpbayes.ui.session.roles import OWNER, REFUSALS, VISITOR, Act, Person
from tests.browser.serving import ROOT
from tests.pages.conftest import everything, fine, headline, open_page, press, sentences
from tests.releases.made import COLUMNS, CSV, opened

NO_LEDGER = REFUSALS[Act.READ_LEDGER]
NO_CHANGES = REFUSALS[Act.RELEASE]

Become = Callable[[Person], None]


@pytest.fixture
def become(monkeypatch: pytest.MonkeyPatch) -> Become:
    """What makes somebody else of the person for whom pages run."""
    return lambda who: monkeypatch.setattr(roles, "of_connection", lambda: who)


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the server's ledger is, with a budget for one dataset."""
    monkeypatch.setenv("DPBAYES_LEDGER", str(tmp_path / "ledger.sqlite"))
    return opened(tmp_path, budget="3")


def said(at: AppTest) -> str:
    return "\n".join(sentences(at)).replace("\\", "")


def test_a_visitor_checks_files_and_sees_nothing_of_the_ledger(path: Path, become: Become) -> None:
    become(VISITOR)
    at = open_page("pages/ledger.py")
    assert NO_LEDGER in said(at)
    assert "garden" not in everything(at)
    assert str(path) not in everything(at)
    assert not at.text_input
    assert [box.key for box in at.get("file_uploader")] == ["ledger.file"]


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(("page", "part"), [("pages/explore.py", "make"), ("pages/network.py", "adaptive")])
def test_only_the_curator_makes_real_releases(path: Path, become: Become, page: str, part: str) -> None:
    ledger.open_dataset(path, "garden-in-rho", Rho(Fraction(3)), reason="for a test")
    become(VISITOR)
    at = fine(_with_open(open_page(page), part).run())
    assert NO_CHANGES in said(at)
    assert not [button.label for button in at.button if "spend" in button.label]
    assert "garden" not in everything(at)
    become(OWNER)
    at = fine(at.run())
    at.selectbox(key=f"{part}.dataset").set_value("garden-in-rho" if part == "adaptive" else "garden")
    assert [button.label for button in fine(at.run()).button if "spend" in button.label]


def _with_open(at: AppTest, part: str) -> AppTest:
    at.session_state[part] = True
    return at


def test_a_visitor_without_the_right_has_no_upload(become: Become) -> None:
    at = open_page("pages/data.py", data="upload")
    at.get("file_uploader")[0].set_value(("garden.csv", CSV.encode(), "text/csv"))
    fine(at.run())
    assert "garden.csv" in everything(at)
    become(VISITOR)
    fine(at.run())
    assert "garden.csv" not in everything(at)
    assert REFUSALS[Act.UPLOAD] in said(at)
    assert "Upload" not in open_page("pages/data.py").get("button_group")[1].options
    become(OWNER)
    assert "garden.csv" in everything(fine(at.run())), "nothing is lost"


def test_a_visitor_keeps_no_connection(become: Become, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pd.DataFrame({column.name: ["no", "yes"] for column in COLUMNS}).to_parquet(tmp_path / "garden.parquet")
    monkeypatch.setenv(DATA_ROOT, str(tmp_path))
    at = open_page("pages/data.py", data="connected:files")
    press(at, "Open")
    assert "Connected: garden.parquet" in everything(at).replace("\\", "")
    become(VISITOR)
    fine(at.run())
    assert "Connected:" not in everything(at)
    assert REFUSALS[Act.CONNECT] in said(at)


# Who did what


def test_the_ledger_says_who_did_what(path: Path, become: Become) -> None:
    fine(open_page("pages/ledger.py").run())
    at = fine(_with_open(open_page("pages/explore.py"), "make").run())
    fine(at.checkbox(key="make.unseen").check().run())
    fine(next(button for button in at.button if button.label.startswith("Make release")).click().run())
    rows = [(row.person, row.act, row.dataset) for row in ledger.accesses(path)]
    assert rows == [(OWNER.name, "read the ledger", ""), (OWNER.name, "began a release", "garden")]
    at = fine(_with_open(open_page("pages/ledger.py"), "ledger.log").run())
    log = next(frame.value for frame in at.dataframe if "act" in frame.value)
    assert list(log["act"]) == ["read the ledger", "began a release", "read the ledger"]


ACTS = {
    "read the ledger",
    "created a dataset",
    "raised a budget",
    "opened a connected table",
    "began a release",
    "began an adaptive release",
}


def test_acts_are_words_of_the_program_and_never_of_a_table() -> None:
    """Every act in the audit log is written out where it happens; a dataset's or a person's name is no part of it."""
    acts: list[ast.expr] = []
    for file in (ROOT / "dpbayes" / "ui").rglob("*.py"):
        calls = [node for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))) if isinstance(node, ast.Call)]
        for call in calls:
            name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
            if file.name == "charging.py" and name in ("noted", "record_access"):
                continue  # which are given the act
            acts += call.args[:1] if name == "noted" else call.args[2:3] if name == "record_access" else []
            acts += [word.value for word in call.keywords if word.arg == "act"]
    assert all(isinstance(act, ast.Constant) for act in acts)
    assert {act.value for act in acts if isinstance(act, ast.Constant)} == ACTS
    assert len(acts) == len(ACTS)


def test_the_log_has_who_created_raised_opened_and_released_when_and_no_record(
    path: Path, become: Become, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tables").mkdir()
    secret = ["zebra-17", "quagga-4711"]
    pd.DataFrame({"stripes": secret * 20}).to_parquet(tmp_path / "tables" / "garden.parquet")
    monkeypatch.setenv(DATA_ROOT, str(tmp_path / "tables"))
    become(OWNER)
    before = datetime.now(UTC).replace(microsecond=0)
    at = open_page("pages/ledger.py")
    for key, text in (("name", "votes"), ("budget", "1"), ("reason", "a try")):
        at.text_input(key=f"ledger.{key}").set_value(text)
    press(at, "Create dataset")
    fine(at.selectbox(key="ledger.raised").set_value(1).run())
    at.text_input(key="ledger.new").set_value("4")
    at.text_input(key="ledger.why").set_value("more")
    press(at, "Raise budget")
    assert ledger.account_of(path, "votes").budget == 4
    at = press(open_page("pages/data.py", data="connected:files"), "Open")
    assert secret[0] in everything(at)
    adaptive = fine(_with_open(open_page("pages/network.py"), "adaptive").run())
    fine(adaptive.text_input(key="adaptive.delta").set_value("0").run())
    fine(adaptive.selectbox(key="adaptive.dataset").set_value("garden").run())
    press(
        adaptive, next(button.label for button in adaptive.button if button.label.startswith("Make adaptive release"))
    )
    rows = ledger.accesses(path)
    assert [(row.person, row.act, row.dataset) for row in rows] == [
        (OWNER.name, "read the ledger", ""),
        (OWNER.name, "created a dataset", "votes"),
        (OWNER.name, "raised a budget", "votes"),
        (OWNER.name, "opened a connected table", "files"),
        (OWNER.name, "began an adaptive release", "garden"),
    ]
    times = [datetime.fromisoformat(row.time) for row in rows]
    assert times == sorted(times)
    assert before <= times[0] <= times[-1] <= datetime.now(UTC)
    kept = b"".join(file.read_bytes() for file in path.parent.glob("ledger.sqlite*"))
    assert b"created a dataset" in kept, "the log is in the ledger's own database"
    assert not [text for text in ("stripes", *secret) if text.encode() in kept]


def test_a_ledger_that_cannot_be_written_is_shown_all_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise ledger.LedgerError("The ledger cannot be written.")

    monkeypatch.setattr(ledger, "record_access", refuse)
    at = open_page("pages/ledger.py")
    assert headline(at).startswith("garden has")
    assert "The ledger cannot be written." in said(at)
