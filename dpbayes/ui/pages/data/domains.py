"""The table in which a person states the public domain of each column: a view of what the upload holds."""

import csv
import io
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.text import escaped, many, shortest
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.sources.columns import Categories, Column, CountAs, Cuts, Groups, Missing, OwnState, encode
from dpbayes.sources.domains import DeclaredColumn, for_table, read_domains, write_domains
from dpbayes.sources.proposals import Proposal, quantile_cuts
from dpbayes.ui.pages.data.upload import require_node_names
from dpbayes.ui.session.connected import Connected
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.uploads import DescribedTable, Upload, keep_upload, upload
from dpbayes.ui.widgets.edits import edits_of
from dpbayes.ui.widgets.from_python import DESCRIPTION
from dpbayes.ui.widgets.show import sentence_instead, show_refusal, shown_progress

CATEGORIES, CUTS, GROUPS = "categories", "cut points", "groups"
OWN, NONE, COUNT_AS = "a state of its own", "none", "count as"

MAX_TEXT = 100_000
"""Most letters of a domain: 256 states of nearly 400 letters."""


def kind_of(domain: Column | None) -> str:
    """Return the kind of a domain; categories without a domain."""
    if isinstance(domain, Cuts):
        return CUTS
    return GROUPS if isinstance(domain, Groups) else CATEGORIES


def text_of(domain: Column | None) -> str:
    """Return the categories or cut points with semicolons between them; "" without a domain."""
    values = map(shortest, domain.points) if isinstance(domain, Cuts) else domain.states if domain else ()
    return "; ".join(map(_quoted, values))


def _quoted(value: str) -> str:
    odd = any(c in value for c in ';"\n\r') or value != value.strip()
    return '"' + value.replace('"', '""') + '"' if odd else value


def missing_text(missing: Missing) -> str:
    """Return the text for the treatment of missing values."""
    if isinstance(missing, CountAs):
        return f"{COUNT_AS}: {missing.state}"
    if isinstance(missing, OwnState):
        return OWN if missing == OwnState() else f"{OWN}: {missing.label}"
    return NONE


def as_typed(column: DeclaredColumn, shown: Column | None, edit: Mapping[str, Any]) -> DeclaredColumn:
    """Return a column as it was typed; what was not typed of its domain stays as it was shown."""
    use = edit.get("use", column.use)
    if set(edit) <= {"use"}:
        return replace(column, use=use)
    try:
        return DeclaredColumn(column.name, _domain(column.name, shown, edit), use)
    except InputError:
        if use:
            raise
        return replace(column, use=False)


def _domain(name: str, shown: Column | None, edit: Mapping[str, Any]) -> Column:
    public = edit.get("public", shown.public if shown else False)
    missing = shown.missing if shown else None
    if "missing values" in edit:
        missing = _missing(name, edit["missing values"])
    if shown and not {"kind", "domain"} & set(edit):
        return replace(shown, public=public, missing=missing)
    kind, text = edit.get("kind", kind_of(shown)), edit.get("domain", text_of(shown))
    if kind == CATEGORIES:
        return Categories(name, tuple(_values(name, text)), public=public, missing=missing)
    if kind == CUTS:
        return Cuts(name, _points(name, _values(name, text)), public=public, missing=missing)
    if isinstance(shown, Groups) and text == text_of(shown):
        return replace(shown, public=public, missing=missing)
    raise InputError(f"The groups of {brief(name)} cannot be typed here; load a domain description instead.")


def _values(name: str, text: str) -> list[str]:
    """Return the values between semicolons or line ends; a value with such a character is in quotation marks."""
    if len(text) > MAX_TEXT:
        raise InputError(f"The domain of {brief(name)} has {len(text):,} letters; the limit is {MAX_TEXT:,}.")
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=";", skipinitialspace=True)
    return [value.strip() for row in rows for value in row if value.strip()]


def _points(name: str, values: list[str]) -> tuple[float, ...]:
    try:
        return tuple(float(value) for value in values)
    except ValueError:
        raise InputError(f"The cut points of {brief(name)} must be numbers separated by semicolons.") from None


def _missing(name: str, text: str) -> Missing:
    rule, colon, state = (part.strip() for part in text.partition(":"))
    if rule == COUNT_AS and colon:
        return CountAs(state)
    if rule == OWN:
        return OwnState(state) if colon else OwnState()
    if text.strip() in ("", NONE):
        return None
    raise InputError(
        f"For missing values of {brief(name)}, type “{NONE}”, “{OWN}”, or “{COUNT_AS}: ” and one of its states."
    )


