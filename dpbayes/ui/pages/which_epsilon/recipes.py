"""The same from Python and from the command line."""

import shlex

import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.validation import InputError
from dpbayes.experiments.commands.least_epsilon import ANSWERS as WORDS
from dpbayes.experiments.commands.least_epsilon import NAMES
from dpbayes.mechanisms.base import rule_for
from dpbayes.mechanisms.noise.shares import takes_weights
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.pages.compare.answer import public_cpts_in_python
from dpbayes.ui.pages.which_epsilon.requirement import AccuracyRequirement
from dpbayes.ui.session.chosen import kind_called
from dpbayes.ui.widgets.from_python import (
    DESCRIPTION,
    FACE,
    STREAM,
    counts_in_python,
    description_beside,
    mechanism_in_python,
    program,
)


def recipes(goal: AccuracyRequirement) -> None:
    """Show how the same question is answered without the page."""
    with st.expander("Python and command line"):
        try:
            python = python_of(goal)
        except InputError:
            st.caption("These settings cannot be simulated, either here or in Python.")
            return
        st.code(python, language="python", wrap_lines=True)
        if DESCRIPTION in python:
            description_beside(goal.chosen, "which_epsilon")
        if _has_command(goal):
            st.code(command_of(goal), language="bash", wrap_lines=True)
        st.caption(_command_note(goal))


def _has_command(goal: AccuracyRequirement) -> bool:
    """Return whether the command knows the tables by name: those of a published network, or a shipped one."""
    settings = goal.chosen.settings
    return goal.is_published if goal.counts is None else settings.data in SHIPPED and not settings.graph


def _command_note(goal: AccuracyRequirement) -> str:
    """Return how the command differs from the page, or why there is none."""
    if not _has_command(goal):
        return (
            "The command takes a published network or a file with a table: see `python -m dpbayes.experiments epsilon "
            "--help`."
        )
    note = "The command and this page use different random numbers, so the last digits may differ."
    chosen = goal.chosen
    if takes_weights(kind_called(chosen.settings.mechanism)) and chosen.weights:
        note += " The command gives all tables the same weight."
    return note


def command_of(goal: AccuracyRequirement) -> str:
    """Return the command that asks the same. Errors: InputError where nothing can be simulated."""
    question, options, settings = goal.question, goal.options, goal.chosen.settings
    kind, draws = kind_called(settings.mechanism), goal.draws(settings.mechanism)
    name = next(word for word, candidate in NAMES.items() if candidate is kind)
    answer = next(word for word, candidate in WORDS.items() if candidate is goal.answer(settings.mechanism))
    given = " ".join(shlex.quote(f"{node}={state}") for node, state in question.evidence.items())
    mechanism = goal.mechanism(kind.__name__)
    values = {name: getattr(mechanism, name) for name in parameters_of(kind) if name != "epsilon"}
    turned = " ".join(shlex.quote(f"{name}={getattr(value, 'value', value)}") for name, value in values.items())
    parts = [
        ".venv/bin/python -m dpbayes.experiments epsilon",
        f"--network {settings.fitted}" if goal.counts is None else f"--table {settings.data}",
        f"--target {shlex.quote(f'{question.target}={question.state}')}",
        f"--given {given}" if given else "",
        f"--within {options.tolerance!r} --confidence {options.confidence!r}",
        f"--records {options.records}" if goal.counts is None else "",
        f"--mechanism {name}" + (f" --set {turned}" if turned else ""),
        f"--prior {rule_for(kind, settings.prior)} --answer {answer}",
        f"--draws {draws}" if draws != goal.answer(settings.mechanism).draws else "",
        f"--seed {settings.seed}",
    ]
    return " ".join(part for part in parts if part)


def python_of(goal: AccuracyRequirement) -> str:
    """Return the Python that gives the page's answer, of the same draws. Errors: InputError as of `draws`."""
    question, options, name = goal.question, goal.options, goal.chosen.settings.mechanism
    answer = "AS_REAL" if WORDS["as-real"] is goal.answer(name) else "NOISE_AWARE"
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
