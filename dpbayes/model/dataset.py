"""A table of n categorical records with public domains, as small-integer codes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from dpbayes.base.display import html_table, titled_lines
from dpbayes.base.libraries import pd
from dpbayes.base.types import Codes
from dpbayes.base.validation import InputError, brief, distinct_names, type_checked
from dpbayes.model.network import MAX_STATES


@type_checked
@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """n records over named columns with public domains, as small-integer codes.

    The codes are read-only, use one byte each, and are contiguous for each column. Neighbours are tables
    of the same n that differ in one record (`replace`).

    Args:
        names: The columns.
        states: Every column's *public* domain.
        codes: The records (n, d), as indices into the domains.

    Raises:
        InputError: Names are repeated, a domain has too many states, or a code is outside its domain.

    Example:
        >>> table = dp.Dataset(("rain",), (("no", "yes"),), np.array([[0], [1], [1]]))
        >>> table.n, table.column("rain").tolist()
        (3, [0, 1, 1])
    """

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    codes: Codes

    def __post_init__(self) -> None:
        names = distinct_names("column", self.names)
        codes = np.asfortranarray(self.codes)
        if codes.dtype.kind not in "biu" and codes.size:
            raise InputError("The codes of a table must be whole numbers: the places of the states in their columns.")
        if codes.ndim != 2 or codes.shape[1] != len(names) or len(self.states) != len(names):
            raise InputError("A table needs one column of codes and one domain for every name.")
        for j, (name, states) in enumerate(zip(names, self.states, strict=True)):
            if not 1 <= len(states) <= MAX_STATES:
                raise InputError(f"Column {brief(name)} has {len(states):,} states; it needs 1 to {MAX_STATES}.")
            if len(codes) and (codes[:, j].min() < 0 or codes[:, j].max() >= len(states)):
                raise InputError(f"Column {brief(name)} has a code outside its {len(states)} declared states.")
        codes = codes.astype(np.uint8, order="F", copy=codes is self.codes)
        codes.setflags(write=False)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "states", tuple(tuple(s) for s in self.states))
        object.__setattr__(self, "codes", codes)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Refuse a name of data frames, such as `head`, and name the way to one."""
            cure = "Write .to_frame() for a data frame, and .n for the number of records."
            raise AttributeError(f"A {type(self).__name__} has no {name}. {cure}")

    def __repr__(self) -> str:
        columns = (f"{name}: {', '.join(states)}" for name, states in zip(self.names, self.states, strict=True))
        return titled_lines(f"Table of {self.n:,} records", columns, len(self.names))

    def _repr_html_(self) -> str:
        columns = ((name, ", ".join(states)) for name, states in zip(self.names, self.states, strict=True))
        return html_table(f"Table of {self.n:,} records", ("column", "values"), list(columns), len(self.names))

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, key: object) -> NoReturn:
        raise InputError(f"A {type(self).__name__} is no data frame: write .to_frame()[{brief(key)}].")

    @property
    def n(self) -> int:
        """The number of records; public, since neighbours share it."""
        return int(self.codes.shape[0])

    @cached_property
    def position(self) -> dict[str, int]:
        """The index of every column by its name."""
        return {name: j for j, name in enumerate(self.names)}

    def column(self, name: str) -> Codes:
        """Return one column's codes (n,). Errors: InputError naming an unknown column."""
        if not isinstance(name, str) or name not in self.position:
            raise InputError(f"The table has no column {brief(name)}; it has {brief(', '.join(self.names), 200)}.")
        return self.codes[:, self.position[name]]

    def domain(self, name: str) -> tuple[str, ...]:
        """Return one column's public states."""
        self.column(name)
        return self.states[self.position[name]]

    @type_checked
    def select(self, names: Iterable[str]) -> "Dataset":
        """Return the table with these columns only, in this order."""
        names = tuple(names)
        columns = [self.position[name] for name in names if self.column(name) is not None]
        return Dataset(names, tuple(self.states[j] for j in columns), self.codes[:, columns])

    @type_checked
    def to_frame(self) -> "pd.DataFrame":
        """Return the records as a data frame of states."""
        columns = zip(self.names, self.states, self.codes.T, strict=True)
        return pd.DataFrame({name: np.array(states, dtype=object)[codes] for name, states, codes in columns})

    def take(self, records: Sequence[int] | NDArray[np.integer] | slice) -> Self:
        """Return the table with these records only. Errors: InputError for a record that the table does not have."""
        try:
            return replace(self, codes=self.codes[records])
        except IndexError:
            raise InputError(f"records must be indices below {self.n:,}, not {brief(records)}.") from None

    @type_checked
    def replace(self, k: int, record: Sequence[int]) -> "Dataset":
        """Return the neighbour in which record k has the codes `record` instead."""
        if not 0 <= k < self.n:
            raise InputError(f"There is no record {k}; the table has {self.n}.")
        # Checked before it is stored: a byte would wrap a code that is out of range into it.
        checked = Dataset(self.names, self.states, np.asarray(record)[None])
        codes = self.codes.copy(order="F")
        codes[k] = checked.codes[0]
        return Dataset(self.names, self.states, codes)
