"""Graphs in which a node has many parents: every page opens, and its work and its bytes stay within bounds.

Work is counted, not timed: `python -m benchmarks` has the times.
"""

import itertools
import math
from typing import Any, NoReturn

import numpy as np
import pytest

from dpbayes.mechanisms import Calibration, fourier
from dpbayes.network import Network
from dpbayes.ui import work
from dpbayes.ui.graphs import Graph, code_of
from tests.pages.conftest import figures, headline, open_page, plain, sentences, stopped_at_the_second_picture


def star(parents: int, children: int = 1) -> str:
    """Return the code of a graph whose last nodes have all the others as parents."""
    above, below = [f"p{i}" for i in range(parents)], [f"c{i}" for i in range(children)]
    return code_of(Graph((*above, *below), tuple(itertools.product(above, below))))


WIDE = [star(16), star(19), star(16, 2)]
IDS = ["16 parents", "19 parents", "two nodes with 16 parents"]


def no_simulation(*_: object, **__: object) -> NoReturn:
    raise AssertionError("noise of every coefficient was simulated")


# Network


@pytest.mark.parametrize("graph", WIDE, ids=IDS)
def test_the_costs_of_a_wide_graph_are_shown_and_take_no_simulation(
    graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fourier, "coefficient_noise", no_simulation)
    at = open_page("pages/network.py", graph=graph)
    assert "wins on this graph" in headline(at)
    assert not sentences(at)
    assert "noise" in figures(at)
    costs = at.dataframe[0].value
    assert len(costs) == 16 * (2 if graph == WIDE[2] else 1) if graph != WIDE[1] else 19
    invented = next(plain(c.value) for c in at.caption if "invents" in c.value)
    assert float(invented.split("invents ")[1].split()[0].replace(",", "")) > 0


# Stealth


@pytest.mark.parametrize("graph", WIDE, ids=IDS)
def test_a_wide_graph_is_simulated_in_steps_that_stop(graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    draw = fourier.coefficient_noise

    def counted(network: Network, calibration: Calibration, rng: np.random.Generator, size: tuple[int, ...]) -> Any:
        drawn.append(math.prod(size) * len(network.closure))
        return draw(network, calibration, rng, size)

    monkeypatch.setattr("dpbayes.experiments.stealth.coefficient_noise", counted)
    monkeypatch.setattr(fourier, "coefficient_noise", counted)
    seen = stopped_at_the_second_picture(monkeypatch, "pages/stealth.py")
    at = open_page("pages/stealth.py", source=graph, cpts="random", records="100")
    assert len(seen) == 2
    assert "is proved to keep nine of ten releases non-negative" in headline(at), "no need to wait for all draws"
    assert "stealth.probability" in figures(at)
    assert [p.proto.text[:14] for p in at.get("progress")] == ["Stopped after "]
    assert [button.label for button in at.button if button.label in ("Stop", "Go on")] == ["Go on"]
    assert max(drawn) <= 2**20, "one step is a small part of the work"
    assert sum(drawn) <= 2 * 3 * 2**20, "two runs of three works"


def test_the_increment_of_a_wide_graph_is_the_release_pages() -> None:
    query = {"source": star(12), "cpts": "random", "records": "100", "mechanism": "LaplaceFourier"}
    t = float(open_page("pages/release.py", **query).text_input(key="box.t").value)
    assert f"t = {t:.3g} is proved" in headline(open_page("pages/stealth.py", **query))


# Release


@pytest.mark.parametrize("calibration", ["certified", "as printed"])
def test_where_no_increment_is_simulated_one_is_proved_that_is_as_good(
    calibration: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a graph that is small enough for both."""
    told = []
    for most in (work.MOST_SIMULATED, 0):
        monkeypatch.setattr(work, "MOST_SIMULATED", most)
        query = {"source": star(8), "cpts": "random", "mechanism": "LaplaceFourier", "calibration": calibration}
        at = open_page("pages/release.py", **query)
        t = float(at.text_input(key="box.t").value)
        told.append((t, next(plain(c.value) for c in at.caption if "With no data at all" in c.value)))
    (simulated, said), (proved, also) = told
    assert proved == pytest.approx(simulated, rel=0.05)
    assert "% of releases would be non-negative" in said
    assert "at least 90." in also
    assert "% of releases are proved to be non-negative" in also
