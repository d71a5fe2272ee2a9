"""The board of Explore from Python, in both seats."""

import numpy as np
import pytest

import dpbayes as dp
from dpbayes.boards.of_table import SEATS

NETWORK, CPTS = dp.load_named("sprinkler")
WET = dp.Question(NETWORK, "wet", "yes", {"rain": "yes"})
TABLE = dp.sample_dataset(NETWORK, CPTS, 200, np.random.default_rng(1))


def with_secrets(seed: int) -> dp.Dataset:
    """Return the table with one more column, which is not in the network, and its records in another order."""
    rng = np.random.default_rng(seed)
    codes = np.column_stack([TABLE.codes, rng.integers(0, 2, TABLE.n)])[rng.permutation(TABLE.n)]
    return dp.Dataset((*TABLE.names, "secret"), (*TABLE.states, ("no", "yes")), codes)


def test_recipients_files_of_two_tables_with_the_same_releases_are_equal_byte_by_byte():
    first, second = with_secrets(1), with_secrets(2)
    assert not np.array_equal(first.codes, second.codes)
    files = [dp.explore(table, NETWORK, seat="recipient").to_html() for table in (first, second)]
    assert files[0] == files[1]
    assert files[0] != dp.explore(TABLE.take(slice(0, 199)), NETWORK, seat="recipient").to_html()


def test_a_curators_board_has_exact_values_and_a_recipients_has_not():
    curator, recipient = (dp.explore(TABLE, NETWORK, WET, seat=seat) for seat in SEATS)
    posterior = dp.LaplaceUpdates(prior=NETWORK, epsilon=1).prior.updated(dp.count(NETWORK, TABLE))
    exact = dp.query(NETWORK, posterior.mean, "wet", {"rain": "yes"})[NETWORK.states[NETWORK.index("wet")].index("yes")]
    assert curator.frame.numbers["exact"] == pytest.approx(exact)
    assert curator.private
    assert "exact" not in recipient.frame.numbers
    assert not recipient.private
    assert "not private (curator view)" in repr(curator)
    assert "curator" not in repr(recipient)
    for board in (curator, recipient):
        assert len(repr(board)) < 200
        assert len(repr(board.frame)) < 2000
        assert f"{len(board.frames)} stops" in repr(board)
        assert set(board.frames) == set(board.slider.stops)


def test_a_mechanism_is_a_class_or_has_its_own_settings():
    network = dp.network("rain -> wet", TABLE)
    mechanisms = (dp.LaplaceFourier, dp.LaplaceFourier(prior=network, epsilon=10, t=3))
    by_class, own = (dp.explore(TABLE, network, mechanism=mechanism) for mechanism in mechanisms)
    assert (by_class.value, own.value) == ("1", "10")
    assert by_class.frame.numbers["error"] != own.frame.numbers["error"]
    assert by_class.facts["mechanism"] == "Fourier"


def test_the_question_begins_with_a_node_that_has_parents():
    board = dp.explore(TABLE, NETWORK, seat="recipient")
    assert board.title == "How likely is wet = yes if sprinkler = yes?"
