"""The accuracy experiment against loops of single fits, in the same run; the peers are installed for this only.

`python -m benchmarks.accuracy` needs scikit-learn 1.8.0 and diffprivlib 0.6.6 beside the project's own requirements.
"""

import statistics
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from benchmarks.core import slope, span
from benchmarks.record import Record, as_table, median_ms
from dpbayes.experiments.accuracy.methods import AWARE, METHODS
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Method, Synthetic, epsilon_grid
from dpbayes.experiments.accuracy.study import accuracy_study
from dpbayes.sources.named_networks import naive_bayes

MISSING = (
    "Left out: {name} is not installed. It is needed for this comparison only: pip install scikit-learn==1.8.0 "
    "diffprivlib==0.6.6"
)


def figure_plan(
    methods: tuple[Method, ...], *, features: int = 16, repeats: int = 100, points: int = 20
) -> AccuracyPlan:
    """Return the paper's Figure 1: 1000 records, 50 of them to train on."""
    return AccuracyPlan(
        network=naive_bayes(features),
        target="class",
        epsilons=epsilon_grid(0.1, 100, points=points),
        methods=methods,
        repeats=repeats,
    )


def figure_one(*, sampled: int = 100, repeats: int = 15) -> list[Record]:
    """Time the whole figure with Laplace noise against fits in a loop, and all mechanisms together.

    Our time holds everything: models, records, baselines, log loss. Theirs is fitting and scoring alone, `sampled`
    of them measured and scaled to the 2000 of 100 repeats and 20 epsilons.
    """
    plan = figure_plan((METHODS["laplace"],))
    cells = plan.repeats * len(plan.epsilons)
    records = []
    for name, peer, least in (
        ("scikit-learn BernoulliNB, not private", _bernoulli, 100),
        ("diffprivlib GaussianNB", _gaussian, 500),
    ):
        fit_and_score = peer()
        if fit_and_score is None:
            continue
        ours, theirs = _side_by_side(lambda: accuracy_study(plan), fit_and_score, sampled=sampled, rounds=repeats)
        records.append(
            Record(
                name="Figure 1, 100 repeats x 20 epsilons, Laplace",
                value=ours,
                unit="ms",
                baseline=f"{cells} fits of {name}",
                baseline_value=theirs * cells,
                bound=least,
                least=True,
            )
        )
    together = median_ms(lambda: accuracy_study(figure_plan(tuple(METHODS.values()))), repeats=5)
    aware = median_ms(lambda: accuracy_study(figure_plan(AWARE)), repeats=3)
    return [
        *records,
        Record(name="Figure 1, all mechanisms together", value=together, unit="ms", bound=2000),
        Record(name="Figure 1, the noise-aware curves", value=aware, unit="ms", bound=15_000),
    ]


def _side_by_side(
    ours: Callable[[], object], theirs: Callable[[], object], *, sampled: int, rounds: int
) -> tuple[float, float]:
    """Return the median times of both in ms, measured in turns so that a busy machine slows both."""
    ours()
    theirs()
    took: tuple[list[float], list[float]] = ([], [])
    for _ in range(rounds):
        start = time.perf_counter()
        ours()
        middle = time.perf_counter()
        for _ in range(max(1, sampled // rounds)):
            theirs()
        end = time.perf_counter()
        took[0].append(1000 * (middle - start))
        took[1].append(1000 * (end - middle) / max(1, sampled // rounds))
    return statistics.median(took[0]), statistics.median(took[1])


def _records() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    theta, target = rng.random((2, 16)), rng.integers(0, 2, 1000)
    return (rng.random((1000, 16)) < theta[target]).astype(np.float64), target


def _bernoulli() -> Callable[[], object] | None:
    try:
        from sklearn.naive_bayes import BernoulliNB
    except ImportError:
        print(MISSING.format(name="scikit-learn"))
        return None
    return _fitted(BernoulliNB)


def _gaussian() -> Callable[[], object] | None:
    try:
        from diffprivlib.models import GaussianNB
    except ImportError:
        print(MISSING.format(name="diffprivlib"))
        return None
    return _fitted(lambda: GaussianNB(epsilon=1.0, bounds=(0, 1)))


def _fitted(model: Callable[[], Any]) -> Callable[[], object]:
    x, y = _records()

    def fit_and_score() -> object:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model().fit(x[:50], y[:50]).score(x[50:], y[50:])

    return fit_and_score


def growth(
    *,
    records: Sequence[int] = (1_000, 4_000, 16_000),
    features: Sequence[int] = (16, 64, 192),
    repeats: Sequence[int] = (100, 400, 1_600),
    rounds: int = 3,
) -> dict[str, tuple[Sequence[int], list[float]]]:
    """Return what is varied and the milliseconds it took: all methods but the sampler of many draws."""
    methods = tuple(m for m in METHODS.values() if m is not METHODS["sampler_many"])

    def took(n: int, d: int, r: int) -> float:
        plan = AccuracyPlan(
            network=naive_bayes(d),
            target="class",
            source=Synthetic(records=n),
            epsilons=epsilon_grid(0.1, 100, points=5),
            methods=methods,
            repeats=r,
        )
        return median_ms(lambda: accuracy_study(plan), repeats=rounds)

    return {
        "accuracy against n": (records, [took(n, 16, 50) for n in records]),
        "accuracy against d": (features, [took(1_000, d, 50) for d in features]),
        "accuracy against repeats": (repeats, [took(1_000, 16, r) for r in repeats]),
    }


def slopes(measured: dict[str, tuple[Sequence[int], list[float]]]) -> list[Record]:
    """Return the exponent of each cost: 1 is linear."""
    return [
        Record(name=f"Slope, {name} ({span(sizes)})", value=slope(sizes, took), unit="", bound=1.2)
        for name, (sizes, took) in measured.items()
    ]


if __name__ == "__main__":
    print(as_table([*figure_one(), *slopes(growth())]))
