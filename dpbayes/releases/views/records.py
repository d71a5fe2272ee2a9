"""Synthetic records: a table of any length from a private posterior, for those who want records."""

import enum
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from dpbayes.base.spreadsheet import safe_csv
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.release import Outcome, Release
from dpbayes.model.dataset import Dataset
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.views.reading import law_of, probabilities_of


class DrawnFrom(enum.Enum):
    """Which CPTs synthetic records are drawn from.

    CPTs drawn anew for each record would give the same law as the mean: nodes and rows are independent.
    """

    MEAN = "the mean"
    ONE_DRAW = "one draw from the posterior"


def cpts_for(
    release: Release[Outcome],
    drawn_from: DrawnFrom,
    rng: np.random.Generator,
    reading: Reading = Reading.NOISE_AWARE,
) -> FloatArray:
    """Return the CPTs (K,) that a table of one release is drawn from; of draws, tables differ as the posterior doubts.

    Errors: InputError for a draw from a release that holds an estimate, and no posterior.
    """
    if drawn_from is DrawnFrom.MEAN:
        return probabilities_of(release, reading)
    return law_of(release, reading).sample(rng)


def records_frame(records: Dataset) -> pd.DataFrame:
    """Return a table's records with their states as text, each column a category over its whole domain."""
    return pd.DataFrame(
        {
            name: pd.Categorical.from_codes(records.column(name).astype(np.int16), pd.Index(states, dtype=str))
            for name, states in zip(records.names, records.states, strict=True)
        }
    )


def records_csv(records: Dataset) -> bytes:
    """Return a table as CSV that is safe to open in a spreadsheet."""
    return safe_csv(records_frame(records).astype(object))


def records_parquet(records: Dataset) -> bytes:
    """Return a table as Parquet; columns are dictionaries of their states."""
    out = io.BytesIO()
    arrow_parquet.write_table(pa.Table.from_pandas(records_frame(records), preserve_index=False), out)
    return out.getvalue()
