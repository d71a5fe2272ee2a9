"""Data > Connect: a table that stays where it is, from its first look to a real release, and what strangers try."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pytest
from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest

from dpbayes.releases import ledger
from dpbayes.releases.document import read_document
from dpbayes.sources.columns import Categories, encode
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.engines.table import Engine
from dpbayes.ui.session import connected as module
from dpbayes.ui.session.connected import Scan
from dpbayes.ui.session.connections import CONNECT, DATA_ROOT
from dpbayes.ui.session.link import query_of
from dpbayes.ui.session.options import Scene
from dpbayes.ui.session.settings import Seat, Settings
from dpbayes.ui.widgets.scanning import PAGES_OF_COUNTS
from tests.conftest import thorough
from tests.pages.conftest import (
    boards,
    everything,
    figures,
    fine,
    frame_of,
    headline,
    one_sentence,
    open_page,
    page_headline,
    plain,
    press,
    sentences,
    settings_of,
)
from tests.releases.made import opened

PAGE = "pages/data.py"
PASSWORD = "hunter2"

FRAME = pd.DataFrame(
    {
        "rain": np.random.default_rng(1).choice(["no", "yes", None], 300, p=[0.6, 0.3, 0.1]),
        "grass": np.random.default_rng(2).choice(["dry", "wet"], 300),
        "height": np.arange(300),
    }
)

COLUMNS = (
    DeclaredColumn("rain", Categories("rain", ("no", "yes"), public=True, missing="unknown")),
    DeclaredColumn("grass", Categories("grass", ("dry", "wet"), public=True, missing="unknown")),
    DeclaredColumn("height", use=False),
)


@pytest.fixture(scope="module")
def garden(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of DuckDB, of one and of two tables, beside one that the server must not read."""
    root = tmp_path_factory.mktemp("owner") / "data"
    root.mkdir()
    tables = {root / "garden.duckdb": 1, root / "base.duckdb": 2, root.parent / "secret.duckdb": 2}
    for path, number in tables.items():
        with duckdb.connect(str(path)) as database:
            database.register("frame", FRAME)
            for name in ("garden", "other")[:number]:
                database.execute(f"create table {name} as select * from frame")
    (root / "out.duckdb").symlink_to(root.parent / "secret.duckdb")
    return root


