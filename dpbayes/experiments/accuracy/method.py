"""What predicts in an accuracy experiment, as a value: a curve, and how it is computed at all epsilons at once."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpbayes.base.looks import Look
from dpbayes.base.steps import Work
from dpbayes.base.text import many
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.releases import Releases, Streams
from dpbayes.experiments.accuracy.size import Size
from dpbayes.mechanisms.base import NetworkMechanism
from dpbayes.mechanisms.parameters import Calibration, Noise
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.network import Network

LogCpts = Callable[[Releases, FloatArray, Streams], Work[FloatArray]]
"""Takes counts of all cells (R, all) and returns ln CPTs (R, E, K) of the target's families, or (R, 1, K)."""


@dataclass(frozen=True, kw_only=True)
class Method:
    """A curve: its `name` in commands, and its look and title, where "N samples" stands for the plan's number.

    `kind` is the mechanism that it belongs to, None for a baseline, to which epsilon means nothing. `option` is what
    leaves it out on the page, by its name in the link and its title. `certified` returns the epsilon proved for every
    epsilon of the grid (E,), and `noises` are those that it draws, if any. `seconds` is about how long it takes for one
    repeat beside its predictions, and `prepared` once for all of them; `most_repeats` are the first of a study's that
    it is measured in. `suits` raises an InputError for networks that the mechanism fits, but not the curve.
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
        """Whether epsilon means nothing to it."""
        return self.kind is None

    def called(self, draws: int) -> str:
        """Return its title with the number of draws that it stands for."""
        return self.title.replace("N samples", many(draws, "sample"))

    def look(self, draws: int) -> Look:
        """Return how its curve looks."""
        return self.titled.called(self.called(draws))


Lines = Callable[[Sequence[Method], Releases], list[str]]
"""What is to be said of those of these methods that belong to a mechanism, as Markdown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Curves:
    """The curves of one mechanism, with the lines of formulas and of notes on what is proved that belong to them."""

    kind: type[Any]
    methods: tuple[Method, ...]
    formulas: Lines
    notes: Lines = lambda methods, releases: []
