"""The answer of the first simulated release to a question, with its credible interval and that of the prior."""

from contextlib import suppress

from dpbayes.base.validation import InputError
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.ui.pages.explore.readings import Readings
from dpbayes.ui.session.chosen import Chosen

MOST_CELLS = 10_000
"""Cells of a network up to which an answer gets an interval, of hundreds of sampled networks."""


def answer_of_first(chosen: Chosen, readings: Readings, target: str, evidence: dict[str, str]) -> QueryAnswer | None:
    """Return the answer; None for releases without a posterior and for networks that are too large."""
    if not readings.as_real.is_posterior or chosen.network.cell_count > MOST_CELLS:
        return None
    with suppress(InputError):  # evidence that is possible on average may be impossible in a sampled network
        prior, posterior = chosen.mechanism.prior, readings.first_posterior
        key = target, tuple(evidence.items())
        answer: QueryAnswer = readings.memo.once(key, _answer, prior, posterior, target, evidence)
        return answer
    return None


def _answer(
    prior: Dirichlets, posterior: Dirichlets | DirichletMixtures, target: str, evidence: dict[str, str]
) -> QueryAnswer:
    if isinstance(posterior, Dirichlets):
        return posterior.query(target, evidence, interval=LEVEL, prior=prior)
    return posterior.query(target, evidence, interval=LEVEL)
