"""Compare mechanisms: which mechanism wins when? One view at a time; nothing here depends on anybody's records."""

from collections.abc import Callable

import streamlit as st

from dpbayes.ui.pages.compare.noise import noise_view
from dpbayes.ui.pages.compare.non_negativity import non_negativity_view
from dpbayes.ui.pages.compare.tables import tables_view
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.research import CompareView
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart.saving import EPSILON, TABLE, Facts, N, pictures_tell
from dpbayes.ui.widgets.page import Places, places

VIEWS: dict[CompareView, Callable[[Places, Chosen], bool]] = {
    CompareView.NOISE: noise_view,
    CompareView.NON_NEGATIVITY: non_negativity_view,
    CompareView.TABLES: tables_view,
}

FACTS: dict[CompareView, Facts] = {
    CompareView.NOISE: EPSILON | TABLE,
    CompareView.NON_NEGATIVITY: EPSILON | TABLE | N,
    CompareView.TABLES: EPSILON | TABLE | N,
}
"""What the pictures of each view depend on."""


def compare_page(chosen: Chosen) -> bool:
    """Show the chosen view below the buttons that choose it; return whether its work continues."""
    view = chosen.options("compare").view
    pictures_tell(FACTS[view])
    return VIEWS[view](places(_view_control), chosen)


def _view_control() -> None:
    with st.container(key="compare-view"):
        controls.parameter_control("compare.view", label="collapsed")
