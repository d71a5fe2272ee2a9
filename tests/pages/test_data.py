"""The Data page: every origin, every refusal, and nothing of the curator's for the recipient."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.text import many
from dpbayes.experiments.claims import BoundClaim
from dpbayes.releases import ledger
from dpbayes.releases.document.document import READ_CUTS, read_document
from dpbayes.sources.columns import Categories, Cuts
from dpbayes.sources.domains import DeclaredColumn, read_domains, write_domains
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.pages.data_columns import FROM_RECORDS, LEAK
from dpbayes.ui.session.graphs import MAX_NAME
from dpbayes.ui.session.options import ProofsView
from dpbayes.ui.session.settings import Seat
from dpbayes.ui.widgets.from_python import DESCRIPTION
from tests.conftest import thorough
from tests.pages.conftest import (
    PAGES,
    WITHOUT_DATA,
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
    put,
    sentences,
    settings_of,
    take_seat,
)
from tests.sources.test_typed_files import workbook

PAGE = "pages/data.py"
ABOUT_DATA = [page for page in PAGES if page not in (*WITHOUT_DATA, "pages/release.py")]  # which needs public states


def test_every_shipped_table_opens_and_is_what_the_headline_says() -> None:
    at = open_page(PAGE)
    fine(at.segmented_control(key="origin").set_value("table").run())
    for key in SHIPPED:
        fine(at.selectbox(key="ready").set_value(key).run())
        assert settings_of(at).data == key
        domains = at.dataframe[0].value
        assert f"records with {len(domains)} columns" in page_headline(at)
        records = sum(distribution(at))
        assert f"{int(records):,} records" in page_headline(at)


def distribution(at: AppTest) -> list[float]:
    """Return the number of records in each state of the first column."""
    (board,) = boards(at)
    return [records for _, records in frame_of(board)["figures"]["columns"]["data"][0]["customdata"]]


def test_any_number_of_records() -> None:
    at = open_page(PAGE)
    for n in (0, 1, 2, 1000):
        put(at, "box.records", str(n))
        assert f"{many(n, 'synthetic record')} of the Asia network with 8 columns." in page_headline(at)
        assert sum(distribution(at)) == n


def type_cells(at: AppTest, key: str, rows: dict[int, dict[str, Any]]) -> AppTest:
    at.session_state[key] = {"edited_rows": rows, "added_rows": [], "deleted_rows": []}
    return fine(at.run())


def test_the_recipient_sees_domains_and_nothing_of_the_records() -> None:
    for query in ({}, {"data": "adult"}, {"data": "fulton_census"} if "fulton_census" in SHIPPED else {}):
        at = open_page(PAGE, seat="recipient", **query)
        assert not figures(at)
        assert len(at.dataframe) == 1
        assert "curator only" not in everything(at).lower()
        assert not at.get("file_uploader")


# Uploads


def load(at: AppTest, content: bytes | str, name: str = "mine.csv") -> AppTest:
    data = content.encode() if isinstance(content, str) else content
    return fine(at.file_uploader(key="table.file").set_value((name, data, "text/csv")).run())


GOOD = "weather,wet\nsun,no\nrain,yes\nrain,yes\nsun,no\n"


@pytest.fixture
def at() -> AppTest:
    """The Data page with a good table loaded."""
    at = load(open_page(PAGE, data="upload"), GOOD)
    assert not refusals(at)
    assert "4 records with 2 columns" in page_headline(at)
    return at


def refusals(at: AppTest) -> list[str]:
    """Return what is wrong; not that a table is smaller than the 50 records on which Accuracy trains by default."""
    small = re.compile(
        r"With 50 training records of \d+ records, no test record is left\. "
        r".* The page shows the nearest possible setting: .*"
    )
    return [sentence for sentence in sentences(at) if not small.match(sentence)]


def editor(at: AppTest) -> str:
    mine = at.session_state["upload"]
    return f"columns.editor.{mine.key}"


def edit(at: AppTest, rows: dict[int, dict[str, Any]]) -> AppTest:
    return type_cells(at, editor(at), rows)


def go(at: AppTest, page: str) -> AppTest:
    """Open another page. Streamlit forgets what was typed into a table that is not on it; a test must do so itself."""
    fine(at.switch_page(page).run())
    if page != PAGE and editor(at) in at.session_state:
        del at.session_state[editor(at)]
    return fine(at.run())


def domain_table(at: AppTest) -> pd.DataFrame:
    """Return the table of columns as a browser shows it, with what was typed into it."""
    shown = at.dataframe[0].value.copy()
    key = editor(at) if "upload" in at.session_state else ""
    for line, cells in at.session_state.get(key, {}).get("edited_rows", {}).items():
        for name, value in cells.items():
            shown.loc[line, name] = value
    return shown


# Declared domains

AGES = "age,wet\n" + "".join(f"{20 + k % 61},{'yes' if k % 3 else 'no'}\n" for k in range(200))


def test_declared_domains_stay_while_other_pages_are_looked_at(at: AppTest) -> None:
    load(at, AGES)
    assert domain_table(at)["values"][0] != "cut at 30"
    edit(at, {0: {"values": "cut at 30", "public": True}, 1: {"public": True, "missing": "own value"}})
    assert not sentences(at)
    release = headline(go(at, "pages/explore.py"))
    assert "age < 30" in at.multiselect(key="question.given").options
    for page in ("pages/home.py", "pages/lab.py", PAGE, "pages/network.py", PAGE):
        go(at, page)
    assert not sentences(at)
    shown = domain_table(at)
    assert shown["values"].tolist() == ["cut at 30", "no; yes"]
    assert shown["public"].tolist() == [True, True]
    assert shown["missing"].tolist() == ["none", "own value"]
    assert headline(go(at, "pages/explore.py")) == release
    edit(go(at, PAGE), {1: {"use": False}})
    go(at, "pages/home.py")
    assert domain_table(go(at, PAGE))["use"].tolist() == [True, False]


def test_what_leaks_is_stated_once_until_it_is_declared_public(at: AppTest) -> None:
    load(at, AGES)
    assert "Not yet declared public: the values of 2 of 2 columns." in plain(everything(at))
    assert sum(plain(LEAK + FROM_RECORDS) in plain(c.value) for c in at.caption) == 1
    one_sentence(go(at, "pages/release.py"), "were read from the records")
    assert not [button for button in at.button if button.key == "release.make"]
    press(go(at, PAGE), at.button(key="all.public").label)
    assert domain_table(at)["public"].tolist() == [False, True]
    press(at, at.button(key="all.round").label)
    assert domain_table(at)["values"][0] == "cut at 40; 60"
    assert domain_table(at)["public"].all()
    edit(at, {1: {"public": False}})
    press(at, at.button(key="all.public").label)
    assert domain_table(at)["public"].all()
    assert not [button for button in at.button if button.key == "all.public"]
    assert plain(LEAK) not in plain(everything(at))


@pytest.mark.parametrize("age", [{"public": True}, {"public": True, "values": "cut at 30"}])
def test_a_release_states_cut_points_from_the_records(at: AppTest, path: Path, age: dict[str, Any]) -> None:
    go(edit(load(at, AGES), {0: age, 1: {"public": True}}), "pages/release.py")
    fine(at.button(key="release.make").click().run())
    (row,) = ledger.read_books(path).spendings
    document = read_document(ledger.outcome(path, row))
    has_read_cuts = READ_CUTS in document.drawn.looked
    assert has_read_cuts is ("values" not in age)
    assert any("except cut points" in text for text in document.content["certificate"]["not_covered"]) is has_read_cuts
    assert f"looked at {document.drawn.looked}." in plain(everything(at))


def test_a_line_that_is_wrong_leaves_its_column_as_it_was_and_takes_the_others(at: AppTest) -> None:
    load(at, AGES)
    before = domain_table(at)["values"][0]
    edit(at, {0: {"values": "cut at young; old"}, 1: {"values": "no; yes; perhaps", "public": True}})
    assert len(refusals(at)) == 1
    assert "must be numbers" in refusals(at)[0]
    go(at, "pages/home.py")
    assert domain_table(go(at, PAGE))["values"].tolist() == [before, "no; yes; perhaps"]
    assert not refusals(at)


def test_what_was_typed_for_one_file_is_not_taken_for_the_next(at: AppTest) -> None:
    edit(at, {0: {"values": "sun; rain; snow", "public": True}})
    load(at, "colour,size\nred,1\nblue,2\n", "next.csv")
    assert domain_table(at)["values"].tolist() == ["blue; red", "1; 2"]
    assert not domain_table(at)["public"].any()
    assert not refusals(at)


BAD_FILES = {
    "bad.csv": (b'a,b\n1,"2\n3,4\n5,6\n', "is not closed"),
    "bad.parquet": (b"a,b\n1,2\n", "not a readable Parquet file"),
    "bad.xlsx": (workbook([["a"]]), "no records"),
}
"""One of each format; the tests of the readers have every fault."""


def test_a_bad_file_is_one_sentence_and_the_table_before_stays(at: AppTest) -> None:
    """One after another; and a good one is taken after them all."""
    for name, (content, part) in BAD_FILES.items():
        load(at, content, name)
        refused = refusals(at)
        assert len(refused) == 1, refused
        assert part in refused[0]
        assert "mine.csv: 4 records with 2 columns" in page_headline(at)
    load(at, "x,y\n1,2\n3,4\n", "next.csv")
    assert not refusals(at)
    assert "next.csv" in page_headline(at)


UNUSABLE = {
    "no values": b"a,b\n,\n,\n",
    "only marks of missing values": b'a,b\n NA ,?\n"",nan\n',
    "only long names": f"{'x' * (MAX_NAME + 1)},{'y' * (MAX_NAME + 1)}\n1,2\n3,4\n".encode(),
    "only texts that all differ": b"a\n" + b"".join(b"p%d\n" % i for i in range(300)),
}


def test_a_file_without_a_column_to_use_is_one_sentence_and_the_table_before_stays(at: AppTest) -> None:
    edit(at, {0: {"values": "sun; rain; snow", "public": True}})
    for name, content in UNUSABLE.items():
        load(at, content, "useless.csv")
        assert len(refusals(at)) == 1, (name, refusals(at))
        assert refusals(at)[0].startswith("The file has no usable column.")
        fine(at.switch_page("pages/home.py").run())
        assert "mine.csv: 4 records with 2 columns" in page_headline(fine(at.switch_page(PAGE).run()))
        assert domain_table(at)["values"][0] == "sun; rain; snow"


def test_odd_names_are_text_on_every_page_and_a_column_may_be_constant(at: AppTest) -> None:
    names = ["<b>x</b>", '"""q"""', "$\\frac{1}{2}$", "=1+1", "records", "private", "[l](http://x)", '"two\nlines"']
    lines = (names, ["<i>"] * len(names), ["<i>", *["b"] * (len(names) - 1)])
    load(at, "".join(f"{','.join(line)}\n" for line in lines))
    assert at.session_state["upload"].dataset.states[0] == ("<i>",)
    assert not refusals(at)
    fine(at.button(key="all.public").click().run())
    for page in thorough(PAGES, sample=ABOUT_DATA):
        fine(at.switch_page(page).run())
        for seat in Seat:
            take_seat(at, seat)
            assert not refusals(at)
            for element in (*at.markdown, *at.caption, *at.warning, *at.info):
                assert "<b>" not in element.value
                assert "<i>" not in element.value
            for chart in figures(at).values():
                assert "<b>" not in repr(chart["layout"])
                assert "<i>" not in repr(chart)


def test_missing_values_are_a_state_or_count_as_another_and_leave_no_record_out(at: AppTest) -> None:
    load(at, "weather,wet\nsun,no\nrain,yes\n,yes\nsun,no\n")
    assert at.dataframe[0].value["missing"][0] == "own value"
    assert "4 records" in page_headline(at)
    for rule in ("none", "counts as rain"):
        edit(at, {0: {"missing": rule}})
        assert "4 records" in page_headline(at)
    for wrong in ("counts as snow", "whatever"):
        edit(at, {0: {"missing": wrong}})
        assert len(refusals(at)) == 1
        assert "4 records" in page_headline(at)


def test_a_wrong_value_that_is_typed_back_is_no_error_any_more(at: AppTest) -> None:
    """The browser drops an edit that is as the table was shown; other cells would close one that is open."""
    shown = at.dataframe[0].value
    edit(at, {0: {"values": "sun; snow"}})
    assert len(refusals(at)) == 1
    pd.testing.assert_frame_equal(at.dataframe[0].value, shown)
    edit(at, {})
    assert not refusals(at)
    assert not at.button(key="next").disabled
    press(at, at.button(key="all.public").label)
    assert domain_table(at)["values"].tolist() == shown["values"].tolist()


def test_with_an_error_nothing_leads_on_and_other_pages_state_what_they_use(at: AppTest) -> None:
    edit(at, {0: {"values": "sun; snow", "public": True}, 1: {"public": True}})
    assert "need a correction" in page_headline(at)
    assert at.button(key="next").disabled
    for page in ("pages/network.py", "pages/explore.py"):
        one_sentence(go(at, page), "last valid declaration")
    assert any("needs its columns first" in sentence for sentence in refusals(go(at, "pages/release.py")))
    edit(go(at, PAGE), {0: {"use": False}, 1: {"use": False}})
    assert "tick at least one" in refusals(at)[0]
    edit(at, {0: {"values": "sun; rain"}})
    assert not at.button(key="next").disabled
    assert not refusals(go(at, "pages/network.py"))


def test_cut_points_may_be_typed_in_any_usual_way_and_others_are_refused_with_an_example(at: AppTest) -> None:
    load(at, AGES)
    for text in ("cut at 40; 60", "40; 60", "40, 60", "40 60", "cut 40 60"):
        edit(at, {0: {"values": text}})
        assert not refusals(at)
        assert at.session_state["upload"].encoded[0].points == (40.0, 60.0)
    edit(at, {0: {"values": "18-40; 41-95"}})
    example = re.search('"(cut at .*)"', refusals(at)[0])
    assert example
    assert "record" not in refusals(at)[0]
    edit(at, {0: {"values": example[1]}})
    assert not refusals(at)


def test_the_same_file_can_be_loaded_again_after_a_ready_table(at: AppTest) -> None:
    fine(at.segmented_control(key="origin").set_value("table").run())
    press(at, "Change the columns")
    assert "mine.csv" not in page_headline(at)
    load(at, GOOD)
    assert "mine.csv" in page_headline(at)


def test_the_recipient_sees_of_an_uploaded_table_what_is_declared_public_alone(at: AppTest) -> None:
    edit(at, {1: {"values": "no = NO; yes", "public": True}})
    take_seat(at, Seat.RECIPIENT)
    assert at.dataframe[0].value["values"].tolist() == ["not declared public", "no; yes"]
    assert not figures(at)
    assert not at.get("file_uploader")
    assert "curator’s table" in everything(at)
    press(at, "Back to the curator’s view")
    assert settings_of(at).seat is Seat.CURATOR
    assert "mine.csv" in page_headline(at)


def test_a_link_to_an_uploaded_table_says_what_is_missing() -> None:
    for page in set(PAGES) - set(WITHOUT_DATA):
        at = open_page(page, data="upload")
        refusals = sentences(at) if page != PAGE else [said.value for said in at.markdown if "session" in said.value]
        assert len(refusals) == 1, (page, refusals)
        assert ("stays in this session" if page == PAGE else "upload") in refusals[0]


def test_a_column_that_identifies_its_records_is_proposed_not_to_be_used(at: AppTest) -> None:
    lines = "".join(f"{4000 + 3 * k},P{k:03},{20 + k % 50},{k * 1.37},{k % 2}\n" for k in range(100))
    load(at, f"patient_id,code,age,height,wet\n{lines}")
    assert domain_table(at)["use"].tolist() == [False, False, True, True, True]
    assert "100 records with 3 columns" in page_headline(at)
    (reasons,) = [plain(c.value) for c in at.caption if c.value.startswith("Not in use")]
    for name in ("patient_id", "code"):
        assert f'Column "{name}" has a different value in each record, like an identifier.' in reasons
    edit(at, {0: {"use": True}})
    assert "100 records with 4 columns" in page_headline(at)
    assert not refusals(at)


# The domain description


def describe(at: AppTest, content: str | bytes) -> AppTest:
    data = content.encode() if isinstance(content, str) else content
    fine(at.file_uploader(key="domains.file").set_value(("domains.json", data, "application/json")).run())
    return press(at, "Use this description")


def test_declared_domains_are_saved_and_loaded_as_a_file(at: AppTest, files: dict[str, Any]) -> None:
    load(at, AGES)
    assert read_domains(files[DESCRIPTION]) == (DeclaredColumn("age"), DeclaredColumn("wet")), "nothing else"
    edit(at, {0: {"values": "cut at 30", "public": True}, 1: {"missing": "counts as no", "use": False}})
    text = files[DESCRIPTION]
    assert read_domains(text) == (
        DeclaredColumn("age", Cuts("age", (30,), public=True)),
        DeclaredColumn("wet", Categories("wet", ("no", "yes"), missing="no"), use=False),
    )
    other = open_page(PAGE)
    fine(other.segmented_control(key="origin").set_value("upload").run())
    load(other, AGES)
    describe(other, text)
    assert not refusals(other)
    pd.testing.assert_frame_equal(domain_table(other), domain_table(at))
    go(go(other, "pages/home.py"), PAGE)
    pd.testing.assert_frame_equal(domain_table(other), domain_table(at))
    assert "age < 30" in everything(go(other, "pages/explore.py"))


def test_a_meaning_is_what_explore_asks_about_and_is_saved(at: AppTest, files: dict[str, Any]) -> None:
    edit(at, {0: {"meaning": "the weather at noon"}, 1: {"meaning": "y" * (MAX_NAME + 1)}})
    assert len(refusals(at)) == 1
    assert [column.meaning for column in read_domains(files[DESCRIPTION])] == ["the weather at noon", ""]
    fine(at.switch_page("pages/explore.py").run())
    assert "the weather at noon = rain" in at.selectbox(key="question.event").options


WRONG_DESCRIPTIONS: list[tuple[str | bytes, str]] = [
    (b"age,wet", "not JSON or TOML"),
    (write_domains([DeclaredColumn("age")]), 'Only one of the description and the table has a column "wet"'),
    (write_domains(map(DeclaredColumn, ("age", "wet", "<i>"))), 'has a column "<i>"'),
]


def test_a_wrong_description_is_one_sentence_and_changes_nothing(at: AppTest) -> None:
    load(at, AGES)
    edit(at, {0: {"values": "cut at 30", "public": True}})
    for content, part in WRONG_DESCRIPTIONS:
        describe(at, content)
        assert len(refusals(at)) == 1
        assert part in refusals(at)[0]
        assert domain_table(at)["values"].tolist() == ["cut at 30", "no; yes"]
        assert "200 records with 2 columns" in page_headline(at)


def test_groups_are_shown_kept_and_typed(at: AppTest) -> None:
    groups = Categories("weather", ("dry", "not dry"), values=(("sun",), ("rain", "snow")), public=True)
    describe(at, write_domains([DeclaredColumn("weather", groups), DeclaredColumn("wet")]))
    assert domain_table(at)["values"][0] == "dry = sun; not dry = rain = snow"
    assert at.dataframe[0].proto.row_height > 64, "from which on the browser wraps long texts"
    edit(at, {0: {"missing": "own value: no report"}})
    assert at.session_state["upload"].dataset.states[0] == ("dry", "not dry", "no report")
    edit(at, {0: {"values": "dry = sun; rain"}})
    assert not refusals(at)
    assert at.session_state["upload"].encoded[0].values == (("dry", "sun"), ("rain",))


def test_misspelt_values_are_counted_as_the_values_that_the_message_proposes(at: AppTest) -> None:
    values = ["no", "yes", "YES ", "ye", "n", "x = 1"]
    load(at, "smoker,wet\n" + "".join(f"{value},no\n{value},yes\n" for value in values))
    edit(at, {0: {"values": "no; yes; x = 1"}})
    assert '"YES", which its values do not contain. Add it to the cell' in "".join(refusals(at))
    (text,) = re.findall(r'another value: "(.*)"', refusals(at)[0])
    assert text == "no = n; yes = YES = ye; x = 1"
    edit(at, {0: {"values": text}})
    assert not refusals(at)
    assert np.bincount(at.session_state["upload"].dataset.column("smoker")).tolist() == [4, 6, 2]


def test_rare_values_that_look_misspelt_are_shown_and_counted_as_the_usual_ones(at: AppTest) -> None:
    load(at, "to,age\n" + "".join(f"{'Home' if k % 2 else 'Care'},{k % 40}\n" for k in range(80)) + "Hmoe,n/a\n")
    for rule in ("none", "own value = n/a"):
        edit(at, {1: {"missing": rule}})
        assert "Home = Hmoe" in plain(at.warning[0].value)
        assert at.button(key="all.merged").proto.type == ("secondary" if rule == "none" else "primary")
    press(at, at.button(key="all.merged").label)
    edit(at, {1: {"values": "cut at 40", "public": True}})
    assert domain_table(at)["values"].tolist() == ["Care; Home = Hmoe", "cut at 40"]
    edit(at, {1: {"missing": "none"}})
    assert 'under "missing values": "own value = n/a"' in refusals(at)[0]


def test_a_state_of_missing_values_is_dropped_when_the_typed_values_leave_none_missing(at: AppTest) -> None:
    load(at, "pain,wet\n" + "None,no\nmild,no\nNone,yes\n")
    assert domain_table(at)["missing"][0] == "own value"
    edit(at, {0: {"values": "None; mild"}})
    assert at.dataframe[0].value["missing"][0] == "none"
    edit(at, {0: {"values": "None; mild", "public": True}})
    assert at.session_state["upload"].dataset.states[0] == ("None", "mild")


# Pasted texts

PASTED: list[tuple[dict[str, Any], bool]] = [
    ({"values": "sun\nrain"}, False),
    ({"values": "sun\r\nrain;\r\n"}, False),
    ({"values": 'sun; "rain'}, False),
    ({"values": "x" * 130_000}, True),
    ({"values": "sun; rain; " + "y" * 501}, True),
    ({"values": "sun; rain\x00; rain"}, False),
    ({"values": "sun; rain; \ud800"}, True),
    ({"values": None}, True),
    ({"values": "cut at x"}, True),
    ({"missing": "counts as \ud800"}, True),
    ({"use": None}, False),
    ({"public": None}, False),
]


def test_whatever_is_pasted_in_a_cell_is_taken_or_refused(at: AppTest) -> None:
    for place, (cells, refused) in enumerate(PASTED):
        load(at, GOOD, f"{place}.csv")
        edit(at, {0: cells})
        assert len(refusals(at)) == refused, (cells, refusals(at))
        assert all(len(sentence) < 300 for sentence in refusals(at))
        assert f"{place}.csv: 4 records" in page_headline(at)


# Files of the program that are not there

WITHOUT_RECORDS = ("pages/network.py",)
"""Pages that need a graph alone."""

FULTON = "data/tables/fulton_pums2000.csv.gz is missing or damaged: install dpbayes again or restore the file."


def test_a_missing_table_is_one_sentence_on_the_pages_that_need_it(copied_data: Path) -> None:
    (copied_data / "tables" / "fulton_pums2000.csv.gz").unlink()
    for page in thorough(PAGES, sample=PAGES[::3]):
        at = open_page(page, data="fulton_binary")
        assert not at.error
        assert sentences(at) == ([] if page in (*WITHOUT_DATA, *WITHOUT_RECORDS) else [FULTON]), page
    needs_records = {"proofs.view": ProofsView.CLAIMS.value, "proofs.bound": BoundClaim.THEOREM_1.value}
    assert sentences(open_page("pages/proofs.py", data="fulton_binary", **needs_records)) == [FULTON]
