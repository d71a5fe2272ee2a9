"""The calibration of predictive probabilities: the share of correct predictions at each confidence."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from scipy import special

from dpbayes.base.looks import Curve, Look
from dpbayes.base.steps import Partial, Work, part_of
from dpbayes.base.types import FloatArray, SingleArray
from dpbayes.experiments.accuracy.blanket import TIE
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import EXACT
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.records import Batch, Repeats
from dpbayes.experiments.accuracy.releases import Releases, Streams
from dpbayes.experiments.accuracy.study import cut_where_methods_end, released

BINS = 10


@dataclass(frozen=True, eq=False)
class Reliability:
    """Predictions in BINS bins from 1/r to 1 by confidence, which is the probability of the predicted state.

    `records` (BINS,) is the number of predictions, `confidence` (BINS,) its mean, and `right` (BINS,) the share of
    correct ones; NaN in empty bins.
    """

    records: FloatArray
    confidence: FloatArray
    right: FloatArray

    @property
    def error(self) -> float:
        """The mean of |right - confidence| over all predictions: the expected calibration error."""
        return float(np.nansum(self.records * np.abs(self.right - self.confidence)) / self.records.sum())

    @property
    def overconfidence(self) -> float:
        """Mean confidence minus the share of correct predictions; positive if the probabilities are too extreme."""
        return float(np.nansum(self.records * (self.confidence - self.right)) / self.records.sum())

    def curve(self, look: Look) -> Curve:
        """Return the share of correct predictions over the confidence, for bins with records."""
        filled = self.records > 0
        return Curve(look, self.confidence[filled], self.right[filled], np.full(int(filled.sum()), np.nan))


def reliability_steps(plan: AccuracyPlan, epsilon: float, *, repeats: int = 0) -> Work[Mapping[Method, Reliability]]:
    """Bin the predictions of the exact posterior and of every private method at one epsilon, in steps.

    The predictions are the same as in a study of the same plan with any grid: of the first `repeats`, or of all repeats
    if it is 0. Errors: InputError.
    """
    single = replace(plan, epsilons=(epsilon,), repeats=max(2, repeats or plan.repeats))
    releases, data, streams = Releases(single), Repeats(single), Streams(single.seed)
    methods = (EXACT, *single.private)
    sums, done = {method: np.zeros((3, BINS)) for method in methods}, 0
    for size in cut_where_methods_end(single.cost.blocks(), methods):
        share, end = done / single.repeats, (done + size) / single.repeats
        batch = data.draw(streams, size)
        yield share
        going = {method: total for method, total in sums.items() if method.most_repeats > done}
        yield from part_of(_block(going, batch, releases, streams), share, end)
        done += size
        bins = {method: _reliability(total) for method, total in sums.items()}
        yield Partial(end, bins)
    return bins


def _block(sums: Mapping[Method, FloatArray], batch: Batch, releases: Releases, streams: Streams) -> Work[None]:
    """Add the predictions of a batch to the sums."""
    differences = yield from part_of(released(tuple(sums), batch, releases, streams), 0.0, 0.5)
    patterns = batch.test.weights.shape[-1]
    done = 0
    for part in batch.test.parts(epsilons=1):
        for method, total in sums.items():
            total += _binned(part.log_odds(differences[method])[:, 0], part.weights)
        done += part.weights.shape[-1]
        yield 0.5 + 0.5 * done / patterns


def _reliability(sums: FloatArray) -> Reliability:
    with np.errstate(invalid="ignore", divide="ignore"):
        return Reliability(sums[0], sums[1] / sums[0], sums[2] / sums[0])


def _binned(log_odds: SingleArray, weights: SingleArray) -> FloatArray:
    """Return the records, the sum of their confidences and how many are right, by bin: (3, BINS)."""
    scores = np.concatenate([np.zeros_like(log_odds[:, :1]), log_odds], axis=1).astype(np.float64)
    chances = special.softmax(scores, axis=1)
    confidence = chances.max(axis=1)
    best = scores >= scores.max(axis=1, keepdims=True) - TIE
    right = (best / best.sum(axis=1, keepdims=True) * weights).sum(axis=1)
    records = np.broadcast_to(weights.sum(axis=1), confidence.shape)
    least = 1 / scores.shape[1]
    place = np.clip(((confidence - least) / (1 - least) * BINS).astype(np.int64), 0, BINS - 1).ravel()
    values = (records, records * confidence, right)
    return np.stack([np.bincount(place, weights=v.ravel(), minlength=BINS) for v in values])