@pytest.fixture(autouse=True)
def server(garden: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(DATA_ROOT, str(garden))
    monkeypatch.setenv(CONNECT, f"base=duckdb:{garden / 'base.duckdb'}\nmissing=duckdb:{garden / 'gone.duckdb'}")


def connected_page() -> AppTest:
    """The Data page with a file connected and nothing declared."""
    at = open_page(PAGE, data="connected:files")
    fine(at.selectbox(key="connect.file").set_value("garden.duckdb").run())
    press(at, "Open")
    return at


def declared_page(columns: tuple[DeclaredColumn, ...] = COLUMNS) -> AppTest:
    at = connected_page()
    at.session_state["connected"] = at.session_state["connected"].declared(columns)
    return fine(at.run())


def counted_page() -> AppTest:
    return press(declared_page(), "Count the table")


def in_memory() -> Any:
    text = FRAME.astype("str").where(FRAME.notna(), "")
    return encode(text, [column.domain for column in COLUMNS if column.domain is not None])


def test_a_file_below_the_root_is_looked_at_declared_and_counted() -> None:
    at = connected_page()
    assert page_headline(at).endswith("the columns need a correction.")
    one_sentence(at, 'Column "rain" has no values')
    preview, columns = (frame.value for frame in at.dataframe[:2])
    assert (len(preview), list(preview.columns)) == (10, ["rain", "grass", "height"])
    assert columns["column"].tolist() == ["rain", "grass", "height"]
    assert columns["type"].tolist()[0] == "string"
    at.session_state["connected"] = at.session_state["connected"].declared(COLUMNS)
    fine(at.run())
    assert page_headline(at).startswith("garden.duckdb, main.garden: 2 columns, not counted yet.")
    press(at, "Count the table")
    assert page_headline(at).startswith("garden.duckdb, main.garden: 300 records with 2 columns.")
    assert not sentences(at)
    (board,) = boards(at)
    codes = in_memory().column("rain")
    bar, *_ = frame_of(board)["figures"]["columns"]["data"]
    drawn = [records for _, records in bar["customdata"]]
    assert drawn == np.bincount(codes, minlength=3).tolist()


def test_a_table_of_a_database_is_chosen_by_the_public_name_of_its_connection() -> None:
    at = open_page(PAGE, data="connected:base")
    press(at, "Open")
    tables = at.selectbox(key="connect.table")
    assert len(tables.options) == 2
    fine(tables.set_value(next(name for name in tables.options if "garden" in name)).run())
    press(at, "Connect")
    assert at.session_state["connected"].title.startswith("base, ")
    assert query_of(settings_of(at)) == {"data": "connected:base"}


def test_domains_are_proposed_on_demand_and_marked_as_a_leak() -> None:
    at = connected_page()
    press(at, "Propose values for 3 columns from the data (leaks information)")
    mine = at.session_state["connected"]
    assert [mine.domain(0).states, mine.domain(1).states] == [("no", "yes"), ("dry", "wet")]
    assert mine.columns[2].use is False, "a different value in each record"
    assert mine.leaks == {"rain", "grass"}
    assert "Not yet declared public: the values of" in everything(at)
    assert not any("Propose values" in button.label for button in at.button)


OF_COUNTS = tuple(f"pages/{name}.py" for name in sorted(PAGES_OF_COUNTS))


def test_pages_work_on_counts_alone_and_another_page_or_epsilon_scans_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    at = counted_page()
    monkeypatch.setattr(module, "_engine", lambda *_: pytest.fail("scanned again"))
    for page in thorough(OF_COUNTS, sample=("pages/network.py",)):
        fine(at.switch_page(page).run())
        assert not sentences(at), page
    fine(at.switch_page("pages/explore.py").run())
    at.session_state["settings"] = settings_of(at).with_parameter("epsilon", 3.0)
    fine(at.run())
    assert "ε = 3" in headline(at)
    fine(at.switch_page(PAGE).run())
    assert "300 records" in page_headline(at)


def test_a_changed_graph_is_counted_at_once_after_a_quick_scan_and_on_request_after_a_slow_one() -> None:
    at = counted_page()
    fine(at.switch_page("pages/network.py").run())
    press_choice(at, "columns.bayes")
    assert not asks(at)
    net = at.session_state["network"][1]
    assert net.edges == (("rain", "grass"),)
    assert list(at.session_state["connected.scans"].values())[-1].result.network == net
    at.session_state["connected.scans"] = {
        key: Scan(scan.result, 2.0) for key, scan in at.session_state["connected.scans"].items()
    }
    fine(at.selectbox(key="start.kind").set_value("columns.bayes").run())
    fine(at.selectbox(key="start.class").set_value("grass").run())
    press(at, "Replace the drawing")
    assert asks(at)
    press(at, "Count the table")
    assert not asks(at)


def asks(at: AppTest) -> bool:
    """Whether the page asks for a scan."""
    return any(button.label == "Count the table" for button in at.button)


def press_choice(at: AppTest, kind: str) -> None:
    fine(at.selectbox(key="start.kind").set_value(kind).run())
    press(at, "Replace the drawing")


def test_pages_that_need_records_say_so_and_records_can_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    at = counted_page()
    at.session_state["settings"] = settings_of(at).with_parameter("accuracy.scene", Scene.TABLE)
    fine(at.switch_page("pages/lab.py").run())
    assert "This view needs records, but the records of" in everything(at)
    fine(at.switch_page(PAGE).run())
    monkeypatch.setattr("dpbayes.ui.pages.data.MOST_RECORDS", 100)
    fine(at.run())
    press(at, "Take a random sample of 100 records")
    assert settings_of(at).data == "upload"
    assert page_headline(at).startswith("random sample of garden.duckdb, main.garden: 100 records with 2 columns.")
    said = plain(everything(at))
    assert "A simple random sample of 100 records of garden.duckdb, main.garden, without replacement" in said
    mine = at.session_state["upload"]
    assert mine.encoded[0] == COLUMNS[0].domain
    drawn = set(mine.frame["height"].astype(int))
    assert len(drawn) == 100
    assert drawn != set(range(100))


def test_a_value_that_is_not_declared_is_one_sentence_and_can_be_tried_again() -> None:
    wrong = (COLUMNS[0], DeclaredColumn("grass", Categories("grass", ("dry",), public=True)), COLUMNS[2])
    at = press(declared_page(wrong), "Count the table")
    assert "not counted yet" in page_headline(at)
    one_sentence(at, 'There are undeclared values in "grass"')
    fine(at.switch_page("pages/explore.py").run())
    one_sentence(press(at, "Try again"), 'There are undeclared values in "grass"')


def test_the_recipient_sees_the_domains_and_nothing_of_the_records() -> None:
    at = counted_page()
    at.session_state["settings"] = Settings(data="connected:files", seat=Seat.RECIPIENT)
    fine(at.run())
    assert page_headline(at) == "The curator’s table: 300 records with 2 columns."
    assert len(at.dataframe) == 1
    assert not figures(at)
    assert not any(button.label in ("Open", "Connect", "Count again") for button in at.button)
    assert "curator only" not in everything(at).lower()


def test_a_real_release_is_made_of_an_engines_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPBAYES_LEDGER", str(tmp_path / "ledger.sqlite"))
    path = opened(tmp_path)
    at = counted_page()
    at.session_state["settings"] = settings_of(at).with_parameter("epsilon", 0.5)
    fine(at.switch_page("pages/release.py").run())
    fine(next(box for box in at.selectbox if box.label == "Dataset and its budget").set_value("garden").run())
    assert ledger.RECORDS_ELSEWHERE in everything(at)
    press(at, "Release and spend ε = 0.5")
    (spending,) = ledger.read_books(path).of("garden")
    assert read_document(ledger.outcome(path, spending.row)).request.n == 300


# Strangers


@pytest.mark.parametrize(
    "typed", ["../secret.duckdb", "out.duckdb", "/etc/passwd", "file:garden.duckdb", "%2e%2e/secret.duckdb"]
)
def test_no_path_that_is_typed_leads_out_of_the_root(typed: str) -> None:
    at = open_page(PAGE, data="connected:files")
    fine(at.selectbox(key="connect.file").set_value("Other path …").run())
    fine(at.text_input(key="connect.path").set_value(typed).run())
    press(at, "Open")
    assert "connected" not in at.session_state
    one_sentence(at, "has a character" if "%" in typed else "The data root does not contain")
    assert "secret.duckdb" not in sentences(at)[0].replace(typed, "")


def test_a_strangers_view_reads_nothing_outside_the_root(garden: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.csv").write_text(f"x\n{PASSWORD}\n")
    FRAME.to_parquet(garden / "beside.pq")
    place = garden / "stranger.ddb"
    with duckdb.connect(str(place)) as database:
        database.execute(f"create view outside as from read_csv('{tmp_path}/secret.csv')")
        database.execute(f"create view beside as from read_parquet('{garden}/beside.pq')")
    try:
        for name in ("outside", "beside"):
            at = open_page(PAGE, data="connected:files")
            fine(at.selectbox(key="connect.file").set_value("stranger.ddb").run())
            press(at, "Open")
            fine(at.selectbox(key="connect.table").set_value(f"main.{name}").run())
            press(at, "Connect")
            if name == "outside":
                one_sentence(at, "a view may only use files in the data root")
                assert "connected" not in at.session_state
                assert PASSWORD not in everything(at)
            else:
                at.session_state["connected"] = at.session_state["connected"].declared(COLUMNS)
                assert "300 records" in page_headline(press(fine(at.run()), "Count the table"))
    finally:
        place.unlink()
        (garden / "beside.pq").unlink()


def test_a_forged_value_of_a_control_connects_nothing() -> None:
    for key in ("connect.name", "connect.file"):
        at = open_page(PAGE, data="connected:files")
        control = at.selectbox(key=key)
        forged = WidgetStates(widgets=[WidgetState(id=control.id, string_value="../secret.duckdb")])
        fine(at._run(forged))
        if any(button.label == "Open" for button in at.button):
            press(at, "Open")
        assert not at.dataframe
        state = at.session_state
        assert "connect.tables" not in state or state["connect.tables"][1] == "base.duckdb"
    with pytest.raises(module.InputError, match="This connection has no table"):
        module.connect("base", "", "read_parquet('/etc/passwd')")


def test_the_tab_is_there_only_where_the_owner_names_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Connect" in open_page(PAGE).segmented_control(key="origin").options
    monkeypatch.setenv(CONNECT, "")
    monkeypatch.setenv(DATA_ROOT, "/nowhere")
    at = open_page(PAGE)
    assert "Connect" in at.segmented_control(key="origin").options, "the tab says what is wrong"
    monkeypatch.setenv(DATA_ROOT, "")
    assert "Connect" not in open_page(PAGE).segmented_control(key="origin").options
    at = open_page(PAGE, data="connected")
    assert "--data-root FOLDER" in at.info[0].value
    assert "--connect NAME=ADDRESS" in at.info[0].value
    fine(at.switch_page("pages/explore.py").run())
    one_sentence(at, "No table is connected in this session")


def test_a_connection_that_is_gone_is_one_sentence() -> None:
    at = press(open_page(PAGE, data="connected:missing"), "Open")
    assert len(sentences(at)) == 1
    assert "connected" not in at.session_state


def test_no_password_and_no_address_is_in_the_session_the_link_or_a_message(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, garden: Path
) -> None:
    def failing(address: str, *_: object) -> Any:
        raise RuntimeError(f"could not connect to {address} as reader with {PASSWORD}")

    at = counted_page()
    monkeypatch.setattr(Engine, "counts", lambda engine, *_: failing(engine.title))
    monkeypatch.setattr(module, "tables_of", failing)
    press(at, "Count again")
    press(at, "Count the table")
    fine(at.switch_page("pages/explore.py").run())
    one_sentence(at, "The connection failed while the table was counted")
    at = press(open_page(PAGE, data="connected:base"), "Open")
    one_sentence(at, "The connection failed while the tables were listed")
    texts = [everything(at), caplog.text, str(query_of(settings_of(at))), *values_in(at)]
    for secret in (PASSWORD, str(garden)):
        assert not [text for text in texts if secret in text]


def values_in(at: AppTest) -> Iterator[str]:
    """Everything the session holds, written out as far as it tells."""
    for key, value in at.session_state._state.filtered_state.items():
        yield f"{key} {value!r} {getattr(value, '__dict__', '')!r}"
