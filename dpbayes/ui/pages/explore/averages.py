"""Averages over many noise-aware readings: over a few during a move, over all when the slider has stopped."""

from collections.abc import Container, Hashable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.steps import Work, part_of
from dpbayes.base.text import many
from dpbayes.experiments.releases import ReadCell, ReadReleases, ReleaseStudy, read_cell, read_releases
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.ui.pages.explore.readings import AVERAGED_POINTS, Readings, coverage_as_real
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.host import share_of_host
from dpbayes.ui.widgets.address import hand_moves
from dpbayes.ui.widgets.running import Running, progress, running, so_far

Result = TypeVar("Result")

MOST_CELLS = 60_000
"""Cells of all releases together that averages are taken over: ten seconds' work."""

MOST_MEASURED, MEASURED_AT_ONCE = 200, 50
"""The number of releases in which one cell is read, and the number that is read during a move."""

AVERAGED = "question.open", "dots.open", "measures.open", "rows.open"
"""The sections of the page that show averages over all releases, by the keys of `folded`."""

_OF_ALL, _OF_CELL = "release.averages", "release.cell"


@dataclass(frozen=True, eq=False)
class Averages:
    """The averages so far: over the releases `shown`, and over the readings of the picked cell."""

    shown: ReleaseStudy
    cell: ReadCell

    @property
    def coverage(self) -> float:
        """The share of the cell's exact posterior in the credible interval, mean over releases."""
        return float(self.cell.covered.mean())

    @property
    def over(self) -> str:
        """Over how many releases, as a sentence."""
        measured, shown = len(self.cell.means), self.shown.count
        return f"Averages are over {many(shown, 'release')}" + (
            "." if measured == shown else f"; averages of this cell are over {measured}."
        )


@dataclass(frozen=True, eq=False)
class AveragesUnderWay:
    """The averages so far, and their unfinished works: none if all are known, or while a slider moves.

    The works may be ahead of the headline, which was written before. The averages are then those of the headline, and
    the page runs again for the others.
    """

    by_now: Averages
    works: tuple[Running[Any], ...] = ()
    is_ahead: bool = False

    def go_on(self) -> bool:
        """Continue for a moment after all is drawn, so that nothing is greyed; return whether there is more to show."""
        is_going = any(work.going for work in self.works)
        for work in self.works:
            work.work()
        return is_going or self.is_ahead

    def show_progress(self, total: int) -> None:
        """Show the number of releases that are read, and a button to stop, if the rest takes long."""
        if any(work.is_long for work in self.works):
            *others, last = self.works
            progress(
                last, f"{int(last.share * total + 1e-6)} of {many(total, 'release')}", key="averages.stop", along=others
            )


def averages(readings: Readings) -> Work[Averages]:
    """Work out the averages over all releases; those over all cells, where noise is known of, come last."""
    cell = yield from part_of(_cell_steps(readings), 0.0, 0.1)
    if not readings.is_averaged:
        return Averages(readings.as_real, cell)
    read = yield from part_of(_release_steps(readings), 0.1, 1.0)
    return Averages(readings.as_real.read(read), cell)


def cell_coverage(readings: Readings) -> Work[float]:
    """Compute only `Averages.coverage`, over all releases in which the cell is read."""
    cell = yield from part_of(_cell_steps(readings), 0.0, 1.0)
    return float(cell.covered.mean())


def averages_under_way(chosen: Chosen, readings: Readings) -> AveragesUnderWay:
    """Return the averages so far, first over a few releases; while a slider moves, no work on more begins."""
    of_cell, of_all = (*releases_key(chosen), readings.cell), releases_key(chosen)
    if not readings.is_noise_aware:
        return AveragesUnderWay(Averages(readings.shown, _first(_cell_steps(readings))))
    if hand_moves():
        cell = so_far(_OF_CELL, of_cell) or _first(_cell_steps(readings))
        return AveragesUnderWay(Averages(readings.shown, cell))
    cells = running(_OF_CELL, of_cell, lambda: _cell_steps(readings)).begun()
    if not readings.is_averaged:
        return AveragesUnderWay(Averages(readings.shown, cells.so_far), (cells,))
    releases = running(_OF_ALL, of_all, lambda: _release_steps(readings)).begun()
    shown = readings.at_once if readings.read_by_now is None else len(readings.read_by_now.mean)
    is_ahead = len(releases.so_far.mean) > shown
    return AveragesUnderWay(Averages(readings.shown, cells.so_far), (cells, releases), is_ahead=is_ahead)


def with_averages(chosen: Chosen, readings: Readings) -> Readings:
    """Return the readings with the releases that are read so far, if an open section of the page shows averages.

    Otherwise the headline would depend on what was opened before, here or in a session that shares the memo.
    """
    if not any(st.session_state.get(section) for section in AVERAGED):
        return readings
    read = so_far(_OF_ALL, releases_key(chosen)) or readings.memo.kept(("all", releases_read(readings)), read_releases)
    return readings if read is None else replace(readings, read_by_now=read)


def releases_key(chosen: Chosen, *, but: Container[str] = ()) -> tuple[Hashable, ...]:
    """Return the key of the simulated releases: all inputs except the parameters of these names."""
    mechanism = chosen.mechanism
    values = tuple(getattr(mechanism, name) for name in parameters_of(type(mechanism)) if name not in but)
    settings = chosen.settings
    return type(mechanism), values, chosen.network, settings.prior, chosen.statistic.digest, chosen.seed


def releases_read(readings: Readings) -> int:
    """Return how many releases are read: of all cells, or of a very large network of the one in the picture."""
    count, cells = readings.as_real.count, readings.as_real.exact.network.cell_count
    if not readings.is_averaged:
        return min(count, share_of_host(MOST_MEASURED, MEASURED_AT_ONCE))
    return min(count, max(readings.at_once, share_of_host(MOST_CELLS // cells, 0)))


def _release_steps(readings: Readings) -> Work[ReadReleases]:
    study, releases = readings.as_real, releases_read(readings)
    return readings.memo.once_in_steps(
        ("all", releases), read_releases, study, releases=releases, points=AVERAGED_POINTS, at_once=readings.at_once
    )


def _cell_steps(readings: Readings) -> Work[ReadCell]:
    study, cell = readings.as_real, readings.cell
    if not readings.is_noise_aware:
        covered = coverage_as_real(study, cell, LEVEL) if study.is_posterior else np.empty(0)
        return ReadCell(study.private[:, cell], covered)
    measured = min(study.count, share_of_host(MOST_MEASURED, MEASURED_AT_ONCE))
    steps = readings.memo.once_in_steps(
        (cell, measured),
        read_cell,
        study,
        cell,
        level=LEVEL,
        releases=measured,
        points=AVERAGED_POINTS,
        at_once=MEASURED_AT_ONCE,
    )
    return (yield from steps)


def _first(steps: Work[ReadCell]) -> ReadCell:
    """Return the result after one step."""
    return Running(steps, stopped=True).begun().so_far
