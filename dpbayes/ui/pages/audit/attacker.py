"""The simulated attack on the Audit page: one record, two tables, and the attacker's odds after each release."""

from collections.abc import Hashable

import numpy as np
import streamlit as st

from dpbayes.audit.attacker import Attack, log_odds, ratios_of_pair
from dpbayes.audit.entry import TablePair
from dpbayes.audit.report.types import AuditReport
from dpbayes.base import terms
from dpbayes.base.libraries import pd
from dpbayes.base.privacy import Guarantee
from dpbayes.base.randomness import stream
from dpbayes.base.text import escaped, many, probability_text, whole_percent
from dpbayes.base.validation import InputError
from dpbayes.figures.audit import Ceiling, odds_figure
from dpbayes.model.counts import Counts, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.labels import assignment
from dpbayes.model.network import Network
from dpbayes.ui.pages.audit.subject import Audited, digits, network_kind, setting_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.session.options.workflow import AttackedTables, AuditOptions
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.limits import Possible, lowest, nearest, reach_of
from dpbayes.ui.widgets.show import data_and_download, remark, sentence_instead, show_refusal

ATTACKERS = 100
LEAST_ATTACKERS, FEWEST_ATTACKERS = 10, 3
MANY_NUMBERS, MOST_NUMBERS = 1_500_000, 4_000_000
"""The number of released values that is simulated quickly, and the largest number. Larger releases get fewer attackers:
LEAST_ATTACKERS while one release for each is possible, and FEWEST_ATTACKERS for the largest."""

FIRST = 2
"""The default number of throws on side 1."""

NAMED = 8
"""Most values of a record that its description names."""


def attack_section(chosen: Chosen, subject: Audited, report: AuditReport) -> None:
    """Offer the two tables and the attacker's beginning, and show where the odds go."""
    st.subheader("Simulated attack on one record")
    why_not = _why_not(subject)
    if why_not:
        st.caption(why_not)
        return
    left, right = st.columns([1, 2], gap="medium")
    try:
        nearby = possible(chosen, subject)
    except InputError as error:
        show_refusal(error)
        return
    with left, sentence_instead():
        _controls(chosen, subject, nearby)
    with right, sentence_instead():
        remark(nearby.why)
        _attack(chosen, subject, report, nearby.settings)


def _why_not(subject: Audited) -> str:
    entry, tables = subject.entry, subject.hypothetical
    if entry.log_ratios or (tables and tables.attack):
        return entry.not_attacked(subject.mechanism)
    return "No attack is simulated, because the probability of a release under either table is not known."


def possible(chosen: Chosen, subject: Audited) -> Possible:
    """Return the settings of an attack that can be simulated, nearest to the requested settings."""
    requested, choosing = chosen.settings, _choosing(subject)
    if choosing:  # the default value of the box
        requested = requested.with_parameter("audit.first", requested.parameter("audit.first", min(FIRST, subject.n)))
    names = ["audit.releases", *choosing, *(["audit.record"] if subject.n else [])]
    return nearest(
        requested, {name: lowest(name) for name in names}, lambda settings: _attackable(chosen, subject, settings)
    )


def _choosing(subject: Audited) -> list[str]:
    """Return the settings that choose the pair of hypothetical tables."""
    return [setting_of(name) for name in subject.hypothetical.chosen] if subject.hypothetical else []


def _attackable(chosen: Chosen, subject: Audited, settings: Settings) -> None:
    """Errors: InputError for throws, records and releases that there are not, or that would be too many."""
    options, n = settings.options("audit"), subject.n
    if "audit.first" in _choosing(subject) and options.first > n:
        raise InputError(
            f"Side 1 cannot come up {options.first:,} times in {n:,} throws; choose fewer throws on side 1."
        )
    if is_of_a_record(chosen, options) and 0 < n < options.record:
        raise InputError(
            f"There is no record {options.record:,}: the table has {n:,} records. Choose a smaller record number."
        )
    attackers, numbers_per_release = _attackers(subject, options.releases), subject.numbers
    if attackers * options.releases * _worked_on(subject) > MOST_NUMBERS:
        seen = many(options.releases, "release")
        raise InputError(
            f"{attackers:,} attackers who each see {seen} of {numbers_per_release:,} numbers are too many to simulate "
            "at once. Choose fewer releases."
        )


