"""What the Audit page shows at its end: recalibration, and the formulas, assumptions and sources of an audit."""

from functools import singledispatch

import streamlit as st

from dpbayes.audit.reports import AuditReport, Exactness
from dpbayes.audit.trimmed_network import tables_are_few
from dpbayes.mechanisms import Calibration, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth, LaplaceCells, LaplaceOne
from dpbayes.mechanisms.map_exponential import PrintedMap
from dpbayes.ui import controls, work
from dpbayes.ui.audit_subject import Audited, network_kind, recalibrated_epsilon, to_recalibrate
from dpbayes.ui.formulas import formula
from dpbayes.ui.settings import current, set_parameter
from dpbayes.ui.show import assumption, escaped, sentence_instead, source

QUICK_DIE = 300
"""Up to so many candidates a die is recalibrated at once, else when asked."""


# Recalibration


def recalibration(subject: Audited, report: AuditReport) -> None:
    """Find the internal epsilon at which the worst neighbours lose no more than what is asked for, and offer it."""
    st.subheader("Recalibrate to what I asked for")
    left, right = st.columns([1, 2], gap="medium")
    with left:
        controls.parameter_control("audit.target")
    with right, sentence_instead():
        _offer(subject, report, current().options("audit").target)


def _offer(subject: Audited, report: AuditReport, target: float) -> None:
    if isinstance(subject.mechanism, PrintedMap):
        st.caption(
            "It is not recalibrated: nothing bounds its loss for every n. The private MAP scores by mass instead, and "
            "keeps to its ε."
        )
        return
    wanted = hash((subject.key, target))
    if not quick(subject) and st.session_state.get("audit.search") != wanted:
        st.caption("Every ε that is tried is an audit of its own: this may take half a minute.")
        st.button("Find it", key="audit.find", on_click=_search, args=(wanted,))
        return
    epsilon = recalibrated_epsilon(subject, target)
    delta = report.claimed.delta
    asked = f"ε = {target:g}" + (f", δ = {delta:.3g}" if delta else "")
    printed = getattr(subject.mechanism, "calibration", None)
    how = ""
    if isinstance(subject.mechanism, PosteriorSampler) and printed is Calibration.AS_PRINTED:
        how = ", with the certified calibration,"
    st.markdown(f"Run at **ε = {epsilon:.6g}**{how} it loses no more than {asked} at this setting.")
    st.button("Use it", key="audit.use", on_click=_use, args=(subject, epsilon), disabled=_in_use(subject, epsilon))
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
    return isinstance(made, LaplaceUpdates | LaplaceFourier | LaplaceCells | LaplaceOne)


def _search(wanted: int) -> None:
    st.session_state["audit.search"] = wanted


def _in_use(subject: Audited, epsilon: float) -> bool:
    made = to_recalibrate(subject)
    same = getattr(made, "calibration", None) is getattr(subject.mechanism, "calibration", None)
    return bool(same and subject.mechanism.epsilon == epsilon)


def _use(subject: Audited, epsilon: float) -> None:
    set_parameter("epsilon", epsilon)
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
    lost = f"{report.exact:.5g}" if report.exact < float("inf") else r"\infty"
    st.markdown(described(subject.mechanism))
    st.markdown(
        f"""
The loss of neighbours $x, y$ at an output $r$ is $\\ln\\frac{{P[r|x]}}{{P[r|y]}}$, and its largest value is the exact
pure $\\varepsilon$: $\\max_{{x \\sim y}}\\max_r \\ln\\frac{{P[r|x]}}{{P[r|y]}} {relation} {lost}$.

The privacy curve is $\\delta(\\varepsilon) = \\max_{{x \\sim y}}\\sum_r \\left(P[r|x] - e^\\varepsilon
P[r|y]\\right)_+$, here $\\delta({claim.epsilon:.4g}) {same} {latex(float(value))}$.

An attacker's odds after $j$ releases are the first odds times $\\prod_k P[r_k|x]/P[r_k|y]$, at most
$e^{{j\\varepsilon}}$ times the first odds: the ε of releases from one table add up.
"""
    )


def latex(number: float) -> str:
    """Return a number in three digits as LaTeX."""
    digits, _, exponent = f"{number:.3g}".partition("e")
    return f"{digits} \\cdot 10^{{{int(exponent)}}}" if exponent else digits


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
            f"The maximum is exact: no, it lies between {report.at_least:.4g}, which two tables reach, and "
            f"{report.exact:.4g}, which none exceed.",
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


@singledispatch
def described(mechanism: object) -> str:
    """Return what a mechanism does, as Markdown with this setting's numbers."""
    return formula(mechanism)


@described.register
def _(mechanism: HellingerGlobal) -> str:
    return _exponential(r"\Delta_g", "the largest Hellinger distance between neighbours' posteriors", mechanism.epsilon)


@described.register
def _(mechanism: HellingerLocal) -> str:
    return _exponential(r"\Delta_l(x)", "the largest Hellinger distance to a neighbour of the data", mechanism.epsilon)


@described.register
def _(mechanism: HellingerSmooth) -> str:
    what = rf"the smooth sensitivity at $\beta = {mechanism.beta:.4g}$"
    return _exponential(r"S_\beta(x)", what, mechanism.epsilon)


def _exponential(scale: str, what: str, epsilon: float) -> str:
    return (
        f"$P[r|x] \\propto \\exp(-\\varepsilon H(x, r)/2{scale})$ over all posteriors $r$ of the die, at "
        f"$\\varepsilon = {epsilon:.4g}$; $H$ is the Hellinger distance and ${scale}$ {what}."
    )


@described.register(LaplaceCells | LaplaceOne)
def _(mechanism: LaplaceCells | LaplaceOne) -> str:
    return f"{escaped(mechanism.label)}: noise of scale $b = {mechanism.noise_scale:.4g}$, then clipped to $[0, n]$."


@described.register
def _(mechanism: PrintedMap) -> str:
    return (
        "$p(\\theta|x) \\propto \\exp(\\varepsilon\\, p_x(\\theta) / 2\\Delta)$ times the prior's density, where "
        "$p_x$ is the posterior's *density* on $[\\omega, 1 - \\omega]$, $\\Delta = \\sqrt{L}$ and "
        f"$L = \\ln\\frac{{1-\\omega}}{{\\omega}}$, so that $\\Delta = {mechanism.sensitivity:.4g}$. That bounds how "
        f"much a set's *probability* moves; a density moves by more. On a grid of {mechanism.points:,} values."
    )