EDITABLE = {"use": bool, "kind": str, "domain": str, "missing values": str, "public": bool}
TYPE = "type"
FEW_REASONS = 6
"""More columns than this are set aside behind one line."""


Table = TypeVar("Table", bound=DescribedTable)


def domain_table() -> None:
    """State each column's domain in a table of one line per column, then turn the file into records."""
    mine = upload()
    if mine is None or not mine.columns:
        return
    mine, refused = declare_columns(mine, keep_upload, aside=_cut_by_quantiles)
    with sentence_instead():
        if refused:
            raise refused
        _encode(mine)


def declare_columns(
    mine: Table, keep: Callable[[Table], None], aside: Callable[[Table], None]
) -> tuple[Table, InputError | None]:
    """Show the editable table of columns and domains. `keep` stores the table, and `aside` shows other controls.

    Returns the present table, and the message about an invalid line.
    """
    st.subheader("Columns and domains")
    st.caption(
        "Proposed domains are read from the data, which leaks information. Correct each domain to public knowledge, "
        "then tick *public*. Separate values with semicolons."
    )
    mine, refused = _typed(mine, keep)
    st.data_editor(
        _table(mine),
        hide_index=True,
        disabled=["column", TYPE],
        column_config={
            "use": st.column_config.CheckboxColumn(width="small"),
            "kind": st.column_config.SelectboxColumn(options=[CATEGORIES, CUTS, GROUPS], required=True),
            "domain": st.column_config.TextColumn("categories or cut points", width="large"),
            "missing values": st.column_config.TextColumn(help=f"“{NONE}”, “{OWN}”, or “{COUNT_AS}: ” and a state."),
        },
        key=_key(mine),
    )
    _declare_all(mine, keep)
    _warn_of_cuts(mine)
    _set_aside(mine)
    aside(mine)
    _description(mine, keep)
    return mine, refused


def _key(mine: DescribedTable) -> str:
    return f"columns.editor.{mine.key}"


# What is shown


def _table(mine: DescribedTable) -> "pd.DataFrame":
    return pd.DataFrame.from_records([_line(mine, place) for place in range(len(mine.columns))])


def _line(mine: DescribedTable, place: int) -> dict[str, object]:
    declared, domain = mine.columns[place], mine.domain(place)
    kind = {TYPE: mine.fields[place].type} if isinstance(mine, Connected) else {}
    return {
        "use": declared.use,
        "column": declared.name,
        **kind,
        "kind": kind_of(domain),
        "domain": text_of(domain),
        "missing values": missing_text(domain.missing) if domain else NONE,
        "public": domain.public if domain else False,
    }


def _declare_all(mine: Table, keep: Callable[[Table], None]) -> None:
    """Offer one declaration for all columns in use."""
    domains = [mine.domain(place) for place in range(len(mine.columns))]
    in_use = [place for place, column in enumerate(mine.columns) if column.use and domains[place] is not None]

    def declare(places: Sequence[int], **declared: object) -> None:
        columns = list(mine.columns)
        for place in places:
            columns[place] = replace(columns[place], domain=replace(domains[place], **declared))  # type: ignore[type-var]
        keep(mine.declared(columns))

    with st.container(horizontal=True):
        st.button(
            "Mark all as public",
            key="all.public",
            disabled=all(domains[place].public for place in in_use),  # type: ignore[union-attr]
            help="States that the domains of all columns in use are known without the table.",
            on_click=declare,
            args=(in_use,),
            kwargs={"public": True},
        )


def _warn_of_cuts(mine: DescribedTable) -> None:
    """Warn where cut points that were read from the data are marked public."""
    doubtful = [
        escaped(column.name)
        for column, proposal in zip(mine.columns, mine.proposals, strict=True)
        if column.use
        and isinstance(column.domain, Cuts)
        and column.domain.public
        and isinstance(proposal.domain, Cuts)
        and column.domain.points == proposal.domain.points
    ]
    if doubtful:
        st.warning(
            f"The cut points of {', '.join(doubtful)} are marked public but were read from the data. Choose cut points "
            "from public knowledge instead."
        )


def _set_aside(mine: DescribedTable) -> None:
    """List the reason for each unused column: a cell of the table would cut the sentence off."""
    reasons = [p.reason for p, column in zip(mine.proposals, mine.columns, strict=True) if p.reason and not column.use]
    if not reasons:
        return
    listed = "\n".join(f"- {escaped(reason)}" for reason in reasons)
    if len(reasons) <= FEW_REASONS:
        st.markdown(f"Not in use:\n\n{listed}")
        return
    with st.expander(f"Not in use: {many(len(reasons), 'column')}"):
        st.markdown(listed)


