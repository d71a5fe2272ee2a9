"""The sizes of a graph and its noise under each mechanism. No data are used."""

from dataclasses import dataclass

import numpy as np

from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import Dirichlets


@dataclass(frozen=True)
class StructureCost:
    """Sizes and noise of one network at one epsilon; noise is the root mean square over cells, in counts.

    `closure` (|N_I|) and `fourier_noise` are None if a node is not binary. `fourier_exact` is whether the certified
    sensitivity is exact, and not a proved upper bound; `fourier_lift` is the number of records that the lift adds.
    """

    rows: int
    cells: int
    laplace_noise: float
    closure: int | None
    fourier_noise: float | None
    fourier_exact: bool = True
    fourier_lift: float | None = None


def structure_cost(network: Network, epsilon: float, *, t: float = 0.0) -> StructureCost:
    """Return the sizes and the certified noise of a release of this network at `epsilon` and increment t."""
    prior = Dirichlets.symmetric(network)
    laplace = LaplaceUpdates(prior=prior, epsilon=epsilon)
    noise = rms_over_cells(network, laplace.node_noise_sd)
    sizes = {"rows": network.row_count, "cells": network.cell_count, "laplace_noise": noise}
    if not network.is_binary:
        return StructureCost(**sizes, closure=None, fourier_noise=None)  # type: ignore[arg-type]
    fourier = LaplaceFourier(prior=prior, epsilon=epsilon, t=t)
    return StructureCost(
        **sizes,  # type: ignore[arg-type]
        closure=len(network.closure),
        fourier_noise=rms_over_cells(network, fourier.node_noise_sd),
        fourier_exact=network.closure.odd_overlap.exact,
        fourier_lift=fourier.lift,
    )


def rms_over_cells(network: Network, node_sd: np.ndarray) -> float:
    """Return the root mean square over all cells of a value that is equal in all cells of a node (|I|,)."""
    return float(np.sqrt(np.average(np.square(node_sd), weights=np.diff(network.cell_offsets))))
