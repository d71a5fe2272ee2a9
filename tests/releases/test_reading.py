"""Synthetic records and posterior draws follow the posterior they are made from."""

import io
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpbayes.base.privacy import Guarantee
from dpbayes.base.randomness import stream
from dpbayes.mechanisms import LaplaceUpdates, MapEstimate, Release, ReleasedPosterior
from dpbayes.model.dataset import Counts, Dataset
from dpbayes.model.network import Network
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.reading import records_csv, records_of

STATES = {"rain": ("no", "yes"), "grass": ("dry", "damp", "=wet")}
NETWORK = Network.from_edges(["rain", "grass"], [("rain", "grass")], STATES)
RELEASE = Release(
    ReleasedPosterior(Dirichlets.symmetric(NETWORK), np.array([7.0, 3.0, 5.0, 1.0, 1.0, 0.0, 1.0, 2.0])),
    Guarantee(1.0),
    "Laplace",
)
POSTERIOR = RELEASE.posterior


@dataclass(frozen=True)
class Opened:
    """What records are made of, without a file around it."""

    tables: Release
    network: Network = NETWORK
    sampled: object = None


def synthetic_records(n: int, rng: np.random.Generator) -> Dataset:
    return records_of(Opened(RELEASE), n, rng)


def test_files_hold_the_states_as_text() -> None:
    records = synthetic_records(50, stream(2))
    safe = pd.read_csv(io.BytesIO(records_csv(records)), dtype=str)
    assert list(safe.columns) == ["rain", "grass"]
    assert safe["grass"].str.removeprefix("'").tolist() == [STATES["grass"][code] for code in records.column("grass")]
    assert set(safe["grass"]) <= {"dry", "damp", "'=wet"}, "a spreadsheet runs nothing"


def test_an_empty_table_is_a_table() -> None:
    records = synthetic_records(0, stream(2))
    assert records_csv(records).decode().strip() == "rain,grass"


def test_an_estimate_has_records_of_itself_and_no_posterior_to_draw_from() -> None:
    estimate = Release(MapEstimate(NETWORK, np.array([3, 4, 5, 6, 7]), 10), Guarantee(1.0), "private MAP")
    own = sample_dataset(NETWORK, estimate.outcome.probabilities, 40, stream(1))
    np.testing.assert_array_equal(records_of(Opened(estimate), 40, stream(1)).codes, own.codes)


# With the noise in mind


LINE = LaplaceUpdates(prior=NETWORK, epsilon=1.0).simulate(
    Counts(NETWORK, np.array([7, 3, 5, 1, 1, 0, 1, 2]), 10), stream(4)
)


def test_records_are_of_the_mean_that_knows_of_the_noise_unless_counts_are_taken_as_real() -> None:
    means = {Reading.NOISE_AWARE: LINE.joint_noise_aware().mean, Reading.AS_REAL: LINE.posterior.mean}
    assert np.abs(np.subtract(*means.values())).max() > 0.02
    for reading, mean in means.items():
        records = records_of(Opened(LINE), 500, stream(1), reading)
        np.testing.assert_array_equal(records.codes, sample_dataset(NETWORK, mean, 500, stream(1)).codes)


def test_what_has_no_joint_posterior_is_read_row_by_row() -> None:
    law = LINE.posterior_under(Reading.NOISE_AWARE, most=NETWORK.cell_count - 1)
    assert type(law) is DirichletMixtures, "the network is too large"
