"""The lower part of the Audit page: the worst pair, formulas, assumptions and sources."""

from collections.abc import Hashable

import numpy as np
import streamlit as st

from dpbayes.audit.pictures import Picture, Shares, TwoLaws
from dpbayes.audit.report import AuditReport, Exactness, WorstCase
from dpbayes.base.libraries import pd
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import escaped, latex, numeral
from dpbayes.figures.audit import laws_figure, row_losses_figure
from dpbayes.figures.style import distinct_labels, titled
from dpbayes.mechanisms.exact_class import formula
from dpbayes.ui.pages.audit.subject import Audited, network_kind
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import assumption, data_and_download, sentence_instead, source

# The worst pair


STEEP = {"type": "log", "exponentformat": "power", "nticks": 5}
"""An axis of probabilities that span many magnitudes."""


def worst_section(subject: Audited, report: AuditReport) -> None:
    """Show the two tables and the output, and a picture of them if there is one."""
    st.subheader("The worst pair of neighbouring tables")
    worst = report.worst
    if worst is None:
        st.markdown("There is no worst pair, because no record changes the release.")
        return
    st.markdown(
        f"{subject.entry.tables}\n\n"
        f"- **First table:** {escaped(worst.first)}\n- **Second table:** {escaped(worst.second)}\n"
        f"- **Output with the largest privacy loss:** {escaped(worst.output)}"
    )
    with sentence_instead():
        picture = _picture(subject.key, subject, worst)
        if isinstance(picture, TwoLaws):
            _laws(picture)
        elif isinstance(picture, Shares):
            _shares(picture)
        else:
            st.caption("There are too many outputs to draw.")


@session_cache(16, spinner="Computing the privacy loss …")
def _picture(key: Hashable, _subject: Audited, _worst: WorstCase) -> Picture | None:
    return _subject.entry.picture(_subject.mechanism, _worst, **_subject.sizes)


def _laws(picture: TwoLaws) -> None:
    figure = laws_figure(
        picture.places,
        picture.first,
        picture.second,
        x=picture.x,
        y=titled(picture.y, **(STEEP if picture.is_logarithmic else {})),
    )
    chart(figure, key="audit.laws", alt=picture.alt)
    if picture.caption:
        st.caption(picture.caption)
    if picture.columns is not None:
        columns = picture.columns
        data_and_download(lambda: pd.DataFrame(columns), name="worst-pair", curator_only=False)


def _shares(picture: Shares) -> None:
    order = np.argsort(-picture.losses)[: picture.most]
    labels = distinct_labels([picture.rows[k] for k in order], 48)
    chart(row_losses_figure(labels, picture.losses[order]), key="audit.rows", alt=picture.alt)
    st.caption(picture.caption)
    data_and_download(
        lambda: pd.DataFrame({"row": picture.rows, "privacy loss, nats": picture.losses}),
        name="worst-pair",
        curator_only=False,
    )


# Formulas, assumptions, sources


def details(chosen: Chosen, subject: Audited, report: AuditReport) -> None:
    """Show the formulas with their numbers, the assumptions and the sources."""
    with st.expander("Formula, assumptions and sources"):
        _formulas(subject, report)
        _assumptions(chosen, subject, report)
        _sources(report.claimed, report.certified)


def unaudited_details(subject: Audited) -> None:
    """Show the formula and the sources of a mechanism without an audit."""
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
The privacy loss of neighbouring tables $x, y$ at an output $r$ is $\\ln\\frac{{P[r|x]}}{{P[r|y]}}$. The worst case is
$\\max_{{x \\sim y}}\\max_r \\ln\\frac{{P[r|x]}}{{P[r|y]}} {relation} {lost}$.

The privacy curve is $\\delta(\\varepsilon) = \\max_{{x \\sim y}}\\sum_r \\left(P[r|x] - e^\\varepsilon
P[r|y]\\right)_+$, here $\\delta({latex(claim.epsilon)}) {same} {latex(float(value), 3)}$.

An attacker's odds after $j$ releases are the prior odds times $\\prod_k P[r_k|x]/P[r_k|y]$, at most
$e^{{j\\varepsilon}}$ times the prior odds. The ε values of several releases of one table add up.
"""
    )


def _assumptions(chosen: Chosen, subject: Audited, report: AuditReport) -> None:
    assumption(f"Neighbours x ~ y are {report.certified.neighbours.value}; n is public.", holds=True)
    assumption("The audit uses public settings only: n, the network or die, the prior and the parameters.", holds=True)
    if network_kind(chosen.settings) is not None:
        assumption("The domains of all columns are public, not taken from the data.", holds=not chosen.leaking_columns)
    if report.exactness is Exactness.EXACT:
        assumption("The worst case is exact: the maximum is over all neighbouring tables and all outputs.", holds=True)
    else:
        assumption(
            f"The worst case is exact. Here the worst case is only known to lie between {numeral(report.at_least, 4)} "
            f"and {numeral(report.exact, 4)}.",
            holds=False,
        )
    if not report.certified.is_private:
        assumption(
            "The guarantee is proved for every n and prior. The worst case is known for this setting only.", holds=False
        )
    for doubt in subject.entry.doubts:
        assumption(doubt, holds=False)
    assumption(
        "The mechanism is sampled exactly. Floating-point samplers are not exact: the last digits of Laplace noise "
        "can reveal a table (Mironov, CCS 2012). The audit covers the ideal distribution only.",
        holds=False,
    )
