"""Accuracy of private predictions against epsilon: Figure 1 of [Zhang16] on any network, target and table.

    plan = AccuracyPlan(network=naive_bayes(16), target="class", epsilons=epsilon_grid(0.1, 100, points=20))
    study = accuracy_study(plan)
    study.frame()

All results are computed from true records. Results of a table are not private; they are for the curator only.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.estimates import Estimate, standard_error
from dpbayes.base.libraries import pd
from dpbayes.base.looks import Curve, Look
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Partial, Work, finished, part_of
from dpbayes.base.types import FloatArray, SingleArray
from dpbayes.experiments.accuracy.blanket import score, score_records
from dpbayes.experiments.accuracy.methods import BASELINES, EXACT, MAJORITY, Method
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic
from dpbayes.experiments.accuracy.records import Batch, Repeats
from dpbayes.mechanisms.base import searched
from dpbayes.model.counts import Counts
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
    """The measured results of the repeats so far. For the curator only if the plan's source is a table."""

    plan: AccuracyPlan
    measures: Mapping[Method, Measures]
    certified: Mapping[Method, FloatArray]
    """The epsilon proved for every epsilon of the grid: (E,)."""

    @property
    def repeats(self) -> int:
        """How many repeats are done."""
        return len(next(iter(self.measures.values())).accuracy)

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

    def certified_curves(self) -> list[Curve]:
        """Return the accuracy of every method over the proved epsilons; baselines extend over the whole range.

        A method with epsilon 0, which releases nothing, has no place on a logarithmic axis.
        """
        proved = np.concatenate([self.certified[m] for m in self.methods if not m.is_baseline] or [self.plan.grid])
        positive = proved[proved > 0] if (proved > 0).any() else self.plan.grid
        ends, curves = np.array([positive.min(), positive.max()]), []
        for method in self.methods:
            x, y, error = self.certified[method], self.mean(method), self.error(method)
            if method.is_baseline:
                x, y, error = ends, y[:1].repeat(2), error[:1].repeat(2)
            curves.append(Curve(self.look(method), x[x > 0], y[x > 0], error[x > 0]))
        return curves

    def place_of(self, epsilon: float) -> int:
        """Return the index of the point of the grid that is nearest to an epsilon, on a logarithmic scale."""
        return int(np.abs(np.log(self.plan.grid / epsilon)).argmin())

    def best_near(self, epsilon: float) -> Method | None:
        """Return the most accurate curve with a proof at the point of the grid that is nearest to an epsilon."""
        k = self.place_of(epsilon)
        proved = [m for m in self.plan.private if self.certified[m][k] <= self.plan.epsilons[k] * (1 + 1e-9)]
        return min(proved, key=lambda method: self.behind(method, k).value, default=None)

    def behind(self, method: Method, k: int) -> Estimate:
        """Return how far a curve is below the exact posterior at a point of the grid, in the same repeats."""
        ours = self.measures[method].accuracy[:, k]
        return Estimate.of(self.measures[EXACT].accuracy[: len(ours), 0] - ours)

    def look(self, method: Method) -> Look:
        """Return how the curve of a method looks, and its name."""
        return method.look(self.plan.draws)

    def _wide(self, values: FloatArray) -> FloatArray:
        return np.broadcast_to(values, self.plan.grid.shape)

    def frame(self) -> "pd.DataFrame":
        """Return the results in tidy form: one row for every method and epsilon, with the settings in columns."""
        parts = [
            pd.DataFrame(
                {
                    "method": method.title,
                    "epsilon": np.nan if method.is_baseline else self.plan.grid,
                    "certified epsilon": self.certified[method],
                    "accuracy": self.mean(method),
                    "accuracy standard error": self.error(method),
                    "log loss": self.log_loss(method),
                    "log loss standard error": self.log_loss_error(method),
                }
            )
            for method in self.methods
        ]
        parts = [part.head(1) if method.is_baseline else part for method, part in zip(self.methods, parts, strict=True)]
        frame = pd.concat(parts, ignore_index=True)
        repeats = np.concatenate(
            [np.full(len(p), len(self.measures[m].accuracy)) for m, p in zip(self.methods, parts, strict=True)]
        )
        return frame.assign(**{"repeats": repeats, **settings_of(self.plan)})


