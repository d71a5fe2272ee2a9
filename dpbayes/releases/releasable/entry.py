"""What is known of a mechanism that can be released, and what several of them share.

All of an entry's functions but `draw` are given what is public alone.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Protocol

from dpbayes.base.parameters import Parameter
from dpbayes.base.steps import Work
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.mechanisms.noise.confirmed import Calibrated
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.releases.amounts import PrivacyMeasure

REACH = 100
"""So many scales away noise is taken for a mistake: it is, but for once in e^100 draws."""


class Asked(Protocol):
    """What an entry is told of a release: all of it public."""

    @property
    def network(self) -> Network: ...
    @property
    def dirichlets(self) -> Dirichlets: ...
    @property
    def epsilon(self) -> Fraction: ...
    @property
    def rho(self) -> Fraction: ...
    @property
    def n(self) -> int: ...
    @property
    def settings(self) -> Mapping[str, Fraction]: ...
    @property
    def prices(self) -> tuple[int, ...]: ...
    @property
    def sensitivity(self) -> "Sensitivity": ...


@dataclass(frozen=True)
class Sensitivity:
    """How far one replaced record moves what the noise is put on: a whole number, of what, and why."""

    value: int
    of: str
    lemma: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Releasable:
    """A mechanism that can be released. `settings` are its own numbers, by name.

    length(asked) -> how many integers; span(asked, scale) -> the least and the largest that can be believed.
    What is promised is a number of its `measure`. loss(sensitivity, scale) -> that number, exactly; calibrated(asked)
    -> the scale in use. answer(asked, scale) -> what OpenDP's map says there: a number of what is `answered`, at most
    allowed(number). priced(network, weights) -> the prices by which noise is shared out among the sets of nodes, where
    it is: the best ones where the tables' errors count by these weights (|I|,).
    draw(asked, counts, calibration) -> Work of the integers, from counts (K,). outcome(asked, integers) -> what a
    recipient makes of them. simulated(asked) -> the mechanism that is audited. accuracy(asked, scale) -> a sentence.
    """

    label: str
    law: str
    integers: str
    answered: str
    measure: PrivacyMeasure = PrivacyMeasure.EPSILON
    settings: Mapping[str, Parameter] = field(default_factory=lambda: MappingProxyType({}))
    require: Callable[[Network], None] = lambda network: None
    priced: Callable[[Network, FloatArray], tuple[int, ...]] | None = None
    sensitivity: Callable[[Asked], Sensitivity]
    length: Callable[[Asked], int]
    span: Callable[[Asked, Fraction], tuple[int, int]]
    calibrated: Callable[[Asked], Calibrated]
    loss: Callable[[int, Fraction], Fraction]
    answer: Callable[[Asked, float], float]
    allowed: Callable[[Fraction], Fraction]
    draw: Callable[[Asked, IntArray, Calibrated], Work[tuple[int, ...]]]
    outcome: Callable[[Asked, IntArray], Outcome]
    simulated: Callable[[Asked], Any]
    accuracy: Callable[[Asked, Fraction], str]


def reach(asked: Asked, scale: Fraction) -> tuple[int, int]:
    """Return the least and the largest integer that can be believed where noise is added to counts."""
    return -asked.n - math.ceil(REACH * scale), asked.n + math.ceil(REACH * scale)


def within(scale: Fraction) -> str:
    """Return within what nine of ten draws of Laplace noise lie."""
    return numeral(math.log(10) * float(scale))


DISCRETE_LAPLACE = "discrete Laplace: P[z] proportional to exp(-|z| / scale) over the whole numbers"

PURE = "epsilon of pure privacy"

SHOWN_DELTA = 1e-12
"""The delta at which a rho is read as an epsilon where a mechanism is made of both: the least that one takes."""

NINE_OF_TEN = 1.645
"""So many standard deviations around zero hold nine of ten values of a normal law."""
