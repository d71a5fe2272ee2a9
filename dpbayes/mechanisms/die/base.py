"""Common code of the mechanisms for the posterior of one die: inputs, outputs and sampling."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.parameters import check_parameters
from dpbayes.base.privacy import Guarantee
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.posteriors.hellinger import Die


@dataclass(frozen=True, eq=False)
class ReleasedDie:
    """A release for the recipient: posteriors `alpha` (*size, m), the guarantee, and the public facts."""

    alpha: FloatArray
    guarantee: Guarantee
    mechanism: str
    public: Mapping[str, float | int | str] = field(default_factory=dict)

    @property
    def numbers(self) -> FloatArray:
        """All released numbers: (*size, m)."""
        return self.alpha

    @property
    def probabilities(self) -> FloatArray:
        """Posterior mean of every side: (*size, m)."""
        return self.alpha / self.alpha.sum(axis=-1, keepdims=True)


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
    def simulate(self, counts: ArrayLike, rng: np.random.Generator, size: tuple[int, ...] = ()) -> ReleasedDie:
        """Draw posteriors (*size, m)."""

    def released(self, updates: ArrayLike, **facts: float) -> ReleasedDie:
        """Return the release of updates (*size, m), with its public facts beside n."""
        alpha = self.die.posterior(updates)
        return ReleasedDie(alpha, self.certified, self.label, {"n": self.die.n, **facts})
