"""Draws from a private posterior, as a file that other Bayesian software reads."""

import io

import numpy as np
import pyarrow as pa
import pyarrow.parquet as arrow_parquet

from dpbayes.base.steps import slices
from dpbayes.base.validation import InputError, whole_number
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.releases.views.reading import roughness_of

MOST_NUMBERS = 50_000_000
"""Draws times cells of one file: 400 MB."""

_AT_ONCE = 1 << 22
"""Numbers drawn in one step."""


def draws_parquet(posterior: Dirichlets | DirichletMixtures, draws: int, rng: np.random.Generator) -> bytes:
    """Return CPTs drawn from one posterior (K,) as Parquet: a row for each draw, a column for each cell.

    A column is called as its cell is, `P(grass=wet | rain=yes)`. Where rows rest on few points the file's metadata says
    so, as `remark`. Errors: InputError for more numbers than a file holds.
    """
    network = posterior.network
    draws = whole_number("The number of samples", draws, low=1, high=10_000_000)
    if draws * network.cell_count > MOST_NUMBERS:
        most = max(1, MOST_NUMBERS // network.cell_count)
        raise InputError(
            f"A file of {draws:,} samples of {network.cell_count:,} cells is too large. Take at most {most:,}."
        )
    values = np.empty((draws, network.cell_count))
    for part in slices(draws, _AT_ONCE // network.cell_count):
        values[part] = posterior.sample(rng, (part.stop - part.start,))
    names = [f"P({network.cell_label(cell)})" for cell in range(network.cell_count)]
    out = io.BytesIO()
    remark = roughness_of(posterior)
    told = {"remark": remark} if remark else None
    arrow_parquet.write_table(pa.table([pa.array(column) for column in values.T], names=names, metadata=told), out)
    return out.getvalue()
