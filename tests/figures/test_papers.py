"""Verdicts as bars: those of a paper stand beside each other and add up to its claims."""

import numpy as np

from dpbayes.base.looks import Look
from dpbayes.figures.papers import MARKS, verdicts_figure

LOOKS = [Look(f"verdict {k}", "#808890") for k in range(len(MARKS))]


def test_the_verdicts_of_a_paper_add_up_to_its_claims() -> None:
    counts = np.arange(12).reshape(6, 2)
    figure = verdicts_figure(["one", "another"], LOOKS, counts).to_plotly()
    assert [trace.name for trace in figure.data] == [
        f"{mark} {look.name}" for mark, look in zip(MARKS, LOOKS, strict=True)
    ]
    assert sum(np.array(trace.x) for trace in figure.data).tolist() == counts.sum(axis=0).tolist()
    assert list(figure.data[0].y) == ["one", "another"]
    assert figure.layout.barmode == "stack"


def test_verdicts_differ_by_more_than_colour() -> None:
    figure = verdicts_figure(["one"], LOOKS, np.ones((6, 1), dtype=np.int64)).to_plotly()
    assert [trace.text[0] for trace in figure.data] == [f"{mark} 1" for mark in MARKS]
