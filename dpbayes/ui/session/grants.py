"""Roles, and the file of the server's owner that grants them after a sign-in by OpenID Connect.

Streamlit and Authlib check the token's signature, issuer, audience and nonce at the sign-in. This module checks when
the token expires, and which roles its claims grant.
"""

import enum
import functools
import os
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpbayes.base.validation import InputError, brief

ROLES = "DPBAYES_ROLES"
"""The environment variable with the path of the file; without it, there is no sign-in."""

MOST_BYTES = 100_000
"""The largest size of the file."""

_EMAIL, _VERIFIED, _EXPIRES = "email", "email_verified", "exp"
_KEYS = frozenset({"role", "datasets", "claim", "values"})


EVERY = "*"
"""The name that stands for all datasets."""


class Role(enum.Enum):
    """The role of a person, the most trusted first."""

    CURATOR = "curator"
    AUDITOR = "auditor"
    RECIPIENT = "recipient"
    VISITOR = "visitor"


@dataclass(frozen=True)
class Grant:
    """A role for the datasets of these names, or for all."""

    role: Role
    datasets: frozenset[str] = frozenset({EVERY})

    def covers(self, dataset: str | None) -> bool:
        """Return whether the grant is for this dataset; None means any."""
        return dataset is None or EVERY in self.datasets or dataset in self.datasets


@dataclass(frozen=True)
class Rule:
    """A grant for everybody whose claim has one of these values."""

    grant: Grant
    claim: str
    values: frozenset[str]

    def matches(self, claims: Mapping[str, Any]) -> bool:
        """Return whether the claims of a person match. An e-mail address counts if the provider has verified it."""
        value = claims.get(self.claim)
        values = value if isinstance(value, list) else [value]
        texts = {value for value in values if isinstance(value, str)}
        if self.claim == _EMAIL:
            texts = set(map(_plain, texts)) if claims.get(_VERIFIED) is True else set()
        return bool(texts & self.values)


def granted(claims: Mapping[str, Any], rules: tuple[Rule, ...], now: float) -> tuple[Grant, ...]:
    """Return the roles that the claims of a person grant.

    Args:
        claims: The claims of the identity token.
        rules: The rules of the server's owner.
        now: Seconds since 1970.

    Returns:
        The grants of all matching rules; an empty tuple for a token that has expired or states no expiry.

    Example:
        >>> from dpbayes.ui.session.grants import granted, read_rules
        >>> rules = read_rules('''
        ... [[grant]]
        ... role = "auditor"
        ... claim = "email"
        ... values = ["eva@example.org"]
        ... ''')
        >>> claims = {"email": "eva@example.org", "email_verified": True, "exp": 100}
        >>> [grant.role.value for grant in granted(claims, rules, now=50)], granted(claims, rules, now=100)
        (['auditor'], ())
    """
    if has_expired(claims, now):
        return ()
    return tuple(rule.grant for rule in rules if rule.matches(claims))


def has_expired(claims: Mapping[str, Any], now: float) -> bool:
    """Return whether a token has expired, or states no expiry."""
    expires = claims.get(_EXPIRES)
    return isinstance(expires, bool) or not isinstance(expires, int | float) or not expires > now


# The file


def rules() -> tuple[Rule, ...]:
    """Return the rules of the server's owner; none without a file. Errors: InputError for an invalid file."""
    named = os.environ.get(ROLES, "")
    if not named:
        return ()
    try:
        changed = os.stat(named).st_mtime_ns
        return _read(named, changed)
    except OSError as error:
        raise InputError(f"The file of roles {brief(named)} cannot be read: {error.strerror}.") from None


@functools.lru_cache(maxsize=1)
def _read(named: str, _changed: int) -> tuple[Rule, ...]:
    path = Path(named)
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        raise InputError(f"The file of roles {brief(named)} is not a file of at most {MOST_BYTES:,} bytes.")
    try:
        return read_rules(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise InputError(f"The file of roles {brief(named)} is not UTF-8 text.") from None


def read_rules(text: str) -> tuple[Rule, ...]:
    """Return the rules in a TOML text. Errors: InputError that names the number of the invalid grant."""
    try:
        content = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise InputError(f"The file of roles is not valid TOML: {brief(error, 200)}.") from None
    grants = content.pop("grant", [])
    if content or not isinstance(grants, list) or not all(isinstance(grant, dict) for grant in grants):
        raise InputError("The file of roles must consist of [[grant]] tables only.")
    return tuple(_rule(grant, f"Grant {number} of the file of roles") for number, grant in enumerate(grants, start=1))


def _rule(grant: Mapping[str, Any], title: str) -> Rule:
    unknown = sorted(set(grant) - _KEYS)
    if unknown:
        raise InputError(f"{title} has the unknown key {brief(unknown[0])}; the keys are {', '.join(sorted(_KEYS))}.")
    names = [role.value for role in Role]
    if grant.get("role") not in names:
        raise InputError(f"{title} needs a role: {', '.join(names)}.")
    claim, values = grant.get("claim", _EMAIL), _texts(grant.get("values"), f"{title} needs values")
    if not isinstance(claim, str) or not claim:
        raise InputError(f"{title} must name its claim as text.")
    datasets = _texts(grant.get("datasets", [EVERY]), f"{title} needs datasets")
    if claim == _EMAIL:
        values = frozenset(map(_plain, values))
    return Rule(Grant(Role(grant["role"]), datasets), claim, values)


def _plain(email: str) -> str:
    """Return an e-mail address in lower case. Other alphabets have letters whose lower case is an ASCII letter."""
    return email.lower() if email.isascii() else email


def _texts(value: object, what: str) -> frozenset[str]:
    if not isinstance(value, list) or not value or not all(isinstance(text, str) and text for text in value):
        raise InputError(f"{what}: a list of one or more texts.")
    return frozenset(value)
