"""dpbayes: see what privacy costs a Bayesian network and what it buys. Start with `make run`."""

import gc
import sys

import streamlit as st

GREY = """
<div class="coming" aria-hidden="true" style="display: grid; gap: 1rem">
  <div style="height: 2rem; width: 40%; border-radius: 0.5rem; background: rgb(128 128 128 / 16%)"></div>
  <div style="height: 50vh; border-radius: 0.5rem; background: rgb(128 128 128 / 16%)"></div>
</div>
"""


def main() -> None:
    """Run the dashboard; who comes while its code is still read, with `streamlit run`, sees where it will be."""
    coming = st.empty()
    if not hasattr(sys.modules.get("dpbayes.ui.app"), "app"):
        coming.html(GREY)
        gc.disable()  # nothing of what is imported is garbage
    from dpbayes.ui.app import app

    gc.enable()
    app()
    coming.empty()


main()
