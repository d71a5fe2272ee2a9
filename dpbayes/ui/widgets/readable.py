"""Readable names where published ones are asked for or shown."""

from collections.abc import Iterable

import streamlit as st

from dpbayes.base.text import escaped
from dpbayes.ui.session.chosen import Chosen


def readable_names_note(chosen: Chosen, names: Iterable[str]) -> None:
    """Say below a question what its nodes are called in a sentence, where that is another name than their own."""
    said = [
        f"{escaped(name)}: {escaped(chosen.readable[name].name)}"
        for name in dict.fromkeys(names)
        if name in chosen.readable and chosen.readable[name].name.casefold() != name.casefold()
    ]
    if said:
        st.caption("; ".join(said) + ".")
