"""What a session keeps, one value under each name, as long as what it was made from is the same."""

from collections.abc import Callable
from typing import TypeVar, cast

import streamlit as st

Result = TypeVar("Result")


def kept(name: str, made_from: object, make: Callable[[], Result]) -> Result:
    """Return the value of this name, made again where it was made from something else, whose value is then forgotten.

    What `make` raises leaves the former value where it was.
    """
    entry = st.session_state.get(name)
    if entry is None or entry[0] != made_from:
        entry = st.session_state[name] = made_from, make()
    return cast("Result", entry[1])
