"""Common code of the mechanisms for the posterior of one die."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.parameters import check_parameters
from dpbayes.base.privacy import Guarantee
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.posteriors.hellinger import Die


@dataclass(frozen=True, kw_only=True)
class DieMechanism(ABC):
    """A mechanism that releases the posterior of one die, from the counts of its sides."""

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

    @abstractmethod
    def simulate(self, counts: ArrayLike, rng: np.random.Generator, size: tuple[int, ...] = ()) -> FloatArray:
        """Draw the Dirichlet parameters of released posteriors: (*size, m)."""
