"""The least epsilon from the command line: what is asked, how near, how often, and what that epsilon means."""

import argparse
import math
from dataclasses import replace
from typing import Any

from dpbayes.audit.risk import risk, sentences
from dpbayes.base.parameters import parameters_of, read
from dpbayes.base.randomness import stream
from dpbayes.base.text import near_one, numeral
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.commands.experiments.asked import network_of, table_of
from dpbayes.experiments.accuracy.any_mechanism import typical
from dpbayes.experiments.least_epsilon.answers import AS_REAL, NOISE_AWARE, Question
from dpbayes.experiments.least_epsilon.planning import least_records, most_records
from dpbayes.experiments.least_epsilon.search import (
    LEAST_DRAWS,
    MOST_DRAWS,
    LeastEpsilon,
    Measure,
    Wish,
    least_epsilon,
)
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.mechanisms import MECHANISMS, PRIVATE, NetworkMechanism, Outcome
from dpbayes.mechanisms.base import EPSILON
from dpbayes.model.counts import Counts, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR, Dirichlets
from dpbayes.sources.named_networks import NAMED, load_named
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.sources.synthetic import MAX_RECORDS

NAMES = {kind.label.split(" (")[0].lower().replace(" ", "-"): kind for kind in MECHANISMS}

ANSWERS = {"as-real": AS_REAL, "noise-aware": NOISE_AWARE}

NOT_PRIVATE = (
    "For the curator only, not private: this was worked out on the records themselves, so that it, and an epsilon "
    "chosen by it, tell of them. Planned without a table it would cost nothing."
)
"""Beside every answer that a real table gave."""

EVERY = "every"
"""Stands for all mechanisms that have an epsilon."""

AFTERWARDS = 5
"""Releases from one table whose risk is told beside that of one."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the words that `run` reads."""
    where = parser.add_argument_group("network and records")
    where.add_argument("--network", metavar="KEY", help=f"a published network: {', '.join(NAMED)}")
    where.add_argument("--arrows", metavar="TEXT", help="a graph as lines 'parent -> child', or a file of them")
    where.add_argument("--states", metavar="JSON", help="states of the nodes of --arrows; all of a file")
    where.add_argument("--table", metavar="KEY", help=f"{', '.join(SHIPPED)}, or a file with --states")
    where.add_argument("--records", metavar="N", default="1000", help="without a table: planned records (%(default)s)")
    asked = parser.add_argument_group("what is asked")
    asked.add_argument(
        "--target", metavar="NODE=STATE", required=True, help="whose probability; its first state if none"
    )
    asked.add_argument("--given", metavar="NODE=STATE", nargs="+", default=[], help="the evidence")
    asked.add_argument("--within", default="0.05", help="largest error, or width, of an answer (%(default)s)")
    asked.add_argument("--epsilon", metavar="E", help="without a table: say too how many records this one would need")
    asked.add_argument("--confidence", default="0.95", help="share of releases that keep to it (%(default)s)")
    asked.add_argument(
        "--measure", default="error", help=f"{' or '.join(kind.value for kind in Measure)} (%(default)s)"
    )
    how = parser.add_argument_group("how it is answered")
    how.add_argument(
        "--mechanism",
        metavar="NAME",
        default="laplace",
        help=f"one of {', '.join(NAMES)}; or {EVERY}, one line each (%(default)s)",
    )
    how.add_argument("--set", metavar="NAME=VALUE", nargs="+", default=[], help="its other parameters, such as t=0")
    how.add_argument("--prior", default="1", help="every Dirichlet parameter (%(default)s)")
    how.add_argument("--answer", default="as-real", help=f"how it is read: {' or '.join(ANSWERS)} (%(default)s)")
    how.add_argument(
        "--draws",
        metavar="R",
        help=f"simulated releases ({', '.join(f'{each.draws:,} {name}' for name, each in ANSWERS.items())})",
    )
    how.add_argument("--seed", default="1", help="(%(default)s)")
    meant = parser.add_argument_group("what the epsilon means")
    meant.add_argument("--suspicion", default="0.1", help="what somebody believes of one record (%(default)s)")
    meant.add_argument("--level", default="0.2", help="which that belief may pass (%(default)s)")


