"""Checks of the noise-aware posterior: how often its intervals contain the truth."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import done, many, numeral, whole_percent
from dpbayes.base.validation import InputError
from dpbayes.experiments.calibration import AS_REAL, AWARE, EPSILONS, against_epsilon, calibrate, readings
from dpbayes.figures.explore import coverage_figure
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.ui.pages.explore.readings import AVERAGED_POINTS
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import progress, running
from dpbayes.ui.widgets.show import folded, sentence_instead

RELEASES, FEW_RELEASES, SMALL = 200, 40, 100
"""The number of releases at every epsilon for networks up to this number of cells; fewer for larger networks."""

MOST_VALUES = 1_000_000
"""Values of one table that is drawn for each release."""


def coverage(chosen: Chosen) -> bool:
    """Show the coverage of intervals in a folded part; return whether its work continues."""
    with folded("Calibration of intervals", key="coverage.open") as is_open:
        if not is_open:
            return False
        going = False
        with sentence_instead():
            going = _measured(chosen)
        return going


def _measured(chosen: Chosen) -> bool:
    mechanism: Any = chosen.mechanism
    network, n = chosen.network, chosen.counts.n
    if len(network.names) * n > MOST_VALUES:
        raise InputError(
            f"This picture samples a new table for every simulated release. A table may have at most {MOST_VALUES:,} "
            "values, and yours has more. Sample a smaller synthetic table on the Data page."
        )
    settings = against_epsilon("", lambda epsilon: replace(mechanism, epsilon=epsilon), n)
    releases = RELEASES if network.cell_count <= SMALL else FEW_RELEASES
    steps = calibrate(settings, seed=chosen.seed, releases=releases, readers=readings(AVERAGED_POINTS))
    others = tuple(getattr(mechanism, name) for name in parameters_of(type(mechanism)) if name != "epsilon")
    others += (chosen.weights,)
    key = (type(mechanism), others, network, chosen.settings.prior, n, chosen.seed)
    work = running("release.coverage", key, lambda: steps)
    work.work()
    if work.is_long:
        progress(work, f"{done(work.share)}", key="coverage.stop")
    study = work.result
    if study is not None and study.ranks:
        curves = study.curves(LEVEL)
        chart(
            coverage_figure(curves, np.array(EPSILONS), level=LEVEL),
            key="coverage",
            simulates=True,
            alt=f"Coverage of {LEVEL:.0%} intervals against epsilon, naive and noise-aware.",
        )
        first = {curve.look: whole_percent(curve.y[0]) for curve in curves}
        st.markdown(
            f"At ε = {numeral(curves[0].x[0])}, {LEVEL:.0%} intervals contain the true value in {first[AS_REAL]} of "
            f"releases for a naive reader and in {first[AWARE]} for a noise-aware reader."
        )
    st.caption(
        f"{releases} networks sampled from the prior at every ε, each with a table of {many(n, 'record')} and one "
        "release. The records are not used. The intervals are of single probabilities, computed row by row. Coverage "
        "is an average over the prior. At a small ε, it is lower "
        "for networks that are unlikely under the prior, such as those with probabilities near 0 or 1."
    )
    return work.going
