"""Who is at the other end of a connection, and what this person may do. Both are decided here and nowhere else.

A page asks `person().may(...)` or `person().require(...)`. The answer depends on the connection alone: on the cookie
that the server has set for its token. Settings, links and the seat never change it. Without a connection, or without a
token, the person is a visitor.
"""

import enum
import hmac
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from streamlit.runtime.context import _get_client_context
from streamlit.runtime.session_manager import ClientContext

from dpbayes.base.validation import InputError

TOKEN = "DPBAYES_TOKEN"
"""The variable of the environment with the token of a server; without it nobody can be its curator."""

_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,256}")
"""A token that an address and a cookie can hold, and that nobody guesses."""

EVERY = "*"
"""What a grant names that is for all datasets."""


class Role(enum.Enum):
    """What a person is to a server, the most trusted first."""

    CURATOR = "curator"
    AUDITOR = "auditor"
    RECIPIENT = "recipient"
    VISITOR = "visitor"


class Act(enum.Enum):
    """What a role may permit."""

    READ_LEDGER = "read the ledger"
    RELEASE = "charge a budget"
    CONNECT = "open a connected table"
    UPLOAD = "upload a table"
    SEE_RECORDS = "see what is not private of a table in this session"


PERMITTED: Mapping[Role, frozenset[Act]] = {
    Role.CURATOR: frozenset(Act),
    Role.AUDITOR: frozenset({Act.READ_LEDGER, Act.UPLOAD, Act.SEE_RECORDS}),
    Role.VISITOR: frozenset({Act.UPLOAD, Act.SEE_RECORDS}),
    Role.RECIPIENT: frozenset(),
}
"""What each role may do. All may use the laboratory on shipped and synthetic tables, and open a release file."""

REFUSALS: Mapping[Act, str] = {
    Act.READ_LEDGER: "Only the curator and the auditor can read the ledger.",
    Act.RELEASE: "Only the curator can create datasets, raise budgets and make real releases.",
    Act.CONNECT: "Only the curator can open connected tables.",
    Act.UPLOAD: "A recipient cannot upload tables. A recipient opens release files on Ledger.",
    Act.SEE_RECORDS: "A recipient sees only what a release contains.",
}
HOW = "The curator opens the address with the token, which the server prints when it starts."
"""How a person becomes the curator."""


@dataclass(frozen=True)
class Grant:
    """A role for the datasets of these names, or for all."""

    role: Role
    datasets: frozenset[str] = frozenset({EVERY})

    def covers(self, dataset: str | None) -> bool:
        """Return whether the grant is for this dataset; None stands for any."""
        return dataset is None or EVERY in self.datasets or dataset in self.datasets


@dataclass(frozen=True)
class Person:
    """A person as a server knows them: a name, and the roles that were granted.

    Example:
        >>> from dpbayes.ui.session.roles import Act, Grant, Person, Role
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
        """Return whether this person may do this.

        Args:
            act: What is to be done.
            dataset: The name of the dataset or of the connection; None where any will do.

        Returns:
            True where one of the grants permits it for this dataset.
        """
        return any(act in PERMITTED[grant.role] and grant.covers(dataset) for grant in self.grants)

    def require(self, act: Act, dataset: str | None = None) -> None:
        """Refuse what this person may not do. Errors: InputError with a sentence."""
        if self.may(act, dataset):
            return
        if self.may(act):
            raise InputError(f"Your role does not include the dataset {dataset}.")
        how = f" {HOW}" if act in PERMITTED[Role.CURATOR] - PERMITTED[Role.VISITOR] else ""
        raise InputError(f"{REFUSALS[act]}{how}")


OWNER = Person("owner of the server", (Grant(Role.CURATOR),))
VISITOR = Person("visitor", (Grant(Role.VISITOR),))


def person() -> Person:
    """Return the person for whom this run of a page is."""
    return of_connection()


def of_connection() -> Person:
    """Return the person at the other end of the connection of this run.

    Tests of pages have no connection, and replace this function to be somebody. In a server nothing replaces it.
    """
    connection = _get_client_context()
    if connection is None:
        return VISITOR
    if connection not in _owners:  # pages ask often, and neither cookies nor token change while a connection lasts
        name = cookie_name(dict(connection.headers).get("host", ""))
        _owners[connection] = is_token(connection.cookies.get(name, ""))
    return OWNER if _owners[connection] else VISITOR


_owners: "WeakKeyDictionary[ClientContext, bool]" = WeakKeyDictionary()
"""Which of the open connections came with the token."""


# The token


def server_token() -> str:
    """Return the token of this server; empty without one. Errors: InputError for one that could be guessed."""
    token = os.environ.get(TOKEN, "")
    if token and not _TOKEN.fullmatch(token):
        raise InputError(f"{TOKEN} must be 16 to 256 letters, digits, hyphens or underscores.")
    return token


def is_token(text: str) -> bool:
    """Return whether a text is the token of this server, after a time that does not depend on the text."""
    try:
        token = server_token()
    except InputError:  # nobody is the curator of a server with a token that could be guessed
        return False
    return bool(token) and hmac.compare_digest(text.encode(), token.encode())


def cookie_name(host: str) -> str:
    """Return the name of the cookie with the token: each port has its own, for a browser sends them to all ports."""
    port = host.rpartition(":")[2]
    return f"dpbayes-{port}" if port.isdecimal() else "dpbayes"
