"""The person at the other end of a connection, and the acts that this person may do. Only this module decides both.

A page calls `person().may(...)` or `person().require(...)`. The result depends only on the cookie that the server has
set for its token: whoever has the token is the curator, and everyone else is a visitor. Settings, links and the seat
never change it.
"""

import enum
import hmac
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st

from dpbayes.base.validation import InputError

TOKEN = "DPBAYES_TOKEN"
"""The environment variable with the token of a server; without it, the server has no curator."""

UPLOADS = "DPBAYES_UPLOADS"
"""The environment variable that, if it is `visitors`, lets visitors upload tables; a server for a class sets it."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,256}")
"""A token that is valid in an address and a cookie, and that cannot be guessed."""


class Act(enum.Enum):
    """An act that only some persons may do. Everybody may use shipped and synthetic tables, and open a release."""

    READ_LEDGER = "read the ledger"
    RELEASE = "charge a budget"
    CONNECT = "open a connected table"
    UPLOAD = "upload a table"


REFUSALS: Mapping[Act, str] = {
    Act.READ_LEDGER: "Only the curator can read the ledger.",
    Act.RELEASE: "Only the curator can create datasets, raise budgets and make real releases.",
    Act.CONNECT: "Only the curator can open connected tables.",
    Act.UPLOAD: "Only the curator can upload tables on this server.",
}
HOW = "The curator opens the address with the token, which the server prints when it starts."
"""The explanation how a person becomes the curator."""


@dataclass(frozen=True)
class Person:
    """A person: the curator or a visitor.

    Example:
        >>> from dpbayes.ui.session.roles import OWNER, VISITOR, Act
        >>> OWNER.may(Act.RELEASE), VISITOR.may(Act.RELEASE)
        (True, False)
    """

    is_curator: bool = False

    def may(self, act: Act) -> bool:
        """Return whether this person may do an act."""
        return self.is_curator or (act is Act.UPLOAD and os.environ.get(UPLOADS) == "visitors")

    def require(self, act: Act) -> None:
        """Check that this person may do an act. Errors: InputError otherwise."""
        if not self.may(act):
            raise InputError(f"{REFUSALS[act]} {HOW}")


OWNER = Person(is_curator=True)
VISITOR = Person()


def person() -> Person:
    """Return the person of this run of a page."""
    return of_connection()


def of_connection() -> Person:
    """Return the person at the other end of the connection of this run; a visitor without a connection.

    Tests of pages have no connection, and replace this function. In a server nothing replaces it.
    """
    return of_cookies(st.context.headers.get("Host", ""), st.context.cookies)


def of_cookies(host: str, cookies: Mapping[str, str]) -> Person:
    """Return the owner if the cookies contain the token of this server, which a browser knows as `host`."""
    return OWNER if is_token(cookies.get(cookie_name(host), "")) else VISITOR


# The token


def server_token() -> str:
    """Return the token of this server; empty without one. Errors: InputError for one that could be guessed."""
    token = os.environ.get(TOKEN, "")
    if token and not _TOKEN.fullmatch(token):
        raise InputError(f"{TOKEN} must be 16 to 256 letters, digits, hyphens or underscores.")
    return token


def is_token(text: str) -> bool:
    """Return whether a text is the token of this server, in a time that does not depend on the text."""
    try:
        token = server_token()
    except InputError:  # a server with a token that could be guessed has no curator
        return False
    return bool(token) and hmac.compare_digest(text.encode(), token.encode())


def cookie_name(host: str) -> str:
    """Return the name of the cookie with the token. It has the port, because browsers send cookies to all ports."""
    port = host.rpartition(":")[2]
    return f"dpbayes-{port}" if port.isdecimal() else "dpbayes"
