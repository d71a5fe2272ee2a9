"""Accuracy of private predictions against epsilon: Figure 1 of [Zhang16] on any network, target and table.

    plan = AccuracyPlan(network=naive_bayes(16), target="class", epsilons=epsilon_grid(0.1, 100, points=20))
    study = accuracy_study(plan)
    study.frame()

All results are computed from true records. Results of a table are not private; they are for the curator only.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.libraries import pd
from dpbayes.base.looks import Curve, Look
from dpbayes.base.steps import Partial, Work, finished, part_of
from dpbayes.base.types import FloatArray, SingleArray
from dpbayes.experiments.accuracy.blanket import score, score_records
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import BASELINES, EXACT, MAJORITY
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Synthetic
from dpbayes.experiments.accuracy.records import Batch, Repeats
from dpbayes.experiments.accuracy.releases import Releases, Streams
from dpbayes.posteriors.prior_rules import PriorRule


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
    increment: float | None = None
    """The certified Fourier increment, which takes long to simulate; None without such a curve."""

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


def accuracy_steps(plan: AccuracyPlan, *, blocks: Iterable[int] | None = None) -> Work[AccuracyStudy]:
    """Run a study in steps of a fraction of a second, so that progress is visible and the study can be stopped.

    Every method has its own random stream for all repeats. Methods and epsilons can be added, and the repeats can be
    cut into any `blocks`, without a change of the other results.
    """
    releases, repeats, streams = Releases(plan), Repeats(plan), Streams(plan.seed)
    methods = (*BASELINES, *plan.private)
    certified = {method: method.certified(releases) for method in methods}
    scores = {
        method: np.empty((2, min(plan.repeats, method.most_repeats), 1 if method.is_baseline else len(plan.epsilons)))
        for method in methods
    }
    done = 0
    for size in cut_where_methods_end(blocks or plan.cost.blocks(), methods):
        share, end = done / plan.repeats, (done + size) / plan.repeats
        batch = repeats.draw(streams, size)
        yield share
        going = [method for method in plan.private if method.most_repeats > done]
        measured = yield from part_of(_block(going, releases, batch, streams), share, end)
        for method in measured:
            scores[method][:, done : done + size] = measured[method]
        done += size
        measures = {method: Measures(*both[:, :done]) for method, both in scores.items()}
        study = AccuracyStudy(plan, measures, certified, releases.simulated)
        yield Partial(end, study)
    return study


def cut_where_methods_end(blocks: Iterable[int], methods: Sequence[Method]) -> Iterator[int]:
    """Yield blocks of repeats, cut where a method ends, so that each block has the same methods throughout."""
    ends, done = sorted({method.most_repeats for method in methods}), 0
    for size in blocks:
        last = done + size
        for end in [*(end for end in ends if done < end < last), last]:
            yield end - done
            done = end


def _block(
    private: Sequence[Method], releases: Releases, batch: Batch, streams: Streams
) -> Work[dict[Method, FloatArray]]:
    """Return accuracy and log loss of the baselines and these methods, (2, R, E) each."""
    differences = yield from part_of(released((EXACT, *private), batch, releases, streams), 0.0, 0.5)
    epsilons = len(releases.plan.epsilons)
    measured = yield from part_of(score_records(batch.test, differences, epsilons=epsilons), 0.5, 1.0)
    return measured | {MAJORITY: np.stack(_majority(batch, releases.plan.prior))}


def released(
    methods: Sequence[Method], batch: Batch, releases: Releases, streams: Streams
) -> Work[dict[Method, SingleArray]]:
    """Return the differences of every method's ln CPTs (R, E, r - 1, M), from which predictions follow."""
    differences = {}
    for k, method in enumerate(methods):
        work = method.log_cpts(releases, batch.counts, streams)
        logs = yield from part_of(work, k / len(methods), (k + 1) / len(methods))
        differences[method] = releases.blanket.local.differences(logs)
    return differences


def _majority(batch: Batch, prior: PriorRule) -> tuple[FloatArray, FloatArray]:
    """Predict the target's states by their shares in the training records, without the other nodes."""
    shares = np.log(batch.target_counts + prior.of_tables(batch.target_counts.shape[-1]))
    log_odds: SingleArray = (shares[:, 1:] - shares[:, :1]).astype(np.float32)
    total = batch.test.weights.sum(axis=2, keepdims=True)
    return score(log_odds[:, None, :, None], total)