def run(asked: argparse.Namespace) -> str:
    """Return the least epsilon that was asked for, with what it means, as plain lines. Errors: InputError."""
    seed = whole_number("--seed", asked.seed, low=0, high=2**32 - 1)
    suspicion, level = (
        finite_number(f"--{name}", getattr(asked, name), low=1e-9, high=1 - 1e-9) for name in ("suspicion", "level")
    )
    if not level > suspicion:
        raise InputError(f"--level must be above --suspicion; {level:g} is not above {suspicion:g}.")
    if asked.mechanism == EVERY:
        return "\n".join([*_mark(asked), *_of_every_mechanism(asked, seed)])
    wish = _wish(asked, seed)
    needed = _records_needed(asked, wish, seed)
    least = least_epsilon(wish, stream(seed, "least epsilon"))
    risks = [
        risk(least.mechanism, n=wish.tables.n, releases=releases, suspicion=suspicion, level=level)
        for releases in (1, AFTERWARDS)
    ]
    return "\n".join([*_mark(asked), *lines(least), *needed, sentences(risks)])


def _mark(asked: argparse.Namespace) -> list[str]:
    """Return the mark of what real records have a part in."""
    return [NOT_PRIVATE] if asked.table else []


def _of_every_mechanism(asked: argparse.Namespace, seed: int) -> list[str]:
    """Return a line for each mechanism that has an epsilon, as it comes: its least epsilon, or why there is none."""
    if asked.set or asked.epsilon:
        raise InputError(f"--set and --epsilon are about one mechanism; leave them out, or name one, not {EVERY}.")
    told = []
    for name, kind in NAMES.items():
        if kind not in PRIVATE:
            continue
        wish = _wish(argparse.Namespace(**vars(asked) | {"mechanism": name}), seed)
        try:
            told.append(f"{kind.label}: {lines(least_epsilon(wish, stream(seed, 'least epsilon')))[0]}")
        except InputError as error:
            told.append(f"{kind.label}: {error}")
    return told


def _records_needed(asked: argparse.Namespace, wish: Wish, seed: int) -> list[str]:
    """Return how many records the epsilon that is asked about would need, as a line, if one is."""
    if not asked.epsilon:
        return []
    if not wish.is_planned:
        raise InputError("How many records an --epsilon needs is planned from a --network; leave the --table out.")
    epsilon = finite_number("--epsilon", asked.epsilon, low=EPSILON.low, high=EPSILON.high)
    _, cpts = load_named(asked.network)
    planned = replace(wish, mechanism=wish.at(epsilon))
    needed = least_records(planned, cpts, stream(seed, "least records"))
    if not math.isfinite(needed.records):
        return [f"Records: up to {most_records(wish):,} are too few for ε = {epsilon:g}."]
    high = f"{needed.high:,.0f}" if math.isfinite(needed.high) else "no upper end known from so few draws"
    return [f"Records: ε = {epsilon:g} does from {needed.records:,.0f} on; 95 % interval: {needed.low:,.0f} to {high}."]


def lines(least: LeastEpsilon) -> list[str]:
    """Return the answer, what was asked, and from how many draws."""
    wish, floor = least.wish, least.epsilon <= EPSILON.low
    high = numeral(least.high, 3) if least.high <= EPSILON.high else "no upper end known from so few draws"
    low = f"at most {numeral(least.low, 3)}" if least.low <= EPSILON.low else numeral(least.low, 3)
    what = {
        Measure.ERROR: f"within {wish.tolerance:g} of the exact posterior's answer",
        Measure.WIDTH: f"with a 95 % credible interval no wider than {wish.tolerance:g}",
    }[wish.measure]
    records = f"{wish.tables.n:,} records"
    table = f"a new table of {records} for each draw" if wish.is_planned else f"this table of {records}"
    return [
        f"Least epsilon: {'at most ' if floor else ''}{numeral(least.epsilon, 3)}; 95 % interval: {low} to {high}; "
        f"certified: {least.mechanism.certified}.",
        f"Asked: {wish.question.text} {what} in {near_one(100 * wish.confidence)} % of releases, answered with "
        f"{wish.answer.label}; mechanism: {least.mechanism.named}; {table}.",
        f"Simulated: {wish.draws:,} releases, at every epsilon with the same luck.",
    ]


