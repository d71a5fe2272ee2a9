"""The only place, with app.py and pages/, that knows Streamlit."""

import os

# Matrices are small and sessions many: a second thread for linear algebra takes processor time and saves none. This has
# an effect before numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
