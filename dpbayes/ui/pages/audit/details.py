"""What the Audit page shows at its end: recalibration, and the formulas, assumptions and sources of an audit."""

import streamlit as st

from dpbayes.audit.reports import AuditReport, Exactness
from dpbayes.audit.trimmed_network import tables_are_few
from dpbayes.base.text import latex, numeral
from dpbayes.mechanisms import Calibration, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth, LaplaceCells, LaplaceOne
from dpbayes.mechanisms.known import formula
from dpbayes.mechanisms.map import PrintedMap
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.ui.pages.audit.subject import Audited, knob, network_kind, to_recalibrate
from dpbayes.ui.pages.audit.work import Stepped, recalibration_work, show_progress
from dpbayes.ui.session import chosen as work
from dpbayes.ui.session.settings import current, set_parameter
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.show import assumption, sentence_instead, source

QUICK_DIE = 300
"""Up to so many candidates a die is recalibrated at once, else when asked."""


# Recalibration


def recalibration(subject: Audited, report: AuditReport) -> Stepped | None:
    """Find the internal epsilon at which the worst neighbours lose no more than what is asked for, and offer it.

    Returns the work on it where that is still going on.
    """
    st.subheader("Recalibrate to what I asked for")
    left, right = st.columns([1, 2], gap="medium")
    with left:
        controls.parameter_control("audit.target")
    searching = None
    with right, sentence_instead():
        searching = _offer(subject, report, current().options("audit").target)
    return searching


def _offer(subject: Audited, report: AuditReport, target: float) -> Stepped | None:
    if isinstance(subject.mechanism, PrintedMap):
        st.caption(
            "It is not recalibrated: nothing bounds its loss for every n. The private MAP scores by mass instead, and "
            "keeps to its ε."
        )
        return None
    wanted = hash((subject.key, target))
    if not quick(subject) and st.session_state.get("audit.search") != wanted:
        st.caption("Every ε that is tried is an audit of its own: this may take a while, and can be stopped.")
        st.button("Find it", key="audit.find", on_click=_search, args=(wanted,))
        return None
    found = recalibration_work(subject, target)
    if isinstance(found, Stepped):
        show_progress(found, "the search", key="audit.target.stop")
        return found
    _found(subject, report, target, found)
    return None


def _found(subject: Audited, report: AuditReport, target: float, value: float) -> None:
    """Offer what was found."""
    delta = report.claimed.delta
    asked = f"ε = {target:g}" + (f", δ = {numeral(delta)}" if delta else "")
    printed = getattr(subject.mechanism, "calibration", None)
    how = ""
    if isinstance(subject.mechanism, PosteriorSampler) and printed is Calibration.AS_PRINTED:
        how = ", with the certified calibration,"
    name = "B" if isinstance(subject.mechanism, RegressionSampler) else "ε"
    st.markdown(f"Run at **{name} = {numeral(value, 6)}**{how} it loses no more than {asked} at this setting.")
    st.button("Use it", key="audit.use", on_click=_use, args=(subject, value), disabled=_in_use(subject, value))
    note = "n, the parameters and the target decide, never the data: it costs no privacy."
    if not subject.certified.is_private:
        note += " What is found so holds for this n and prior alone; it is an audit's finding, no proof for others."
    st.caption(note)


def quick(subject: Audited) -> bool:
    """Return whether the search is fast enough to be made unasked."""
    made = subject.mechanism
    if isinstance(made, HellingerGlobal | HellingerLocal | HellingerSmooth):
        return bool(made.die.size <= QUICK_DIE)
    if isinstance(made, MapExponential):
        return not tables_are_few(made.prior.network, n=subject.n)
    return isinstance(made, LaplaceUpdates | LaplaceFourier | LaplaceCells | LaplaceOne | RegressionSampler)


def _search(wanted: int) -> None:
    st.session_state["audit.search"] = wanted


def _in_use(subject: Audited, value: float) -> bool:
    made = to_recalibrate(subject)
    same = getattr(made, "calibration", None) is getattr(subject.mechanism, "calibration", None)
    return bool(same and knob(subject.mechanism) == value)


def _use(subject: Audited, value: float) -> None:
    set_parameter("audit.norm" if isinstance(subject.mechanism, RegressionSampler) else "epsilon", value)
    if isinstance(subject.mechanism, PosteriorSampler):
        set_parameter("calibration", Calibration.CERTIFIED)


# Formulas, assumptions, sources


def details(subject: Audited, report: AuditReport) -> None:
    """Show what was computed, with its numbers, what it assumes, and where the statements come from."""
    with st.expander("Formula, assumptions and sources"):
        _formulas(subject, report)
        _assumptions(subject, report)
        source(report.claimed.reference if report.claimed.is_private else subject.certified.reference)
        if report.certified.is_private and report.certified.reference != report.claimed.reference:
            source(report.certified.reference)


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


def _assumptions(subject: Audited, report: AuditReport) -> None:
    assumption(f"Neighbours x ~ y are {report.certified.neighbours.value}; n is public.", holds=True)
    assumption(
        "The audit uses n, the network or die, the prior and the parameters: public things, never data.", holds=True
    )
    if network_kind(current()) is not None:
        assumption(
            "Every column's domain is public, not taken from the data.", holds=not work.leaking_columns(current())
        )
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
    if isinstance(subject.mechanism, HellingerLocal):
        assumption("The noise does not depend on the data: it does, and so tells of them itself.", holds=False)
    assumption(
        "The mechanism is sampled exactly. Samplers in floating point are not exact: the last digits of Laplace noise "
        "can betray a table (Mironov, CCS 2012). The audit is of the ideal law.",
        holds=False,
    )