def settings_of(plan: AccuracyPlan) -> dict[str, str | int | float]:
    """Return the settings of a plan as plain values: a network by its arrows, and a table by its size."""
    synthetic = isinstance(plan.source, Synthetic)
    return {
        "target": plan.target,
        "nodes": len(plan.network.names),
        "arrows": "; ".join(f"{parent} -> {child}" for parent, child in plan.network.edges),
        "source": "synthetic" if synthetic else "table",
        "strength": plan.source.strength if isinstance(plan.source, Synthetic) else math.nan,
        "records": plan.records,
        "training": plan.training,
        "testing": plan.testing,
        "prior": plan.prior.value,
        "stealth": plan.stealth,
        "draws": plan.draws,
        "cells": plan.cells,
        "seed": plan.seed,
    }


def accuracy_study(plan: AccuracyPlan) -> AccuracyStudy:
    """Run all repeats."""
    return finished(accuracy_steps(plan))


def accuracy_steps(plan: AccuracyPlan) -> Work[AccuracyStudy]:
    """Run a study in steps of a fraction of a second, so that progress is visible and the study can be stopped.

    Every method has its own random stream in every block of repeats. Methods and epsilons can therefore be added
    without a change of the other results.
    """
    repeats, methods = Repeats(plan), (*BASELINES, *plan.private)
    for method in plan.private:
        if hasattr(method.kind, "design_steps"):
            yield from part_of(searched(plan.mechanism(method.kind, plan.epsilons[0])), 0.0, 0.0)  # type: ignore[arg-type]
    certified = {m: np.array([m.certified(plan, epsilon) for epsilon in plan.epsilons]) for m in methods}
    scores: dict[Method, list[FloatArray]] = {method: [] for method in methods}
    for block in plan.blocks():
        share, end = block.start / plan.repeats, block.stop / plan.repeats
        batch = repeats.draw(block)
        yield share
        scores[MAJORITY].append(np.stack(_majority(batch, plan.prior)))
        going = [method for method in (EXACT, *plan.private) if method.most_repeats > block.start]
        for k, method in enumerate(going):
            part = share + k / len(going) * (end - share), share + (k + 1) / len(going) * (end - share)
            logs = yield from part_of(_log_cpts(method, plan, batch, block.start), *part)
            scores[method].append(score_records(batch.test, plan.blanket.differences(logs)))
        measures = {method: Measures(*np.concatenate(parts, axis=1)) for method, parts in scores.items()}
        study = AccuracyStudy(plan, measures, certified)
        yield Partial(end, study)
    return study


def _log_cpts(method: Method, plan: AccuracyPlan, batch: Batch, start: int) -> Work[FloatArray]:
    """Return ln CPTs (R, E, all) of one release of every table at every epsilon, (R, 1, all) of a baseline."""
    epsilons = (1.0,) if method.is_baseline else plan.epsilons
    tables, means = Counts(plan.network, batch.counts.astype(np.int64), plan.training), []
    for k, epsilon in enumerate(epsilons):
        rng = stream(plan.seed, "accuracy", method.name, start)
        means.append(method.means(plan, epsilon, tables, rng))
        yield (k + 1) / len(epsilons)
    return np.log(np.maximum(np.stack(means, axis=1), _LEAST))


def _majority(batch: Batch, prior: PriorRule) -> tuple[FloatArray, FloatArray]:
    """Predict the target's states by their shares in the training records, without the other nodes."""
    shares = np.log(batch.target_counts + prior.of_tables(batch.target_counts.shape[-1]))
    log_odds: SingleArray = (shares[:, 1:] - shares[:, :1]).astype(np.float32)
    total = batch.test.weights.sum(axis=2, keepdims=True)
    return score(log_odds[:, None, :, None], total)
