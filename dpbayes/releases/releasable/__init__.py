"""The mechanisms that can really be released: those whose noise is drawn exactly. Each is one entry of RELEASABLE."""

from collections.abc import Mapping
from types import MappingProxyType

from dpbayes.base.validation import InputError, brief
from dpbayes.releases.releasable.consistent import CONSISTENT
from dpbayes.releases.releasable.entry import Asked, Releasable, Sensitivity
from dpbayes.releases.releasable.fourier import FOURIER
from dpbayes.releases.releasable.gaussian import GAUSSIAN
from dpbayes.releases.releasable.laplace import LAPLACE
from dpbayes.releases.releasable.map import MAP
from dpbayes.releases.releasable.residual import RESIDUALS
from dpbayes.releases.releasable.weighted import WEIGHTED

RELEASABLE: Mapping[str, Releasable] = MappingProxyType(
    {
        "laplace": LAPLACE,
        "consistent": CONSISTENT,
        "fourier": FOURIER,
        "map": MAP,
        "gaussian": GAUSSIAN,
        "weighted": WEIGHTED,
        "residuals": RESIDUALS,
    }
)
"""What can be released, by the name that a request has for it."""


def releasable(mechanism: object) -> Releasable:
    """Return an entry by its name. Errors: InputError for a mechanism of which no exact draw is known."""
    if not isinstance(mechanism, str) or mechanism not in RELEASABLE:
        raise InputError(
            f"No exact way to draw from the mechanism {brief(mechanism)} is known here, so it cannot be really "
            f"released; {', '.join(RELEASABLE)} can."
        )
    return RELEASABLE[mechanism]


__all__ = ["RELEASABLE", "Asked", "Releasable", "Sensitivity", "releasable"]
