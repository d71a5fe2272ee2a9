"""A scan of a table where it lies: asked for once, watched, stopped, and kept with what it brought."""

from collections.abc import Callable, Hashable
from contextlib import nullcontext
from typing import TypeVar

import streamlit as st

from dpbayes.base.steps import Work
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError
from dpbayes.ui.session.scans import Scan
from dpbayes.ui.widgets.running import Running, forget, progress, running_elsewhere

Result = TypeVar("Result")


def scan_once_asked(
    kind: str,
    key: Hashable,
    start: Callable[[], Work[Result]],
    keep: Callable[[Scan[Result]], None],
    *,
    label: str,
    told: str,
) -> bool:
    """Offer a scan by a button; once it is asked for, go on with it and `keep` what it brings; whether it goes on.

    `told` is what it is for; it says besides that nothing happens to the table.
    """
    if st.session_state.get(_asked(kind)) != key:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(label, type="primary", key=f"{kind}.scan", on_click=_ask, args=(kind, key))
            st.caption(f"{told} Nothing is written there, and no record leaves it.")
        return False
    work = running_elsewhere(kind, key, start)
    scan = _after_a_moment(work)
    if scan is None:
        said = f"{work.share:.0%} of the table" if work.share else f"{numeral(work.seconds, 2)} seconds"
        progress(work, said, key=f"{kind}.stop")
        return work.going
    keep(scan)
    forget(kind, key)
    forget_asking(kind)
    st.rerun()


def _after_a_moment(work: Running[Result]) -> Scan[Result] | None:
    """Work for a moment; return what the scan brought, once it is over."""
    opening = nullcontext() if work.taken else st.spinner("Opening the table …")  # which may take a cluster seconds
    try:
        with opening:
            work.work()
    except InputError as error:
        return Scan(None, work.seconds, str(error))
    return Scan(work.result, work.seconds) if work.done else None


def forget_asking(kind: str) -> None:
    """Forget that a scan was asked for: the next one is offered again."""
    st.session_state.pop(_asked(kind), None)


def _ask(kind: str, key: Hashable) -> None:
    st.session_state[_asked(kind)] = key


def _asked(kind: str) -> str:
    return f"{kind}.asked"
