"""Networks with their tables as text: a reader and a writer of the Interchange Format for Bayesian networks (BIF)."""

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.cpts import ForeignTable, checked_cpts, cpts_of_tables
from dpbayes.model.network import Network

MAX_CHARACTERS = 5_000_000
"""Longest text that is read: beyond it, a file is hardly a network that a person wants to see."""

_PLAIN = re.compile(r"[A-Za-z0-9_.+<>=-]+")
KEYWORDS = frozenset({"network", "variable", "probability", "property", "type", "discrete", "table", "default"})

# Possessive repeats (*+, ++) never step back, so that no text takes more than linear time.
_TOKEN = re.compile(
    r"""(?P<space>\s++ | //[^\n]*+ | /\*(?:[^*]|\*(?!/))*+\*/
        | property\s++(?![,(){}\[\]|;])(?:"(?:[^"\\]|\\.)*+"|[^";])*+;?)
      | (?P<quoted>"(?:[^"\\]|\\.)*+")
      | (?P<mark>[{}()\[\]|,;])
      | (?P<word>(?:(?!//|/\*)[^\s{}()\[\]|,;"])++)
      | (?P<unclosed>.)""",
    re.VERBOSE | re.DOTALL,
)


States = Mapping[str, tuple[str, ...]]
"""The states of the declared variables."""


@dataclass(frozen=True)
class _BifEntry:
    """One list of numbers: for all rows ("table"), for the rows not listed ("default"), or for one row ("row")."""

    scope: Literal["table", "default", "row"]
    given: tuple[str, ...]
    numbers: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class _Block:
    """A probability block: the child, its parents in the file's order, and the lists of numbers."""

    child: str
    parents: tuple[str, ...]
    entries: tuple[_BifEntry, ...]
    line: int


def read_bif(text: str) -> tuple[Network, FloatArray]:
    """Read a network and its CPTs from the Bayesian network interchange format (Cozman 1998, version 0.15).

    Args:
        text: The file's text.

    Returns:
        The network, and the probabilities (K,) of its cells.

    Raises:
        InputError: The text is not a BIF file. The message names the line if possible.

    Example:
        >>> network, probabilities = dp.load_named("asia")
        >>> dp.read_bif(dp.write_bif(network, probabilities))[0] == network
        True
    """
    if len(text) > MAX_CHARACTERS:
        raise InputError(f"The file has {len(text):,} characters; the limit for a BIF file is {MAX_CHARACTERS:,}.")
    states, blocks = _parsed(_Reader(text.removeprefix("\ufeff")))  # some editors write a byte-order mark
    _require_blocks(states, blocks)
    network = Network(tuple(states), tuple(states.values()), tuple(blocks[name].parents for name in states))
    # The file may list the parents in any order; the cells follow the network's.
    tables = {
        name: ForeignTable({axis: states[axis] for axis in (*block.parents, name)}, _values(block, states))
        for name, block in blocks.items()
    }
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


def _require_blocks(states: States, blocks: Mapping[str, _Block]) -> None:
    """Check that there is a block for every variable, and that blocks name no others."""
    if not states:
        raise InputError("The BIF file declares no variables.")
    for block in blocks.values():
        for name in (block.child, *block.parents):
            if name not in states:
                raise InputError(
                    f"The probability block in line {block.line} names {brief(name)}, which is not a declared variable."
                )
    for name in states:
        if name not in blocks:
            raise InputError(f"The BIF file has no probability block for the variable {brief(name)}.")


def _values(block: _Block, states: States) -> FloatArray:
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


def _row(block: _Block, entry: _BifEntry, states: States) -> tuple[int, ...]:
    """Return the states of the parents, as places."""
    if len(entry.given) != len(block.parents):
        raise InputError(
            f"Line {entry.line} of the BIF file names {len(entry.given)} states for a row of {brief(block.child)}, "
            f"which has {len(block.parents)} parents."
        )
    for parent, state in zip(block.parents, entry.given, strict=True):
        if state not in states[parent]:
            raise InputError(
                f"Line {entry.line} of the BIF file has {brief(state)}, which is not a state of {brief(parent)}."
            )
    return tuple(states[parent].index(state) for parent, state in zip(block.parents, entry.given, strict=True))


def _numbers(block: _Block, entry: _BifEntry, shape: tuple[int, ...]) -> FloatArray:
    """Return the numbers of an entry, of the shape of the table or (r_child,)."""
    needed = math.prod(shape) if entry.scope == "table" else shape[-1]
    if len(entry.numbers) != needed:
        raise InputError(
            f"The number of probabilities in line {entry.line} of the BIF file, for {brief(block.child)}, "
            f"is {len(entry.numbers)}; it must be {needed}."
        )
    try:
        numbers = np.array([float(text) for text in entry.numbers])
    except ValueError as error:
        text = str(error).partition(": ")[2].strip("'")
        raise InputError(
            f"Line {entry.line} of the BIF file has {brief(text)} for {brief(block.child)}, which is not a number."
        ) from None
    # In a `table` the child's state varies slowest and the last parent's fastest: the format's own rule.
    return np.moveaxis(numbers.reshape(shape[-1], *shape[:-1]), 0, -1) if entry.scope == "table" else numbers


