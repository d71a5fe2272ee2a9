"""The code that a page shows runs as it stands, and prints the number that the page shows."""

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import dpbayes as dp
from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import factor_text
from dpbayes.mechanisms import OF_RECORDS
from dpbayes.model.network import Network
from dpbayes.releases.publishing import publish
from dpbayes.sources.columns import encode
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.named_networks import load_named
from dpbayes.ui.pages.network import arrow_view
from dpbayes.ui.pages.network import python_of as python_of_arrows
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.graphs import Graph, code_of
from dpbayes.ui.session.settings import Cpts, Settings
from dpbayes.ui.session.uploads import Upload
from dpbayes.ui.widgets.from_python import FACE, counts_in_python, program, value_in_python
from tests.pages.conftest import boards, fine, frame_of, open_page, page_headline, plain
from tests.releases.made import COLUMNS, counts, opened, request_with, written

DRAWN = code_of(Graph.of(Network.from_edges(["a 'b'", "c"], [("a 'b'", "c")], {"c": ("x", "y")})))
SMALL = {"source": "sprinkler", "records": "200", "epsilon": "2"}
"""A table that is quick to look at."""


def code(at: AppTest) -> str:
    """Return the page's code."""
    at.session_state["share"] = True  # the menu
    (python,) = [block.value for block in fine(at.run()).code if block.language == "python"]
    return str(python)


def run(python: str) -> list[Any]:
    """Run code as a person who copies it, and return what it prints."""
    printed: list[Any] = []
    exec(python, {"print": lambda *values: printed.extend(values)})
    return printed


def printed(at: AppTest) -> Any:
    """Run the page's code and return what it prints."""
    return run(code(at))


def in_data(at: AppTest, values: list[Any]) -> None:
    n, columns = values
    assert f"{n:,} records with {columns} columns" in page_headline(at)


def in_audit(at: AppTest, values: list[Any]) -> None:
    (needed,) = values
    texts = [note["text"] for note in frame_of(boards(at)[0])["figures"]["verdict"]["layout"]["annotations"]]
    assert any(f": {factor_text(needed)} times" in text for text in texts)


def in_lab(at: AppTest, values: list[Any]) -> None:
    (numbers,) = values
    assert numbers == pytest.approx({name: number_shown(at, name) for name in numbers})
    assert numbers


def number_shown(at: AppTest, name: str) -> float:
    return float(at.session_state["board.numbers"][name])


SHOWN: list[tuple[str, dict[str, str], Callable[[AppTest, list[Any]], None]]] = [
    ("data", {"data": "house_votes_84"}, in_data),
    ("proofs", SMALL | {"mechanism": "LaplaceFourier", "calibration": "as printed"}, in_audit),
    ("proofs", {"audit.subject": "Hellinger, smooth sensitivity (one die)", "audit.n": "12"}, in_audit),
    ("lab", {"lab.experiment": "Regression", "regression.n": "2000", "regression.repeats": "3"}, in_lab),
    ("lab", {"lab.experiment": "Coin or die", "hellinger.n": "12", "seed": "4"}, in_lab),
]


@pytest.mark.parametrize(("page", "query", "shows"), SHOWN, ids=[page for page, *_ in SHOWN])
def test_a_pages_code_prints_what_it_shows(
    page: str, query: dict[str, str], shows: Callable[[AppTest, list[Any]], None]
) -> None:
    at = open_page(f"pages/{page}.py", **query)
    shows(at, printed(at))


# The recipient


@pytest.mark.parametrize("page", ["data", "proofs"])
def test_a_recipients_code_holds_nothing_of_the_table(page: str) -> None:
    first, second = (open_page(f"pages/{page}.py", seat="recipient", data_seed=seed, **SMALL) for seed in "12")
    assert code(first) == code(second)
    assert not any(word in code(first) for word in ("stream(", "data", "counts ="))
    assert run(code(first))


def test_a_file_is_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("release.json").write_bytes(publish(opened(tmp_path), request_with(), counts()).document)
    for seat in ("curator", "recipient"):
        assert printed(open_page("pages/release.py", seat=seat)) == [True]


# The parts


