"""Where the dashboard's own files lie, and the command that starts it there."""

from pathlib import Path

import streamlit as st


def dashboard_folder(package: Path) -> Path:
    """Return the folder of app.py, pages/ and static/: inside an installed package, above it in a checkout."""
    inside = package / "dashboard"
    return inside if inside.is_dir() else package.parent


FOLDER = dashboard_folder(Path(__file__).resolve().parents[2])
APP = FOLDER / "app.py"
PLOTLY = "app/static/plotly-cartesian.min.js"


def start_command(*, for_class: bool = False, port: int | None = None) -> str:
    """Return the command that serves this computer, or a class: make's in a checkout, which has the environment."""
    if (FOLDER / "Makefile").is_file():
        return f"make {'serve' if for_class else 'run'}" + (f" PORT={port}" if port else "")
    return "python -m dpbayes" + (" --class" if for_class else "") + (f" --port {port}" if port else "")


def plotly_address() -> str:
    """Return the address of Plotly's script on this server, with the kinds of traces that the figures use."""
    base = str(st.get_option("server.baseUrlPath")).strip("/")
    return f"/{base}/{PLOTLY}" if base else f"/{PLOTLY}"
