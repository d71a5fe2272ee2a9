"""What Undo goes back over, as a value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.ui.session.drawings import KEPT, DrawingHistory, DrawnNetwork
from dpbayes.ui.session.graphs import Graph, placed
from dpbayes.ui.session.settings import Settings


def drawn(number: int, **settings: str) -> DrawnNetwork:
    return DrawnNetwork(placed(Graph((f"n{number}",), ())), Settings(**settings))  # type: ignore[arg-type]


@given(st.lists(st.sampled_from(["draw", "undo", "redo"]), max_size=2 * KEPT))
def test_a_history_is_a_list_with_a_finger_on_it(steps: list[str]) -> None:
    history, line, finger = DrawingHistory((drawn(0),)), [drawn(0)], 0
    for number, step in enumerate(steps, start=1):
        if step == "draw":
            history = history.followed_by(drawn(number))
            line = [*line[: finger + 1], drawn(number)]
            finger += 1
        else:
            finger = max(0, finger - 1) if step == "undo" else min(len(line) - 1, finger + 1)
            place = history.nearest(line[finger])
            assert place is not None
            history = history.at(place, line[finger])
        line, finger = line[-KEPT - 1 :], finger - max(0, len(line) - KEPT - 1)
        assert history.line == tuple(line)
        assert history.present == line[finger]


def test_a_place_that_the_text_of_a_graph_would_round_is_no_step() -> None:
    here, near, elsewhere = (DrawnNetwork(Graph(("a",), (), {"a": (x, 5.0)}), Settings()) for x in (7.2, 7.0, 8.0))
    assert DrawingHistory((here,)).nearest(near) == 0
    assert DrawingHistory((here,)).nearest(elsewhere) is None


@pytest.mark.parametrize(
    ("settings", "chosen"),
    [
        ({}, False),
        ({"graph": "chain:3"}, True),
        ({"graph": "g:x"}, True),
        ({"source": "g:x"}, True),
        ({"data": "adult", "source": "g:x"}, False),
    ],
)
def test_a_network_that_comes_with_the_table_is_not_chosen(settings: dict[str, str], chosen: bool) -> None:
    assert drawn(0, **settings).is_chosen == chosen
