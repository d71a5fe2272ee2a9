"""Boards without a slider: the records of a column for the curator, and the rows of a release for all."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.text import many, numeral, share_text
from dpbayes.base.types import IntArray
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.figures.posterior import column_figure, rows_figure
from dpbayes.mechanisms import MECHANISMS, OF_RECORDS, Outcome, Release, ReleasedPosterior
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_aware import roughness
from dpbayes.posteriors.noise_model import Reading

ROWS_SHOWN = 12
"""Rows that can be read on a phone."""

BY_ROW = "The chart is of the row-wise posterior. The posterior of an answer is stated below the answer."

INTERVALS = {
    Reading.NOISE_AWARE: "The intervals are noise-aware: they include the uncertainty from the noise.",
    Reading.AS_REAL: "The intervals are naive: they ignore the noise and miss the true value more often.",
}
"""A sentence on the intervals of each reading."""


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
    finding = f"{name}: {states[top]} is the most frequent value, in {share} of {many(n, 'record')}."
    panel = Panel("column", "How are the records distributed?", f"The number of records in each state of {name}.")
    board = Board("data", f"The column {name}", (panel,), {}, facts={"column": name, "n": f"{n:,}"}, private=True)
    figure = column_figure(states, records.astype(float), name=name)
    return View(board, lambda _: (Frame(finding, {"column": figure}),))


def released_rows(network: Network, release: Release[Outcome], reading: Reading) -> View:
    """Return the board of a release: one state of each of its first rows, with the interval if there is a posterior.

    It follows from the release alone.

    Args:
        network: The released graph.
        release: The released tables.
        reading: The reading of the noise; a release that does not state its noise is read as it is.

    Returns:
        A view of one stop.
    """
    panel = Panel("rows", "What does the release say?", "One state of each row, with its 95% interval.", large=True)
    board = Board("release", "The released probabilities", (panel,), {})
    reading = reading if release.tells_noise else Reading.AS_REAL
    return View(board, lambda _: (_frame(network, release, reading),))


def _frame(network: Network, release: Release[Outcome], reading: Reading) -> Frame:
    rows = np.arange(min(network.row_count, ROWS_SHOWN))
    telling = np.array([network.telling_state(int(node)) for node in network.node_of_row[rows]], dtype=np.int64)
    cells = network.row_starts[rows] + telling
    mean = release.outcome.probabilities[cells]
    shown, naive, notes = (mean, mean, mean), None, list[str]()
    if isinstance(release.outcome, ReleasedPosterior):
        shown = mean, *release.posterior.interval(LEVEL, cells=cells)
        notes.append(INTERVALS[reading])
    if reading is Reading.NOISE_AWARE:
        aware = release.noise_aware_cells(cells)
        shown, naive = (aware.mean, *aware.interval(LEVEL)), shown
        notes += filter(None, [BY_ROW, roughness(aware)])
    if network.row_count > len(rows):
        notes.insert(0, f"The chart shows {len(rows)} of {network.row_count:,} rows; the BIF file has all rows.")
    adaptive = OF_RECORDS[0].colour
    colour = next((kind.colour for kind in MECHANISMS if kind.label == release.mechanism), adaptive)
    labels = [network.cell_label(int(cell)) for cell in cells]
    figure = rows_figure(labels, shown, own=colour, as_real=naive)
    width = float(np.mean(shown[2] - shown[1]))
    finding = f"The 95% intervals of {many(len(rows), 'row')} are {numeral(width, 2)} wide on average."
    if not isinstance(release.outcome, ReleasedPosterior):
        finding = f"The release has {many(network.row_count, 'row')}, and no intervals."
    return Frame(finding, {"rows": figure}, captions={"rows": " ".join(notes)})
