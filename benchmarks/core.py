"""The core without a browser: releases, counting, and how both grow."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from benchmarks.record import Record, median_ms
from dpbayes.mechanisms import Exact, LaplaceFourier, LaplaceUpdates, Mechanism
from dpbayes.model.cpts import random_cpts
from dpbayes.model.dataset import Counts, Dataset, count
from dpbayes.model.network import Network
from dpbayes.model.synthetic import sample_dataset
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.sources.named_networks import load_named, naive_bayes

DRAWS = 200


def mechanisms_for(network: Network) -> tuple[Mechanism, ...]:
    prior = Dirichlets.symmetric(network, 1.0)
    return Exact(prior=prior), LaplaceUpdates(prior=prior, epsilon=1.0), LaplaceFourier(prior=prior, epsilon=1.0)


def counted(network: Network, cpts: np.ndarray, n: int) -> Counts:
    return count(network, sample_dataset(network, cpts, n, np.random.default_rng(1)))


def released(mechanism: Mechanism, counts: Counts, size: tuple[int, ...]) -> np.ndarray:
    """Return the CPTs (*size, K) of new releases."""
    return mechanism.simulate(counts, np.random.default_rng(2), size).outcome.probabilities


def asia_releases(*, draws: int = DRAWS, repeats: int = 50) -> list[Record]:
    """Time a release of Asia with all its draws."""
    network, cpts = load_named("asia")
    counts = counted(network, cpts, 1000)
    return [
        Record(
            name=f"Asia, {draws} releases, {mechanism.label}",
            value=median_ms(lambda m=mechanism: released(m, counts, (draws,)), repeats=repeats),  # type: ignore[misc]
            unit="ms",
            bound=20,
        )
        for mechanism in mechanisms_for(network)
    ]


def andes_releases(*, name: str = "andes", draws: int = DRAWS, repeats: int = 5) -> list[Record]:
    """Time many releases and posteriors at once against a loop of single ones."""
    network, cpts = load_named(name)
    counts = counted(network, cpts, 1000)
    records = []
    for mechanism in mechanisms_for(network)[1:]:
        at_once = median_ms(lambda m=mechanism: released(m, counts, (draws,)), repeats=repeats)  # type: ignore[misc]
        loop = median_ms(
            lambda m=mechanism: [released(m, counts, ()) for _ in range(draws)],  # type: ignore[misc]
            repeats=max(1, repeats // 2),
        )
        records.append(
            Record(
                name=f"{name.capitalize()}, {draws} releases at once, {mechanism.label}",
                value=at_once,
                unit="ms",
                baseline="one by one",
                baseline_value=loop,
                least=True,
            )
        )
    return records


def counting(*, n: int = 1_000_000, nodes: int = 20, repeats: int = 5) -> list[Record]:
    """Time counting a binary network, two parents a node, against `pandas.groupby` for each family."""
    names = tuple(f"X{i}" for i in range(nodes))
    edges = [(names[i - k], names[i]) for i in range(nodes) for k in (1, 2) if i >= k]
    network = Network.from_edges(names, edges)
    data = sample_dataset(network, random_cpts(network, np.random.default_rng(3)), n, np.random.default_rng(4))
    frame = pd.DataFrame({name: data.column(name) for name in names})
    families = [[names[j] for j in family] for family in network.families]

    def by_groups() -> list[pd.Series]:
        return [frame.groupby(family, sort=False).size() for family in families]

    return [
        Record(
            name=f"Counting {n:,} x {nodes} binary",
            value=median_ms(lambda: count(network, data), repeats=repeats),
            unit="ms",
            baseline="pandas.groupby per family",
            baseline_value=median_ms(by_groups, repeats=max(1, repeats // 2)),
            bound=50,
            least=True,
        )
    ]


def growth(
    *, features: Sequence[int] = (12, 48, 192), sizes: Sequence[int] = (10_000, 100_000, 1_000_000), repeats: int = 7
) -> list[Record]:
    """Time a release against the number of cells, and counting against the number of records: slopes in log-log."""
    cells: list[int] = []
    took: dict[str, list[float]] = {}
    for d in features:
        network = naive_bayes(d)
        counts = Counts(network, np.full(network.cell_count, 100, dtype=np.int64), 400)
        cells.append(network.cell_count)
        for m in mechanisms_for(network)[1:]:
            time = median_ms(lambda m=m, c=counts: released(m, c, (DRAWS,)), repeats=repeats)  # type: ignore[misc]
            took.setdefault(m.label, []).append(time)
    records = [
        Record(name=f"Slope of release time in cells K ({span(cells)}), {label}", value=slope(cells, times), unit="")
        for label, times in took.items()
    ]
    return records + _growth_in_records(sizes, repeats)


def _growth_in_records(sizes: Sequence[int], repeats: int) -> list[Record]:
    network, cpts = load_named("asia")
    rng = np.random.default_rng(5)
    tables: list[Dataset] = [sample_dataset(network, cpts, n, rng) for n in sizes]
    counting_ms = [median_ms(lambda t=t: count(network, t), repeats=repeats) for t in tables]  # type: ignore[misc]
    laplace = mechanisms_for(network)[1]
    counts = [count(network, table) for table in tables]
    release_ms = [
        median_ms(lambda c=c: released(laplace, c, (DRAWS,)), repeats=repeats)  # type: ignore[misc]
        for c in counts
    ]
    return [
        Record(name=f"Slope of counting time in n ({span(sizes)}), Asia", value=slope(sizes, counting_ms), unit=""),
        Record(name=f"Slope of release time in n ({span(sizes)}), Asia", value=slope(sizes, release_ms), unit=""),
    ]


def span(sizes: Sequence[int]) -> str:
    return f"{sizes[0]:,} to {sizes[-1]:,}"


def slope(sizes: Sequence[int], times: Sequence[float]) -> float:
    """Return the exponent a of the best fit time = c size^a: 1 is linear, 0 constant."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
