"""The only place, with app.py and pages/, that knows Streamlit."""

import os
from contextlib import suppress

import streamlit as st
from streamlit.errors import StreamlitAPIException

# Matrices are small and sessions many: a second thread for linear algebra takes processor time and saves none. This has
# an effect before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A folder named pages/ makes Streamlit run page files alone, without app.py, until st.navigation has been called once.
# A call without pages is refused, but counts.
with suppress(StreamlitAPIException):
    st.navigation([])
