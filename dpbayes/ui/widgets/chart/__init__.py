"""A chart that is updated in place; Streamlit's own chart is built again for each new figure."""

import json
from collections.abc import Mapping
from pathlib import Path

import streamlit as st

from dpbayes.boards.document import WEB
from dpbayes.figures.style import Figure
from dpbayes.ui.server.program import plotly_address
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.current import shown_place
from dpbayes.ui.widgets.chart.saving import facts_of, file_name, plain_name, release_caption, settings_caption
from dpbayes.ui.widgets.frames import recorded, token


def _asset(name: str) -> str:
    return (Path(__file__).parent / name).read_text(encoding="utf-8")


_mount = st.components.v2.component(
    "dpbayes_chart",
    html=_asset("chart.html"),
    css=_asset("chart.css") + _asset("picture.css"),
    js="\n".join(  # a component takes a single script
        [
            *map(_asset, ("saving.js", "picture.js")),
            *((WEB / name).read_text(encoding="utf-8") for name in ("legend.js", "moving.js")),
            _asset("chart.js"),
        ]
    ),
    isolate_styles=False,  # Plotly's own styles are the page's
)
_mount_take = st.components.v2.component(
    "dpbayes_take",
    html=_asset("take.html"),
    css=_asset("take.css"),
    js=_asset("take.js"),
    isolate_styles=False,  # it looks for the chart above it
)


def chart(
    figure: Figure, *, key: str, alt: str, simulates: bool = False, release: Mapping[str, str] | None = None
) -> None:
    """Show a figure with a text alternative.

    A saved picture states whether it `simulates` releases. With the facts of a real `release`, the saved picture states
    these facts instead of the settings of the page.
    """
    if recorded(key, figure):
        return
    page, chosen = shown_place(), Chosen.now()
    if release is None:
        name = file_name(page, key, chosen.settings, simulates=simulates)
        caption = settings_caption(page, chosen, facts_of(page), simulates=simulates)
    else:
        name, caption = plain_name(page, key, release), release_caption(page, release)
    saved = {"file": name, "caption": caption}
    head = json.dumps({"library": plotly_address(), "alt": alt, "name": key, "frames": token(), **saved})
    # As bytes, because Streamlit searches any other data for tables.
    data = f'{head[:-1]}, "figure": {figure.to_json()}}}'.encode()
    # With the height, Streamlit reserves the space until the component has loaded.
    _mount(key=key, height=round(figure.layout["height"]), data=data)


def take_picture(*, key: str) -> None:
    """Offer the chart above as SVG and PNG in two sizes, created in the browser; nothing without a chart."""
    _mount_take(key=f"take.{key}")