def upload_of(folder: Path) -> Upload:
    """Write a table and its description, and return it as the Data page keeps it."""
    table, _ = written(folder)
    frame = dp.read_table(table.name, table.read_bytes()).frame
    domains = [column.domain for column in COLUMNS if column.domain is not None]
    return Upload(table.name, frame, dataset=encode(frame, domains), columns=COLUMNS, encoded=tuple(domains))


def with_upload(mine: Upload) -> AppTest:
    """Return the page Explore with an uploaded table."""
    at = open_page("pages/home.py", Settings(data="upload"))
    at.session_state["upload"] = mine
    return fine(at.switch_page("pages/explore.py").run())


@pytest.mark.parametrize("is_declared", [True, False])
def test_code_for_an_upload_runs_beside_its_file_and_the_description_that_is_offered(
    is_declared: bool, files: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = upload_of(tmp_path)
    (tmp_path / "domains.json").unlink()
    if not is_declared:
        encoded = tuple(dataclasses.replace(column, public=False) for column in mine.encoded)
        names = tuple(DeclaredColumn(column.name) for column in mine.columns)
        mine = dataclasses.replace(mine, columns=names, encoded=encoded)
    at = with_upload(mine)
    code(at)
    said = next(plain(caption.value) for caption in at.caption if "reads domains.json" in caption.value)
    assert ("read from the data" in said) != is_declared
    (tmp_path / "domains.json").write_text(files["domains.json"], encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    in_lab(at, printed(at))


@pytest.mark.parametrize(
    "settings",
    [
        Settings(records=300, data_seed=5),
        Settings(records=300, cpts=Cpts.RANDOM, source="bayes:3", graph="empty:2"),
        Settings(records=300, cpts=Cpts.GIVEN, source=DRAWN),
        Settings(data="house_votes_84"),
        Settings(data="upload", graph=code_of(Graph(("rain", "grass"), (("rain", "grass"),)))),
    ],
    ids=["published", "random", "given", "shipped", "upload"],
)
def test_the_same_records_are_counted(
    settings: Settings, session: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    session["given_cpts"] = {DRAWN: np.array([0.25, 0.75, 0.5, 0.5, 0.125, 0.875])}
    session["upload"] = upload_of(tmp_path)
    names: dict[str, Any] = {}
    chosen = Chosen(settings)
    exec(program(FACE, counts_in_python(chosen)), names)
    assert names["counts"].network == chosen.network
    assert np.array_equal(names["counts"].values, chosen.counts.values)
    assert names["counts"].n > 0


def test_every_mechanism_is_made_again() -> None:
    network = load_named("asia")[0]
    for prior in (1.0, 2.5):
        for kind in (*dp.MECHANISMS, *OF_RECORDS):
            values = {"epsilon": 3.0, "draws": 4, "t": 0.5, "calibration": dp.Calibration.AS_PRINTED}
            given = {name: value for name, value in values.items() if name in parameters_of(kind)}
            mechanism: Any = kind(prior=dp.Dirichlets.symmetric(network, prior), **given)
            names: dict[str, Any] = {"network": network}
            exec(program(FACE, value_in_python("mechanism", mechanism)), names)
            again = names["mechanism"]
            assert type(again) is kind
            assert [getattr(again, name) for name in parameters_of(kind)] == [
                getattr(mechanism, name) for name in parameters_of(kind)
            ]
            assert np.array_equal(again.prior.alpha, mechanism.prior.alpha)


@pytest.mark.parametrize("settings", [Settings(source="sprinkler", records=200), Settings(data="house_votes_84")])
def test_the_code_of_network_prints_the_numbers_of_its_board(settings: Settings) -> None:
    drawn = dataclasses.replace(settings, graph=code_of(Graph.of(chosen_pair(settings))))
    chosen = Chosen(drawn.with_parameter("epsilon", 2.0))
    (numbers,) = run(python_of_arrows(chosen))
    assert numbers == arrow_view(chosen).frames_at("2")[0].numbers


def chosen_pair(settings: Settings) -> Network:
    """Return two columns of a table with an arrow."""
    network = Chosen(settings).network
    start, end = network.edges[0]
    states = dict(zip(network.names, network.states, strict=True))
    return Network.from_edges([start, end], [(start, end)], {name: states[name] for name in (start, end)})