# The grammar: tokens, and the variable and probability blocks made of them


class _Token(NamedTuple):
    text: str
    kind: str
    line: int


def _tokens(text: str) -> Iterator[_Token]:
    """Yield the words, quoted names (without their quotes) and marks of a text, and its end."""
    line = last = 1
    for match in _TOKEN.finditer(text):
        kind, piece = str(match.lastgroup), match.group()
        if kind == "unclosed":
            what = "quoted name" if piece == '"' else "comment"
            raise InputError(f"The {what} that begins in line {line} of the BIF file is not closed.")
        if kind != "space":
            last = line
            is_quoted = kind == "quoted"
            yield _Token(re.sub(r"\\(.)", r"\1", piece[1:-1], flags=re.DOTALL) if is_quoted else piece, kind, line)
        line += piece.count("\n")
    yield _Token("the end of the file", "end", last)


class _Reader:
    """The tokens of a text and the next one; a step returns what was expected, or says what is there instead."""

    def __init__(self, text: str) -> None:
        self.tokens = iter(list(_tokens(text)))
        self.next = next(self.tokens)

    def take(self) -> _Token:
        token = self.next
        self.next = next(self.tokens, token)
        return token

    def sees(self, *texts: str) -> bool:
        """Whether the next token is one of these unquoted words or marks."""
        return self.next.text in texts and self.next.kind in ("word", "mark")

    def expect(self, *texts: str) -> None:
        """Take these unquoted words and marks."""
        for text in texts:
            if not self.sees(text):
                raise self.problem(f'"{text}"')
            self.take()

    def name(self, what: str) -> str:
        if self.next.kind not in ("word", "quoted"):
            raise self.problem(what)
        return self.take().text

    def listed(self, what: str, end: str) -> tuple[str, ...]:
        """Take names up to the mark `end`; commas between them, and the bar before parents, are optional."""
        names: list[str] = []
        while not self.sees(end):
            names.append(self.name(what))
            while self.sees(",", "|"):
                self.take()
        self.take()
        return tuple(names)

    def problem(self, needed: str) -> InputError:
        """Return the error for a token in place of what is needed."""
        text = self.next.text if self.next.kind == "end" else brief(self.next.text)
        return InputError(f"Line {self.next.line} of the BIF file has {text} instead of {needed}.")


def _parsed(reader: _Reader) -> tuple[dict[str, tuple[str, ...]], dict[str, _Block]]:
    """Return every variable's states and every probability block by its child, in the order of the file.

    Errors: InputError with the line for what is not in the grammar, and for what is declared twice.
    """
    if not reader.sees("network", "variable", "probability"):
        fault = "is missing" if reader.next.kind == "end" else f"is {brief(reader.next.text)}"
        raise InputError(f'This is not a BIF file: its first word should be "network", but it {fault}.')
    states: dict[str, tuple[str, ...]] = {}
    blocks: dict[str, _Block] = {}
    while reader.next.kind != "end":
        line = reader.next.line
        if reader.sees("network"):
            _pass_network(reader)
        elif reader.sees("variable"):
            name, variable_states = _variable(reader)
            if name in states:
                raise _second_time(line, f"variable {brief(name)}")
            states[name] = variable_states
        elif reader.sees("probability"):
            block = _probability(reader)
            if block.child in blocks:
                raise _second_time(line, f"probability block of {brief(block.child)}")
            blocks[block.child] = block
        else:
            raise reader.problem('"variable" or "probability"')
    return states, blocks


def _second_time(line: int, what: str) -> InputError:
    """Return the error for anything that a file has twice."""
    return InputError(f"Line {line} of the BIF file repeats the {what}.")


def _pass_network(reader: _Reader) -> None:
    reader.take()
    while not reader.sees("{"):
        reader.name('a name and "{"')
    while not reader.sees("}"):
        if reader.take().kind == "end":
            raise reader.problem('"}"')
    reader.take()


def _variable(reader: _Reader) -> tuple[str, tuple[str, ...]]:
    reader.take()
    name = reader.name("the name of a variable")
    reader.expect("{", "type", "discrete", "[")
    line, declared = reader.next.line, reader.name("the number of states")
    reader.expect("]", "{")
    states = reader.listed("the name of a state", "}")
    reader.expect(";", "}")
    if declared != str(len(states)):
        raise InputError(f"Line {line} declares {brief(declared)} states for {brief(name)} but lists {len(states)}.")
    return name, states


def _probability(reader: _Reader) -> _Block:
    line = reader.take().line
    reader.expect("(")
    names = reader.listed("the name of a variable", ")")
    if not names:
        raise InputError(f"The probability block in line {line} names no variable.")
    reader.expect("{")
    entries: list[_BifEntry] = []
    while not reader.sees("}"):
        entries.append(_entry(reader))
    reader.take()
    return _Block(names[0], names[1:], tuple(entries), line)


def _entry(reader: _Reader) -> _BifEntry:
    line = reader.next.line
    for scope in ("table", "default"):
        if reader.sees(scope):
            reader.take()
            return _BifEntry(scope, (), reader.listed("a probability", ";"), line)
    reader.expect("(")
    given = reader.listed("a state of a parent", ")")
    return _BifEntry("row", given, reader.listed("a probability", ";"), line)
