"""The least epsilon from the command line: the question, its tolerance, and what that epsilon means."""

import argparse
import math
from dataclasses import asdict, dataclass, replace
from typing import Annotated, Any

from dpbayes.audit.risk import risk, sentences
from dpbayes.base.parameters import Choice, Parameter, parameters_of, read
from dpbayes.base.randomness import seed_of, stream
from dpbayes.base.text import near_one, numeral
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.experiments.accuracy.curves.any_mechanism import typical
from dpbayes.experiments.commands.options import add_network, add_settings, network_of, settings_given, table_of
from dpbayes.experiments.least_epsilon.answers import AS_REAL, NOISE_AWARE, Question
from dpbayes.experiments.least_epsilon.planning import least_records, most_records
from dpbayes.experiments.least_epsilon.search import least_epsilon
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.experiments.least_epsilon.wish import LEAST_DRAWS, MOST_DRAWS, LeastEpsilon, Measure, Wish
from dpbayes.mechanisms import MECHANISMS, PRIVATE, NetworkMechanism, Outcome
from dpbayes.mechanisms.base import rule_for
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.model.counts import Counts, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.prior_rules import PRIOR, PriorRule
from dpbayes.sources.named_networks import load_named
from dpbayes.sources.synthetic import MAX_RECORDS

NAMES = {kind.label.split(" (")[0].lower().replace(" ", "-"): kind for kind in MECHANISMS}

ANSWERS = {"as-real": AS_REAL, "noise-aware": NOISE_AWARE}

NOT_PRIVATE = (
    "Not private (curator view): this answer was computed from the records, and an epsilon chosen by it depends on "
    "them. An answer planned without a table costs no privacy."
)
"""The notice on every answer that was computed from a real table."""

EVERY = "every"
"""The name for all mechanisms that have an epsilon."""

AFTERWARDS = 5
"""The number of releases from one table whose risk is stated in addition to the risk of one release."""


def _chance(typical: float, title: str) -> Parameter:
    return Parameter("", low=1e-9, high=1 - 1e-9, typical=typical, title=title)


@dataclass(frozen=True, kw_only=True)
class PlannedRecords:
    """The size of the tables that are sampled from a network."""

    records: Annotated[
        int, Parameter("n", 0, MAX_RECORDS, 1000, log=True, whole=True, title="planned records, without a table")
    ] = 1000


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The required accuracy of an answer."""

    within: Annotated[
        float,
        Parameter(
            "", 0, 1, 0.05, title="tolerance", description="The largest error of an answer, or width of an interval."
        ),
    ] = 0.05
    confidence: Annotated[float, Parameter("", 0.01, 0.999, 0.95, title="share of releases within the tolerance")] = (
        0.95
    )
    measure: Annotated[Measure, Choice(Measure, title="quantity to bound")] = Measure.ERROR


@dataclass(frozen=True, kw_only=True)
class PriorAndSeed:
    """The prior, and the seed of the releases."""

    prior: Annotated[PriorRule, PRIOR] = PriorRule()
    seed: Annotated[int, seed_of("tables and releases")] = 1


@dataclass(frozen=True, kw_only=True)
class Suspected:
    """A belief about one record, and a higher level that it may exceed. Errors: InputError for another order."""

    suspicion: Annotated[float, _chance(0.1, "an attacker's belief about one record")] = 0.1
    level: Annotated[float, _chance(0.2, "level that the belief may exceed")] = 0.2

    def __post_init__(self) -> None:
        if not self.level > self.suspicion:
            raise InputError(f"--level must be above --suspicion; {self.level:g} is not above {self.suspicion:g}.")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options that `run` reads."""
    where = parser.add_argument_group("network and records")
    add_network(where)
    add_settings(where, PlannedRecords)
    args = parser.add_argument_group("question")
    args.add_argument(
        "--target",
        metavar="NODE=STATE",
        required=True,
        help="the node and the state of the probability; without a state, the first one",
    )
    args.add_argument(
        "--given", metavar="NODE=STATE", nargs="+", default=[], help="the evidence: one or more nodes with their states"
    )
    add_settings(args, Wanted)
    args.add_argument("--epsilon", metavar="E", help="also print how many planned records this epsilon needs")
    how = parser.add_argument_group("mechanism and recipient")
    how.add_argument(
        "--mechanism",
        metavar="NAME",
        default="laplace",
        help=f"one of {', '.join(NAMES)}; or {EVERY}, for one line per mechanism (default: %(default)s)",
    )
    how.add_argument(
        "--set", metavar="NAME=VALUE", nargs="+", default=[], help="other parameters of the mechanism, such as t=0"
    )
    how.add_argument(
        "--answer",
        default="as-real",
        help=f"reading of the recipient: {' (naive) or '.join(ANSWERS)} (default: %(default)s)",
    )
    draws = ", ".join(f"{answer.draws:,} {name}" for name, answer in ANSWERS.items())
    how.add_argument(
        "--draws",
        metavar="R",
        help=f"the number of simulated releases (default: {draws})",
    )
    add_settings(how, PriorAndSeed)
    add_settings(parser.add_argument_group("meaning of the epsilon for one person"), Suspected)


