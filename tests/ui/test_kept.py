"""What a session keeps is made once, and again where it would be made from something else."""

from typing import Any

import pytest

from dpbayes.base.validation import InputError
from dpbayes.ui.session import kept as module
from dpbayes.ui.session.kept import kept


@pytest.fixture(autouse=True)
def session(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    state: dict[str, Any] = {}
    monkeypatch.setattr(module.st, "session_state", state)
    return state


def test_it_is_made_once_for_what_it_is_made_from() -> None:
    runs: list[int] = []

    def make() -> list[int]:
        runs.append(len(runs))
        return [runs[-1]]

    first = kept("name", (1, "a"), make)
    assert kept("name", (1, "a"), make) is first
    assert kept("name", (2, "a"), make) == [1]
    assert kept("other", (2, "a"), make) == [2]
    assert kept("name", (1, "a"), make) == [3], "one value under each name"


def test_what_is_refused_leaves_the_former_value(session: dict[str, Any]) -> None:
    def refuse() -> int:
        raise InputError("No.")

    kept("name", 1, lambda: 7)
    with pytest.raises(InputError):
        kept("name", 2, refuse)
    assert session["name"] == (1, 7)
