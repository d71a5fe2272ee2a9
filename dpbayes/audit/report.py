"""The result of an audit: the guarantee as stated and as proved, and the privacy loss of the worst neighbours."""

import enum
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.display import html_table, titled_lines
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import many, numeral
from dpbayes.base.types import AnyArray, BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, type_checked, whole_number
from dpbayes.mechanisms.finite import WorstLoss
from dpbayes.mechanisms.finite import checked_grid as checked_grid
from dpbayes.model.network import Network, assignment

SLACK = 1e-9
"""The relative rounding error that is allowed when two epsilons are compared."""

TIGHT = 1e-6
"""The relative distance from the claim within which a loss counts as equal to it."""


class AuditVerdict(enum.Enum):
    """The verdict on the claim."""

    PROVED_AND_TIGHT = "holds and is tight"
    HOLDS = "holds with room to spare"
    CLAIM_REFUTED = "refuted by two neighbouring tables"
    UNDECIDED = "neither proved nor refuted"
    NO_PROMISE = "no guarantee stated"


@dataclass(frozen=True, eq=False)
class Laws:
    """The distributions of two neighbours over finitely many outputs: their labels, and their probabilities (R,).

    Outputs that are numbers (R,) have densities, or their ratio to the second. If they are of one of several outputs,
    `part` is its largest loss.
    """

    outputs: tuple[str, ...] | FloatArray
    first: FloatArray
    second: FloatArray
    part: float = 0.0


@dataclass(frozen=True, eq=False)
class WorstCase:
    """Two neighbours and the output with the largest loss, as text; their distributions if outputs are finite."""

    first: str
    second: str
    output: str
    laws: Laws | None = None


@dataclass(frozen=True, eq=False)
class DeltaCurve:
    """An upper and a lower bound on delta at `epsilons` (E,): equal if exact; `lower` is 0 if it is unknown."""

    epsilons: FloatArray
    deltas: FloatArray
    lower: FloatArray


@dataclass(frozen=True, eq=False)
class AuditReport:
    """The result of an audit of one mechanism at one setting; it depends on public values only.

    `exact` is the pure epsilon of the worst case (infinity if an output reveals a table), or an upper bound on it, see
    `is_exact`. `at_least` is the loss of some pair of neighbours. `needed` and `needed_at_least` are the same at the
    claim's delta. `scope` states over which tables the maximum was taken.
    """

    claimed: Guarantee
    certified: Guarantee
    exact: float
    at_least: float
    needed: float
    needed_at_least: float
    curve: DeltaCurve
    worst: WorstCase | None
    scope: str

    def __repr__(self) -> str:
        findings = self._findings()
        return titled_lines("Audit", (f"{name}: {value}" for name, value in findings), len(findings))

    def _repr_html_(self) -> str:
        return html_table("Audit", ("", ""), self._findings(), len(self._findings()))

    def _findings(self) -> list[tuple[str, str]]:
        """Return the results by name."""
        upper = "" if self.is_exact else "at most "
        pair = [("worst pair of tables", f"{self.worst.first} and {self.worst.second}")] if self.worst else []
        return [
            ("verdict", self.verdict.value),
            ("stated", str(self.claimed)),
            ("proved", str(self.certified)),
            ("worst-case privacy loss", f"{upper}{numeral(self.exact, 4)} nats"),
            (f"epsilon at delta = {numeral(self.claimed.delta)}", f"{upper}{numeral(self.needed, 4)}"),
            *pair,
            ("scope", self.scope),
        ]

    @property
    def is_exact(self) -> bool:
        """Whether some pair of neighbours has the pure epsilon `exact`."""
        return self.at_least == self.exact or self.exact - self.at_least <= SLACK * max(1.0, self.exact) < np.inf

    @property
    def verdict(self) -> AuditVerdict:
        """The verdict on the claim, from the computed loss."""
        claim = self.claimed
        if not claim.is_private:
            return AuditVerdict.NO_PROMISE
        if self.needed_at_least > claim.epsilon * (1 + SLACK):
            return AuditVerdict.CLAIM_REFUTED
        proved = self.certified.epsilon <= claim.epsilon * (1 + SLACK) and self.certified.delta <= claim.delta
        if proved and self.needed_at_least >= claim.epsilon * (1 - TIGHT):
            return AuditVerdict.PROVED_AND_TIGHT
        return AuditVerdict.HOLDS if proved or self.needed <= claim.epsilon * (1 + SLACK) else AuditVerdict.UNDECIDED

    @type_checked
    def broken_at(self, promise: Guarantee) -> BoolArray:
        """Return where the curve refutes a guarantee: (E,), from its epsilon on with delta above its delta.

        If only an upper bound on delta is known, delta is above zero up to the loss of some pair.
        """
        curve = self.curve
        beyond = curve.epsilons >= promise.epsilon * (1 - 1e-12)
        above = curve.lower > promise.delta * (1 + SLACK)
        if not promise.delta:
            above |= curve.epsilons < self.at_least * (1 - SLACK)
            beyond &= self.at_least > promise.epsilon * (1 + SLACK)
        return np.asarray(beyond & above)


