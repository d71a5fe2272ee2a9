"""A ledger with one dataset and a budget of 1."""

from fractions import Fraction
from pathlib import Path

import pytest

from dpbayes.releases import ledger


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a folder" / "ledger #1?.sqlite"
    ledger.open_dataset(path, "votes", Fraction(1), reason="The board's decision of May.")
    return path
