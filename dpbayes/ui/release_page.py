"""The Release page: the picked cell's picture and how far releases are from exact; controls and details beside it."""

import time

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.experiments.releases import ReleaseStudy, density, density_grid, drawn_values, interval_coverage
from dpbayes.figures.posterior import density_figure, draws_figure
from dpbayes.network import Network
from dpbayes.ui import controls
from dpbayes.ui.release_controls import picked, release_controls
from dpbayes.ui.release_details import LEVEL, release_details, simulate
from dpbayes.ui.running import run_again
from dpbayes.ui.settings import current, write_link
from dpbayes.ui.show import chart, data_and_download, escaped, headline, inside, is_curator, refusal, short
from dpbayes.ui.work import mechanism, network
from dpbayes.validation import InputError

SHOWN_CURVES = 16
PAINT = 0.03
"""Seconds for the browser to paint the first chart before the rest of the page competes for it."""


def release_page() -> None:
    """Show the picture first, whatever its place on the page: it is what a moving slider waits for."""
    net = network(current())
    place = st.container()
    left, right = st.columns([1, 2], gap="medium")
    row, cell = picked(net)
    with right:
        study = _picture(net, cell)
    with left:
        release_controls(net)
    if study is None:
        return
    with place:
        headline(_headline(study, net, cell))
    time.sleep(PAINT)
    with right:
        _measures(study, net, row, cell)
    st.divider()
    if release_details(study, net, cell) is not None:
        write_link()
        run_again()


def _headline(study: ReleaseStudy, net: Network, cell: int) -> str:
    name = escaped(f"P({net.cell_label(cell)})")
    promise = escaped(str(study.release.guarantee))
    if not is_curator():
        mean = study.private[0, cell]
        return f"With {promise}, this release says that {name} is about {mean:.2f}."
    shift = study.shifts[:, cell]
    return (
        f"With {promise}, a {inside(study.release.mechanism)} release moves {name} by {shift.mean():.2g} on average, "
        f"and by less than {np.quantile(shift, 0.9):.2g} in nine of ten releases."
    )


def _picture(net: Network, cell: int) -> ReleaseStudy | None:
    """Show the densities and return the releases behind them; a setting that cannot be released gets its sentence."""
    try:
        study = simulate(mechanism(current(), net))
    except InputError as error:
        refusal(error)
        return None
    name, beside = net.cell_label(cell), " beside the exact density." if is_curator() else "."
    if study.is_posterior:
        figure = density_figure(*_curves(study, cell), name=name, zoom=current().zoom)
        chart(figure, key="density", alt=f"Density of the private posterior of P({name}){beside}")
    else:
        figure = draws_figure(*_draws(study, cell), name=name, zoom=current().zoom)
        chart(figure, key="density", alt=f"The values of P({name}) that this release holds{beside}")
    return study


def _curves(study: ReleaseStudy, cell: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return theta, the private densities and the exact one; the recipient gets one release and nothing exact."""
    first = study.posterior.part(0)
    theta = density_grid([study.exact, first] if is_curator() else [first], cell)
    shown = study.posterior.part(slice(0, SHOWN_CURVES if is_curator() else 1))
    return theta, density(shown, cell, theta), density(study.exact, cell, theta) if is_curator() else None


def _draws(
    study: ReleaseStudy, cell: int
) -> tuple[np.ndarray, np.ndarray | None, tuple[np.ndarray, np.ndarray] | None]:
    """Return the first release's values, all possible ones and the exact density; the recipient gets the first."""
    drawn = drawn_values(study, cell)
    if not is_curator():
        return drawn[0], None, None
    theta = density_grid([study.exact], cell)
    return drawn[0], drawn.ravel(), (theta, density(study.exact, cell, theta))


def _measures(study: ReleaseStudy, net: Network, row: int, cell: int) -> None:
    """Say how far the releases are from the exact posterior, for the curator; offer the numbers."""
    controls.toggle("Zoom to the posteriors", "zoom")
    if is_curator():
        left, middle, right = st.columns(3)
        if study.is_posterior:
            held = interval_coverage(study.exact, study.posterior, cell, LEVEL)
            kl_row, kl_all = study.kl_rows[:, row], study.kl
            left.metric("KL of this row, nats", short(kl_row.mean()), help="KL(exact || private), mean over releases.")
            middle.metric("KL of all rows, nats", short(kl_all.mean()), help=f"Standard error {study.kl_error:.1g}.")
            right.metric(
                f"Coverage of {LEVEL:.0%} intervals",
                f"{held.mean():.0%}",
                help="How much of this cell's exact posterior lies in the private credible interval, on average.",
            )
        else:
            lost = study.predictive_kl_rows.mean(axis=0)
            what = "In nats: KL(exact || private) between distributions of the next record's state, mean over releases."
            left.metric("Prediction KL, this row", short(lost[row]), help=what)
            middle.metric("Prediction KL, all rows", short(lost.sum()), help=what)
        st.caption("Curator only: not private.")
    data_and_download(lambda: _curve_frame(study, cell), name="density", curator_only=is_curator())


def _curve_frame(study: ReleaseStudy, cell: int) -> pd.DataFrame:
    if not study.is_posterior:
        return pd.DataFrame({"draw of this release": drawn_values(study, cell)[0]})
    theta, curves, exact = _curves(study, cell)
    return pd.DataFrame({"theta": theta, "private": curves[0]} | ({} if exact is None else {"exact": exact}))
