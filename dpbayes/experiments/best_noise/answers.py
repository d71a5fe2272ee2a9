"""What a mechanism's noise moves an answer by: asked of made-up records, since it is worked out from their counts."""

import math
from typing import Any

import numpy as np

from dpbayes.base.estimates import Estimate
from dpbayes.experiments.least_epsilon.answers import Question
from dpbayes.mechanisms.base import simulated
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.counts import Counts


def answer_error(
    mechanism: Any, counts: Counts, question: Question, rng: np.random.Generator, *, releases: int
) -> Estimate:
    """Return the root mean square, over simulated releases, of what noise moves an answer by; counts taken as real.

    Generators of one seed give a mechanism and itself with another epsilon the same draws, so that the two compare.
    """
    exact = float(question.answers(mechanism.prior.updated(counts).mean))
    release = simulated(mechanism, counts, rng, (releases,))
    outcome: Outcome = release.outcome
    square = Estimate.of(np.square(question.answers(outcome.probabilities) - exact))
    error = math.sqrt(square.value)
    return Estimate(error, square.error / (2 * error) if error else 0.0)
