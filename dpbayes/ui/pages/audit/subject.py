"""What the Audit page audits: from the settings to a mechanism, a number of records, and a report kept per session."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.audit.reports import AuditReport, audit
from dpbayes.base.parameters import parameters_of
from dpbayes.base.privacy import NON_PRIVATE, Guarantee
from dpbayes.base.text import escaped, numeral
from dpbayes.figures.audit import LEAST_DELTA
from dpbayes.mechanisms import (
    MECHANISMS,
    Calibration,
    LaplaceFourier,
    LaplaceUpdates,
    MapExponential,
    Mechanism,
    Outcome,
    PosteriorSampler,
)
from dpbayes.mechanisms.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth, LaplaceCells, LaplaceOne
from dpbayes.mechanisms.map import PrintedMap
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.model.network import Network
from dpbayes.posteriors.hellinger import MOST_PAIRED, Die
from dpbayes.sources.named_networks import NAMED
from dpbayes.ui.session import chosen as work
from dpbayes.ui.session.options.audit import AuditOptions, AuditSubject
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets.show import inside

POINTS = 161
"""Points of a privacy curve."""

FAR = 5.0
"""A regression's claim so many times what is proved is left out of the picture."""

NETWORK_SUBJECTS = {
    AuditSubject.LAPLACE: LaplaceUpdates,
    AuditSubject.FOURIER: LaplaceFourier,
    AuditSubject.SAMPLER: PosteriorSampler,
    AuditSubject.MAP: MapExponential,
}
DIE_SUBJECTS = {
    AuditSubject.HELLINGER_GLOBAL: HellingerGlobal,
    AuditSubject.HELLINGER_LOCAL: HellingerLocal,
    AuditSubject.HELLINGER_SMOOTH: HellingerSmooth,
    AuditSubject.LAPLACE_CELLS: LaplaceCells,
    AuditSubject.LAPLACE_ONE: LaplaceOne,
}


@dataclass(frozen=True, eq=False)
class Audited:
    """A mechanism and the number of records it is audited for; `key` is all that both are made from.

    A regression's records have a number of `features`, too.
    """

    mechanism: Any
    n: int
    where: str
    key: Hashable
    features: int | None = None

    @property
    def name(self) -> str:
        """The mechanism's name in a sentence, as Markdown."""
        if isinstance(self.mechanism, PrintedMap):
            return "the density-scored MAP"
        text = inside(self.mechanism.label.removesuffix(" (not private)"))
        if self.mechanism.label.startswith("Hellinger, "):
            text = "the Hellinger mechanism with " + text.removeprefix("hellinger, ")
        if getattr(self.mechanism, "calibration", None) is Calibration.AS_PRINTED:
            text += " as printed"
        return escaped(text)

    @property
    def promised(self) -> Guarantee:
        """The claim; where there is none, the epsilon that the mechanism is run at, which is no promise."""
        claim: Guarantee = self.mechanism.claimed
        if self.features is not None:
            claim = self.mechanism.claimed(self.n, features=self.features)
        return claim if claim.is_private else Guarantee(self.mechanism.epsilon, reference=claim.reference)

    @property
    def certified(self) -> Guarantee:
        """What is proved."""
        return getattr(self.mechanism, "certified", NON_PRIVATE)


def network_kind(settings: Settings) -> type[Mechanism[Outcome]] | None:
    """Return the class of the network mechanism that is audited, if it is one."""
    subject = settings.options("audit").subject
    if subject is AuditSubject.RELEASE:
        return next(kind for kind in MECHANISMS if kind.__name__ == settings.mechanism)
    return NETWORK_SUBJECTS.get(subject)


def audited(settings: Settings) -> Audited:
    """Return what the settings say is to be audited. Errors: InputError with a sentence."""
    kind, options = network_kind(settings), settings.options("audit")
    if kind is not None:
        return _for_network(settings, kind)
    epsilon = settings.parameter("epsilon")
    if options.subject is AuditSubject.PRINTED_MAP:
        prior = (options.prior, options.prior)
        made: Any = PrintedMap(prior=prior, n=options.n, epsilon=epsilon, omega=options.omega)
        where = f"tables of {_many(options.n, 'record')} of one binary node"
    elif options.subject is AuditSubject.REGRESSION:
        return _for_regression(options)
    else:
        made = _die_mechanism(options, epsilon)
        where = f"{_many(options.n, 'throw')} of a die with {options.sides} sides"
    key = (options.subject, epsilon, options.n, options.sides, options.prior, options.delta, options.omega)
    return Audited(made, options.n, where, key)