def _wish(asked: argparse.Namespace, seed: int) -> Wish:
    # All numbers are read before tables are drawn, which may take long.
    if asked.answer not in ANSWERS:
        raise InputError(f"--answer must be one of: {', '.join(ANSWERS)}; {brief(asked.answer)} is not.")
    answer = ANSWERS[asked.answer]
    draws = whole_number("--draws", asked.draws or answer.draws, low=LEAST_DRAWS, high=MOST_DRAWS)
    prior_value = finite_number("--prior", asked.prior, low=LEAST_PRIOR, high=MOST_PRIOR)
    within, confidence = (
        finite_number(f"--{name}", getattr(asked, name), low=0, high=1) for name in ("within", "confidence")
    )
    measures = {kind.value: kind for kind in Measure}
    if asked.measure not in measures:
        raise InputError(f"--measure must be one of: {', '.join(measures)}; {brief(asked.measure)} is not.")
    table = table_of(asked) if asked.table else None
    network = _network(asked, table)
    target, state = _pair(asked.target)
    question = Question(
        network,
        target,
        state or network.states[network.index(target)][0],
        dict(_whole_pair(word) for word in asked.given),
    )
    mechanism = _mechanism(asked, Dirichlets.symmetric(network, prior_value))
    return Wish(
        mechanism=mechanism,
        question=question,
        tables=_planned(asked, draws=draws, seed=seed) if table is None else count(network, table),
        tolerance=within,
        confidence=confidence,
        draws=draws,
        measure=measures[asked.measure],
        answer=answer,
    )


def _network(asked: argparse.Namespace, table: Dataset | None) -> Network:
    asked.features = None
    if table is None and not asked.network:
        raise InputError("Give a --table, or the --network with tables of probabilities from which tables are planned.")
    return network_of(asked, table)


def _planned(asked: argparse.Namespace, *, draws: int, seed: int) -> Counts:
    records = whole_number("--records", asked.records, low=0, high=MAX_RECORDS)
    network, cpts = load_named(asked.network)
    return planned_tables(network, cpts, records, draws, stream(seed, "planned tables"))


def _mechanism(asked: argparse.Namespace, prior: Dirichlets) -> NetworkMechanism[Outcome]:
    if asked.mechanism not in NAMES:
        raise InputError(f"There is no mechanism {brief(asked.mechanism)}; there are {', '.join(NAMES)}.")
    kind = NAMES[asked.mechanism]
    known = {name: parameter for name, parameter in parameters_of(kind).items() if name != "epsilon"}
    texts = dict(_whole_pair(word) for word in asked.set)
    for name in texts:
        if name not in known:
            raise InputError(
                f"{kind.label} has no parameter {brief(name)} to set; it has {', '.join(known) or 'none'}."
            )
    # The search sets the epsilon: this one is large because some mechanisms cannot be made at a small one.
    mechanism: Any = typical(kind, prior=prior, epsilon=EPSILON.high)
    turned: NetworkMechanism[Outcome] = replace(mechanism, **{n: read(known[n], n, text) for n, text in texts.items()})
    return turned


def _pair(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name.strip(), value.strip()


def _whole_pair(word: str) -> tuple[str, str]:
    name, value = _pair(word)
    if not name or not value:
        raise InputError(f"{brief(word)} must be a name and a value, such as smoke=yes.")
    return name, value
