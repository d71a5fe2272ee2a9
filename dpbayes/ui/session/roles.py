"""The person at the other end of a connection, and the acts that this person may do. Only this module decides both.

A page calls `person().may(...)` or `person().require(...)`. The result depends only on the connection: on the cookie
that the server has set for its token, or on the identity token of a sign-in. Settings, links and the seat never change
it. A person with neither is a visitor.
"""

import enum
import hmac
import logging
import os
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from streamlit.runtime.context import _get_client_context
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.session_manager import ClientContext

from dpbayes.base.validation import InputError
from dpbayes.ui.session.grants import Grant, Role, granted, has_expired, rules

TOKEN = "DPBAYES_TOKEN"
"""The environment variable with the token of a server; without it, the server has no curator."""

UPLOADS = "DPBAYES_UPLOADS"
"""The environment variable that, if it is `visitors`, lets visitors upload tables; a server for a class sets it."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,256}")
"""A token that is valid in an address and a cookie, and that cannot be guessed."""


class Act(enum.Enum):
    """An act that a role may permit."""

    READ_LEDGER = "read the ledger"
    RELEASE = "charge a budget"
    CONNECT = "open a connected table"
    UPLOAD = "upload a table"
    SEE_RECORDS = "see what is not private of a table in this session"


PERMITTED: Mapping[Role, frozenset[Act]] = {
    Role.CURATOR: frozenset(Act),
    Role.AUDITOR: frozenset({Act.READ_LEDGER, Act.UPLOAD, Act.SEE_RECORDS}),
    Role.VISITOR: frozenset({Act.SEE_RECORDS}),
    Role.RECIPIENT: frozenset(),
}
"""The acts of each role. Every role may use shipped and synthetic tables, and open a release file."""

REFUSALS: Mapping[Act, str] = {
    Act.READ_LEDGER: "Only the curator and the auditor can read the ledger.",
    Act.RELEASE: "Only the curator can create datasets, raise budgets and make real releases.",
    Act.CONNECT: "Only the curator can open connected tables.",
    Act.UPLOAD: "Your role on this server does not include uploads of tables.",
    Act.SEE_RECORDS: "A recipient sees only what a release contains.",
}
HOW = "The curator opens the address with the token, which the server prints when it starts."
"""The explanation how a person becomes the curator."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class Person:
    """A person, with a name and the granted roles.

    Example:
        >>> from dpbayes.ui.session.grants import Grant, Role
        >>> from dpbayes.ui.session.roles import Act, Person
        >>> ada = Person("ada", (Grant(Role.CURATOR, frozenset({"clinic"})), Grant(Role.AUDITOR)))
        >>> ada.may(Act.RELEASE, "clinic"), ada.may(Act.RELEASE, "votes"), ada.may(Act.READ_LEDGER, "votes")
        (True, False, True)
    """

    name: str
    grants: tuple[Grant, ...]

    @property
    def role(self) -> Role:
        """The most trusted role of this person."""
        granted = {grant.role for grant in self.grants}
        return next((role for role in Role if role in granted), Role.VISITOR)

    def may(self, act: Act, dataset: str | None = None) -> bool:
        """Return whether this person may do an act.

        Args:
            act: The act.
            dataset: The name of the dataset or of the connection; None means any of them.

        Returns:
            True if one of the grants permits the act for this dataset.
        """
        return any(act in _acts_of(grant.role) and grant.covers(dataset) for grant in self.grants)

    def require(self, act: Act, dataset: str | None = None) -> None:
        """Check that this person may do an act. Errors: InputError otherwise."""
        if self.may(act, dataset):
            return
        if self.may(act):
            raise InputError(f"Your role does not include the dataset {dataset}.")
        how = f" {HOW}" if act in PERMITTED[Role.CURATOR] - PERMITTED[Role.VISITOR] else ""
        raise InputError(f"{REFUSALS[act]}{how}")


def _acts_of(role: Role) -> frozenset[Act]:
    """Return the acts of a role on this server."""
    may_upload = role is Role.VISITOR and os.environ.get(UPLOADS) == "visitors"
    return PERMITTED[role] | {Act.UPLOAD} if may_upload else PERMITTED[role]


OWNER = Person("owner of the server", (Grant(Role.CURATOR),))
VISITOR = Person("visitor", (Grant(Role.VISITOR),))


def person() -> Person:
    """Return the person of this run of a page."""
    return of_connection()


def of_cookies(host: str, cookies: Mapping[str, str]) -> Person:
    """Return the owner if the cookies contain the token of this server, which a browser knows as `host`."""
    return OWNER if is_token(cookies.get(cookie_name(host), "")) else VISITOR


def of_connection() -> Person:
    """Return the person at the other end of the connection of this run.

    Tests of pages have no connection, and replace this function. In a server nothing replaces it.
    """
    connection = _get_client_context()
    if connection is None:
        return VISITOR
    if connection not in _owners:  # cookies and token do not change during a connection
        name = cookie_name(dict(connection.headers).get("host", ""))
        _owners[connection] = is_token(connection.cookies.get(name, ""))
    return OWNER if _owners[connection] else signed_in(identity(), time.time())


_owners: "WeakKeyDictionary[ClientContext, bool]" = WeakKeyDictionary()
"""From each open connection to whether it has the token."""


# The sign-in


def identity() -> Mapping[str, Any]:
    """Return the claims of the identity token of this session; none without a sign-in.

    Streamlit reads them from its signed cookie, and ends a session whose identity changes.
    """
    run = get_script_run_ctx()
    claims: Mapping[str, Any] = run.user_info if run is not None else {}
    return claims if claims.get("is_logged_in") is True else {}


def signed_in(claims: Mapping[str, Any], now: float) -> Person:
    """Return the person of a sign-in; a visitor if the sign-in grants nothing or has expired.

    Args:
        claims: The claims of the identity token; none for a person who has not signed in.
        now: Seconds since 1970.

    Returns:
        The person, under the e-mail address or the subject of the token.
    """
    if not claims or has_expired(claims, now):
        return VISITOR
    try:
        grants = granted(claims, rules(), now)
    except InputError as error:  # the file was changed while the server runs
        _LOG.error("Nobody has a role by sign-in. %s", error)
        return VISITOR
    email = claims.get("email") if claims.get("email_verified") is True else None
    return Person(str(email or claims.get("sub") or VISITOR.name), grants or VISITOR.grants)


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
