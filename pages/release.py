"""Release: choose a mechanism and epsilon; see private beside exact."""

import streamlit as st

from dpbayes.ui.pages.release.page import release_page
from dpbayes.ui.widgets.page import live

st.title("Release")
live(release_page)
