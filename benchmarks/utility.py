"""How near synthetic records of a private release are to the table: `python -m benchmarks.utility`.

For every table, epsilon (at delta = 1e-5) and method, the mean over seeds of the total variation of all tables of one,
two and three columns, between 20,000 synthetic records and the table. The releases are simulated.
"""

import argparse
import io
import math
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np

from benchmarks.record import Record
from dpbayes.base.amounts import EpsilonDelta
from dpbayes.base.zcdp import rho_of_pure
from dpbayes.mechanisms.adaptive.release import simulate_adaptive
from dpbayes.mechanisms.laplace import LaplaceUpdates
from dpbayes.mechanisms.residual import GaussianResiduals
from dpbayes.mechanisms.structure.choice import StructureChoice, simulate_structure
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.shipped_tables import load_shipped
from dpbayes.sources.synthetic import sample_dataset

DELTA = 1e-5
SYNTHETIC = 20_000
"""Synthetic records of a release."""

MOST_TRIPLES = 300
"""Tables of three columns that are compared, a fixed sample of all."""

EPSILONS = (0.1, 1.0, 10.0)

Synthesis = Callable[[Dataset, float, np.random.Generator], Dataset]


@dataclass(frozen=True)
class Errors:
    """The mean total variation of all tables of one, two and three columns, and the seconds of processor time."""

    one_way: float
    two_way: float
    three_way: float
    seconds: float


# Tables


def sampled(name: str, n: int) -> Dataset:
    """Return n records of a named network."""
    network, probabilities = load_named(name)
    return sample_dataset(network, probabilities, n, np.random.default_rng(5))


TABLES: dict[str, Callable[[], Dataset]] = {
    "Adult": lambda: load_shipped("adult"),
    "Fulton": lambda: load_shipped("fulton"),
    "House votes": lambda: load_shipped("house_votes_84"),
    "Asia, n = 1,000": lambda: sampled("asia", 1000),
    "Alarm, n = 10,000": lambda: sampled("alarm", 10_000),
}


# Methods


def adaptive(data: Dataset, epsilon: float, rng: np.random.Generator) -> Dataset:
    """An adaptive release."""
    release = simulate_adaptive(data, epsilon=epsilon, delta=DELTA, rng=rng)
    return release.synthetic(SYNTHETIC, rng)


def learnt_gaussian(data: Dataset, epsilon: float, rng: np.random.Generator) -> Dataset:
    """A graph learnt with one parent for a third of rho, and Gaussian residuals for the rest, read noise-aware."""
    rho = float(EpsilonDelta(Fraction(str(epsilon)), Fraction(1, 10**5)).rho)
    network = learnt(data, pure_of_rho(rho / 3), rng)
    mechanism = GaussianResiduals(prior=network, epsilon=1.0, delta=DELTA)
    vars(mechanism)["shift"] = math.sqrt(2 * rho * 2 / 3)
    return read(network, mechanism.release(count(network, data), rng).noise_aware().mean, rng)


def learnt_laplace(data: Dataset, epsilon: float, rng: np.random.Generator) -> Dataset:
    """A graph learnt with one parent for half of epsilon, and Laplace noise for the rest, read noise-aware."""
    network = learnt(data, epsilon / 2, rng)
    release = LaplaceUpdates(prior=network, epsilon=epsilon / 2).release(count(network, data), rng)
    return read(network, release.noise_aware().mean, rng)


METHODS: dict[str, Synthesis] = {
    "adaptive": adaptive,
    "learnt + Gaussian": learnt_gaussian,
    "learnt + Laplace": learnt_laplace,
}


def learnt(data: Dataset, epsilon: float, rng: np.random.Generator) -> Network:
    """Return a graph with up to one parent, learnt at a pure epsilon."""
    exact = Fraction(epsilon).limit_denominator(10**6)
    return simulate_structure(StructureChoice(epsilon=exact, parents=1), data, rng).network


def pure_of_rho(rho: float) -> float:
    """Return the largest pure epsilon that implies this rho, by bisection."""
    low, high = 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if rho_of_pure(middle) <= rho else (low, middle)
    return low


def read(network: Network, probabilities: np.ndarray, rng: np.random.Generator) -> Dataset:
    """Return synthetic records of CPTs."""
    rows = network.over_cells(network.row_sums(probabilities))
    return sample_dataset(network, probabilities / rows, SYNTHETIC, rng)


# Peers


