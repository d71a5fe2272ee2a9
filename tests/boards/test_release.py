"""The board of a release follows from its document alone, for either kind of release and either reading."""

import numpy as np
import pytest

from dpbayes.figures.style import plain
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import read_document
from dpbayes.ui.widgets.opened_release import released_view
from tests.releases.made import NETWORK, released
from tests.releases.made_adaptive import drawn_with_a_generator


def test_each_row_has_the_mean_of_its_reading(tmp_path) -> None:
    document = read_document(released(tmp_path).document)
    cells = NETWORK.row_starts + [NETWORK.telling_state(int(node)) for node in NETWORK.node_of_row]
    board = released_view(document, Reading.NOISE_AWARE).complete()
    aware, naive = board.frame.figures["rows"].data
    assert np.asarray(aware["x"]) == pytest.approx(document.tables.noise_aware().mean[cells])
    assert np.asarray(naive["x"]) == pytest.approx(document.tables.posterior.mean[cells])
    assert not board.private
    (alone,) = released_view(document, Reading.AS_REAL).complete().frame.figures["rows"].data
    assert np.asarray(alone["x"]) == pytest.approx(np.asarray(naive["x"]))


def test_an_adaptive_release_has_the_rows_of_its_own_graph() -> None:
    document = read_document(drawn_with_a_generator())
    board = released_view(document, Reading.NOISE_AWARE).complete()
    assert len(board.frame.figures["rows"].data[0]["x"]) == min(12, document.network.row_count)
    assert "rho" not in board.facts
    assert board.facts["ρ"]


def test_the_labels_are_those_of_the_cells_as_text(tmp_path) -> None:
    document = read_document(released(tmp_path).document)
    figure = released_view(document, Reading.AS_REAL).complete().frame.figures["rows"]
    cells = [int(NETWORK.row_starts[k]) + NETWORK.telling_state(int(NETWORK.node_of_row[k])) for k in (0, 1)]
    assert list(figure.layout["yaxis"]["ticktext"][:2]) == [plain(NETWORK.cell_label(cell), 40) for cell in cells]


def test_an_estimate_has_no_intervals(tmp_path) -> None:
    board = released_view(read_document(released(tmp_path, mechanism="map").document), Reading.AS_REAL).complete()
    assert "no intervals" in board.frame.headline
