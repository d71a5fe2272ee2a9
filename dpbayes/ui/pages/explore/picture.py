"""The picture of the picked cell: the densities of private and exact posteriors, or the samples of a release."""

import numpy as np

from dpbayes.base.libraries import pd
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import ReleaseStudy, cumulative, density, density_grid, drawn_values
from dpbayes.figures.explore import HEIGHT
from dpbayes.figures.posterior import PLACES, Densities, density_figure, released_draws_figure
from dpbayes.ui.pages.explore.averages import with_averages
from dpbayes.ui.pages.explore.readings import Readings
from dpbayes.ui.pages.explore.simulations import simulated_once, waits_for_request
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import Running
from dpbayes.ui.widgets.shares import search_under_way
from dpbayes.ui.widgets.show import show_refusal

SHOWN_CURVES = 16

HEIGHT_ALONE = 400
"""Pixels of the posterior where a recipient sees no other picture of releases."""


def picture(chosen: Chosen, cell: int) -> Readings | Running[None] | None:
    """Show the densities and return the releases behind them; a setting that cannot be released gets its sentence.

    As long as the noise is still being searched for, nothing is shown, and the search is returned.
    """
    try:
        if (search := search_under_way(chosen.mechanism)) is not None:
            return search
        if waits_for_request(chosen):
            return None
        releases = simulated_once(chosen)
    except InputError as error:
        show_refusal(error)
        return None
    study, readings = releases.study, with_averages(chosen, Readings.of(chosen, releases, cell))
    name, zoom, colour = chosen.network.cell_label(cell), chosen.settings.zoom, chosen.mechanism.colour
    height = HEIGHT if chosen.is_curator else HEIGHT_ALONE
    beside = " beside the exact density." if chosen.is_curator else "."
    if study.is_posterior:
        key = cell, chosen.is_curator, readings.is_noise_aware, readings.points
        densities = readings.memo.once(key, _densities, chosen, readings, cell)
        figure = density_figure(densities, name=name, zoom=zoom, colour=colour)
        figure.layout["height"] = height
        chart(figure, key="density", alt=f"Density of the private posterior of P({name}){beside}", simulates=True)
    else:
        figure = released_draws_figure(*_draws(chosen, study, cell), name=name, zoom=zoom, colour=colour)
        figure.layout["height"] = height
        alt = f"The samples of P({name}) in this release{beside}"
        chart(figure, key="density", alt=alt, simulates=True)
    return readings


def _densities(chosen: Chosen, readings: Readings, cell: int) -> Densities:
    """Return the densities to draw; the recipient gets one release and nothing exact."""
    study = readings.as_real
    releases = study.release.posterior
    shown = [study.exact, releases.part(0)] if chosen.is_curator else [releases.part(0)]
    if readings.is_noise_aware:
        first = readings.first_of_cell
        theta = density_grid(shown, cell, within=(float(first.mean[0]), float(first.sd[0])))
        private, below = np.exp(first.log_density(theta[:, None])).T, first.cumulative(PLACES[:, None])[:, 0]
        as_real = density(releases.part(0), cell, theta)
    else:
        theta, as_real = density_grid(shown, cell), None
        private = density(releases.part(slice(0, SHOWN_CURVES if chosen.is_curator else 1)), cell, theta)
        below = cumulative(releases.part(0), cell, PLACES)
    exact = density(study.exact, cell, theta) if chosen.is_curator else None
    return Densities(theta, private, below, cumulative(chosen.prior, cell, PLACES), exact, as_real)


def _draws(
    chosen: Chosen, study: ReleaseStudy, cell: int
) -> tuple[np.ndarray, np.ndarray | None, tuple[np.ndarray, np.ndarray] | None]:
    """Return the first release's values, all possible ones and the exact density; the recipient gets the first."""
    drawn = drawn_values(study, cell)
    if not chosen.is_curator:
        return drawn[0], None, None
    theta = density_grid([study.exact], cell)
    return drawn[0], drawn.ravel(), (theta, density(study.exact, cell, theta))


def curve_frame(chosen: Chosen, readings: Readings) -> "pd.DataFrame":
    """Return the numbers of the picture."""
    cell = readings.cell
    if not readings.as_real.is_posterior:
        return pd.DataFrame({"sample of this release": drawn_values(readings.as_real, cell)[0]})
    densities = _densities(chosen, readings, cell)
    columns = {
        "theta": densities.theta,
        "private": densities.private[0],
        "naive": densities.as_real,
        "exact": densities.exact,
    }
    return pd.DataFrame({name: values for name, values in columns.items() if values is not None})