def run(args: argparse.Namespace) -> str:
    """Return the least epsilon of these options and its meaning as plain lines. Errors: InputError."""
    simulated = settings_given(PriorAndSeed, args)
    suspected, seed = settings_given(Suspected, args), simulated.seed
    if args.mechanism == EVERY:
        return "\n".join([*_mark(args), *_of_every_mechanism(args, simulated)])
    wish = _wish(args, simulated)
    needed = _records_needed(args, wish, seed)
    least = least_epsilon(wish, stream(seed, "least epsilon"))
    risks = [
        risk(least.mechanism, n=wish.tables.n, releases=releases, **asdict(suspected)) for releases in (1, AFTERWARDS)
    ]
    return "\n".join([*_mark(args), *lines(least), *needed, sentences(risks)])


def _mark(args: argparse.Namespace) -> list[str]:
    """Return the notice for answers from a real table."""
    return [NOT_PRIVATE] if args.table else []


def _of_every_mechanism(args: argparse.Namespace, simulated: PriorAndSeed) -> list[str]:
    """Return a line for each mechanism that has an epsilon: its least epsilon, or why there is none."""
    if args.set or args.epsilon:
        raise InputError(f"--set and --epsilon need a single mechanism. Leave them out, or replace {EVERY} by a name.")
    answers = []
    for name, kind in NAMES.items():
        if kind not in PRIVATE:
            continue
        wish = _wish(argparse.Namespace(**vars(args) | {"mechanism": name}), simulated)
        try:
            answers.append(f"{kind.label}: {lines(least_epsilon(wish, stream(simulated.seed, 'least epsilon')))[0]}")
        except InputError as error:
            answers.append(f"{kind.label}: {error}")
    return answers


def _records_needed(args: argparse.Namespace, wish: Wish, seed: int) -> list[str]:
    """Return a line on how many records --epsilon needs; no line without --epsilon."""
    if not args.epsilon:
        return []
    if not wish.is_planned:
        raise InputError("--epsilon needs planned records. State a --network and leave out --table.")
    epsilon = finite_number("--epsilon", args.epsilon, low=EPSILON.low, high=EPSILON.high)
    _, cpts = load_named(args.network)
    planned = replace(wish, mechanism=wish.at(epsilon))
    needed = least_records(planned, cpts, stream(seed, "least records"))
    if not math.isfinite(needed.records):
        most = most_records(wish.question.network, wish.draws)
        return [f"Records: ε = {epsilon:g} needs more than {most:,}, the largest number that can be simulated."]
    high = f"{needed.high:,.0f}" if math.isfinite(needed.high) else "infinity (too few releases)"
    return [
        f"Records: ε = {epsilon:g} needs at least {needed.records:,.0f}; 95% interval: {needed.low:,.0f} to {high}."
    ]


