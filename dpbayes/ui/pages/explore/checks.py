"""Checks of the noise-aware posterior: how often its intervals contain the truth, and whole tables beside it."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.parameters import parameters_of
from dpbayes.base.randomness import stream
from dpbayes.base.text import done, escaped, interval_texts, many, numeral, numeral_above, whole_percent
from dpbayes.base.validation import InputError
from dpbayes.experiments.calibration import AS_REAL, AWARE, EPSILONS, against_epsilon, calibrate, readings
from dpbayes.figures.explore import coverage_figure
from dpbayes.mechanisms import ReleasedPosterior
from dpbayes.mechanisms.release import Outcome, Release
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.exact import CHAINS, SWEEPS, ExactDraws, exact_posterior, refuse_large
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.releases.views.reading import QUICK_CELLS, has_joint
from dpbayes.ui.pages.explore.answers import posterior_of_first
from dpbayes.ui.pages.explore.readings import AVERAGED_POINTS, Readings
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import progress, running
from dpbayes.ui.widgets.show import folded, numbers, sentence_instead

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


MOST_RHAT = 1.05
"""The R-hat above which the page states that the chains do not agree yet."""


def check_against_exact(chosen: Chosen, readings: Readings, cell: int) -> bool:
    """Show the exact noise-aware posterior beside the quick one in a folded part; return whether work continues."""
    with folded("Comparison with Markov chains", key="exact.open") as is_open:
        if not is_open:
            return False
        going = False
        with sentence_instead():
            going = _beside_chains(chosen, readings, cell)
        return going


def _beside_chains(chosen: Chosen, readings: Readings, cell: int) -> bool:
    release: Release[Outcome] = readings.as_real.release.part(0)
    outcome, n = release.outcome, int(release.public["n"])
    assert isinstance(outcome, ReleasedPosterior)
    noise, prior, released = outcome.noise_model, outcome.prior, outcome.numbers
    assert noise is not None
    refuse_large(prior.network, noise, n)
    key = (prior.network, prior.alpha.tobytes(), noise.scale, n, released.tobytes(), chosen.seed)
    rng = stream(chosen.seed, "release", "exact")
    work = running("release.exact", key, lambda: exact_posterior(prior, noise, released, n, rng, sweeps=SWEEPS))
    work.work()
    if work.is_long:
        progress(work, f"{done(work.share)}", key="exact.stop")
    if work.result is not None:
        by_row = release.noise_aware(points=readings.points)
        laws: dict[str, Dirichlets | DirichletMixtures] = {"by row, as shown above": by_row}
        if readings.is_noise_aware and has_joint(release, most=QUICK_CELLS):
            laws["joint, as for questions"] = posterior_of_first(readings)
        _compared(work.result, laws, cell)
    st.caption(
        f"{CHAINS} Markov chains sample from the noise-aware posterior of whole tables, with {SWEEPS:,} sweeps each. "
        "The other posteriors are approximations. All computations use the released numbers only."
    )
    return work.going


def _compared(draws: ExactDraws, quick: Mapping[str, Dirichlets | DirichletMixtures], cell: int) -> None:
    """Print mean and interval of the cell under all, and the cell whose mean by row differs most."""
    exact, by_row = draws.law, next(iter(quick.values()))
    network = by_row.network
    laws = {"Markov chains": exact, **quick}
    limits = {name: law.interval(LEVEL, cells=cell) for name, law in laws.items()}
    frame = pd.DataFrame(
        {
            f"P({network.cell_label(cell)})": list(laws),
            "mean": [law.mean[cell] for law in laws.values()],
            f"{LEVEL:.0%} interval": [
                " to ".join(interval_texts(float(low), float(high), 4)) for low, high in limits.values()
            ],
        }
    )
    numbers(frame)
    away = np.abs(exact.mean - by_row.mean)
    worst = int(away.argmax())
    widths = numeral(float(away[worst] / exact.sd[worst]), 2) if exact.sd[worst] > 0 else "0"
    st.markdown(
        f"The means by row differ most in {escaped(f'P({network.cell_label(worst)})')}: by "
        f"{numeral(float(away[worst]), 2)}, which is {widths} times the standard deviation of its posterior."
    )
    rhat, worth = float(draws.rhat.max()), int(draws.effective.min())
    agree = "The chains agree" if rhat <= MOST_RHAT else "The chains do not agree yet, so the result is rough"
    st.caption(
        f"{agree}: R-hat is at most {numeral_above(rhat, 4)}; the effective sample size of every mean is at least "
        f"{worth:,}."
    )