# What is typed


def _typed(mine: Table, keep: Callable[[Table], None]) -> tuple[Table, InputError | None]:
    """Return the table with the valid edits in the browser, and the message about an invalid one.

    An invalid line leaves its column unchanged. The browser shows the typed text until another page is opened.
    """
    try:
        edits = edits_of(_key(mine), len(mine.columns), EDITABLE)
    except InputError as error:
        show_refusal(error)
        mine = mine.declared(mine.columns)
        keep(mine)
        return mine, None
    columns, refused = list(mine.columns), None
    for place, edit in edits.items():
        try:
            columns[place] = as_typed(columns[place], mine.domain(place), edit)
        except InputError as error:
            refused = refused or error
    if edits:
        mine = mine.typed(columns)
        keep(mine)
    return mine, refused


# Cuts at quantiles


def _cut_by_quantiles(mine: Upload) -> None:
    """Offer cuts at quantiles of one column; marked as a leak."""
    names = [proposal.name for proposal in mine.proposals if _holds_numbers(proposal)]
    if not names:
        return
    with st.expander("Quantile bins (leak information; for demonstrations only)"):
        left, middle, right = st.columns([2, 1, 1], vertical_alignment="bottom")
        name = left.selectbox("Numeric column", names, key="quantile.column")
        bins = middle.text_input("Number of bins", "4", key="quantile.bins")
        if right.button("Apply bins"):
            with sentence_instead():
                keep_upload(_cut(mine, [column.name for column in mine.columns].index(name), bins))
                st.rerun()


def _holds_numbers(proposal: Proposal) -> bool:
    if not isinstance(proposal.domain, Categories):
        return proposal.domain is not None
    try:
        return all(math.isfinite(float(state)) for state in proposal.domain.states)
    except ValueError:
        return False


def _cut(mine: Upload, place: int, bins: str) -> Upload:
    """Return the upload with a column in use that is proposed to be cut so, and no longer declared otherwise."""
    name, shown = mine.columns[place].name, mine.domain(place)
    cuts = quantile_cuts(name, mine.frame[name], whole_number("The number of bins", bins, low=2, high=64))
    cuts = replace(cuts, missing=shown.missing if shown else None)
    proposals, columns = list(mine.proposals), list(mine.columns)
    proposals[place], columns[place] = Proposal(name, cuts), DeclaredColumn(name)
    return replace(mine, proposals=tuple(proposals)).declared(columns)


# The domain description


def _description(mine: Table, keep: Callable[[Table], None]) -> None:
    """Offer the declared domains as a file, and take such a file."""
    with st.expander("Save or load domains"):
        left, right = st.columns(2)
        with left:
            st.caption(
                "The file contains the domains that you declared and the names of all columns. The file omits "
                "proposals, because proposals are read from the data."
            )
            open_ones = [brief(c.name) for c in mine.columns if c.domain and not c.domain.public]
            if open_ones:
                more = f" and {len(open_ones) - 5} more" if len(open_ones) > 5 else ""
                st.caption(escaped(f"Declared but not public: {', '.join(open_ones[:5])}{more}."))
            download_button(
                "Download domain description",
                write_domains(mine.columns),
                DESCRIPTION,
                mime="application/json",
                key="domains.out",
            )
        with right:
            file = st.file_uploader("Domain description (JSON)", type=None, key="domains.file")
            if file is not None and st.button("Use this description"):
                with sentence_instead():
                    columns = for_table(read_domains(file.getvalue()), [column.name for column in mine.columns])
                    keep(mine.declared(columns))
                    st.rerun()


# Records


def _encode(mine: Upload) -> None:
    places = [place for place, column in enumerate(mine.columns) if column.use]
    if not places:
        raise InputError("No column is in use; tick at least one.")
    columns = tuple(_in_use(mine, place) for place in places)
    if mine.dataset is None or mine.encoded != columns:
        with shown_progress("Encoding the records …", len(mine.frame) * len(columns)) as progress:
            data = encode(mine.frame, columns, progress)
        mine = replace(mine, dataset=data, encoded=columns)
        keep_upload(mine)
    assert mine.dataset is not None
    st.caption(escaped(f"{mine.dataset.n:,} of {len(mine.frame):,} records are in use."))


def _in_use(mine: Upload, place: int) -> Column:
    name, domain = mine.columns[place].name, mine.domain(place)
    require_node_names(name)
    if domain is None:
        raise InputError(f"Column {brief(name)} has no domain; type its categories or cut points, or leave it out.")
    return domain
