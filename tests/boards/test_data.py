"""The board of a table's columns, for the curator only."""

import numpy as np

from dpbayes.boards.static import COLUMNS_SHOWN, table_columns


def test_a_large_table_has_its_first_columns_and_says_so() -> None:
    names = [f"c{k}" for k in range(COLUMNS_SHOWN + 1)]
    board = table_columns(names, [("no", "yes")] * len(names), [np.array([0, 0])] * len(names)).complete()
    assert board.private
    assert sum(trace["type"] == "bar" for trace in board.frame.figures["columns"].data) == COLUMNS_SHOWN
    assert str(len(names)) in board.frame.captions["columns"]
