"""Explore: what the public sees of one answer, how far releases are from the truth, and what they are good for.

A curator's board is computed from the table. A recipient's board is computed from releases and public facts alone.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dpbayes.audit.risk import belief_sentence
from dpbayes.base.looks import BOUND, Curve, Look
from dpbayes.base.randomness import stream
from dpbayes.base.text import numeral, share_text
from dpbayes.base.types import FloatArray
from dpbayes.boards.board import Board, Frame, Panel, View, slider_of
from dpbayes.experiments.accuracy.methods import ALL_METHODS, methods_for
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.study import AccuracyStudy, accuracy_study
from dpbayes.experiments.epsilon_curves import EpsilonCurves, epsilon_curves
from dpbayes.experiments.releases import density
from dpbayes.figures.accuracy import accuracy_figure
from dpbayes.figures.answer import Answers, answer_figure, frame_height
from dpbayes.figures.explore import Spread, divergence_figure, shares_figure
from dpbayes.figures.style import Figure
from dpbayes.mechanisms import LaplaceUpdates, Mechanism, Noise, Outcome, Release, ReleasedPosterior
from dpbayes.mechanisms.base import simulated
from dpbayes.mechanisms.parameters import EPSILON, Calibration
from dpbayes.model.counts import Counts
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.mixtures import BetaMixtures
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.zhang16.posterior_kl.bounds import posterior_kl

STOPS = tuple(EPSILON.stops)
GRID = tuple(float(f"{10 ** (k / 5):.3g}") for k in range(-10, 11))
"""The epsilons at which releases are simulated, 0.01 to 100."""

RELEASES, SHOWN, DRAWN = 400, 50, 6
"""Simulated releases of the answer at each stop; those that are drawn as dots; those whose curves can be seen."""

POINTS, DRAWN_POINTS = 64, 512
"""Points of the noise-aware posterior of one row: where only its mean is needed, and where its density is drawn."""

THETA = np.linspace(0, 1, 127)[1:-1]
"""The probabilities at which densities are drawn."""

MOST_VALUES, FEWEST = 600_000, 3
"""Released values that are simulated at each stop, and releases at least."""

LEAST_RELEASES, MOST_AT_ONCE = 10, 1_000_000
"""Releases at each epsilon of the pictures against epsilon at least, and the values of so many at most: larger releases
have no such pictures."""

MOST_PREDICTED = 10_000
"""Cells of the largest network whose predictions are simulated."""

REPEATS, TRAINING = 20, 0.8
"""Splits of the table behind the accuracy, and the share of the records that each trains on."""

LEVEL = 0.95
LIKE_PRIOR = 0.05
"""The mean distance of two distribution functions below which a release is called all but the prior."""

NEAR = 0.05
"""An answer within this distance of the table's own answer is called near."""


@dataclass(frozen=True)
class CellQuestion:
    """How likely is a state of a node, given the states of its parents?

    Attributes:
        cell: The cell of the network's conditional probability tables.
        text: The question as a name on an axis: "probability of bronc = yes if smoke = yes".
    """

    cell: int
    text: str

    @property
    def title(self) -> str:
        """The question as a title."""
        return self.text[0].upper() + self.text[1:]


def question_about(network: Network, cell: int) -> CellQuestion:
    """Return the question that one cell answers.

    Args:
        network: The network.
        cell: The cell.

    Returns:
        The question.

    Example:
        >>> import dpbayes as dp
        >>> question_about(dp.chain(2), 3).text
        'probability of B=1 if A=0'
    """
    event, _, given = network.cell_label(cell).partition(" | ")
    return CellQuestion(cell, f"probability of {event}{f' if {given}' if given else ''}")


