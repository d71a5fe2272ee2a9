"""Networks with their tables as text: a reader and a writer of the Interchange Format for Bayesian networks (BIF)."""

import math
import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.cpts import checked_cpts
from dpbayes.model.network import Network
from dpbayes.sources.bif_parser import BifEntry, Block, parse, second_time

MAX_CHARACTERS = 5_000_000
"""Longest text that is read: beyond it, a file is hardly a network that a person wants to see."""

_PLAIN = re.compile(r"[A-Za-z0-9_.+<>=-]+")
KEYWORDS = frozenset({"network", "variable", "probability", "property", "type", "discrete", "table", "default"})


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
    states, blocks = parse(text.removeprefix("\ufeff"))  # some editors write a byte-order mark
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


def _table(network: Network, node: int, block: Block) -> FloatArray:
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
            raise second_time(entry.line, f"row ({', '.join(entry.given)}) of {brief(block.child)}")
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


def _row(block: Block, entry: BifEntry, codes: Sequence[Mapping[str, int]]) -> int:
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


def _numbers(block: Block, entry: BifEntry, shape: tuple[int, ...]) -> FloatArray:
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
