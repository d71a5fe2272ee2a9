"""What an accuracy experiment costs in time and memory, and the blocks of repeats that follow from it."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

from dpbayes.base.text import duration, many, memory
from dpbayes.base.validation import InputError
from dpbayes.experiments.accuracy.blanket import MOST_COLUMNS
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.size import Size
from dpbayes.model.network import Network

MOST_SECONDS = 600.0
"""Longest that an experiment may take by the estimate."""

MOST_NUMBERS = 1 << 23
"""Most numbers of one kind that are held at once, 64 megabytes: cells of one repeat at all epsilons, and results."""

MOST_DECISIONS = 150_000
"""Most decisions whose distribution functions are held at once, at 2.5 kilobytes each."""

MOST_DRAWN = 50_000_000
"""Most values of one repeat's records, which are drawn in one step: about a second, a byte each."""

FIRST, LATER = 0.1, 0.5
"""Seconds of work in the first block of repeats and in every later one, after which there is a new picture."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What these methods cost at a size."""

    size: Size
    methods: tuple[Method, ...]

    @property
    def seconds(self) -> float:
        """About how long one of the first repeats takes, on one core."""
        return self._seconds_after(0)

    @property
    def total_seconds(self) -> float:
        """About how long all repeats take, with what is prepared for them."""
        parts = ((end - start) * self._seconds_after(start) for start, end in itertools.pairwise([0, *self._ends]))
        return self.prepared_seconds + sum(parts)

    def repeats_in(self, seconds: float) -> int:
        """About how many repeats, of those that there are to be, can be had in a time."""
        left, done = seconds - self.prepared_seconds, 0
        for end in self._ends:
            seconds_per_repeat = self._seconds_after(done)
            if left < (end - done) * seconds_per_repeat:
                return done + max(0, int(left / seconds_per_repeat))
            left, done = left - (end - done) * seconds_per_repeat, end
        return done

    @property
    def _ends(self) -> list[int]:
        """After how many repeats fewer methods go on, and after how many none."""
        repeats = self.size.repeats
        return sorted({repeats, *(min(repeats, method.most_repeats) for method in self.methods)})

    def _seconds_after(self, done: int) -> float:
        """About how long the next repeat takes: some methods are measured in the first few only."""
        records = 12e-9 * (self.size.drawn + self.size.split + self.size.training + self.size.testing)
        design = 1e-9 * min(self.size.columns, MOST_COLUMNS) * self.size.patterns
        return 2e-4 + records + design + sum(self._method_seconds(m) for m in self.methods if m.most_repeats > done)

    @property
    def prepared_seconds(self) -> float:
        """About how long it takes to prepare what serves all repeats."""
        return sum(method.prepared(self.size) for method in self.methods)

    def _method_seconds(self, method: Method) -> float:
        epsilons = 1 if method.is_baseline else self.size.epsilons
        return epsilons * (self._scored_seconds + 3e-8 * self.size.local_cells) + method.seconds(self.size)

    @property
    def _scored_seconds(self) -> float:
        """Time to predict all test records at one epsilon: faster where repeats share their patterns."""
        columns = min(self.size.columns, MOST_COLUMNS)
        is_shared = self.size.split or self.size.patterns < self.size.testing
        seconds_per_pattern = (
            5e-9 + 5e-11 * columns if is_shared else 1e-8 + 3e-10 * columns + (self.size.states > 2) * 2e-8
        )
        return seconds_per_pattern * (self.size.states - 1) * self.size.patterns

    def blocks(self) -> Iterator[int]:
        """Yield the repeats of every block: few at first, so that there soon is a picture, then more."""
        most, done = self.size.repeats_together, 0
        wanted = FIRST
        while done < self.size.repeats:
            size = min(self.size.repeats - done, most, max(2, round(wanted / self._seconds_after(done))))
            yield size
            done, wanted = done + size, LATER


def refuse_long_search(network: Network, *, most: int) -> None:
    """Errors: InputError where the best noise for more than `most` sets of nodes is to be found, in one long step."""
    sets = len(network.closure)
    if sets > most:
        raise InputError(
            f"This network has {sets:,} sets of nodes within its families, but the optimal noise is computed "
            "for at most "
            f"{most:,} here. Remove some parents, or leave out the mechanisms that need it."
        )


def refuse_large_runs(cost: Cost) -> None:
    """Errors: InputError for what would take too long, or too much memory, saying how much and what to do."""
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
            f"The records of one repeat have {size.drawn:,} values; the limit is {MOST_DRAWN:,}. Use fewer "
            "training and "
            "test records, or a smaller network."
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
