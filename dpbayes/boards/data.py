"""The board of one column of a table: the number of records in each state, for the curator only."""

from collections.abc import Sequence

from dpbayes.base.text import many, share_text
from dpbayes.base.types import IntArray
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.figures.columns import column_figure


def column_counts(name: str, states: Sequence[str], records: IntArray) -> View:
    """Return the board of one column.

    Args:
        name: The column.
        states: Its states.
        records: The number of records in each state (states,).

    Returns:
        A view of one stop. It is not private.
    """
    top, n = int(records.argmax()), int(records.sum())
    share = share_text(float(records[top] / n)) if n else "0%"
    finding = f"The most frequent value of {name} is {states[top]}, in {share} of {many(n, 'record')}."
    panel = Panel("column", "How are the records distributed?", f"The number of records in each state of {name}.")
    board = Board("data", f"The column {name}", (panel,), {}, facts={"column": name, "n": f"{n:,}"}, private=True)
    figure = column_figure(states, records.astype(float), name=name)
    return View(board, lambda _: (Frame(finding, {"column": figure}, captions={"column": "Not private."}),))
