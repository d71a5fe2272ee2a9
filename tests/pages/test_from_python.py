"""The code that a page shows runs as it stands, and prints the number that the page shows."""

from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpbayes.base.text import numeral
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import empty, load_named
from dpbayes.ui.session.graphs import Graph, code_of
from dpbayes.ui.widgets.from_python import MOST_NODES, network_in_python
from tests.pages.conftest import fine, headline, open_page

DRAWN = code_of(Graph.of(Network.from_edges(["a 'b'", "c"], [("a 'b'", "c")], {"c": ("x", "y")})))


def printed(at: AppTest) -> Any:
    """Run the page's code and return what it prints."""
    (code,) = [each.value for each in at.code if each.language == "python"]
    shown: list[Any] = []
    exec(code, {"print": lambda *values: shown.extend(values)})
    return shown


@pytest.mark.parametrize("source", ["asia", DRAWN])
def test_the_noise_on_network(source: str) -> None:
    at = open_page("pages/network.py", source=source, epsilon="2")
    laplace, fourier = printed(at)
    shown = {metric.label: metric.value for metric in at.metric}
    assert shown["Laplace noise per cell"] == numeral(laplace)
    assert shown["Fourier noise per cell"] == numeral(fourier)


@pytest.mark.usefixtures("first_look")
def test_the_least_noise_on_best_noise() -> None:
    at = open_page("pages/best_noise.py", source="sprinkler")
    while "worked out so far" in headline(at):
        at = fine(at.run())
    (noises,) = printed(at)
    assert numeral(min(noises.values())) in headline(at)


def test_a_network_is_made_again_by_its_name_or_in_full() -> None:
    for network, words in ((load_named("asia")[0], "load_named('asia')"), (empty(3), "from_edges")):
        code = network_in_python(network)
        names: dict[str, Any] = {}
        exec(f"import dpbayes as dp\n{code}", names)
        assert words in code
        assert names["network"] == network
    assert "read_bif" in network_in_python(empty(MOST_NODES + 1))
