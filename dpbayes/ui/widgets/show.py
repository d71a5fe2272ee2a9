"""Elements of pages: headlines, error messages, folded parts, tables, assumptions, sources, and the next page."""

import logging
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.references import PAPERS, Reference
from dpbayes.base.terms import MEANINGS
from dpbayes.base.text import escaped, near_one
from dpbayes.base.validation import InputError
from dpbayes.ui.session.chosen import GraphUnusable, TableMissing, choose_table
from dpbayes.ui.session.current import change, current, shown_place
from dpbayes.ui.widgets.address import turn_to

WENT_WRONG = (
    "Something went wrong here. Your settings are kept: go to another page, open a story, or reload this page. The "
    "server's log describes the error."
)

MOST_EXPLAINED = 4
"""The largest number of terms that one tooltip explains."""

_LOG = logging.getLogger(__name__)
_TERMS = re.compile(
    r"(?<![\w-])(?:" + "|".join(map(re.escape, sorted(MEANINGS, key=len, reverse=True))) + r")(?![\w-])"
)


def headline(text: str) -> None:
    """Show the headline of the page, with its terms explained in a tooltip; names in it must be `escaped`."""
    st.markdown(f"## {text}", help=explained(text) or None)


def explained(text: str) -> str:
    """Return a line for each of the first terms of a text, as Markdown; empty if it has none."""
    terms = list(dict.fromkeys(MEANINGS[match[0]] for match in _TERMS.finditer(text)))[:MOST_EXPLAINED]
    return "\n\n".join(f"**{term.name}**: {term.meaning}" for term in terms)


@contextmanager
def sentence_instead() -> Iterator[None]:
    """Show an InputError as its message instead of the content, and continue after the block."""
    try:
        yield
    except InputError as error:
        show_refusal(error)


_said: ContextVar[set[str] | None] = ContextVar("said", default=None)


@contextmanager
def refusals_said_once() -> Iterator[None]:
    """Show the message of an InputError where it occurs first in the block, and not again."""
    token = _said.set(set())
    try:
        yield
    finally:
        _said.reset(token)


@contextmanager
def folded(title: str, *, key: str) -> Iterator[bool]:
    """Show a folded part whose content is computed only while it is open; yield whether it is open."""
    with st.expander(title, on_change="rerun", key=key) as part:
        yield bool(part.open)


def show_refusal(error: InputError) -> None:
    """Show the message of an InputError, and the ways out if the table is missing or the graph cannot be used."""
    said = _said.get()
    if said is not None:
        if str(error) in said:
            return
        said.add(str(error))
    st.warning(escaped(str(error)))
    if isinstance(error, TableMissing):
        _ways_out(error, "Data", "Use synthetic records instead", lambda: choose_table("synthetic"))
    elif isinstance(error, GraphUnusable) and current().graph and shown_place() != "network":
        _ways_out(error, "Network", "Use the table’s own graph", lambda: change(graph=""))


def _ways_out(error: InputError, page: str, instead: str, change_to: Callable[[], None]) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        file = f"pages/{page.lower()}.py"
        st.page_link(file, label=f"Open {page}", icon=":material/arrow_forward:", width="content")
        st.button(instead, key=f"instead.{zlib.crc32(str(error).encode())}", on_click=change_to)


_inside: ContextVar[bool] = ContextVar("inside", default=False)


@contextmanager
def guarded() -> Iterator[None]:
    """Show an error in the block as a message, and write an unexpected error to the server's log.

    Streamlit ends a run with a BaseException, which passes.
    """
    token = _inside.set(True)
    try:
        yield
    except InputError as error:
        show_refusal(error)
    except Exception as error:
        _LOG.error("A part of the page failed.", exc_info=error)
        st.error(WENT_WRONG)
    finally:
        _inside.reset(token)


_RERUN = "page.rerun"


def within_app() -> None:
    """Rerun, once in a session, if this page was run without `app.py`: see dpbayes/ui/__init__.py."""
    if not st.session_state.setdefault(_RERUN, _inside.get()):
        st.session_state[_RERUN] = True
        st.rerun()


def next_page(title: str, file: str, *, disabled: bool = False, is_first: bool = True) -> None:
    """Show the button to the next page, unless a story has its own; `is_first`: nothing is to be done before."""
    kind: Literal["primary", "secondary"] = "primary" if is_first else "secondary"
    label, icon = f"Next: {title}", ":material/arrow_forward:"
    is_shown = not current().story
    if is_shown and st.button(label, type=kind, key="next", icon=icon, icon_position="right", disabled=disabled):
        turn_to(file)


def numbers(frame: "pd.DataFrame") -> None:
    """Show a table of formatted numbers that sort as numbers."""
    st.dataframe(frame.style.format(_cell_text), hide_index=True)  # the cells stay numbers


def _cell_text(value: object) -> str:
    return near_one(value) if isinstance(value, float) else str(value)


def offered_name(name: str, end: str, *, simulates: bool = False, curator_only: bool = False) -> str:
    """Return the name of a file that the shown page offers: the page, the content, and who may have it."""
    private = "curator-only-" if curator_only else ""
    words = dict.fromkeys([shown_place(), name, *["simulation"] * simulates])
    return f"{private}{'-'.join(filter(None, words))}.{end}"


def assumption(text: str, *, holds: bool = True) -> None:
    """Show one assumption of a statement with a tick or a cross."""
    st.markdown(f"{'✓' if holds else ':red[**✗**]'} &nbsp;{text}")


def source(reference: Reference) -> None:
    """Show the paper that is the source of a statement, and the place in it."""
    paper = PAPERS[reference.paper]
    title = f"[{paper.title}]({paper.link})" if paper.link else paper.title
    st.caption(f"Source: {title}, {paper.venue}, {reference.place}")
