"""Frames: what a page shows at every stop of its main slider, drawn by the browser while the slider moves.

When the slider stops, the server receives its value, and the server's answer replaces the frame. Both show the same.

In Streamlit, every move of a slider is a run of the script.
"""

import json
import re
import secrets
import time
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
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
from dpbayes.ui.session.kept import kept, server_cache
from dpbayes.ui.session.settings import PARAMETERS, Present, Settings
from dpbayes.ui.widgets.address import hold_link, release_link, shown_page

MOST_BYTES = 1_500_000
"""Bytes of the arrays of a page's frames. A page with larger frames sends none, and the server answers every move."""

AT_ONCE = 0.1
"""Seconds of work after which Streamlit may end the run in favour of a newer one."""

TOKEN = 16
"""Characters of the token that charts and frames of the same settings share."""

KEPT = 24
"""Blocks of frames of public data that a server keeps for all its sessions."""

_TOKEN, _WANTED, _MINE = "frames.token", "frames.wanted", "frames.mine"
_ESCAPED = re.compile(r"\\(.)")
_figures: ContextVar[dict[str, Figure] | None] = ContextVar("figures", default=None)


@dataclass(frozen=True, eq=False)
class PageFrame:
    """What a page shows at one stop: figures by the keys of their charts, and sentences (Markdown) by their places.

    A place is the key of a container and the tag of the sentence in it, such as `headline h2` or `picture p`.
    """

    figures: dict[str, Figure]
    sentences: dict[str, str]


@dataclass(frozen=True, eq=False)
class Frames:
    """The frames that a page offers: for all stops of the slider of the number `name`.

    `of` identifies inputs of the page that are not in the settings, such as an uploaded table. `beside` returns what
    follows the slider outside the live part.
    """

    name: str
    of: Callable[[Chosen], Hashable] = lambda chosen: None
    beside: Callable[[Chosen], PageFrame] = lambda chosen: PageFrame({}, {})


Part = Callable[[Settings], PageFrame]
"""Returns the frame for these settings. Errors: InputError if the page shows a refusal instead."""

_mount = st.components.v2.component(
    "dpbayes_frames", js=(Path(__file__).parent / "frames.js").read_text(encoding="utf-8")
)


@contextmanager
def recording() -> Iterator[dict[str, Figure]]:
    """Keep the figures of charts, by their keys, instead of showing them."""
    figures: dict[str, Figure] = {}
    token = _figures.set(figures)
    try:
        yield figures
    finally:
        _figures.reset(token)


def is_recording() -> bool:
    """Whether figures are recorded here."""
    return _figures.get() is not None


def recorded(key: str, figure: Figure) -> bool:
    """Keep a figure if figures are recorded here; return whether they are."""
    figures = _figures.get()
    if figures is not None:
        figures[key] = figure
    return figures is not None


