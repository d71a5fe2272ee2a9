"""The curves of mechanisms that add noise to counts, or to a linear map of the counts."""

from dpbayes.experiments.accuracy.cost import refuse_long_search
from dpbayes.experiments.accuracy.curves.any_mechanism import curves_of
from dpbayes.mechanisms import (
    ConsistentLaplace,
    GaussianResiduals,
    GaussianUpdates,
    LaplaceUpdates,
    Noise,
    WeightedFourier,
)

_MOST_FOURIER_SETS = 2048
"""The search for the best scales of so many sets takes at most six seconds; for twice as many, minutes."""

_MOST_RESIDUAL_SETS = 4096
"""The search for the best variances of so many sets takes at most ten seconds; for 16,000, half a minute."""

_LAPLACE = tuple(Noise)

_GAUSSIAN = (Noise.REAL,)
"""Whole Gaussian noise is sampled by rejection, which takes more random numbers for some tables than for others."""

CURVES = (
    curves_of(LaplaceUpdates, name="laplace", batched=_LAPLACE),
    curves_of(ConsistentLaplace, name="consistent", title="consistent Laplace", batched=_LAPLACE),
    curves_of(
        WeightedFourier,
        name="weighted",
        title="weighted Fourier",
        batched=_LAPLACE,
        suits=lambda network: refuse_long_search(network, most=_MOST_FOURIER_SETS),
        prepared=lambda size: 2e-9 * float(size.cells) ** 3,  # seconds if a family has ten parents
    ),
    curves_of(GaussianUpdates, name="gaussian", batched=_GAUSSIAN),
    curves_of(
        GaussianResiduals,
        name="residuals",
        batched=_GAUSSIAN,
        suits=lambda network: refuse_long_search(network, most=_MOST_RESIDUAL_SETS),
        prepared=lambda size: 5e-4 * size.cells,
    ),
)

LAPLACE, CONSISTENT, WEIGHTED, GAUSSIAN, RESIDUALS = (curves.methods[0] for curves in CURVES)
