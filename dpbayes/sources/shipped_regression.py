"""Shipped tables as numbers for a regression, with public bounds per column that do not come from the records."""

import functools

import pandas as pd

from dpbayes.model.regression import PublicBounds, RegressionData
from dpbayes.sources.shipped_tables import FULTON_FLAGS, read_shipped_table

FULTON_TARGET = "income"

_FLAGS = (*FULTON_FLAGS, "englishability")

FULTON_BOUNDS = PublicBounds(
    {
        "sex": (0, 1),
        "age": (18, 99),
        "educ": (1, 16),
        **dict.fromkeys(_FLAGS, (0.0, 1.0)),
        FULTON_TARGET: (0, 200_000),
    }
)
"""Codes 0 and 1; adults, whose age the census writes with two digits; 16 codes of education; income in US dollars.

The census gives incomes below 0 and far above 200,000. The round figures were chosen without the records, and what lies
outside is clipped: a wider range would make every other difference small in scaled units.
"""


@functools.lru_cache(maxsize=1)
def fulton_regression() -> RegressionData:
    """Return the 25,766 adults of Fulton County: 14 features and annual income, in their own units.

    The stand-in for the census extract of [Zhang16] Section 5.2, which may not be handed on.
    Errors: InputError naming its file.
    """
    return read_shipped_table("fulton", _fulton_numbers)


def _fulton_numbers(frame: pd.DataFrame) -> RegressionData:
    names = tuple(FULTON_BOUNDS.limits)
    values = frame[list(names)].astype(float).to_numpy()
    return RegressionData(values[:, :-1], values[:, -1], names)
