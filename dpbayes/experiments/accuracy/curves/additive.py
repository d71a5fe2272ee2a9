"""The curves of mechanisms that add noise to counts, or to a linear map of the counts."""

from dpbayes.experiments.accuracy.cost import refuse_long_search
from dpbayes.experiments.accuracy.curves.any_mechanism import curves_of
from dpbayes.mechanisms import (
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceUpdates,
    Noise,
)

_MOST_RESIDUAL_SETS = 4096
"""The search for the best variances of so many sets takes at most ten seconds; for 16,000, half a minute."""

_LAPLACE = tuple(Noise)

_GAUSSIAN = (Noise.REAL,)
"""Whole Gaussian noise is sampled by rejection, which takes more random numbers for some tables than for others."""

CURVES = (
    curves_of(LaplaceUpdates, name="laplace", batched=_LAPLACE),
    curves_of(ConsistentLaplace, name="consistent", title="consistent Laplace", batched=_LAPLACE),
    curves_of(GaussianUpdates, name="gaussian", batched=_GAUSSIAN),
    curves_of(
        GaussianResiduals,
        name="residuals",
        batched=_GAUSSIAN,
        suits=lambda network: refuse_long_search(network, most=_MOST_RESIDUAL_SETS),
        prepared=lambda size: 5e-4 * size.cells,
    ),
)

LAPLACE, CONSISTENT, GAUSSIAN, RESIDUALS = (curves.methods[0] for curves in CURVES)
