"""The one table of columns: which are used, what they mean, their values, missing values, and what is public."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from typing import Any, TypeVar

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpbayes.base.libraries import pd
from dpbayes.base.text import escaped, many, shortest
from dpbayes.base.validation import InputError, brief
from dpbayes.boards.static import row_height
from dpbayes.sources.columns import (
    MISSING,
    OUTSIDE,
    Categories,
    Column,
    Cuts,
    encode,
    encoded,
    missing_values,
    numbers_in,
)
from dpbayes.sources.domains import DeclaredColumn, read_domains, write_domains
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.connected import Connected
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.graphs import MAX_NAME
from dpbayes.ui.session.uploads import DescribedTable, Upload
from dpbayes.ui.widgets.from_python import DESCRIPTION
from dpbayes.ui.widgets.show import sentence_instead

CUT_AT = "cut at"
OWN, NONE, COUNT_AS = "own value", "none", "counts as"
SAME = " = "
"""What stands between a value and other spellings of it."""

USE_HELP = "Columns in use become nodes of the network. They share ε: leave out those that no question needs."
VALUES_HELP = (
    f'Categories, or for numbers cut points, as in "{CUT_AT} 40; 60". Separate them with semicolons; numbers that are '
    'categories have quotation marks. "yes = YES = ye" counts other spellings as yes.'
)
MEANING_HELP = "What the column records, in a few words. Explore asks its questions in these words."
MISSING_HELP = (
    f'"{NONE}": the column has no missing values; a release would count one as the first value. "{OWN}": they are a '
    f'value of their own. "{COUNT_AS} …": they count as one of the other values. "= n/a": n/a is missing, too.'
)
PUBLIC = "public"
"""What the page calls a domain that is known without the records."""

PUBLIC_HELP = (
    "You declare that anyone could list these values without the records. For example, sex: f, m is public; the "
    "highest age in the file is not. A real release needs this for every column in use."
)

MERGE = "Count misspelt values as the usual ones"
MISSPELT = "**Misspelt?** Some values are rare, and much like a frequent one that they could count as"

LEAK = "A release shows them to everyone: correct the cells, then declare what anyone could list."
FROM_RECORDS = " No guarantee covers cut points that come from the records."

_PREFIX, _BETWEEN = re.compile(rf"^({CUT_AT}|cut)?"), re.compile(r"[;,\s]+")
"""What may stand before cut points, and between them."""

_NO_DIGIT = re.compile(r"\D")

MAX_TEXT = 100_000
"""Most letters of a domain: 256 states of nearly 400 letters."""

FEW_REASONS = 6
"""More unused columns than this are counted, and not listed."""

ROWS_SHOWN, HEADER = 40, 38
"""Most rows of the table of columns that are shown at once, and the pixels of the header."""

ALIKE, FAR_MORE = 0.75, 20
"""From which similarity on a value may be another one misspelt, which occurs so many times as often."""

TICKS = ("use", "public")
TYPE = "type"
RULE = "missing values"
"""The column with the rule for missing values."""

_SHOWN = "columns.shown"


# As text


def text_of(domain: Column | None) -> str:
    """Return the values of a domain with semicolons between them, and before cut points what they are."""
    if isinstance(domain, Cuts):
        return f"{CUT_AT} {'; '.join(map(shortest, domain.points))}"
    groups = zip(domain.states, domain.groups, strict=True) if domain else ()
    return "; ".join(_quoted(SAME.join(dict.fromkeys((state, *own)))) for state, own in groups)


def _quoted(value: str) -> str:
    odd = any(c in value for c in ';"\n\r') or value != value.strip() or value.startswith(CUT_AT)
    return '"' + value.replace('"', '""') + '"' if odd else value


def missing_text(column: Column) -> str:
    """Return the rule for missing values as text."""
    if column.missing is None:
        return NONE
    own = OWN if column.missing == MISSING else f"{OWN}: {column.missing}"
    rule = f"{COUNT_AS} {column.missing}" if column.missing in column.states else own
    return SAME.join((rule, *(column.marks if isinstance(column, Cuts) else ())))


def as_typed(column: DeclaredColumn, shown: Column | None, edit: Mapping[str, Any]) -> DeclaredColumn:
    """Return a column as it was typed; what was not typed of its domain stays as it was shown."""
    meaning = edit.get("meaning", column.meaning).strip()
    if len(meaning) > MAX_NAME:
        raise InputError(f"The meaning of {brief(column.name)} is longer than {MAX_NAME} characters; shorten it.")
    column = replace(column, use=edit.get("use", column.use), meaning=meaning)
    if set(edit) <= {"use", "meaning"}:
        return column
    try:
        return replace(column, domain=_domain(column.name, shown, edit))
    except InputError:
        if column.use:
            raise
        return column


def _domain(name: str, shown: Column | None, edit: Mapping[str, Any]) -> Column:
    public = edit.get("public", shown.public if shown else False)
    rule = edit.get("missing", missing_text(shown) if shown else NONE)
    text = edit.get("values", text_of(shown))
    if shown and text == text_of(shown):
        return _with_rule(replace(shown, public=public), rule)
    if text.strip().startswith(CUT_AT) or (isinstance(shown, Cuts) and _points(text)):
        if not (points := _points(text)):
            raise InputError(f'The cut points of {brief(name)} must be numbers, as in "{CUT_AT} 40; 60".')
        return _with_rule(Cuts(name, points, public=public), rule)
    whole = shown.states if shown else ()
    groups = [(value,) if value in whole else tuple(value.split(SAME)) for value in _values(name, text)]
    values = tuple(groups) if any(len(own) > 1 for own in groups) else ()
    return _with_rule(Categories(name, tuple(own[0] for own in groups), values=values, public=public), rule)


def _values(name: str, text: str) -> list[str]:
    """Return the values between semicolons or line ends; a value with such a character is in quotation marks."""
    if len(text) > MAX_TEXT:
        raise InputError(f"The values of {brief(name)} have {len(text):,} letters; the limit is {MAX_TEXT:,}.")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";", skipinitialspace=True)
    return [value.strip() for row in rows for value in row if value.strip()]


def _points(text: str) -> tuple[float, ...]:
    """Return the cut points of a text such as "cut at 40; 60" or "40, 60"; none if it is another text."""
    try:
        return tuple(float(value) for value in _BETWEEN.split(_PREFIX.sub("", text.strip())) if value)
    except ValueError:
        return ()


def _with_rule(column: Column, text: str) -> Column:
    """Return a column with the rule for missing values that was typed."""
    if isinstance(column, Cuts):
        text, *marks = text.split(SAME)
        column = replace(column, missing=None, marks=tuple(mark.strip() for mark in marks))
    rule, _, label = (part.strip() for part in text.partition(":"))
    if rule in ("", NONE):
        return replace(column, missing=None)
    state = text.strip().removeprefix(COUNT_AS).lstrip(": ")
    if rule == OWN:
        return replace(column, missing=label or MISSING)
    if rule.startswith(COUNT_AS) and state in column.states:
        return replace(column, missing=state)
    raise InputError(
        f'For missing values of {brief(column.name)}, type "{NONE}", "{OWN}", or "{COUNT_AS}" and one of its values.'
    )


# The table of one's own columns


Table = TypeVar("Table", bound=DescribedTable)


def declare_columns(mine: Table, keep: Callable[[Table], None], place: DeltaGenerator) -> Table:
    """Show the editable table of columns, which `keep` stores; return it with its records, or with its refusal.

    `place` has the count of the public columns, and the buttons.
    """
    mine, refused = _typed(mine)
    try:
        if refused:
            raise refused
        with st.container():  # with or without a spinner, the table below keeps its place, and an open cell stays open
            mine = replace(_with_records(mine), refused="")
    except InputError as error:
        mine = replace(mine, refused=str(error))
    keep(mine)
    with place:
        _ready(mine, keep)
    before = _before_edits(mine)  # the browser always gets the same cells: others would close an open cell
    st.data_editor(
        pd.DataFrame.from_records([_line(before, place) for place in range(len(before.columns))]),
        hide_index=True,
        disabled=["column", TYPE],
        column_order=["use", "public", "column", "values", "missing", "meaning", TYPE],
        height=HEADER + row_height(len(mine.columns)) * min(len(mine.columns), ROWS_SHOWN),
        row_height=row_height(len(mine.columns)),
        column_config={
            "use": st.column_config.CheckboxColumn(width=65, help=USE_HELP),
            "column": st.column_config.TextColumn(width=110),
            "meaning": st.column_config.TextColumn(width=90, help=MEANING_HELP, max_chars=MAX_NAME),
            "values": st.column_config.TextColumn(width=310, help=VALUES_HELP),
            "missing": st.column_config.TextColumn(RULE, width=130, help=MISSING_HELP),
            "public": st.column_config.CheckboxColumn(PUBLIC, width=80, help=PUBLIC_HELP),
        },
        key=_key(mine),
    )
    _set_aside(mine)
    return mine


def _ready(mine: Table, keep: Callable[[Table], None]) -> None:
    """Say how many columns are not public, and offer to declare them, with round cut points where they were read."""
    domains = {place: mine.domain(place) for place, column in enumerate(mine.columns) if column.use}
    lacking = {k: replace(domain, public=True) for k, domain in domains.items() if domain and not domain.public}
    cuts = {place: lacking[place] for place in mine.read_cuts if place in lacking}
    if lacking:
        which = f"{len(lacking)} of {many(len(domains), 'column')}"
        st.caption(f"**Not yet declared public: the values of {which}.** {LEAK}{FROM_RECORDS * bool(cuts)}")
    listed = {place: domain for place, domain in lacking.items() if place not in cuts}
    few = dict(list(cuts.items())[:FEW_REASONS])
    texts = ", ".join(f"{mine.columns[place].name} {text_of(domain)}" for place, domain in few.items())
    merged = _merged(mine) if isinstance(mine, Upload) else {}
    buttons: list[tuple[str, str, Mapping[int, Column]]] = [
        (MERGE, "all.merged", merged),
        (f"Declare the values of {many(len(listed), 'column')} public", "all.public", listed),
        (f"Declare {escaped(texts)}, rounded from the records", "all.round", few),
    ]
    if merged:
        spelt = ((one.name, "; ".join(SAME.join(own) for own in one.groups if len(own) > 1)) for one in merged.values())
        st.warning(". ".join([MISSPELT, *(f"**{escaped(name)}**: {escaped(text)}" for name, text in spelt)]))
    with st.container(horizontal=True, vertical_alignment="center"):
        for place, (label, key, declared) in enumerate(button for button in buttons if button[-1]):
            declare = partial(_declare, mine, keep, declared)
            st.button(label, key=key, type="secondary" if place or mine.refused else "primary", on_click=declare)
        _description(mine, keep)


def _declare(mine: Table, keep: Callable[[Table], None], domains: Mapping[int, Column]) -> None:
    """Declare domains; the browser keeps its edits, of which one may still be on its way, unless they differ."""
    columns = list(mine.columns)
    for place, domain in domains.items():
        columns[place] = replace(columns[place], domain=domain)
    edits = {place: _edits(mine).get(place, {}) for place in domains}
    if any(edit.get("public") is False or ("values" in edit and not domains[k].public) for k, edit in edits.items()):
        keep(mine.declared(columns))  # without the edits, which would untick or part the values again
    else:
        st.session_state[_SHOWN] = tuple(columns)


def _key(mine: DescribedTable) -> str:
    return f"columns.editor.{mine.key}"


def _line(mine: DescribedTable, place: int) -> dict[str, object]:
    declared, domain = mine.columns[place], mine.domain(place)
    kind = {TYPE: mine.types[declared.name]} if isinstance(mine, Connected) else {}
    return {
        "use": declared.use,
        "column": declared.name,
        **kind,
        "meaning": declared.meaning,
        "values": text_of(domain),
        "missing": missing_text(domain) if domain else NONE,
        "public": bool(domain and domain.public),
    }


def _set_aside(mine: DescribedTable) -> None:
    """State the reason for each unused column: a cell of the table would cut the sentence off."""
    reasons = [p.reason for p, column in zip(mine.proposals, mine.columns, strict=True) if p.reason and not column.use]
    if reasons:
        st.caption(f"Not in use: {' '.join(map(escaped, reasons[:FEW_REASONS]))}{' …' * (len(reasons) > FEW_REASONS)}")


def _typed(mine: Table) -> tuple[Table, InputError | None]:
    """Return the table with the valid edits in the browser, and the message about an invalid one.

    An invalid line leaves its column unchanged. The browser shows the typed text until another page is opened.
    """
    before, refused = _before_edits(mine), None
    columns = list(before.columns)
    for place, edit in _edits(mine).items():
        try:
            shown = before.domain(place)
            columns[place] = as_typed(columns[place], shown, edit)
            if shown and "missing" not in edit and _is_idle(mine, columns[place].domain):
                declared = replace(before.columns[place], domain=replace(shown, missing=None))
                before = before.typed((*before.columns[:place], declared, *before.columns[place + 1 :]))
                columns[place] = as_typed(columns[place], declared.domain, edit)
        except InputError as error:
            columns[place] = mine.columns[place]
            refused = refused or InputError(f"Row {place + 1}: {error}")
    st.session_state[_SHOWN] = before.columns
    return mine.typed(columns), refused


def _is_idle(mine: DescribedTable, domain: Column | None) -> bool:
    """Return whether a proposed state of missing values is left without any value."""
    if not isinstance(mine, Upload) or domain is None or domain.public or domain.missing != MISSING:
        return False
    return not missing_values(domain, mine.frame[domain.name].fillna(""))


def _before_edits(mine: Table) -> Table:
    """Return the table as the browser has it without its edits: it drops an edit that is typed back."""
    if _key(mine) not in st.session_state:
        st.session_state[_SHOWN] = mine.columns
    return mine.typed(st.session_state[_SHOWN])


def _edits(mine: Table) -> dict[int, dict[str, Any]]:
    """Return the edits in the browser by line and column: a cleared text is "", and a cleared tick is no edit."""
    edited = st.session_state.get(_key(mine), {}).get("edited_rows", {})
    edits = {}
    for line, edit in edited.items():
        filled = {name: "" if value is None and name not in TICKS else value for name, value in edit.items()}
        edits[line] = {name: value for name, value in filled.items() if value is not None}
    return edits


def _description(mine: Table, keep: Callable[[Table], None]) -> None:
    """Offer the declared domains as a file, and take such a file."""
    with st.popover("Save or load the columns", key="columns.file"):
        st.caption("A reload forgets what you declared of the columns: save it before, and load it here afterwards.")
        download_button(
            "Download", write_domains(mine.columns), DESCRIPTION, mime="application/json", key="domains.out"
        )
        file = st.file_uploader("Domain description (TOML or JSON)", type=None, key="domains.file")
        if file is not None and st.button("Use this description"):
            with sentence_instead():
                columns = for_table(read_domains(file.getvalue()), [column.name for column in mine.columns])
                keep(mine.declared(columns))
                st.rerun()


def for_table(columns: Iterable[DeclaredColumn], names: Sequence[str]) -> tuple[DeclaredColumn, ...]:
    """Return the columns in the order of a table's names. Errors: InputError unless exactly these are described."""
    by_name = {column.name: column for column in columns}
    for name in (*by_name, *names):
        if name not in by_name or name not in names:
            raise InputError(
                f"Only one of the description and the table has a column {brief(name)}. Describe all columns of the "
                f'table, and no others, at least as {json.dumps(name)}: {{"use": false}}.'
            )
    return tuple(by_name[name] for name in names)


