"""The two caches of the dashboard: of a session (`kept`, `session_cache`) and of the server (`server_cache`).

All sessions of a server share only results that follow from public data and settings alone.
"""

from collections.abc import Callable
from typing import Any, Literal, ParamSpec, TypeVar, cast

import streamlit as st

from dpbayes.model.network import Network

Result = TypeVar("Result")
Arguments = ParamSpec("Arguments")

Hashes = dict[str | type[Any], Callable[[Any], Any]]
_HASHED: Hashes = {Network: hash}


def kept(name: str, inputs: object, make: Callable[[], Result]) -> Result:
    """Return the value of this name; `make` computes it again if its inputs have changed, and replaces it.

    If `make` raises, the former value stays.
    """
    if not is_kept(name, inputs):
        st.session_state[name] = inputs, make()
    return cast("Result", st.session_state[name][1])


def is_kept(name: str, inputs: object) -> bool:
    """Whether the session has the value of this name for these inputs."""
    entry = st.session_state.get(name)
    return entry is not None and bool(entry[0] == inputs)


def session_cache(
    most: int,
    *,
    spinner: str | Literal[False] = False,
    show_time: bool = False,
    hashed: Hashes = _HASHED,
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator that keeps the last `most` results of a function in the session; networks are arguments.

    Other arguments that Streamlit cannot compare need a function of their type in `hashed`.
    """
    functions = _HASHED | hashed
    return st.cache_data(
        scope="session", max_entries=most, show_spinner=spinner, show_time=show_time, hash_funcs=functions
    )


def server_cache(
    most: int | None = None, *, spinner: str | Literal[False] = False
) -> Callable[[Callable[Arguments, Result]], Callable[Arguments, Result]]:
    """Return a decorator that keeps the last `most` results of a function for all sessions of the server."""
    return st.cache_resource(max_entries=most, show_spinner=spinner)
