"""What the Audit page shows at its end: recalibration, and the formulas, assumptions and sources of an audit."""

from typing import Any

import streamlit as st

from dpbayes.audit.entry import Recalibration
from dpbayes.audit.report.types import AuditReport, Exactness
from dpbayes.base.parameters import parameters_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import latex, numeral
from dpbayes.mechanisms.known import formula
from dpbayes.ui.pages.audit.subject import Audited, network_kind, setting_of
from dpbayes.ui.pages.audit.work import recalibration_work, show_progress
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import set_parameter
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.running import Running
from dpbayes.ui.widgets.show import assumption, sentence_instead, source

# Recalibration


def recalibration(chosen: Chosen, subject: Audited, report: AuditReport) -> Running[Any] | None:
    """Find the internal epsilon at which the worst neighbours lose no more than what is asked for, and offer it.

    Returns the work on it where that is still going on.
    """
    st.subheader("Recalibrate to what I asked for")
    left, right = st.columns([1, 2], gap="medium")
    with left:
        controls.parameter_control("audit.target")
    searching = None
    with right, sentence_instead():
        searching = _offer(subject, report, chosen.options("audit").target)
    return searching


def _offer(subject: Audited, report: AuditReport, target: float) -> Running[Any] | None:
    how = subject.known.recalibration
    if how is None:
        st.caption(subject.known.not_recalibrated)
        return None
    wanted = hash((subject.key, target))
    if not how.is_quick(subject.mechanism, subject.n) and st.session_state.get("audit.search") != wanted:
        st.caption("Every ε that is tried is an audit of its own: this may take a while, and can be stopped.")
        st.button("Find it", key="audit.find", on_click=_search, args=(wanted,))
        return None
    search = recalibration_work(subject, how, target)
    if isinstance(search, Running):
        show_progress(search, "the search", key="audit.target.stop")
        return search
    delta = f", δ = {numeral(report.claimed.delta)}" if report.claimed.delta else ""
    _offer_knob(subject, how, f"ε = {numeral(target, 6)}{delta}", search)
    return None


def _offer_knob(subject: Audited, how: Recalibration, asked: str, value: float) -> None:
    """Offer the setting of the knob that was found for what is asked."""
    turned, symbol = _also_turned(subject, how), how.knob.symbol
    also = "".join(f", with the {getattr(option, 'value', option)} {name}," for name, option in turned.items())
    st.markdown(f"Run at **{symbol} = {numeral(value, 6)}**{also} it loses no more than {asked} at this setting.")
    in_use = not turned and how.knob.read(subject.mechanism) == value
    knob = setting_of(how.knob.setting) if subject.hypothetical else how.knob.setting
    st.button("Use it", key="audit.use", on_click=_use, args=({knob: value, **turned},), disabled=in_use)
    note = "n, the parameters and the target decide, never the data: it costs no privacy."
    if not subject.certified.is_private:
        note += " What is found so holds for this n and prior alone; it is an audit's finding, no proof for others."
    st.caption(note)


def _also_turned(subject: Audited, how: Recalibration) -> dict[str, object]:
    """Return the parameters, but for the knob, in which what is recalibrated differs from what is audited."""
    mechanism, start = subject.mechanism, how.start(subject.mechanism)
    names = [name for name in parameters_of(type(mechanism)) if name != how.knob.setting]
    return {name: getattr(start, name) for name in names if getattr(start, name) != getattr(mechanism, name)}


def _search(wanted: int) -> None:
    st.session_state["audit.search"] = wanted


def _use(settings: dict[str, object]) -> None:
    for name, value in settings.items():
        set_parameter(name, value)


# Formulas, assumptions, sources


def details(chosen: Chosen, subject: Audited, report: AuditReport) -> None:
    """Show what was computed, with its numbers, what it assumes, and where the statements come from."""
    with st.expander("Formula, assumptions and sources"):
        _formulas(subject, report)
        _assumptions(chosen, subject, report)
        _sources(report.claimed, report.certified)


def unaudited_details(subject: Audited) -> None:
    """Show what a mechanism without an audit does, and where its promises come from."""
    with st.expander("Formula, assumptions and sources"):
        st.markdown(formula(subject.mechanism))
        assumption(f"Neighbours x ~ y are {subject.certified.neighbours.value}; n is public.", holds=True)
        _sources(subject.claimed, subject.certified)


def _sources(claimed: Guarantee, certified: Guarantee) -> None:
    source(claimed.reference if claimed.is_private else certified.reference)
    if certified.is_private and certified.reference != claimed.reference:
        source(certified.reference)


def _formulas(subject: Audited, report: AuditReport) -> None:
    relation = "=" if report.exactness is Exactness.EXACT else r"\le"
    claim = subject.promised
    at = int(abs(report.curve.epsilons - claim.epsilon).argmin())
    value = report.curve.deltas[at]
    same = "=" if report.curve.lower[at] == value else r"\le"
    lost = latex(report.exact, 5)
    st.markdown(formula(subject.mechanism))
    st.markdown(
        f"""
The loss of neighbours $x, y$ at an output $r$ is $\\ln\\frac{{P[r|x]}}{{P[r|y]}}$, and its largest value is the exact
pure $\\varepsilon$: $\\max_{{x \\sim y}}\\max_r \\ln\\frac{{P[r|x]}}{{P[r|y]}} {relation} {lost}$.

The privacy curve is $\\delta(\\varepsilon) = \\max_{{x \\sim y}}\\sum_r \\left(P[r|x] - e^\\varepsilon
P[r|y]\\right)_+$, here $\\delta({latex(claim.epsilon)}) {same} {latex(float(value), 3)}$.

An attacker's odds after $j$ releases are the first odds times $\\prod_k P[r_k|x]/P[r_k|y]$, at most
$e^{{j\\varepsilon}}$ times the first odds: the ε of releases from one table add up.
"""
    )


def _assumptions(chosen: Chosen, subject: Audited, report: AuditReport) -> None:
    assumption(f"Neighbours x ~ y are {report.certified.neighbours.value}; n is public.", holds=True)
    assumption(
        "The audit uses n, the network or die, the prior and the parameters: public things, never data.", holds=True
    )
    if network_kind(chosen.settings) is not None:
        assumption("Every column's domain is public, not taken from the data.", holds=not chosen.leaking_columns)
    if report.exactness is Exactness.EXACT:
        assumption("The maximum is over all neighbours and all outputs: exact.", holds=True)
    else:
        assumption(
            f"The maximum is exact: no, it lies between {numeral(report.at_least, 4)}, which two tables reach, and "
            f"{numeral(report.exact, 4)}, which none exceed.",
            holds=False,
        )
    if not report.certified.is_private:
        assumption(
            "A proof for every n and prior: there is none. The exact number belongs to this setting alone.", holds=False
        )
    for doubt in subject.known.doubts:
        assumption(doubt, holds=False)
    assumption(
        "The mechanism is sampled exactly. Samplers in floating point are not exact: the last digits of Laplace noise "
        "can betray a table (Mironov, CCS 2012). The audit is of the ideal law.",
        holds=False,
    )
