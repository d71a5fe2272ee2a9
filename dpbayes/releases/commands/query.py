"""`query`: the answer of a release to a question, with its credible interval and that of the prior."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from dpbayes.base.command import HOLDS, say
from dpbayes.base.text import numeral, percent
from dpbayes.base.validation import InputError, brief, finite_number
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.network import assignment
from dpbayes.model.query import query
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.releases.commands.view import add_as_real, verified
from dpbayes.releases.views.reading import (
    answer_under,
    intervals_as_text,
    posterior_name,
    posterior_of,
    prior_warning,
    roughness_of,
)


def add_query(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `query`."""
    parser.add_argument("file", type=Path, help="the file of the release, such as release.json")
    parser.add_argument("--target", required=True, metavar="NODE", help="the node of the question")
    parser.add_argument(
        "--given", action="append", default=[], metavar="NODE=STATE", help="the state of another node; may be repeated"
    )
    parser.add_argument(
        "--interval", default=str(LEVEL), metavar="LEVEL", help="the level of the intervals (default: %(default)s)"
    )
    add_as_real(parser)


def _evidence(texts: Sequence[str], names: Sequence[str]) -> dict[str, str]:
    """Return the states of nodes, of which both may contain the sign =. Errors: InputError."""
    evidence = {}
    for text in texts:
        places = [k for k, letter in enumerate(text) if letter == "="]
        place = next((k for k in places if text[:k].strip() in names), None)
        if place is None:
            raise InputError(f"--given takes a node and its state, such as smoke=yes. {brief(text)} names no node.")
        evidence[text[:place].strip()] = text[place + 1 :].strip()
    return evidence


def print_answer(args: argparse.Namespace) -> int:
    """Print the answer of a release that verifies. Errors: InputError, OSError."""
    level = finite_number("--interval", args.interval, low=0, high=1)
    document = verified(args.file)
    network, outcome = document.network, document.tables.outcome
    evidence = _evidence(args.given, network.names)
    states = network.states[network.index(args.target)]
    given = ", ".join(assignment(*pair) for pair in evidence.items())
    question = f"P({args.target} | {given})" if given else f"P({args.target})"
    if not isinstance(outcome, ReleasedPosterior):
        shares = query(network, outcome.probabilities, args.target, evidence)
        say(f"{question}: the released estimate, which has no interval")
        _print_columns([("state", *states), ("probability", *map(numeral, shares))])
        return HOLDS
    law = posterior_of(document.tables, args.reading)
    answer = answer_under(law, outcome.prior, args.target, evidence, level)
    say(f"{question}: {posterior_name(law)}")
    _print_columns(
        [
            ("state", *states),
            ("probability", *map(numeral, answer.mean)),
            (f"{percent(level)} interval", *intervals_as_text(answer)),
            ("prior's interval", *(intervals_as_text(answer.prior) if answer.prior else ())),
        ]
    )
    for sentence in filter(None, (answer.assumes, prior_warning(answer), roughness_of(law))):
        say(sentence)
    return HOLDS


def _print_columns(columns: Sequence[Sequence[str]]) -> None:
    widths = [max(map(len, column)) for column in columns]
    for line in zip(*columns, strict=True):
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())
