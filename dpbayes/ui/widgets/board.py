"""Shows a board on a page, and hears the value at which its slider rests."""

import json
from collections.abc import Callable, Hashable
from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

import streamlit as st

from dpbayes.base.memo import Memo
from dpbayes.base.parameters import Parameter
from dpbayes.base.validation import InputError
from dpbayes.boards.board import Board, Frame, Panel, View
from dpbayes.boards.document import script, style
from dpbayes.figures.style import Figure
from dpbayes.ui.server.program import plotly_address
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.file_names import offered_name
from dpbayes.ui.session.kept import kept, server_cache
from dpbayes.ui.session.looked import note_board
from dpbayes.ui.session.settings import PARAMETERS
from dpbayes.ui.widgets.show import sentence_instead

MOST_TYPED = 24
"""The largest number of characters of a value from the browser."""

SHARED = 24
"""Views of public data that a server keeps for all its sessions."""

_mount = st.components.v2.component(
    "dpbayes_view",
    html='<div class="board"></div>',
    css=style(),
    js=script() + (Path(__file__).parent / "board.js").read_text(encoding="utf-8"),
    isolate_styles=False,  # Plotly's own styles are the page's
)


@dataclass(eq=False)
class _Computed:
    """A view and its frames so far."""

    view: View
    frames: dict[str, tuple[Frame, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, view: Callable[[], View]) -> "_Computed":
        return cls(view())

    def at(self, value: str, *, every_stop: bool) -> Board:
        """Return the board at `value`, with the frames of every stop or only with those that are computed."""
        slider = self.view.board.slider
        stops = slider.nearest(value) if slider and every_stop else (value,)
        for stop in stops:
            if stop not in self.frames:
                self.frames[stop] = _frames_or_refusal(self.view, stop)
        return self.view.with_frames(self.frames, value)


def _frames_or_refusal(view: View, stop: str) -> tuple[Frame, ...]:
    try:
        return view.frames_at(stop)
    except InputError as error:
        return (Frame(str(error), {}),)


def show(name: str, inputs: Hashable, view: Callable[[], View], value: str = "", *, is_public: bool = False) -> Board:
    """Show the board of a view at `value`, and set the parameter of its slider where the hand rests.

    The browser receives the frames of `value` first. Once it has drawn them, it requests the other stops.

    Args:
        name: The key of the board on its page.
        inputs: What the view depends on, without the value of the slider.
        view: Computes the view.
        value: The stop that is shown.
        is_public: Whether the view follows from public data and settings alone, so that all sessions share it.

    Returns:
        The board as it is shown.
    """
    computed = (
        _shared_view(name, inputs, view)
        if is_public
        else kept(f"board.{name}.view", inputs, lambda: _Computed.of(view))
    )
    wanted = f"{name}.wanted"
    board = computed.at(value, every_stop=st.session_state.get(wanted) == inputs)
    head = json.dumps({"library": plotly_address()}).encode()
    head += b" " * (-len(head) % 4)
    _mount(
        key=f"board.{name}",
        data=len(head).to_bytes(4, "little") + head + board.block(),
        on_rest_change=lambda: _rest(name, board),
        on_wanted_change=lambda: st.session_state.update({wanted: inputs}),
    )
    st.session_state.setdefault(_NUMBERS, {}).update(board.frame.numbers)
    note_board(board)
    return board


_NUMBERS = "board.numbers"


def number_shown(name: str) -> float | None:
    """Return a number of the boards of this page by its name; None if they do not show it."""
    number: float | None = st.session_state.get(_NUMBERS, {}).get(name)
    return number


def forget_numbers() -> None:
    """Forget the numbers of the former run, as a page begins."""
    st.session_state.pop(_NUMBERS, None)


def picture(figure: Figure, *, key: str, title: str, alt: str, private: bool = False) -> None:
    """Show one figure as a board without a slider.

    Args:
        figure: The figure.
        key: The key of the picture on its page.
        title: The title of the picture.
        alt: Its description for a screen reader.
        private: Whether it contains values that are not private.
    """
    board = Board(key, title, (Panel("picture", title, alt),), {}, private=private)
    show(key, figure.to_json(), lambda: View(board, lambda _: (Frame("", {"picture": figure}),)))


def _shared_view(name: str, inputs: Hashable, view: Callable[[], View]) -> _Computed:
    return _shared().once((name, inputs), _Computed.of, view)


@server_cache()
def _shared() -> Memo:
    return Memo(most=SHARED)


def _rest(name: str, board: Board) -> None:
    """Set the parameter of the slider to the value from the browser, if it can be one."""
    text = getattr(st.session_state.get(f"board.{name}"), "rest", None)
    if board.slider is None or not isinstance(text, str) or len(text) > MOST_TYPED:
        return
    parameter = PARAMETERS[board.slider.name]
    assert isinstance(parameter, Parameter)
    with suppress(InputError):
        set_parameter(board.slider.name, parameter.checked(board.slider.name, text))


# The menu "Share", which the bar of all pages begins with the link

_menu: ContextVar["st.delta_generator.DeltaGenerator | None"] = ContextVar("share", default=None)


def begin_share_menu(menu: "st.delta_generator.DeltaGenerator | None") -> None:
    """Let the boards of this run fill an open menu; None while it is closed."""
    _menu.set(menu)


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
    marks = {"simulates": True, "curator_only": board.private}
    with menu:
        if python is not None:
            with sentence_instead():
                python()
        download_button(
            "Numbers as CSV",
            lambda: view.complete(value).numbers_csv(),
            offered_name(board.name, "csv", **marks),
            mime="text/csv",
            key=f"numbers.{board.name}",
        )
        download_button(
            "Save as interactive HTML",
            lambda: view.complete(value).to_html(),
            offered_name(board.name, "html", **marks),
            mime="text/html",
            key=f"document.{board.name}",
        )
