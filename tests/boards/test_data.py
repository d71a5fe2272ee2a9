"""The board of one column states its most frequent value and draws all counts, for the curator only."""

import numpy as np

from dpbayes.boards.static import column_counts


def test_the_finding_and_the_bars_are_the_counts() -> None:
    board = column_counts("rain", ("no", "yes", "unknown"), np.array([30, 26, 4])).complete()
    assert board.private
    assert "no is the most frequent value, in 50% of 60 records" in board.frame.headline
    (bars,) = board.frame.figures["column"].data
    assert bars["y"].tolist() == [30, 26, 4]
    assert board.facts["n"] == "60"


def test_a_table_without_records_has_a_finding() -> None:
    assert "in 0% of 0 records" in column_counts("rain", ("no", "yes"), np.array([0, 0])).complete().frame.headline
