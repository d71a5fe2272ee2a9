"""Values with figures as one block of bytes: a JSON text, and the arrays that it refers to. Equal parts occur once."""

import json
from collections.abc import Mapping
from typing import Any

from dpbayes.base.types import FloatArray
from dpbayes.figures.style import Figure

SHORT = 24
"""Characters of a text that is not worth a part of its own."""


def packed(values: Mapping[str, Any]) -> bytes:
    """Return values as one block.

    Args:
        values: JSON values, and figures among them.

    Returns:
        The length of the JSON text (32 bits, little-endian), the text, padded to four bytes, and the arrays as 32-bit
        numbers. The same values always have the same block. The text is an object with the values and their `parts`:
        {"@": k} is part k, and {"$": [start, length]} an array.
    """
    numbers, parts = _Numbers(), _Parts()
    text = json.dumps(_plain(values, numbers, parts) | {"parts": parts.all}, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + numbers.block


def _plain(value: Any, numbers: "_Numbers", parts: "_Parts") -> Any:
    if isinstance(value, Figure):
        figure = value.plain(numbers.add)
        layout = {name: parts.add(part) for name, part in figure["layout"].items()}
        return parts.add({"data": [parts.add(trace) for trace in figure["data"]], "layout": layout})
    if isinstance(value, Mapping):
        return {key: _plain(inner, numbers, parts) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner, numbers, parts) for inner in value]
    return parts.add(value) if isinstance(value, str) and len(value) > SHORT else value


class _Numbers:
    def __init__(self) -> None:
        self._places: dict[bytes, tuple[int, int]] = {}
        self._size = 0

    def add(self, numbers: FloatArray) -> dict[str, tuple[int, int]]:
        """Return the place of an array: where it begins, and how many numbers it has."""
        array = numbers.astype("<f4").tobytes()
        if array not in self._places:
            self._places[array] = self._size, len(numbers)
            self._size += len(numbers)
        return {"$": self._places[array]}

    @property
    def block(self) -> bytes:
        """All arrays, in the order of their places."""
        return b"".join(self._places)


class _Parts:
    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self.all: list[Any] = []

    def add(self, part: Any) -> dict[str, int]:
        """Return the place of a part."""
        text = json.dumps(part, allow_nan=False)
        if text not in self._places:
            self._places[text] = len(self.all)
            self.all.append(part)
        return {"@": self._places[text]}
