"""The only place, with app.py and pages/, that knows Streamlit."""

from streamlit.runtime.pages_manager import PagesManager

from dpbayes.ui.server.security import bound_uploads, hide_addresses
from dpbayes.ui.widgets.guard import watch

# A folder named pages/ makes Streamlit run page files alone, without app.py, until st.navigation has been called once.
# app.py imports this as the server starts, before anybody can come.
PagesManager.uses_pages_directory = False
hide_addresses()
bound_uploads()
watch()
