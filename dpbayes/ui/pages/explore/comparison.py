"""All mechanisms at the chosen setting; for a network of one node, a die, with the Hellinger mechanisms."""

from collections.abc import Hashable

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.memo import Memo
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Partial, Work, finished, part_of
from dpbayes.base.validation import InputError
from dpbayes.experiments.releases import ReleaseStudy
from dpbayes.mechanisms import Mechanism, Outcome, Release, ReleasedPosterior
from dpbayes.mechanisms.base import name_of, searched
from dpbayes.mechanisms.die.base import DieMechanism
from dpbayes.mechanisms.die.hellinger import HellingerGlobal, HellingerLocal, HellingerSmooth
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.hellinger import Die
from dpbayes.ui.pages.explore.averages import Averages, averages
from dpbayes.ui.pages.explore.readings import Readings, Simulated
from dpbayes.ui.pages.explore.simulations import DRAWS, simulate, takes_long
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.settings import EXPLORED_NAMES, MECHANISM_NAMES
from dpbayes.ui.widgets.running import progress, running
from dpbayes.ui.widgets.show import folded, numbers, sentence_instead, show_refusal

Compared = dict[str, object] | InputError
"""The errors of a mechanism, by column, or why it cannot be run."""

_COLUMNS = {
    "mean error, all": "Mean absolute error over all cells.",
    "prediction KL": "KL(exact || private) of the next record's state in nats, summed over all rows.",
    "mean error, cell": "Mean absolute error of this cell.",
    "posterior KL": "KL(exact || private) of the posteriors in nats, summed over all rows.",
    "s.e.": "Standard error of the posterior KL over the simulated releases.",
    "coverage": f"The share of this cell's exact posterior in the private {LEVEL:.0%} interval.",
    "releases": "Number of simulated releases in the means over all cells; the means of a single cell may use more.",
}
"""Explanations of the columns of the comparison."""


def comparison(chosen: Chosen, cell: int) -> bool:
    """Show the errors of each mechanism in a folded part; for a large network, one mechanism in each run."""
    with folded("Comparison of the mechanisms at this setting", key="comparison") as is_open:
        if not is_open:
            return False
        net, settings = chosen.network, chosen.settings
        key = (net, settings.prior, settings.seed, settings.parameters, cell, _records(chosen))
        work = running("release.comparison", key, lambda: _comparison_steps(chosen, cell))
        work.work()
        results = work.result or ()
        if work.is_long:
            progress(work, f"{len(results)} of {len(_names(chosen))} mechanisms", key="comparison.stop")
        refusals = [result for result in results if isinstance(result, InputError)]
        for error in {str(error): error for error in refusals}.values():  # two mechanisms may lack the same
            show_refusal(error)
        records = [result for result in results if not isinstance(result, InputError)]
        if len(net.names) == 1:
            with sentence_instead():
                records += [
                    _compared(finished(averages(Readings.of(chosen, Simulated(study, Memo()), cell))), other, cell)
                    for other, study in _hellinger_studies(chosen)
                ]
        numbers(pd.DataFrame(records), help=_COLUMNS)
        st.caption(
            "Not private (curator view). Means over simulated releases, noise-aware or naive as chosen above; KL in "
            "nats. A release of samples or probabilities has no posterior KL and no intervals."
        )
        return work.going


def _names(chosen: Chosen) -> tuple[str, ...]:
    """Return the mechanisms that are compared; those that read records need a table that is here."""
    return MECHANISM_NAMES if chosen.is_connected else EXPLORED_NAMES


def _records(chosen: Chosen) -> Hashable:
    """Return what identifies the table: its records, or its counts if the records stay at their source."""
    return chosen.counts.digest if chosen.is_connected else (chosen.counts.digest, chosen.dataset)


def _comparison_steps(chosen: Chosen, cell: int) -> Work[tuple[Compared, ...]]:
    results: tuple[Compared, ...] = ()
    names = _names(chosen)
    for number, name in enumerate(names):
        start, end = (place / len(names) for place in (number, number + 1))
        try:
            mechanism = chosen.mechanism_called(name)
            if takes_long(mechanism, chosen.counts.n):
                raise InputError(f"The {name_of(type(mechanism))} of this table takes too long for this comparison.")
            yield from part_of(searched(mechanism), start, end)
            readings = Readings.of(chosen, Simulated(simulate(chosen, mechanism), Memo()), cell)
            means = yield from part_of(averages(readings), start, end)
            results = (*results, _compared(means, mechanism, cell))
        except InputError as error:
            results = (*results, error)
        yield Partial(end, results)
    return results


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
        "proved": str(mechanism.certified),
        "mean error, all": study.shift.mean(),
        "prediction KL": study.predictive_kl.mean(),
        "mean error, cell": study.shifts[:, cell].mean(),
    }
    if study.is_posterior:
        record |= {"posterior KL": study.kl.mean(), "s.e.": study.kl_error, "coverage": means.coverage}
    return record | {"releases": study.count}
