"""The subject of the Audit page: its mechanism, its tables, and its reports, which may take several runs."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpbayes.audit.entry import Audit, Hypothetical
from dpbayes.audit.registry import AUDITS, audit, audit_of
from dpbayes.audit.report import AuditReport
from dpbayes.base.parameters import parameters_of
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.base.steps import Work
from dpbayes.base.text import done, escaped, many, numeral
from dpbayes.base.validation import InputError
from dpbayes.figures.audit import LEAST_DELTA
from dpbayes.mechanisms import Mechanism, Outcome
from dpbayes.sources.named_networks import NAMED
from dpbayes.ui.session.chosen import Chosen, kind_called
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.session.options.workflow import AuditSubject
from dpbayes.ui.session.settings import EXPLORED_NAMES, Settings
from dpbayes.ui.widgets.chart.saving import EPSILON, Facts, public_records_text
from dpbayes.ui.widgets.running import Running, blank, progress, running

POINTS = 161
"""Points of a privacy curve."""

SIZES = ("n", "features")
"""The options that determine the size of the tables."""


@dataclass(frozen=True, eq=False)
class Audited:
    """A mechanism, the audit of its class, and the sizes of the audited tables, such as n.

    `hypothetical` are tables without a network. `key` contains all inputs.
    """

    mechanism: Any
    entry: Audit
    sizes: Mapping[str, int]
    where: str
    key: Hashable
    hypothetical: Hypothetical | None = None

    @property
    def n(self) -> int:
        """The number of records."""
        return self.sizes["n"]

    @property
    def name(self) -> str:
        """The mechanism's name in a sentence, as Markdown."""
        return escaped(self.mechanism.named)

    @property
    def claimed(self) -> Guarantee:
        """What is claimed of such tables."""
        return self.entry.claimed(self.mechanism, **self.sizes)

    @property
    def promised(self) -> Guarantee:
        """The claim; without one, the epsilon setting of the mechanism, which is not a guarantee."""
        claim = self.claimed
        run_at = getattr(self.mechanism, "epsilon", np.inf)
        return claim if claim.is_private else Guarantee(run_at, reference=claim.reference)

    @property
    def certified(self) -> Guarantee:
        """What is proved."""
        return getattr(self.mechanism, "certified", NON_PRIVATE)


def network_kind(settings: Settings) -> type[Mechanism[Outcome]] | None:
    """Return the class of the network mechanism that is audited, if it is one."""
    subject = settings.options("audit").subject
    name = settings.mechanism if subject is AuditSubject["RELEASE"] else subject.name
    return kind_called(name) if name in EXPLORED_NAMES else None


def hypothetical_of(settings: Settings) -> Hypothetical:
    """Return the hypothetical tables that are audited; None for a mechanism of a network."""
    name = settings.options("audit").subject.name
    return next(entry.hypothetical for entry in AUDITS if entry.kind.__name__ == name and entry.hypothetical)


def setting_of(name: str) -> str:
    """Return the setting that holds one of the numbers that hypothetical tables are made from."""
    return name if name == "epsilon" else f"audit.{name}"


def audited(chosen: Chosen, settings: Settings) -> Audited:
    """Return the subject of the audit at settings with other options than the chosen ones. Errors: InputError."""
    kind = network_kind(settings)
    if kind is not None:
        return _for_network(chosen, kind)
    tables = hypothetical_of(settings)
    numbers = {name: settings.parameter(setting_of(name)) for name in tables.parameters}
    mechanism = tables.mechanism_at(numbers)
    sizes: dict[str, int] = {name: numbers[name] for name in SIZES if name in numbers}
    key = (tables.title, *numbers.values())
    return Audited(mechanism, audit_of(mechanism), sizes, tables.where(numbers), key, tables)


def _for_network(chosen: Chosen, kind: type[Mechanism[Outcome]]) -> Audited:
    settings, net = chosen.settings, chosen.network
    n = settings.records if settings.data == "synthetic" else chosen.records
    mechanism = chosen.mechanism_called(kind.__name__)
    key = settings.published
    over = f"the {escaped(NAMED[key].title)} network" if key else f"a network of {many(len(net.names), 'node')}"
    where = f"tables of {many(n, 'record')} for {over}"
    values: tuple[tuple[str, Any], ...] = tuple((name, getattr(mechanism, name)) for name in parameters_of(kind))
    return Audited(mechanism, audit_of(mechanism), {"n": n}, where, (kind.__name__, net, settings.prior, n, values))


# The facts of pictures


def _mechanism(chosen: Chosen) -> str:
    kind = network_kind(chosen.settings)
    return hypothetical_of(chosen.settings).title if kind is None else kind.label


def _table(chosen: Chosen) -> str:
    return chosen.data_title if network_kind(chosen.settings) else ""


def _n(chosen: Chosen) -> str:
    return public_records_text(chosen) if network_kind(chosen.settings) else f"{chosen.options('audit').n:,}"


FACTS: Facts = {"mechanism": _mechanism} | EPSILON | {"table": _table, "n": _n}


# Reports


def report_of(subject: Audited) -> AuditReport:
    """Return the audit. Errors: InputError."""
    return _report(subject.key, subject)


@session_cache(32, spinner="Auditing all pairs of neighbouring tables …", show_time=True)
def _report(key: Hashable, _subject: Audited) -> AuditReport:
    mechanism, sizes = _subject.mechanism, _subject.sizes
    bounded = _subject.certified.is_private  # else nothing bounds the loss before it is known
    exact = 0.0 if bounded else audit(mechanism, epsilons=[], **sizes).exact
    return audit(mechanism, epsilons=epsilons_up_to(_subject, exact), **sizes)


def epsilons_up_to(subject: Audited, exact: float) -> np.ndarray:
    """Return a grid from 0 to beyond `exact` and the promises, with these among it."""
    most = subject.entry.farthest * subject.certified.epsilon
    promises = [g.epsilon for g in (subject.promised, subject.certified) if g.is_private and g.epsilon <= most]
    top = 1.15 * max(epsilon for epsilon in (*promises, exact) if np.isfinite(epsilon))
    return np.unique(np.concatenate([np.linspace(0, top, POINTS), promises]))


def digits(number: float) -> str:
    """Return a loss in four digits, so that 1.021 is not 1, and whole from a thousand up."""
    return numeral(number, 4)


def curve_is_exact(report: AuditReport) -> bool:
    """Return whether the curve's two values are the same as far as a picture shows."""
    return bool(np.allclose(report.curve.deltas, report.curve.lower, rtol=1e-3, atol=LEAST_DELTA))


# Work on reports


def audit_work(subject: Audited) -> Running[AuditReport] | AuditReport:
    """Return the audit, or the work on it if it takes longer than a moment. Errors: InputError."""
    mechanism, steps = subject.mechanism, subject.entry.steps
    if steps is None or not subject.entry.slow(mechanism):
        return report_of(subject)

    def start() -> Work[AuditReport]:
        return steps(mechanism, epsilons=lambda exact: epsilons_up_to(subject, exact))

    work = running("audit", subject.key, start)
    if work.refused:
        raise InputError(work.refused)
    return work.so_far if work.done else work


def show_progress(work: Running[Any], what: str, *, key: str) -> None:
    """Show the progress, and the button that stops or continues the work."""
    progress(work, f"{done(work.share)} of {what}", key=key)
    blank(3)
