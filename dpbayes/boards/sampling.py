"""Posterior sampling: the region that trimming leaves, the epsilon that a sample needs, and the query game."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dpbayes.base.looks import BOUND, INVALID, Curve, Look
from dpbayes.base.parameters import Parameter
from dpbayes.base.randomness import stream
from dpbayes.base.text import many, numeral, typed, whole_percent
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.boards.board import Board, Frame, Panel, View, distinct_texts, slider_of
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.releases import density
from dpbayes.experiments.sampling import LEVEL, Game, RowState, needed_answers
from dpbayes.figures.posterior import density_grid
from dpbayes.figures.sampling import adversary_figure, game_figure, shift_figure, trim_figure
from dpbayes.figures.style import Figure, Trace, value_mark
from dpbayes.mechanisms import Calibration, PosteriorSampler
from dpbayes.model.dataset import Counts
from dpbayes.posteriors.dirichlet import Dirichlets

GRID = 161
"""Points of a density inside the region, and half as many outside."""

EPSILONS = np.append(np.outer(10.0 ** np.arange(-3, 1), np.arange(10, 100)).ravel(), 100.0)
"""The epsilons of the curve: all numbers of two digits from 0.01 to 100."""


@dataclass(frozen=True, eq=False)
class SamplingInputs:
    """What the board of posterior sampling is computed from.

    Attributes:
        sampler_at: The mechanism at an epsilon. Errors: InputError if nothing is left to sample.
        cell: The cell of the network whose samples are shown.
        counts: The true counts.
        seed: The seed of the simulated samples.
        name: The cell in words.
    """

    sampler_at: Callable[[float], PosteriorSampler]
    cell: int
    counts: Counts
    seed: int = 1
    name: str = ""

    @cached_property
    def shifts(self) -> tuple[FloatArray, FloatArray, BoolArray]:
        """The epsilons (E,) at which something is left to sample, the mean’s shifts, and if the region contains it."""
        samplers = {}
        for epsilon in EPSILONS.tolist():
            with suppress(InputError):
                samplers[epsilon] = self.sampler_at(epsilon)
        bounds = np.array([sampler.log_odds_bound for sampler in samplers.values()])
        state = RowState.of(self.sampler_at(EPSILONS[-1]).prior.updated(self.counts), self.cell)
        return np.array([*samplers]), state.shift(bounds), state.contains_mean(bounds)


@dataclass(frozen=True, eq=False)
class ReleasedSamples:
    """What a recipient's board is computed from: released samples at each stop, and public facts.

    Attributes:
        sampler_at: The mechanism at an epsilon, which is public. Errors: InputError if nothing is left to sample.
        cell: The cell of the network whose samples are shown.
        samples_at: The released samples (N,) of the cell at an epsilon.
        name: The cell in words.
    """

    sampler_at: Callable[[float], PosteriorSampler]
    cell: int
    samples_at: Callable[[float], FloatArray]
    name: str = ""


TRIM = Panel(
    "trim",
    "Which probabilities can be sampled?",
    "Densities of the posterior and of its trimmed form; samples as ticks below.",
    large=True,
    help="One record can change a posterior without limit near 0 and 1, and ever less towards the middle. It is "
    "therefore trimmed to an interval, [ω, 1 − ω] for a row of two states, and ω grows as ε falls.",
)
SHIFT = Panel(
    "shift",
    "How far does the interval shift a sample?",
    "Distance of the mean of all possible samples from the table's answer, against epsilon.",
    help="The distance of the mean of all possible samples from the table’s answer. Without privacy it is 0, but "
    "samples vary around the answer: the dashed line is their standard deviation, of several samples that of the mean.",
)

SAMPLE = (
    "The posterior says how plausible each probability is, given the table. A sample is a random probability from its "
    "part in the interval, which one record changes little."
)


def posterior_sampling(inputs: SamplingInputs | ReleasedSamples) -> View:
    """Return the board of posterior sampling. [Zhang16] Section 4, [Dimitrakakis14] Algorithm 1.

    Args:
        inputs: The mechanism and the counts, or a recipient's released samples.

    Returns:
        A view whose stops are the epsilons of the slider. With counts it contains exact values, which are not private;
        with samples nothing but those, and what follows from the public prior.
    """
    is_private = isinstance(inputs, SamplingInputs)
    panels = (TRIM, SHIFT)[: 1 + is_private]
    board = Board("sampling", "Posterior sampling", panels, {}, "1", SLIDER, private=is_private)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def samples_of(inputs: SamplingInputs, epsilon: float) -> FloatArray:
    """Return the simulated samples (N,) of the cell at an epsilon."""
    return _row_of(inputs, inputs.sampler_at(epsilon)).draws


@dataclass(frozen=True, eq=False)
class _Row:
    """The row of the shown cell, after the data or as public, and its released samples (N,)."""

    sampler: PosteriorSampler
    state: RowState
    draws: FloatArray

    @property
    def bound(self) -> float:
        return self.sampler.log_odds_bound

    @property
    def region(self) -> tuple[float, float]:
        low, high = self.state.region(self.bound)
        return float(low), float(high)


def _row_of(inputs: SamplingInputs, sampler: PosteriorSampler) -> _Row:
    network = sampler.prior.network
    state = RowState.of(sampler.prior.updated(inputs.counts), inputs.cell)
    row = network.row_label(int(network.row_of_cell[inputs.cell]))
    rng = stream(inputs.seed, "sampling", row, state.state)
    return _Row(sampler, state, state.sample(sampler.log_odds_bound, rng, (sampler.draws,)))


def _frame(inputs: SamplingInputs | ReleasedSamples, epsilon: float) -> Frame:
    sampler, exact = inputs.sampler_at(epsilon), None
    if isinstance(inputs, SamplingInputs):
        exact, row = sampler.prior.updated(inputs.counts), _row_of(inputs, sampler)
    else:
        row = _Row(sampler, RowState.of(sampler.prior, inputs.cell), inputs.samples_at(epsilon))
    figures = {"trim": _trim(row, inputs, exact)}
    samples = "a sample" if sampler.draws == 1 else f"the mean of {sampler.draws:,} samples"
    limits = f"a sample must lie between {' and '.join(distinct_texts(*row.region, most=3))}"
    share = numeral(sampler.epsilon / sampler.draws, 3)
    shared = f"All {sampler.draws:,} samples share ε, so each has {share}, and the interval is narrower."
    notes = (shared,) * (sampler.draws > 1)
    if not isinstance(inputs, SamplingInputs):
        note = "So: a probability outside this interval cannot be released at this ε."
        return Frame(_headline(sampler, limits), figures, (note, *notes), {"trim": SAMPLE})
    (epsilons, shifts, is_inside), here = inputs.shifts, float(row.state.shift(row.bound))
    variation = row.state.deviation / math.sqrt(sampler.draws)
    far = np.flatnonzero((shifts > variation) | ~is_inside)
    needed = next(iter(epsilons[far[-1] + 1 if len(far) else 0 :].tolist()), None)
    figures["shift"] = shift_figure(
        epsilons, 100 * shifts, here=(sampler.epsilon, 100 * here), variation=100 * variation, needed=needed
    )
    advice = f"So: even ε = {numeral(EPSILONS[-1])} is not enough: the interval shifts {samples} too far."
    if needed is not None:
        holds = f"the interval contains the table’s answer, and shifts {samples} by less than it varies without privacy"
        advice = f"So: ε = {numeral(needed)} is enough: {holds}."
    said = f"{samples} is about as close to the table’s answer as without privacy"
    if not row.state.contains_mean(row.bound):
        said = f"{limits}, too narrow for the table’s answer"
    elif here > variation:
        said = f"{limits}, which shifts {samples}"
    return Frame(_headline(sampler, said), figures, (advice, *notes), {"trim": SAMPLE})


def _headline(sampler: PosteriorSampler, said: str) -> str:
    if sampler.calibration is Calibration.AS_PRINTED:
        stated, proved = numeral(sampler.epsilon, 6), numeral(sampler.certified.epsilon, 4)
        return f"The paper states ε = {stated} for this release, but the proved ε is {proved}."
    return f"At ε = {numeral(sampler.epsilon)}, {said}."


def _trim(row: _Row, inputs: SamplingInputs | ReleasedSamples, exact: Dirichlets | None) -> Figure:
    """Draw the exact and the trimmed density; without the exact posterior, the trimmed prior alone."""
    (low, high), cell = row.region, inputs.cell
    ends = np.array([low * (1 - 1e-9), high * (1 + 1e-9)])
    parts = [np.linspace(0, 1, GRID // 2), np.linspace(low, high, GRID), ends]
    if exact is not None:
        parts.append(density_grid([(exact.alpha[cell], exact.rest_of(cell))]))
    theta = np.unique(np.clip(np.concatenate(parts), 1e-6, 1 - 1e-6))
    shown = None if exact is None else density(exact, cell, theta)
    curves = theta, shown, row.state.trimmed_density(row.bound, theta)
    name = inputs.name or row.sampler.prior.network.cell_label(cell)
    allowed = " to ".join(distinct_texts(low, high, most=3))
    return trim_figure(curves, row.draws, region=row.region, allowed=allowed, answer=row.state.mean, name=name)


# The query game


WON = Panel(
    "won",
    "How often is the attacker right about one record?",
    "Share of games in which the attacker is right, and its limit, against the number of answers.",
    large=True,
    help="In a game, the unknown record is 1 or 0 in every column, each with probability 50%. The attacker knows the "
    "posterior in both cases, sees one answer after another, and names the likelier case. ε bounds what each answer "
    "adds.",
)
GAME = Panel("game", "What does the attacker believe?", "The attacker's belief in the true value of the record.")

MOST_LOSS = math.log(LEVEL / (1 - LEVEL))
"""The total epsilon with which an attacker can be right in so many games: 1 / (1 + exp(-epsilon)) = LEVEL."""

NEARLY_ALL = 0.97
"""The share of games from which on a text above the curve would be on the line of all games."""

SHOWN = 200
"""Numbers of answers at most at which the curves are drawn."""


def query_game(game: Game, *, value: str = "100") -> View:
    """Return the board of the query game: how many samples reveal which of two tables is used.

    [Dimitrakakis14] Theorems 1 to 3.

    Args:
        game: The two tables and the mechanism.
        value: The number of answers that is shown first.

    Returns:
        A view whose stops are numbers of answers.
    """
    steps = Parameter("j", low=1, high=len(game.study.right), typical=1, log=True, whole=True)
    slider = slider_of("sampling.answers", steps, label="Answers that the attacker has seen")
    first = typed(int(np.clip(int(value), 1, len(game.study.right))))
    board = Board("query-game", "The query game", (WON, GAME), {}, first, slider)
    return View(board, lambda stop: (_game_frame(game, int(stop)),))


def _game_frame(game: Game, answers: int) -> Frame:
    study, needed, epsilon = game.study, needed_answers(game.study, level=LEVEL), game.mechanism.certified.epsilon
    right = float(study.right[answers - 1])
    takes = f"more than {len(study.right):,}" if needed is None else f"about {needed:,}"
    won = f"is right about one record in {whole_percent(right)} of games"
    headline = f"After {many(answers, 'answer')}, this attacker {won}; {LEVEL:.0%} takes {takes}."
    safe = int(MOST_LOSS / epsilon + 1e-9)
    share = f"in {LEVEL:.0%} of games"
    advice = (
        f"So: choose a smaller ε₁. One answer that reveals all that ε₁ allows may let an attacker be right {share}."
    )
    if safe:
        worst = "even if each reveals all that ε₁ allows (dashed)"
        advice = f"So: allow at most {many(safe, 'answer')}. Then no attacker can be right {share}, {worst}."
    total = numeral(answers * epsilon)
    steps = np.unique(np.round(np.geomspace(1, len(study.right), SHOWN)).astype(int))
    value, colour = whole_percent(right), PosteriorSampler.colour
    marks = [value_mark(answers, right, value, colour, side="top left")]
    if right > NEARLY_ALL:
        marks = [_text_below(answers, right, value, colour)]
    if needed is not None:
        marks.append(_text_below(needed, LEVEL, f"{needed:,} answers", colour))
    if safe:
        marks.append(_text_below(MOST_LOSS / epsilon, LEVEL, f"at most {many(safe, 'answer')}", BOUND))
    figure = _wins(game, steps)
    belief = game_figure(steps.astype(float), study.belief[steps - 1], marked=answers, colour=colour)
    captions = {
        "won": f"Each answer is a private sample of how likely a 1 is, given all {game.records:,} records. The "
        "attacker knows all but one of them, and guesses whether it is 1 or 0: right in 50% of games without answers. "
        f"Dashed: each answer reveals all that ε₁ allows; most reveal less. Losses add up: ε = {total} in total.",
        "game": "At 50%, the attacker does not know. Below, the answers mislead the attacker.",
    }
    figures = {"won": replace(figure, data=(*figure.data, *marks)), "game": belief}
    return Frame(headline, figures, (advice,), captions, {"won": right})


def _text_below(answers: float, share: float, text: str, colour: str) -> Trace:
    """Return a dot on a rising curve with a text below the curve, within the picture."""
    return value_mark(answers, share, text, colour) | {"textposition": f"bottom {'right' if answers < 500 else 'left'}"}


def _wins(game: Game, steps: IntArray) -> Figure:
    """Draw the share of games that are won after some numbers of answers (P,), and its limits."""
    study, sampler = game.study, game.mechanism
    look = Look("this attacker (simulated)", PosteriorSampler.colour, width=3)
    curve = Curve(look, steps.astype(float), study.right[steps - 1], study.right_error[steps - 1])
    limits = {Look("any attacker (limit)", BOUND, "dash"): game.ceiling(sampler.certified.epsilon)[steps - 1]}
    if sampler.calibration is Calibration.AS_PRINTED:
        stated = game.ceiling(sampler.claimed.epsilon)[steps - 1]
        limits[Look("limit by the paper’s ε (not proved)", INVALID, "dash")] = stated
    return adversary_figure(curve, limits, level=LEVEL)
