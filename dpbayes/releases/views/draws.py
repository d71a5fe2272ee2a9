"""Draws from a private posterior, as a file that other Bayesian software reads."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from dpbayes.base.validation import InputError, whole_number
from dpbayes.posteriors.dirichlet import Dirichlets

MOST_NUMBERS = 50_000_000
"""Draws times cells of one file: 400 MB."""


def draws_parquet(posterior: Dirichlets, draws: int, rng: np.random.Generator) -> bytes:
    """Return CPTs drawn from one posterior (K,) as Parquet: a row for each draw, a column for each cell.

    A column is called as its cell is, `P(grass=wet | rain=yes)`. Errors: InputError for more numbers than a file holds.
    """
    network = posterior.network
    draws = whole_number("The number of draws", draws, low=1, high=10_000_000)
    if draws * network.cell_count > MOST_NUMBERS:
        most = max(1, MOST_NUMBERS // network.cell_count)
        raise InputError(
            f"A file of {draws:,} draws of {network.cell_count:,} cells is too large; take at most {most:,}."
        )
    values = posterior.sample(rng, (draws,))
    names = [f"P({network.cell_label(cell)})" for cell in range(network.cell_count)]
    out = io.BytesIO()
    arrow_parquet.write_table(pa.table([pa.array(column) for column in values.T], names=names), out)
    return out.getvalue()
