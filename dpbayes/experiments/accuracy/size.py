"""The numbers that the time and the memory of an accuracy experiment depend on."""

from dataclasses import dataclass

from dpbayes.mechanisms.parameters import Noise

MOST_REPEATS = 256
_MOST_NUMBERS = 1 << 21


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much each of the `repeats` of so many `curves`, including the baselines, has to sample, score and store.

    `drawn` is the number of values of synthetic records; `split` is the number of records of a table. `patterns` of
    test records are scored, with `columns` terms each. `local_cells` and `decisions` belong to the target's families.
    `simulated` releases give the certified Fourier increment, once for real `noise`, and at every epsilon for whole.
    """

    curves: int
    repeats: int
    training: int
    testing: int
    split: int
    drawn: int
    patterns: int
    columns: int
    states: int
    epsilons: int
    cells: int
    local_cells: int
    decisions: int
    draws: int
    map_cells: int
    simulated: int
    noise: Noise

    @property
    def kinds(self) -> float:
        """About how many different pairs of counts the decisions of one repeat have, if repeats share them."""
        pairs = (self.training + 1) * (self.training + 2) / 2
        together = self.repeats_together
        return min(together * self.decisions, pairs + self.decisions) / together

    @property
    def repeats_together(self) -> int:
        """How many repeats fit in memory together."""
        odds = self.states - 1
        largest = max(
            self.drawn,
            self.split,
            self.epsilons * self.local_cells,
            2 * self.cells,
            self.states * self.patterns,
            self.epsilons * odds * self.local_cells * self.curves // 4,
        )
        return max(1, min(MOST_REPEATS, self.repeats, _MOST_NUMBERS // largest))