def charts_of(chosen: Chosen, frames: Frames | None) -> None:
    """Set the token of the charts that follow, on a page that offers frames.

    The token belongs to all settings except the value of the slider. It is random: with a digest of the data, a
    recipient could confirm a guess of the table.
    """
    if frames is None or not frames.name:
        st.session_state.pop(_TOKEN, None)
    else:
        kept(_TOKEN, _key(chosen, frames), lambda: secrets.token_hex(TOKEN // 2))


def token() -> str:
    """Return the token of the charts and frames of the page; "" on a page without frames."""
    return str(st.session_state.get(_TOKEN, ("", ""))[1])


def offer_frames(part: Part, chosen: Chosen, frames: Frames) -> None:
    """Offer the frames of `part` to the browser, which requests them once the page rests.

    Call this in a fragment at the end of a page that has no other work. A class that opens a page at once then waits
    for the page alone. A server computes the frames of public data once for all sessions. A move of the slider
    interrupts the computation, which continues when the slider stops.
    """
    place = st.empty()
    if not is_wanted():
        _mount(key="frames", data=token().encode(), on_wanted_change=_want)
    elif block := _block(part, chosen, frames, place):
        _mount(key="frames", data=token().encode() + block, on_wanted_change=_want)


def is_wanted() -> bool:
    """Whether the browser has requested the frames of these settings."""
    return st.session_state.get(_WANTED) == token()


def _want() -> None:
    st.session_state[_WANTED] = token()


def _block(part: Part, chosen: Chosen, frames: Frames, place: DeltaGenerator) -> bytes:
    memo = shared_frames() if chosen.has_public_records else st.session_state.setdefault(_MINE, Memo(most=1))
    hold_link()  # computations that wait until a slider stops are left out of frames too
    try:
        return _finished(memo.once_in_steps(_key(chosen, frames), _packed, part, chosen.settings, frames.name), place)
    finally:
        release_link()


def _finished(steps: Work[bytes], place: DeltaGenerator) -> bytes:
    """Return the result of work, and let a newer run of the page interrupt it."""
    looked = time.perf_counter()
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return bytes(end.value)
        if time.perf_counter() - looked > AT_ONCE:
            place.empty()  # Streamlit ends an outdated run when the run shows something
            looked = time.perf_counter()


def _packed(part: Part, settings: Settings, name: str) -> Work[bytes]:
    """Compute the frames as one block, the nearest stops first; the block is empty if the frames are too large."""
    parameter = PARAMETERS[name]
    assert isinstance(parameter, Parameter)
    stops, now = parameter.stops, settings.parameter(name)
    arrays, parts, shown = PageNumbers(), PageParts(), {}
    for done, stop in enumerate(sorted(stops, key=lambda stop: abs(stops.index(stop) - _place(stops, now)))):
        try:
            frame = part(settings.with_parameter(name, stop))
        except InputError:
            continue  # at this stop, the server shows the refusal
        shown[typed(stop) if isinstance(stop, float) else str(stop)] = {
            "figures": {key: parts.of(figure.plain(arrays.add)) for key, figure in frame.figures.items()},
            "sentences": {place: unescaped(sentence) for place, sentence in frame.sentences.items()},
        }
        if arrays.size > MOST_BYTES:
            return b""
        yield (done + 1) / len(stops)
    return block_of({"slider": f"number.{name}", "shown": shown, "parts": parts.all}, arrays)


def _place(stops: Iterable[float], value: float) -> int:
    return int(np.argmin(np.abs(np.array(list(stops)) - value)))


def unescaped(markdown: str) -> str:
    """Return a sentence without the escapes of its names."""
    return _ESCAPED.sub(r"\1", markdown)


class PageNumbers:
    """PageNumbers of figures as one block of 32-bit numbers, which contains equal arrays once."""

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


class PageParts:
    """Traces and parts of layouts, most of which are the same at all stops: each is sent once."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self.all: list[Any] = []

    def of(self, figure: dict[str, Any]) -> dict[str, Any]:
        """Return a figure that refers to its parts."""
        layout = {name: self._place(value) for name, value in figure["layout"].items()}
        return {"data": [self._place(trace) for trace in figure["data"]], "layout": layout}

    def _place(self, part: Any) -> dict[str, int]:
        text = json.dumps(part, allow_nan=False)
        if text not in self._places:
            self._places[text] = len(self.all)
            self.all.append(part)
        return {"@": self._places[text]}


def block_of(values: dict[str, Any], arrays: PageNumbers) -> bytes:
    """Return the length of a JSON text (32 bits), the text, padded to four bytes, and the arrays that it refers to."""
    text = json.dumps(values, allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + arrays.block


def _key(chosen: Chosen, frames: Frames) -> Hashable:
    others = tuple((name, value) for name, value in chosen.settings.parameters if name != frames.name)
    settings = replace(chosen.settings, parameters=others, story="", step=1, present=Present.OFF)
    return shown_page(), settings, frames.name, frames.of(chosen)


@server_cache()
def shared_frames() -> Memo:
    """Return the frames that a server keeps for all its sessions."""
    return Memo(most=KEPT)


def network_of(chosen: Chosen) -> Hashable:
    """Return the network; None where the drawing is none."""
    with suppress(InputError):
        return chosen.network
    return None


def counts_of(chosen: Chosen) -> Hashable:
    """Return the digest of the counts; None while there are no counts."""
    with suppress(InputError):
        return chosen.counts.digest
    return None
