"""Laplace noise on the counts of one die, for comparison with the exponential mechanisms. [Notes] Section 3.2."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms.die.base import DieMechanism


@dataclass(frozen=True, kw_only=True)
class _LaplaceDie(DieMechanism):
    """Laplace noise on counts of one die that one replaced record changes by `changed` in total."""

    changed: ClassVar[int]

    @property
    def formula(self) -> str:
        return f"{self.label}: noise of scale $b = {latex(self.noise_scale)}$, then clipped to $[0, n]$."

    @property
    def noise_scale(self) -> float:
        """b, in counts: the total change over epsilon."""
        return self.changed / self.epsilon

    @property
    def certified(self) -> Guarantee:
        """epsilon: the exact loss of the clipped counts. Post-processing of these cannot increase it."""
        return Guarantee(self.epsilon, reference=Reference("Dwork06", "Laplace mechanism"))


@dataclass(frozen=True, kw_only=True)
class LaplaceCells(_LaplaceDie):
    """Counts + Lap(2/epsilon) on every side, clipped to [0, n] and rescaled to n. The baseline of [Notes] Section 3.2.

    One replaced record changes two counts by one, for every m. Clipping and rescaling are post-processing. If every
    count is clipped to zero, the throws are distributed equally.
    """

    label: ClassVar[str] = "Laplace on every count"
    summary: ClassVar[str] = "Adds noise to every count of a die."
    named: ClassVar[str] = "Laplace on every count"
    changed: ClassVar[int] = 2

    def simulate(self, counts: ArrayLike, rng: np.random.Generator, size: tuple[int, ...] = ()) -> FloatArray:
        """Draw posteriors (*size, m)."""
        values = self.die.checked(counts)
        noisy = np.clip(values + rng.laplace(scale=self.noise_scale, size=(*size, self.die.sides)), 0.0, self.die.n)
        noisy = np.where(noisy.any(axis=-1, keepdims=True), noisy, 1.0)
        return self.die.posterior(self.die.n * noisy / noisy.sum(axis=-1, keepdims=True))


@dataclass(frozen=True, kw_only=True)
class LaplaceOne(_LaplaceDie):
    """The first of two counts + Lap(1/epsilon), clipped to [0, n]; the public n determines the second count.

    The sensitivity is 1, so the noise scale is half that of `LaplaceCells`. Errors: InputError unless there are two
    sides.
    """

    label: ClassVar[str] = "Laplace on one count"
    summary: ClassVar[str] = "Adds noise to one of two counts."
    named: ClassVar[str] = "Laplace on one count"
    changed: ClassVar[int] = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.die.sides != 2:
            raise InputError(f"One noisy count determines two sides; this die has {self.die.sides}.")

    def simulate(self, counts: ArrayLike, rng: np.random.Generator, size: tuple[int, ...] = ()) -> FloatArray:
        """Draw posteriors (*size, m)."""
        noisy = self.die.checked(counts)[0] + rng.laplace(scale=self.noise_scale, size=size)
        first = np.clip(noisy, 0.0, self.die.n)
        return self.die.posterior(np.stack([first, self.die.n - first], axis=-1))
