"""A chart that the browser keeps: the next figure changes it in place, where Streamlit's own is built anew."""

import json
from pathlib import Path

import streamlit as st

from dpbayes.figures.style import Figure

PLOTLY = "app/static/plotly-cartesian.min.js"
"""Where the server offers Plotly's script, with the kinds of traces that the figures have."""


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


_mount = st.components.v2.component(
    "dpbayes_chart",
    html='<div class="dpbayes-chart" role="figure"><div></div></div>',
    css=_asset("chart.css"),
    js=_asset("chart.js"),
    isolate_styles=False,  # Plotly's own styles are the page's
)


def chart(figure: Figure, *, key: str, alt: str) -> None:
    """Show a figure with a text for those who cannot see it."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    library = f"/{base}/{PLOTLY}" if base else f"/{PLOTLY}"
    head = json.dumps({"library": library, "alt": alt, "name": key})
    # As bytes, because Streamlit looks for tables in whatever else it is given.
    _mount(key=key, data=f'{head[:-1]}, "figure": {figure.to_json()}}}'.encode())
