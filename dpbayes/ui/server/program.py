"""Where the dashboard's own files lie, and the command that starts it there."""

from pathlib import Path


def dashboard_folder(package: Path) -> Path:
    """Return the folder of app.py, pages/ and static/: inside an installed package, above it in a checkout."""
    inside = package / "dashboard"
    return inside if inside.is_dir() else package.parent


FOLDER = dashboard_folder(Path(__file__).resolve().parents[2])
APP = FOLDER / "app.py"


def start_command(*, for_class: bool = False, port: int | None = None) -> str:
    """Return the command that serves this computer, or a class: make's in a checkout, which has the environment."""
    if (FOLDER / "Makefile").is_file():
        return f"make {'serve' if for_class else 'run'}" + (f" PORT={port}" if port else "")
    return "python -m dpbayes" + (" --class" if for_class else "") + (f" --port {port}" if port else "")
