"""The board of a release follows from its document alone, for either kind of release and either reading."""

import numpy as np
import pytest

from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import read_document
from dpbayes.ui.widgets.opened_release import released_view
from tests.releases.made import NETWORK, released
from tests.releases.made_adaptive import drawn_with_a_generator


@pytest.mark.parametrize("node", range(len(NETWORK.names)), ids=NETWORK.names)
def test_each_row_of_a_node_has_the_mean_of_its_reading(tmp_path, node: int) -> None:
    document = read_document(released(tmp_path).document)
    cells = NETWORK.row_starts[NETWORK.node_of_row == node] + NETWORK.telling_state(node)
    readings = (
        (Reading.NOISE_AWARE, document.tables.joint_noise_aware().mean),
        (Reading.AS_REAL, document.tables.posterior.mean),
    )
    for reading, means in readings:
        board = released_view(document, NETWORK, reading, NETWORK.names[node]).complete()
        assert not board.private
        drawn = [trace for trace in board.frame.figures["rows"].data if len(trace["x"]) == len(cells)]
        assert any(np.asarray(trace["x"]) == pytest.approx(means[cells]) for trace in drawn)
        texts = board.frame.figures["rows"].layout["yaxis2"]["ticktext"][1:]
        assert [float(text.split()[0]) for text in texts] == pytest.approx(means[cells], abs=0.006)
    assert [int(text.split("(")[1].split()[0]) for text in texts] == document.tables.outcome.updates[cells].tolist()


def test_an_adaptive_release_has_the_rows_of_its_own_graph() -> None:
    document = read_document(drawn_with_a_generator())
    network = document.network
    board = released_view(document, network, Reading.NOISE_AWARE, network.names[-1]).complete()
    assert len(board.frame.figures["rows"].data[0]["x"]) == min(24, network.rows_per_node[-1])
    assert document.request.dataset in board.facts["release of"]
