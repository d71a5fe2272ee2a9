"""What predicts in an accuracy experiment."""

import enum
from collections.abc import Sequence

from dpbayes.base.looks import BOUND, BROWN, EXACT, GREEN, INVALID, PRIVATE, PURPLE, Look
from dpbayes.mechanisms.base import Calibration
from dpbayes.model.network import Network


class Method(enum.Enum):
    """What predicts: the two baselines, then every mechanism in the calibrations that there are."""

    EXACT = "exact (not private)"
    MAJORITY = "majority class"
    LAPLACE = "Laplace"
    FOURIER = "Fourier, certified"
    FOURIER_PRINTED = "Fourier, as printed"
    SAMPLER = "sampling, certified, 1 draw"
    SAMPLER_PRINTED = "sampling, as printed, 1 draw"
    SAMPLER_MANY = "sampling, as printed, N draws"
    MAP = "private MAP"

    @property
    def is_baseline(self) -> bool:
        """Whether epsilon means nothing to it."""
        return self in (Method.EXACT, Method.MAJORITY)

    @property
    def calibrations(self) -> tuple[Calibration, ...]:
        """The calibrations it belongs to; Laplace noise is the same in both."""
        if self in (Method.FOURIER, Method.SAMPLER, Method.MAP):
            return (Calibration.CERTIFIED,)
        if self in (Method.FOURIER_PRINTED, Method.SAMPLER_PRINTED, Method.SAMPLER_MANY):
            return (Calibration.AS_PRINTED,)
        return tuple(Calibration)

    def called(self, draws: int) -> str:
        """Return its name with the number of draws that it stands for."""
        return self.value.replace("N draws", f"{draws:,} draw" + ("s" if draws > 1 else ""))

    def look(self, draws: int) -> Look:
        """Return how its curve looks. Red: the printed sampler, whose promise does not hold."""
        return Look(self.called(draws), *_LOOKS[self])


_SOLID, _DASH, _DOT = ("solid", "circle"), ("dash", "diamond-open"), ("dot", "x-thin-open")
_LOOKS = {
    Method.EXACT: (EXACT, *_SOLID),
    Method.MAJORITY: (BOUND, *_DASH),
    Method.LAPLACE: (PRIVATE, *_SOLID),
    Method.FOURIER: (GREEN, *_SOLID),
    Method.FOURIER_PRINTED: (GREEN, *_DASH),
    Method.SAMPLER: (PURPLE, *_SOLID),
    Method.SAMPLER_PRINTED: (INVALID, *_DOT),
    Method.SAMPLER_MANY: (INVALID, *_DASH),
    Method.MAP: (BROWN, *_SOLID),
}


def methods_for(network: Network, calibrations: Sequence[Calibration]) -> tuple[Method, ...]:
    """Return the methods of these calibrations that fit the network; Fourier needs binary nodes."""
    fit = set(Method) if network.is_binary else set(Method) - {Method.FOURIER, Method.FOURIER_PRINTED}
    return tuple(m for m in Method if m in fit and set(m.calibrations) & set(calibrations))
