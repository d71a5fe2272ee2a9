"""Whether predictive probabilities mean what they say: how often predictions of each confidence are right."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpbayes.experiments.accuracy import drawn_batches, released
from dpbayes.experiments.accuracy_blanket import SingleArray
from dpbayes.experiments.accuracy_plan import AccuracyPlan, Method
from dpbayes.experiments.accuracy_releases import Releases

FloatArray = NDArray[np.float64]

BINS = 10


@dataclass(frozen=True, eq=False)
class Reliability:
    """Predictions by their confidence, the probability they give the predicted state, in BINS bins from 1/r to 1.

    `records` (BINS,) predictions, their mean `confidence` (BINS,) and the share `right` (BINS,); NaN in empty bins.
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
        """Mean confidence less the share that is right: above zero where probabilities promise too much."""
        return float(np.nansum(self.records * (self.confidence - self.right)) / self.records.sum())


def reliability(plan: AccuracyPlan, epsilon: float) -> Mapping[Method, Reliability]:
    """Bin the predictions of the exact posterior and of every private method at one epsilon.

    They are the very predictions behind a study of the same plan, whatever its grid. Errors: InputError.
    """
    single = replace(plan, epsilons=(epsilon,))
    releases = Releases(single)
    sums = {method: np.zeros((3, BINS)) for method in (Method.EXACT, *single.private)}
    for block, batch in enumerate(drawn_batches(single)):
        for method, total in sums.items():
            log_odds = batch.test.log_odds(released(method, batch, releases, block))
            total += _binned(log_odds[:, 0], batch.test.weights)
    return {method: _reliability(total) for method, total in sums.items()}


def _reliability(sums: FloatArray) -> Reliability:
    with np.errstate(invalid="ignore", divide="ignore"):
        return Reliability(sums[0], sums[1] / sums[0], sums[2] / sums[0])


def _binned(log_odds: SingleArray, weights: SingleArray) -> FloatArray:
    """Return the records, the sum of their confidences and how many are right, by bin: (3, BINS)."""
    scores = np.concatenate([np.zeros_like(log_odds[:, :1]), log_odds], axis=1).astype(np.float64)
    chances = special.softmax(scores, axis=1)
    confidence = chances.max(axis=1)
    best = scores == scores.max(axis=1, keepdims=True)
    right = (best / best.sum(axis=1, keepdims=True) * weights).sum(axis=1)
    records = np.broadcast_to(weights.sum(axis=1), confidence.shape)
    least = 1 / scores.shape[1]
    place = np.clip(((confidence - least) / (1 - least) * BINS).astype(np.int64), 0, BINS - 1).ravel()
    values = (records, records * confidence, right)
    return np.stack([np.bincount(place, weights=v.ravel(), minlength=BINS) for v in values])
