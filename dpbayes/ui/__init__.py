"""The only place, with app.py and pages/, that knows Streamlit."""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

# A folder named pages/ makes Streamlit run page files alone, without app.py, until st.navigation has been called once
# in the process. A link to a page that is the first thing a new server sees would then miss the bar and the
# settings: say that we navigate ourselves, and run again. That ends this import, so it comes before all that takes
# time: a second visitor who imports meanwhile would be left with half of the package, and see an error.
if PagesManager.uses_pages_directory:
    PagesManager.uses_pages_directory = False
    st.rerun()

from dpbayes.ui.security import bound_uploads, hide_addresses  # see above why here
from dpbayes.ui.widgets.guard import watch
from dpbayes.ui.wire import open_sockets, send_at_once

hide_addresses()
bound_uploads()
watch()
send_at_once(open_sockets())
