"""What is below the pictures of Explore: details, the real release, and files."""

from collections.abc import Callable

import streamlit as st

from dpbayes.ui.pages.explore.details import details, download
from dpbayes.ui.pages.explore.files import python_of
from dpbayes.ui.pages.explore.make import make_release
from dpbayes.ui.pages.explore.picture import curve_frame
from dpbayes.ui.pages.explore.plan import plan_files
from dpbayes.ui.pages.explore.readings import Readings
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.from_python import same_from_python
from dpbayes.ui.widgets.show import data_and_download


def below(chosen: Chosen, readings: Readings) -> tuple[bool, list[Callable[[], bool]]]:
    """Show the sections; return whether work continues, and the functions that continue it."""
    shown = details(chosen, readings)
    st.subheader("Release and files", anchor=False)
    if chosen.is_curator:
        make_release(chosen)
        plan_files(chosen)
    download(readings.as_real)
    data_and_download(
        lambda: curve_frame(chosen, readings), name="density", curator_only=chosen.is_curator, simulates=True
    )
    same_from_python(python_of(chosen, readings), name="release", chosen=chosen)
    return shown
