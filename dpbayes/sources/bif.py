"""Networks with their tables as text: a reader and a writer of the Interchange Format for Bayesian networks (BIF)."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.cpts import checked_cpts
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
    states, blocks = _states_and_blocks(text.removeprefix("\ufeff"))  # some editors write a byte-order mark
    network = Network(tuple(states), tuple(states.values()), tuple(blocks[name].parents for name in states))
    values = [_table(network, i, blocks[name]).ravel() for i, name in enumerate(network.names)]
    return network, checked_cpts(network, np.concatenate(values))


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


def _table(network: Network, node: int, block: _Block) -> FloatArray:
    """Return the node's probabilities (r_parent1, ..., r_i), parents in network order."""
    axes = [network.position[parent] for parent in block.parents]
    shape = tuple(int(network.cards[j]) for j in (*axes, node))
    rows = math.prod(shape[:-1])
    values, filled = np.zeros((rows, shape[-1])), np.zeros(rows, dtype=bool)
    codes = [{state: k for k, state in enumerate(network.states[j])} for j in axes]
    for entry in sorted(block.entries, key=lambda entry: entry.scope == "default"):
        if entry.scope == "row":
            where = np.array([_row(block, entry, codes)])
        else:
            where = np.arange(rows) if entry.scope == "table" else np.flatnonzero(~filled)
        if filled[where].any():
            raise _second_time(entry.line, f"row ({', '.join(entry.given)}) of {brief(block.child)}")
        values[where], filled[where] = _numbers(block, entry, shape), True
    if not filled.all():
        missing = np.unravel_index(int(np.argmin(filled)), shape[:-1])
        given = ", ".join(f"{network.names[j]}={network.states[j][s]}" for j, s in zip(axes, missing, strict=True))
        raise InputError(
            f"The probability block of {brief(block.child)} has no row{' for ' + brief(given, 80) if given else ''}."
        )
    # The file may list the parents in any order; the cells follow the network's.
    order = sorted(range(len(axes)), key=axes.__getitem__)
    return values.reshape(shape).transpose(*order, len(axes))


def _row(block: _Block, entry: _BifEntry, codes: Sequence[Mapping[str, int]]) -> int:
    if len(entry.given) != len(codes):
        raise InputError(
            f"Line {entry.line} of the BIF file names {len(entry.given)} states for a row of {brief(block.child)}, "
            f"which has {len(codes)} parents."
        )
    row = 0
    for parent, state, state_codes in zip(block.parents, entry.given, codes, strict=True):
        if state not in state_codes:
            raise InputError(
                f"Line {entry.line} of the BIF file has {brief(state)}, which is not a state of {brief(parent)}."
            )
        row = row * len(state_codes) + state_codes[state]
    return row


def _numbers(block: _Block, entry: _BifEntry, shape: tuple[int, ...]) -> FloatArray:
    """Return the entry's numbers, (rows, r_i) for a whole table and (r_i,) otherwise."""
    wanted = math.prod(shape) if entry.scope == "table" else shape[-1]
    if len(entry.numbers) != wanted:
        raise InputError(
            f"The number of probabilities in line {entry.line} of the BIF file, for {brief(block.child)}, "
            f"is {len(entry.numbers)}; it must be {wanted}."
        )
    try:
        numbers = np.array([float(text) for text in entry.numbers])
    except ValueError as error:
        text = str(error).partition(": ")[2].strip("'")
        raise InputError(
            f"Line {entry.line} of the BIF file has {brief(text)} for {brief(block.child)}, which is not a number."
        ) from None
    # In a `table` the child's state varies slowest and the last parent's fastest: the format's own rule.
    return numbers.reshape(shape[-1], -1).T if entry.scope == "table" else numbers


# The grammar: tokens, and the variable and probability blocks made of them


class _Token(NamedTuple):
    text: str
    kind: str
    line: int

    @property
    def name(self) -> str:
        return re.sub(r"\\(.)", r"\1", self.text[1:-1], flags=re.DOTALL) if self.kind == "quoted" else self.text


