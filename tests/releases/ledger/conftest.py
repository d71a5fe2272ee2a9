"""A ledger with one dataset and a budget of 1."""

from fractions import Fraction
from pathlib import Path

import pytest

from dpbayes.releases import ledger
from tests.engines.conftest import server
from tests.releases.ledger.places import database

__all__ = ["server"]


@pytest.fixture
def path(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    if getattr(request, "param", "sqlite") == "postgresql":
        path = database(request.getfixturevalue("server"))
    else:
        path = tmp_path / "a folder" / "ledger #1?.sqlite"
    ledger.open_dataset(path, "votes", Fraction(1), reason="The board's decision of May.", n=5)
    return path
