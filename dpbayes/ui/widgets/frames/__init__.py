"""What a live picture shows at every stop of its main slider: the browser draws it while the hand moves.

When the hand rests, the server hears where, and what it answers takes the place of the frame. The two are the same.
"""

import json
import re
import secrets
import time
from collections.abc import Callable, Hashable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.base.memo import Memo
from dpbayes.base.parameters import Parameter
from dpbayes.base.steps import Work
from dpbayes.base.text import typed
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.figures.style import Figure
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.settings import PARAMETERS, Present, Settings
from dpbayes.ui.widgets.address import hold_link, release_link, shown_page

MOST_BYTES = 1_500_000
"""Bytes of the frames of a page; of a larger picture the browser gets none, and asks the server at every move."""

AT_ONCE = 0.1
"""Seconds of work between two looks at whether something else is to be done."""

TOKEN = 16
"""Characters of what tells the frames of one state of the page from those of another."""

KEPT = 24
"""Pages of which a server keeps the frames for all its sessions."""

_TOKEN, _MINE = "frames.token", "frames.mine"
_ESCAPED = re.compile(r"\\(.)")


@dataclass(frozen=True, eq=False)
class Frame:
    """What is shown at one stop: figures by the keys of their charts, and sentences, as Markdown, by their places.

    A place is the key of a container and the tag of the sentence in it: `headline h2`, `picture p`.
    """

    figures: dict[str, Figure]
    sentences: dict[str, str]


@dataclass(frozen=True, eq=False)
class Frames:
    """What frames a page offers: for each stop of the slider of number `name`, and `of` what is not in the settings.

    `beside` returns what follows the hand beside the live picture.
    """

    name: str
    of: Callable[[Chosen], Hashable] = lambda chosen: None
    beside: Callable[[Chosen], Frame] = lambda chosen: Frame({}, {})


Part = Callable[[Settings], Frame]
"""What a page shows with these settings. Errors: InputError where that is a refusal."""

_mount = st.components.v2.component(
    "dpbayes_frames", js=(Path(__file__).parent / "frames.js").read_text(encoding="utf-8")
)


def charts_of(chosen: Chosen, frames: Frames | None) -> None:
    """Note of which settings, but for the main slider's, the charts are that follow, on a page that offers frames.

    What tells them from others is random: a digest of the data would let whoever sees it confirm a guess of them.
    """
    if frames is None or not frames.name:
        st.session_state.pop(_TOKEN, None)
    else:
        kept(_TOKEN, _key(chosen, frames), lambda: secrets.token_hex(TOKEN // 2))


def token() -> str:
    """Return what charts and frames of the same settings share; "" where there are no frames."""
    return str(st.session_state.get(_TOKEN, ("", ""))[1])


def offer_frames(part: Part, chosen: Chosen, frames: Frames, *, place: DeltaGenerator) -> None:
    """Send the browser what `part` shows at every stop of the slider; a server works it out once for public data.

    To be called at the end of a page that has nothing else to do. A move of the hand ends the work, which goes on from
    there when it rests again.
    """
    memo = of_everybody() if chosen.has_public_records else st.session_state.setdefault(_MINE, Memo(most=1))
    hold_link()  # what a hand that moves has no time for is left out of frames as well
    try:
        steps = memo.once_in_steps(_key(chosen, frames), _packed, part, chosen.settings, frames.name)
        block = _finished(steps, place)
    finally:
        release_link()
    if block:
        _mount(key="frames", data=token().encode() + block)


def _finished(steps: Work[bytes], place: DeltaGenerator) -> bytes:
    """Return the result of work that makes room for whatever else is to be done."""
    looked = time.perf_counter()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return bytes(end.value)
        if time.perf_counter() - looked > AT_ONCE:
            place.empty()  # Streamlit ends a run that has to make room when it shows something
            looked = time.perf_counter()


def _packed(part: Part, settings: Settings, name: str) -> Work[bytes]:
    """Work out the frames, the nearest first, as one block; nothing where they are too large, or one is refused."""
    parameter = PARAMETERS[name]
    assert isinstance(parameter, Parameter)
    stops, now = parameter.stops, settings.parameter(name)
    arrays, shown = Arrays(), {}
    for done, stop in enumerate(sorted(stops, key=lambda stop: abs(stops.index(stop) - _place(stops, now)))):
        try:
            frame = part(settings.with_parameter(name, stop))
        except InputError:
            continue  # the server says why, at this stop
        shown[typed(stop) if isinstance(stop, float) else str(stop)] = {
            "figures": {key: figure.plain(arrays.add) for key, figure in frame.figures.items()},
            "sentences": {place: unescaped(sentence) for place, sentence in frame.sentences.items()},
        }
        if arrays.size > MOST_BYTES:
            return b""
        yield (done + 1) / len(stops)
    return block_of({"slider": f"number.{name}", "shown": shown}, arrays)


def _place(stops: Iterable[float], value: float) -> int:
    return int(np.argmin(np.abs(np.array(list(stops)) - value)))


def unescaped(markdown: str) -> str:
    """Return a sentence as it is read: names in it are escaped."""
    return _ESCAPED.sub(r"\1", markdown)


class Arrays:
    """Arrays of figures as one block of 32-bit numbers; the same numbers are there once."""

    def __init__(self) -> None:
        self._places: dict[bytes, tuple[int, int]] = {}
        self.size = 0

    def add(self, numbers: FloatArray) -> dict[str, tuple[int, int]]:
        """Return the place of an array: where it begins, and how many numbers it has."""
        packed = numbers.astype("<f4").tobytes()
        if packed not in self._places:
            self._places[packed] = self.size // 4, len(numbers)
            self.size += len(packed)
        return {"$": self._places[packed]}

    @property
    def block(self) -> bytes:
        """All arrays, in the order of their places."""
        return b"".join(self._places)


def block_of(values: dict[str, Any], arrays: Arrays) -> bytes:
    """Return the length of a text in 32 bits, the text, filled up to whole numbers, and the arrays that it names."""
    text = json.dumps(values, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + arrays.block


def _key(chosen: Chosen, frames: Frames) -> Hashable:
    others = tuple((name, value) for name, value in chosen.settings.parameters if name != frames.name)
    settings = replace(chosen.settings, parameters=others, story="", step=1, present=Present.OFF)
    return shown_page(), settings, frames.name, frames.of(chosen)


@st.cache_resource(show_spinner=False)
def of_everybody() -> Memo:
    """Return the frames that a server keeps for all its sessions."""
    return Memo(most=KEPT)


def counts_of(chosen: Chosen) -> Hashable:
    """Return what tells the chosen table from others; None while a page has no counts."""
    with suppress(InputError):
        return chosen.counts.digest
    return None
