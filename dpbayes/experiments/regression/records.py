"""Records for regression: a synthetic census of any size, and columns of a person's table with public bounds."""

import numpy as np

from dpbayes.base.validation import whole_number
from dpbayes.model.regression import PublicBounds, RegressionData

MOST_RECORDS = 1_000_000
TARGET = "income"

_NUMBERS = {"schooling": (0.0, 20.0), "age": (18.0, 98.0), "hours": (0.0, 80.0), "household": (1.0, 9.0)}
_FLAGS = {
    "employed": (0.6, 0.3, -0.3),
    "married": (0.0, 0.2, 0.6),
    "woman": (0.0, 0.0, 0.0),
    "migrant": (-1.8, -0.2, -0.2),
    "disability": (-1.6, -0.3, 0.6),
    "children": (-0.6, 0.0, -0.5),
    "owner": (0.4, 0.5, 0.8),
    "urban": (0.9, 0.3, -0.1),
    "veteran": (-2.0, 0.0, 0.6),
    "divorced": (-2.0, -0.1, 0.3),
}
"""For each flag: intercept, and slopes on schooling and age, of its log-odds."""

CENSUS_FEATURES = (*_NUMBERS, *_FLAGS)
CENSUS_BOUNDS = PublicBounds(
    dict(_NUMBERS) | dict.fromkeys(_FLAGS, (0.0, 1.0)) | {TARGET: (0.0, 100_000.0)},
)


def census_like(n: int, *, features: int = len(CENSUS_FEATURES), rng: np.random.Generator) -> RegressionData:
    """Return n synthetic adults: the first `features` of CENSUS_FEATURES, and annual income, within CENSUS_BOUNDS.

    The records replace the census extract of [Zhang16] Section 5.2 and have its size. Most columns depend on schooling
    and age; income is log-normal around them, and less unequal than real incomes. The rows do not depend on `features`.
    Errors: InputError.
    """
    n = whole_number("The number of records", n, low=2, high=MOST_RECORDS)
    d = whole_number("The number of features", features, low=1, high=len(CENSUS_FEATURES))
    school, age = rng.standard_normal((2, n))
    flags = {
        name: (rng.random(n) < 1 / (1 + np.exp(-(at + by_school * school + by_age * age)))).astype(float)
        for name, (at, by_school, by_age) in _FLAGS.items()
    }
    hours = 38 * flags["employed"] + 9 * np.abs(rng.standard_normal(n))
    household = 1 + rng.poisson(0.8 + flags["married"] + flags["children"], n)
    columns = {"schooling": 12 + 3 * school, "age": 46 + 16 * age, "hours": hours, "household": household} | flags
    gain = 0.33 * school + 0.12 * age + 0.022 * (hours - 30) + 0.15 * flags["married"] - 0.25 * flags["woman"]
    gain += 0.15 * flags["owner"] - 0.15 * flags["migrant"] - 0.2 * flags["disability"]
    log_income = 10.77 + 0.32 * gain + 0.148 * rng.standard_normal(n)
    values = np.column_stack([columns[name] for name in CENSUS_FEATURES[:d]])
    return RegressionData(values, np.exp(log_income), (*CENSUS_FEATURES[:d], TARGET))