# Records


def _with_records(mine: Table) -> Table:
    """Return the table, an uploaded one with the codes of its records. Errors: InputError for what is not declared."""
    columns = mine.in_use
    if isinstance(mine, Upload) and (mine.dataset is None or mine.encoded != columns):
        with st.spinner("Encoding the records …"):
            try:
                data = encode(mine.frame, columns)
            except InputError as error:
                raise _outside(mine, columns) or error from None
        mine = replace(mine, dataset=data, encoded=columns)
    return mine


def _outside(mine: Upload, columns: Sequence[Column]) -> InputError | None:
    """Return what to type for the values outside the states of the first column that has any."""
    for column in columns:
        values = mine.frame[column.name]
        outside = list(dict.fromkeys(str(value).strip() for value in values[encoded(column, values) == OUTSIDE]))
        if outside:
            value = brief(outside[0])
            if isinstance(column, Cuts):
                marked = missing_text(replace(column, marks=(*column.marks, *outside[:FEW_REASONS])))
                cure = f'Type its values, as in no; yes, or under "{RULE}": {brief(marked, 160)}'
            elif np.isfinite(numbers_in(values.dropna().drop_duplicates())).any():
                cure = f'Add it, or type cut points, as in "{CUT_AT} 40; 60"'
            else:
                states = {state.casefold(): state for state in column.states}
                likes = {value: states[get_close_matches(value.casefold(), states, 1, 0)[0]] for value in outside}
                text = brief(text_of(_gathered(column, likes)), 160)
                cure = f"Add it to the cell, or count it as another value: {text}"
            return InputError(f"The column {brief(column.name)} has {value}, which its values do not contain. {cure}.")
    return None


