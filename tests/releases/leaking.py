"""A table whose true counts are told from every other number, and what would betray them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpbayes.mechanisms import exact_form
from dpbayes.model.dataset import Counts, Dataset, count
from dpbayes.sources.columns import Categories, encode
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.edgelist import network
from tests.releases.asking import replace_draw

STATES = {"city": ("here", "there", "nowhere"), "illness": ("none", "common", "rare")}
"""Nobody is nowhere; the last states are those of records without a value."""

COLUMNS = tuple(
    DeclaredColumn(name, Categories(name, states[:-1], public=True, missing=states[-1]))
    for name, states in STATES.items()
)

NETWORK = network("city -> illness", STATES)

TRUE = {("here", "none"): 6271, ("here", "common"): 5903, ("here", "rare"): 1379, ("there", "none"): 4337}
OTHER = {("here", "none"): 1, ("there", "rare"): sum(TRUE.values()) - 1}
"""Two tables of as many records. The rare illness is of one city; the second table has one record there."""


def frame_of(table: dict[tuple[str, str], int]) -> pd.DataFrame:
    """Return a table's records; the first is of its rarest kind, so that their order tells it."""
    rarest_first = sorted(table, key=lambda record: table[record])
    records = [record for record in rarest_first for _ in range(table[record])]
    return pd.DataFrame(records, columns=list(STATES)).replace({states[-1]: None for states in STATES.values()})


def table_of(table: dict[tuple[str, str], int]) -> Dataset:
    return encode(frame_of(table), [column.domain for column in COLUMNS if column.domain is not None])


def counts_of(table: dict[tuple[str, str], int]) -> Counts:
    return count(NETWORK, table_of(table))


BINARY = network("city -> ill", {"city": ("here", "there"), "ill": ("no", "yes")})


def binary_counts() -> Counts:
    """Return the counts of a table of two states each, which Fourier asks for."""
    return Counts(BINARY, np.array([13553, 4337, 6271, 7282, 1379, 2958]), 17890)


def secret_numbers(counts: Counts) -> set[int]:
    """Return the counts that are told from other numbers; 0 and n are everybody's."""
    return {value for value in counts.values.tolist() if value not in (0, counts.n)}


def betrayed(text: str, counts: Counts) -> set[str]:
    """Return the words of a text that are true counts, or true shares to nine digits, or the mean that they would give.

    Words, because hashes have digits of every kind in them.
    """
    words = set(re.findall(r"(?<![\w.])-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?(?![\w])", text))
    alpha = 1.0 + counts.values
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = [
            values / counts.network.over_cells(counts.network.row_sums(values)) for values in (counts.values, alpha)
        ]
    shares = np.concatenate((*parts, counts.values / counts.n))
    shares = shares[np.isfinite(shares) & (shares > 0) & (shares < 1) & (np.abs(shares * 12 % 1) > 1e-6)]
    numbers = {word: float(word.replace(",", "")) for word in words}
    return {
        word
        for word, number in numbers.items()
        if number in secret_numbers(counts) or (np.abs(shares - number) < 1e-9 * shares).any()
    }


FIXED = 7
"""What is added to counts in place of noise, so that chance cannot bring a count back."""


def without_chance(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every release hold the integers of the true table and 7, whatever table it is of.

    All that is computed from a table but its noisy integers then differs between two tables.
    """
    same = tuple((counts_of(TRUE).values + FIXED).tolist())

    replace_draw(monkeypatch, lambda values, scales: same)


class Failing:
    """OpenDP's measurement, which fails and quotes what it was given."""

    def __init__(self, real: Any) -> None:
        self.real = real

    def map(self, sensitivity: int) -> float:
        return float(self.real.map(sensitivity))

    def __call__(self, values: list[int]) -> list[int]:
        raise RuntimeError(f"FailedFunction: cannot add noise to {values} of {TRUE}, {sum(TRUE.values()):,} in all")


def failing_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let OpenDP fail with the counts in its message."""
    real = exact_form.ExactNoise.measurement
    monkeypatch.setattr(exact_form.ExactNoise, "measurement", lambda law, scale: Failing(real(law, scale)))


@contextmanager
def no_other_randomness(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Refuse numpy's generators, Python's and its secrets: noise is OpenDP's alone."""
    import random
    import secrets

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("another source of randomness was asked")

    with monkeypatch.context() as patch:
        for module in (np.random, random, secrets):
            for name in dir(module):
                if not name.startswith("_") and callable(getattr(module, name)) and name != "Generator":
                    patch.setattr(module, name, refused)
        yield
