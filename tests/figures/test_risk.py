"""What the picture of a belief is made of."""

import math

import numpy as np

from dpbayes.base.looks import BOUND
from dpbayes.figures.risk import RaisedBeliefs, risk_figure

BEFORE = np.array([0.0, 0.5, 1.0])


def drawn(usual: float):
    beliefs = RaisedBeliefs(BEFORE, np.array([0.0, 0.9, 1.0]), np.array([0.0, usual, 1.0]), "at most", "often")
    return risk_figure(beliefs, chosen=(0.5, 0.9, usual), colour="#123456").to_plotly()


def test_the_belief_set_stands_under_what_it_may_become():
    most, usual, before, mark = drawn(0.7).data
    assert (list(most.y), most.line.color) == ([0.0, 0.9, 1.0], BOUND)
    assert (list(usual.y), usual.line.color) == ([0.0, 0.7, 1.0], "#123456")
    assert list(before.y) == list(BEFORE)
    assert (list(mark.x), list(mark.y)) == ([0.5] * 3, [0.5, 0.7, 0.9])


def test_what_is_not_known_has_no_mark():
    mark = drawn(math.nan).data[-1]
    assert list(mark.y) == [0.5, 0.9]
