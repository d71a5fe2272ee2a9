"""The mechanisms; the tuple MECHANISMS is the only registry."""

from dpbayes.mechanisms.base import Mechanism, NetworkMechanism
from dpbayes.mechanisms.consistent import ConsistentLaplace
from dpbayes.mechanisms.exact import Exact
from dpbayes.mechanisms.fourier import LaplaceFourier
from dpbayes.mechanisms.gaussian import GaussianUpdates
from dpbayes.mechanisms.laplace import LaplaceUpdates
from dpbayes.mechanisms.map.exponential import MapEstimate, MapExponential
from dpbayes.mechanisms.parameters import Calibration, Noise
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior, SampledCpts
from dpbayes.mechanisms.residual import GaussianResiduals
from dpbayes.mechanisms.sampler import PosteriorSampler
from dpbayes.mechanisms.weighted import WeightedFourier

MECHANISMS: tuple[type[NetworkMechanism[Outcome]], ...] = (
    Exact,
    LaplaceUpdates,
    LaplaceFourier,
    PosteriorSampler,
    MapExponential,
    ConsistentLaplace,
    WeightedFourier,
    GaussianUpdates,
    GaussianResiduals,
)

PRIVATE = tuple(kind for kind in MECHANISMS if kind is not Exact)
"""All but the baseline: what may be released."""

__all__ = [
    "MECHANISMS",
    "PRIVATE",
    "Calibration",
    "ConsistentLaplace",
    "Exact",
    "GaussianResiduals",
    "GaussianUpdates",
    "LaplaceFourier",
    "LaplaceUpdates",
    "MapEstimate",
    "MapExponential",
    "Mechanism",
    "NetworkMechanism",
    "Noise",
    "Outcome",
    "PosteriorSampler",
    "Release",
    "ReleasedPosterior",
    "SampledCpts",
    "WeightedFourier",
]
