"""Studies of accuracy made up by hand, so that what is found in them is known."""

import numpy as np

from dpbayes.experiments.accuracy.methods import METHODS
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic
from dpbayes.experiments.accuracy.study import AccuracyStudy, Measures
from dpbayes.sources.named_networks import naive_bayes

GRID = (1.0, 10.0, 100.0, 1000.0)
RACERS = (METHODS["laplace"], METHODS["sampler_many"], METHODS["sampler"])


def crafted(printed: list[float], certified: list[float] | None = None, *, spread: float = 1e-3) -> AccuracyStudy:
    """Return a study of 40 repeats in which the printed and the certified sampler lead Laplace, at 0.7, by so much."""
    plan = AccuracyPlan(
        network=naive_bayes(4),
        target="class",
        source=Synthetic(records=1050),
        epsilons=GRID[: len(printed)],
        methods=RACERS,
        repeats=40,
    )
    wobble = spread * np.tile([-1.0, 1.0], 20)[:, None]
    laplace = np.full((40, len(printed)), 0.7)
    scores = {
        METHODS["exact"]: np.full((40, 1), 0.9),
        METHODS["majority"]: np.full((40, 1), 0.5),
        METHODS["laplace"]: laplace,
        METHODS["sampler_many"]: laplace + np.array(printed) + wobble,
        METHODS["sampler"]: laplace + np.array(certified or printed) + wobble,
    }
    return AccuracyStudy(plan, {m: Measures(values, values) for m, values in scores.items()}, {})
