"""The types of a board: a slider, panels, and one frame for each stop.

A board is plain data. A function computes it from typed inputs, and one script draws it: in the dashboard, in an HTML
file without a server, and in a notebook.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from html import escape
from os import PathLike
from pathlib import Path
from typing import Any

from dpbayes.base.display import safe_csv
from dpbayes.base.libraries import pd
from dpbayes.base.parameters import Parameter
from dpbayes.base.text import many, numeral, typed
from dpbayes.base.validation import InputError, brief, type_checked
from dpbayes.boards.document import document_of, packed
from dpbayes.figures.style import Figure


@dataclass(frozen=True)
class Slider:
    """The number that a board varies.

    Args:
        name: The name of the number in code and links: "epsilon".
        label: Its name on the board.
        stops: Its values in increasing order, as text.
        low: The least value that can be typed.
        high: The largest value that can be typed.
        help: One sentence that explains the number.
        ends: What the two ends mean: ("more private", "more accurate").
    """

    name: str
    label: str
    stops: tuple[str, ...]
    low: float
    high: float
    help: str = ""
    ends: tuple[str, str] = ("", "")

    def including(self, value: str) -> "Slider":
        """Return the slider with a further stop at `value`, which was typed."""
        return replace(self, stops=tuple(sorted({*self.stops, value}, key=float)))

    def nearest(self, value: str) -> tuple[str, ...]:
        """Return all stops, the nearest to `value` first."""
        stops = self.including(value).stops
        place = stops.index(value)
        return tuple(sorted(stops, key=lambda stop: abs(stops.index(stop) - place)))


def slider_of(
    name: str, parameter: Parameter, *, label: str, help: str = "", ends: tuple[str, str] = ("", "")
) -> Slider:
    """Return the slider over the stops of a parameter.

    Args:
        name: The name of the number in code and links.
        parameter: The parameter, which determines the stops.
        label: Its name on the board.
        help: One sentence that explains the number.
        ends: What the two ends mean.

    Returns:
        A slider.

    Example:
        >>> from dpbayes.mechanisms.parameters import EPSILON
        >>> slider_of("epsilon", EPSILON, label="Privacy loss ε").stops[:3]
        ('0.01', '0.013', '0.016')
    """
    stops = tuple(typed(stop) for stop in parameter.stops)
    return Slider(name, label, stops, parameter.low, parameter.high, help, ends)


def nearest_place(points: Sequence[float], value: float) -> int:
    """Return the index of the point that is nearest to a value, on a logarithmic scale."""
    return min(range(len(points)), key=lambda k: abs(math.log(points[k] / value)))


@dataclass(frozen=True)
class Panel:
    """One picture of a board: its key in the frames, its title, and the text for a screen reader.

    `large` marks the picture beside which the others stand. `action` is the label of a button that shows the next of
    several frames of one stop, such as "Draw another". `help` explains the terms of the picture.
    """

    key: str
    title: str
    alt: str
    large: bool = False
    action: str = ""
    help: str = ""


@dataclass(frozen=True, eq=False)
class Frame:
    """What a board shows at one stop: a headline, sentences below it, and one figure and caption for each panel."""

    headline: str
    figures: Mapping[str, Figure] = field(repr=False)
    notes: tuple[str, ...] = ()
    captions: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    """Numbers by name that are on the screen, for a guess in a story."""

    @property
    def shown(self) -> dict[str, Any]:
        """What a browser shows of the frame."""
        texts = {"headline": self.headline, "notes": self.notes, "captions": self.captions}
        return texts | {"figures": self.figures}


@dataclass(frozen=True, eq=False, repr=False)
class Board:
    """A whole view: a slider at a value, panels, and the frames of the stops that are computed.

    Args:
        name: The name of the view: "explore". Names of saved files begin with it.
        title: The title of the view.
        panels: The pictures, in their order on the screen.
        frames: The frames of each stop; more than one if a panel has an `action`. A board of one stop has no slider.
        value: The stop that is shown first.
        slider: The number that the board varies.
        facts: What the pictures depend on, by name, as saved pictures state it.
        private: Whether the board contains values that are not private.
    """

    name: str
    title: str
    panels: tuple[Panel, ...]
    frames: Mapping[str, tuple[Frame, ...]]
    value: str = ""
    slider: Slider | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    private: bool = False

    def __repr__(self) -> str:
        kind = "not private (curator view)" if self.private else "without values that are not private"
        return f"Board {self.name}: {self.title} {many(len(self.frames), 'stop')}, {kind}"

    @property
    def frame(self) -> Frame:
        """The frame that is shown first."""
        return self.frames[self.value][0]

    @property
    def caption(self) -> str:
        """The line below saved pictures: the view, its facts, and whether the values are private."""
        values = ", ".join(f"{name} = {value}" for name, value in self.facts.items())
        warning = " Curator view: may contain values that are not private." if self.private else ""
        return f"dpbayes, {self.name}{f': {values}' if values else ''}. A picture, not a release.{warning}"

    def block(self) -> bytes:
        """Return the bytes that the script of a board draws. The same board always has the same block."""
        values = {"name": self.name, "title": self.title, "value": self.value, "caption": self.caption}
        slider = self.slider and asdict(self.slider)
        shown = {stop: [frame.shown for frame in frames] for stop, frames in sorted(self.frames.items())}
        return packed(values | {"slider": slider, "panels": [asdict(panel) for panel in self.panels], "shown": shown})

    @type_checked
    def to_html(self) -> str:
        """Return the board as one HTML document that needs no server and no network."""
        return document_of(self.block(), title=self.title, caption=self.caption)

    def numbers_csv(self) -> bytes:
        """Return the numbers of the first frame of every stop as CSV: a row for each stop."""
        name = self.slider.name if self.slider else "stop"
        rows = [{name: stop} | dict(self.frames[stop][0].numbers) for stop in sorted(self.frames, key=float)]
        return safe_csv(pd.DataFrame(rows))

    @type_checked
    def save(self, path: str | PathLike[str]) -> None:
        """Write `to_html` to a file. A file of this name is replaced. A `private` board is not for publication.

        Args:
            path: The file, such as "explore.html".

        Raises:
            InputError: The file cannot be written.
        """
        try:
            Path(path).write_text(self.to_html(), encoding="utf-8")
        except OSError as error:
            raise InputError(f"The file {brief(path, 200)} cannot be written: {error.strerror}.") from None

    def _repr_html_(self) -> str:
        """Return the board for a notebook, in a frame of its own."""
        return f'<iframe srcdoc="{escape(self.to_html())}" style="width: 100%; height: 720px; border: 0"></iframe>'


@dataclass(frozen=True, eq=False)
class View:
    """A board that is computed stop by stop: the board without frames, and a function from a stop to its frames."""

    board: Board
    frames_at: Callable[[str], tuple[Frame, ...]]

    def stating(self, facts: Mapping[str, str]) -> "View":
        """Return the view with facts that its pictures depend on, by name, which saved pictures state."""
        return replace(self, board=replace(self.board, facts=facts))

    def with_frames(self, frames: Mapping[str, tuple[Frame, ...]], value: str = "") -> Board:
        """Return the board with these frames, shown at `value`."""
        value = value or self.board.value
        slider = self.board.slider and self.board.slider.including(value)
        return replace(self.board, slider=slider, value=value, frames=dict(frames))

    def complete(self, value: str = "") -> Board:
        """Return the board with the frames of all stops."""
        value = value or self.board.value
        stops = self.board.slider.including(value).stops if self.board.slider else (value,)
        return self.with_frames({stop: self.frames_at(stop) for stop in stops}, value)


def distinct_texts(first: float, other: float, *, most: int) -> tuple[str, str]:
    """Return two numbers in `most` digits, in more where they would read as equal; in six they may."""
    for count in range(most, 7):
        texts = numeral(first, count), numeral(other, count)
        if texts[0] != texts[1] or first == other:
            break
    return texts