@dataclass(frozen=True, eq=False)
class CuratorInputs:
    """What a curator's board is computed from.

    Attributes:
        mechanism_at: The mechanism at an epsilon.
        counts: The true counts.
        question: The question that the large picture answers.
        is_noise_aware: Whether the reader of a release accounts for its noise.
        fourier_at: The Fourier mechanism at an epsilon, whose counts are compared; None for nodes that are not binary.
        table: The records, for the accuracy of predictions; None without them.
        target: The column that is predicted.
        seed: The seed of the simulated releases.
        releases: Simulated releases at each stop.
        facts: What the board states of its data, by name.
    """

    mechanism_at: Callable[[float], Mechanism[Outcome]]
    counts: Counts
    question: CellQuestion
    is_noise_aware: bool = True
    fourier_at: Callable[[float], Mechanism[Outcome]] | None = None
    table: Dataset | None = None
    target: str = ""
    seed: int = 1
    releases: int = RELEASES
    facts: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def exact(self) -> Dirichlets:
        """The exact posterior."""
        return self.mechanism_at(1.0).prior.updated(self.counts)


@dataclass(frozen=True, eq=False)
class RecipientInputs:
    """What a recipient's board is computed from: one release at each stop, and public facts.

    Attributes:
        release_at: The release at an epsilon, as a batch of one.
        question: The question that the large picture answers.
        is_noise_aware: Whether the reader accounts for the noise of a release.
        facts: What the board states, by name.
    """

    release_at: Callable[[float], Release[Outcome]]
    question: CellQuestion
    is_noise_aware: bool = True
    facts: Mapping[str, str] = field(default_factory=dict)


POSTERIOR = Panel(
    "posterior",
    "What the public sees",
    "The density of the answer in this release, and the answers of other possible releases as dots.",
    large=True,
    action="Draw another",
)
DIVERGENCE = Panel("divergence", "How far from the truth?", "KL divergence of the released posterior against epsilon.")
SIGNS = Panel("signs", "Can counts turn negative?", "How often no released count is negative, against epsilon.")
ACCURACY = Panel("accuracy", "Do predictions survive?", "Accuracy of predictions from a release against epsilon.")

SLIDER = slider_of(
    "epsilon",
    EPSILON,
    label="Privacy loss ε",
    help="Small ε: no record shows, and little can be learned. Large ε: the reverse.",
    ends=("more private", "more accurate"),
)


def explore(inputs: CuratorInputs, *, value: str = "1") -> View:
    """Return the curator's board: the answer in the table and in releases, and three pictures against epsilon.

    Args:
        inputs: The table's counts and the mechanism.
        value: The epsilon that is shown first.

    Returns:
        A view whose stops are the epsilons of the slider. It contains exact values, which are not private.
    """
    panels = (POSTERIOR, DIVERGENCE, SIGNS, *((ACCURACY,) if inputs.table is not None else ()))
    board = Board("explore", inputs.question.title, panels, {}, value, SLIDER, inputs.facts, private=True)
    pictures = _Pictures(inputs)
    return View(board, lambda stop: _frames(inputs, float(stop), pictures.at(float(stop))))


def one_answer(inputs: CuratorInputs, *, value: str = "1") -> View:
    """Return the large picture of Explore alone: the answer in the table and in releases.

    Args:
        inputs: The table's counts and the mechanism.
        value: The epsilon that is shown first.

    Returns:
        A view whose stops are the epsilons of the slider, without its explanation. It contains exact values, which
        are not private.
    """
    slider = replace(SLIDER, help="")
    board = Board("answer", inputs.question.title, (POSTERIOR,), {}, value, slider, inputs.facts, private=True)
    return View(board, lambda stop: _frames(inputs, float(stop), ({}, {})))


