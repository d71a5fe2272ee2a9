"""A method of an accuracy experiment: its curve, its computation, and the size on which its time depends."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpbayes.base.looks import Look
from dpbayes.base.steps import Work
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.releases import Releases, Streams
from dpbayes.mechanisms.base import NetworkMechanism
from dpbayes.mechanisms.parameters import Calibration, Noise
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.network import Network

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


LogCpts = Callable[[Releases, FloatArray, Streams], Work[FloatArray]]
"""Takes counts of all cells (R, all) and returns ln CPTs (R, E, K) of the target's families, or (R, 1, K)."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A curve: its `name` in commands, and its look and title, in which "N samples" becomes the plan's number.

    `kind` is the class of its mechanism; None for a baseline, which has no epsilon. `option` is the option of the page
    that leaves the curve out: its name in the link, and its title. `certified` returns the proved epsilon for every
    epsilon of the grid (E,). `noises` are the kinds of noise that it can sample. `seconds` is the time for one repeat
    without the predictions, and `prepared` the time spent once for all repeats. The method is measured only in the
    first `most_repeats` repeats of a study. `suits` raises an InputError for networks that the mechanism fits, but the
    curve does not.
    """

    name: str
    titled: Look = field(compare=False)
    log_cpts: LogCpts = field(compare=False)
    certified: Callable[[Releases], FloatArray] = field(compare=False, default=lambda releases: releases.plan.grid)
    kind: type[NetworkMechanism[Outcome]] | None = field(compare=False, default=None)
    option: tuple[str, str] = field(compare=False, default=("", ""))
    calibrations: tuple[Calibration, ...] = field(compare=False, default=tuple(Calibration))
    noises: tuple[Noise, ...] = field(compare=False, default=tuple(Noise))
    suits: Callable[[Network], object] = field(compare=False, default=lambda network: None)
    most_repeats: int = field(compare=False, default=10**9)
    seconds: Callable[[Size], float] = field(compare=False, default=lambda size: 0.0)
    prepared: Callable[[Size], float] = field(compare=False, default=lambda size: 0.0)

    @property
    def title(self) -> str:
        """Its name in a legend."""
        return self.titled.name

    @property
    def is_baseline(self) -> bool:
        """Whether it has no epsilon."""
        return self.kind is None

    def called(self, draws: int) -> str:
        """Return its title with the number of samples."""
        return self.title.replace("N samples", many(draws, "sample"))

    def look(self, draws: int) -> Look:
        """Return how its curve looks."""
        return self.titled.called(self.called(draws))


Lines = Callable[[Sequence[Method], Releases], list[str]]
"""Takes the methods of a study, and returns lines of Markdown on those of one mechanism."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """The curves of one mechanism, with their formulas, and notes on what is proved."""

    kind: type[Any]
    methods: tuple[Method, ...]
    formulas: Lines
    notes: Lines = lambda methods, releases: []
