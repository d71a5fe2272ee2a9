"""The Audit page: stated, proved and measured privacy loss, the privacy curve, the worst pair, and an attack.

An audit depends on public things only, so both seats see it; an attack on a record of the table is the curator's.
"""

import math
from contextlib import suppress
from functools import partial
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.audit.registry import AUDITS, UNKNOWN
from dpbayes.audit.report import AuditReport, AuditVerdict, Exactness
from dpbayes.base import terms
from dpbayes.base.libraries import pd
from dpbayes.base.parameters import parameters_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import distinct_texts, escaped, numeral, whole_percent
from dpbayes.base.validation import InputError
from dpbayes.figures.audit import Mark, privacy_curve_figure
from dpbayes.mechanisms import reads_records
from dpbayes.ui.pages.audit.details import details, unaudited_details, worst_section
from dpbayes.ui.pages.audit.outputs import audit_of_outputs
from dpbayes.ui.pages.audit.subject import (
    FACTS,
    Audited,
    audit_work,
    audited,
    curve_is_exact,
    digits,
    hypothetical_of,
    network_kind,
    setting_of,
    show_progress,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.session.options.workflow import AuditSubject
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import pictures_tell
from dpbayes.ui.widgets.controls import prior_control
from dpbayes.ui.widgets.from_python import FACE, mechanism_in_python, network_in_python, program, same_from_python
from dpbayes.ui.widgets.limits import Possible, lowest, nearest, nearest_shown, reach_of
from dpbayes.ui.widgets.numbers import show_number
from dpbayes.ui.widgets.page import Places, next_page, places
from dpbayes.ui.widgets.running import Running, blank
from dpbayes.ui.widgets.shares import search_under_way
from dpbayes.ui.widgets.show import data_and_download, show_refusal

REFUTED_CASES: dict[str, dict[str, object]] = {
    title: {"audit.subject": AuditSubject[entry.kind.__name__]}
    | {(setting_of(name) if entry.hypothetical else name): value for name, value in numbers.items()}
    for entry in AUDITS
    for title, numbers in entry.cases.items()
}
"""Settings at which a claim, or a hope, is refuted."""

GIVING = {"audit.sides": lowest("audit.sides"), "audit.n": lowest("audit.n")}
"""What gives way where a die has too many posteriors to audit, or too many sides for a mechanism."""

STATED = "The guarantee as stated in the source below."
PROVED = "The guarantee that is proved for every table, every n and every prior."
MEASURED = (
    f"The worst-case privacy loss: the largest over all neighbouring tables and all outputs, at the stated δ. "
    f"{terms.NEIGHBOURS}"
)

SLOTS = 40
"""More than the elements that follow the curve."""


def audit_page(chosen: Chosen) -> bool:
    """Show the curve first: it moves with the main parameter, and all else is updated when the slider stops."""
    pictures_tell(FACTS)
    page = places()
    nearby, subject, report = page.first(_moving, chosen) or (None, None, None)
    with page.controls:
        with suppress(InputError):  # a network that there is none of has had its sentence
            _controls(chosen, nearby)
        _refuted_cases()
    if subject is None:
        return False
    if report is None:
        if (outputs := subject.entry.outputs) is not None:
            goes_on = audit_of_outputs(page, chosen, subject, outputs)
            next_page("Ledger", "pages/ledger.py")
            return goes_on
        if subject.entry is UNKNOWN:
            _without_audit(page, subject)
        return False
    if isinstance(report, Running):
        with page.picture:
            searched = hasattr(subject.mechanism, "design_steps")
            show_progress(report, "the search for the noise" if searched else "the audit", key="audit.stop")
            blank(SLOTS)
        blank(SLOTS)
        return _goes_on(report)
    with page.beside():
        _numbers(subject, report)
        _data(report)
    with st.container(key="below"):
        worst_section(subject, report)
        details(chosen, subject, report)
    same_from_python(python_of(subject), name="audit")
    next_page("Ledger", "pages/ledger.py")
    return False


def python_of(subject: Audited) -> str:
    """Return the code that gives what the worst neighbours lose at the claim's delta."""
    network = [] if subject.hypothetical else [network_in_python(subject.mechanism.prior.network)]
    sizes = ", ".join(f"{name}={size!r}" for name, size in subject.sizes.items())
    report = f"report = dp.audit_report(mechanism, {sizes}, epsilons=[])"
    return program(FACE, *network, mechanism_in_python(subject.mechanism), report, "print(report.needed)")


def _moving(page: Places, chosen: Chosen) -> tuple[Possible | None, Audited | None, AuditReport | Running[Any] | None]:
    """Show the privacy curve at the settings nearest to the requested ones."""
    with page.picture:
        nearby = _possible(chosen)
        subject = audited(chosen, nearby.settings) if nearby is not None else None
        report = _curve(subject) if subject is not None else None
    with suppress(InputError):
        for name in _audited_parameters(chosen)[:1]:
            page.lead(name, **_control(chosen, nearby, name))
    if subject is not None and report is not None and not isinstance(report, Running):
        if math.isfinite(report.exact):
            show_number("exact loss", report.exact)
        page.say(verdict(subject, report))
    return nearby, subject, report


def _without_audit(page: Places, subject: Audited) -> None:
    """Show the guarantee of a mechanism without an audit."""
    page.say(without_audit(subject))
    with page.picture:
        left, middle, right = st.columns(3)
        _promise(left, "Stated", subject.claimed, "No guarantee is stated.", help=STATED)
        _promise(middle, "Proved", subject.certified, "No guarantee is proved.", help=PROVED)
        right.metric("Measured", "unknown", help=MEASURED)
        right.caption("The distribution of the releases is not known, so the worst case cannot be computed.")
    unaudited_details(subject)
    next_page("Ledger", "pages/ledger.py")


def _goes_on(work: Running[Any]) -> bool:
    """Continue for a moment after everything is drawn; return whether the page must run again, also for the result."""
    if not work.going:
        return False
    work.work()
    return True


def _refuted_cases() -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("Examples:", width="content")
        for title, case in REFUTED_CASES.items():
            st.button(title, key=f"audit.case.{title}", on_click=_open, args=(case,))


def _open(case: dict[str, object]) -> None:
    for name, value in case.items():
        set_parameter(name, value)


def _audited_parameters(chosen: Chosen) -> list[str]:
    """Return the parameters of the audited mechanism. Errors: InputError without a network."""
    kind = network_kind(chosen.settings)
    return (
        list(parameters_of(kind))
        if kind is not None
        else [*map(setting_of, hypothetical_of(chosen.settings).parameters)]
    )


def _control(chosen: Chosen, nearby: Possible | None, name: str) -> dict[str, Any]:
    """Return default and reach of the control of a parameter."""
    kind = network_kind(chosen.settings)
    if kind is not None:
        return {"default": chosen.defaults_for(kind).get(name)}
    return {"reach": reach_of(name, nearby)}


def _controls(chosen: Chosen, nearby: Possible | None) -> None:
    controls.parameter_control("audit.subject")
    options, kind = chosen.options("audit"), network_kind(chosen.settings)
    if kind is not None and options.subject is AuditSubject["RELEASE"]:
        st.caption(f"Explore uses {escaped(kind.label)}.")
    for name in _audited_parameters(chosen)[1:]:
        controls.parameter_control(name, **_control(chosen, nearby, name))
    if kind is None:
        st.caption(hypothetical_of(chosen.settings).caption)
        return
    if reads_records(kind):
        return
    prior_control(kind)
    st.caption("The audit uses the open network and the number of records, never the records themselves.")


# The curve


def _possible(chosen: Chosen) -> Possible | None:
    """Return the nearest settings that can be audited, and show a message if they differ."""
    return nearest_shown(lambda: nearest(chosen.settings, GIVING, partial(audited, chosen)))


def _curve(subject: Audited) -> AuditReport | Running[Any] | None:
    """Show the curve and return its audit, the work on the audit, or the search for the best noise.

    For settings that cannot be audited, the message is shown.
    """
    if subject.entry.outputs is not None:
        return None
    if subject.entry is UNKNOWN:
        st.caption("There is no privacy curve, because the distribution of the releases is not known.")
        return None
    try:
        if (search := search_under_way(subject.mechanism)) is not None:
            st.markdown("The audit starts once the search for this network’s noise has ended.")
            return search
        report = audit_work(subject)
    except InputError as error:
        show_refusal(error)
        return None
    if isinstance(report, Running):
        st.markdown(subject.entry.slow(subject.mechanism))
        return report
    promise, broken = subject.promised, report.broken_at(subject.promised)
    claimed = Mark(promise.epsilon, promise.delta, "stated" if report.claimed.is_private else "ε setting")
    proved = report.certified
    figure = privacy_curve_figure(
        report.curve.epsilons,
        report.curve.deltas,
        report.curve.lower,
        broken=broken,
        claimed=claimed,
        certified=Mark(proved.epsilon, proved.delta, "proved") if proved.is_private else None,
    )
    above = " The curve exceeds the stated guarantee." if broken.any() else ""
    chart(figure, key="audit.curve", alt=f"Privacy curve: delta against epsilon; {claimed.name} at {promise}.{above}")
    return report


def _data(report: AuditReport) -> None:
    drawn = (
        "This curve is exact."
        if curve_is_exact(report)
        else "The dashed curve is an upper bound, and the dotted curve is a lower bound."
    )
    st.caption(
        "δ(ε) is the largest amount by which the probability of an event under one table exceeds $e^{\\varepsilon}$ "
        f"times its probability under a neighbouring table. {drawn} A claim with δ = 0 holds if δ is zero at the "
        "stated ε."
    )
    data_and_download(
        lambda: pd.DataFrame(
            {
                "epsilon": report.curve.epsilons,
                "delta (exact or upper bound)": report.curve.deltas,
                "delta (lower bound)": report.curve.lower,
            }
        ),
        name="privacy-curve",
        curator_only=False,
    )


# The numbers


def _numbers(subject: Audited, report: AuditReport) -> None:
    """Show the three numbers; the last is red where it breaks the claim."""
    left, middle, right = st.columns(3)
    _promise(left, "Stated", report.claimed, "No guarantee is stated.", help=STATED)
    _promise(middle, "Proved", report.certified, "No guarantee is proved.", help=PROVED)
    over = report.needed_at_least - subject.promised.epsilon
    violated = over > 1e-9 * subject.promised.epsilon
    than = "above the claim" if report.claimed.is_private else "above the ε setting"
    right.metric(
        "Measured",
        _measured(report),
        delta=f"{digits(over)} {than}" if violated else None,
        delta_color="inverse",
        help=MEASURED,
    )
    right.caption(f"Worst-case privacy loss of {subject.where}.")
    st.caption(f"{escaped(report.scope)} {_loss_text(report)}")


def _measured(report: AuditReport) -> str:
    """Return the worst-case privacy loss at the stated delta."""
    if math.isinf(report.needed):
        return "unbounded"
    is_exact = report.needed - report.needed_at_least <= 1e-6 * max(1.0, report.needed)
    delta = f", δ = {numeral(report.claimed.delta)}" if report.claimed.delta else ""
    return f"ε {'=' if is_exact else '≤'} {digits(report.needed)}{delta}"


def _loss_text(report: AuditReport) -> str:
    if report.exactness is not Exactness.EXACT:
        return escaped(f"One pair of neighbouring tables has a privacy loss of {digits(report.at_least)}.")
    if not report.claimed.delta:
        return ""
    pure = "unbounded" if math.isinf(report.exact) else f"ε = {digits(report.exact)}"
    return escaped(f"At δ = 0 the worst-case privacy loss is {pure}.")


def _promise(place: DeltaGenerator, title: str, guarantee: Guarantee, nothing: str, *, help: str) -> None:
    place.metric(title, str(guarantee) if guarantee.is_private else "none", help=help)
    text = f"{guarantee.in_full}. {guarantee.reference}" if math.isfinite(guarantee.rho) else str(guarantee.reference)
    place.caption(escaped(text) if guarantee.is_private else nothing)


# The headline


def without_audit(subject: Audited) -> str:
    """Return the sentence for a mechanism whose exact privacy loss is unknown."""
    return f"{_begun(subject.name)}: the worst-case privacy loss is not known."


def loss_text(report: AuditReport) -> str:
    """Return the worst-case privacy loss at the stated delta, in words."""
    if math.isinf(report.needed):
        return "unbounded"
    least, most = report.needed_at_least, report.needed
    return _loss(report, most) if most - least <= 1e-6 * max(1.0, most) else f"at most {_loss(report, most)}"


def _loss(report: AuditReport, loss: float) -> str:
    """Return a loss in four digits, in more where four would make it equal the stated epsilon."""
    return distinct_texts(loss, report.claimed.epsilon, most=4)[0]


def verdict(subject: Audited, report: AuditReport) -> str:
    """Return the page's sentence: the stated guarantee, and whether it holds."""
    name, claim = _begun(subject.name), f"the claim {escaped(str(report.claimed))}"
    match report.verdict:
        case AuditVerdict.NO_PROMISE:
            return f"{name} states no guarantee. {_run_at(subject, report)}"
        case AuditVerdict.PROVED_AND_TIGHT:
            return f"{name}: {claim} holds and is tight."
        case AuditVerdict.CLAIM_REFUTED:
            if math.isinf(report.needed_at_least):
                return f"{name}: {claim} is refuted. The worst-case privacy loss is unbounded."
            is_exact = report.needed_at_least >= report.needed * (1 - 1e-6)
            least = f"{'' if is_exact else 'at least '}{_loss(report, report.needed_at_least)}"
            return f"{name}: {claim} is refuted. The worst-case privacy loss is {least}."
        case AuditVerdict.HOLDS:
            return f"{name}: {claim} holds{_spare(report)}."
    return f"{name}: {claim} is neither proved nor refuted."


def _run_at(subject: Audited, report: AuditReport) -> str:
    epsilon = numeral(subject.promised.epsilon, 6)
    return f"At ε = {epsilon} the worst-case privacy loss is {loss_text(report)}."


def _spare(report: AuditReport) -> str:
    spare = 1 - report.needed / report.claimed.epsilon if report.claimed.epsilon else 0.0
    if report.exactness is Exactness.EXACT and spare > 0.005:
        return f" with {whole_percent(spare)} to spare"
    return ""


def _begun(name: str) -> str:
    return name[0].upper() + name[1:]
