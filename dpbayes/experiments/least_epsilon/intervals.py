"""The credible intervals of recipients of planned releases, and how often they contain the true value."""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.steps import Partial, Work, slices
from dpbayes.base.types import BoolArray, FloatArray
from dpbayes.experiments.least_epsilon.wish import Wish
from dpbayes.mechanisms.base import simulated
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.counts import Counts
from dpbayes.posteriors.answers import MOST_OF_PRIOR
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.views.reading import QUICK_CELLS, answer_under, posterior_name, posterior_of

_CELLS = 360
"""Most cells of the releases of one step."""

MOST_CELLS = 10_000
"""Most cells of a network for which intervals are computed."""


@dataclass(frozen=True, eq=False)
class PlannedIntervals:
    """Credible intervals of planned releases at one epsilon, and the name of their posterior.

    Args:
        epsilon: The epsilon of the releases.
        posterior: The name of the posterior.
        widths: The widths (R,).
        contained: Which intervals contain the true value (R,).
        decided: Which answers the prior determines, and not the release (R,).
    """

    epsilon: float
    posterior: str
    widths: FloatArray
    contained: BoolArray
    decided: BoolArray


def interval_steps(
    wish: Wish, epsilon: float, truth: float, reading: Reading, rng: np.random.Generator, *, releases: int
) -> Work[PlannedIntervals | None]:
    """Return the intervals of the first draws of a wish at one epsilon, in steps; None without a posterior.

    `truth` is the true probability. Errors: InputError if the mechanism does not allow this epsilon.
    """
    question, mechanism, tables = wish.question, wish.at(epsilon), wish.tables
    releases, cells = min(releases, wish.draws), question.network.cell_count
    state = question.network.states[question.network.index(question.target)].index(question.state)
    parts: list[tuple[FloatArray, BoolArray, BoolArray]] = []
    name = ""
    if cells > MOST_CELLS:
        return None
    for part in slices(releases, _CELLS // cells):
        size = part.stop - part.start
        own = Counts(tables.network, tables.values[part], tables.n) if wish.is_planned else tables
        release = simulated(mechanism, own, rng, () if wish.is_planned else (size,))
        if not isinstance(release.outcome, ReleasedPosterior):
            return None
        law = posterior_of(release, reading, most=QUICK_CELLS)
        answer = answer_under(law, release.outcome.prior, question.target, question.evidence, LEVEL)
        low, high, name = answer.low[..., state], answer.high[..., state], posterior_name(law)
        parts.append((high - low, (low <= truth) & (truth <= high), answer.spread_ratio[..., state] >= MOST_OF_PRIOR))
        yield Partial(part.stop / releases, _joined(epsilon, name, parts))
    return _joined(epsilon, name, parts)


def _joined(epsilon: float, name: str, parts: list[tuple[FloatArray, BoolArray, BoolArray]]) -> PlannedIntervals:
    widths, contained, decided = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    return PlannedIntervals(epsilon, name, widths, contained, decided)
