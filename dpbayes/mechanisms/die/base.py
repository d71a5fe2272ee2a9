"""Common code of the mechanisms for the posterior of one die."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.parameters import check_parameters
from dpbayes.base.privacy import Guarantee
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.posteriors.hellinger import Die


@dataclass(frozen=True, kw_only=True)
class DieMechanism(ABC):
    """A mechanism that releases the posterior of one die. `statistic` is not private; `simulate` samples (*size, m)."""

    label: ClassVar[str]
    named: ClassVar[str]
    die: Die
    epsilon: Annotated[float, EPSILON]

    def __post_init__(self) -> None:
        check_parameters(self)

    @property
    @abstractmethod
    def formula(self) -> str: ...

    @property
    def claimed(self) -> Guarantee:
        """The proved guarantee, unless the paper states another one."""
        return self.certified

    @property
    @abstractmethod
    def certified(self) -> Guarantee: ...

    def statistic(self, throws: ArrayLike) -> IntArray:
        """Return the count of every side (m,) in the codes `throws` (n,). Errors: InputError for other codes."""
        die, codes = self.die, np.asarray(throws)
        if codes.shape != (die.n,):
            raise InputError(f"The die was thrown {die.n:,} times; give one side for each throw.")
        if codes.size and (codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() >= die.sides):
            raise InputError(f"Every throw must be a whole number from 0 to {die.sides - 1}.")
        return np.bincount(codes.astype(np.int64), minlength=die.sides)

    @abstractmethod
    def simulate(self, counts: ArrayLike, rng: np.random.Generator, size: tuple[int, ...] = ()) -> FloatArray:
        """Draw the Dirichlet parameters of released posteriors: (*size, m)."""
