"""Published names and terms are explained where they stand."""

import json

from tests.pages.conftest import components, open_page


def test_network_says_what_nodes_are() -> None:
    at = open_page("pages/network.py")
    (editor,) = components(at, "dpbayes_dag_editor")
    sent = json.loads(editor.json)
    assert ["dysp", "Whether the patient is short of breath (dyspnoea)."] in sent["meanings"]
    assert not sent["notes"]


def test_data_says_what_columns_say() -> None:
    at = open_page("pages/data.py", data="house_votes_84")
    table = next(frame.value for frame in at.dataframe if "meaning" in frame.value)
    assert table["meaning"].tolist()[0] == "The member's party: democrat or republican."
    plain_one = open_page("pages/data.py", source="bayes:3", cpts="random")
    assert all("meaning" not in frame.value for frame in plain_one.dataframe)
