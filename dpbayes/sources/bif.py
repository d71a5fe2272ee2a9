"""Networks with their tables as text: a reader and a writer of the Interchange Format for Bayesian networks (BIF)."""

import math
import re
from bisect import bisect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, utf8_text
from dpbayes.model.cpts import checked_cpts, cpts_of_tables
from dpbayes.model.network import Network
from dpbayes.sources.files import read_file

MAX_CHARACTERS = 5_000_000
"""Longest text that is read: beyond it, a file is hardly a network that a person wants to see."""

_PLAIN = re.compile(r"[A-Za-z0-9_.+<>=-]+")
KEYWORDS = frozenset({"network", "variable", "probability", "property", "type", "discrete", "table", "default"})

# Possessive repeats (*+, ++) never step back, so that no text takes more than linear time.
_QUOTED = r'"(?:[^"\\]|\\.)*+"'
_NAME = rf'(?:{_QUOTED}|[^\s{{}}()\[\]|,;"]++)'
_LIST = rf"\s*+(?:{_NAME}[\s,|]*+)*+"
_END = r'(?![^\s{}()\[\]|,;"])'
_IGNORED = re.compile(
    rf"""(?P<quoted>{_QUOTED}) | //[^\n]*+ | /\*(?:[^*]|\*(?!/))*+\*/
      | (?<![^\s{{}}()\[\]|,;"])property\s++(?![,(){{}}\[\]|;])(?:{_QUOTED}|[^";])*+;?
      | (?P<unclosed>"|/\*)""",
    re.VERBOSE | re.DOTALL,
)
"""Comments and properties; the quoted names in which they are neither; and what is not closed."""

_ENTRY = rf"\s*+(?:(?P<scope>table|default){_END}|\((?P<given>{_LIST})\))(?P<numbers>{_LIST});"
_PLAIN_ENTRY = re.sub(r"\?P<\w+>", "?:", _ENTRY)  # Python may fail on groups in possessive repeats
_BLOCK = re.compile(
    rf"""\s*+(?P<block>network{_END}{_LIST}\{{(?:{_QUOTED}|[^}}"])*+\}}
      | variable{_END}\s*+(?P<name>{_NAME})\s*+\{{\s*+type{_END}\s*+discrete{_END}
        \s*+\[\s*+(?P<size>{_NAME})\s*+\]\s*+\{{(?P<states>{_LIST})\}}\s*+;\s*+\}}
      | probability{_END}\s*+\((?P<family>{_LIST})\)\s*+\{{(?P<entries>(?:{_PLAIN_ENTRY})*+)\s*+\}})""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class _BifEntry:
    """One list of numbers: for all rows ("table"), for the rows not listed ("default"), or for one row ("row")."""

    scope: str
    given: tuple[str, ...]
    numbers: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class _Block:
    """A probability block: the child, its parents in the file's order, and the lists of numbers."""

    child: str
    parents: tuple[str, ...]
    entries: tuple[_BifEntry, ...]


def read_bif(text: str | PathLike[str]) -> tuple[Network, FloatArray]:
    """Read a network and its CPTs from the Bayesian network interchange format (Cozman 1998, version 0.15).

    Args:
        text: The file, such as asia.bif, or its text.

    Returns:
        The network, and the probabilities (K,) of its cells.

    Raises:
        InputError: The file cannot be read, or the text is not a BIF file. The message names the line if possible.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> dp.read_bif(dp.write_bif(network, probabilities))[0] == network
        True
    """
    if isinstance(text, PathLike) or text.endswith(".bif"):
        text = utf8_text(read_file(text))
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"The file has {len(text):,} characters; the limit for a BIF file is {MAX_CHARACTERS:,}.")
    states, blocks = _parsed(text.removeprefix("\ufeff"))  # some editors write a byte-order mark
    for name in (*states, *blocks):
        if name not in states or name not in blocks:
            raise InputError(f"The BIF file needs both a variable block and a probability block for {brief(name)}.")
    network = Network(tuple(states), tuple(states.values()), tuple(blocks[name].parents for name in states))
    # The file may list the parents in any order; the cells follow the network's.
    tables = {name: ((*block.parents, name), _values(block, states)) for name, block in blocks.items()}
    return network, cpts_of_tables(network, tables)


def write_bif(network: Network, probabilities: ArrayLike) -> str:
    """Write a network and its CPTs in the Bayesian network interchange format, which `read_bif` reads without loss.

    Args:
        network: The network.
        probabilities: The CPTs (K,).

    Returns:
        The file's text.

    Raises:
        InputError: The probabilities have another shape, or a row does not add up to one.

    Example:
        >>> dp.write_bif(dp.chain(1), [0.25, 0.75]).splitlines()[0]
        'network unknown {'
    """
    checked = checked_cpts(network, probabilities)
    lines = ["network unknown {", "}"]
    for name, states in zip(network.names, network.states, strict=True):
        listed = ", ".join(_written(state) for state in states)
        lines += [f"variable {_written(name)} {{", f"  type discrete [ {len(states)} ] {{ {listed} }};", "}"]
    for i, name in enumerate(network.names):
        parents = ", ".join(_written(parent) for parent in network.parents[i])
        lines.append(f"probability ( {_written(name)}{' | ' + parents if parents else ''} ) {{")
        cells = np.asarray(network.table(checked, i))
        for row in np.ndindex(cells.shape[:-1]):
            given = [_written(network.states[j][s]) for j, s in zip(network.families[i], row, strict=False)]
            numbers = ", ".join(repr(float(p)) for p in cells[row])
            lines.append(f"  ({', '.join(given)}) {numbers};" if given else f"  table {numbers};")
        lines.append("}")
    return "\n".join(lines) + "\n"