def _states_and_blocks(text: str) -> tuple[dict[str, tuple[str, ...]], dict[str, _Block]]:
    """Return every variable's states and its probability block, in the order of the declarations.

    Errors: InputError with the line number for whatever is not in the grammar, for variables declared or given a
    block twice, and for variables without one.
    """
    states, blocks = _parse(_Reader(_tokens(text)))
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
    return states, blocks


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    line = 1
    for match in _TOKEN.finditer(text):
        kind, piece = str(match.lastgroup), match.group()
        if kind == "unclosed":
            what = "quoted name" if piece == '"' else "comment"
            raise InputError(f"The {what} that begins in line {line} of the BIF file is not closed.")
        if kind != "space":
            tokens.append(_Token(piece, kind, line))
        line += piece.count("\n")
    return tokens


class _Reader:
    """A place in the list of tokens; every step either returns what was expected or says what was found."""

    def __init__(self, tokens: Sequence[_Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self) -> _Token:
        if self.at < len(self.tokens):
            return self.tokens[self.at]
        return _Token("the end of the file", "end", self.tokens[-1].line if self.tokens else 1)

    def take(self) -> _Token:
        token = self.peek()
        self.at += 1
        return token

    def sees(self, text: str) -> bool:
        """Whether the next token is this unquoted word or mark."""
        token = self.peek()
        return token.text == text and token.kind in ("word", "mark")

    def expect(self, text: str) -> None:
        if not self.sees(text):
            raise self.problem(f'"{text}"')
        self.at += 1

    def name(self, what: str) -> str:
        token = self.peek()
        if token.kind not in ("word", "quoted"):
            raise self.problem(what)
        self.at += 1
        return token.name

    def listed(self, what: str, end: str) -> tuple[str, ...]:
        """Pass names up to the mark `end`; commas between them, and the bar before parents, are optional."""
        names: list[str] = []
        while not self.sees(end):
            names.append(self.name(what))
            while self.sees(",") or self.sees("|"):
                self.at += 1
        self.at += 1
        return tuple(names)

    def problem(self, wanted: str) -> InputError:
        """What was expected here and what was found."""
        token = self.peek()
        text = token.text if token.kind == "end" else brief(token.text)
        return InputError(f"Line {token.line} of the BIF file has {text} instead of {wanted}.")


def _parse(reader: _Reader) -> tuple[dict[str, tuple[str, ...]], dict[str, _Block]]:
    first = reader.peek()
    if not any(reader.sees(word) for word in ("network", "variable", "probability")):
        fault = f"is {brief(first.text)}" if reader.tokens else "is missing"
        raise InputError(f'This is not a BIF file: its first word should be "network", but it {fault}.')
    states: dict[str, tuple[str, ...]] = {}
    blocks: dict[str, _Block] = {}
    while reader.peek().kind != "end":
        line = reader.peek().line
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
    """What is said of anything that a file gives twice."""
    return InputError(f"Line {line} of the BIF file repeats the {what}.")


def _pass_network(reader: _Reader) -> None:
    reader.take()
    while not reader.sees("{"):
        reader.name('a name and "{"')
    while not reader.sees("}"):
        if reader.peek().kind == "end":
            raise reader.problem('"}"')
        reader.take()
    reader.take()


def _variable(reader: _Reader) -> tuple[str, tuple[str, ...]]:
    reader.take()
    name = reader.name("the name of a variable")
    for text in ("{", "type", "discrete", "["):
        reader.expect(text)
    token = reader.peek()
    declared = reader.name("the number of states")
    for text in ("]", "{"):
        reader.expect(text)
    states = reader.listed("the name of a state", "}")
    for text in (";", "}"):
        reader.expect(text)
    if declared != str(len(states)):
        raise InputError(
            f"Line {token.line} declares {brief(declared)} states for {brief(name)} but lists {len(states)}."
        )
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
    line = reader.peek().line
    for scope in ("table", "default"):
        if reader.sees(scope):
            reader.take()
            return _BifEntry(scope, (), reader.listed("a probability", ";"), line)
    reader.expect("(")
    given = reader.listed("a state of a parent", ")")
    return _BifEntry("row", given, reader.listed("a probability", ";"), line)
