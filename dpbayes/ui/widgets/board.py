"""Shows a board on a page, and hears the value at which its slider rests."""

import json
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path

import streamlit as st

from dpbayes.base.parameters import Parameter
from dpbayes.base.validation import InputError
from dpbayes.boards.board import Board, Frame, View
from dpbayes.boards.document import script, style
from dpbayes.ui.server.program import plotly_address
from dpbayes.ui.session.current import current, set_parameter
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.looked import note_board
from dpbayes.ui.session.settings import PARAMETERS
from dpbayes.ui.widgets.address import write_link
from dpbayes.ui.widgets.show import offered_name, sentence_instead

MOST_TYPED = 24
"""The largest number of characters of a value from the browser."""

_mount = st.components.v2.component(
    "dpbayes_view",
    html='<div class="board"></div>',
    css=style(),
    js=script() + (Path(__file__).parent / "board.js").read_text(encoding="utf-8"),
    isolate_styles=False,  # Plotly's own styles are the page's
)


@dataclass(eq=False)
class _Computed:
    """A view, its frames so far, and the last block of them for each stop that only a person has typed."""

    view: View
    frames: dict[str, tuple[Frame, ...]] = field(default_factory=dict)
    blocks: dict[str, tuple[int, bytes]] = field(default_factory=dict)

    def at(self, value: str, *, every_stop: bool) -> Board:
        """Return the board at `value`, with the frames of every stop or only with those that are computed."""
        slider = self.view.board.slider
        stops = slider.nearest(value) if slider and every_stop else (value,)
        for stop in stops:
            if stop not in self.frames:
                self.frames[stop] = _frames_or_refusal(self.view, stop)
        return self.view.with_frames(self.frames, value)

    def is_typed(self, value: str) -> bool:
        """Return whether a value is no stop of the slider, so that a person has typed it."""
        return self.view.board.slider is not None and value not in self.view.board.slider.stops

    def block(self, value: str) -> bytes:
        """Return the block of the frames so far, with a stop at `value`.

        It is the same for all stops of the slider: making it takes longer than all else that a resting hand needs.
        """
        own = value if self.is_typed(value) or self.view.board.slider is None else self.view.board.value
        count, _ = self.blocks.get(own, (0, b""))
        if count != len(self.frames):
            self.blocks[own] = len(self.frames), self.view.with_frames(self.frames, own).block()
        return self.blocks[own][1]


@dataclass(frozen=True)
class _Delivered:
    """What the browser has received of a board, and where the hand has rested since.

    The message contains the value at its start, and the last rest before it (`heard`). As long as the hand alone moves
    the slider, the message stays the same, so that Streamlit does not send it again.
    """

    inputs: Hashable
    start: str
    heard: int
    rested: str
    last: int
    edition: int = field(default_factory=time.time_ns)


def _frames_or_refusal(view: View, stop: str) -> tuple[Frame, ...]:
    try:
        return view.frames_at(stop)
    except InputError as error:
        return (Frame(str(error), {}),)


def show(
    name: str,
    inputs: Hashable,
    view: Callable[[], View],
    value: str = "",
    *,
    is_alone: bool = False,
) -> Board:
    """Show the board of a view at `value`, and set the parameter of its slider where the hand rests.

    The browser receives the frames of `value` first. Once it has drawn them, it requests the other stops.

    Args:
        name: The key of the board on its page.
        inputs: What the view depends on, without the value of the slider.
        view: Computes the view.
        value: The stop that is shown.
        is_alone: Whether nothing else that the page shows depends on the value, so that the page need not run again.

    Returns:
        The board as it is shown.
    """
    computed = kept(f"board.{name}.view", inputs, lambda: _Computed(view()))
    settings, wanted = current(), f"{name}.wanted"
    board = computed.at(value, every_stop=st.session_state.get(wanted) == inputs)

    # Streamlit ends a run for the message of a page, and a click of that moment would be lost with its callback; it
    # does not for the message of a fragment. The browser requests the stops on its own, at any moment.
    @st.fragment
    def mounted() -> None:
        has_moved = current() is not settings
        if has_moved and not (is_alone and not _others_read_settings()):
            st.rerun()
        now = st.session_state[_key(name)].rested if has_moved else value
        computed.at(now, every_stop=st.session_state.get(wanted) == inputs)
        _mount(
            key=f"board.{name}",
            data=_message(name, _delivered(name, inputs, now, is_typed=computed.is_typed(now)), computed),
            on_rest_change=lambda: _rest(name, board),
            on_wanted_change=lambda: st.session_state.update({wanted: inputs}),
        )
        if has_moved:
            write_link()

    mounted()
    st.session_state.setdefault(_NUMBERS, {}).update(board.frame.numbers)
    note_board(board)
    return board


