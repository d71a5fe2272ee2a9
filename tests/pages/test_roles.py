"""Every page as each role sees it: what a role may not do is a sentence, and nothing of it is drawn."""

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.releases import ledger
from dpbayes.ui.session import roles
from dpbayes.ui.session.connections import DATA_ROOT
from dpbayes.ui.session.roles import OWNER, REFUSALS, VISITOR, Act, Person
from tests.pages.conftest import everything, fine, open_page, press, sentences
from tests.releases.made import COLUMNS, CSV, opened

PAGE = "pages/release.py"

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
    at = open_page(PAGE)
    assert not said(at), "no locked door"
    assert "anyone could" in at.info[0].value, "the example"
    assert "garden" not in everything(at)
    assert "segments.seat" not in [control.key for control in at.segmented_control], "there is no other view"
    assert str(path) not in everything(at)
    assert [box.key for box in at.get("file_uploader")] == ["release.file"]


@pytest.mark.parametrize("mechanism", ["LaplaceUpdates", "AdaptiveTables"])
def test_only_the_curator_makes_real_releases(path: Path, become: Become, mechanism: str) -> None:
    become(VISITOR)
    at = open_page(PAGE, mechanism=mechanism)
    assert not [button.label for button in at.button if "spend" in button.label]
    become(OWNER)
    at = fine(at.run())
    make = next(button for button in at.button if "spend" in button.label)
    become(VISITOR)
    fine(make.click().run())
    assert [event.kind for event in ledger.read_books(path).events] == [ledger.EventKind.BEGUN, ledger.EventKind.OPENED]


def test_a_visitor_without_the_right_has_no_upload(become: Become) -> None:
    at = open_page("pages/data.py", data="upload")
    at.get("file_uploader")[0].set_value(("garden.csv", CSV.encode(), "text/csv"))
    fine(at.run())
    assert "The columns of the table" in everything(at)
    become(VISITOR)
    fine(at.run())
    assert "The columns of the table" not in everything(at)
    assert REFUSALS[Act.UPLOAD] in said(at)
    assert "Upload" not in open_page("pages/data.py").segmented_control(key="origin").options
    assert REFUSALS[Act.UPLOAD] in said(fine(at.switch_page("pages/explore.py").run()))
    fine(at.switch_page("pages/data.py").run())
    become(OWNER)
    assert "The columns of the table" in everything(fine(at.run())), "nothing is lost"


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


def test_the_ledger_has_each_act_on_a_budget_with_its_time_and_no_record(
    path: Path, become: Become, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tables").mkdir()
    secret = ["zebra-17", "quagga-4711"]
    pd.DataFrame({"stripes": secret * 20}).to_parquet(tmp_path / "tables" / "garden.parquet")
    monkeypatch.setenv(DATA_ROOT, str(tmp_path / "tables"))
    become(OWNER)
    before = datetime.now(UTC).replace(microsecond=0)
    at = open_page(PAGE)
    fine(next(box for box in at.selectbox if box.label == "Dataset and its budget").set_value("garden").run())
    next(box for box in at.text_input if box.label.startswith("New total budget ε")).set_value("4")
    at.text_input(key="ledger.why").set_value("more")
    press(at, "Raise budget")
    assert ledger.read_books(path).account("garden").budget == 4
    opened_table = press(open_page("pages/data.py", data="connected:files"), "Open")
    assert secret[0] in everything(opened_table)
    press(open_page(PAGE), "Release and spend ε = 1")
    rows = ledger.read_books(path).events[-5:]
    assert [(row.kind, row.dataset) for row in rows] == [
        (ledger.EventKind.RAISED, "garden"),
        (ledger.EventKind.OPENED, "asia"),
        (ledger.EventKind.TABLE, "asia"),
        (ledger.EventKind.RESERVED, "asia"),
        (ledger.EventKind.RELEASED, "asia"),
    ]
    times = [datetime.fromisoformat(row.time) for row in rows]
    assert times == sorted(times)
    assert before <= times[0] <= times[-1] <= datetime.now(UTC)
    kept = b"".join(file.read_bytes() for file in path.parent.glob("ledger.sqlite*"))
    assert b"more" in kept, "the rows are in these files"
    assert not [text for text in ("stripes", *secret) if text.encode() in kept]
