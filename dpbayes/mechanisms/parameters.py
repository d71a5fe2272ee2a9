"""Shared parameters of mechanisms: the guarantee, the sensitivity that sets the noise scale, and the noise type."""

import enum

from dpbayes.base import terms
from dpbayes.base.parameters import Choice, Parameter

EPSILON = Parameter(
    r"\epsilon",
    low=1e-3,
    high=1e3,
    typical=1.0,
    log=True,
    description=terms.EPSILON,
)

DELTA = Parameter(
    r"\delta",
    low=1e-12,
    high=0.5,
    typical=1e-5,
    log=True,
    description=terms.DELTA,
)


MOST_DRAWS = 10_000


def draws_of(what: str) -> Parameter:
    """Return the number of samples that a mechanism releases."""
    return Parameter(
        "N",
        low=1,
        high=MOST_DRAWS,
        typical=1,
        log=True,
        whole=True,
        title="Posterior samples",
        description=f"The number of released {what}; each of them costs privacy.",
    )


class Calibration(enum.Enum):
    """The sensitivity that determines the noise scale: proved, or as stated in the paper.

    Example:
        >>> dp.Calibration.CERTIFIED.value
        'certified'
    """

    CERTIFIED = "certified"
    AS_PRINTED = "as printed"

    @property
    def suffix(self) -> str:
        """The suffix of a mechanism's name; empty for the proved sensitivity."""
        return " as stated in the paper" if self is Calibration.AS_PRINTED else ""


class Noise(enum.Enum):
    """The type of the noise: real numbers, as in the papers, or whole numbers, as in a real release.

    Example:
        >>> dp.Noise.WHOLE.value
        'whole numbers'
    """

    REAL = "real numbers"
    WHOLE = "whole numbers"

    @property
    def symbol(self) -> str:
        return r"\mathrm{Lap}" if self is Noise.REAL else r"\mathrm{Lap}_{\mathbb{Z}}"

    @property
    def gaussian_symbol(self) -> str:
        return r"\mathcal{N}" if self is Noise.REAL else r"\mathcal{N}_{\mathbb{Z}}"

    @property
    def gaussian_meaning(self) -> str:
        """A sentence that explains `gaussian_symbol`; empty for the usual normal distribution."""
        if self is Noise.REAL:
            return ""
        return f" ${self.gaussian_symbol}(0, s^2)$ is the integer law $P[k] \\propto e^{{-k^2/2s^2}}$."

    @property
    def meaning(self) -> str:
        """A sentence that explains `symbol`; empty for the usual Laplace distribution."""
        if self is Noise.REAL:
            return ""
        return f" ${self.symbol}(b)$ is the integer law $P[k] \\propto e^{{-|k|/b}}$."


class TableNoise(enum.Enum):
    """The noise of the tables of an adaptive release: Gaussian noise at a delta, or Laplace noise without one."""

    GAUSSIAN = "gaussian"
    LAPLACE = "laplace"


CALIBRATION = Choice(
    Calibration, title="guarantee", description=terms.SENSITIVITY, labels=("proved", "as stated in the paper")
)

NOISE = Choice(
    Noise,
    title="noise",
    description="The papers add real numbers. In floating-point arithmetic, their last digits can reveal the counts. "
    "A real release adds integers. Integer Laplace noise of the same scale has the same epsilon, and "
    "integer Gaussian noise has the same rho.",
)

TABLE_NOISE = Choice(
    TableNoise,
    title="noise of the tables",
    description="Laplace noise has δ = 0, and larger errors.",
    labels=("Gaussian", "Laplace (δ = 0)"),
)