def is_of_a_record(chosen: Chosen, options: AuditOptions) -> bool:
    """Whether the tables are the open table and its neighbour, which only the curator sees."""
    is_real = options.tables is AttackedTables.REAL and not chosen.is_connected
    return network_kind(chosen.settings) is not None and chosen.is_curator and is_real


def _attackers(subject: Audited, releases: int) -> int:
    effort = _worked_on(subject)
    least = LEAST_ATTACKERS if LEAST_ATTACKERS * effort <= MOST_NUMBERS else FEWEST_ATTACKERS
    return max(least, min(ATTACKERS, MANY_NUMBERS // (effort * releases)))


def _worked_on(subject: Audited) -> int:
    """Return how many numbers could be drawn in the time that one release takes."""
    return subject.entry.effort(subject.mechanism, subject.numbers)


def _controls(chosen: Chosen, subject: Audited, nearby: Possible) -> None:
    st.markdown(
        "The attacker knows all records but one and decides between two tables by the likelihood of each release."
    )
    if network_kind(chosen.settings) is not None:
        if chosen.is_connected:
            st.caption("The records of a connected table are not read, so the attack uses an example table.")
        elif chosen.is_curator:
            controls.parameter_control("audit.tables")
            if chosen.options("audit").tables is AttackedTables.REAL:
                controls.parameter_control("audit.record", reach=reach_of("audit.record", nearby))
    elif _choosing(subject):
        controls.parameter_control("audit.first", default=min(FIRST, subject.n), reach=nearby.stops("audit.first"))
    controls.parameter_control("audit.releases", reach=nearby.stops("audit.releases"))
    controls.parameter_control("audit.odds")
    if chosen.is_curator:
        controls.text_field("Seed", "seed", help=terms.SEED)


# Two tables


def attacked(chosen: Chosen, subject: Audited, report: AuditReport, settings: Settings) -> TablePair:
    """Return the tables that the settings name; those of the recipient are made up. Errors: InputError."""
    if subject.n == 0:
        raise InputError("A table without records has no neighbouring tables, so there is nothing to attack.")
    tables = subject.hypothetical
    if tables is not None:
        numbers = {name: settings.parameter(setting_of(name)) for name in tables.chosen}
        return tables.attacked(subject.mechanism, report.worst, **subject.sizes, **numbers)
    if is_of_a_record(chosen, settings.options("audit")):
        return _record(chosen, settings.parameter("audit.record"))
    return made_up_tables(subject)


def _record(chosen: Chosen, k: int) -> TablePair:
    net, data, truth = chosen.network, chosen.dataset, chosen.counts
    record = np.array([data.column(name)[k - 1] for name in net.names], dtype=np.int64)
    replaced = opposite(record, net)
    other = Counts(net, truth.values - _one(net, record) + _one(net, replaced), truth.n)
    description = f"Record {k:,} is {record_text(net, record)}. In the other table it is {record_text(net, replaced)}."
    key = ("record", k, truth.values.tobytes(), record.tobytes())
    return TablePair(truth, other, description, f"of the true values of record {k:,}", key, private=True)


def made_up_tables(subject: Audited) -> TablePair:
    """Return two neighbouring tables of a network whose odd records differ in every column."""
    net, n = subject.mechanism.prior.network, subject.n
    common, odd = np.zeros(len(net.names), dtype=np.int64), net.cards - 1
    shared = (n - 1) * _one(net, common)
    truth, other = (Counts(net, shared + _one(net, record), n) for record in (odd, common))
    description = (
        f"An example table has {n - 1:,} records {record_text(net, common)} and one record "
        f"{record_text(net, odd)}. In the other table all records are the same."
    )
    return TablePair(truth, other, description, "that the table contains the different record", "made up")


def opposite(record: np.ndarray, net: Network) -> np.ndarray:
    """Return the record with the states counted from the other end; a middle state moves on by one."""
    mirrored = net.cards - 1 - record
    return np.where(mirrored == record, (record + 1) % net.cards, mirrored)


def _one(net: Network, record: np.ndarray) -> np.ndarray:
    codes = record[None].astype(np.uint8)
    return count(net, Dataset(net.names, net.states, codes)).values


def record_text(net: Network, record: np.ndarray) -> str:
    """Return a record as assignments, at most NAMED of them."""
    parts = [assignment(net.names[i], net.states[i][int(code)]) for i, code in enumerate(record)]
    return f"({', '.join(parts[:NAMED])}{', …' if len(parts) > NAMED else ''})"


# The attack


def simulated_attackers(subject: Audited, tables: TablePair, options: AuditOptions, *, seed: int) -> Attack:
    """Return the attackers' likelihood ratios. Errors: InputError."""
    prior = options.odds / (1 + options.odds)
    ratios = _ratios((subject.key, tables.key), options.releases, seed, subject, tables)
    return Attack(ratios, prior)


@session_cache(16, spinner="Simulating releases …", show_time=True)
def _ratios(key: Hashable, releases: int, seed: int, _subject: Audited, _tables: TablePair) -> np.ndarray:
    rng = stream(seed, "audit", type(_subject.mechanism).__name__)
    return ratios_of_pair(_subject.mechanism, _tables, rng, (_attackers(_subject, releases), releases))


def ceilings_of(report: AuditReport) -> list[tuple[Guarantee, str]]:
    """Return the limits of the odds: the claim, the proved guarantee if it differs, else the exact loss."""
    ceilings = [(report.claimed, "stated")] if report.claimed.is_private else []
    proved = report.certified
    if not proved.is_private and np.isfinite(report.exact):
        proved = Guarantee(report.exact, reference=proved.reference)
        ceilings.append((proved, "measured"))
    elif proved.is_private and (proved.epsilon, proved.delta) != (report.claimed.epsilon, report.claimed.delta):
        ceilings.append((proved, "proved"))
    return ceilings


def _attack(chosen: Chosen, subject: Audited, report: AuditReport, settings: Settings) -> None:
    tables = attacked(chosen, subject, report, settings)
    attack = simulated_attackers(subject, tables, settings.options("audit"), seed=chosen.seed)
    seen, releases = attack.log_odds, attack.ratios.shape[1]
    ceilings, sentences = [], []
    for promise, name in ceilings_of(report):
        most = log_odds(np.full(releases, promise.epsilon), prior=attack.prior)
        passed = name == "stated" and bool(np.any(seen > most + 1e-9 * (1 + np.abs(most))))
        ceilings.append(
            Ceiling(
                most,
                f"limit at ε = {digits(promise.epsilon)} ({name})",
                passed,
                "dash" if name == "stated" else "dot",
            )
        )
        sentences.append(f"The limit at the {name} ε = {digits(promise.epsilon)} is {_allowed(float(most[-1]))}.")
    count = many(releases, "release")
    probability = probability_text(float(seen[0, -1]))
    st.markdown(f"**After {count} this attacker is {probability} sure {tables.question}.**")
    chart(
        odds_figure(seen, ceilings),
        key="audit.odds",
        simulates=True,
        alt=f"Probability of the true table for each attacker, after 0 to {count}. The marked attacker ends at "
        f"{probability}.",
    )
    st.caption(escaped(tables.description) + (" Not private (curator view)." if tables.private else ""))
    _caption(seen, ceilings, report, sentences)
    data_and_download(lambda: _frame(seen, ceilings), name="attack", curator_only=tables.private, simulates=True)


def _allowed(log_odds: float) -> str:
    return probability_text(log_odds) if np.isfinite(log_odds) else "certainty"


def _caption(seen: np.ndarray, ceilings: list[Ceiling], report: AuditReport, limits: list[str]) -> None:
    middle = probability_text(float(np.median(seen[:, -1])))
    text = f"Half of the {len(seen)} simulated attackers are more than {middle} sure at the end. {' '.join(limits)}"
    past = [np.mean(np.any(seen > c.log_odds + 1e-9 * (1 + np.abs(c.log_odds)), axis=1)) for c in ceilings if c.passed]
    if past:
        text += f" :red[{whole_percent(float(past[0]))} of the attackers exceed the stated limit.]"
    if report.claimed.delta:
        text += " A guarantee with δ may fail with probability δ at each release."
    st.caption(text)


def _frame(seen: np.ndarray, ceilings: list[Ceiling]) -> "pd.DataFrame":
    columns: dict[str, np.ndarray] = {"releases": np.arange(seen.shape[1]), "log odds of this attacker": seen[0]}
    for level in (0.05, 0.5, 0.95):
        columns[f"log odds, {level:.0%} of attackers below"] = np.quantile(seen, level, axis=0)
    return pd.DataFrame(columns | {f"log odds {ceiling.name}": ceiling.log_odds for ceiling in ceilings})