def explore_release(inputs: RecipientInputs, *, value: str = "1") -> View:
    """Return the recipient's board: the answer in one release at each epsilon.

    Args:
        inputs: The releases and public facts.
        value: The epsilon that is shown first.

    Returns:
        A view that contains nothing but what the releases contain. Two tables with the same releases have the same
        board.
    """
    panel = replace(POSTERIOR, action="", alt="The density of the answer in this release.")
    board = Board("explore", inputs.question.title, (panel,), {}, value, SLIDER, inputs.facts)

    def frames_at(stop: str) -> tuple[Frame, ...]:
        release = inputs.release_at(float(stop))
        read = _read(release, inputs.question, is_noise_aware=inputs.is_noise_aware)
        shown = None if read.densities is None else read.densities[0]
        top = frame_height(np.zeros(len(THETA)) if shown is None else shown)
        answers = Answers(THETA, shown, read.means[:1], 0, None, is_prior=False, top=top)
        figure = answer_figure(answers, name=inputs.question.text)
        headline = f"ε = {stop}: this release answers {numeral(float(read.means[0]), 2)}{_likely(read)}."
        numbers = {"released": float(read.means[0])}
        return (Frame(headline, {"posterior": figure}, (belief_sentence(release.guarantee),), numbers=numbers),)

    return View(board, frames_at)


# One answer in many releases


@dataclass(frozen=True, eq=False)
class _Read:
    """One answer in R releases: `means` (R,), and for posteriors the `densities` (D, grid) of the first ones."""

    means: FloatArray
    densities: FloatArray | None
    interval: tuple[float, float] | None = None
    """The credible interval of the first release."""


def _read(release: Release[Outcome], question: CellQuestion, *, is_noise_aware: bool) -> _Read:
    """Read one answer from a batch of releases, as the recipient does."""
    outcome = release.outcome
    if not isinstance(outcome, ReleasedPosterior):
        return _Read(outcome.probabilities[..., question.cell], None)
    means = _marginals(release, question.cell, is_noise_aware=is_noise_aware, points=POINTS).mean[..., 0]
    first = release.part(slice(0, DRAWN))
    drawn = _marginals(first, question.cell, is_noise_aware=is_noise_aware, points=DRAWN_POINTS)
    low, high = drawn.part(slice(0, 1)).interval(LEVEL)
    interval = float(low[0, 0]), float(high[0, 0])
    return _Read(means, np.exp(drawn.log_density(THETA[:, None]))[..., 0], interval)


def _likely(read: _Read) -> str:
    """State the credible interval of the first release, if it has one."""
    if read.interval is None:
        return ""
    low, high = (numeral(end, 2) for end in read.interval)
    return f", and the table's answer lies between {low} and {high} with 95 % probability"


def _frames(
    inputs: CuratorInputs, epsilon: float, beside: tuple[Mapping[str, Figure], Mapping[str, str]]
) -> tuple[Frame, ...]:
    """Return the frames of the answer at an epsilon, with the figures and captions of the pictures beside it."""
    mechanism, exact = inputs.mechanism_at(epsilon), float(inputs.exact.mean[inputs.question.cell])
    rng = stream(inputs.seed, "explore", type(mechanism).__name__)
    release = simulated(mechanism, inputs.counts, rng, (_releases(inputs, MOST_VALUES),))
    read = _read(release, inputs.question, is_noise_aware=inputs.is_noise_aware)
    low, high = (float(end) for end in np.quantile(read.means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2)))
    is_prior = read.densities is not None and _is_prior(inputs, read.densities)
    headline = (
        f"ε = {numeral(epsilon)}: an answer of {numeral(exact, 2)} comes out as {numeral(low, 2)} to "
        f"{numeral(high, 2)} in 95 of 100 releases."
    )
    shown = read.means[:SHOWN]
    near = int(np.count_nonzero(np.abs(shown - exact) <= NEAR))
    error = float(np.abs(read.means - exact).mean())
    caption = (
        f"The mean absolute error is {numeral(error, 2)}; {near} of {len(shown)} possible releases answer within "
        f"{NEAR:g} of the table's {numeral(exact, 2)}."
    )
    if is_prior:
        caption = f"With so much noise, every reader falls back to the prior. {caption}"
    figures, captions = beside
    numbers = {"exact": exact, "low": low, "high": high, "near": float(near), "error": error}
    return tuple(
        Frame(
            headline,
            {"posterior": _answer_figure(inputs, read, k, is_prior=is_prior), **figures},
            (belief_sentence(mechanism.certified),),
            {"posterior": f"This release answers {numeral(float(shown[k]), 2)}. {caption}", **captions},
            numbers | {"released": float(shown[k])},
        )
        for k in range(min(DRAWN, len(shown)))
    )


