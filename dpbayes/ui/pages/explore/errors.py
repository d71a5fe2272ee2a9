"""How far all simulated releases are from exact, as numbers: for the curator."""

import numpy as np
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.text import apart, many, numeral, whole_percent
from dpbayes.experiments.releases import ReleaseStudy
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.ui.pages.explore.averages import Averages, AveragesUnderWay, releases_of
from dpbayes.ui.pages.explore.readings import Readings


def errors_of_releases(readings: Readings, under_way: AveragesUnderWay, row: int) -> None:
    """Show the errors over all rows and in this one."""
    averages = under_way.by_now
    with st.container(key="measures"):
        _compared(averages.shown, row)
        if readings.as_real.is_posterior:
            _of_posteriors(readings, averages, row)
    under_way.show_progress(releases_of(readings))
    st.caption(f"{averages.over} Not private (curator view).")


def _compared(study: ReleaseStudy, row: int) -> None:
    """Show the errors that every mechanism has, at the same place and in the same units."""
    left, middle, right = st.columns(3)
    mean, most = apart(float(study.shift.mean()), float(np.quantile(study.shift, 0.9)), most=3)
    left.metric(
        "Mean absolute error, all rows",
        mean,
        help=f"|private - exact|, mean over all probabilities of all rows and over {many(study.count, 'release')}. "
        f"In nine of ten releases the mean is at most {most}.",
    )
    what = f"KL(exact || private) of the next record's state, mean over {many(study.count, 'release')}. {terms.KL}"
    middle.metric("Prediction KL, all rows, nats", numeral(study.predictive_kl.mean()), help=f"{what} Sum over rows.")
    right.metric("Prediction KL, this row, nats", numeral(study.predictive_kl_rows[:, row].mean()), help=what)


def _of_posteriors(readings: Readings, averages: Averages, row: int) -> None:
    """Show the errors of released posteriors; their KL does not compare with that of other releases."""
    study, real = averages.shown, readings.as_real
    st.markdown("**Released posteriors** (not every mechanism releases one):")
    left, middle, right = st.columns(3)
    what = f"KL(exact || private) of the posteriors, mean over {many(study.count, 'release')}. {terms.KL}"
    error = f"Standard error {numeral(study.kl_error, 1)}."
    left.metric("Posterior KL, all rows, nats", numeral(study.kl.mean()), help=f"{what} Sum over rows. {error}")
    middle.metric("Posterior KL, this row, nats", numeral(study.kl_rows[:, row].mean()), help=what)
    right.metric(
        f"Coverage of {LEVEL:.0%} intervals, this probability",
        whole_percent(averages.coverage),
        help="The share of this probability's exact posterior that lies in its private credible interval, mean over "
        f"{many(len(averages.cell.covered), 'release')}. {terms.COVERAGE}",
    )
    if readings.is_noise_aware:
        coverage = whole_percent(readings.naive_coverage(LEVEL))
        st.markdown(
            f"Naive reading of the same {many(real.count, 'release')}: posterior KL {numeral(real.kl.mean())} nats "
            f"over all rows and {numeral(real.kl_rows[:, row].mean())} in this row; coverage {coverage}."
        )
