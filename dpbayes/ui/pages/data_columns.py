"""The one table of columns: which are used, what they mean, their values, missing values, and what is public."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Any, Literal, TypeVar

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
    f'value of their own. "{COUNT_AS} …": they count as one of the other values.'
)
PUBLIC = "public"
"""What the page calls a domain that is known without the records."""

PUBLIC_HELP = (
    "You declare that anyone could list these values without the records. For example, sex: f, m is public; the "
    "highest age in the file is not. A real release needs this for every column in use."
)

LEAK = "A release shows the values of its columns to everyone: correct the cells, then declare what anyone could list."

_PREFIX, _BETWEEN = re.compile(rf"^({CUT_AT}|cut)?"), re.compile(r"[;,\s]+")
"""What may stand before cut points, and between them."""

MAX_TEXT = 100_000
"""Most letters of a domain: 256 states of nearly 400 letters."""

FEW_REASONS = 6
"""More unused columns than this are counted, and not listed."""

ROWS_SHOWN, HEADER = 40, 38
"""Most rows of the table of columns that are shown at once, and the pixels of the header."""

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
    if column.missing in column.states:
        return f"{COUNT_AS} {column.missing}"
    return OWN if column.missing == MISSING else f"{OWN}: {column.missing}"


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


def declare_columns(
    mine: Table, keep: Callable[[Table], None], check: Callable[[Table], Table], place: DeltaGenerator
) -> Table:
    """Show the editable table of columns, which `keep` stores; return it as `check` returns it, or with its refusal.

    `place` has the count of the public columns, and the buttons.
    """
    mine, refused = _typed(mine)
    try:
        if refused:
            raise refused
        with st.container():  # with or without a spinner, the table below keeps its place, and an open cell stays open
            mine = replace(check(mine), refused="")
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
        height=_height(len(mine.columns)),
        row_height=row_height(len(mine.columns)),
        column_config={
            "use": st.column_config.CheckboxColumn(width=65, help=USE_HELP),
            "column": st.column_config.TextColumn(width=165),
            "meaning": st.column_config.TextColumn(width=90, help=MEANING_HELP, max_chars=MAX_NAME),
            "values": st.column_config.TextColumn(width=205, help=VALUES_HELP),
            "missing": st.column_config.TextColumn(RULE, width=120, help=MISSING_HELP),
            "public": st.column_config.CheckboxColumn(PUBLIC, width=80, help=PUBLIC_HELP),
        },
        key=_key(mine),
    )
    _set_aside(mine)
    return mine


def _height(rows: int) -> int:
    return HEADER + row_height(rows) * min(rows, ROWS_SHOWN)


def _ready(mine: Table, keep: Callable[[Table], None]) -> None:
    """Say how many columns are not public, and offer to declare them, with round cut points where they were read."""
    domains = {place: mine.domain(place) for place, column in enumerate(mine.columns) if column.use}
    lacking = {place: domain for place, domain in domains.items() if domain is not None and not domain.public}
    cuts = {  # still the cut points that were read from the records
        place: domain
        for place, domain in lacking.items()
        if isinstance(domain, Cuts) and text_of(domain) == text_of(mine.proposals[place].domain)
    }
    if lacking:
        which = f"{len(lacking)} of {many(len(domains), 'column')}"
        st.caption(f"**The values of {which} are not declared public.** {LEAK}")
    listed = {place: domain for place, domain in lacking.items() if place not in cuts}
    few = dict(list(cuts.items())[:FEW_REASONS])
    texts = ", ".join(f"{mine.columns[place].name} {text_of(domain)}" for place, domain in few.items())
    values = f"Declare the values of {many(len(listed), 'column')} public"
    with st.container(horizontal=True, vertical_alignment="center"):
        if listed:
            st.button(values, key="all.public", type="primary", on_click=_declare, args=(mine, keep, listed))
        if few:
            label = f"Declare {escaped(texts)}, rounded from the records"
            kind: Literal["primary", "secondary"] = "secondary" if listed else "primary"
            st.button(label, key="all.round", type=kind, on_click=_declare, args=(mine, keep, few))
        _description(mine, keep)


def _declare(mine: Table, keep: Callable[[Table], None], domains: Mapping[int, Column]) -> None:
    """Declare domains public; the browser keeps its edits, of which one may still be on its way."""
    columns = list(mine.columns)
    for place, domain in domains.items():
        columns[place] = replace(columns[place], domain=replace(domain, public=True))
    if any(_edits(mine).get(place, {}).get("public") is False for place in domains):
        keep(mine.declared(columns))  # without the edits, which would untick the columns again
    else:
        st.session_state[_SHOWN] = tuple(columns)


def _key(mine: DescribedTable) -> str:
    return f"columns.editor.{mine.key}"


def _line(mine: DescribedTable, place: int) -> dict[str, object]:
    declared, domain = mine.columns[place], mine.domain(place)
    kind = {TYPE: mine.types[mine.columns[place].name]} if isinstance(mine, Connected) else {}
    return {
        "use": declared.use,
        "column": declared.name,
        **kind,
        "meaning": declared.meaning,
        **_declared_cells(domain),
    }


def _declared_cells(domain: Column | None) -> dict[str, object]:
    return {
        "values": text_of(domain),
        "missing": missing_text(domain) if domain else NONE,
        "public": domain.public if domain else False,
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
        st.caption(
            "A file with what you declared of the columns. Save it before you reload or close the page, which forgets "
            "the table; after another upload, load it here."
        )
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


def with_records(mine: Upload) -> Upload:
    """Return the table with the codes of its records. Errors: InputError for what is not declared."""
    places = [place for place, column in enumerate(mine.columns) if column.use]
    if not places:
        raise InputError("No column is in use; tick at least one.")
    columns = tuple(_in_use(mine, place) for place in places)
    if mine.dataset is None or mine.encoded != columns:
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
            cure = "Type its values, as in no; yes"
            if isinstance(column, Categories):
                cure = f"Add it to the cell, or count it as another value: {_gathered(column, outside)}"
                if np.isfinite(numbers_in(values.dropna().drop_duplicates())).any():
                    cure = f'Add it, or type cut points, as in "{CUT_AT} 40; 60"'
            value = brief(outside[0])
            return InputError(f"The column {brief(column.name)} has {value}, which its values do not contain. {cure}.")
    return None


def _gathered(column: Categories, values: Sequence[str]) -> str:
    """Return the text of a column in which each of these values counts as the state with the most similar name."""
    groups = dict(zip(column.states, column.groups, strict=True))
    for value in values:
        state = max(groups, key=lambda state: SequenceMatcher(None, state.casefold(), value.casefold()).ratio())
        groups[state] = *groups[state], value
    return brief(text_of(replace(column, values=tuple(groups.values()))), 160)


def _in_use(mine: Upload, place: int) -> Column:
    name, domain = mine.columns[place].name, mine.domain(place)
    require_node_names(name)
    if domain is None:
        raise InputError(f"Column {brief(name)} has no values; type its categories or cut points, or leave it out.")
    return domain


def require_node_names(name: str) -> None:
    """Errors: InputError for a column whose name no node can have."""
    if len(name) > MAX_NAME:
        raise InputError(f"The column name {brief(name)} is longer than {MAX_NAME} characters; shorten it in the file.")


# The table of the columns of a shipped or synthetic table, and for a recipient


def public_columns(chosen: Chosen) -> None:
    """Show the public domains of the table: name, meaning, values, and what is declared of missing values."""
    leaks, readable = chosen.leaking_columns, chosen.readable
    declared, lines = {column.name: column for column in chosen.declared}, []
    for name, states in chosen.domains.items():
        domain = declared.get(name)
        meaning = {"meaning": readable[name].meaning if name in readable else ""} if readable else {}
        cells = _declared_cells(domain) if domain else {"values": "; ".join(states)}
        if not chosen.is_curator:  # as in a release, without spellings of the records
            cells = {"values": "not declared public"} if name in leaks else {**cells, "values": "; ".join(states)}
        public = {PUBLIC: "no" if name in leaks else "yes"}
        lines.append({"column": name} | meaning | cells | public)
    with st.container(key="domains"):
        st.dataframe(
            pd.DataFrame.from_records(lines),
            hide_index=True,
            column_order=None if leaks else [name for name in lines[0] if name != PUBLIC],
            height=_height(len(lines)),
            row_height=row_height(len(lines)),
            column_config={
                "column": st.column_config.TextColumn(width=115),
                "meaning": st.column_config.TextColumn(width=310),
                "values": st.column_config.TextColumn(width=130),
                "missing": st.column_config.TextColumn(RULE, width=120, help=MISSING_HELP),
                PUBLIC: st.column_config.TextColumn(width=65, help=PUBLIC_HELP),
            },
        )
