"""What predicts in an accuracy experiment."""

import enum
from collections.abc import Sequence

from dpbayes.mechanisms.base import Calibration
from dpbayes.network import Network


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


def methods_for(network: Network, calibrations: Sequence[Calibration]) -> tuple[Method, ...]:
    """Return the methods of these calibrations that fit the network; Fourier needs binary nodes."""
    fit = set(Method) if network.is_binary else set(Method) - {Method.FOURIER, Method.FOURIER_PRINTED}
    return tuple(m for m in Method if m in fit and set(m.calibrations) & set(calibrations))
