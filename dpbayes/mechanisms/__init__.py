"""The mechanisms; the tuple MECHANISMS is the only registry."""

from dpbayes.mechanisms.base import Calibration, Mechanism, Outcome, Release, ReleasedPosterior
from dpbayes.mechanisms.exact import Exact
from dpbayes.mechanisms.fourier import LaplaceFourier
from dpbayes.mechanisms.laplace import LaplaceUpdates

MECHANISMS: tuple[type[Exact] | type[LaplaceUpdates] | type[LaplaceFourier], ...] = (
    Exact,
    LaplaceUpdates,
    LaplaceFourier,
)

__all__ = [
    "MECHANISMS",
    "Calibration",
    "Exact",
    "LaplaceFourier",
    "LaplaceUpdates",
    "Mechanism",
    "Outcome",
    "Release",
    "ReleasedPosterior",
]
