"""A simulated release as one sheet for a class or a board: question, guarantee, one picture, and its limits."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import islice

from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import in_hundred, interval_texts, numeral, numeral_above
from dpbayes.releases.views.paper import items, paper, probability_bar

MOST_STATES = 24
"""The largest number of states of the question on the sheet."""


@dataclass(frozen=True)
class Handout:
    """A question about a network, and the answer of one simulated release of `n` records of `table`.

    `answer` has the probability of each state, by its name, and `intervals` the 95% credible intervals if the release
    has a posterior. `warning` concerns an answer that depends mainly on the prior. `published` has the published names
    of nodes and states with other names in the question.
    """

    question: str
    table: str
    n: int
    mechanism: str
    guarantee: Guarantee
    answer: Mapping[str, float]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    warning: str = ""
    published: Mapping[str, str] = field(default_factory=dict)


def html_handout(handout: Handout) -> str:
    """Return the sheet, which states that it shows a simulation. A real release has a report instead."""
    shown = dict(islice(handout.answer.items(), MOST_STATES))
    bars = "".join(probability_bar(state, share, handout.intervals.get(state)) for state, share in shown.items())
    more = len(handout.answer) - len(shown)
    rest = f"<p>There are {more:,} more states.</p>" if more else ""
    return paper(
        f"Simulation: what would a release state about {handout.question}?",
        "<p><strong>This is a simulation, not a release. The seeded noise protects nothing.</strong></p>\n"
        f"<ol>{items(_sentences(handout))}</ol>\n"
        f'<h2>One simulated answer: {escape(handout.question)}</h2>\n<div class="bars">{bars}</div>{rest}\n'
        f"<h2>Privacy guarantee of a real release</h2>\n<p>{escape(in_words(handout.guarantee))}</p>\n"
        f"<h2>Not protected</h2>\n<ul>{items(_not_protected(handout))}</ul>\n",
    )


def in_words(guarantee: Guarantee) -> str:
    """Return the effect of one record under a guarantee, for people who do not know epsilon."""
    if not guarantee.is_private:
        return "There is no guarantee: the answer can reveal everything about a record."
    times = numeral_above(math.exp(guarantee.epsilon)) if guarantee.epsilon < 700 else "more than 10³⁰⁰"
    most = in_hundred(1 / (1 + math.exp(-guarantee.epsilon)))
    sure = "almost 100%" if most == "100" else f"at most {most}%"
    event = f"replacing one record makes no outcome more than {times} times as probable"
    if guarantee.delta:
        return f"{guarantee}: {event}, except with probability {numeral(guarantee.delta)}."
    return (
        f"{guarantee}: {event}. An attacker’s 50% belief about one person can rise to {sure}, whatever else the "
        "attacker knows."
    )


def _sentences(handout: Handout) -> list[str]:
    likely = max(handout.answer, key=lambda state: handout.answer[state])
    names = ", ".join(f"“{name}” is called {published}" for name, published in handout.published.items())
    return [
        *([f"In the table, {names}."] if names else []),
        f"The table is {handout.table} with {handout.n:,} records.",
        f"The mechanism is {handout.mechanism} with {handout.guarantee}.",
        f"This simulated release estimates the probability of “{likely}” at {_estimate(handout, likely)}.",
        *([handout.warning] if handout.warning else []),
        "Another release of the same table would have different noise and a different estimate.",
    ]


def _estimate(handout: Handout, state: str) -> str:
    """Return a probability with its interval, if it has one."""
    estimate = numeral(handout.answer[state], 2)
    if state not in handout.intervals:
        return estimate
    return f"{estimate}, with a 95% interval from {' to '.join(interval_texts(*handout.intervals[state]))}"


def _not_protected(handout: Handout) -> list[str]:
    return [
        f"The number of records ({handout.n:,}), the columns, their states and the graph are public.",
        "A release shows facts about people in general, which also apply to people outside the table.",
        "The guarantee covers one record. It is weaker for a person with several records.",
        "The privacy losses of further releases of the same table add up.",
    ]
