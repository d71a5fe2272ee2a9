"""The two caches of the dashboard: of a session (`kept`, `session_cache`) and of the server (`server_cache`).

All sessions of a server share only results that follow from public data and settings alone.
"""

from collections.abc import Callable
from typing import Literal, ParamSpec, TypeVar, cast

import streamlit as st

from dpbayes.model.network import Network

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")


def kept(name: str, inputs: object, make: Callable[[], Result]) -> Result:
    """Return the value of this name; `make` computes it again if its inputs have changed, and replaces it.

    If `make` raises, the former value stays.
    """
    entry = st.session_state.get(name)
    if entry is None or entry[0] != inputs:
        entry = st.session_state[name] = inputs, make()
    return cast("Result", entry[1])


def session_cache(
    most: int, *, spinner: str | Literal[False] = False
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator that keeps the last `most` results of a function in the session; networks are arguments."""
    return st.cache_data(scope="session", max_entries=most, show_spinner=spinner, hash_funcs={Network: hash})


def server_cache(
    most: int | None = None, *, spinner: str | Literal[False] = False
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator that keeps the last `most` results of a function for all sessions of the server."""
    return st.cache_resource(max_entries=most, show_spinner=spinner)
