"""Figure 2: the whole experiment against the products that no way of doing it avoids, and how it grows."""

from collections.abc import Sequence

import numpy as np

from benchmarks.core import slope, span
from benchmarks.record import Record, median_ms
from dpbayes.base.randomness import stream
from dpbayes.experiments.regression import SplitTable, records_of, regression_study
from dpbayes.experiments.regression_scenario import RegressionScenario
from dpbayes.model.regression import ScaledRegression

RECORDS, FEATURES, PRECISIONS, REPEATS = 370_000, 14, 20, 100


def made_up(n: int, features: int) -> SplitTable:
    """Scaled records with a linear target: any number of features, unlike the made-up census."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-1, 1, (n, features)) / np.sqrt(features)
    y = np.clip(x @ rng.uniform(-1, 1, features) + rng.normal(0, 0.2, n), -1, 1)
    return SplitTable.of(ScaledRegression(x, y, tuple(f"c{k}" for k in range(features + 1))))


def run(table: SplitTable, *, repeats: int, precisions: int = PRECISIONS) -> None:
    scenario = RegressionScenario(precisions=tuple(np.geomspace(1e-2, 1e6, precisions).tolist()), repeats=repeats)
    regression_study(table, scenario, stream(1, "benchmark"))


def products(table: SplitTable, *, repeats: int) -> None:
    """X'X of as many training sets as there are splits, each in one piece and none the one before."""
    train = table.n // 10
    parts = [np.ascontiguousarray(table.joint[k * train : (k + 1) * train, :-2]) for k in range(10)]
    for k in range(repeats):
        parts[k % 10].T @ parts[k % 10]


def figure_2(*, n: int = RECORDS, features: int = FEATURES, repeats: int = REPEATS, measured: int = 7) -> list[Record]:
    """Time the experiment of Figure 2 without its records, and in turn with it the products of its splits.

    The least of several times: what else the machine does can only add to them.
    """
    table = made_up(n, features)
    pairs = [
        (
            median_ms(lambda: run(table, repeats=repeats), repeats=1, warm_up=0),
            median_ms(lambda: products(table, repeats=repeats), repeats=1, warm_up=0),
            median_ms(lambda: products(table, repeats=0), repeats=1, warm_up=0),
        )
        for _ in range(measured)
    ]
    ours, together, copies = (min(times) for times in zip(*pairs, strict=True))
    return [
        Record(
            name=f"Figure 2, {n:,} x {features}, {PRECISIONS} precisions, {repeats} repeats",
            value=ours,
            unit="ms",
            baseline=f"{repeats} products X'X of training sets that lie in one piece",
            baseline_value=max(together - copies, 1e-6),
            bound=3,
        )
    ]


def making_up(*, n: int = RECORDS, measured: int = 3) -> list[Record]:
    """Time the made-up census, scaled and ready."""
    scenario = RegressionScenario(n=n)
    took = median_ms(lambda: records_of(scenario, seed=1), repeats=measured)
    return [Record(name=f"Made-up census of {n:,} records, scaled", value=took, unit="ms", bound=2000)]


def growth(
    *,
    sizes: Sequence[int] = (37_000, 120_000, 370_000, 1_000_000),
    features: Sequence[int] = (4, 7, 14, 28),
    repeats: Sequence[int] = (25, 50, 100, 200, 400),
    measured: int = 3,
) -> dict[str, tuple[Sequence[int], list[float]]]:
    """Return what is varied and the least milliseconds it took, by its name; `slopes` and `costs_figure` take it."""
    few, n = min(repeats), sizes[-2]
    base = made_up(n, FEATURES)

    def took(table: SplitTable, count: int) -> float:
        run(table, repeats=count)
        return min(median_ms(lambda: run(table, repeats=count), repeats=1, warm_up=0) for _ in range(measured))

    return {
        f"Figure 2 against n, d = {FEATURES}": (sizes, [took(made_up(size, FEATURES), few) for size in sizes]),
        f"Figure 2 against d, n = {n:,}": (features, [took(made_up(n, d), few) for d in features]),
        f"Figure 2 against repeats, n = {n:,}": (repeats, [took(base, count) for count in repeats]),
    }


def slopes(measured: dict[str, tuple[Sequence[int], list[float]]]) -> list[Record]:
    """Return the exponent of each cost: 1 is linear. In d it must end at 2, as that of X'X does."""
    return [
        Record(name=f"Slope, {name} ({span(sizes)})", value=slope(sizes, times), unit="", bound=1.2)
        for name, (sizes, times) in measured.items()
    ]
