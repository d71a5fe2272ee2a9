"""A board as one block of bytes: a JSON text, and the arrays that it refers to. Equal arrays and parts occur once."""

import json
from typing import Any

from dpbayes.base.types import FloatArray
from dpbayes.boards.board import Board, Frame, Panel, Slider
from dpbayes.figures.style import Figure


def block_of(board: Board) -> bytes:
    """Return the block of a board.

    Args:
        board: The board.

    Returns:
        The length of the JSON text (32 bits, little-endian), the text, padded to four bytes, and the arrays as 32-bit
        numbers. The same board always has the same block.
    """
    arrays, parts = _Arrays(), _Parts()
    shown = {stop: [_frame(frame, arrays, parts) for frame in frames] for stop, frames in sorted(board.frames.items())}
    values = {
        "name": board.name,
        "title": board.title,
        "value": board.value,
        "caption": board.caption,
        "slider": board.slider and _slider(board.slider),
        "panels": [_panel(panel) for panel in board.panels],
        "shown": shown,
        "parts": parts.all,
    }
    text = json.dumps(values, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + arrays.block


def _slider(slider: Slider) -> dict[str, Any]:
    texts = {"label": slider.label, "help": slider.help, "ends": slider.ends}
    return texts | {"stops": slider.stops, "low": slider.low, "high": slider.high}


def _panel(panel: Panel) -> dict[str, Any]:
    return {"key": panel.key, "title": panel.title, "alt": panel.alt, "large": panel.large, "action": panel.action}


def _frame(frame: Frame, arrays: "_Arrays", parts: "_Parts") -> dict[str, Any]:
    figures = {key: _figure(figure, arrays, parts) for key, figure in frame.figures.items()}
    return {
        "headline": frame.headline,
        "notes": list(frame.notes),
        "captions": dict(frame.captions),
        "figures": figures,
    }


def _figure(figure: Figure, arrays: "_Arrays", parts: "_Parts") -> dict[str, int]:
    """Return the place of a figure, which refers to its traces and to the parts of its layout."""
    plain = figure.plain(arrays.add)
    layout = {name: parts.add(value) for name, value in plain["layout"].items()}
    return parts.add({"data": [parts.add(trace) for trace in plain["data"]], "layout": layout})


class _Arrays:
    def __init__(self) -> None:
        self._places: dict[bytes, tuple[int, int]] = {}
        self._size = 0

    def add(self, numbers: FloatArray) -> dict[str, tuple[int, int]]:
        """Return the place of an array: where it begins, and how many numbers it has."""
        packed = numbers.astype("<f4").tobytes()
        if packed not in self._places:
            self._places[packed] = self._size, len(numbers)
            self._size += len(numbers)
        return {"$": self._places[packed]}

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
