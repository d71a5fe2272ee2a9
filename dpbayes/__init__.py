"""Differentially private Bayesian inference on Bayesian networks.

`import dpbayes as dp` provides the names that a curator and a recipient need. The subpackages contain all other names.
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

__version__ = "0.2.0"

if TYPE_CHECKING:
    from dpbayes import estimators as estimators
    from dpbayes import plot as plot
    from dpbayes.api import *  # noqa: F403


def __getattr__(name: str) -> object:
    """Import `dpbayes.api` when a name of it is first used: a command or a server starts sooner without.

    `dp.plot` and `dp.estimators`, which need packages of their own, are imported when they are first used.
    """
    if name in ("estimators", "plot"):
        return import_module(f"dpbayes.{name}")
    api = vars(import_module("dpbayes.api"))
    if name == "__all__":
        return sorted(entry for entry in api if not entry.startswith("_"))
    if name in api and not name.startswith("_"):
        return api[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    names: list[str] = __getattr__("__all__")  # type: ignore[assignment]  # of this name
    return sorted([*names, "plot", *(["estimators"] if find_spec("sklearn") else [])])  # help() imports each
