"""How a page shows things: a sentence, a chart with its data, a refusal."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pandas as pd
import plotly.graph_objects as go
import streamlit as st

from dpbayes.exports import safe_csv
from dpbayes.references import PAPERS, Reference
from dpbayes.ui.settings import Seat, current, write_link
from dpbayes.validation import InputError

MOST_ROWS = 5_000
"""Rows of numbers that a browser is given; what is downloaded has all."""

CHART_CONFIG = {"displaylogo": False, "modeBarButtonsToRemove": ["select2d", "lasso2d", "autoScale2d"]}


def escaped(text: str) -> str:
    """Return a name from a file as text that Streamlit's Markdown shows literally."""
    return "".join(f"\\{c}" if c in r"\`*_{}[]()#+-.!|~$:<>&" else c for c in " ".join(text.split()))


def short(number: float) -> str:
    """Return a number in three digits, or whole with separators from a thousand up."""
    return f"{number:,.0f}" if 1000 <= abs(number) < 1e7 else f"{number:.3g}"


def inside(label: str) -> str:
    """Return a mechanism's label as it stands inside a sentence; one of a single word is a name."""
    return label if " " not in label else label[0].lower() + label[1:]


def headline(text: str) -> None:
    """Show the page's one sentence; names in it must be `escaped`."""
    st.markdown(f"#### {text}")


def is_curator() -> bool:
    """Whether exact things may be shown."""
    return current().seat is Seat.CURATOR


@contextmanager
def sentence_instead() -> Iterator[None]:
    """Show a refusal as its sentence, in place of what could not be shown, and go on."""
    try:
        yield
    except InputError as error:
        refusal(error)


def refusal(error: InputError) -> None:
    """Show a refusal's sentence."""
    st.warning(escaped(str(error)))


@contextmanager
def linked() -> Iterator[None]:
    """Keep the address up to date with what happened inside."""
    yield
    write_link()


def chart(figure: go.Figure, *, key: str, alt: str) -> None:
    """Show a figure with a text for those who cannot see it."""
    st.plotly_chart(figure, key=key, alt=alt, config=CHART_CONFIG)


def data_and_download(make: Callable[[], pd.DataFrame], *, name: str, curator_only: bool) -> None:
    """Show the numbers behind a chart, once asked for, and offer them as CSV."""
    with st.expander("Numbers and download", on_change="rerun", key=f"numbers.{name}") as numbers:
        if not numbers.open:
            return
        frame = make()
        if curator_only:
            st.caption("Curator only: not private. Do not hand this file on.")
        if len(frame) > MOST_ROWS:
            st.caption(f"The first {MOST_ROWS:,} of {len(frame):,} rows; the file has all of them.")
        st.dataframe(frame.head(MOST_ROWS), hide_index=True, height=min(38 + 35 * len(frame), 300))
        st.download_button(
            "Download CSV",
            lambda: safe_csv(frame),
            file_name=f"{'curator-only-' if curator_only else ''}{name}.csv",
            mime="text/csv",
            key=f"download.{name}",
            on_click="ignore",
        )


def assumption(text: str, *, holds: bool) -> None:
    """Show one assumption of a statement with a tick or a cross."""
    st.markdown(f"{'✓' if holds else '✗'} &nbsp;{text}")


def source(reference: Reference) -> None:
    """Name the paper and place that a statement comes from."""
    paper = PAPERS[reference.paper]
    link = f" · [{paper.title}]({paper.link})" if paper.link else f" · {paper.title}"
    st.caption(f"Source: {reference.place}, {paper.authors}, {paper.venue}{link}")
