"""The numbers that the time and the memory of an accuracy experiment depend on."""

from dataclasses import dataclass

from dpbayes.mechanisms.parameters import Noise

MOST_REPEATS = 256
_MOST_NUMBERS = 1 << 21


@dataclass(frozen=True, kw_only=True)
class Size:
    """Of `repeats` of so many `curves`, the baselines among them: how much each has to draw, to score and to hold.

    `drawn` are the values that synthetic records hold, of which the `split` of a table draws none; `patterns` of
    test records are scored, by `columns` terms each; `local_cells` and `decisions` are those of the target's families;
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
        """About how many different pairs of counts there are in the decisions of one repeat, more repeats sharing."""
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
