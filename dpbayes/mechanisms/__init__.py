"""The mechanisms: REGISTRY has one line for each, and RELEASABLE contains the exact forms."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dpbayes.mechanisms.adaptive.mechanism import AdaptiveTables
from dpbayes.mechanisms.base import Mechanism, NetworkMechanism
from dpbayes.mechanisms.consistent import CONSISTENT, ConsistentLaplace
from dpbayes.mechanisms.exact import Exact
from dpbayes.mechanisms.exact_form import Releasable
from dpbayes.mechanisms.fourier import FOURIER, LaplaceFourier
from dpbayes.mechanisms.gaussian import GAUSSIAN, GaussianUpdates
from dpbayes.mechanisms.laplace import LAPLACE, LaplaceUpdates
from dpbayes.mechanisms.map import MAP, MapEstimate, MapExponential
from dpbayes.mechanisms.parameters import Calibration, Noise
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior, SampledCpts
from dpbayes.mechanisms.residual import RESIDUALS, GaussianResiduals
from dpbayes.mechanisms.sampler import PosteriorSampler


@dataclass(frozen=True)
class Registered:
    """A mechanism by its short name in requests, its class, and its exact form if it has a real release.

    Its audit is `AUDIT` of the module of the same name in `dpbayes/audit`.
    """

    name: str
    kind: type[NetworkMechanism[Outcome]]
    exact_form: Releasable | None = None


REGISTRY = (
    Registered("exact", Exact),
    Registered("laplace", LaplaceUpdates, LAPLACE),
    Registered("fourier", LaplaceFourier, FOURIER),
    Registered("sampler", PosteriorSampler),
    Registered("map", MapExponential, MAP),
    Registered("consistent", ConsistentLaplace, CONSISTENT),
    Registered("gaussian", GaussianUpdates, GAUSSIAN),
    Registered("residuals", GaussianResiduals, RESIDUALS),
)
"""The only registry: all mechanisms for a given network, in the order of the dashboard's menus."""

MECHANISMS = tuple(entry.kind for entry in REGISTRY)
"""The classes of all mechanisms."""

PRIVATE = tuple(kind for kind in MECHANISMS if kind is not Exact)
"""All mechanisms except the baseline, which is not private."""

OF_RECORDS: tuple[type[NetworkMechanism[Outcome]], ...] = (AdaptiveTables,)
"""Mechanisms that read the records and release a graph of their own. They are not in MECHANISMS: planned tables,
accuracy curves and exact audits have only the counts of a given network."""

RELEASABLE: Mapping[str, Releasable] = MappingProxyType(
    {entry.name: entry.exact_form for entry in REGISTRY if entry.exact_form is not None}
)
"""The exact forms of the mechanisms that have a real release, by their names in requests."""


def reads_records(kind: object) -> bool:
    """Return whether a class of mechanisms needs the records, and not only the counts of a given network."""
    return kind in OF_RECORDS


__all__ = [
    "MECHANISMS",
    "OF_RECORDS",
    "PRIVATE",
    "REGISTRY",
    "RELEASABLE",
    "AdaptiveTables",
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
    "Registered",
    "Releasable",
    "Release",
    "ReleasedPosterior",
    "SampledCpts",
    "reads_records",
]
