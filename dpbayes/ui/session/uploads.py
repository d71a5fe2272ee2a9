"""The uploaded table and uploaded probabilities of a session. Links do not contain them."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import streamlit as st
from streamlit.typing import UploadedFile

from dpbayes.base.libraries import pd
from dpbayes.base.validation import InputError, brief
from dpbayes.model.dataset import Dataset
from dpbayes.sources.columns import Column, Cuts
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.proposals import Proposal
from dpbayes.ui.session.graphs import MAX_NAME
from dpbayes.ui.session.roles import Act, person
from dpbayes.ui.session.run import this_run


def require_node_name(name: str) -> None:
    """Errors: InputError for a column whose name no node can have."""
    if len(name) > MAX_NAME:
        raise InputError(f"The column name {brief(name)} is longer than {MAX_NAME} characters; shorten it in the file.")


@dataclass(frozen=True, eq=False, kw_only=True)
class DescribedTable:
    """A table whose domains a person declares: uploaded or connected.

    `proposals` and `columns` have one entry for each column: the domain that was read from the data, and the domain
    that the person declares, which takes precedence. `number` identifies the table in its session. `version` counts the
    changes of the declared domains, except those typed into the page. `refused` is the message about what was declared
    last, if it cannot be used.
    """

    proposals: tuple[Proposal, ...] = ()
    columns: tuple[DeclaredColumn, ...] = ()
    number: int = 1
    version: int = 0
    refused: str = ""

    @property
    def key(self) -> str:
        """The key of the editable table of columns; a new key discards the edits in the browser."""
        return f"{type(self).__name__.lower()}.{self.number}.{self.version}"

    def domain(self, place: int) -> Column | None:
        """Return the declared domain of a column, else the proposed domain, else None."""
        return self.columns[place].domain or self.proposals[place].domain

    @property
    def read_cuts(self) -> frozenset[int]:
        """The places of the columns in use whose cut points were read from the records."""
        domains = ((place, self.domain(place), one.domain) for place, one in enumerate(self.proposals))
        cuts = {k for k, own, read in domains if isinstance(own, Cuts) and own.points == getattr(read, "points", ())}
        return frozenset(place for place in cuts if self.columns[place].use)

    @property
    def in_use(self) -> tuple[Column, ...]:
        """The domains of the columns in use. Errors: InputError if there is no such column, or one without a domain."""
        used = {column.name: self.domain(place) for place, column in enumerate(self.columns) if column.use}
        if not used:
            raise InputError("No column is in use; tick at least one.")
        for name, domain in used.items():
            require_node_name(name)
            if domain is None:
                raise InputError(f"Column {brief(name)} has no values; type categories or cut points, or leave it out.")
        return tuple(domain for domain in used.values() if domain is not None)

    def typed(self, columns: Iterable[DeclaredColumn]) -> Self:
        """Return the table with the columns as typed into the page."""
        return replace(self, columns=tuple(columns))

    def declared(self, columns: Iterable[DeclaredColumn]) -> Self:
        """Return the table with other declared columns, which the page has not shown yet."""
        return replace(self, columns=tuple(columns), version=self.version + 1)


@dataclass(frozen=True, eq=False)
class Upload(DescribedTable):
    """An uploaded table: the name of the file, the file as text, the declared domains, and the records.

    `dataset` is None until all columns in use have domains that contain their values; `encoded` are these domains.
    `remark` states how the file was read.
    """

    title: str
    frame: "pd.DataFrame"
    dataset: Dataset | None = None
    encoded: tuple[Column, ...] = ()
    remark: str = ""

    @property
    def leaks(self) -> frozenset[str]:
        """The columns whose domains were read from the data, or are not declared public."""
        return frozenset(column.name for column in self.encoded if not column.public)


def keep_upload(mine: Upload) -> None:
    """Make this the session's uploaded table."""
    st.session_state["upload"] = mine


def upload() -> Upload | None:
    """Return this session's uploaded table; None without one, and for a person who may not upload."""
    mine = st.session_state.get("upload")
    return mine if isinstance(mine, Upload) and person().may(Act.UPLOAD) else None


def given_cpts() -> dict[str, np.ndarray]:
    """Return the typed or loaded CPTs of this session, by the text of their graph."""
    tables: dict[str, np.ndarray] = st.session_state.setdefault("given_cpts", {})
    return tables


# Small documents, which everybody may send

MOST_DOCUMENT = 2 * 2**20
"""The largest number of bytes of a release to check, of a network, and of a story."""

MOST_SESSIONS = 10_000
"""The number of sessions that are remembered to have a place for a document; the oldest are forgotten."""

_with_place: dict[str, None] = {}


def document_place(label: str, *, type: str | list[str] | None = None, key: str) -> UploadedFile | None:
    """Show a place for a small document; a visitor without the right to upload tables can use it, too."""
    run = this_run()
    if run is not None:
        _with_place[run.session_id] = _with_place.pop(run.session_id, None)
        for oldest in list(_with_place)[:-MOST_SESSIONS]:
            del _with_place[oldest]
    return st.file_uploader(label, type=type, key=key, max_upload_size=MOST_DOCUMENT // 2**20)


def takes_documents(session: str) -> bool:
    """Return whether a page of this session has shown a place for a document."""
    return session in _with_place
