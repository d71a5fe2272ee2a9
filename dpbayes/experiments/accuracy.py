"""Accuracy of private predictions against epsilon: Figure 1 of [Zhang16] on any network, target and table.

    plan = AccuracyPlan(network=naive_bayes(16), target="class", epsilons=epsilon_grid(0.1, 100, points=20))
    study = accuracy_study(plan)
    study.frame()

Everything here is computed from true records: for a table it is the curator's, and not private.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpbayes.experiments.accuracy_blanket import MOST_COLUMNS, SingleArray, score, score_records
from dpbayes.experiments.accuracy_data import Batch, Repeats
from dpbayes.experiments.accuracy_plan import (
    AccuracyPlan,
    Method,
    Synthetic,
    default_target,
    epsilon_grid,
    methods_for,
)
from dpbayes.experiments.accuracy_releases import Releases
from dpbayes.randomness import stream

__all__ = [
    "AccuracyPlan",
    "AccuracyStudy",
    "Measures",
    "Method",
    "Synthetic",
    "accuracy_blocks",
    "accuracy_study",
    "default_target",
    "epsilon_grid",
    "methods_for",
]

FloatArray = NDArray[np.float64]

MOST_REPEATS = 50
"""Repeats of a block; partial results come as often."""

_BLOCK_VALUES = 1 << 18

FAR = 3.0
"""A curve is ahead of another where their mean difference is more than so many standard errors above zero."""


@dataclass(frozen=True, eq=False)
class Measures:
    """Share predicted rightly and mean log loss (nats) of the test records, both (R, E); E = 1 for a baseline."""

    accuracy: FloatArray
    log_loss: FloatArray


@dataclass(frozen=True, eq=False)
class AccuracyStudy:
    """What was measured in the repeats done so far. Curator only where the plan's source is a table."""

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
        """All that was measured, baselines first."""
        return tuple(self.measures)

    def mean(self, method: Method) -> FloatArray:
        """Return the mean accuracy over the repeats: (E,)."""
        return self._wide(self.measures[method].accuracy.mean(axis=0))

    def error(self, method: Method) -> FloatArray:
        """Return the standard error of `mean`: (E,)."""
        return self._wide(_standard_error(self.measures[method].accuracy))

    def log_loss(self, method: Method) -> FloatArray:
        """Return the mean log loss in nats: (E,)."""
        return self._wide(self.measures[method].log_loss.mean(axis=0))

    def log_loss_error(self, method: Method) -> FloatArray:
        """Return the standard error of `log_loss`: (E,)."""
        return self._wide(_standard_error(self.measures[method].log_loss))

    def _wide(self, values: FloatArray) -> FloatArray:
        return np.broadcast_to(values, self.plan.grid.shape)

    def overtakes(self, method: Method, other: Method) -> float | None:
        """Return from which epsilon on `method` predicts better than `other`; None where it never does on the grid.

        It must be ahead by FAR standard errors of the paired difference at some point and behind by so much at no
        later one. Between the points before and after, the place where the difference is zero is interpolated in ln
        epsilon. The first epsilon of the grid is returned where it is ahead from the start.
        """
        paired = self.measures[method].accuracy - self.measures[other].accuracy
        difference, doubt = paired.mean(axis=0), FAR * _standard_error(paired)
        behind = np.flatnonzero(difference < -doubt)
        start = int(behind[-1]) + 1 if len(behind) else 0
        ahead = np.flatnonzero(difference[start:] > doubt[start:]) + start
        if not len(ahead):
            return None
        below = np.flatnonzero(difference[: ahead[0]] <= 0)
        if not len(below):
            return self.plan.epsilons[0]
        k = int(below[-1])
        share = -difference[k] / (difference[k + 1] - difference[k])
        low, high = np.log(self.plan.grid[k : k + 2])
        return float(math.exp(low + share * (high - low)))

    def within(self, method: Method, margin: float) -> float | None:
        """Return from which epsilon on a method's mean accuracy stays within `margin` of the exact posterior's.

        Interpolated in ln epsilon; None where it is further away at the end of the grid.
        """
        lacking = self.mean(Method.EXACT) - self.mean(method) - margin
        far = np.flatnonzero(lacking > 0)
        if not len(far):
            return self.plan.epsilons[0]
        k = int(far[-1])
        if k + 1 == len(lacking):
            return None
        share = lacking[k] / (lacking[k] - lacking[k + 1])
        low, high = np.log(self.plan.grid[k : k + 2])
        return float(math.exp(low + share * (high - low)))

    def frame(self) -> pd.DataFrame:
        """Return the results in tidy form: one line for every method and epsilon, with the settings in its columns."""
        parts = [
            pd.DataFrame(
                {
                    "method": method.value,
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
        return frame.assign(**{"repeats": self.repeats, **settings_of(self.plan)})


def settings_of(plan: AccuracyPlan) -> dict[str, str | int | float]:
    """Return what defines a plan, as plain values; a network by its arrows and a table by its size."""
    synthetic = isinstance(plan.source, Synthetic)
    return {
        "target": plan.target,
        "nodes": len(plan.network.names),
        "arrows": "; ".join(f"{parent} -> {child}" for parent, child in plan.network.edges),
        "source": "synthetic" if synthetic else "table",
        "strength": plan.source.strength if isinstance(plan.source, Synthetic) else math.nan,
        "records": plan.records,
        "training": plan.training,
        "prior": plan.prior,
        "stealth": plan.stealth,
        "draws": plan.draws,
        "cells": plan.cells,
        "seed": plan.seed,
    }


def accuracy_study(plan: AccuracyPlan) -> AccuracyStudy:
    """Run all repeats."""
    for study in accuracy_blocks(plan):
        last = study
    return last


def accuracy_blocks(plan: AccuracyPlan) -> Iterator[AccuracyStudy]:
    """Yield the study after every block of repeats, so that it can be watched and stopped.

    Every block and method has a stream of its own: methods and epsilons may be added without changing the others.
    """
    releases = Releases(plan)
    methods = (Method.EXACT, Method.MAJORITY, *plan.private)
    certified = {method: releases.certified(method) for method in methods}
    held = {method: np.empty((2, plan.repeats, 1 if method.is_baseline else len(plan.epsilons))) for method in methods}
    done = 0
    for block, batch in enumerate(drawn_batches(plan)):
        new = slice(done, done + len(batch.counts))
        for method in methods:
            held[method][:, new] = _measured(method, batch, releases, block)
        done = new.stop
        yield AccuracyStudy(plan, {method: Measures(*both[:, :done]) for method, both in held.items()}, certified)


def drawn_batches(plan: AccuracyPlan) -> Iterator[Batch]:
    """Yield the training counts and test records of every block of repeats."""
    repeats = Repeats(plan)
    for block, size in enumerate(_sizes(plan, repeats)):
        yield repeats.draw(stream(plan.seed, "accuracy", block, "records"), size)


def released(method: Method, batch: Batch, releases: Releases, block: int) -> SingleArray:
    """Return what a method predicts with: the differences of its ln CPTs (R, E, r - 1, M)."""
    rng = stream(releases.plan.seed, "accuracy", block, method.name)
    return batch.test.blanket.differences(releases.log_cpts(method, batch.counts, rng))


def _measured(method: Method, batch: Batch, releases: Releases, block: int) -> tuple[FloatArray, FloatArray]:
    """Return accuracy and log loss, both (R, E)."""
    if method is Method.MAJORITY:
        return _majority(batch, releases.plan)
    return score_records(batch.test, released(method, batch, releases, block))


def _majority(batch: Batch, plan: AccuracyPlan) -> tuple[FloatArray, FloatArray]:
    """Predict the target's states by their shares in the training records, whatever else is known."""
    shares = np.log(batch.target_counts + plan.prior)
    log_odds: SingleArray = (shares[:, 1:] - shares[:, :1]).astype(np.float32)
    total = batch.test.weights.sum(axis=2, keepdims=True)
    return score(log_odds[:, None, :, None], total)


def _sizes(plan: AccuracyPlan, repeats: Repeats) -> list[int]:
    """Return the repeats of every block; they depend on neither methods nor epsilons, as the streams must not."""
    patterns = repeats.patterns
    scored = max(patterns, patterns * min(repeats.blanket.columns, MOST_COLUMNS) // 16)
    most = max(1, min(MOST_REPEATS, _BLOCK_VALUES // max(plan.network.cell_count, scored, plan.records // 8)))
    full, rest = divmod(plan.repeats, most)
    return [most] * full + [rest] * bool(rest)


def _standard_error(values: FloatArray) -> FloatArray:
    """Return the standard error of the mean over the first axis; infinite for a single value."""
    if len(values) < 2:
        return np.full(values.shape[1:], np.inf)
    return np.asarray(values.std(axis=0, ddof=1) / math.sqrt(len(values)))
