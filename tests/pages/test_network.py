"""The Network page: costs follow the drawing; whatever is imported becomes a network or a sentence."""

import time

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.bif import write_bif
from dpbayes.experiments.structure import structure_cost
from dpbayes.networks import load_named
from dpbayes.ui.graphs import Graph, code_of, graph_of, network_of
from tests.pages.conftest import fine, headline, one_sentence, open_page, plain, press, put, sentences, settings_of

PAGE = "pages/network.py"


def metrics(at: AppTest) -> dict[str, str]:
    return {metric.label: metric.value for metric in at.metric}


def test_the_headline_and_the_numbers_are_the_cores() -> None:
    at = open_page(PAGE)
    cost = structure_cost(load_named("asia")[0], 1.0)
    winner, ratio = cost.winner
    assert headline(at).startswith(f"{winner} wins on this graph")
    assert f"{ratio:.3g} ×" in headline(at)
    shown = metrics(at)
    assert shown["Rows m"] == f"{cost.rows:,}"
    assert shown["Cells K"] == f"{cost.cells:,}"
    assert shown["|N_I|"] == f"{cost.closure:,}"


def use(at: AppTest, kind: str, size: str = "8") -> AppTest:
    fine(at.selectbox(key="start.kind").set_value(kind).run())
    if not at.text_input(key="start.size").disabled:
        put(at, "start.size", size)
    return press(at, "Use")


def test_costs_follow_the_shape_and_the_data_comes_back() -> None:
    at = open_page(PAGE)
    first = metrics(at)
    use(at, "chain", "5")
    assert settings_of(at).graph == "chain:5"
    second = metrics(at)
    use(at, "full", "5")
    third = metrics(at)
    assert first != second != third
    assert third["Cells K"] == "62"
    use(at, "cancer")
    assert settings_of(at).graph == "cancer"
    use(at, "data")
    assert metrics(at) == first


@pytest.mark.parametrize("size", ["", "abc", "0", "-3", "1e9", "2.5", "nan", "13"])
def test_a_bad_size_is_a_sentence_and_the_drawing_stays(size: str) -> None:
    at = open_page(PAGE)
    before = metrics(at)
    use(at, "full", size)
    assert len(sentences(at)) == 1
    assert settings_of(at).graph == ""
    assert metrics(at) == before


def test_costs_follow_epsilon() -> None:
    at = open_page(PAGE)
    before = metrics(at)
    fine(at.select_slider(key="parameter.epsilon").set_value(2.0).run())
    after = metrics(at)
    for noise in ("Laplace noise per cell", "Fourier noise per cell"):
        assert float(after[noise]) == pytest.approx(float(before[noise]) / 2, rel=0.01)
    put(at, "box.epsilon", "0")
    one_sentence(at, "epsilon must be between")
    assert metrics(at) == after


def test_a_cycle_is_one_sentence() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("a", "b"), (("a", "b"), ("b", "a")))))
    one_sentence(at, "The arrows close a cycle: a → b → a.")
    use(at, "chain", "3")
    assert not sentences(at)


def test_no_node_at_all_is_one_sentence() -> None:
    at = open_page(PAGE, graph=code_of(Graph((), ())))
    one_sentence(at, "no nodes yet")
    use(at, "data")
    assert not sentences(at)


def test_one_lonely_node() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("smoke",), ())))
    assert headline(at)
    assert any("No arrows yet" in caption.value for caption in at.caption)


def test_every_arrow_has_its_cost() -> None:
    at = open_page(PAGE)
    frame = at.dataframe[0].value
    assert len(frame) == 8


def test_nodes_that_are_no_columns_are_noted_and_can_become_records() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("smoke", "<b>rain</b>"), (("smoke", "<b>rain</b>"),))))
    assert any("not columns" in plain(c.value) and "<b>rain</b>" in plain(c.value) for c in at.caption)
    assert all("<b>" not in c.value.replace("\\<", "") for c in at.caption)
    release = open_page("pages/release.py", graph=settings_of(at).graph)
    one_sentence(release, "is not a column of the table")
    one_sentence(release, "Rename or delete it on the Network page, or draw synthetic records from this network there.")
    press(at, "Draw synthetic records from this network")
    assert settings_of(at).data == "synthetic"
    fine(at.switch_page("pages/release.py").run())
    assert not sentences(at)


