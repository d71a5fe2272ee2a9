"""XMLBIF texts: what is written is read back bit for bit, files of other programs are read, faults get sentences."""

import builtins
import re
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpbayes as dp
from dpbayes.model.cpts import random_cpts
from dpbayes.model.network import Network
from dpbayes.sources.bif import MAX_CHARACTERS
from tests.strategies import networks_of_names

NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"], include_characters="\t"), min_size=1, max_size=8
)
NAMES = NAMES.filter(lambda name: name == name.strip() and not re.search("[\ufffe\uffff]", name))
ODD = st.sampled_from(["a b", '"', "<x>", "&amp;", "]]>", "a\rb", "a\nb", "é"])


@given(networks_of_names(NAMES | ODD), st.integers(0, 2**32 - 1))
def test_round_trip_is_exact(network: Network, seed: int) -> None:
    probabilities = random_cpts(network, np.random.default_rng(seed))
    again, read = dp.read_xmlbif(dp.write_xmlbif(network, probabilities))
    assert again == network
    assert read.tobytes() == probabilities.tobytes()


DOG = """<?xml version="1.0" encoding="US-ASCII"?>
<!DOCTYPE BIF [ <!ELEMENT BIF ( NETWORK )*> <!ATTLIST BIF VERSION CDATA #REQUIRED> ]>
<BIF VERSION="0.3" xmlns="http://www.cs.ubc.ca/labs/lci/fopi/ve/XMLBIFv0_3">
<NETWORK><NAME>Dog_Problem</NAME>
<VARIABLE TYPE="nature"><NAME> child </NAME><OUTCOME>c0</OUTCOME><OUTCOME>c1</OUTCOME>
  <PROPERTY>position = (73, 165)</PROPERTY></VARIABLE>
<VARIABLE><NAME>first</NAME><OUTCOME>f0</OUTCOME><OUTCOME>f1</OUTCOME></VARIABLE>
<VARIABLE><NAME>second</NAME><OUTCOME>s0</OUTCOME><OUTCOME>s1</OUTCOME><OUTCOME>s2</OUTCOME></VARIABLE>
<DEFINITION><FOR>first</FOR><TABLE>.25 .75</TABLE></DEFINITION>
<DEFINITION><FOR>second</FOR><TABLE>0.2 0.3 <!-- the last --> 0.5</TABLE></DEFINITION>
<DEFINITION><FOR>child</FOR><GIVEN>second</GIVEN><GIVEN>first</GIVEN>
<TABLE>.1 .9 .4 .6 .2 .8 .5 .5 .3 .7 .6 .4</TABLE></DEFINITION>
</NETWORK></BIF>
"""


def test_the_last_parent_varies_faster_than_the_first_and_the_child_fastest() -> None:
    """The format's rule; the cells follow the network's order of the parents."""
    network, p = dp.read_xmlbif(DOG)
    assert network.parents[0] == ("first", "second")
    np.testing.assert_array_equal(network.table(p, 0)[..., 0], [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]])
    np.testing.assert_array_equal(network.table(p, 2), [0.2, 0.3, 0.5])


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        (DOG, "", "is not XML: no element found"),
        (DOG, "network dog {}", "is not XML"),
        (DOG, "<BIF/>", "has no nodes"),
        (DOG, DOG.replace("<!ELEMENT", "<!ENTITY a 'b'><!ELEMENT"), "declares XML entities"),
        (".25 .75", ".25 three", '"three" for "first", which is not a number'),
        (".25 .75", ".25", "is 1; it must be 2"),
        (".25 .75", ".25 .25", "sum to 0.5"),
        (".25 .75", "nan 1", "not a finite number"),
        ("<FOR>first</FOR>", "<FOR>second</FOR>", 'defines "second" twice'),
        ("<FOR>first</FOR>", "<FOR>third</FOR>", 'defines "third" but declares no such'),
        ("<FOR>first</FOR>", "", "has 0 elements FOR; it needs one"),
        ("<GIVEN>first</GIVEN>", "<GIVEN>third</GIVEN>", '"third"'),
        ("<NAME>first</NAME>", "<NAME>second</NAME>", 'declares the variable "second" twice'),
        ('TYPE="nature"', 'TYPE="utility"', 'type "utility", not nature'),
        ("<DEFINITION><FOR>first</FOR><TABLE>.25 .75</TABLE></DEFINITION>", "", '"first" has no probabilities'),
        ("<OUTCOME>f0</OUTCOME><OUTCOME>f1</OUTCOME>", "", '"first" has no states'),
    ],
)
def test_a_fault_gets_its_sentence(old: str, new: str, sentence: str) -> None:
    with pytest.raises(dp.InputError, match=sentence):
        dp.read_xmlbif(DOG.replace(old, new))


def test_a_file_over_the_limit_gets_its_sentence() -> None:
    with pytest.raises(dp.InputError, match="the limit for an XMLBIF file"):
        dp.read_xmlbif("<a" + " " * MAX_CHARACTERS)


@pytest.mark.parametrize("name", [" a", "a\x00", "a\ufffe"])
def test_a_name_that_xml_changes_is_not_written(name: str) -> None:
    network = Network.from_edges([name], [])
    with pytest.raises(dp.InputError, match="cannot contain the name"):
        dp.write_xmlbif(network, [0.5, 0.5])


@pytest.mark.parametrize(("write", "package"), [(dp.to_pgmpy, "pgmpy"), (dp.to_pyagrum, "pyagrum")])
def test_objects_of_a_package_that_is_missing_name_the_extra(
    monkeypatch: pytest.MonkeyPatch, write: Any, package: str
) -> None:
    original = builtins.__import__

    def missing(name: str, *args: Any, **options: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ModuleNotFoundError(name=package)
        return original(name, *args, **options)

    for module in [name for name in sys.modules if name.partition(".")[0] == package]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(dp.InputError, match=rf'needs {package}, .*: pip install "dpbayes\[interchange\]"'):
        write(dp.chain(1), [0.5, 0.5])
