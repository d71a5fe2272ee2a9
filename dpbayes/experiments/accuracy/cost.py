"""The time and memory of an accuracy experiment, and the blocks of repeats that follow from them."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from dpbayes.base.text import duration, many, memory
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.blanket import MOST_COLUMNS
from dpbayes.experiments.accuracy.method import Method, Size
from dpbayes.model.network import Network

MOST_SECONDS = 600.0
"""The largest estimated time of an experiment that is allowed."""

MOST_NUMBERS = 1 << 23
"""Most numbers of one kind in memory at a time, 64 megabytes: cells of one repeat at all epsilons, and results."""

MOST_DECISIONS = 150_000
"""Most decisions whose distribution functions are in memory at a time, with 2.5 kilobytes each."""

MOST_DRAWN = 50_000_000
"""Most values of one repeat's records, which are sampled in one step of about a second, with one byte each."""

FIRST, LATER = 0.1, 0.5
"""Seconds of work in the first block of repeats and in every later block; each block ends with a new picture."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """The time that these methods take at a size."""

    size: Size
    methods: tuple[Method, ...]

    @property
    def seconds(self) -> float:
        """About how long one of the first repeats takes, on one core."""
        return self._seconds_after(0)

    @property
    def total_seconds(self) -> float:
        """About how long all repeats take, including their preparation."""
        parts = ((end - start) * self._seconds_after(start) for start, end in itertools.pairwise([0, *self._ends]))
        return self.prepared_seconds + sum(parts)

    def repeats_in(self, seconds: float) -> int:
        """About how many of the repeats can be done in this time."""
        left, done = seconds - self.prepared_seconds, 0
        for end in self._ends:
            seconds_per_repeat = self._seconds_after(done)
            if left < (end - done) * seconds_per_repeat:
                return done + max(0, int(left / seconds_per_repeat))
            left, done = left - (end - done) * seconds_per_repeat, end
        return done

    @property
    def _ends(self) -> list[int]:
        """The numbers of repeats after which some methods end, and after which all end."""
        repeats = self.size.repeats
        return sorted({repeats, *(min(repeats, method.most_repeats) for method in self.methods)})

    def _seconds_after(self, done: int) -> float:
        """About how long the next repeat takes; some methods are measured only in the first repeats."""
        records = 12e-9 * (self.size.drawn + self.size.split + self.size.training + self.size.testing)
        design = 1e-9 * min(self.size.columns, MOST_COLUMNS) * self.size.patterns
        return 2e-4 + records + design + sum(self._method_seconds(m) for m in self.methods if m.most_repeats > done)

    @property
    def prepared_seconds(self) -> float:
        """About how long the preparation for all repeats takes."""
        return sum(method.prepared(self.size) for method in self.methods)

    def _method_seconds(self, method: Method) -> float:
        epsilons = 1 if method.is_baseline else self.size.epsilons
        return epsilons * (self._scored_seconds + 3e-8 * self.size.local_cells) + method.seconds(self.size)

    @property
    def _scored_seconds(self) -> float:
        """The time to predict all test records at one epsilon; it is shorter if repeats share their patterns."""
        columns = min(self.size.columns, MOST_COLUMNS)
        is_shared = self.size.split or self.size.patterns < self.size.testing
        seconds_per_pattern = (
            5e-9 + 5e-11 * columns if is_shared else 1e-8 + 3e-10 * columns + (self.size.states > 2) * 2e-8
        )
        return seconds_per_pattern * (self.size.states - 1) * self.size.patterns

    def blocks(self) -> Iterator[int]:
        """Yield the number of repeats of every block: few at first, for an early picture, then more."""
        most, done = self.size.repeats_together, 0
        wanted = FIRST
        while done < self.size.repeats:
            size = min(self.size.repeats - done, most, max(2, round(wanted / self._seconds_after(done))))
            yield size
            done, wanted = done + size, LATER


def refuse_long_search(network: Network, *, most: int) -> None:
    """Refuse a search for the best noise on more than `most` sets of nodes, which would be one long step."""
    sets = len(network.closure)
    if sets > most:
        raise InputError(
            f"This network has {sets:,} sets of nodes within its families, but the optimal noise is computed for at "
            f"most {most:,} here. Remove some parents, or leave out the mechanisms that need it."
        )


def refuse_large_runs(cost: Cost) -> None:
    """Refuse experiments that take too long or too much memory; the error states how much, and what to change."""
    size = cost.size
    values = size.epsilons * size.local_cells
    if values > MOST_NUMBERS or size.decisions > MOST_DECISIONS:
        raise InputError(
            f"The tables of the target and its children have {size.local_cells:,} cells. With "
            f"{many(size.epsilons, 'epsilon')}, the results do not fit in memory. Choose another target"
            f"{' or fewer epsilons' if size.epsilons > 1 else ''}."
        )
    if size.drawn > MOST_DRAWN:
        raise InputError(
            f"The records of one repeat have {size.drawn:,} values; the limit is {MOST_DRAWN:,}. Use fewer training "
            "and test records, or a smaller network."
        )
    if size.states * size.patterns > 4 * MOST_NUMBERS:
        raise InputError(
            f"{size.patterns:,} test records with {size.states:,} states of the target do not fit in "
            "memory. Use fewer test records."
        )
    results = size.repeats * size.epsilons * size.curves
    seconds = cost.total_seconds
    if seconds > MOST_SECONDS or results > MOST_NUMBERS:
        most = min(cost.repeats_in(MOST_SECONDS), MOST_NUMBERS // (size.epsilons * size.curves))
        advice = f"use at most {most:,} repeats" if most >= 2 else "use fewer records, epsilons, samples or cells"
        raise InputError(
            f"{size.repeats:,} repeats of {size.curves} methods at {size.epsilons:,} epsilons would take about "
            f"{duration(seconds)} and {memory(16.0 * results)} of memory; {advice}."
        )
