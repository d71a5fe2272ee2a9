"""The CPT row that the Posterior sampling page is about."""

from dataclasses import dataclass

import numpy as np

from dpbayes.base.randomness import stream
from dpbayes.experiments.sampling import RowState
from dpbayes.mechanisms import PosteriorSampler
from dpbayes.ui.pages.explore.controls import picked
from dpbayes.ui.session.chosen import Chosen


@dataclass(frozen=True, eq=False)
class ShownRow:
    """What the picture is of: the mechanism, the picked cell, its row after and before the data, its draws (N,)."""

    mechanism: PosteriorSampler
    cell: int
    posterior: RowState
    prior: RowState
    draws: np.ndarray

    @property
    def bound(self) -> float:
        """The largest log-odds drawn."""
        return self.mechanism.log_odds_bound

    @property
    def region(self) -> tuple[float, float]:
        """What the cell's probability is drawn from."""
        low, high = self.posterior.region(self.bound)
        return float(low), float(high)


def row_shown(chosen: Chosen) -> ShownRow:
    """Return the picked row under the settings. Errors: InputError where nothing can be drawn."""
    sampler, net = chosen.mechanism_called("PosteriorSampler"), chosen.network
    assert isinstance(sampler, PosteriorSampler)
    row, cell = picked(chosen)
    cells = net.cells_of_row(row)
    state = cell - cells.start
    posterior = RowState(sampler.prior.updated(chosen.counts).alpha[cells], state)
    rng = stream(chosen.seed, "sampling", net.row_label(row), state)
    draws = posterior.sample(sampler.log_odds_bound, rng, (sampler.draws,))
    return ShownRow(sampler, cell, posterior, RowState(sampler.prior.alpha[cells], state), draws)
