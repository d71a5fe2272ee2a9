"""The answer of the first simulated release to a question, with its credible interval and that of the prior.

For a small network, the answer comes from the joint posterior. For a larger one, the answer of the row-wise posterior
is shown first, while the joint posterior, which takes up to seconds, is computed in a separate thread.
"""

from contextlib import suppress
from dataclasses import dataclass, replace

from dpbayes.base.memo import Memo
from dpbayes.base.steps import Partial, Work
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.views.reading import QUICK_CELLS, answer_under, has_joint, posterior_name, posterior_of
from dpbayes.ui.pages.explore.averages import releases_key
from dpbayes.ui.pages.explore.readings import AVERAGED_POINTS, Readings
from dpbayes.ui.session.chosen import Chosen, has_question, target_and_evidence
from dpbayes.ui.widgets.running import Running, in_background, running

MOST_CELLS = 10_000
"""Cells of a network up to which an answer gets an interval, of hundreds of sampled networks."""

Question = tuple[str, tuple[tuple[str, str], ...]]
"""A target and its evidence."""


@dataclass(frozen=True, eq=False)
class Answered:
    """An answer, and the name of the posterior that gives it; `follows` if the joint one is still being computed."""

    answer: QueryAnswer
    posterior: str
    follows: bool = False

    @property
    def source(self) -> str:
        """The posterior in a short sentence."""
        return f"From the {self.posterior}{'; the joint one is being computed …' if self.follows else '.'}"


@dataclass(frozen=True, eq=False)
class AnswerUnderWay:
    """The answer so far, if any, and its unfinished work; `is_ahead` if the headline shows an older answer."""

    by_now: Answered | None
    work: Running[Answered | None] | None = None
    is_ahead: bool = False

    def go_on(self) -> bool:
        """Continue for a moment after all is drawn; return whether there is more to show."""
        is_going = self.work is not None and self.work.going
        if self.work is not None:
            self.work.work()
        return is_going or self.is_ahead


def answer_under_way(chosen: Chosen, readings: Readings) -> AnswerUnderWay:
    """Return the first release's answer so far; none for releases without a posterior and for too large networks."""
    if not readings.as_real.is_posterior or chosen.network.cell_count > MOST_CELLS:
        return AnswerUnderWay(None)
    question, key = _question(chosen), releases_key(chosen)
    work = running("release.answer", (key, readings.reading, question), lambda: _kept_steps(readings, question))
    is_new = not work.taken
    if is_new:
        work.work()
    in_headline = not chosen.is_curator and has_question(chosen)
    return AnswerUnderWay(work.result, work, is_ahead=is_new and work.done and in_headline)


def answer_kept(chosen: Chosen, readings: Readings) -> QueryAnswer | None:
    """Return the last answer to the question as the section below has computed it; None if there is none."""
    kept: Answered | None = readings.memo.kept((readings.reading, _question(chosen)), _steps)
    return None if kept is None else kept.answer


def posterior_of_first(readings: Readings) -> Dirichlets | DirichletMixtures:
    """Return the posterior of the first release that answers its questions. Errors: those of `posterior_of`."""
    return readings.memo.once(readings.reading, posterior_of, readings.as_real.release.part(0), readings.reading)


def _question(chosen: Chosen) -> Question:
    target, evidence = target_and_evidence(chosen)
    return target, tuple(evidence.items())


def _kept_steps(readings: Readings, question: Question) -> Work[Answered | None]:
    release, reading = readings.as_real.release.part(0), readings.reading
    return readings.memo.once_in_steps((reading, question), _steps, readings.memo, release, reading, question)


def _steps(memo: Memo, release: Release[Outcome], reading: Reading, question: Question) -> Work[Answered | None]:
    """Answer by the posterior of the reading; of a larger network, by the row-wise one before the joint one."""
    if release.posterior.network.cell_count <= QUICK_CELLS:
        return _last(memo, release, reading, question)
    if reading is Reading.NOISE_AWARE and has_joint(release):
        first = yield from in_background(_row_wise, release, question)
        if first is None:
            return None
        yield Partial(0.5, first)
    return (yield from in_background(_last, memo, release, reading, question))


def _row_wise(release: Release[Outcome], question: Question) -> Answered | None:
    answered = _answer(release.noise_aware(points=AVERAGED_POINTS), release, question)
    return None if answered is None else replace(answered, follows=True)


def _last(memo: Memo, release: Release[Outcome], reading: Reading, question: Question) -> Answered | None:
    """Answer by the posterior of the reading, which is kept for other questions."""
    return _answer(memo.once(reading, posterior_of, release, reading), release, question)


def _answer(law: Dirichlets | DirichletMixtures, release: Release[Outcome], question: Question) -> Answered | None:
    outcome, (target, evidence) = release.outcome, question
    assert isinstance(outcome, ReleasedPosterior)
    with suppress(InputError):  # evidence that is possible on average may be impossible in a sampled network
        return Answered(answer_under(law, outcome.prior, target, dict(evidence), LEVEL), posterior_name(law))
    return None
