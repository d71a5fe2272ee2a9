"""Copies of the dashboard, to which a test makes a change, and Python in such a copy."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def copied(folder: Path) -> Path:
    """Return a folder with a copy of the dashboard.

    Compiled files are copied with their times, so they stay valid. Files that another test is writing are left out.
    """
    for name in ("dpbayes", "pages"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("*.pyc.*"))
    for name in ("tests", "data", ".streamlit"):
        (folder / name).symlink_to(ROOT / name)
    for name in ("app.py", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    return folder


def python(folder: Path, *words: str) -> str:
    """Return the output of Python in a copy."""
    done = subprocess.run(
        [sys.executable, "-P", *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
