import numpy as np
import pytest

from dpbayes.base.validation import InputError
from dpbayes.model.dataset import Dataset

STATES = (("no", "yes"), ("lo", "mid", "hi"))
WIDE = (tuple(str(k) for k in range(256)),)


def table(codes, names=("a", "b"), states=STATES) -> Dataset:
    return Dataset(names, states, codes)


CODES = [[0, 2], [1, 0], [1, 1]]
LAYOUTS = {
    "C": np.array(CODES, dtype=np.uint8),
    "F": np.asfortranarray(CODES, dtype=np.uint8),
    "wide integers": np.array(CODES),
    "one record": np.array(CODES[:1], dtype=np.uint8),
    "view": np.array(CODES, dtype=np.uint8)[::-1],
}


@pytest.mark.parametrize("codes", LAYOUTS.values(), ids=LAYOUTS)
def test_codes_are_a_read_only_copy_one_byte_each_columns_contiguous(codes):
    data = table(codes)
    original = codes.copy()
    assert data.codes.dtype == np.uint8
    assert data.codes.flags.f_contiguous
    with pytest.raises(ValueError, match="read-only"):
        data.codes[0, 0] = 1
    codes[0, 0] = 1 - codes[0, 0]  # the caller's array stays writable and apart
    assert np.array_equal(data.codes, original)


def test_a_table_without_records_is_a_table():
    assert table(np.empty((0, 2))).n == 0


def test_replace_gives_a_table_of_the_same_size_that_differs_in_that_record_only():
    data = table(CODES)
    neighbour = data.replace(1, [0, 2])
    assert neighbour.n == data.n
    assert (neighbour.names, neighbour.states) == (data.names, data.states)
    assert np.array_equal(np.flatnonzero((neighbour.codes != data.codes).any(axis=1)), [1])
    assert list(neighbour.codes[1]) == [0, 2]
    assert np.array_equal(data.codes, CODES)


@pytest.mark.parametrize("k", [-1, 3])
def test_replacing_a_record_that_does_not_exist_is_refused(k):
    with pytest.raises(InputError, match="no record"):
        table(CODES).replace(k, [0, 0])


@pytest.mark.parametrize("record", [[0, 3], [-1, 0], [0, 300], np.array([0, 256]), np.array([-256, 0])])
def test_replacing_by_codes_outside_the_domain_is_refused(record):
    with pytest.raises(InputError, match="outside its"):
        table(CODES).replace(0, record)


@pytest.mark.parametrize("record", [[0], [0, 0, 0], 0, [0.5, 1]])
def test_replacing_by_what_is_no_record_is_refused(record):
    with pytest.raises(InputError, match=r"codes|record"):
        table(CODES).replace(0, record)


def test_a_column_and_its_domain_are_found_by_name():
    data = table(CODES)
    assert list(data.column("b")) == [2, 0, 1]
    assert data.domain("b") == ("lo", "mid", "hi")


def test_select_keeps_these_columns_in_this_order():
    chosen = table(CODES).select(["b", "a"])
    assert chosen.names == ("b", "a")
    assert chosen.states == STATES[::-1]
    assert np.array_equal(chosen.codes, np.array(CODES)[:, ::-1])


def test_take_keeps_these_records_in_this_order():
    assert np.array_equal(table(CODES).take([2, 0]).codes, [CODES[2], CODES[0]])


def test_a_domain_may_have_256_states_and_no_more():
    assert table(np.array([[255]]), ("a",), WIDE).codes.max() == 255
    with pytest.raises(InputError, match="257 states"):
        table(np.array([[0]]), ("a",), ((*WIDE[0], "more"),))


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: table(CODES, ("a", "a")), "used twice"),
        (lambda: table(CODES, ("a",)), "one column of codes and one domain"),
        (lambda: table(CODES, states=STATES[:1]), "one column of codes and one domain"),
        (lambda: table([0, 1]), "one column of codes and one domain"),
        (lambda: table(CODES, states=((), STATES[1])), "0 states"),
        (lambda: table([[2, 0]]), 'Column "a" has a code outside its 2 declared states'),
        (lambda: table([[0, -1]]), 'Column "b" has a code outside its 3 declared states'),
        (lambda: table([[0.5, 1.0]]), "whole numbers"),
        (lambda: table([["0", "1"]]), "codes must be an array"),
        (lambda: table(CODES).column("c"), 'no column "c"'),
        (lambda: table(CODES).domain("c"), 'no column "c"'),
        (lambda: table(CODES).select(["a", "c"]), 'no column "c"'),
        (lambda: table(CODES).select(["a", "a"]), "used twice"),
    ],
)
def test_what_is_no_table_is_refused_in_one_sentence(build, sentence):
    with pytest.raises(InputError, match=sentence) as caught:
        build()
    assert str(caught.value).endswith(".")


def test_a_table_shows_its_columns_and_no_record():
    table = Dataset(("rain",), (("no", "yes"),), np.array([[0], [1], [1]]))
    assert repr(table) == "Table of 3 records\n  rain: no, yes"
    assert "no, yes" in table._repr_html_()
