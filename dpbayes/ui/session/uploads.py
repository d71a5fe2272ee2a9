"""What a person brought along: a table, and tables of probabilities. It lives in the session; no link carries it."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.experiments.regression.records import OwnColumns
from dpbayes.model.dataset import Dataset
from dpbayes.sources.columns import Column
from dpbayes.sources.domains import DeclaredColumn
from dpbayes.sources.proposals import Proposal
from dpbayes.ui.session.roles import Act, person


@dataclass(frozen=True, eq=False)
class Upload:
    """A person's own table: the file as text, what is declared of its columns, and the records. Lives in the session.

    `proposals` and `columns` go by the file's columns: what was read off the data, and what the person declares; the
    declared domain counts where there is one. `dataset` is None until the columns in use have domains that its values
    fit; `encoded` are those domains. `number` tells the tables of a session apart; `version` counts the changes to what
    is declared of this one, but for those typed into the page's own table. `bounds` and `target` are what is typed for
    a regression, one line for every column of numbers, and `own` the columns once they are complete. `said` is how the
    file was read; `source` is the same when one file is read twice, in two ways.
    """

    name: str
    frame: pd.DataFrame
    dataset: Dataset | None = None
    proposals: tuple[Proposal, ...] = ()
    columns: tuple[DeclaredColumn, ...] = ()
    encoded: tuple[Column, ...] = ()
    number: int = 0
    version: int = 0
    bounds: pd.DataFrame | None = None
    target: str = ""
    own: OwnColumns | None = None
    said: str = ""
    source: str = ""

    @property
    def leaks(self) -> frozenset[str]:
        """The columns whose domains were taken from the data, or are not said to be public."""
        return frozenset(column.name for column in self.encoded if not column.public)

    def domain(self, place: int) -> Column | None:
        """Return the domain of a column of the file: the declared one, else the proposed one, else None."""
        return self.columns[place].domain or self.proposals[place].domain

    @property
    def key(self) -> str:
        """What tells apart the tables of columns that a browser may have edited."""
        return f"{self.number}.{self.version}"

    @property
    def kinds(self) -> tuple[str, ...]:
        """The types of the columns: none, for a file holds text."""
        return ()

    def typed(self, columns: Iterable[DeclaredColumn]) -> "Upload":
        """Return the table with columns as they were typed into its page's own table."""
        return replace(self, columns=tuple(columns))

    def declared(self, columns: Iterable[DeclaredColumn]) -> "Upload":
        """Return the table with other declared columns, which its page has not shown yet."""
        return replace(self, columns=tuple(columns), version=self.version + 1)


def keep_upload(mine: Upload) -> None:
    """Make this the session's uploaded table."""
    st.session_state["upload"] = mine


def upload() -> Upload | None:
    """Return this session's uploaded table, if there is one and this person may see it."""
    mine = st.session_state.get("upload")
    return mine if isinstance(mine, Upload) and person().may(Act.UPLOAD) else None


def given_cpts() -> dict[str, np.ndarray]:
    """Return the CPTs given by hand or by a BIF file, by graph text; session only."""
    tables: dict[str, np.ndarray] = st.session_state.setdefault("given_cpts", {})
    return tables
