"""Files for download, which only the session of the button gets."""

import secrets
from collections.abc import Callable, MutableMapping
from contextvars import ContextVar
from functools import wraps
from typing import Any

import streamlit as st

from dpbayes.base.validation import InputError

Content = bytes | str

_MARK = "x-dpbayes-connection"
"""The header with the random mark of a connection, which the server adds to the browser's request."""

_answered: ContextVar[str] = ContextVar("connection", default="")
"""The mark of the connection that is being answered; "" outside of one."""


def download_button(
    label: str,
    content: "Content | Callable[[], Content]",
    file_name: str,
    mime: str = "text/plain",
    *,
    key: str | None = None,
    help: str | None = None,
    **looks: Any,
) -> None:
    """Show a button that downloads a file.

    Streamlit serves a file to everybody who knows its address, a hash of content, type and name. The type therefore
    has a random parameter of this session: who guesses the content, such as a table of exact counts, cannot confirm
    the guess by asking for the address. And Streamlit makes a file for every session that knows its id: a function is
    therefore called for the connection of the button only.

    Args:
        label: The text of the button.
        content: The content, or a function that returns it when the button is pressed.
        file_name: The name of the file.
        mime: The type of the content.
        key: The key of the button.
        help: The tooltip.
        looks: The `type` and the `icon` of Streamlit's button.
    """
    offered = for_this_connection(content) if callable(content) else content
    kind = f"{mime}; session={_session_mark()}"
    st.download_button(label, offered, file_name=file_name, mime=kind, key=key, help=help, on_click="ignore", **looks)


def for_this_connection(make: Callable[[], Content]) -> Callable[[], Content]:
    """Return a function that makes a file, and refuses all connections except that of this run."""
    mine = st.context.headers.get(_MARK, "")

    @wraps(make)
    def checked() -> Content:
        if not secrets.compare_digest(mine, _answered.get()):
            raise InputError("This file belongs to another session.")
        return make()

    return checked


def marked(connection: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Return the ASGI scope of a connection with a random mark, which all that answers this connection can read."""
    mark = secrets.token_hex(16)
    _answered.set(mark)
    foreign = [header for header in connection["headers"] if header[0].lower() != _MARK.encode()]
    return {**connection, "headers": [*foreign, (_MARK.encode(), mark.encode())]}


def _session_mark() -> str:
    """Return the random mark of this session."""
    return str(st.session_state.setdefault("download.mark", secrets.token_hex(16)))
