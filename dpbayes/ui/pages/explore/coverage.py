"""How often intervals hold the truth, against epsilon: of truths from the prior, so that no record is looked at."""

from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.text import done, many, numeral, whole_percent
from dpbayes.base.validation import InputError
from dpbayes.experiments.calibration.settings import EPSILONS, against_epsilon
from dpbayes.experiments.calibration.study import AS_REAL, AWARE, calibrate, readings
from dpbayes.figures.calibration import coverage_figure
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.ui.pages.explore.readings import AVERAGED_POINTS
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import progress, running
from dpbayes.ui.widgets.show import sentence_instead

RELEASES, FEW_RELEASES, SMALL = 200, 40, 100
"""Releases at every epsilon: as many for networks of up to so many cells, and fewer for others."""

MOST_VALUES = 1_000_000
"""Values of one table that is drawn for each release."""


def coverage(chosen: Chosen) -> bool:
    """Show, once asked for, how often intervals hold the truth; return whether it goes on."""
    with st.expander("How often intervals hold the truth", on_change="rerun", key="coverage.open") as part:
        if not part.open:
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
            f"Every release needs a table of its own; those are of up to {MOST_VALUES:,} values; {n:,} records "
            f"of {len(network.names):,} columns are more. Draw a smaller synthetic table on the Data page."
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
            alt=f"How often {LEVEL:.0%} intervals hold the truth against epsilon, the noise being known of or not.",
        )
        last = {curve.look: whole_percent(curve.y[0]) for curve in curves}
        st.markdown(
            f"At ε = {numeral(curves[0].x[0])}, intervals that are said to hold {LEVEL:.0%} hold the truth "
            f"{last[AS_REAL]} of the time where noisy counts are taken as real, and {last[AWARE]} where the noise is "
            "taken into account."
        )
    st.caption(
        f"{releases} networks drawn from the prior at every ε, with a table of {many(n, 'record')} and a release "
        "each. Nothing here depends on the records. What a release leaves open, the prior says: of one network that it "
        "hardly expects, such as one whose probabilities are all near 0 or 1, intervals hold less at a small ε."
    )
    return work.going
