"""BIF texts: what is written is read back bit for bit, and every wrong file gets its sentence."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpbayes.base.validation import InputError
from dpbayes.model.cpts import random_cpts
from dpbayes.model.network import Network
from dpbayes.sources.bif import MAX_CHARACTERS, read_bif, write_bif
from tests.strategies import networks_of_names

ODD_NAMES = st.text(min_size=1, max_size=8).filter(lambda name: name.strip() != "")
KEYWORDS = st.sampled_from(["network", "property", "table", "default", "a b", 'q"q', "b\\s", "// c", "/* d", "{", "|"])
NAMES = ODD_NAMES | KEYWORDS


@given(networks_of_names(NAMES), st.integers(0, 2**32 - 1))
def test_round_trip_is_exact(network: Network, seed: int) -> None:
    probabilities = random_cpts(network, np.random.default_rng(seed))
    again, read = read_bif(write_bif(network, probabilities))
    assert again == network
    assert read.tobytes() == probabilities.tobytes()


DOG = """
// a comment, and /* another one
network dog { property version = 1; property "text; with a semicolon" ; }
variable child { type discrete [2] { c0, c1 }; property position = (3, 4) ; }
variable first { type discrete [2] { f0 f1 }; }
variable second { type discrete [3] { s0, s1, s2 }; }
probability ( first ) { table 0.25, 0.75; }
probability ( second ) { table 0.2 0.3 0.5; }
"""


def test_rows_follow_the_network_whatever_order_the_file_has() -> None:
    text = DOG + "probability ( child | second, first ) {"
    text += "(s0, f0) 0.1, 0.9; (s1, f0) 0.2, 0.8; (s2, f0) 0.3, 0.7;"
    text += "(s2, f1) 0.6, 0.4; (s1, f1) 0.5, 0.5; (s0, f1) 0.4, 0.6; }"
    network, p = read_bif(text)
    assert network.parents[0] == ("first", "second")
    np.testing.assert_array_equal(network.table(p, 0)[..., 0], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])


def test_a_whole_table_lists_the_child_slowest() -> None:
    """The format's own example: table 0.6 0.05 0.4 0.95 means P(light on | family out) = 0.6."""
    text = DOG + "probability ( child | first ) { table 0.6, 0.05, 0.4, 0.95; }"
    network, p = read_bif(text)
    np.testing.assert_array_equal(network.table(p, 0), [[0.6, 0.4], [0.05, 0.95]])


def test_default_fills_the_rows_not_given() -> None:
    text = DOG + "probability ( child | second ) { default 0.5, 0.5; (s1) 0.1, 0.9; }"
    network, p = read_bif(text)
    np.testing.assert_array_equal(network.table(p, 0), [[0.5, 0.5], [0.1, 0.9], [0.5, 0.5]])


def test_only_sums_that_are_off_are_renormalised() -> None:
    text = DOG + "probability ( child ) { table 0.3333, 0.6666; }"
    _, p = read_bif(text)
    np.testing.assert_allclose(p[:2], [0.3333 / 0.9999, 0.6666 / 0.9999], rtol=1e-15)
    assert p[2:].tolist() == [0.25, 0.75, 0.2, 0.3, 0.5]


ROWS = "(s0) 0.1, 0.9; (s1) 0.2, 0.8;"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "has no nodes"),
        ("a,b\n1,2\n", 'Line 1 of the BIF file, "a,b", does not begin a complete block'),
        ("network x {", 'Line 1 of the BIF file, "network x {", does not begin a complete block'),
        ("network x { } /* open", "comment that begins in line 1 of the BIF file is not closed"),
        ('network x { }\nvariable "open {', "quoted name that begins in line 2 of the BIF file is not closed"),
        ("network x { }", "has no nodes"),
        ("network x { }\n banana", 'Line 2 of the BIF file, "banana", does not begin a complete block'),
        (DOG, 'a probability block for "child"'),
        (DOG + "variable first { type discrete [1] { a }; }", 'repeats the variable "first"'),
        (DOG + "probability ( first ) { table 0.5, 0.5; }", 'repeats the probability block of "first"'),
        (DOG + "variable x { type discrete [3] { a, b }; }", 'declares "3" states for "x" but lists 2'),
        (DOG + "variable x { type continuous [3] { a, b }; }", 'Line 9 of the BIF file, "variable x { type'),
        (DOG + "probability ( child | second ) { (s1 0.1, 0.9; }", 'Line 9 of the BIF file, "probability ( child'),
        (DOG + "probability ( child | nobody ) { }", 'parent "nobody" that is not in the network'),
        (DOG.replace("( first )", "( nobody )"), 'a variable block and a probability block for "child"'),
        (DOG + "probability ( ) { }", "names no variable"),
        (DOG + f"probability ( child | second ) {{ {ROWS} }}", 'no row for "second=s2"'),
        (DOG + f"probability ( child | second ) {{ {ROWS} (s1) 0.5, 0.5; }}", '(s1) of "child"'),
        (
            DOG + f"probability ( child | second ) {{ {ROWS} (s7) 0.5, 0.5; }}",
            'the row ("s7") of "child", which is',
        ),
        (DOG + f"probability ( child | second ) {{ {ROWS} (s2, f0) 0.5, 0.5; }}", "of its 1 parents"),
        (DOG + f"probability ( child | second ) {{ {ROWS} (s2) 0.5; }}", 'must have 2 numbers for "child", not "0.5".'),
        (
            DOG + f"probability ( child | second ) {{ {ROWS} (s2) 0.5, half; }}",
            'not "0.5, half"',
        ),
        (DOG + f"probability ( child | second ) {{ {ROWS} (s2) 0.5, 0.6; }}", '"child | second=s2" sum to 1.1'),
        (DOG + f"probability ( child | second ) {{ {ROWS} (s2) -0.5, 1.5; }}", '"child | second=s2" has a negative'),
        (DOG + f"probability ( child | second ) {{ {ROWS} (s2) nan, 1.5; }}", "not a finite number"),
        (DOG + f"probability ( child | second ) {{ {ROWS} (s2) inf, -inf; }}", "not a finite number"),
        (DOG + "probability ( child ) { table 1e308, 1e308; }", "sum to ∞"),
        (DOG + "probability ( child ) { }", 'The probability block of "child" has no row.'),
        (DOG.replace("( first )", "( first | child )") + "probability ( child | first ) { }", "close a cycle"),
        ("x" * (MAX_CHARACTERS + 1), "5,000,001 characters"),
    ],
)
def test_refusals(text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=re.escape(sentence)):
        read_bif(text)


@pytest.mark.parametrize("hostile", ["property ", "property a ", '"" ', "( ", "\\", "/ ", 'property " ', "{"])
def test_hostile_texts_are_refused_in_linear_time(hostile: str) -> None:
    with pytest.raises(InputError):
        read_bif("network a { } " + hostile * 100_000)


def test_a_byte_order_mark_is_passed_over():
    network = Network.from_edges(["a"], [])
    read, probabilities = read_bif("\ufeff" + write_bif(network, [0.25, 0.75]))
    assert read.names == ("a",)
    np.testing.assert_array_equal(probabilities, [0.25, 0.75])
