"""The simulated releases as the recipient reads them: noise-aware, or naive with noisy counts as if they were true."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dpbayes.base.memo import Memo
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.experiments.releases import ReadReleases, ReleaseStudy, interval_coverage
from dpbayes.posteriors.mixtures import BetaMixtures
from dpbayes.posteriors.noise_model import Reading
from dpbayes.ui.session.chosen import Chosen

AVERAGED_CELLS, MOST_AVERAGED = 400, 4_000
"""Cells of all releases together over which a slider may wait for averages, and those of one release at most."""

AVERAGED_POINTS = 128
"""Points of every row where only averages are shown."""

Span = tuple[FloatArray, FloatArray, FloatArray]


@dataclass(frozen=True, eq=False)
class Simulated:
    """Simulated releases, and what has been worked out of them."""

    study: ReleaseStudy
    memo: Memo


@dataclass(frozen=True, eq=False)
class Readings:
    """Releases with counts taken as real, and how the page's recipient reads them: one cell of all, all of the first.

    `points` is how finely the first one is read; `read_by_now` has the readings of many that are computed so far;
    `memo` keeps what has been computed of these releases.
    """

    as_real: ReleaseStudy
    cell: int
    reading: Reading
    points: int
    read_by_now: ReadReleases | None = None
    memo: Memo = field(default_factory=Memo)

    @classmethod
    def of(cls, chosen: Chosen, releases: Simulated, cell: int) -> "Readings":
        """Return the study in the recipient's reading, which is naive if the release does not state its noise."""
        options = chosen.options("release")
        reading = options.reading if releases.study.release.tells_noise else Reading.AS_REAL
        return cls(releases.study, cell, reading, options.points, memo=releases.memo)

    @property
    def is_noise_aware(self) -> bool:
        """Whether the recipient reckons with the noise."""
        return self.reading is Reading.NOISE_AWARE

    @cached_property
    def shown(self) -> ReleaseStudy:
        """The releases that averages are taken over; of a very large network, with counts taken as real."""
        if not self.is_averaged:
            return self.as_real
        if self.read_by_now is not None:
            return self.as_real.read(self.read_by_now)
        return self.memo.once(self.at_once, self.as_real.knowing_noise, self.at_once, points=AVERAGED_POINTS)

    @property
    def is_averaged(self) -> bool:
        """Whether averages are over releases that are read with their noise."""
        return self.is_noise_aware and self.as_real.exact.network.cell_count <= MOST_AVERAGED

    @property
    def at_once(self) -> int:
        """How many releases are read while a slider waits."""
        return min(self.as_real.count, max(2, AVERAGED_CELLS // self.as_real.exact.network.cell_count))

    def first(self, cells: IntArray) -> BetaMixtures:
        """Return the marginals (S, C) of some cells in the first release, read with its noise."""
        return self.memo.once((cells.tobytes(), self.points), _first, self.as_real, cells, self.points)

    @cached_property
    def first_of_cell(self) -> BetaMixtures:
        """The marginal (S, 1) of the cell in the first release, read with its noise."""
        return self.first(np.array([self.cell]))

    @property
    def private_mean(self) -> float:
        """The private mean of the cell in the first release."""
        return float(self.first_of_cell.mean[0] if self.is_noise_aware else self.as_real.private[0, self.cell])

    def naive_coverage(self, level: float) -> float:
        """Return the share of the cell's exact posterior in the naive interval, mean over releases."""
        return float(coverage_as_real(self.as_real, self.cell, level).mean())

    def summary(self, cells: IntArray, level: float) -> Span:
        """Return mean and credible interval of some cells in the first release: three arrays (C,)."""
        if self.is_noise_aware:
            first = self.first(cells)
            return first.mean, *self.memo.once((cells.tobytes(), self.points, level), first.interval, level)
        return summary_as_real(self.as_real, cells, level)


def _first(study: ReleaseStudy, cells: IntArray, points: int) -> BetaMixtures:
    return study.release.part(0).noise_aware_cells(cells, points=points)


def coverage_as_real(study: ReleaseStudy, cell: int, level: float) -> FloatArray:
    """Return how much of a cell's exact posterior each release's interval holds, counts taken as real: (releases,)."""
    return interval_coverage(study.exact, cell, study.release.posterior.interval(level, cells=cell))


def summary_as_real(study: ReleaseStudy, cells: IntArray, level: float) -> Span:
    """Return the same with counts taken as real."""
    posterior = study.release.posterior.part(0)
    low, high = posterior.interval(level, cells=cells)
    return posterior.mean[cells], low, high
