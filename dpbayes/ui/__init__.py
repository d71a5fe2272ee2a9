"""The only place, with app.py and pages/, that knows Streamlit."""

import os

from streamlit.runtime.pages_manager import PagesManager

from dpbayes.ui.widgets.guard import watch

# Matrices are small and sessions many: a second thread for linear algebra takes processor time and saves none. This has
# an effect before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A folder named pages/ makes Streamlit run page files alone, without app.py, until st.navigation has been called once.
# app.py imports this as the server starts, before anybody can come.
PagesManager.uses_pages_directory = False
watch()
