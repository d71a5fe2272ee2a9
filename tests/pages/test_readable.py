"""Published names and terms are explained where they stand."""

import json

from streamlit.testing.v1 import AppTest

from dpbayes.base import terms
from tests.pages.conftest import components, open_page, plain


def helps(at: AppTest) -> dict[str, str]:
    return {metric.label: metric.help or "" for metric in at.metric}


def test_network_says_what_nodes_are_and_what_rows_and_cells_are() -> None:
    at = open_page("pages/network.py")
    (editor,) = components(at, "dpbayes_dag_editor")
    sent = json.loads(editor.json)
    assert ["dysp", "Whether the patient is short of breath (dyspnoea)."] in sent["meanings"]
    assert not sent["notes"]
    table = next(frame.value for frame in at.dataframe if "meaning" in frame.value)
    assert dict(zip(table["node"], table["name"], strict=True))["either"] == "tuberculosis or lung cancer"
    assert helps(at)["Rows m"] == terms.ROW
    assert helps(at)["Cells K"] == terms.CELL


def test_a_node_that_is_no_column_says_so() -> None:
    at = open_page("pages/network.py", data="house_votes_84", graph="asia")
    (editor,) = components(at, "dpbayes_dag_editor")
    sent = json.loads(editor.json)
    assert ["dysp", "no column of this name in the table"] in sent["notes"]
    assert "dysp" not in dict(sent["meanings"])


def test_data_says_what_columns_say() -> None:
    at = open_page("pages/data.py", data="house_votes_84")
    table = next(frame.value for frame in at.dataframe if "meaning" in frame.value)
    assert table["meaning"].tolist()[0] == "The member's party: democrat or republican."
    plain_one = open_page("pages/data.py", source="bayes:3", cpts="random")
    assert all("meaning" not in frame.value for frame in plain_one.dataframe)


def test_release_states_the_question_and_what_its_numbers_are() -> None:
    at = open_page("pages/explore.py", target="dysp", evidence="smoke~yes", records="200")
    captions = [plain(caption.value) for caption in at.caption]
    assert "dysp: shortness of breath; smoke: smoking." in captions
    row = "dysp: shortness of breath; either: tuberculosis or lung cancer; bronc: bronchitis."
    assert row in captions
    assert terms.KL in helps(at)["Prediction KL, all rows, nats"]
    assert terms.COVERAGE in helps(at)["Coverage of 95% intervals, this probability"]
    assert terms.EPSILON in helps(at)["Stated"]
    assert next(box.help for box in at.selectbox if box.label == "Prior") == terms.PRIOR
    assert next(box.help for box in at.text_input if box.label.startswith("Prior")) == terms.PSEUDO_COUNT
    assert next(box.help for box in at.selectbox if box.label == "CPT row") == terms.ROW
