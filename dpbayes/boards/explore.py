"""Explore: what the public learns of one answer, how far releases are from the table, and what they are good for.

A curator's board is computed from the table. A recipient's board is computed from releases and public facts alone.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial

import numpy as np

from dpbayes.audit.risk import LINKED, SUSPICION, belief_sentence, ceiling
from dpbayes.base.looks import PRIVATE
from dpbayes.base.privacy import Guarantee
from dpbayes.base.randomness import stream
from dpbayes.base.text import in_hundred, numeral, probability_text, range_text
from dpbayes.base.types import FloatArray
from dpbayes.boards.against_epsilon import Pictures, Shown
from dpbayes.boards.board import Board, Frame, Panel, View, slider_of
from dpbayes.boards.curator import SHOWN, CuratorInputs, shown_release
from dpbayes.experiments.answers import (
    Answers,
    Span,
    answers_of,
    answers_of_both,
    is_like_prior,
    means_of,
    points_of,
    span_of,
)
from dpbayes.figures.answer import AnswerPicture, answer_figure, frame_height
from dpbayes.figures.explore import belief_figure
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, Mechanism, Outcome, Release, ReleasedPosterior
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.model.question import Question
from dpbayes.posteriors.dirichlet import LEVEL

DRAWN, EXAMPLES = 8, 4
"""Simulated releases whose curves the curator can see, and a recipient."""

FEWEST, MOST = 2, 4
"""Decimals of a probability."""


@dataclass(frozen=True, eq=False)
class RecipientInputs:
    """What a recipient's board is computed from: releases at each stop, and public facts.

    Attributes:
        release_at: The release at an epsilon with a number from 0 on, as a batch of one.
        question: The question that the picture answers.
        meanings: What nodes mean, by name, where the name does not say it.
        is_noise_aware: Whether the reader accounts for the noise of a release.
        colour: The colour of the mechanism.
        real: The name of a real release, which is the one at every epsilon; "" for simulated ones.
    """

    release_at: Callable[[float, int], Release[Outcome]]
    question: Question
    meanings: Mapping[str, str] = field(default_factory=dict)
    is_noise_aware: bool = True
    colour: str = PRIVATE
    real: str = ""

    @cached_property
    def span(self) -> Span:
        """The part of the axis that is shown: of a real release, its interval and as much on either side."""
        low, high = span_of(lambda epsilon: self.release_at(epsilon, 0), self.question)
        room = high - low if self.real else 0.0
        return max(low - room, 0.0), min(high + room, 1.0)


POSTERIOR = Panel(
    "posterior",
    "What the public learns (simulated)",
    "The density of the answer in this release, and the answers of other possible releases as dots.",
    large=True,
    action="Draw another",
    help="Only noisy counts are published, and no curve. A reader’s conclusion follows from the counts of one release; "
    "its mean is the filled dot. The band has the answers of 95 of 100 releases. The blue curve, from the table "
    f"itself, is never published. A real release adds whole numbers as noise. {LINKED}",
)
DIVERGENCE = Panel(
    "divergence",
    "How near to the table?",
    "The share of the records that, without noise, is as near to the table as a release, against epsilon.",
    help="Distance is a KL divergence: it covers all probabilities of the network and how sure the reader is of each, "
    "so it can be large while this one answer is near. Random parts of the records have a distance without noise: 100% "
    "is the whole table, 0% a guess without data. For a naive reader, who takes noisy counts as true, 95% of releases "
    "are proved to be above the dashed line. Dotted: the theorem of Zhang and others (AAAI 2016) as stated.",
)
SIGNS = Panel(
    "signs",
    "Can counts turn negative?",
    "How often a released count is negative, against epsilon.",
    help="Noise makes a true count of 0 negative in half of the releases, at any ε. Only a naive reader sets it to 0. "
    "Fourier adds t to all counts; its dashed bound is proved for every table.",
)
ACCURACY = Panel(
    "accuracy",
    "Do predictions survive?",
    "Accuracy of predictions from a release against epsilon.",
    help="How often the network, learned from 80% of the records, correctly predicts the column of the question in "
    "the other records. Most frequent value: it is predicted for every record.",
)

UNKNOWN = "The noise and the number of records leave this range open."

ATTACK = (
    "Someone who knows all other records believes with 10% that a statement about one person is true: the bottom row. "
    "A release can add at most "
)
PERSON = Panel("person", "What about one person?", "A belief before and at most after a release.", help=LINKED)
LIKELY, WEAK = 0.5, " This ε protects weakly."
"""A belief above which the protection is called weak."""

FLAT, LEANS = 3.0, 0.75
"""The highest density of a reader who is hardly sure, and the share of releases on one side that lean to it."""

WIDEST_OF_PRIOR = 0.25
"""The widest range of answers that all come from the prior; those of a wider one come from the noise."""

SLIDER = slider_of("epsilon", EPSILON, label="Privacy loss ε", ends=("more private", "more accurate, less private"))


def explore_table(inputs: CuratorInputs, *, beside: tuple[Panel, ...] | None = None) -> View:
    """Return the curator's board: the answer in the table and in releases, and three pictures against epsilon.

    Args:
        inputs: The table's counts and the mechanism.
        beside: What stands beside the large picture in place of these three: PERSON or nothing.

    Returns:
        A view whose stops are the epsilons of the slider. It contains exact values, which are not private.
    """
    against_epsilon = DIVERGENCE, SIGNS, *((ACCURACY,) if inputs.table is not None else ())
    panels = POSTERIOR, *(against_epsilon if beside is None else beside)
    board = Board("explore", f"How likely is {_name(inputs)}?", panels, {}, "1", SLIDER, private=True)
    at = Pictures(inputs).at if beside is None else partial(_person, inputs, beside)
    return View(board, lambda stop: _frames(inputs, float(stop), at))


def explore_release(inputs: RecipientInputs) -> View:
    """Return the recipient's board: the answer in a real release, or in simulated ones at each epsilon.

    Args:
        inputs: The releases and public facts.

    Returns:
        A view that contains nothing but what the releases contain. Two tables with the same releases have the same
        board.
    """
    title = "What the public learns" if inputs.real else "An example: what the public learns from a simulated release"
    start, slider, action, releases = ("", None, "", 1) if inputs.real else ("1", SLIDER, POSTERIOR.action, EXAMPLES)
    alt = "The density of the answer in this release."
    panel = replace(POSTERIOR, title=title, action=action, alt=alt, help=LINKED)
    board = Board("explore", f"How likely is {_name(inputs)}?", (panel,), {}, start, slider)
    return View(board, lambda stop: tuple(_released_frame(inputs, stop, number) for number in range(releases)))


def _decimals(low: float, high: float, *others: float) -> int:
    """Return the decimals in which the ends of a range differ by several units of the last one.

    They show that `others` are not 0 or 1.
    """
    units = [(high - low) / 2, *(min(number, 1 - number) for number in others)]
    return min(max((FEWEST, *(-math.floor(math.log10(unit)) for unit in units if unit > 0))), MOST)


def _name(inputs: CuratorInputs | RecipientInputs) -> str:
    return inputs.question.named(inputs.meanings)


def belief_text(guarantee: Guarantee) -> str:
    """Return the limit of a belief about one person, and whether it is weak."""
    return f"{belief_sentence(guarantee)}{WEAK if ceiling(SUSPICION, guarantee) > LIKELY else ''}"


def _released_frame(inputs: RecipientInputs, stop: str, number: int) -> Frame:
    release = inputs.release_at(float(stop or 1), number)
    read = answers_of(release, inputs.question, is_noise_aware=inputs.is_noise_aware, span=inputs.span)
    shown, answer = None if read.shown is None else read.shown[0], float(read.means[0])
    points, means = points_of(inputs.span), read.means[:1]
    top = frame_height(points, np.zeros(len(points)) if shown is None else shown)
    decimals = FEWEST if read.interval is None else _decimals(*read.interval)
    picture = AnswerPicture(points, shown, means, 0, top, inputs.span, interval=read.interval, decimals=decimals)
    headline = f"{inputs.real or f'ε = {stop}: a simulated release'} answers {probability_text(answer, decimals)}"
    numbers = {"released": answer}
    if read.interval is not None:
        low, high = read.interval
        numbers |= {"low": low, "high": high}
        headline += f"; this reader is 95% sure of {range_text(low, high, decimals)}"
    figure = answer_figure(picture, name=f"probability of {_name(inputs)}", colour=inputs.colour)
    columns = inputs.question.target, *inputs.question.evidence
    assumes = release.posterior.independence_for(columns) if isinstance(release.outcome, ReleasedPosterior) else ""
    caption = {"posterior": assumes or UNKNOWN}
    return Frame(f"{headline}.", {"posterior": figure}, (belief_text(release.guarantee),), caption, numbers)


def _frames(inputs: CuratorInputs, epsilon: float, beside: Callable[[float], Shown]) -> tuple[Frame, ...]:
    """Return the frames of the answer at an epsilon, with the pictures beside it."""
    mechanism, exact = inputs.mechanism_at(epsilon), inputs.answer
    drawn = min(DRAWN, inputs.most_releases)
    first, others = _releases(inputs, mechanism)
    read = answers_of_both(
        first, others, inputs.question, is_noise_aware=inputs.is_noise_aware, drawn=drawn - 1, span=inputs.span
    )
    level = LEVEL if len(read.means) >= SHOWN else 1.0  # the whole range of a few releases
    low, high = (float(end) for end in np.quantile(read.means, ((1 - level) / 2, (1 + level) / 2)))
    picture = _picture(inputs, read, (low, high))
    figures, captions, numbers = beside(epsilon)
    numbers |= {"exact": exact, "low": low, "high": high, "error": float(np.abs(read.means - exact).mean())}
    promise = mechanism.certified
    numbers |= {"belief": float(in_hundred(ceiling(SUSPICION, promise)))}
    headline, caption = _said(inputs, picture, read.means, numbers, epsilon)
    name, decimals = f"probability of {_name(inputs)}", _decimals(low, high, exact)
    picture = replace(picture, decimals=decimals)

    def frame(this: int) -> Frame:
        shown = replace(picture, this=this, density=None if read.shown is None else read.shown[this])
        figure = answer_figure(shown, name=name, colour=mechanism.colour)
        is_flat = shown.density is not None and shown.density.max() < FLAT
        answer = probability_text(float(read.means[this]), decimals) + (", but is hardly sure" if is_flat else "")
        counts = _counts_text(inputs, others.part(slice(this - 1, this)) if this else first)
        return Frame(
            f"ε = {numeral(epsilon)}: {headline}",
            {"posterior": figure, **figures},
            (belief_text(promise),),
            {"posterior": f"{counts} {answer}. {caption}", **captions},
            numbers | {"released": float(read.means[this])},
        )

    return tuple(map(frame, range(drawn)))


def _person(inputs: CuratorInputs, panels: tuple[Panel, ...], epsilon: float) -> Shown:
    """Return the picture of what a release can reveal about one person, if there is a panel for it."""
    most = ceiling(SUSPICION, inputs.mechanism_at(epsilon).certified)
    said = ATTACK + ("the fainter squares above it." if most - SUSPICION >= 0.01 else "a part of one square.")
    return {panel.key: belief_figure(SUSPICION, most) for panel in panels}, {panel.key: said for panel in panels}, {}


def _counts_text(inputs: CuratorInputs, release: Release[Outcome]) -> str:
    """Return the noisy counts of the question beside the true ones, unless no such counts are released."""
    network, cell, outcome = inputs.question.network, inputs.question.cell, release.outcome
    if cell is None or not isinstance(outcome, ReleasedPosterior):
        return "This release answers"
    row = network.cells_of_row(int(network.row_of_cell[cell]))
    values = np.round(outcome.numbers[0]), inputs.counts.values
    noisy, own = (f"{counts[cell]:,.0f} of {counts[row].sum():,.0f}" for counts in values)
    reader = "aware" if inputs.is_noise_aware and release.tells_noise else "unaware"
    said = f"Only noisy counts are published, here {noisy} (table: {own})."
    return f"{said} From all counts, a reader {reader} of the noise concludes"


def _error_text(inputs: CuratorInputs, epsilon: float, own: float) -> str:
    """Return the mean error, and for comparison that of the other one of Laplace and Fourier, in the same decimals."""
    others = {LaplaceUpdates: inputs.fourier_at, LaplaceFourier: inputs.laplace_at}
    other_at = others.get(type(inputs.mechanism_at(epsilon)))
    if other_at is None or inputs.question.cell is None:
        return f"Mean absolute error: {numeral(own, 2)}."
    batches, is_aware = _releases(inputs, other_at(epsilon)), inputs.is_noise_aware
    means = np.concatenate([means_of(batch, inputs.question, is_noise_aware=is_aware) for batch in batches])
    error = float(np.abs(means - inputs.answer).mean())
    decimals, label = 1 - math.floor(math.log10(max(own, error, 1e-9))), inputs.mechanism_at(epsilon).label
    return f"Mean absolute error: {label} {own:.{decimals}f}, {other_at(epsilon).label} {error:.{decimals}f}."


def _picture(inputs: CuratorInputs, read: Answers, ends: tuple[float, float]) -> AnswerPicture:
    """Return the picture of one answer in the table and in releases, without the density of one of these."""
    is_near = read.densities is not None and is_like_prior(read.densities, inputs.prior_density)
    is_prior = is_near and ends[1] - ends[0] < WIDEST_OF_PRIOR
    return AnswerPicture(
        points_of(inputs.span),
        None,
        read.means[:SHOWN],
        0,
        top=frame_height(points_of(inputs.span), inputs.exact_density),
        span=inputs.span,
        exact=inputs.exact_density,
        answer=inputs.answer,
        interval=None if is_prior or len(read.means) < SHOWN else ends,  # few releases have no such range
        is_prior=is_prior,
    )


def _said(
    inputs: CuratorInputs, picture: AnswerPicture, means: FloatArray, numbers: Mapping[str, float], epsilon: float
) -> tuple[str, str]:
    """Return the headline of the answers of releases, and the caption of their picture."""
    exact, low, high = (numbers[name] for name in ("exact", "low", "high"))
    decimals = _decimals(low, high, exact)
    answer, ends = probability_text(exact, decimals), range_text(low, high, decimals)
    prior, middle = float(inputs.question.answers(inputs.mechanism_at(1.0).prior.mean)), float(means.mean())
    if picture.is_prior:
        said = "this release says hardly anything about the table; it answers about"
        from_prior = "Only the prior answers: the assumption from before any record was seen."
        return f"{said} {probability_text(prior)}, as the prior does.", from_prior
    caption = _error_text(inputs, epsilon, numbers["error"])
    side = "too high, " if exact < low else "too low, " if exact > high else ""
    ends = f"exact to {decimals} decimals" if ends == answer else f"{side}as {ends}"
    share = f"{len(means)} possible" if picture.interval is None else "95 of 100"
    towards = float(np.mean(means < exact if prior < exact else means > exact))  # of even shares, few are as uneven
    if towards > max(LEANS, 0.5 + 1.5 / math.sqrt(len(means))) and abs(middle - exact) > 0.5 * 10**-decimals:
        way, mean = "low" if prior < exact else "high", probability_text(middle, decimals)
        caption += f" Releases lean {way} ({mean} on average): noise pulls them to {prior:.2f}, a guess without data."
    return f"the table’s answer of {answer} comes out {ends} in {share} releases.", caption


def _releases(inputs: CuratorInputs, mechanism: Mechanism[Outcome]) -> tuple[Release[Outcome], Release[Outcome]]:
    """Return the release that a recipient sees, and other possible ones."""
    rng = stream(inputs.seed, "explore", type(mechanism).__name__)
    others = mechanism.simulate(inputs.counts, rng, (inputs.most_releases - 1,))
    return shown_release(mechanism, inputs.counts, inputs.seed), others
