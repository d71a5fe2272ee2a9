"""Boards without a slider: the records of one column for the curator, and the first rows of a release for everybody."""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.amounts import amount_text, measure_of, number_of
from dpbayes.base.text import many, numeral, share_text
from dpbayes.base.types import IntArray
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.figures.posterior import column_figure, rows_figure
from dpbayes.mechanisms.adaptive.mechanism import AdaptiveTables
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_aware import roughness
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import Document, SampledTables
from dpbayes.releases.reading import INTERVALS, has_joint, reading_of

ROWS_SHOWN = 12
"""Rows that can be read on a phone."""

BY_ROW = "The chart is of the row-wise posterior; answers and files are of the joint posterior."


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


def released_rows(document: Document, reading: Reading) -> View:
    """Return the board of a document: one state of each of its first rows, with the interval if there is a posterior.

    It follows from the document of the release alone.

    Args:
        document: The document.
        reading: The reading of the noise; a release that does not state its noise is read as it is.

    Returns:
        A view of one stop.
    """
    panel = Panel("rows", "What does the release say?", "One state of each row, with its 95% interval.", large=True)
    board = Board("release", "The released probabilities", (panel,), {}, facts=_facts(document))
    return View(board, lambda _: (_frame(document, reading_of(document.tables, reading)),))


def _facts(document: Document) -> dict[str, str]:
    request = document.request
    loss = {measure_of(request.cost).symbol: amount_text(number_of(request.cost))}
    return {"table": request.dataset, "n": f"{request.n:,}", **loss}


def _frame(document: Document, reading: Reading) -> Frame:
    network, release = document.network, document.tables
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
        notes += filter(None, [BY_ROW if has_joint(release) else "", roughness(aware)])
    if network.row_count > len(rows):
        notes.insert(0, f"The chart shows {len(rows)} of {network.row_count:,} rows; the BIF file has all rows.")
    labels = [network.cell_label(int(cell)) for cell in cells]
    figure = rows_figure(labels, shown, own=_colour(document), as_real=naive)
    width = float(np.mean(shown[2] - shown[1]))
    finding = f"The 95% intervals of {many(len(rows), 'row')} are {numeral(width, 2)} wide on average."
    if not isinstance(release.outcome, ReleasedPosterior):
        finding = f"The release has {many(network.row_count, 'row')}, and no intervals."
    return Frame(finding, {"rows": figure}, captions={"rows": " ".join(notes)})


def _colour(document: Document) -> str:
    if isinstance(document.sampled, SampledTables):
        return str(document.sampled.request.entry.kind.colour)
    return AdaptiveTables.colour
