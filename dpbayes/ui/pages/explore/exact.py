"""The quick posterior of the first release beside the exact one, which chains draw while one waits: small networks."""

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.randomness import stream
from dpbayes.base.text import done, ends, escaped, many, numeral, numeral_above
from dpbayes.mechanisms import ReleasedPosterior
from dpbayes.mechanisms.release import Outcome, Release
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.exact import CHAINS, SWEEPS, ExactDraws, exact_posterior, refuse_large
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.ui.pages.explore.readings import Readings
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets.running import progress, running
from dpbayes.ui.widgets.show import folded, numbers, sentence_instead

MOST_RHAT = 1.05
"""R-hat above which chains are said not to agree yet."""


def check_against_exact(chosen: Chosen, readings: Readings, cell: int) -> bool:
    """Show the exact noise-aware posterior beside the quick one, once opened; return whether it goes on."""
    with folded("Check against whole tables", key="exact.open") as is_open:
        if not is_open:
            return False
        going = False
        with sentence_instead():
            going = _checked(chosen, readings, cell)
        return going


def _checked(chosen: Chosen, readings: Readings, cell: int) -> bool:
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
        _compared(work.result, release.noise_aware(points=readings.points), cell)
    st.caption(
        f"{CHAINS} Markov chains over whole integer tables, {SWEEPS:,} sweeps each. The posterior above treats every "
        "row by itself. Both use the released numbers only."
    )
    return work.going


def _compared(draws: ExactDraws, quick: DirichletMixtures, cell: int) -> None:
    """Print mean and interval of the cell under both, and the cell of all rows whose mean differs most."""
    network, exact = quick.network, draws.law
    laws = {"of whole tables": exact, "as shown above": quick}
    limits = {name: law.interval(LEVEL, cells=cell) for name, law in laws.items()}
    frame = pd.DataFrame(
        {
            f"P({network.cell_label(cell)})": list(laws),
            "mean": [law.mean[cell] for law in laws.values()],
            f"{LEVEL:.0%} interval": [" to ".join(ends(float(low), float(high), 4)) for low, high in limits.values()],
        }
    )
    numbers(frame)
    away = np.abs(exact.mean - quick.mean)
    worst = int(away.argmax())
    widths = numeral(float(away[worst] / exact.sd[worst]), 2) if exact.sd[worst] > 0 else "0"
    st.markdown(
        f"The means differ most in {escaped(f'P({network.cell_label(worst)})')}: by "
        f"{numeral(float(away[worst]), 2)}, which is {widths} times the standard deviation of its posterior."
    )
    rhat, worth = float(draws.rhat.max()), int(draws.effective.min())
    agree = "The chains agree" if rhat <= MOST_RHAT else "The chains do not agree yet, so the result is rough"
    st.caption(
        f"{agree}: R-hat is at most {numeral_above(rhat, 4)}; every mean is worth at least "
        f"{many(worth, 'independent sample')}."
    )
