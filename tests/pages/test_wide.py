"""Graphs in which a node has many parents: every page opens, and its work and its bytes stay within bounds.

Work is counted, not timed: `python -m benchmarks` has the times.
"""

import itertools
import math
import re
from collections.abc import Iterator
from typing import Any, NoReturn

import numpy as np
import pytest
import streamlit as st
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue
from streamlit.testing.v1 import AppTest

from dpbayes.audit.loss import trimmed_network
from dpbayes.experiments.accuracy import setting as accuracy_setting
from dpbayes.mechanisms import OF_RECORDS, PRIVATE, Calibration, GaussianResiduals, fourier
from dpbayes.model.network import Network
from dpbayes.theory.claims import setting as bounds_subject
from dpbayes.ui.pages.explore import board
from dpbayes.ui.pages.explore.simulations import MANY_VALUES, MOST_VALUES
from dpbayes.ui.session import increments
from dpbayes.ui.session.graphs import Graph, code_of, graph_of, network_of
from dpbayes.ui.session.options.research import BoundClaim
from dpbayes.ui.session.options.workflow import AuditSubject
from dpbayes.ui.session.settings import EXPLORED_NAMES, MECHANISM_NAMES
from tests.conftest import IS_THOROUGH, crossed, thorough
from tests.pages.conftest import (
    everything,
    figures,
    fine,
    freed,
    headline,
    metrics,
    one_sentence,
    open_page,
    plain,
    press,
    put,
    sentences,
    settings_of,
    stop_after_a_step,
    stopped_at_the_second_picture,
    unfold,
)


def star(parents: int, children: int = 1) -> str:
    """Return the code of a graph whose last nodes have all the others as parents."""
    above, below = [f"p{i}" for i in range(parents)], [f"c{i}" for i in range(children)]
    return code_of(Graph((*above, *below), tuple(itertools.product(above, below))))


WIDE = [star(16), star(18), star(16, 2)]
IDS = ["16 parents", "18 parents", "two nodes with 16 parents"]


@pytest.fixture(autouse=True)
def few_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let Explore compute few accuracies: with noise in 32,768 cells, each of them takes seconds."""
    monkeypatch.setattr(board, "REPEATS", 2)


@pytest.fixture(autouse=True)
def no_wide_releases_are_kept_for_the_next_test() -> Iterator[None]:
    """A session of a wide graph holds a hundred megabytes, in a circle."""
    yield
    st.cache_data.clear()
    st.cache_resource.clear()
    freed()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that fills with the bytes of every message that a browser would get."""
    sizes: list[int] = []
    enqueue = ForwardMsgQueue.enqueue

    def counted(self: ForwardMsgQueue, message: Any) -> None:
        sizes.append(message.ByteSize())
        enqueue(self, message)

    monkeypatch.setattr(ForwardMsgQueue, "enqueue", counted)
    return sizes


def most_options(at: AppTest) -> int:
    return max(len(field.options) for field in [*at.selectbox, *at.multiselect])


def no_simulation(*_: object, **__: object) -> NoReturn:
    raise AssertionError("noise of every coefficient was simulated")


# Network


@pytest.mark.parametrize("graph", WIDE, ids=IDS)
def test_the_costs_of_a_wide_graph_are_shown_and_take_no_simulation(
    graph: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fourier, "coefficient_noise", no_simulation)
    at = open_page("pages/network.py", graph=graph)
    assert headline(at).startswith("At ε = 1, the noise on a count has an sd of ")
    assert not sentences(at)
    assert "noise" in figures(at)
    costs = at.dataframe[0].value
    arrows = dict(zip(WIDE, (16, 18, 32), strict=True))
    assert len(costs) == 1 + arrows[graph], "the network as it is drawn comes first"
    lift = next(plain(c.value) for c in at.caption if "Fourier adds" in c.value)
    assert float(lift.split("Fourier adds ")[1].split()[0].replace(",", "")) > 0
    assert any("Explore shows the errors." in c.value for c in at.caption), "noise is not error"


# Non-negativity

NON_NEGATIVITY = {"compare.view": "Non-negativity"}


