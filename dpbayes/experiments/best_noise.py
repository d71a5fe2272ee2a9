"""Comparison of the mechanisms' noise in cells at one guarantee.

All results are public. The noise depends only on the network and the guarantee.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from dpbayes.base.parameters import parameters_of
from dpbayes.base.validation import InputError
from dpbayes.experiments.structure import rms_over_cells
from dpbayes.mechanisms import MECHANISMS, LaplaceUpdates
from dpbayes.model.network import Network


@dataclass(frozen=True)
class Promise:
    """The guarantee of all compared mechanisms: (epsilon, delta), or epsilon alone if a mechanism has no delta.

    Fourier noise has no lift, t = 0, because the lift moves every answer.
    """

    epsilon: float
    delta: float

    def mechanism(self, kind: type[Any], network: Network) -> Any:
        """Return a mechanism with this guarantee.

        Errors: InputError if the mechanism does not fit the network.
        """
        values = {"epsilon": self.epsilon, "delta": self.delta, "t": 0.0}
        return kind(prior=network, **{name: values[name] for name in parameters_of(kind) if name in values})


def noisy_kinds() -> tuple[type[Any], ...]:
    """Return the mechanisms that state the noise in a cell, in the order of the registry."""
    return tuple(kind for kind in MECHANISMS if hasattr(kind, "node_noise_sd"))


def needs_delta(kind: type[Any]) -> bool:
    """Return whether the guarantee of a class of mechanisms needs a delta."""
    return "delta" in parameters_of(kind)


def is_searched(kind: type[Any]) -> bool:
    """Return whether a class searches for its best noise scales, which takes long on a network with many nodes."""
    return hasattr(kind, "design")


@dataclass(frozen=True, eq=False)
class CellNoise:
    """A mechanism and its noise."""

    mechanism: Any

    @property
    def label(self) -> str:
        """The mechanism's name."""
        return str(self.mechanism.label)

    @property
    def is_pure(self) -> bool:
        """Whether it guarantees epsilon without a delta."""
        return not needs_delta(type(self.mechanism))

    @cached_property
    def noise(self) -> float:
        """The root mean square over all cells of the standard deviations of the noise, in counts."""
        return rms_over_cells(self.mechanism.prior.network, self.mechanism.node_noise_sd)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Every mechanism's noise at one promise, and by label the reasons why some do not fit the network."""

    promise: Promise
    noises: tuple[CellNoise, ...]
    refused: Mapping[str, str]

    @cached_property
    def laplace(self) -> CellNoise:
        """The paper's Laplace noise, which fits every network."""
        return next(noise for noise in self.noises if type(noise.mechanism) is LaplaceUpdates)


def compared(network: Network, promise: Promise, *, kinds: Sequence[type[Any]] | None = None) -> Comparison:
    """Compute the noise of all mechanisms that state it, or of some `kinds`.

    The best scales of noise are searched once for a network, which takes seconds if it has many nodes.
    """
    noises, refused = [], {}
    for kind in noisy_kinds() if kinds is None else kinds:
        try:
            noise = CellNoise(promise.mechanism(kind, network))
            _ = noise.noise  # raises an InputError if it cannot be computed
            noises.append(noise)
        except InputError as error:
            refused[kind.label] = str(error)
    return Comparison(promise, tuple(noises), refused)
