"""The same from Python and from the command line."""

import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.experiments.least_epsilon.command import ANSWERS as WORDS
from dpbayes.experiments.least_epsilon.command import NAMES
from dpbayes.sources.named_networks import NAMED
from dpbayes.ui.pages.which_epsilon.asking import ANSWERS, Asking
from dpbayes.ui.session.chosen import kind_called


def recipes(asking: Asking) -> None:
    """Show how the same is asked without the page."""
    with st.expander("The same from Python and from the command line"):
        if not asking.is_published:
            st.caption(
                "The command plans with published networks, or takes a table: `python -m dpbayes.experiments epsilon "
                "--help` says how."
            )
            return
        st.code(command_of(asking), language="bash", wrap_lines=True)
        st.code(python_of(asking), language="python", wrap_lines=True)
        st.caption("Their draws are others than the page’s, so that the last digits may differ.")


def command_of(asking: Asking) -> str:
    """Return the command that asks the same."""
    question, options = asking.question, asking.options
    kind = kind_called(asking.chosen.settings.mechanism)
    name = next(word for word, each in NAMES.items() if each is kind)
    answer = next(word for word, each in WORDS.items() if each is ANSWERS[options.recipient])
    given = " ".join(_quoted(f"{node}={state}") for node, state in question.evidence.items())
    mechanism = asking.mechanism(kind.__name__)
    values = {each: getattr(mechanism, each) for each in parameters_of(kind) if each != "epsilon"}
    turned = " ".join(_quoted(f"{each}={getattr(value, 'value', value)}") for each, value in values.items())
    parts = [
        ".venv/bin/python -m dpbayes.experiments epsilon",
        f"--network {_key(asking)}",
        f"--target {_quoted(f'{question.target}={question.state}')}",
        f"--given {given}" if given else "",
        f"--within {options.tolerance:g} --confidence {options.confidence:g} --records {options.records}",
        f"--mechanism {name}" + (f" --set {turned}" if turned else ""),
        f"--prior {asking.chosen.settings.prior:g} --answer {answer}",
    ]
    return " ".join(part for part in parts if part)


def python_of(asking: Asking) -> str:
    """Return the Python that asks the same, of the mechanism's parameters as they come."""
    question, options = asking.question, asking.options
    answer = "AS_REAL" if WORDS["as-real"] is ANSWERS[options.recipient] else "NOISE_AWARE"
    return f"""import numpy as np
import dpbayes as dp
from dpbayes.experiments.least_epsilon.answers import {answer}, Question
from dpbayes.experiments.least_epsilon.search import Wish, least_epsilon
from dpbayes.experiments.least_epsilon.tables import planned_tables

rng = np.random.default_rng(1)
network, cpts = dp.load_named({_key(asking)!r})
wish = Wish(
    mechanism=dp.{asking.chosen.settings.mechanism}(prior=network, epsilon=1),
    question=Question(network, {question.target!r}, {question.state!r}, {dict(question.evidence)!r}),
    tables=planned_tables(network, cpts, {options.records}, {answer}.draws, rng),
    tolerance={options.tolerance:g},
    confidence={options.confidence:g},
    draws={answer}.draws,
    answer={answer},
)
print(least_epsilon(wish, rng).epsilon)"""


def _key(asking: Asking) -> str:
    settings = asking.chosen.settings
    key = settings.graph or settings.source
    assert key in NAMED
    return key


def _quoted(text: str) -> str:
    return text if text.replace("=", "").replace(".", "").replace("_", "").isalnum() else f"'{text}'"
