"""The worst pair of neighbouring tables on the Audit page: named, and drawn where its laws can be."""

from collections.abc import Hashable

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.audit.report.pictures import Picture, Shares, TwoLaws
from dpbayes.audit.report.types import AuditReport, WorstCase
from dpbayes.base.text import escaped
from dpbayes.figures.audit import laws_figure, row_losses_figure
from dpbayes.figures.style import distinct_labels, titled
from dpbayes.model.network import Network
from dpbayes.ui.pages.audit.subject import Audited
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import data_and_download, sentence_instead

STEEP = {"type": "log", "exponentformat": "power", "nticks": 5}
"""An axis of probabilities that span many magnitudes."""


def worst_section(subject: Audited, report: AuditReport) -> None:
    """Name the two tables and the output, and draw what can be drawn."""
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


@st.cache_data(
    scope="session",
    max_entries=16,
    show_spinner="Computing the privacy loss …",
    hash_funcs={Network: hash},
)
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
        lambda: pd.DataFrame({"row": picture.rows, "privacy loss (nats)": picture.losses}),
        name="worst-pair",
        curator_only=False,
    )