def lines(least: LeastEpsilon) -> list[str]:
    """Return lines with the answer, the question and the number of releases."""
    wish, floor = least.wish, least.epsilon <= EPSILON.low
    high = numeral(least.high, 3) if least.high <= EPSILON.high else "infinity (too few releases)"
    low = f"at most {numeral(least.low, 3)}" if least.low <= EPSILON.low else numeral(least.low, 3)
    what = {
        Measure.ERROR: f"within {wish.tolerance:g} of the exact posterior's answer",
        Measure.WIDTH: f"with a 95% credible interval no wider than {wish.tolerance:g}",
    }[wish.measure]
    records = f"{wish.tables.n:,} records"
    table = f"a new table of {records} for each release" if wish.is_planned else f"this table of {records}"
    return [
        f"Least epsilon: {'at most ' if floor else ''}{numeral(least.epsilon, 3)}; 95% interval: {low} to {high}; "
        f"proved: {least.mechanism.certified}.",
        f"Question: {wish.question.text} {what} in {near_one(100 * wish.confidence)}% of releases, read by "
        f"{wish.answer.label}; mechanism: {least.mechanism.named}; {table}.",
        f"Simulated: {wish.draws:,} releases, with the same random numbers at every epsilon.",
    ]


def _wish(args: argparse.Namespace, simulated: PriorAndSeed) -> Wish:
    # All numbers are read before tables are drawn, which may take long.
    if args.answer not in ANSWERS:
        raise InputError(f"--answer must be one of: {', '.join(ANSWERS)}; {brief(args.answer)} is not.")
    answer = ANSWERS[args.answer]
    draws = whole_number("--draws", args.draws or answer.draws, low=LEAST_DRAWS, high=MOST_DRAWS)
    wanted = settings_given(Wanted, args)
    table = table_of(args) if args.table else None
    network = _network(args, table)
    target, state = _pair(args.target)
    question = Question(
        network,
        target,
        state or network.states[network.index(target)][0],
        dict(_whole_pair(word) for word in args.given),
    )
    mechanism = _mechanism(args, network, simulated.prior)
    return Wish(
        mechanism=mechanism,
        question=question,
        tables=_planned(args, draws=draws, seed=simulated.seed) if table is None else count(network, table),
        tolerance=wanted.within,
        confidence=wanted.confidence,
        draws=draws,
        measure=wanted.measure,
        answer=answer,
    )


def _network(args: argparse.Namespace, table: Dataset | None) -> Network:
    if table is None and not args.network:
        raise InputError("Give a --table, or a --network with known probabilities, from which tables are sampled.")
    return network_of(args, table)


def _planned(args: argparse.Namespace, *, draws: int, seed: int) -> Counts:
    planned = settings_given(PlannedRecords, args)
    network, cpts = load_named(args.network)
    return planned_tables(network, cpts, planned.records, draws, stream(seed, "planned tables"))


def _mechanism(args: argparse.Namespace, network: Network, rule: PriorRule) -> NetworkMechanism[Outcome]:
    if args.mechanism not in NAMES:
        raise InputError(f"There is no mechanism {brief(args.mechanism)}; choose one of {', '.join(NAMES)}.")
    kind = NAMES[args.mechanism]
    parameters = {name: parameter for name, parameter in parameters_of(kind).items() if name != "epsilon"}
    texts = dict(_whole_pair(word) for word in args.set)
    for name in texts:
        if name not in parameters:
            raise InputError(
                f"{kind.label} has no parameter {brief(name)}; its parameters are: {', '.join(parameters) or 'none'}."
            )
    # The search sets the epsilon: this one is large because some mechanisms cannot be made at a small one.
    mechanism: Any = typical(kind, prior=rule_for(kind, rule).on(network), epsilon=EPSILON.high)
    turned: NetworkMechanism[Outcome] = replace(
        mechanism, **{n: read(parameters[n], n, text) for n, text in texts.items()}
    )
    return turned


def _pair(word: str) -> tuple[str, str]:
    name, _, value = word.partition("=")
    return name.strip(), value.strip()


def _whole_pair(word: str) -> tuple[str, str]:
    name, value = _pair(word)
    if not name or not value:
        raise InputError(f"{brief(word)} must be a name and a value, such as smoke=yes.")
    return name, value