def pure_report(
    mechanism: Any,
    *,
    exact: float,
    at_least: float | None = None,
    curve: DeltaCurve,
    worst: WorstCase | None,
    scope: str,
) -> AuditReport:
    """Return the report on a mechanism whose claim has no delta; `exact` is exact unless `at_least` is given."""
    at_least = exact if at_least is None else at_least
    return AuditReport(
        claimed=mechanism.claimed,
        certified=mechanism.certified,
        exact=exact,
        at_least=at_least,
        needed=exact,
        needed_at_least=at_least,
        curve=curve,
        worst=worst,
        scope=scope,
    )


def worst_case(
    table: FloatArray, loss: WorstLoss, inputs: tuple[str, ...], outputs: tuple[str, ...]
) -> WorstCase | None:
    """Return the worst case of finitely many tables and outputs, from their distributions and their names."""
    if loss.x < 0:
        return None
    laws = Laws(outputs, np.exp(table[loss.x]), np.exp(table[loss.y]))
    return WorstCase(inputs[loss.x], inputs[loss.y], outputs[loss.r], laws)


# Texts about tables, and the checks that audits share

MOST_RECORDS = 2**53

PROVED_FOR_ALL = "The value is the bound that is proved for every n."

MOST_NAMED = 6
"""The largest number of nodes or rows that a label names."""


def checked_records(n: int) -> int:
    """Return a number of records. Errors: InputError."""
    return whole_number("The number of records", n, low=0, high=MOST_RECORDS)


def require_size(own: int, n: int) -> None:
    """Check the number of records of a mechanism for tables of one size. Errors: InputError for another size."""
    if own != n:
        raise InputError(f"This mechanism is for tables of {own:,} records, not of {n:,}; audit it for {own:,}.")


def nothing_to_lose(mechanism: Any, grid: FloatArray) -> AuditReport:
    """Return the report on tables without records: they have no neighbours."""
    flat = DeltaCurve(grid, np.zeros(len(grid)), np.zeros(len(grid)))
    scope = "A table without records has no neighbouring tables."
    return pure_report(mechanism, exact=0.0, at_least=0.0, curve=flat, worst=None, scope=scope)


def all_tables_text(n: int) -> str:
    """Return a sentence on the tables over which the maximum was taken."""
    return f"The maximum is over all tables of {many(n, 'record')} and all their neighbours."


def dots(length: int) -> str:
    """Return the end of a list that names only the first of so many."""
    return ", …" if length > MOST_NAMED else ""


def opposites(network: Network, n: int) -> tuple[str, str]:
    """Return two tables whose odd records differ in every column."""
    odd, common = (_record_text(network, place) for place in (0, -1))
    return f"{n - 1:,} × ({common}) and 1 × ({odd})", f"{n:,} × ({common})"


def replacement(n: int, differs: str) -> tuple[str, str]:
    """Return two tables before and after the replacement of one record, of which only the difference is described."""
    return f"{n:,} records, where {differs}", f"the same {n:,} records after the replacement"


def _record_text(network: Network, place: int) -> str:
    pairs = [assignment(name, states[place]) for name, states in zip(network.names, network.states, strict=True)]
    return ", ".join(pairs[:MOST_NAMED]) + dots(len(pairs))


def nodes_text(network: Network, differs: IntArray) -> str:
    """Return the nodes that are marked 1 in `differs` (|I|,), only the first of many by name."""
    names = [name for name, marked in zip(network.names, differs.tolist(), strict=True) if marked]
    if len(names) == len(network.names):
        return "every column"
    return ", ".join(names[:MOST_NAMED]) + dots(len(names))


def rows_texts(network: Network, *values: AnyArray) -> tuple[str, ...]:
    """Return every array's values (K,), in those rows only in which the first two arrays differ."""
    rows = np.unique(network.row_of_cell[values[0] != values[1]]).tolist()
    dots = "; …" if len(rows) > MOST_NAMED else ""

    def text(value: AnyArray, row: int) -> str:
        cells = " | ".join(numeral(cell, 4) for cell in value[network.cells_of_row(row)].tolist())
        return f"({cells})" if network.row_count == 1 else f"{network.row_label(row)}: ({cells})"

    return tuple("; ".join(text(value, row) for row in rows[:MOST_NAMED]) + dots for value in values)


def counts_text(counts: ArrayLike) -> str:
    """Return the counts of a table: "(3 | 1,997)"."""
    return f"({' | '.join(f'{int(c):,}' for c in np.asarray(counts).tolist())})"


def range_only_curve(grid: FloatArray, *, width: float, most: float) -> DeltaCurve:
    """Return the largest delta(epsilon) of any two laws whose loss has a range of `width` and stays below `most`.

    Nothing is known from below. The extreme laws have two points, with losses t and t - width: delta =
    (1 - e^(t - width)) (1 - e^(epsilon - t)) / (1 - e^-width), which rises in t up to (epsilon + width) / 2.
    """
    nothing = np.zeros(len(grid))
    if width <= 0 or most <= 0:
        return DeltaCurve(grid, nothing, nothing)
    t = np.minimum((grid + width) / 2, min(most, width))
    inside = np.expm1(np.minimum(t - width, 0.0)) * np.expm1(np.minimum(grid - t, 0.0))
    return DeltaCurve(grid, np.where(grid < min(most, width), inside / -math.expm1(-width), 0.0), nothing)