@pytest.mark.parametrize("graph", WIDE, ids=IDS)
def test_a_wide_graph_is_simulated_in_steps_that_stop(graph: str, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    draw = fourier.coefficient_noise

    def counted(
        network: Network, calibration: Calibration, rng: np.random.Generator, size: tuple[int, ...], **law: Any
    ) -> Any:
        drawn.append(math.prod(size) * len(network.closure))
        return draw(network, calibration, rng, size, **law)

    monkeypatch.setattr("dpbayes.mechanisms.stealth.coefficient_noise", counted)
    monkeypatch.setattr(fourier, "coefficient_noise", counted)
    seen = stopped_at_the_second_picture(monkeypatch)
    at = open_page("pages/compare.py", source=graph, cpts="random", records="100", **NON_NEGATIVITY)
    assert len(seen) == 2
    assert "at least 90% of Fourier releases have no negative count (proved)" in headline(at), "no need to wait"
    assert "compare.non_negativity" in figures(at)
    assert [p.proto.text[:14] for p in at.get("progress")] == ["Stopped after "]
    assert [button.label for button in at.button if button.label in ("Stop", "Continue")] == ["Continue"]
    assert max(drawn) <= 2**20, "one step is a small part of the work"
    assert sum(drawn) <= 2 * 2 * 2**20, "two runs of two works"


@pytest.mark.usefixtures("first_look")
def test_the_increment_of_a_wide_graph_is_the_release_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is proved, as of every graph with more cells than are simulated."""
    monkeypatch.setattr(increments, "MOST_SIMULATED", 1_000)
    query = {"source": star(9), "cpts": "random", "records": "100", "mechanism": "LaplaceFourier"}
    t = float(open_page("pages/explore.py", **query).text_input(key="box.t").value)
    assert f"With t = {t:.3g}, at least 90%" in headline(open_page("pages/compare.py", **query, **NON_NEGATIVITY))


# Release


@pytest.mark.parametrize("calibration", ["certified", "as printed"])
def test_where_no_increment_is_simulated_one_is_proved_that_is_as_good(
    calibration: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a graph that is small enough for both."""
    shown = []
    for most in (increments.MOST_SIMULATED, 0):
        monkeypatch.setattr(increments, "MOST_SIMULATED", most)
        query = {"source": star(6), "cpts": "random", "mechanism": "LaplaceFourier", "calibration": calibration}
        at = open_page("pages/explore.py", **query)
        t = float(at.text_input(key="box.t").value)
        shown.append((t, next(plain(c.value) for c in at.caption if c.value.startswith("If all counts"))))
    (simulated, said), (proved, also) = shown
    assert proved == pytest.approx(simulated, rel=0.05)
    assert re.fullmatch(r"If all counts are zero, [\d.]+% of releases have no negative count\. .*", said)
    assert also.startswith("If all counts are zero, at least 90% of releases (proved) have no negative count.")


SMALL = {"cpts": "random", "records": "100"}

SEARCHED = (GaussianResiduals.__name__,)
"""Their best scales are searched for on smaller graphs only."""

MOST_PARENTS = dict.fromkeys(SEARCHED, 13) | {"LaplaceFourier": 16, "PosteriorSampler": 16}
"""Parents of the wide node: as many as noise on marginals and draws allow, which are held whole; else 14."""

PARENTS = MOST_PARENTS if IS_THOROUGH else dict.fromkeys(MECHANISM_NAMES, 11)
"""Still more rows than a list has, and more numbers than are shown."""


@pytest.mark.parametrize(
    ("graph", "mechanism"),
    [(star(18), "LaplaceUpdates"), *((star(PARENTS.get(name, 14)), name) for name in MECHANISM_NAMES)],
    ids=["18 parents", *MECHANISM_NAMES],
)
@pytest.mark.usefixtures("first_look")
def test_releases_of_a_wide_graph_are_few_and_so_are_the_bytes(graph: str, mechanism: str, sent: list[int]) -> None:
    at = open_page("pages/explore.py", source=graph, mechanism=mechanism, **SMALL)
    while "density" not in figures(at):  # the search for the best noise goes on
        sent.clear()
        fine(at.run())
    assert not sentences(at)
    assert "has a mean absolute error of" in headline(at)
    assert {"density", "dots", "rows", "kl"} <= set(figures(at))
    releases = next(int(c.value.split()[0]) for c in at.caption if re.match(r"\d+ simulated releases", c.value))
    cells = network_of(graph_of(graph)).cell_count
    assert 3 <= releases <= max(20, MANY_VALUES // cells)
    assert releases * cells <= 1.2 * MOST_VALUES
    assert most_options(at) <= 2_000
    assert sum(sent) < 1_000_000


@pytest.mark.usefixtures("first_look")
@pytest.mark.parametrize(("page", "seat"), crossed(["explore", "sampling"], ["curator", "recipient"], times=1))
def test_the_rows_of_a_wide_table_are_picked_by_node_and_number(page: str, seat: str, sent: list[int]) -> None:
    at = open_page(f"pages/{page}.py", source=star(11), seat=seat, **SMALL)
    fine(at.selectbox(key="row.node").set_value("c0").run())
    assert settings_of(at).row == f"c0 | {', '.join(f'p{i}=no' for i in range(11))}"
    put(at, "box.row.number", "2,048")
    everywhere = f"c0 | {', '.join(f'p{i}=yes' for i in range(11))}"
    assert settings_of(at).row == everywhere
    assert everywhere in [plain(c.value) for c in at.caption]
    fine(at.selectbox(key="choice.state").set_value("no").run())
    assert everywhere.replace("c0 |", "P(c0=no |") in everything(at).replace("\\", "")
    put(at, "box.row.number", "2049")
    one_sentence(at, "The row must be between 1 and 2,048")
    assert settings_of(at).row == everywhere
    assert sum(sent) < 3_000_000, "of five runs"


def test_the_rows_of_one_node_are_listed_where_only_all_together_are_too_many() -> None:
    at = open_page("pages/sampling.py", source=star(10, 3), **SMALL)
    fine(at.selectbox(key="row.node").set_value("c1").run())
    rows = at.selectbox(key="choice.row")
    assert len(rows.options) == 1024
    fine(rows.set_value(rows.options[-1]).run())
    assert settings_of(at).row == f"c1 | {', '.join(f'p{i}=yes' for i in range(10))}"


def test_a_link_to_a_row_of_a_wide_table_opens_it() -> None:
    row = f"c0 | {', '.join(f'p{i}={state}' for i, state in enumerate(['no', 'yes'] * 8))}"
    at = open_page("pages/sampling.py", source=star(16), row=row, **SMALL)
    assert at.selectbox(key="row.node").value == "c0"
    assert at.text_input(key="box.row.number").value == f"{int('01' * 8, 2) + 1:,}"


def test_too_many_draws_of_a_wide_table_are_one_sentence() -> None:
    at = open_page("pages/explore.py", source=star(16), mechanism="PosteriorSampler", draws="10000", **SMALL)
    one_sentence(at, "One release would have 1,311,040,000 numbers")


@pytest.mark.usefixtures("first_look")
def test_the_numbers_behind_a_chart_of_many_rows_are_shown_in_part_and_handed_over_whole(sent: list[int]) -> None:
    at = open_page("pages/explore.py", source=star(11), **SMALL)
    unfold(at, "numbers.kl-by-row")
    shown = next(frame.value for frame in at.dataframe if "row" in frame.value)
    assert len(shown) == 1_000
    assert "The first 1,000 of 2,059 rows; the file has all of them." in [c.value for c in at.caption]
    assert max(sent) < 300_000


def test_mechanisms_are_compared_on_a_wide_graph_one_after_another_and_that_stops(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The limits are those of a graph of 2,048 rows."""
    monkeypatch.setattr("dpbayes.model.residual_design.MOST_SETS", 1 << 10)
    monkeypatch.setattr("dpbayes.ui.pages.explore.answers.MOST_CELLS", 1 << 10)
    seen = stopped_at_the_second_picture(monkeypatch)
    at = open_page("pages/explore.py", source=star(11), **SMALL)  # more sets than the best noise is searched for
    unfold(at, "comparison")
    assert seen == [[1, 1, 1], [1, 2, 1]], "the cell in the picture is read at once; then they are compared"
    assert [p.proto.text for p in at.get("progress")] == [f"Stopped after 2 of {len(EXPLORED_NAMES)} mechanisms."]
    assert [len(f.value) for f in at.dataframe if "mechanism" in f.value] == [2]
    press(at, "Continue")
    assert [list(f.value["mechanism"]) for f in at.dataframe if "mechanism" in f.value] == [
        [kind.label for kind in (*PRIVATE, *OF_RECORDS) if kind is not GaussianResiduals]
    ]
    one_sentence(at, "The optimal noise is computed for up to 1,024 sets")
    assert not at.get("progress")


# Bounds

SIMULATORS = (
    "dpbayes.theory.zhang16.posterior_kl.exhibits.simulate_kl",
    "dpbayes.theory.zhang16.stealth.UnitNoise.draw",
    "dpbayes.theory.zhang16.largest_noise.largest_noise",
    "dpbayes.theory.zhang16.largest_noise.largest_count_error",
    "dpbayes.theory.zhang16.rebuilt_tables.simulated_table_error",
)


SAID = {
    BoundClaim.THEOREM_1: "the proved bound is",
    BoundClaim.EXPECTATION: "the exact mean is",
    BoundClaim.PROPOSITION_1: "the proved bound is",
    BoundClaim.CLIPPED: "the proved bound is",
    BoundClaim.THEOREM_3: "the proved bound is",
    BoundClaim.COROLLARY_3: "the proved bound is",
}


@pytest.mark.parametrize(("graph", "claim"), crossed(WIDE, list(SAID), times=1))
def test_a_bound_of_a_wide_graph_is_shown_without_a_simulation_and_says_so(
    graph: str, claim: BoundClaim, monkeypatch: pytest.MonkeyPatch
) -> None:
    for simulator in SIMULATORS:
        monkeypatch.setattr(simulator, no_simulation)
    stop_after_a_step()
    at = open_page("pages/claims.py", source=graph, **{"bounds.claim": claim.value}, **SMALL)
    assert not sentences(at)
    assert SAID[claim] in headline(at)
    assert "nan" not in headline(at)
    assert "bounds" in figures(at)
    cells = network_of(graph_of(graph)).cell_count
    caption = next(plain(c.value) for c in at.caption if "Nothing is simulated" in c.value)
    assert f"400 releases of {cells:,} numbers each are too many" in caption
    assert "Simulated" not in [metric.label for metric in at.metric]


def test_what_is_exact_of_a_bound_is_the_same_with_a_simulation_and_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a graph that is small enough for both."""
    stop_after_a_step()
    for claim in (BoundClaim.REFINED, BoundClaim.PROPOSITION_1):
        shown = []
        for most in (bounds_subject.MOST_CELLS, 0):
            monkeypatch.setattr(bounds_subject, "MOST_CELLS", most)
            at = open_page("pages/claims.py", source=star(5), **{"bounds.claim": claim.value}, **SMALL)
            shown.append(metrics(at))
            monkeypatch.undo()
            stop_after_a_step()
        simulated, exact = shown
        assert set(simulated) - set(exact) == {"Simulated"}
        assert exact.items() <= simulated.items()
        assert "Exact mean" in exact


# Audit


AUDITED = [
    *itertools.product(WIDE, (AuditSubject.LaplaceUpdates, AuditSubject.PosteriorSampler, AuditSubject.MapExponential)),
    (WIDE[0], AuditSubject.LaplaceFourier),
]


ONE_OF_A_KIND = [AUDITED[place] for place in (0, 4, 8, 9)]
"""Each graph and each subject once."""


@pytest.mark.parametrize(
    ("audited", "seat"), crossed(thorough(AUDITED, sample=ONE_OF_A_KIND), ["curator", "recipient"], times=1)
)
def test_a_wide_graph_is_audited(audited: tuple[str, AuditSubject], seat: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, subject = audited
    sizes: list[int] = []
    masses = trimmed_network.log_mass_between

    def weighed(a: np.ndarray, *more: Any) -> np.ndarray:
        sizes.append(a.size)
        return masses(a, *more)

    monkeypatch.setattr(trimmed_network, "log_mass_between", weighed)
    stop_after_a_step()
    at = open_page("pages/audit.py", source=graph, seat=seat, **{"audit.subject": subject.value}, **SMALL)
    assert "audit.curve" in figures(at)
    assert max(sizes, default=0) < 10_000, "of the rows that no record is in, none is weighed"


def test_what_moves_too_many_coefficients_is_one_sentence() -> None:
    at = open_page("pages/audit.py", source=star(18), **{"audit.subject": AuditSubject.LaplaceFourier.value}, **SMALL)
    one_sentence(at, "One replaced record changes 262,144 Fourier coefficients of this network")
    fine(at.selectbox(key="parameter.audit.subject").set_value(AuditSubject.LaplaceUpdates).run())
    assert "audit.curve" in figures(at)


# Accuracy


def test_the_fourier_increment_of_an_experiment_is_simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    draw = accuracy_setting.needed_increments

    def counted(network: Network, *more: Any, draws: int) -> Any:
        drawn.append(draws * network.cell_count)
        return draw(network, *more, draws=draws)

    monkeypatch.setattr(accuracy_setting, "needed_increments", counted)
    monkeypatch.setattr("dpbayes.ui.widgets.page.run_again", st.rerun)
    query = {"accuracy.scene": "the drawn network, synthetic", "accuracy.repeats": "2", "accuracy.points": "1"}
    few = dict.fromkeys(("laplace", "sampling", "sampling_many", "residuals"), "no")
    open_page("pages/accuracy.py", source=star(11), **query, **{f"accuracy.{k}": no for k, no in few.items()})
    assert sum(drawn) == 2_000 * network_of(graph_of(star(11))).cell_count


@pytest.mark.parametrize("scene", ["the drawn network, synthetic", "the table and its network"])
def test_an_experiment_that_holds_too_much_is_one_sentence(scene: str) -> None:
    at = open_page("pages/accuracy.py", source=star(18), **{"accuracy.scene": scene}, **SMALL)
    one_sentence(at, "The tables of the target and its children have 524,324 cells")