def test_columns_left_out_can_be_added() -> None:
    at = open_page(PAGE, graph=code_of(Graph(("smoke",), ())))
    fine(at.multiselect(key="unused").set_value(["lung", "tub"]).run())
    press(at, "Add as nodes")
    assert graph_of(settings_of(at).graph).names == ("smoke", "lung", "tub")


def test_a_network_that_is_not_binary_names_the_node() -> None:
    at = open_page(PAGE, source="survey")
    assert 'Fourier needs binary nodes, and "A" is not' in headline(at)


def test_andes_opens_within_reason() -> None:
    start = time.perf_counter()
    at = open_page(PAGE, source="andes")
    assert time.perf_counter() - start < 20
    assert metrics(at)["|N_I|"] == "1,712"


def test_names_longer_than_the_editor_takes_are_a_sentence() -> None:
    at = open_page(PAGE, source=code_of(Graph(("x" * 81, "b"), ())), cpts="random")
    one_sentence(at, "1 to 80 characters")
    use(at, "asia")
    assert not any("80 characters" in sentence for sentence in sentences(at))


# Files


def load(at: AppTest, name: str, content: bytes | str) -> AppTest:
    data = content.encode() if isinstance(content, str) else content
    fine(at.file_uploader(key="network.file").set_value((name, data, "text/plain")).run())
    return press(at, "Use this file")


CANCER = write_bif(*load_named("cancer"))


def test_a_bif_file_becomes_the_network_and_the_source_of_records() -> None:
    at = load(open_page(PAGE), "cancer.bif", CANCER)
    assert network_of(graph_of(settings_of(at).source)) == load_named("cancer")[0]
    assert metrics(at)["Cells K"] == str(load_named("cancer")[0].cell_count)
    fine(at.switch_page("pages/release.py").run())
    assert not sentences(at)


def test_a_bif_file_beside_a_table_leaves_the_table() -> None:
    at = load(open_page(PAGE, data="house_votes_84"), "cancer.bif", CANCER)
    assert settings_of(at).data == "house_votes_84"
    assert network_of(graph_of(settings_of(at).graph)) == load_named("cancer")[0]


def test_a_list_of_arrows_becomes_the_network() -> None:
    at = load(open_page(PAGE), "arrows.txt", "smoke -> lung\nlung -> xray\n")
    assert graph_of(settings_of(at).graph).edges == (("smoke", "lung"), ("lung", "xray"))


BAD = {
    "empty.bif": b"",
    "png.bif": b"\x89PNG\r\n\x1a\n\x00\xff",
    "cut.bif": CANCER[: len(CANCER) // 2].encode(),
    "sum.bif": CANCER.replace("0.9,", "0.8,", 1).encode(),
    "cycle.bif": (
        b"network u {}\nvariable a { type discrete [ 2 ] { x, y }; }\nvariable b { type discrete [ 2 ] { x, y }; }\n"
        b"probability ( a | b ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }\n"
        b"probability ( b | a ) { (x) 0.5, 0.5; (y) 0.5, 0.5; }\n"
    ),
    "text.bif": b"hello",
    "latin.txt": "Gr\xf6\xdfe -> b".encode("latin-1"),
    "cycle.txt": b"a -> b\nb -> a\n",
    "self.txt": b"a -> a\n",
    "parents.txt": "".join(f"p{i} -> c\n" for i in range(40)).encode(),
    "empty.txt": b"",
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_sentence_and_the_drawing_stays(name: str) -> None:
    at = open_page(PAGE, source="sprinkler", records="500")
    before, shown = settings_of(at), metrics(at)
    load(at, name, BAD[name])
    assert len(sentences(at)) == 1, sentences(at)
    assert len(sentences(at)[0]) < 300
    assert settings_of(at) == before
    assert metrics(at) == shown