def _releases(inputs: CuratorInputs, most: int) -> int:
    """Return how many releases have at most so many values: fewer of a large network, or if each has many samples."""
    values = inputs.exact.network.cell_count * getattr(inputs.mechanism_at(1.0), "draws", 1)
    return max(FEWEST, min(inputs.releases, most // values))


def _answer_figure(inputs: CuratorInputs, read: _Read, this: int, *, is_prior: bool) -> Figure:
    exact = density(inputs.exact, inputs.question.cell, THETA)
    shown = None if read.densities is None else read.densities[this]
    answers = Answers(THETA, shown, read.means[:SHOWN], this, exact, is_prior=is_prior, top=frame_height(exact))
    return answer_figure(answers, name=inputs.question.text, colour=inputs.mechanism_at(1.0).colour)


def _marginals(release: Release[Outcome], cell: int, *, is_noise_aware: bool, points: int) -> BetaMixtures:
    """Return the distribution of one cell in every release: (releases, S, 1)."""
    if is_noise_aware and release.tells_noise:
        return release.noise_aware_cells(np.array([cell]), points=points)
    posterior = release.posterior
    a, b = posterior.alpha[..., None, [cell]], posterior.rest_of(cell)[..., None, None]
    return BetaMixtures(a, b, np.ones_like(a))


def _is_prior(inputs: CuratorInputs, densities: FloatArray) -> bool:
    """Whether the densities (releases, grid) of most releases are all but that of the prior."""
    prior = density(inputs.mechanism_at(1.0).prior, inputs.question.cell, THETA)
    distances = np.abs(np.cumsum(densities - prior, axis=-1)).mean(axis=-1) * (THETA[1] - THETA[0])
    return bool(np.median(distances) < LIKE_PRIOR)


# The pictures against epsilon


@dataclass(frozen=True, eq=False)
class _Pictures:
    """The three pictures against epsilon, which are computed once for all stops."""

    inputs: CuratorInputs

    @cached_property
    def curves(self) -> EpsilonCurves | None:
        """Simulated releases at each epsilon of the grid; None of a large network."""
        inputs = self.inputs
        if inputs.releases < LEAST_RELEASES or _releases(inputs, MOST_AT_ONCE) < LEAST_RELEASES:
            return None
        releases = max(LEAST_RELEASES, min(200, _releases(inputs, MOST_VALUES // len(GRID))))
        rng = stream(inputs.seed, "explore", "curves")
        return epsilon_curves(inputs.mechanism_at, inputs.counts, GRID, rng, releases=releases)

    @cached_property
    def bound(self) -> Bound | None:
        """Theorem 1 of [Zhang16] at the stops, for Laplace noise."""
        mechanism = self.inputs.mechanism_at(1.0)
        if type(mechanism) is not LaplaceUpdates or mechanism.noise is not Noise.REAL:
            return None
        return posterior_kl(mechanism.prior, self.inputs.counts, epsilon=np.array(STOPS), delta=0.05).theorem

    @cached_property
    def accuracy(self) -> AccuracyStudy | None:
        """How often each release predicts the target of a held-back record."""
        inputs = self.inputs
        if inputs.table is None or inputs.exact.network.cell_count > MOST_PREDICTED:
            return None
        mechanism, network = inputs.mechanism_at(1.0), inputs.exact.network
        among = [method for method in ALL_METHODS.values() if method.kind is type(mechanism)]
        plan = AccuracyPlan(
            network=network,
            target=inputs.target,
            source=inputs.table,
            epsilons=GRID[::2],
            methods=methods_for(network, (Calibration.CERTIFIED,), among=among),
            training=max(1, int(TRAINING * inputs.table.n)),
            repeats=REPEATS,
            seed=inputs.seed,
        )
        return accuracy_study(plan)

    def at(self, epsilon: float) -> tuple[dict[str, Figure], dict[str, str]]:
        """Return the pictures with the line at an epsilon, and what each shows there."""
        figures, captions = {}, {}
        for key, picture in (("divergence", self._divergence), ("signs", self._signs), ("accuracy", self._accuracy)):
            if (shown := picture(epsilon)) is not None:
                figures[key], captions[key] = shown
        return figures, captions

    def _divergence(self, epsilon: float) -> tuple[Figure, str] | None:
        curves, colour = self.curves, self.inputs.mechanism_at(1.0).colour
        if curves is None:
            return None
        what = "posterior" if curves.of_posteriors else "prediction"
        mean, low, high = curves.divergence_spread
        spread = Spread(Look("releases", colour), curves.epsilons, mean, low, high)
        nats = np.exp(np.interp(np.log(epsilon), np.log(curves.epsilons), np.log(np.maximum(mean, 1e-300))))
        compared, lines = "no bound is proved", list[Curve]()
        if self.bound is not None:
            most = float(np.interp(epsilon, STOPS, self.bound.certified))
            compared = f"at most {numeral(most, 2)} with 95 % probability"
            lines = _bound_lines(self.bound)
        figure = divergence_figure(spread, lines, epsilon=epsilon, what=what)
        return figure, f"{numeral(float(nats), 2)} nats on average ({compared})."

    @cached_property
    def signs(self) -> list[Curve]:
        """How often no count is negative: of the mechanism, and of Fourier at its increment."""
        mechanism, curves = self.inputs.mechanism_at(1.0), self.curves
        if curves is None or not curves.of_posteriors:
            return []
        is_lifted = hasattr(mechanism, "increment")  # other mechanisms clip negative counts to 0
        shares = [(mechanism, curves.epsilons, curves.non_negative if is_lifted else curves.limited == 0)]
        if not is_lifted and self.inputs.fourier_at is not None:
            rng = stream(self.inputs.seed, "explore", "signs")
            lifted = epsilon_curves(self.inputs.fourier_at, self.inputs.counts, GRID[::2], rng, releases=100)
            shares.append((self.inputs.fourier_at(1.0), lifted.epsilons, lifted.non_negative))
        return [
            Curve(Look(one.label, one.colour), x, kept.mean(axis=1), np.full(len(x), np.nan)) for one, x, kept in shares
        ]

    def _signs(self, epsilon: float) -> tuple[Figure, str] | None:
        if not self.signs:
            return None
        here = {
            curve.look.name: share_text(float(np.interp(np.log(epsilon), np.log(curve.x), curve.y)))
            for curve in self.signs
        }
        first, *others = here.items()
        compared = "".join(f" ({name}: {share})" for name, share in others)
        figure = shares_figure(self.signs, epsilon=epsilon, title="no negative count")
        return figure, f"{first[0]}: no count is negative in {first[1]} of releases{compared}."

    def _accuracy(self, epsilon: float) -> tuple[Figure, str] | None:
        study = self.accuracy
        if study is None:
            return None
        figure = accuracy_figure(study.curves, study.plan.grid, epsilon=epsilon)
        exact, *others = [curve for curve in study.curves if curve.look.name != "majority class"]
        here = float(np.interp(np.log(epsilon), np.log(study.plan.grid), others[-1].y)) if others else exact.y[0]
        target = self.inputs.target
        without = share_text(float(exact.y[0]))
        return figure, f"{target} is predicted correctly in {share_text(here)} of records ({without} without privacy)."


def _bound_lines(bound: Bound) -> list[Curve]:
    error = np.full(len(STOPS), np.nan)
    return [
        Curve(Look("proved bound", BOUND), np.array(STOPS), bound.certified, error),
        Curve(Look("as the paper states", BOUND, "dash", width=2), np.array(STOPS), bound.printed, error),
    ]
