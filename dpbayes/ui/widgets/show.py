"""How a page shows things: a sentence, a chart with its data, a refusal."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pandas as pd
import streamlit as st

from dpbayes.base.references import PAPERS, Reference
from dpbayes.base.spreadsheet import safe_csv
from dpbayes.base.terms import explained
from dpbayes.base.text import escaped, near_one
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import MECHANISMS
from dpbayes.mechanisms.base import name_of
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart import take_picture
from dpbayes.ui.widgets.chart.saving import offered_name
from dpbayes.ui.widgets.guard import WENT_WRONG, log_failure, notes

SLOW = 2_000_000
"""Bytes of a file, or values of a table, from which work on them shows a bar."""

MOST_ROWS = 1_000
"""Rows of numbers that a browser is given; what is downloaded has all."""


NAMES = tuple(kind.label for kind in MECHANISMS if kind.label[0] == name_of(kind)[0])
"""Labels of mechanisms that begin inside a sentence as they do at its head: with a person's name."""


def inside(label: str) -> str:
    """Return a mechanism's label as it stands inside a sentence; one that begins with a person's name keeps it so."""
    return label if label.startswith(NAMES) else label[0].lower() + label[1:]


def headline(text: str) -> None:
    """Show the page's one sentence, with its terms explained in a tooltip; names in it must be `escaped`."""
    st.markdown(f"## {text}", help=explained(text) or None)


@contextmanager
def sentence_instead() -> Iterator[None]:
    """Show a refusal as its sentence, in place of what could not be shown, and go on."""
    try:
        yield
    except InputError as error:
        show_refusal(error)


_TO_UNFOLD = "page.to_unfold"


def unfold(key: str) -> None:
    """Have the part of this key open when it is shown next: what a browser says of a closed part would undo it now."""
    st.session_state[_TO_UNFOLD] = key


@contextmanager
def folded(title: str, *, key: str) -> Iterator[bool]:
    """Offer a part that is computed once it is opened; yield whether it is open."""
    if st.session_state.get(_TO_UNFOLD) == key:
        del st.session_state[_TO_UNFOLD]
        st.session_state[key] = True
    with st.expander(title, on_change="rerun", key=key) as part:
        yield bool(part.open)


def show_refusal(error: InputError) -> None:
    """Show a refusal's sentence."""
    st.warning(escaped(str(error)))


def remark(sentence: str) -> None:
    """Show a sentence about what was asked for, if there is one, where something near to it is shown."""
    if sentence:
        show_refusal(InputError(sentence))


_inside: ContextVar[bool] = ContextVar("inside", default=False)


def is_guarded() -> bool:
    """Whether something here stands in place of what fails: in every page that `app.py` runs."""
    return _inside.get()


@contextmanager
def guarded() -> Iterator[None]:
    """Show a sentence in place of whatever fails inside, and write what nobody foresaw to the server's log.

    The outermost of a run also shows what is to be said of the browser's message. Streamlit's own ways to end a run
    are no `Exception` and pass.
    """
    if not _inside.get():
        for note in notes():
            st.warning(escaped(note))
    token = _inside.set(True)
    try:
        yield
    except InputError as error:
        show_refusal(error)
    except Exception as error:
        log_failure(error)
        st.error(WENT_WRONG)
    finally:
        _inside.reset(token)


@contextmanager
def shown_progress(text: str, size: int) -> Iterator[Callable[[float], object]]:
    """Show a bar while so many bytes or values are worked on, unless they take but a moment."""
    if size < SLOW:
        yield lambda share: None
        return
    bar = st.progress(0.0, escaped(text))
    try:
        yield lambda share: bar.progress(min(max(share, 0.0), 1.0), escaped(text))
    finally:
        bar.empty()


def numbers(frame: pd.DataFrame, *, help: Mapping[str, str] | None = None, unknown: str = "—", **more: Any) -> None:
    """Show a table whose numbers read as in a sentence and sort as numbers; `help` says what columns mean.

    Of one that is long, the file that is offered beside it has all.
    """
    if len(frame) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS:,} of {len(frame):,} rows; the file has all of them.")
    columns = {name: st.column_config.NumberColumn(help=text) for name, text in (help or {}).items()}
    styled = frame.head(MOST_ROWS).style.format(_cell_text)  # the cells stay numbers
    st.dataframe(styled, hide_index=True, column_config=columns, placeholder=unknown, **more)


def _cell_text(value: object) -> str:
    return near_one(value) if isinstance(value, float) else str(value)


def data_and_download(
    make: Callable[[], pd.DataFrame], *, name: str, curator_only: bool, simulates: bool = False
) -> None:
    """Show the numbers behind a chart, once asked for, and offer them as CSV, and the chart as a picture.

    The file's name says whether it `simulates` releases.
    """
    with folded("Numbers and download", key=f"numbers.{name}") as is_open:
        if not is_open:
            return
        frame = make()
        if curator_only:
            st.caption("Not private (curator view). Do not share this file.")
        numbers(frame, height=min(38 + 35 * len(frame), 300))
        st.download_button(
            "Download CSV",
            lambda: safe_csv(frame),
            file_name=offered_name(name, "csv", simulates=simulates, curator_only=curator_only),
            mime="text/csv",
            key=f"download.{name}",
            on_click="ignore",
        )
        take_picture(key=name)


def assumption(text: str, *, holds: bool) -> None:
    """Show one assumption of a statement with a tick or a cross."""
    st.markdown(f"{'✓' if holds else '✗'} &nbsp;{text}")


def source(reference: Reference) -> None:
    """Name the paper and place that a statement comes from."""
    paper = PAPERS[reference.paper]
    link = f" · [{paper.title}]({paper.link})" if paper.link else f" · {paper.title}"
    st.caption(f"Source: {reference.place}, {paper.authors}, {paper.venue}{link}")


def noise_is_not_error() -> None:
    """Say what noise per cell leaves open, and lead to the page that shows the errors."""
    st.caption(
        "Noise per cell is not the error of a probability. Rows with few records have larger errors, and the counts "
        "that Fourier adds (t) increase the errors. Explore shows the errors."
    )
    st.page_link("pages/explore.py", label="Explore", icon=":material/arrow_forward:")


def readable_names_note(chosen: Chosen, names: Iterable[str]) -> None:
    """Say below a question what its nodes are called in a sentence, where that is another name than their own."""
    said = [
        f"{escaped(name)}: {escaped(chosen.readable[name].name)}"
        for name in dict.fromkeys(names)
        if name in chosen.readable and chosen.readable[name].name.casefold() != name.casefold()
    ]
    if said:
        st.caption("; ".join(said) + ".")
