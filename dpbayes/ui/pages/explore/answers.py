"""How certain the first simulated release leaves the answer to a question."""

from contextlib import suppress
from dataclasses import dataclass

from dpbayes.base.randomness import stream
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import answer_interval, spread_left
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.ui.pages.explore.readings import Readings
from dpbayes.ui.session.chosen import Chosen

MOST_CELLS = 10_000
"""Cells of a network up to which an answer gets an interval, of hundreds of sampled networks."""


@dataclass(frozen=True, eq=False)
class AnswerSpread:
    """The ends of each state's credible interval, and the share of the prior's spread that the release leaves."""

    low: FloatArray
    high: FloatArray
    left: float


def answer_spread(chosen: Chosen, readings: Readings, target: str, evidence: dict[str, str]) -> AnswerSpread | None:
    """Return how certain an answer is; None for releases without a posterior and for networks that are too large."""
    if not readings.as_real.is_posterior or chosen.network.cell_count > MOST_CELLS:
        return None
    with suppress(InputError):  # evidence that is possible on average may be impossible in a sampled network
        prior, posterior = chosen.mechanism.prior, readings.first_posterior
        key = target, tuple(evidence.items())
        spread: AnswerSpread = readings.memo.once(key, _spread, prior, posterior, target, evidence, chosen.seed)
        return spread
    return None


def _spread(
    prior: Dirichlets, posterior: Dirichlets | DirichletMixtures, target: str, evidence: dict[str, str], seed: int
) -> AnswerSpread:
    rng = stream(seed, "release", "answers")
    low, high = answer_interval(posterior, target, evidence, rng, level=LEVEL)
    return AnswerSpread(low, high, spread_left(prior, posterior, target, evidence, rng))
