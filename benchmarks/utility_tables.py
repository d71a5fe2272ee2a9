"""The tables of the benchmark of utility, each split into records for a release and held-out records.

The six tables of `COMPARED` are compared with other packages in docs/utility.md. No setting was chosen on the tables of
`CHECK_TABLES`. Settings may be chosen on made-up tables of the seeds 0 to 19.
"""

import io
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.synthetic import sample_dataset
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.shipped_tables import load_shipped

_SEED = 5

TEST_RECORDS = 5_000
"""Most held-out records of a table that is sampled from a network."""


@dataclass(frozen=True)
class Split:
    """The records of a release, held-out records of the same law, and the binary column that classifiers predict."""

    train: Dataset
    test: Dataset
    target: str


def shipped(name: str, target: str) -> Split:
    """Return four fifths of a shipped table for the release, and the rest held out."""
    return _divided(load_shipped(name), target)


def sampled(name: str, n: int, target: str) -> Split:
    """Return n records of a named network for the release, and others held out."""
    return _sampled(*load_named(name), n=n, target=target, seed=_SEED)


def survey(python: str | Path) -> Split:
    """Return the survey of Fair (1978), which comes with statsmodels. Errors: CalledProcessError without it."""
    script = Path(__file__).with_name("survey.py")
    answer = subprocess.run([str(python), str(script)], stdout=subprocess.PIPE, check=True)
    loaded = np.load(io.BytesIO(answer.stdout))
    names = tuple(loaded["names"].tolist())
    states = tuple(tuple(f"{k}" for k in range(card)) for card in loaded["cards"].tolist())
    return _divided(Dataset(names, states, loaded["codes"]), "affairs")


def made_up(seed: int) -> Split:
    """Return a table of a random network, whose last column is the target; see `made_up_network`."""
    network, probabilities, n = made_up_network(seed)
    return _sampled(network, probabilities, n=n, target=network.names[-1], seed=seed)


def made_up_network(seed: int) -> tuple[Network, FloatArray, int]:
    """Return a random network of 5 to 30 columns of 2 to 8 states, its CPTs, and the number of records of a table.

    The table has 300 to 20,000 records, with many rare states.
    """
    rng = np.random.default_rng(1000 + seed)
    columns = int(rng.integers(5, 31))
    cards = rng.choice([2, 2, 2, 3, 4, 5, 8], size=columns).tolist()
    cards[-1] = 2
    names = tuple(f"v{j}" for j in range(columns))
    parents = []
    for j in range(columns):
        most = min(j, int(rng.choice([0, 1, 1, 2, 2, 3])))
        near = np.arange(max(0, j - 6), j)
        parents.append(tuple(names[k] for k in sorted(rng.permutation(near)[:most])))
    states = tuple(tuple(f"s{k}" for k in range(card)) for card in cards)
    network = Network(names, states, tuple(parents))
    probabilities = skewed_cpts(network, rng)
    n = int(np.exp(rng.uniform(np.log(300), np.log(20_000))))
    return network, probabilities, n


def skewed_cpts(network: Network, rng: np.random.Generator) -> FloatArray:
    """Return random CPTs (K,): every row is a Dirichlet sample, whose parameters differ between states of its node."""
    probabilities = np.empty(network.cell_count)
    for j, card in enumerate(network.cards.tolist()):
        popular = rng.gamma(0.6, size=card) + 0.02
        cells = slice(network.cell_offsets[j], network.cell_offsets[j + 1])
        rows = (network.cell_offsets[j + 1] - network.cell_offsets[j]) // card
        probabilities[cells] = rng.dirichlet(popular, size=rows).ravel()
    return probabilities


COMPARED: Mapping[str, Callable[[str], Split]] = {
    "Adult": lambda _: shipped("adult", "income"),
    "Fulton": lambda _: shipped("fulton", "employed"),
    "House votes": lambda _: shipped("house_votes_84", "party"),
    "Asia": lambda _: sampled("asia", 1000, "dysp"),
    "Alarm": lambda _: sampled("alarm", 10_000, "HYPOVOLEMIA"),
    "survey": survey,
}

CHECK_TABLES: Mapping[str, Callable[[str], Split]] = {
    "Child": lambda _: sampled("child", 5000, "BirthAsphyxia"),
    "Insurance": lambda _: sampled("insurance", 5000, "GoodStudent"),
    "Sachs": lambda _: sampled("sachs", 2000, "Akt"),
    "Win95pts": lambda _: sampled("win95pts", 5000, "Problem1"),
    "made-up 101": lambda _: made_up(101),
    "made-up 102": lambda _: made_up(102),
    "made-up 103": lambda _: made_up(103),
    "made-up 104": lambda _: made_up(104),
}

TABLES: Mapping[str, Callable[[str], Split]] = {**COMPARED, **CHECK_TABLES}
"""By name: the split, given the Python interpreter that has statsmodels."""


def _divided(data: Dataset, target: str) -> Split:
    order = np.random.default_rng(_SEED).permutation(data.n)
    cut = data.n - data.n // 5
    return Split(_records(data, order[:cut]), _records(data, order[cut:]), target)


def _sampled(network: Network, probabilities: FloatArray, *, n: int, target: str, seed: int) -> Split:
    train = sample_dataset(network, probabilities, n, np.random.default_rng(seed))
    test = sample_dataset(network, probabilities, min(n, TEST_RECORDS), np.random.default_rng(seed + 10_000))
    return Split(train, test, target)


def _records(data: Dataset, places: Sequence[int] | np.ndarray) -> Dataset:
    return Dataset(data.names, data.states, data.codes[places])
