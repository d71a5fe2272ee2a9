"""What a person reads on a page, and what is wrong with the numbers in it."""

import re
from collections.abc import Iterator
from typing import Any

from streamlit.dataframe_util import convert_arrow_bytes_to_pandas_df
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import figures

E_NOTATION = re.compile(r"(?<![\w#.])\d+(?:\.\d+)?e[-+]?\d+\b")

WRONG = {
    "an e": E_NOTATION,
    "no number": re.compile(r"\b(?:nan|NaN|inf|Infinity)\b"),
    "a zero with a sign": re.compile(r"(?<![\w.^₀-₉⁰-⁹)])[-−]0(?:\.0+)?(?![\w.⁰-⁹])"),
    "a space in a percentage": re.compile(r"\d %(?!\w)"),
    "zeros that say nothing": re.compile(r"(?<![\w.,])(?:0\.0+|100\.0+)(?![\d⁰-⁹]| ±)"),
    "one of many": re.compile(
        r"(?<![\w.,/–-])(?<![=^:] )1 (?:simulated |other |independent |possible |private |posterior )?"
        r"(?:records|columns|releases|rows|cells|nodes|draws|throws|answers|attackers|games|repeats|states|features|tables|arrows|points"
        r"|networks|graphs|mechanisms|datasets|times|nats|seconds|minutes|sides|numbers|letters|probabilities)\b"
    ),
}

LONG = re.compile(r"(?<![\w.])\d[\d,]*\.(\d+)(?!\w|\.\d)")
MOST_DIGITS = 8
"""Digits behind the point that say something: all but leading zeros, and nines that tell a probability from 1."""

D3_WRONG = re.compile(r"%\{[^}]*:[^}]*(?:[eg]|\.[1-9]\d*f|\.\d+%)\}")
"""Formats of Plotly's that may write an e, or make 0 or 1 of a number that is neither."""

CODE = {"hovertemplate", "color", "fillcolor", "bgcolor", "exponentformat", "legendgroup", "uid"}


def drawn_texts(value: Any, key: str = "") -> list[str]:
    """Return every text of a figure but those that are code."""
    if isinstance(value, dict):
        return [text for name, inner in value.items() for text in drawn_texts(inner, name)]
    if isinstance(value, list):
        return [text for inner in value for text in drawn_texts(inner, key)]
    return [value] if isinstance(value, str) and key not in CODE and "format" not in key else []


def formats(value: Any) -> Iterator[str]:
    """Yield how a figure writes its numbers: at the pointer, and on its axes."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if isinstance(inner, str) and name in ("tickformat", "hoverformat"):
                yield f"%{{{name}:{inner}}}"
            elif isinstance(inner, str) and name == "hovertemplate":
                yield inner
            else:
                yield from formats(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from formats(inner)


def cells(at: AppTest) -> list[str]:
    """Return the cells of all tables as they are shown; a number that Streamlit would write counts as all its digits.

    A table that a person types into shows what was typed.
    """
    shown = []
    for frame in (*at.table, *at.dataframe):
        styled = frame.proto.arrow_data.styler.display_values
        displayed = convert_arrow_bytes_to_pandas_df(styled) if styled else frame.value
        is_typed_into = getattr(frame.proto, "editing_mode", 0) != 0
        for name in displayed.columns:
            shown.append(str(name))
            if not is_typed_into:
                shown += ["" if cell is None else str(cell) for cell in displayed[name] if not is_code(cell)]
    return shown


def is_code(cell: object) -> bool:
    """Whether a cell holds settings or a command to copy, whose numbers are Python's."""
    return isinstance(cell, str) and (
        cell.startswith("python -m ") or re.match(r"[\w.]+=\S*&[\w.]+=", cell) is not None
    )


def read(at: AppTest) -> list[str]:
    """Return all that a person reads on the page but code to copy, whose numbers are Python's."""
    shown = [f"{m.label}: {m.value}\n{m.delta}\n{m.help}" for m in at.metric]
    for kind in (at.markdown, at.caption, at.info, at.warning, at.error, at.success, at.subheader):
        shown += [element.value for element in kind]
    for widgets in (at.button, at.selectbox, at.text_input, at.multiselect, at.expander):
        shown += [f"{widget.label}\n{getattr(widget, 'help', '')}" for widget in widgets]
    shown += [bar.proto.text for bar in at.get("progress")]
    shown += [f"{button.label}\n{button.proto.help}" for button in at.get("download_button")]
    shown += cells(at)
    return shown + drawn_texts(figures(at))


def wrong_numbers(at: AppTest) -> list[str]:
    """Return every number on the page that a person should not read, with what is wrong and where it stands."""
    texts = read(at)
    faults = [f"{what}: {text}" for text in texts for what, number in WRONG.items() if number.search(text)]
    faults += [f"too long: {text}" for text in texts if any(map(is_long, LONG.findall(text)))]
    typed = [box.value for box in at.text_input] + [stop for slider in at.select_slider for stop in slider.options]
    faults += [f"an e: {text}" for text in typed if E_NOTATION.search(text)]
    written = [text for figure in figures(at).values() for text in formats(figure)]
    return faults + [f"a format: {text}" for text in written if D3_WRONG.search(text) or E_NOTATION.search(text)]


def is_long(decimals: str) -> bool:
    """Whether more of the digits behind a point say something than a person can use."""
    return len(decimals.lstrip("0").lstrip("9")) > MOST_DIGITS