@dataclass(frozen=True)
class Peer:
    """A method of dpmm, run by a Python interpreter that has it, at epsilon times `share`.

    Its guarantee is for adding or removing one record. Replacing a record is one removal and one addition, so the same
    guarantee of replacement needs half of epsilon.
    """

    python: str
    method: str
    share: float

    def __call__(self, data: Dataset, epsilon: float, rng: np.random.Generator) -> Dataset:
        """Return synthetic records. Errors: CalledProcessError where the peer fails."""
        sent = io.BytesIO()
        np.savez_compressed(sent, codes=data.codes, cards=[len(states) for states in data.states])
        script = Path(__file__).with_name("peers.py")
        seed = int(rng.integers(2**31))
        command = [
            self.python,
            str(script),
            self.method,
            str(self.share * epsilon),
            str(DELTA),
            str(seed),
            str(SYNTHETIC),
        ]
        answer = subprocess.run(command, input=sent.getvalue(), stdout=subprocess.PIPE, check=True)
        return Dataset(data.names, data.states, np.load(io.BytesIO(answer.stdout))["codes"])


def peers(python: str) -> dict[str, Synthesis]:
    """Return the methods of dpmm at the epsilon of the same guarantee, and at the same number."""
    names = ("MST", "PrivBayes")
    return {f"{name} at epsilon{word}": Peer(python, name, share) for name in names for word, share in SHARES.items()}


SHARES = {"/2": 0.5, "": 1.0}


# Errors


def total_variation(data: Dataset, synthetic: Dataset, columns: Sequence[int]) -> float:
    """Return the total variation of the tables of some columns."""
    cards = [len(data.states[j]) for j in columns]
    shares = []
    for table in (data, synthetic):
        places = np.ravel_multi_index(tuple(table.codes[:, j] for j in columns), cards)
        shares.append(np.bincount(places, minlength=math.prod(cards)) / table.n)
    return float(np.abs(shares[0] - shares[1]).sum() / 2)


def errors_of(data: Dataset, synthesis: Synthesis, epsilon: float, seed: int) -> Errors:
    """Return the errors of one release."""
    rng, start = np.random.default_rng(seed), _processor_time()
    synthetic = synthesis(data, epsilon, rng)
    seconds = _processor_time() - start
    places = range(len(data.names))
    triples = list(combinations(places, 3))
    sampled_triples = np.random.default_rng(0).permutation(len(triples))[:MOST_TRIPLES]
    of_three = [total_variation(data, synthetic, triples[k]) for k in sampled_triples]
    return Errors(
        float(np.mean([total_variation(data, synthetic, [j]) for j in places])),
        float(np.mean([total_variation(data, synthetic, pair) for pair in combinations(places, 2)])),
        float(np.mean(of_three)) if of_three else 0.0,
        seconds,
    )


def _processor_time() -> float:
    """Seconds of this process and of those that it ran."""
    own = os.times()
    return own.user + own.system + own.children_user + own.children_system


def utility(
    tables: Sequence[str] = tuple(TABLES),
    methods: Mapping[str, Synthesis] = METHODS,
    epsilons: Sequence[float] = EPSILONS,
    seeds: int = 3,
) -> Iterator[tuple[str, float, str, Errors]]:
    """Yield table, epsilon, method and the mean errors over the seeds."""
    for table in tables:
        data = TABLES[table]()
        for epsilon in epsilons:
            for method, synthesis in methods.items():
                runs = [errors_of(data, synthesis, epsilon, seed) for seed in range(seeds)]
                means = np.mean([tuple(vars(run).values()) for run in runs], axis=0)
                yield table, epsilon, method, Errors(*means.tolist())


def records(seeds: int = 3) -> list[Record]:
    """Return the errors of two columns as records of a benchmark."""
    return [
        Record(name=f"{table}, epsilon {epsilon:g}, {method}", value=errors.two_way, unit="total variation")
        for table, epsilon, method, errors in utility(seeds=seeds)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.utility", description=__doc__)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--peers", metavar="PYTHON", help="measure dpmm instead, with this interpreter")
    parser.add_argument("--epsilons", nargs="+", type=float, default=list(EPSILONS))
    parser.add_argument("--seeds", type=int, default=3)
    args = parser.parse_args()
    print("| table | epsilon | method | 1-way | 2-way | 3-way | seconds |\n| --- | --- | --- | --- | --- | --- | --- |")
    methods = peers(args.peers) if args.peers else METHODS
    for table, epsilon, method, errors in utility(args.tables, methods, args.epsilons, args.seeds):
        ways = " | ".join(f"{value:.4f}" for value in (errors.one_way, errors.two_way, errors.three_way))
        print(f"| {table} | {epsilon:g} | {method} | {ways} | {errors.seconds:.2f} |", flush=True)


if __name__ == "__main__":
    main()
