"""The grammar of BIF texts: tokens, and the variable and probability blocks made of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from dpbayes.base.validation import InputError, brief

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


class _Token(NamedTuple):
    text: str
    kind: str
    line: int

    @property
    def name(self) -> str:
        return re.sub(r"\\(.)", r"\1", self.text[1:-1], flags=re.DOTALL) if self.kind == "quoted" else self.text


@dataclass(frozen=True)
class BifEntry:
    """One list of numbers: for all rows ("table"), for the rows not listed ("default"), or for one row ("row")."""

    scope: Literal["table", "default", "row"]
    given: tuple[str, ...]
    numbers: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class Block:
    """A probability block: the child, its parents in the file's order, and the lists of numbers."""

    child: str
    parents: tuple[str, ...]
    entries: tuple[BifEntry, ...]
    line: int


def parse(text: str) -> tuple[dict[str, tuple[str, ...]], dict[str, Block]]:
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


def _parse(reader: _Reader) -> tuple[dict[str, tuple[str, ...]], dict[str, Block]]:
    first = reader.peek()
    if not any(reader.sees(word) for word in ("network", "variable", "probability")):
        fault = f"is {brief(first.text)}" if reader.tokens else "is missing"
        raise InputError(f'This is not a BIF file: its first word should be "network", but it {fault}.')
    states: dict[str, tuple[str, ...]] = {}
    blocks: dict[str, Block] = {}
    while reader.peek().kind != "end":
        line = reader.peek().line
        if reader.sees("network"):
            _pass_network(reader)
        elif reader.sees("variable"):
            name, variable_states = _variable(reader)
            if name in states:
                raise second_time(line, f"variable {brief(name)}")
            states[name] = variable_states
        elif reader.sees("probability"):
            block = _probability(reader)
            if block.child in blocks:
                raise second_time(line, f"probability block of {brief(block.child)}")
            blocks[block.child] = block
        else:
            raise reader.problem('"variable" or "probability"')
    return states, blocks


def second_time(line: int, what: str) -> InputError:
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


def _probability(reader: _Reader) -> Block:
    line = reader.take().line
    reader.expect("(")
    names = reader.listed("the name of a variable", ")")
    if not names:
        raise InputError(f"The probability block in line {line} names no variable.")
    reader.expect("{")
    entries: list[BifEntry] = []
    while not reader.sees("}"):
        entries.append(_entry(reader))
    reader.take()
    return Block(names[0], names[1:], tuple(entries), line)


def _entry(reader: _Reader) -> BifEntry:
    line = reader.peek().line
    for scope in ("table", "default"):
        if reader.sees(scope):
            reader.take()
            return BifEntry(scope, (), reader.listed("a probability", ";"), line)
    reader.expect("(")
    given = reader.listed("a state of a parent", ")")
    return BifEntry("row", given, reader.listed("a probability", ";"), line)
