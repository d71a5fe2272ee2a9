"""A release as files that other programs read: a network, synthetic records, posterior samples, and a Python script."""

import enum
import io
import re

import numpy as np

from dpbayes.base.libraries import arrow_parquet, pa, pd
from dpbayes.base.spreadsheet import safe_csv
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import AdaptiveDocument, Document, ReleaseDocument
from dpbayes.releases.views.reading import (
    has_joint,
    posterior_of,
    probabilities_and_warning,
    reading_of,
    roughness_of,
)
from dpbayes.sources.bif import KEYWORDS, write_bif

# BIF, which pgmpy, pyAgrum, bnlearn and GeNIe read


_READ_BY_ALL = re.compile(r"[A-Za-z0-9_-]+")


def released_bif(document: Document, reading: Reading = Reading.NOISE_AWARE) -> str:
    """Return the network with the CPTs of a release: the posterior's mean, or the released estimate.

    Those of an adaptive release are the ones of its synthetic records.

    If rows have few importance points, a comment in the first line states this. Errors: those of `release_of` and of
    `probabilities_and_warning`.
    """
    if isinstance(document, AdaptiveDocument):
        return write_bif(document.network, document.release.probabilities)
    probabilities, remark = probabilities_and_warning(document.tables, reading)
    return (f"// {remark}\n" if remark else "") + write_bif(document.network, probabilities)


def unread_elsewhere(network: Network) -> str:
    """Return a sentence about the first name or state that other readers of BIF may refuse, "" without one.

    This program reads all names, because they are quoted in the file. pyAgrum 3.3 reads neither quotes nor numbers with
    a point.
    """
    words = (*network.names, *(state for states in network.states for state in states))
    odd = next((word for word in words if not _READ_BY_ALL.fullmatch(word) or word in KEYWORDS), None)
    if odd is None:
        return ""
    return (
        f"Other programs may not read {brief(odd)} in a BIF file: many accept only letters, digits, _ and - in names. "
        "This program reads it."
    )


# Synthetic records: a table of any length, for those who want records


class DrawnFrom(enum.Enum):
    """The CPTs from which synthetic records are sampled.

    New CPTs for each record would give the same distribution as the mean, because nodes and rows are independent.
    """

    MEAN = "the mean"
    ONE_DRAW = "one sample from the posterior"


def cpts_for(
    release: Release[Outcome],
    drawn_from: DrawnFrom,
    rng: np.random.Generator,
    reading: Reading = Reading.NOISE_AWARE,
) -> FloatArray:
    """Return the CPTs (K,) for one synthetic table; posterior samples differ by the uncertainty of the posterior.

    Errors: InputError for a sample from a release without a posterior.
    """
    if drawn_from is DrawnFrom.MEAN:
        return probabilities_and_warning(release, reading)[0]
    return posterior_of(release, reading).sample(rng)


def records_frame(records: Dataset) -> "pd.DataFrame":
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


# Posterior samples, for other Bayesian software


MOST_NUMBERS = 50_000_000
"""The largest number of samples times cells in one file: 400 MB."""

_AT_ONCE = 1 << 22
"""Numbers sampled in one step."""


def draws_parquet(posterior: Dirichlets | DirichletMixtures, draws: int, rng: np.random.Generator) -> bytes:
    """Return samples of one posterior (K,) as Parquet: a row for each sample, a column for each cell.

    A column has the name of its cell, such as `P(grass=wet | rain=yes)`. If rows have few importance points, the
    file's metadata state this as `remark`. Errors: InputError for too many numbers.
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
    metadata = {"remark": remark} if remark else None
    arrow_parquet.write_table(pa.table([pa.array(column) for column in values.T], names=names, metadata=metadata), out)
    return out.getvalue()


# A script of a few lines that checks a release and asks it one question


_JOINT = "posterior = release.joint_noise_aware()  # noise_aware() treats rows separately; release.posterior is naive"

_POSTERIORS = {
    Reading.NOISE_AWARE: "posterior = release.noise_aware()  # release.posterior is naive",
    Reading.AS_REAL: "posterior = release.posterior  # naive; release.noise_aware() includes the noise",
}


_INTERVAL = f"{LEVEL:.0%} interval:"


def python_script(document: ReleaseDocument, file: str = "release.json", reading: Reading = Reading.NOISE_AWARE) -> str:
    """Return the script; it reads `file`. Errors: those of `release_of`."""
    network, release = document.network, document.tables
    is_posterior = isinstance(release.outcome, ReleasedPosterior)
    used = reading_of(release, reading)
    query = [
        _JOINT if used is Reading.NOISE_AWARE and has_joint(release) else _POSTERIORS[used],
        f"answer = posterior.query({network.names[-1]!r}, interval={LEVEL})",
        f"print(answer.mean, {_INTERVAL!r}, answer.low, answer.high)",
    ]
    return "\n".join(
        [
            '"""Verify a release and query it. Needs: pip install dpbayes."""',
            "from pathlib import Path",
            "",
            "from dpbayes.releases.document import read_document",
            "from dpbayes.releases.verify import verify",
            "",
            f"data = Path({file!r}).read_bytes()",
            "for check in verify(data).checks:",
            '    print("holds" if check.holds else "FAILS", check.sentence)',
            "release = read_document(data).tables",
            "print(release.guarantee)",
            *(query if is_posterior else ["print(release.outcome.probabilities)"]),
            "",
        ]
    )
