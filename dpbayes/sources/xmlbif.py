"""Networks with their tables as XML: a reader and a writer of XMLBIF 0.3, which pgmpy, pyAgrum and Weka read."""

import re
from collections.abc import Mapping, Sequence
from xml.etree import ElementTree
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.cpts import ForeignTable, checked_cpts, cpts_of_tables
from dpbayes.model.network import Network
from dpbayes.sources.bif import MAX_CHARACTERS

ENDINGS = (".bifxml", ".xmlbif", ".xml")
"""How the files of different programs end: those of pyAgrum, of pgmpy, and of Weka."""

_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_xmlbif(text: str) -> tuple[Network, FloatArray]:
    """Read a network and its CPTs from XMLBIF (Cozman 1998, version 0.3).

    Args:
        text: The file's text.

    Returns:
        The network, and the probabilities (K,) of its cells.

    Raises:
        InputError: The text is not an XMLBIF file of discrete variables, or declares XML entities.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> dp.read_xmlbif(dp.write_xmlbif(network, probabilities))[0] == network
        True
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"The file has {len(text):,} characters; the limit for an XMLBIF file is {MAX_CHARACTERS:,}.")
    if "<!ENTITY" in text:  # a few of them can stand for gigabytes
        raise InputError("The XMLBIF file declares XML entities, which are not read. Replace each entity by its text.")
    try:
        root = ElementTree.fromstring(text.removeprefix("\ufeff"))
    except (ElementTree.ParseError, UnicodeEncodeError) as error:
        raise InputError(f"The file is not XML: {error}.") from None
    states: dict[str, tuple[str, ...]] = {}
    for variable in _elements(root, "VARIABLE"):
        if variable.get("TYPE", "nature") != "nature":
            raise InputError(f"The XMLBIF file has a variable of the type {brief(variable.get('TYPE'))}, not nature.")
        name = _one_text(variable, "NAME")
        if name in states:
            raise InputError(f"The XMLBIF file declares the variable {brief(name)} twice.")
        states[name] = _texts(variable, "OUTCOME")
    definitions: dict[str, ElementTree.Element] = {}
    for definition in _elements(root, "DEFINITION"):
        child = _one_text(definition, "FOR")
        if child in definitions or child not in states:
            fault = "twice" if child in definitions else "but declares no such variable"
            raise InputError(f"The XMLBIF file defines {brief(child)} {fault}.")
        definitions[child] = definition
    parents = {child: _texts(definition, "GIVEN") for child, definition in definitions.items()}
    edges = [(parent, child) for child, given in parents.items() for parent in given]
    network = Network.from_edges(states, edges, states)
    return network, cpts_of_tables(network, {c: _table(states, c, parents[c], d) for c, d in definitions.items()})


def write_xmlbif(network: Network, probabilities: ArrayLike) -> str:
    """Write a network and its CPTs as XMLBIF, which `read_xmlbif` reads without loss.

    XMLBIF has no quotes, so other programs read more names in it than in BIF.

    Args:
        network: The network.
        probabilities: The CPTs (K,).

    Returns:
        The file's text.

    Raises:
        InputError: The probabilities have another shape, a row does not add up to one, or XML cannot hold a name.

    Example:
        >>> dp.write_xmlbif(dp.chain(1), [0.25, 0.75]).splitlines()[-4]
        '  <TABLE>0.25 0.75</TABLE>'
    """
    checked = checked_cpts(network, probabilities)
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<BIF VERSION="0.3">', "<NETWORK>", "<NAME>unknown</NAME>"]
    for name, states in zip(network.names, network.states, strict=True):
        outcomes = [f"  <OUTCOME>{_written(state)}</OUTCOME>" for state in states]
        lines += ['<VARIABLE TYPE="nature">', f"  <NAME>{_written(name)}</NAME>", *outcomes, "</VARIABLE>"]
    for i, name in enumerate(network.names):
        given = [f"  <GIVEN>{_written(parent)}</GIVEN>" for parent in network.parents[i]]
        numbers = " ".join(repr(p) for p in network.table(checked, i).ravel().tolist())
        lines += ["<DEFINITION>", f"  <FOR>{_written(name)}</FOR>", *given, f"  <TABLE>{numbers}</TABLE>"]
        lines.append("</DEFINITION>")
    return "\n".join([*lines, "</NETWORK>", "</BIF>"]) + "\n"


def _written(name: str) -> str:
    if _NOT_IN_XML.search(name) or name != name.strip():
        raise InputError(
            f"XMLBIF cannot contain the name {brief(name)}. Remove control characters, and spaces at its ends."
        )
    return escape(name, {"\r": "&#13;"})


def _elements(parent: ElementTree.Element, tag: str) -> list[ElementTree.Element]:
    """Return all elements below one that have this tag, in any namespace."""
    return [element for element in parent.iter() if element.tag.rpartition("}")[2].upper() == tag]


def _texts(parent: ElementTree.Element, tag: str) -> tuple[str, ...]:
    return tuple((element.text or "").strip() for element in _elements(parent, tag))


def _one_text(parent: ElementTree.Element, tag: str) -> str:
    texts = _texts(parent, tag)
    if len(texts) != 1:
        raise InputError(f"An element {parent.tag} of the XMLBIF file has {len(texts)} elements {tag}; it needs one.")
    return texts[0]


def _table(
    states: Mapping[str, Sequence[str]], child: str, parents: Sequence[str], definition: ElementTree.Element
) -> ForeignTable:
    """Return a variable's numbers; the first parent's state varies slowest, and the variable's own fastest."""
    axes = {name: states[name] for name in (*parents, child)}
    try:
        numbers = np.array(_one_text(definition, "TABLE").split(), dtype=np.float64)
    except ValueError as error:
        text = str(error).partition(": ")[2].strip("'")
        raise InputError(f"The XMLBIF file has {brief(text)} for {brief(child)}, which is not a number.") from None
    shape = tuple(map(len, axes.values()))
    if len(numbers) != np.prod(shape, dtype=object):
        raise InputError(
            f"The number of probabilities of {brief(child)} in the XMLBIF file is {len(numbers)}; it must be "
            f"{np.prod(shape, dtype=object)}."
        )
    return ForeignTable(axes, numbers.reshape(shape))
