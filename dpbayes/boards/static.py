"""Boards without a slider: the columns of a table for the curator, and the rows of a release for all."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.text import listed, near_one
from dpbayes.base.types import IntArray
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.figures.posterior import columns_figure, rows_figure
from dpbayes.mechanisms import Outcome, Release, ReleasedPosterior
from dpbayes.model.network import Network, statement
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import roughness
from dpbayes.posteriors.noise_model import Reading

COLUMNS_SHOWN = 40
"""Columns of a table in one picture."""

LOW, HIGH, ALL = 35, 66, 450
"""The least and the most pixels of a column's row, and those of all rows where there is room."""

ROWS_SHOWN = 24
"""The most rows of a node that are drawn."""


def row_height(columns: int) -> int:
    """Return the pixels of a row in the picture of so many columns, and in the table beside it."""
    return max(LOW, min(HIGH, ALL // max(columns, 1)))


def table_columns(
    names: Sequence[str],
    states: Sequence[Sequence[str]],
    records: Sequence[IntArray],
    note: str = "",
    rows: Sequence[str] = (),
) -> View:
    """Return the board of the columns of a table.

    Args:
        names: The columns in use.
        states: The values of each column.
        records: The number of records with each value, (states,) for each column.
        note: What stands below the picture.
        rows: The columns of the picture, of which the first ones are shown; those in use by default.

    Returns:
        A view of one stop. It is not private.
    """
    rows = rows or names
    more = f"The first {COLUMNS_SHOWN} of {len(rows)} columns. " if len(rows) > COLUMNS_SHOWN else ""
    used = dict(zip(names, zip(states, records, strict=True), strict=True))
    drawn = [used.get(name, ((), np.zeros(0, np.int64))) for name in rows[:COLUMNS_SHOWN]]
    panel = Panel("columns", "Share of the records with each value", "For each column, the share of each value.")
    board = Board("data", "The columns of the table", (panel,), {}, private=True)
    figure = columns_figure(rows[:COLUMNS_SHOWN], *zip(*drawn, strict=True), pitch=row_height(len(rows)))
    return View(board, lambda _: (Frame("", {"columns": figure}, captions={"columns": more + note}),))


def released_rows(network: Network, release: Release[Outcome], reading: Reading, node: int, answer: str = "") -> View:
    """Return the board of one node of a release: one state in each row, with the interval if there is a posterior.

    It follows from the release alone.

    Args:
        network: The released graph.
        release: The released tables.
        reading: The reading of the noise; a release that does not state its noise is read as it is.
        node: The node.
        answer: The headline: the answer to a question about the node.

    Returns:
        A view of one stop.
    """
    event = statement(network.names[node], network.states[node][network.telling_state(node)])
    parents = listed(network.parents[node])
    question = f"How does {event} depend on {parents}?" if parents else "The estimate from all records"
    panel = Panel("rows", question, "Each row with its 95% interval.", large=True)
    board = Board("release", "The released probabilities", (panel,), {})
    return View(board, lambda _: (_frame(network, release, reading, node, answer),))


def _frame(network: Network, release: Release[Outcome], reading: Reading, node: int, answer: str) -> Frame:
    every = np.flatnonzero(network.node_of_row == node)
    rows = every[:ROWS_SHOWN]
    cells = network.row_starts[rows] + network.telling_state(node)
    mean = release.outcome.probabilities[cells]
    low = high = mean
    notes, counts = ["This release has no intervals."], [""] * len(rows)
    if isinstance(release.outcome, ReleasedPosterior):
        law = release.answering_posterior if reading is Reading.NOISE_AWARE else release.posterior
        mean, (low, high) = law.mean[cells], law.interval(LEVEL, cells=cells)
        if isinstance(law, DirichletMixtures):
            notes = ["Lines: 95% intervals, which account for the noise. Each row uses all counts.", roughness(law)]
        else:
            updates = np.maximum(release.outcome.updates, 0.0)
            sums = (updates[network.cells_of_row(int(row))].sum() for row in rows)
            counts = [f" ({own:,.0f} of {of:,.0f})" for own, of in zip(updates[cells], sums, strict=True)]
            notes = ["Lines: 95% intervals, which ignore the noise. In brackets: the released counts, from 0 on."]
    if len(every) > len(rows):
        notes.insert(0, f"The chart shows {len(rows)} of {len(every):,} rows; the BIF file has all rows.")
    labels = [_given(network, int(row)) or "all records" for row in rows]
    shown = ("< 0.01" if value < 0.005 else f"{value:.2f}" if value < 0.995 else near_one(value, 2) for value in mean)
    texts = [f"{value}{count}" for value, count in zip(shown, counts, strict=True)]
    figure = rows_figure(labels, (mean, low, high), texts)
    return Frame(answer, {"rows": figure}, (), {"rows": " ".join(filter(None, notes))})


def _given(network: Network, row: int) -> str:
    """Return the states of the parents in a row."""
    node, codes = network.node_and_codes(row)
    pairs = zip(network.families[node][:-1], codes, strict=True)
    texts = (statement(network.names[j], network.states[j][code]) for j, code in pairs)
    return ", ".join(text.replace(" ", "\N{NO-BREAK SPACE}") for text in texts)
