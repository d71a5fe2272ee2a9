"""The error of all tables of two columns."""

import numpy as np

from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.adaptive.scores import pair_counts, state_starts
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.pair_marginals import pair_marginals


def pair_error(data: Dataset, network: Network, probabilities: FloatArray) -> float:
    """Return the mean total variation over all pairs of columns between the records and the CPTs (K,).

    The number is computed from the true records: it is not private. With one column, it is that column's total
    variation. A model with large cliques takes long; an adaptive release keeps its cliques small.
    """
    starts = state_starts(data)
    away = np.abs(pair_counts(data) / data.n - pair_marginals(network, probabilities))
    sums = np.add.reduceat(np.add.reduceat(away, starts[:-1], axis=0), starts[:-1], axis=1) / 2
    first, second = np.triu_indices(len(data.names), 1) if len(data.names) > 1 else ([0], [0])
    return float(sums[first, second].mean())