def misspelt(column: Categories, records: Mapping[str, int]) -> Categories:
    """Return the column with each rare value counted as a far more frequent one that is spelt much like it.

    Values with other digits are not alike. `records` has the number of records with each value.
    """
    likes: dict[str, str] = {}
    for state in sorted(column.states, key=records.__getitem__):
        often = [other for other in column.states if records[other] >= FAR_MORE * max(records[state], 1)]
        folded = {other.casefold(): other for other in often if _NO_DIGIT.sub("", other) == _NO_DIGIT.sub("", state)}
        if close := get_close_matches(state.casefold(), folded, 1, ALIKE):
            likes[state] = folded[close[0]]
    return _gathered(column, likes)


def _gathered(column: Categories, likes: Mapping[str, str]) -> Categories:
    """Return the column with each of these values counted as a state."""
    groups = dict(zip(column.states, column.groups, strict=True))
    for value, state in likes.items():
        groups[state] += groups.pop(value, (value,))
    return replace(column, states=tuple(groups), values=tuple(groups.values()))


def _merged(mine: Upload) -> dict[int, Categories]:
    """Return the columns that are not public and have values that look misspelt, as `misspelt` returns them."""
    merged: dict[int, Categories] = {}
    for place, domain in ((place, mine.domain(place)) for place in range(len(mine.columns))):
        if isinstance(domain, Categories) and not domain.public and mine.dataset and domain in mine.encoded:
            records = np.bincount(mine.dataset.column(domain.name), minlength=len(domain.states)).tolist()
            other = misspelt(domain, dict(zip(domain.domain, records, strict=False)))
            merged |= {place: other} if len(other.states) < len(domain.states) else {}
    return merged


# The table of the columns of a shipped or synthetic table, and for a recipient


def public_columns(chosen: Chosen) -> None:
    """Show the public domains of the table: name, meaning and values."""
    leaks, readable, lines = chosen.leaking_columns, chosen.readable, []
    for name, states in chosen.domains.items():
        meaning = {"meaning": readable[name].meaning if name in readable else ""} if readable else {}
        is_hidden = name in leaks and not chosen.is_curator
        values = {"values": "not declared public" if is_hidden else "; ".join(states)}
        public = {PUBLIC: "no" if name in leaks else "yes"} if leaks else {}
        lines.append({"column": name} | meaning | values | public)
    with st.container(key="domains"):
        st.dataframe(
            pd.DataFrame.from_records(lines),
            hide_index=True,
            height=HEADER + row_height(len(lines)) * min(len(lines), ROWS_SHOWN),
            row_height=row_height(len(lines)),
            column_config={
                "column": st.column_config.TextColumn(width=115),
                "meaning": st.column_config.TextColumn(width=310),
                "values": st.column_config.TextColumn(width=130),
                PUBLIC: st.column_config.TextColumn(width=65, help=PUBLIC_HELP),
            },
        )
