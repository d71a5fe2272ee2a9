"""The noise-aware and the naive reading of a release, and the files that other programs read. None costs privacy.

The files are a network and synthetic records.
"""

from collections.abc import Mapping

import numpy as np

from dpbayes.base.display import safe_csv
from dpbayes.base.text import whole_percent
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.release import Outcome, Release
from dpbayes.model.dataset import Dataset
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import AnsweringPosterior, Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import roughness
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import Document, SampledSteps
from dpbayes.sources.bif import write_bif


def answer_under(
    law: AnsweringPosterior, prior: Dirichlets, target: str, evidence: Mapping[str, str], level: float | None
) -> QueryAnswer:
    """Return the answer of a posterior to a question, with intervals of this level. Errors: those of `query`."""
    own = prior if isinstance(law, Dirichlets) else None
    return law.query(target, evidence, interval=level, prior=own)


def answer_texts(answer: QueryAnswer) -> tuple[list[str], list[str]]:
    """Return the mean and the interval of every state, in as many decimals as the interval supports.

    An answer that assumes an independence has no intervals, and its means have two decimals.
    """
    if answer.assumes:
        return [f"{mean:.2f}" for mean in answer.mean], []
    least = np.min([(answer.high - answer.low) / 2, answer.mean, 1 - answer.mean], axis=0)  # none looks like 0 or 1
    places = np.maximum(2, -np.floor(np.log10(np.maximum(least, 1e-8)))).astype(int)
    rows = zip(answer.mean, answer.low, answer.high, places, strict=True)
    texts = [[f"{value:.{most}f}" for value in row] for *row, most in rows]
    return [mean for mean, _, _ in texts], [f"{low} to {high}" for _, low, high in texts]


def prior_warning(answer: QueryAnswer) -> str:
    """Return the sentence about an answer that depends mainly on the prior; "" for others."""
    if not answer.is_prior_decisive:
        return ""
    assert answer.vague_coverage is not None
    least = whole_percent(float(answer.vague_coverage.min()))
    return (
        "This answer depends mainly on the prior: under a vague prior, its 95% interval contains the answer of the "
        f"exact counts with a probability of only {least}."
    )


def probabilities_and_warning(release: Release[Outcome], reading: Reading) -> tuple[FloatArray, str]:
    """Return the CPTs (K,) of a release, and a sentence about rows with few importance points, or "".

    They are the posterior's mean, or the released estimate.
    """
    if reading is Reading.AS_REAL or not release.tells_noise:
        return release.outcome.probabilities, ""
    law = release.posterior_under(reading)
    return law.mean, roughness(law) if isinstance(law, DirichletMixtures) else ""


# BIF, which pgmpy, pyAgrum, bnlearn and GeNIe read


def released_bif(document: Document, reading: Reading = Reading.NOISE_AWARE) -> str:
    """Return the network with the CPTs of a release: the posterior's mean, or the released estimate.

    Those of an adaptive release are the ones of its synthetic records.

    If rows have few importance points, a comment in the first line states this. Errors: those of `Document.tables` and
    of `probabilities_and_warning`.
    """
    if isinstance(document.sampled, SampledSteps):
        return write_bif(document.network, document.sampled.release.probabilities)
    probabilities, remark = probabilities_and_warning(document.tables, reading)
    return (f"// {remark}\n" if remark else "") + write_bif(document.network, probabilities)


# Synthetic records: a table of any length, for those who want records


def records_of(document: Document, n: int, rng: np.random.Generator, reading: Reading = Reading.NOISE_AWARE) -> Dataset:
    """Return synthetic records of the posterior's mean or the released estimate.

    One posterior sample per record would give the same distribution, because nodes and rows are independent. Those of
    an adaptive release have little sampling error.
    """
    if isinstance(document.sampled, SampledSteps):
        return document.sampled.release.synthetic(n, rng)
    probabilities, _ = probabilities_and_warning(document.tables, reading)
    return sample_dataset(document.network, probabilities, n, rng)


def records_csv(records: Dataset) -> bytes:
    """Return a table as CSV that is safe to open in a spreadsheet."""
    return safe_csv(records.to_frame())
