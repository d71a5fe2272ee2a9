"""What every mechanism would do at the setting at hand; on a network of one node, a die, with those for a die."""

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.memo import Memo
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Partial, Work, finished, part_of
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import ReleaseStudy
from dpbayes.mechanisms import Mechanism, Outcome, Release, ReleasedPosterior
from dpbayes.mechanisms.die.base import DieMechanism
from dpbayes.mechanisms.die.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.mechanisms.noise.shares import searched
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.hellinger import Die
from dpbayes.ui.pages.explore.averages import Averages, averages
from dpbayes.ui.pages.explore.readings import Readings, Simulated
from dpbayes.ui.pages.explore.simulations import DRAWS, simulate
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import MECHANISM_NAMES
from dpbayes.ui.widgets.running import progress, running
from dpbayes.ui.widgets.show import numbers, refusal, sentence_instead

Compared = dict[str, object] | InputError
"""What a mechanism does, by column, or why it cannot be run."""

_COLUMNS = {
    "|diff.|, all": "Distance of private probabilities from exact ones, mean over all cells.",
    "prediction KL": "KL(exact || private) of the next record's state in nats, summed over all rows.",
    "|diff.|, cell": "Distance of this cell's private probability from the exact one.",
    "posterior KL": "KL(exact || private) of the posteriors in nats, summed over all rows.",
    "s.e.": "Standard error of that mean over the simulated releases.",
    "held": f"How much of this cell's exact posterior the private {LEVEL:.0%} interval holds.",
    "releases": "Simulated releases that the means over all cells are of; one cell may be read in more.",
}
"""What the columns of the comparison mean."""


def comparison(chosen: Chosen, cell: int) -> bool:
    """Show what each mechanism would do, once asked for: of a large network, one in each run of the page, if so."""
    with st.expander("Compare the mechanisms at this setting", on_change="rerun", key="comparison") as opened:
        if not opened.open:
            return False
        net, settings = chosen.network, chosen.settings
        key = (net, settings.prior, settings.seed, settings.parameters, chosen.weights, cell, chosen.counts.digest)
        work = running("release.comparison", key, lambda: _comparison_steps(chosen, cell))
        work.work()
        known = work.result or ()
        if work.is_long:
            told = f"{len(known)} of {len(MECHANISM_NAMES)} mechanisms"
            progress(work, told, key="comparison.stop")
        refusals = [each for each in known if isinstance(each, InputError)]
        for error in {str(error): error for error in refusals}.values():  # two mechanisms may lack the same
            refusal(error)
        records = [each for each in known if not isinstance(each, InputError)]
        if len(net.names) == 1:
            with sentence_instead():
                records += [
                    _compared(finished(averages(Readings.of(chosen, Simulated(study, Memo()), cell))), other, cell)
                    for other, study in _hellinger_studies(chosen)
                ]
        numbers(pd.DataFrame(records), help=_COLUMNS)
        st.caption(
            "Curator only: not private. Means over simulated releases, read as the recipient above reads them where "
            "the noise is told; KL in nats. A release that holds draws and no "
            "posterior has no posterior KL, with its standard error (s.e.), and no intervals."
        )
        return work.going


def _comparison_steps(chosen: Chosen, cell: int) -> Work[tuple[Compared, ...]]:
    known: tuple[Compared, ...] = ()
    for number, name in enumerate(MECHANISM_NAMES):
        start, end = (place / len(MECHANISM_NAMES) for place in (number, number + 1))
        try:
            mechanism = chosen.mechanism_called(name)
            yield from part_of(searched(mechanism), start, end)
            readings = Readings.of(chosen, Simulated(simulate(chosen, mechanism), Memo()), cell)
            means = yield from part_of(averages(readings), start, end)
            known = (*known, _compared(means, mechanism, cell))
        except InputError as error:
            known = (*known, error)
        yield Partial(end, known)
    return known


def _hellinger_studies(chosen: Chosen) -> list[tuple[DieMechanism, ReleaseStudy]]:
    """Simulate the Hellinger mechanisms on a network of one node, a die. Errors: InputError for too many candidates."""
    counts, prior = chosen.counts, chosen.prior
    die = Die(tuple(prior.alpha), counts.n)
    epsilon, delta = chosen.epsilon, chosen.parameter("hellinger.delta")
    studies: list[tuple[DieMechanism, ReleaseStudy]] = []
    for mechanism in (
        HellingerGlobal(die=die, epsilon=epsilon),
        HellingerSmooth(die=die, epsilon=epsilon, delta=delta),
        HellingerLocal(die=die, epsilon=epsilon),
    ):
        rng = stream(chosen.seed, "release", type(mechanism).__name__)
        of_die = mechanism.release(counts.values.astype(np.int64), rng, (DRAWS,))
        outcome = ReleasedPosterior(prior, of_die.alpha - prior.alpha)
        release = Release[Outcome](outcome, of_die.guarantee, of_die.mechanism, of_die.public)
        studies.append((mechanism, ReleaseStudy(prior.updated(counts), release)))
    return studies


def _compared(means: Averages, mechanism: Mechanism[Outcome] | DieMechanism, cell: int) -> dict[str, object]:
    study = means.shown
    record: dict[str, object] = {
        "mechanism": mechanism.label,
        "certified": str(mechanism.certified),
        "|diff.|, all": study.shift.mean(),
        "prediction KL": study.predictive_kl.mean(),
        "|diff.|, cell": study.shifts[:, cell].mean(),
    }
    if study.is_posterior:
        record |= {"posterior KL": study.kl.mean(), "s.e.": study.kl_error, "held": means.coverage}
    return record | {"releases": study.count}
