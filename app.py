"""dpbayes: see what privacy costs a Bayesian network and what it buys. Start with `make run`."""

import gc
import sys

import streamlit as st
from starlette.middleware import Middleware

from dpbayes.ui.server.security import secured
from dpbayes.ui.server.starting import starting
from dpbayes.ui.server.uploads import bounded

GREY = """
<div class="coming" aria-hidden="true" style="display: grid; gap: 1rem">
  <div style="height: 2rem; width: 40%; border-radius: 0.5rem; background: rgb(128 128 128 / 16%)"></div>
  <div style="height: 50vh; border-radius: 0.5rem; background: rgb(128 128 128 / 16%)"></div>
</div>
"""


def main() -> None:
    """Run the dashboard; a visitor who comes while its code is still imported sees grey boxes in its place."""
    coming = st.empty()
    if not hasattr(sys.modules.get("dpbayes.ui.app"), "app"):
        coming.html(GREY)
        gc.disable()  # nothing of what is imported is garbage
    from dpbayes.ui.app import app

    gc.enable()
    app()
    coming.empty()


if __name__ == "__main__":  # Streamlit runs this file for every visitor
    main()
else:  # and imports it once, as the server starts
    layers = [Middleware(layer) for layer in (secured, bounded)]
    app = st.App(__file__, lifespan=starting, middleware=layers)