def _others_read_settings() -> bool:
    """Return whether a story or the menu "Share" is open, which show numbers or the link."""
    return bool(current().story) or bool(st.session_state.get("share"))


def _delivered(name: str, inputs: Hashable, value: str, *, is_typed: bool) -> _Delivered:
    """Return what the browser knows of a board, and begin anew unless the hand alone has moved the slider."""
    delivered: _Delivered | None = st.session_state.get(_key(name))
    if (
        delivered is None
        or (delivered.inputs, delivered.rested) != (inputs, value)
        or (is_typed and delivered.start != value)
    ):
        last = delivered.last if delivered else 0
        delivered = _Delivered(inputs, value, last, value, last)
        st.session_state[_key(name)] = delivered
    return delivered


def _key(name: str) -> str:
    return f"board.{name}.delivered"


def _message(name: str, delivered: _Delivered, computed: _Computed) -> bytes:
    """Return a head, where the slider stands and what the browser has sent before, and the block of the board."""
    head = {
        "library": plotly_address(),
        "name": name,
        "value": delivered.start,
        "heard": delivered.heard,
        "edition": str(delivered.edition),
        "frames": len(computed.frames),
    }
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    return len(text).to_bytes(4, "little") + text + computed.block(delivered.start)


_NUMBERS = "board.numbers"


def number_shown(name: str) -> float | None:
    """Return a number of the boards of this page by its name; None if they do not show it."""
    number: float | None = st.session_state.get(_NUMBERS, {}).get(name)
    return number


def forget_numbers() -> None:
    """Forget the numbers of the former run, as a page begins."""
    st.session_state.pop(_NUMBERS, None)


def _rest(name: str, board: Board) -> None:
    """Set the parameter of the slider to the value from the browser, if it can be one."""
    match getattr(st.session_state.get(f"board.{name}"), "rest", None):
        case [str(text), int(sent)] if board.slider is not None and len(text) <= MOST_TYPED:
            parameter = PARAMETERS[board.slider.name]
            assert isinstance(parameter, Parameter)
            with suppress(InputError):
                set_parameter(board.slider.name, parameter.checked(board.slider.name, text))
                delivered = st.session_state[_key(name)]
                st.session_state[_key(name)] = replace(delivered, rested=text, last=sent)


# The menu "Share", which the bar of all pages begins with the link

_menu: ContextVar["st.delta_generator.DeltaGenerator | None"] = ContextVar("share", default=None)


def begin_share_menu(menu: "st.delta_generator.DeltaGenerator | None") -> None:
    """Let the boards of this run fill an open menu; None while it is closed."""
    _menu.set(menu)


def share_python(python: Callable[[], None]) -> None:
    """Show the code of the page in the menu "Share" while it is open."""
    menu = _menu.get()
    if menu is not None:
        with menu, sentence_instead():
            st.markdown("**Python**")
            python()


def share(view: View, value: str, *, python: Callable[[], None] | None = None) -> None:
    """Offer what can be taken from a board in the menu "Share" while it is open; files are made on request.

    Args:
        view: The view of the board, in the seat of the person.
        value: The stop that is shown.
        python: Shows the code that computes the numbers of the board, which the seat may see.
    """
    menu, board = _menu.get(), view.board
    if menu is None:
        return
    if python is not None:
        share_python(python)

    def offer(label: str, end: str, content: Callable[[Board], bytes | str]) -> None:
        file = offered_name(board.name, end, simulates=True, curator_only=board.private)
        download_button(label, lambda: content(view.complete(value)), file, f"text/{end}", key=f"{end}.{board.name}")

    with menu:
        offer("Numbers as CSV", "csv", Board.numbers_csv)
        offer("Save as interactive HTML", "html", Board.to_html)
