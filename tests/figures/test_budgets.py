"""Budgets as bars: what was released, reserved and is left, one above another in the order of the ledger."""

import numpy as np

from dpbayes.figures.budgets import PARTS, budget_figure


def test_the_parts_of_a_budget_stand_beside_each_other_and_add_up_to_it() -> None:
    parts = np.array([[0.5, 0.0], [0.25, 0.0], [2.25, 1.0]])
    figure = budget_figure(["clinic", "votes"], parts).to_plotly()
    assert [trace.name for trace in figure.data] == [name for name, _, _ in PARTS]
    assert sum(np.array(trace.x) for trace in figure.data).tolist() == [3.0, 1.0]
    assert figure.layout.barmode == "stack"
    assert "ε" in figure.layout.xaxis.title.text


def test_parts_differ_by_more_than_colour_and_names_are_text() -> None:
    figure = budget_figure(["<b>clinic</b>"], np.array([[1.0], [0.0], [0.0]])).to_plotly()
    assert len({trace.marker.pattern.shape for trace in figure.data}) == 3
    assert figure.data[0].y[0] == "&lt;b&gt;clinic&lt;/b&gt;"