def _written(name: str) -> str:
    if _PLAIN.fullmatch(name) and name not in KEYWORDS:
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _values(block: _Block, states: Mapping[str, tuple[str, ...]]) -> FloatArray:
    """Return the probabilities of a block (r_parent1, ..., r_child), parents in the order of the file."""
    shape = tuple(len(states[name]) for name in (*block.parents, block.child))
    values, filled = np.zeros(shape), np.zeros(shape[:-1], dtype=bool)
    for entry in sorted(block.entries, key=lambda entry: entry.scope == "default"):
        numbers = _numbers(block, entry, shape)
        if entry.scope == "default":
            values[~filled], filled[...] = numbers, True
            continue
        rows = _row(block, entry, states) if entry.scope == "row" else ()
        if filled[rows].any():
            raise _second_time(entry.line, f"row ({', '.join(entry.given)}) of {brief(block.child)}")
        values[rows], filled[rows] = numbers, True
    if not filled.all():
        missing = zip(block.parents, np.argwhere(~filled)[0], strict=True)
        given = ", ".join(f"{name}={states[name][state]}" for name, state in missing)
        raise InputError(
            f"The probability block of {brief(block.child)} has no row{' for ' + brief(given, 80) if given else ''}."
        )
    return values


def _row(block: _Block, entry: _BifEntry, states: Mapping[str, tuple[str, ...]]) -> tuple[int, ...]:
    """Return the states of the parents, as places."""
    try:
        return tuple(states[parent].index(own) for parent, own in zip(block.parents, entry.given, strict=True))
    except ValueError:
        raise InputError(
            f"Line {entry.line} of the BIF file has the row ({', '.join(map(brief, entry.given))}) of "
            f"{brief(block.child)}, which is not one state of each of its {len(block.parents)} parents."
        ) from None


def _numbers(block: _Block, entry: _BifEntry, shape: tuple[int, ...]) -> FloatArray:
    """Return the numbers of an entry, of the shape of the table or (r_child,)."""
    # In a `table` the child's state varies slowest and the last parent's fastest: the format's own rule.
    shape = (shape[-1], *shape[:-1]) if entry.scope == "table" else shape[-1:]
    try:
        return np.moveaxis(np.array([float(text) for text in entry.numbers]).reshape(shape), 0, -1)
    except ValueError:
        raise InputError(
            f"Line {entry.line} of the BIF file must have {math.prod(shape)} numbers for {brief(block.child)}, not "
            f"{brief(', '.join(entry.numbers), 80)}."
        ) from None


# The grammar: variable and probability blocks


def _parsed(text: str) -> tuple[dict[str, tuple[str, ...]], dict[str, _Block]]:
    """Return every variable's states and every probability block by its child, in the order of the file.

    Errors: InputError with the line for what is not in the grammar, and for what is declared twice.
    """
    text = _IGNORED.sub(_blank, text)
    ends = [match.start() for match in re.finditer("\n", text)]
    states: dict[str, tuple[str, ...]] = {}
    blocks: dict[str, _Block] = {}
    place = 0
    while block := _BLOCK.match(text, place):
        place, line = block.end(), 1 + bisect(ends, block.start("block"))
        if block["name"] is not None:
            name, variable_states = _variable(block, line)
            if name in states:
                raise _second_time(line, f"variable {brief(name)}")
            states[name] = variable_states
        elif block["family"] is not None:
            own = _probability(block, line, ends)
            if own.child in blocks:
                raise _second_time(line, f"probability block of {brief(own.child)}")
            blocks[own.child] = own
    if rest := text[place:].strip():
        line = 1 + bisect(ends, len(text) - len(text[place:].lstrip()))
        raise InputError(
            f"Line {line} of the BIF file, {brief(rest.splitlines()[0], 80)}, does not begin a complete block of a "
            "network, of a discrete variable or of probabilities."
        )
    return states, blocks


def _blank(match: re.Match[str]) -> str:
    """Return spaces and line ends in place of a comment or a property."""
    if match["unclosed"]:
        what = "quoted name" if match[0] == '"' else "comment"
        line = 1 + match.string.count("\n", 0, match.start())
        raise InputError(f"The {what} that begins in line {line} of the BIF file is not closed.")
    return match[0] if match["quoted"] else re.sub(r"[^\n]", " ", match[0])


def _names(text: str) -> tuple[str, ...]:
    """Return the names in a list, without their quotes."""
    return tuple(
        re.sub(r"\\(.)", r"\1", name[1:-1], flags=re.DOTALL) if name.startswith('"') else name
        for name in re.findall(_NAME, text, re.DOTALL)
    )


def _second_time(line: int, what: str) -> InputError:
    """Return the error for anything that a file has twice."""
    return InputError(f"Line {line} of the BIF file repeats the {what}.")


def _variable(block: re.Match[str], line: int) -> tuple[str, tuple[str, ...]]:
    (name,), (size,), states = _names(block["name"]), _names(block["size"]), _names(block["states"])
    if size != str(len(states)):
        raise InputError(f"Line {line} declares {brief(size)} states for {brief(name)} but lists {len(states)}.")
    return name, states


def _probability(block: re.Match[str], line: int, ends: Sequence[int]) -> _Block:
    family, start = _names(block["family"]), block.start("entries")
    if not family:
        raise InputError(f"The probability block in line {line} names no variable.")
    entries = (
        _BifEntry(
            entry["scope"] or "row",
            _names(entry["given"] or ""),
            _names(entry["numbers"]),
            1 + bisect(ends, start + entry.end() - 1),
        )
        for entry in re.finditer(_ENTRY, block["entries"], re.DOTALL)
    )
    return _Block(family[0], family[1:], tuple(entries))
