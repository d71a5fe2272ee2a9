"""Accuracy of private predictions against epsilon: Figure 1 of [Zhang16] on any network, target and table.

    methods = tuple(METHODS.values())
    plan = AccuracyPlan(network=naive_bayes(16), target="class", epsilons=(0.1, 1, 10, 100), methods=methods)
    accuracy_study(plan).mean(METHODS["laplace"])

All results are computed from true records. Results of a table are not private; they are for the curator only.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.estimates import Estimate, standard_error
from dpbayes.base.looks import Curve, Look
from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.types import FloatArray, SingleArray
from dpbayes.experiments.accuracy.blanket import score, score_records
from dpbayes.experiments.accuracy.methods import BASELINES, EXACT, MAJORITY
from dpbayes.experiments.accuracy.plan import AWARE_REPEATS, AccuracyPlan, Method
from dpbayes.experiments.accuracy.records import Batch, Repeats
from dpbayes.model.dataset import Counts
from dpbayes.posteriors.prior_rules import PriorRule

_LEAST = 1e-300
"""Smaller probabilities are replaced by this value, which has a logarithm."""


@dataclass(frozen=True, eq=False)
class Measures:
    """Share of correct predictions and mean log loss (nats) of the test records, both (R, E); E = 1 for a baseline.

    R is smaller than the study's for a method that is measured only in the first repeats.
    """

    accuracy: FloatArray
    log_loss: FloatArray


@dataclass(frozen=True, eq=False)
class AccuracyStudy:
    """The measured results of all repeats. For the curator only if the plan's source is a table."""

    plan: AccuracyPlan
    measures: Mapping[Method, Measures]
    certified: Mapping[Method, FloatArray]
    """The epsilon proved for every epsilon of the grid: (E,)."""

    @property
    def methods(self) -> tuple[Method, ...]:
        """All measured methods, baselines first."""
        return tuple(self.measures)

    def mean(self, method: Method) -> FloatArray:
        """Return the mean accuracy over the repeats: (E,)."""
        return self._wide(self.measures[method].accuracy.mean(axis=0))

    def error(self, method: Method) -> FloatArray:
        """Return the standard error of `mean`: (E,)."""
        return self._wide(standard_error(self.measures[method].accuracy))

    def log_loss(self, method: Method) -> FloatArray:
        """Return the mean log loss in nats: (E,)."""
        return self._wide(self.measures[method].log_loss.mean(axis=0))

    def log_loss_error(self, method: Method) -> FloatArray:
        """Return the standard error of `log_loss`: (E,)."""
        return self._wide(standard_error(self.measures[method].log_loss))

    @cached_property
    def curves(self) -> list[Curve]:
        """The accuracy of every method over the stated epsilons."""
        return [Curve(self.look(m), self.plan.grid, self.mean(m), self.error(m)) for m in self.methods]

    def loss_curves(self) -> list[Curve]:
        """Return the log loss of every method over the stated epsilons."""
        return [Curve(self.look(m), self.plan.grid, self.log_loss(m), self.log_loss_error(m)) for m in self.methods]

    def place_of(self, epsilon: float) -> int:
        """Return the index of the point of the grid that is nearest to an epsilon, on a logarithmic scale."""
        return int(np.abs(np.log(self.plan.grid / epsilon)).argmin())

    def ranked_at(self, k: int) -> list[Method]:
        """Return the curves with a proof and without a delta, the most accurate first at a point of the grid."""
        proved = [m for m in self.plan.private if self.certified[m][k] <= self.plan.epsilons[k] * (1 + 1e-9)]
        pure = [method for method in proved if method.kind and "delta" not in parameters_of(method.kind)]
        return sorted(pure, key=lambda method: self.behind(method, k).value)

    def alike_at(self, k: int) -> list[Method]:
        """Return the most accurate of `ranked_at`, and those that are less than two standard errors behind it."""
        ranked = self.ranked_at(k)
        means, errors = (np.array([of(one)[k] for one in ranked]) for of in (self.mean, self.error))
        is_behind = means[:1] - means > 2 * np.hypot(errors, errors[:1])
        return [one for one, clear in zip(ranked, is_behind, strict=True) if not clear]

    def behind(self, method: Method, k: int, other: Method = EXACT) -> Estimate:
        """Return how far a curve is below another one at a point of the grid, in the same repeats."""
        ours, theirs = (self.measures[m].accuracy[:, -1 if m.is_baseline else k] for m in (method, other))
        shared = min(len(ours), len(theirs))
        return Estimate.of(theirs[:shared] - ours[:shared])

    def look(self, method: Method) -> Look:
        """Return how the curve of a method looks, and its name."""
        return method.look(self.plan.draws)

    def _wide(self, values: FloatArray) -> FloatArray:
        return np.broadcast_to(values, self.plan.grid.shape)


def accuracy_study(plan: AccuracyPlan) -> AccuracyStudy:
    """Run all repeats.

    Every method has its own random stream in every block of repeats. Methods and epsilons can therefore be added
    without a change of the other results.
    """
    repeats, methods = Repeats(plan), (*BASELINES, *plan.private)
    certified = {m: np.array([m.certified(plan, epsilon) for epsilon in plan.epsilons]) for m in methods}
    scores: dict[Method, list[FloatArray]] = {method: [] for method in methods}
    for block in plan.blocks():
        batch = repeats.draw(block)
        scores[MAJORITY].append(np.stack(_majority(batch, plan.prior)))
        for method in (EXACT, *plan.private):
            if not method.is_aware or block.start < AWARE_REPEATS:
                differences = plan.blanket.differences(_log_cpts(method, plan, batch, block.start))
                scores[method].append(score_records(batch.test, differences))
    measures = {method: Measures(*np.concatenate(parts, axis=1)) for method, parts in scores.items()}
    return AccuracyStudy(plan, measures, certified)


def _log_cpts(method: Method, plan: AccuracyPlan, batch: Batch, start: int) -> FloatArray:
    """Return ln CPTs (R, E, all) of one release of every table at every epsilon, (R, 1, all) of a baseline."""
    epsilons = (1.0,) if method.is_baseline else plan.epsilons
    tables = Counts(plan.network, batch.counts.astype(np.int64), plan.training)
    means = [
        method.means(plan, epsilon, tables, stream(plan.seed, "accuracy", method.name, start)) for epsilon in epsilons
    ]
    return np.log(np.maximum(np.stack(means, axis=1), _LEAST))


def _majority(batch: Batch, prior: PriorRule) -> tuple[FloatArray, FloatArray]:
    """Predict the target's states by their shares in the training records, without the other nodes."""
    shares = np.log(batch.target_counts + prior.of_tables(batch.target_counts.shape[-1]))
    log_odds: SingleArray = (shares[:, 1:] - shares[:, :1]).astype(np.float32)
    total = batch.test.weights.sum(axis=2, keepdims=True)
    return score(log_odds[:, None, :, None], total)
