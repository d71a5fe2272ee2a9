"""Synthetic records of a method of dpbayes, in a process of its own: `python -m benchmarks.own`.

The arguments, the input and the output are those of `peers.py`, except that the table also has the `names` and the
`states` of its columns and, where it is known, the `network` that it was sampled from.
"""

import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms.adaptive.draws import SimulatedDraws
from dpbayes.mechanisms.adaptive.measured import MeasuredResiduals, new_prices, wanted_precisions
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.mechanisms.adaptive.process import carried_out
from dpbayes.mechanisms.adaptive.reading import model_probabilities
from dpbayes.mechanisms.adaptive.release import simulate_adaptive
from dpbayes.model.counts import count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.synthetic import even_records
from dpbayes.sources.named_networks import load_named

DELTA = 1e-5


@dataclass(frozen=True)
class Task:
    """A table, the epsilon of its release, how many synthetic records it needs, and the name of its true network."""

    data: Dataset
    epsilon: float
    records: int
    network: str = ""

    @property
    def plan(self) -> AdaptivePlan:
        """The settings of an adaptive release."""
        return AdaptivePlan(epsilon=Fraction(str(self.epsilon)), delta=Fraction(str(DELTA)))


Method = Callable[[Task, np.random.Generator], Dataset]


def adaptive(task: Task, rng: np.random.Generator) -> Dataset:
    """An adaptive release."""
    release = simulate_adaptive(task.data, epsilon=task.epsilon, delta=DELTA, rng=rng)
    return release.synthetic(task.records, rng)


def adaptive_pure(task: Task, rng: np.random.Generator) -> Dataset:
    """An adaptive release of the same epsilon without delta."""
    return simulate_adaptive(task.data, epsilon=task.epsilon, rng=rng).synthetic(task.records, rng)


# Limits: what the error would be without a part of the noise. None of them is private, except for the known graph.


@dataclass(frozen=True)
class NoiselessChoices(SimulatedDraws):
    """Draws whose choices take the largest score, as if they had no noise."""

    def chosen(self, scores: IntArray, sensitivity: int, cost: Fraction) -> int:
        """Return the place of the largest score."""
        return int(np.argmax(scores))


def without_choice_noise(task: Task, rng: np.random.Generator) -> Dataset:
    """An adaptive release whose choices have no noise, at the same cost. Not private."""
    measured = carried_out(task.plan, task.data, NoiselessChoices(rng)).measured
    return even_records(measured.network, model_probabilities(measured), task.records, rng)


def without_cell_noise(task: Task, rng: np.random.Generator) -> Dataset:
    """The exact tables of the graph that an adaptive release chose. Not private."""
    network = carried_out(task.plan, task.data, SimulatedDraws(rng)).measured.network
    return even_records(network, exact(network, task.data), task.records, rng)


def without_noise(task: Task, rng: np.random.Generator) -> Dataset:
    """The exact tables of a graph that was chosen without noise of choices. Not private."""
    network = carried_out(task.plan, task.data, NoiselessChoices(rng)).measured.network
    return even_records(network, exact(network, task.data), task.records, rng)


def measured_at_once(network: Network, task: Task, rng: np.random.Generator) -> Dataset:
    """Return records of a graph whose tables are measured together at all of rho."""
    before = MeasuredResiduals.nothing(network, task.data.n, int((1 << 42) / task.plan.rho))
    prices = new_prices(before, wanted_precisions(network), task.plan.rho)
    measured = before.with_results(prices, before.noisy(task.data, prices, SimulatedDraws(rng)))
    return even_records(network, model_probabilities(measured), task.records, rng)


def public_graph(task: Task, rng: np.random.Generator) -> Dataset:
    """The graph of the true network, known beforehand: all of rho is spent on its tables."""
    true, _ = load_named(task.network)
    return measured_at_once(Network(task.data.names, task.data.states, true.parents), task, rng)


def columns_only(task: Task, rng: np.random.Generator) -> Dataset:
    """The columns alone, at all of rho."""
    return measured_at_once(Network(task.data.names, task.data.states, ((),) * len(task.data.names)), task, rng)


def exact(network: Network, data: Dataset) -> FloatArray:
    """Return the shares of every row of a table, with a twentieth of a record added to every cell."""
    counts = count(network, data).values + 0.05
    return np.asarray(counts / network.over_cells(network.row_sums(counts)))


def the_table(task: Task, rng: np.random.Generator) -> Dataset:
    """The records themselves. Not private."""
    return task.data


METHODS: dict[str, Method] = {
    "adaptive": adaptive,
    "adaptive, pure": adaptive_pure,
    "no choice noise": without_choice_noise,
    "no cell noise": without_cell_noise,
    "no noise": without_noise,
    "known graph": public_graph,
    "columns only": columns_only,
    "the table": the_table,
}


def most_memory() -> float:
    """Return the most memory of this process so far in megabytes; the counter of `resource` has that of its parent."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def main(method: str, epsilon: str, delta: str, seed: str, records: str) -> None:
    table = np.load(io.BytesIO(sys.stdin.buffer.read()))
    cards = table["cards"].tolist()
    states = tuple(tuple(f"s{k}" for k in range(card)) for card in cards)
    data = Dataset(tuple(table["names"].tolist()), states, table["codes"])
    if float(delta) != DELTA:
        raise SystemExit(f"delta is {DELTA}")
    task = Task(data, float(epsilon), int(records), str(table["network"]))
    start = time.process_time()
    synthetic = METHODS[method](task, np.random.default_rng(int(seed)))
    seconds = time.process_time() - start
    megabytes = most_memory()
    out = io.BytesIO()
    np.savez_compressed(out, codes=synthetic.codes, seconds=seconds, megabytes=megabytes)
    sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    main(*sys.argv[1:])
