"""Synthetic records of a method of dpbayes, in a process of its own: `python -m benchmarks.own`.

The arguments, the input and the output are those of `peers.py`, except that the table also has the `names` of its
columns and the `target` that classifiers predict.
"""

import io
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dpbayes.mechanisms.adaptive.draws import SimulatedDraws
from dpbayes.mechanisms.adaptive.measured import MeasuredResiduals, new_prices
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan, plan_for
from dpbayes.mechanisms.adaptive.reading import model_probabilities
from dpbayes.mechanisms.adaptive.release import simulate_adaptive
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.synthetic import even_records

DELTA = 1e-5


@dataclass(frozen=True)
class Task:
    """A table, the epsilon of its release, how many synthetic records it needs, and the column to predict."""

    data: Dataset
    epsilon: float
    records: int
    target: str


Method = Callable[[Task, np.random.Generator], Dataset]


def adaptive(task: Task, rng: np.random.Generator) -> Dataset:
    """An adaptive release."""
    release = simulate_adaptive(task.data, epsilon=task.epsilon, delta=DELTA, rng=rng)
    return release.synthetic(task.records, rng)


def adaptive_with_target(task: Task, rng: np.random.Generator) -> Dataset:
    """An adaptive release whose target is the column to predict."""
    release = simulate_adaptive(task.data, epsilon=task.epsilon, delta=DELTA, target=task.target, rng=rng)
    return release.synthetic(task.records, rng)


def adaptive_pure(task: Task, rng: np.random.Generator) -> Dataset:
    """An adaptive release of the same epsilon without delta."""
    return simulate_adaptive(task.data, epsilon=task.epsilon, rng=rng).synthetic(task.records, rng)


def columns_only(task: Task, rng: np.random.Generator) -> Dataset:
    """The columns alone, at all of the budget."""
    measured = columns_alone(task.data, plan_for(task.epsilon, DELTA), rng)
    return even_records(measured.network, model_probabilities(measured), task.records, rng)


def columns_alone(data: Dataset, plan: AdaptivePlan, rng: np.random.Generator) -> MeasuredResiduals:
    """Return the columns measured at the whole budget."""
    network = Network(data.names, data.states, ((),) * len(data.names))
    nothing = MeasuredResiduals.nothing(network, data.n, int((1 << 42) / plan.rho))
    prices = new_prices(nothing, plan.rho)
    return nothing.with_results(prices, nothing.noisy(data, prices, SimulatedDraws(rng)))


def the_table(task: Task, rng: np.random.Generator) -> Dataset:
    """The records themselves. Not private."""
    return task.data


METHODS: dict[str, Method] = {
    "adaptive": adaptive,
    "adaptive, target": adaptive_with_target,
    "adaptive, pure": adaptive_pure,
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
    task = Task(data, float(epsilon), int(records), str(table["target"]))
    start = time.process_time()
    synthetic = METHODS[method](task, np.random.default_rng(int(seed)))
    seconds = time.process_time() - start
    megabytes = most_memory()
    out = io.BytesIO()
    np.savez_compressed(out, codes=synthetic.codes, seconds=seconds, megabytes=megabytes)
    sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    main(*sys.argv[1:])