def _for_regression(options: AuditOptions) -> Audited:
    made = RegressionSampler(
        prior_precision=options.precision,
        noise_variance=options.variance,
        norm_bound=options.norm,
        draws=options.draws,
    )
    where = f"tables of {_many(options.n, 'scaled record')} with {_many(options.features, 'feature')}"
    key = (options.subject, options.n, options.features, made)
    return Audited(made, options.n, where, key, options.features)


def _die_mechanism(options: AuditOptions, epsilon: float) -> Any:
    die, kind = Die((options.prior,) * options.sides, options.n), DIE_SUBJECTS[options.subject]
    if kind not in (LaplaceCells, LaplaceOne):
        die.require_listable(MOST_PAIRED)  # what an audit needs; a release would do with more
    return kind(die=die, epsilon=epsilon, **({"delta": options.delta} if kind is HellingerSmooth else {}))


def _for_network(settings: Settings, kind: type[Mechanism[Outcome]]) -> Audited:
    n = settings.records if settings.data == "synthetic" else work.dataset(settings).n
    net = work.network(settings)
    made = work.mechanism(settings, net, kind.__name__)
    known = not settings.graph and settings.data == "synthetic" and settings.source in NAMED
    over = escaped(NAMED[settings.source].title) if known else f"a network of {_many(len(net.names), 'node')}"
    chosen = tuple((name, getattr(made, name)) for name in parameters_of(kind))
    return Audited(
        made, n, f"tables of {_many(n, 'record')} over {over}", (kind.__name__, net, settings.prior, n, chosen)
    )


def _many(number: int, thing: str) -> str:
    return f"{number:,} {thing}" + ("" if number == 1 else "s")


# Reports


def report_of(subject: Audited) -> AuditReport:
    """Return the audit. Errors: InputError."""
    return _report(subject.key, subject)


@st.cache_data(
    scope="session",
    max_entries=32,
    show_spinner="Auditing every pair of neighbouring tables …",
    show_time=True,
    hash_funcs={Network: hash},
)
def _report(key: Hashable, _subject: Audited) -> AuditReport:
    made, n = _subject.mechanism, _subject.n
    if _subject.features is not None:
        return audit(made, n=n, epsilons=epsilons_up_to(_subject, 0.0), features=_subject.features)
    bounded = _subject.certified.is_private  # else nothing bounds the loss before it is known
    exact = 0.0 if bounded else audit(made, n=n, epsilons=[]).exact
    return audit(made, n=n, epsilons=epsilons_up_to(_subject, exact))


def epsilons_up_to(subject: Audited, exact: float) -> np.ndarray:
    """Return a grid from 0 to beyond `exact` and the promises, with these among it."""
    promises = [g.epsilon for g in (subject.promised, subject.certified) if g.is_private]
    if subject.features is not None:  # the printed epsilon grows with n
        promises = [epsilon for epsilon in promises if epsilon <= FAR * subject.certified.epsilon]
    top = 1.15 * max(epsilon for epsilon in (*promises, exact) if np.isfinite(epsilon))
    return np.unique(np.concatenate([np.linspace(0, top, POINTS), promises]))


def digits(number: float) -> str:
    """Return a loss in four digits, so that 1.021 is not 1, and whole from a thousand up."""
    return numeral(number, 4)


def curve_is_exact(report: AuditReport) -> bool:
    """Return whether the curve's two values are the same as far as a picture shows."""
    return bool(np.allclose(report.curve.deltas, report.curve.lower, rtol=1e-3, atol=LEAST_DELTA))


def broken_at(report: AuditReport, promise: Guarantee) -> np.ndarray:
    """Return where on the curve the promise certainly fails: (E,), beyond its epsilon with delta above its delta.

    Where only an upper value of delta is known, delta is above zero up to the loss that some pair suffers.
    """
    curve = report.curve
    beyond = curve.epsilons >= promise.epsilon * (1 - 1e-12)
    above = curve.lower > promise.delta * (1 + 1e-9)
    if not promise.delta:
        above |= curve.epsilons < report.at_least * (1 - 1e-9)
        beyond &= report.at_least > promise.epsilon * (1 + 1e-9)
    return np.asarray(beyond & above)


# Recalibration


def to_recalibrate(subject: Audited) -> Any:
    """Return the mechanism to recalibrate: the printed sampler cannot be run below 2 ln 2, the certified one can."""
    if isinstance(subject.mechanism, PosteriorSampler):
        return replace(subject.mechanism, calibration=Calibration.CERTIFIED, epsilon=1.0)
    return subject.mechanism


def knob(mechanism: Any) -> float:
    """Return what a recalibration sets: the internal epsilon, of a regression sampler the norm bound B."""
    return float(mechanism.norm_bound if isinstance(mechanism, RegressionSampler) else mechanism.epsilon)
