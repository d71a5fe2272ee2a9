"""The same from Python."""

from contextlib import suppress

from dpbayes.base.validation import InputError
from dpbayes.experiments.least_epsilon.answers import AS_REAL
from dpbayes.ui.pages.which_epsilon.requirement import AccuracyRequirement
from dpbayes.ui.widgets.from_python import (
    FACE,
    STREAM,
    counts_in_python,
    mechanism_in_python,
    program,
    public_cpts_in_python,
    same_from_python,
)


def recipes(goal: AccuracyRequirement) -> None:
    """Show how the same question is answered without the page."""
    with suppress(InputError):  # the page states why nothing can be simulated
        same_from_python(python_of(goal), name="which_epsilon", chosen=goal.chosen)


def python_of(goal: AccuracyRequirement) -> str:
    """Return the Python that gives the page's answer, of the same draws. Errors: InputError as of `draws`."""
    question, options, name = goal.question, goal.options, goal.chosen.settings.mechanism
    answer = "AS_REAL" if goal.answer(name) is AS_REAL else "NOISE_AWARE"
    seed, draws = goal.chosen.seed, goal.draws(name)
    evidence = dict(question.evidence)
    return program(
        FACE,
        STREAM,
        f"from dpbayes.experiments.least_epsilon.answers import {answer}, Question",
        "from dpbayes.experiments.least_epsilon.search import least_epsilon",
        "from dpbayes.experiments.least_epsilon.wish import Wish",
        _tables(goal, draws),
        mechanism_in_python(goal.mechanism(name)),
        "wish = Wish(",
        "    mechanism=mechanism,",
        f"    question=Question(network, {question.target!r}, {question.state!r}, {evidence!r}),",
        "    tables=tables,",
        f"    tolerance={options.tolerance!r},",
        f"    confidence={options.confidence!r},",
        f"    draws={draws!r},",
        f"    answer={answer},",
        ")",
        f'print(least_epsilon(wish, stream({seed!r}, "which_epsilon", "least")).epsilon)',
    )


def _tables(goal: AccuracyRequirement, draws: int) -> str:
    """Return the code that makes `network` and the `tables` whose releases are simulated."""
    if goal.counts is not None:
        return f"{counts_in_python(goal.chosen)}\ntables = counts  # of the records themselves: not private"
    return "\n".join(
        [
            "from dpbayes.experiments.least_epsilon.tables import planned_tables",
            public_cpts_in_python(goal.chosen),
            f'rng = stream({goal.chosen.seed!r}, "which_epsilon", "tables")',
            f"tables = planned_tables(network, probabilities, {goal.n!r}, {draws!r}, rng)",
        ]
    )
