"""Which epsilon: the least one at which the answer to a question is within a tolerance in 95 of 100 releases."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from dpbayes.base.parameters import Parameter
from dpbayes.base.randomness import stream
from dpbayes.base.text import numeral
from dpbayes.boards.against_epsilon import STOPS
from dpbayes.boards.board import Board, Frame, Panel, View, slider_of
from dpbayes.boards.curator import values_in
from dpbayes.experiments.least_epsilon import AnswerErrors, LeastEpsilon, answer_errors
from dpbayes.experiments.planned_tables import Tables
from dpbayes.experiments.releases import MechanismAt
from dpbayes.figures.errors import epsilon_above, error_figure
from dpbayes.model.question import Question
from dpbayes.posteriors.noise_model import Reading

SHARE = 0.95
"""The share of releases whose error must be within the tolerance."""

MOST_RELEASES, LEAST_RELEASES = 800, 100
"""Simulated releases at each epsilon."""

MOST_READ, MOST_SAMPLED = 6_000, 50_000
"""Noise-aware probabilities of all releases at one epsilon, and released values of a mechanism without a posterior."""

TOLERANCE = Parameter(
    "",
    low=1e-3,
    high=0.5,
    typical=0.05,
    log=True,
    title="tolerance",
    description="The largest acceptable difference between the answer of a release and that of the table.",
)

LOOKED = "No guarantee covers an ε that is chosen by looking at the table."
WHY = f"{LOOKED} So made-up tables are used."
"""What holds of the table itself, and why made-up tables are used."""

PRIOR_ANSWERS = "The upper curve first rises: at the smallest ε, releases answer as the prior, a guess without data."
RISE = 1.2
"""What an error that rises before it falls means, and by how many times it rises if this is explained."""


@dataclass(frozen=True, eq=False)
class ToleranceInputs:
    """What the board is computed from.

    Attributes:
        mechanism_at: The mechanism at an epsilon.
        question: The question that must be answered.
        tables: The tables that are released; a recipient's are made up.
        meanings: What nodes mean, by name, where the name does not say it.
        reading: How the reader of a release treats its noise.
        seed: The seed of the simulated releases.
    """

    mechanism_at: MechanismAt
    question: Question
    tables: Tables
    meanings: Mapping[str, str] = field(default_factory=dict)
    reading: Reading = Reading.NOISE_AWARE
    seed: int = 1

    @cached_property
    def releases(self) -> int:
        """How many releases are simulated at each epsilon."""
        mechanism = self.mechanism_at(1.0)
        reads = hasattr(mechanism, "noise_model")
        most = MOST_READ // len(self.question.cells) if reads else MOST_SAMPLED // values_in(mechanism)
        return max(LEAST_RELEASES, min(MOST_RELEASES, most))

    @cached_property
    def errors(self) -> AnswerErrors:
        """The errors at the epsilons of the slider of Explore."""
        return self.errors_at(STOPS)

    def errors_at(self, epsilons: Sequence[float]) -> AnswerErrors:
        """Return the errors at these epsilons. Errors: those of `answer_errors`."""
        rng, tables = stream(self.seed, "which_epsilon"), self.tables.of(self.releases)
        return answer_errors(self.mechanism_at, self.question, tables, epsilons, rng, reading=self.reading)


ERRORS = Panel(
    "errors",
    "How does the error depend on ε?",
    "Two falling curves against epsilon: errors that half and 95 of 100 releases do not exceed.",
    large=True,
    help="Half of the releases have an error below the lower curve, and 95 of 100 one below the upper curve. The range "
    "on Answer leaves out 2.5% of releases on each side instead, so it can be a little off the middle. Where the noise "
    "is less than half a record, a noise-aware reader rounds it away, as counts are whole numbers: both curves drop.",
)


def which_epsilon(inputs: ToleranceInputs) -> View:
    """Return the board of the least epsilon for each tolerance.

    Args:
        inputs: The question, the mechanism and the tables.

    Returns:
        A view whose stops are tolerances. It is private if the tables are the true one.

    Raises:
        InputError: When frames are computed: the mechanism cannot be used, or tables cannot be made.
    """
    slider = slider_of("explore.tolerance", TOLERANCE, label="Acceptable error", ends=("stricter", "looser"))
    title = f"Which ε: {inputs.question.named(inputs.meanings)}"
    board = Board("which-epsilon", title, (ERRORS,), {}, "0.05", slider, private=inputs.tables.is_private)
    return View(board, lambda stop: (_frame(inputs, float(stop)),))


def _frame(inputs: ToleranceInputs, tolerance: float) -> Frame:
    errors, least = inputs.errors, inputs.errors.least(tolerance, SHARE)
    if tolerance >= errors.blind(SHARE):  # no release is needed
        least = LeastEpsilon(math.inf, math.inf, math.inf)
    half, most = errors.within(0.5), errors.within(SHARE)
    needed, colour = epsilon_above(least.epsilon), inputs.mechanism_at(1.0).colour
    figure = error_figure(errors.epsilons, half, most, needed=needed, tolerance=tolerance, colour=colour)
    numbers = {"least epsilon": epsilon_above(least.epsilon)} if math.isfinite(least.epsilon) else {}
    notes = (
        LOOKED if inputs.tables.is_private else WHY,
        f"From {inputs.releases} simulated releases {inputs.tables.text}.",
    )
    caption = PRIOR_ANSWERS * bool(most.max() > RISE * most[0])
    return Frame(_headline(least, errors, tolerance), {"errors": figure}, notes, {"errors": caption}, numbers)


def _headline(least: LeastEpsilon, errors: AnswerErrors, tolerance: float) -> str:
    within = f"within {numeral(tolerance, 3)} of the table’s"
    if tolerance >= (blind := errors.blind(SHARE)):
        return f"No release is needed: a guess without data is {within}. Choose an error below {numeral(blind, 2)}."
    if not math.isfinite(least.epsilon):
        return f"No ε up to {numeral(float(errors.epsilons[-1]))} keeps 95 of 100 answers {within}."
    if least.epsilon <= errors.epsilons[0]:
        return f"Every ε from {numeral(least.epsilon)} on keeps 95 of 100 answers {within}."
    return f"An ε of about {numeral(epsilon_above(least.epsilon))} keeps 95 of 100 answers {within}."
