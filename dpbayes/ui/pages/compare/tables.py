"""The error of all tables of two columns on sampled records: an adaptive release, and a known graph."""

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.looks import PRIVATE, Curve, Look
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work
from dpbayes.base.text import many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.experiments.table_errors import METHODS, TableTrial, mean_errors, table_errors
from dpbayes.figures.budgets import table_errors_figure
from dpbayes.mechanisms.residual import GaussianResiduals
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.ui.pages.compare.noise import led_by_epsilon
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.planned import USUAL_RECORDS, public_cpts
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.from_python import FACE, STREAM, program, public_cpts_in_python, same_from_python
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.running import Running, progress_if_long, running
from dpbayes.ui.widgets.show import data_and_download, sentence_instead

EPSILONS = (0.1, 0.3, 1.0, 3.0, 10.0)
"""The epsilons of the picture."""

RUNS = 3
"""Simulated releases of each method at each epsilon."""

MOST_SAMPLED = 20_000
"""Most records of the sampled table."""

LOOKS = (
    Look("Known graph", GaussianResiduals.colour, dash="dot", symbol="diamond"),
    Look("Adaptive release", PRIVATE),
    Look("Adaptive release, pure ε", PRIVATE, dash="dash", symbol="circle-open"),
)
"""How the methods of `METHODS` are drawn."""


def tables_view(page: Places, chosen: Chosen) -> bool:
    """Show the slider first; the errors are simulated when the slider stops."""
    page.first(led_by_epsilon, chosen)
    with page.controls:
        controls.parameter_control("delta")
    going = False
    with page.picture, sentence_instead():
        try:
            at_chosen = _errors(chosen, (chosen.epsilon,))
            curves = _errors(chosen, EPSILONS, wait=at_chosen.going)
        except InputError:
            page.say("The tables of this graph are not compared.")
            raise
        _show(page, chosen, at_chosen, curves)
        going = at_chosen.going or curves.going
    return going


def _show(page: Places, chosen: Chosen, at_chosen: Running[FloatArray], curves: Running[FloatArray]) -> None:
    means, errors = mean_errors(curves.so_far)
    own = mean_errors(at_chosen.so_far)[0][0]
    is_simulated = at_chosen.done or bool(np.isfinite(own).all())
    sentence = verdict(chosen.epsilon, own) if is_simulated else "The errors of the tables are being simulated."
    page.say(sentence)
    drawn = [Curve(look, np.array(EPSILONS), means[:, place], errors[:, place]) for place, look in enumerate(LOOKS)]
    chart(
        table_errors_figure(drawn, epsilon=chosen.epsilon),
        key="compare.tables",
        simulates=True,
        alt=f"Lines: mean total variation of the tables of two columns against ε, by method. {sentence}",
    )
    progress_if_long(curves, "the simulated releases", key="compare.tables.stop")
    st.caption(_caption(chosen))
    data_and_download(lambda: _frame(means, errors), name="tables", curator_only=False, simulates=True)
    same_from_python(python_of(chosen), name="tables")


def verdict(epsilon: float, means: FloatArray) -> str:
    """Return the error of the adaptive release and of a known graph at the chosen epsilon, from means (methods,)."""
    public, adaptive = means[:2]
    if not np.isfinite(adaptive):
        return f"At ε = {numeral(epsilon)}, the budget is too small for an adaptive release."
    start = f"At ε = {numeral(epsilon)}, an adaptive release has a mean error of {numeral(adaptive, 2)}"
    return f"{start}; with the known graph it is {numeral(public, 2)}." if np.isfinite(public) else f"{start}."


def _caption(chosen: Chosen) -> str:
    whose = "the published probabilities" if public_cpts(chosen)[1] else "randomly generated probabilities"
    return (
        f"Mean total variation of all tables of two columns over {many(RUNS, 'simulated release')} of one table with "
        f"{many(_records(chosen), 'record')} sampled from {whose}; bars are standard errors. All methods have the same "
        "ε and δ, except the pure release, which has δ = 0. The known graph is that of the network and costs nothing. "
        "The adaptive release pays for its graph. At a small ε, it can have the smaller error, because it leaves out "
        "arrows whose tables would be mostly noise. The tables of the known graph have Gaussian noise on residuals; a "
        "noise-aware reader uses them."
    )


def _records(chosen: Chosen) -> int:
    return min(chosen.n or USUAL_RECORDS, MOST_SAMPLED)


def _errors(chosen: Chosen, epsilons: tuple[float, ...], *, wait: bool = False) -> Running[FloatArray]:
    """Return the work that simulates all methods at some epsilons, a moment further unless it must wait."""
    network, n, delta = chosen.network, _records(chosen), float(chosen.parameter("delta"))
    probabilities = public_cpts(chosen)[0]

    def start() -> Work[FloatArray]:
        data = sample_dataset(network, probabilities, n, stream(chosen.seed, "table errors", "records"))
        return table_errors(TableTrial(data, network, epsilons[0], delta), epsilons, runs=RUNS, seed=chosen.seed)

    work = running("compare.tables", (network, n, delta, chosen.seed, epsilons), start)
    if not (wait and work.taken):
        work.work()
    return work


def _frame(means: FloatArray, errors: FloatArray) -> "pd.DataFrame":
    """Return one line for each epsilon and method."""
    return pd.DataFrame(
        {
            "epsilon": np.repeat(EPSILONS, len(METHODS)),
            "method": list(METHODS) * len(EPSILONS),
            "mean total variation": means.ravel(),
            "standard error": errors.ravel(),
        }
    )


def python_of(chosen: Chosen) -> str:
    """Return the code that gives the errors of all methods at the chosen epsilon."""
    delta, seed = float(chosen.parameter("delta")), chosen.seed
    return program(
        FACE,
        STREAM,
        "from dpbayes.base.steps import finished",
        "from dpbayes.experiments.table_errors import METHODS, TableTrial, mean_errors, table_errors",
        public_cpts_in_python(chosen),
        f'rng = stream({seed!r}, "table errors", "records")',
        f"data = dp.sample_dataset(network, probabilities, {_records(chosen)!r}, rng)",
        f"trial = TableTrial(data, network, {chosen.epsilon!r}, {delta!r})",
        f"errors = finished(table_errors(trial, ({chosen.epsilon!r},), runs={RUNS!r}, seed={seed!r}))",
        "print(dict(zip(METHODS, mean_errors(errors)[0][0].tolist())))",
    )
