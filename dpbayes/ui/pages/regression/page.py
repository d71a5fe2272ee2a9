"""The Regression page: Figure 2 of AAAI-16, with the proved epsilon of every point."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from dpbayes.base import terms
from dpbayes.base.libraries import pd
from dpbayes.base.references import Reference
from dpbayes.base.text import escaped, latex, many, numeral, rough, shortest
from dpbayes.experiments.frames import with_settings
from dpbayes.experiments.regression.design import RegressionStudy
from dpbayes.experiments.regression.result import ONE_NAME, RegressionResult, several_name
from dpbayes.experiments.regression.scenario import NormBound, Records, RegressionScenario, settings_of, study_of
from dpbayes.figures.regression import epsilon_figure, regression_errors_figure
from dpbayes.mechanisms.regression import RegressionSampler
from dpbayes.ui.pages.regression.work import (
    ErrorCurves,
    possible,
    public_size,
    running_errors,
    trained_on,
)
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import Facts, pictures_tell
from dpbayes.ui.widgets.from_python import program, same_from_python, value_in_python
from dpbayes.ui.widgets.limits import Possible, nearest_shown, reach_of
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.running import Running, progress
from dpbayes.ui.widgets.show import assumption, data_and_download, sentence_instead, source


def _n(chosen: Chosen) -> str:
    """Return the number of synthetic records; that of a table is shown on the page only."""
    scenario: RegressionScenario = chosen.options("regression")
    return f"{scenario.n:,}" if scenario.records is Records.SYNTHETIC else ""


FACTS: Facts = {
    "epsilon": lambda chosen: shortest(chosen.options("regression").epsilon),
    "table": lambda chosen: str(chosen.options("regression").records.value),
    "n": _n,
}


def regression_page(chosen: Chosen) -> bool:
    """Show the errors first: they move with the chosen precision, and the rest is updated when the slider stops."""
    pictures_tell(FACTS)
    requested: RegressionScenario = chosen.options("regression")
    page = places()
    nearby, work = page.first(_moving, chosen) or (None, None)
    scenario: RegressionScenario = nearby.settings.options("regression") if nearby is not None else requested
    with page.controls:
        _controls(scenario, nearby)
    if nearby is None:
        return False
    if not shows_errors(chosen, scenario):
        _price(page, chosen, scenario)
        return False
    if work is None:
        return False
    errors = work.so_far
    result = errors.result
    with page.beside():
        if not work.done:
            progress(work, f"{result.repeats:,} of {many(result.study.repeats, 'repeat')}", key="regression.stop")
        st.markdown(epsilons(result.study, scenario, size=(result.train, result.features)))
        _beside(errors, chosen, scenario)
    _below(page, chosen, scenario, result.study, size=(result.train, result.features))
    same_from_python(python_of(chosen, scenario), name="regression")
    return work.going


def _moving(page: Places, chosen: Chosen) -> tuple[Possible | None, Running[ErrorCurves] | None]:
    """Compute the nearest possible experiment for a moment, and show the errors so far."""
    requested: RegressionScenario = chosen.options("regression")
    work = None
    with page.picture:
        nearby = nearest_shown(lambda: possible(chosen.settings))
        scenario = nearby.settings.options("regression") if nearby is not None else requested
        if nearby is not None and shows_errors(chosen, scenario):
            work = _errors(chosen, scenario)
    page.lead("regression.precision")
    if work is not None:
        page.say(verdict(work.so_far.result, scenario, target=work.so_far.target.name))
    return nearby, work


def _price(page: Places, chosen: Chosen, scenario: RegressionScenario) -> None:
    """Show the proved epsilon to those who may not see errors."""
    study = study_of(scenario)
    size = (trained_on(scenario), public_size(scenario)[1])
    page.say(price(study, scenario))
    with page.picture:
        st.markdown(epsilons(study, scenario, size=size))
    with page.top:
        st.caption("Errors on real records are not private, even those of private samples. Only the curator sees them.")
    _below(page, chosen, scenario, study, size=size)


def _below(
    page: Places, chosen: Chosen, scenario: RegressionScenario, study: RegressionStudy, *, size: tuple[int, int]
) -> None:
    """Show what both seats may see: epsilon, which depends only on public numbers."""
    with page.picture:
        _epsilons(study, chosen, scenario, size=size)
    with st.container(key="below"):
        details(study, scenario, size=size)


def shows_errors(chosen: Chosen, scenario: RegressionScenario) -> bool:
    """Whether this seat may see errors: those of real records, private or not, are for the curator."""
    return chosen.is_curator or scenario.records is Records.SYNTHETIC


# Controls


def _controls(scenario: RegressionScenario, nearby: Possible | None) -> None:
    def offer(name: str) -> None:
        controls.parameter_control(f"regression.{name}", reach=reach_of(f"regression.{name}", nearby))

    controls.parameter_control("regression.records")
    if scenario.records is Records.SYNTHETIC:
        for name in ("n", "features"):
            offer(name)
    controls.parameter_control("regression.norm_bound")
    if scenario.norm_bound is NormBound.EPSILON:
        controls.parameter_control("regression.epsilon")
    for name in ("draws", "noise_variance", "repeats"):
        offer(name)
    with st.expander("Training share, precisions and seed"):
        ends = ("lowest", "highest") if scenario.points > 1 else ()
        for name in ("train_share", "points", *ends):
            offer(name)
        controls.text_field("Seed of splits and samples", "seed", help=terms.SEED)
        if scenario.records is Records.SYNTHETIC:
            controls.text_field("Seed of the synthetic records", "data_seed")


# Pictures


def _errors(chosen: Chosen, scenario: RegressionScenario) -> Running[ErrorCurves] | None:
    """Work for a moment and show the repeats so far; what cannot run gets its sentence."""
    shown = None
    with sentence_instead():
        work = running_errors(scenario, chosen.settings)
        work.work()
        _errors_chart(work.so_far.result, scenario)
        shown = work
    return shown


def _errors_chart(result: RegressionResult, scenario: RegressionScenario) -> None:
    k = looked_at(result.study, scenario)
    b = np.array(result.study.precisions)
    summary = "; ".join(f"{name} {_text_or_unknown(errors.mean[k], numeral)}" for name, errors in result.errors.items())
    chart(
        regression_errors_figure(b, result.curves, marked=float(b[k])),
        key="regression.errors",
        simulates=True,
        alt=f"Mean squared error against prior precision, by predictor. At b = {numeral(b[k], 4)}: {summary}.",
    )


def _beside(shown: ErrorCurves, chosen: Chosen, scenario: RegressionScenario) -> None:
    """Show the numbers at the chosen precision, what the curves are, and the download."""
    result = shown.result
    k, study = looked_at(result.study, scenario), result.study
    costs = {ONE_NAME: study.certified[k] / study.draws, several_name(study.draws): study.certified[k]}
    unit = f", {shown.target.unit}" if shown.target.unit else ""
    frame = pd.DataFrame(
        {
            f"at b = {numeral(study.precisions[k], 4)}": name,
            "mean squared error": _text_or_unknown(errors.mean[k], lambda error: numeral(error, 4)),
            "standard error": _text_or_unknown(errors.standard_error[k], lambda error: numeral(error, 1)),
            f"root error{unit}": _text_or_unknown(shown.target.root(float(errors.mean[k])), numeral),
            "proved ε": numeral(float(costs[name])) if name in costs else "none",
        }
        for name, errors in result.errors.items()
    )
    st.dataframe(frame, hide_index=True)
    st.caption(_about(shown, scenario))
    data_and_download(
        lambda: _with_settings(result.frame(), chosen, scenario),
        name="regression",
        curator_only=scenario.records is not Records.SYNTHETIC,
        simulates=True,
    )


def _with_settings(frame: "pd.DataFrame", chosen: Chosen, scenario: RegressionScenario) -> "pd.DataFrame":
    seeds = {"seed": chosen.settings.seed, "data_seed": chosen.settings.data_seed}
    return with_settings(frame, settings_of(scenario, **seeds))


def python_of(chosen: Chosen, scenario: RegressionScenario) -> str:
    """Return the code that gives the errors of all predictors at every precision."""
    seed, data_seed = chosen.settings.seed, chosen.settings.data_seed
    return program(
        value_in_python("scenario", scenario),
        "from dpbayes.base.steps import finished",
        "from dpbayes.experiments.regression.scenario import experiment, records_of",
        f"records = records_of(scenario, seed={data_seed!r})",
        f"print(finished(experiment(scenario, records, seed={seed!r})).frame())",
    )


def _text_or_unknown(number: float, shown: Callable[[float], str]) -> str:
    return "unknown" if np.isnan(number) else shown(float(number))


def _about(shown: ErrorCurves, scenario: RegressionScenario) -> str:
    result = shown.result
    made_up = scenario.records is Records.SYNTHETIC
    whose = "The records are synthetic and replace the paper's census. " if made_up else ""
    clipped = (
        f"{shown.clipped:,} of {shown.values:,} values were outside the public bounds and were clipped. "
        if shown.clipped
        else ""
    )
    text = (
        f"{whose}{_split(result)} {clipped}Splits and samples are simulated from a seed. Predictors without an ε are "
        "not private. The dotted blue curve is for the mean of the truncated posterior from which private samples are "
        "drawn. This curve is left out if there are too few samples to estimate its error."
    )
    return text if made_up else text + " Not private (curator view)."


def _split(result: RegressionResult) -> str:
    """Say what was trained on, and what errors are on."""
    features, repeats = many(result.features, "feature"), many(result.repeats, "repeat")
    return (
        f"{many(result.train, 'training record')}, {result.test:,} test records, {features}, {repeats} with new "
        "splits. Bands show one standard error and treat overlapping splits as independent."
    )


def _epsilons(study: RegressionStudy, chosen: Chosen, scenario: RegressionScenario, *, size: tuple[int, int]) -> None:
    k, b = looked_at(study, scenario), np.array(study.precisions)
    one, printed = study.certified / study.draws, study.claimed(size[0], features=size[1])
    several = study.certified if study.draws > 1 else None
    st.subheader("Proved and stated ε")
    chart(
        epsilon_figure(b, one, printed, several=several, marked=float(b[k]), colour=RegressionSampler.colour),
        key="regression.epsilons",
        alt=(
            "Epsilon of one sample against prior precision, proved and as stated in the paper. "
            f"At b = {numeral(b[k], 4)}: proved {numeral(float(one[k]))}, paper {numeral(float(printed[k]))}."
        ),
    )
    st.caption(
        f"ε depends only on public numbers: {size[0]:,} training records, {many(size[1], 'feature')}, σ², B and N."
    )
    columns = {"prior_precision": b, "norm_bound": study.norm_bounds, "certified_epsilon_of_all_draws": study.certified}
    columns |= {"certified_epsilon_of_one_draw": one, "printed_epsilon_of_one_draw": printed}
    data_and_download(
        lambda: _with_settings(
            pd.DataFrame(columns | {"training_records": size[0], "features": size[1]}), chosen, scenario
        ),
        name="regression-epsilons",
        curator_only=False,
    )


# Sentences


def looked_at(study: RegressionStudy, scenario: RegressionScenario) -> int:
    """Return the place of the precision of the grid that is nearest to the chosen one."""
    return int(np.argmin(np.abs(np.log(study.precisions) - np.log(scenario.precision))))


def verdict(result: RegressionResult, scenario: RegressionScenario, *, target: str) -> str:
    """Return the error of private samples at the chosen precision, beside that without privacy or without features."""
    k = looked_at(result.study, scenario)
    private, exact, baseline = (float(e.mean[k]) for e in (result.several, result.exact, result.baseline))
    first = f"{_samples(result.study)} predicts {escaped(target)} with a mean squared error of {numeral(private)}"
    if private >= baseline:
        return f"{first}, no better than the training mean ({numeral(baseline)})."
    return f"{first}; without privacy it is {numeral(exact)}."


def price(study: RegressionStudy, scenario: RegressionScenario) -> str:
    """Return the sentence with only the proved epsilon, for a seat that may not see errors."""
    samples = "One private sample" if study.draws == 1 else f"{study.draws:,} private samples"
    verb = "has" if study.draws == 1 else "have"
    return f"{samples} of the weights {verb} a proved ε of {numeral(study.certified[looked_at(study, scenario)])}."


def epsilons(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> str:
    """Return the proved epsilon and that of the paper's formula; `size` is training records and features."""
    k = looked_at(study, scenario)
    printed = rough(study.claimed(size[0], features=size[1])[k])
    several = study.draws > 1
    proved = f"the proved ε{' of all samples' if several else ''} is {numeral(study.certified[k])}"
    paper = f"the paper's formula gives ε = {printed}{' for each' if several else ''}"
    return f"At {_place(study, scenario)}, {proved}; {paper}."


def _place(study: RegressionStudy, scenario: RegressionScenario) -> str:
    """Return the precision shown, and the chosen one where the grid does not have it."""
    shown, chosen = numeral(study.precisions[looked_at(study, scenario)], 4), numeral(scenario.precision, 4)
    nearest = f" (the nearest to {chosen} of {len(study.precisions)} values)" if chosen != shown else ""
    return f"prior precision b = {shown}{nearest}"


def _samples(study: RegressionStudy) -> str:
    return "One private sample" if study.draws == 1 else f"The mean of {study.draws:,} private samples"


# Formulas and assumptions


def details(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> None:
    """Show the formulas with their numbers, and the assumptions."""
    with st.expander("Formulas, assumptions and source"):
        _formulas(study, scenario, size=size)
        _assumptions(study, scenario, size=size)
        source(Reference("Zhang16", "Section 5.2, Figure 2, Appendix D and Lemma D.1"))


def _formulas(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> None:
    k = int(np.argmin(np.abs(np.log(study.precisions) - np.log(scenario.precision))))
    b, bound, (n, d) = study.precisions[k], study.norm_bounds[k], size
    one, printed = study.certified[k] / study.draws, study.claimed(n, features=d)[k]
    variance = study.noise_variance
    range_of_squares = "4B" if bound <= 1 else "(1+B)^2"
    rule = (
        rf"B = 10/\sqrt{{b}} = {latex(bound)}"
        if scenario.norm_bound is NormBound.PRINTED
        else rf"B = {latex(bound)}, the largest with $\varepsilon = {latex(scenario.epsilon, 6)}$ for all samples"
    )
    rule = f"${rule}$" if scenario.norm_bound is NormBound.PRINTED else f"${rule.replace(', the', '$, the', 1)}"
    total = f"; {study.draws:,} samples: ${latex(study.certified[k])}$" if study.draws > 1 else ""
    st.markdown(
        f"""
Weights $w$ have the prior $N(0, I/b)$ with $b = {latex(b)}$, truncated to $\\|w\\|_2 \\le B$; the target is
$y \\sim N(x^\\top w, \\sigma^2)$ with $\\sigma^2 = {latex(variance)}$, and $\\|x\\|_2 \\le 1$, $|y| \\le 1$ after
scaling. The posterior is $N(\\mu_n, P^{{-1}})$ truncated to the same ball, with
$P = X^\\top X/\\sigma^2 + bI$ and $P\\mu_n = X^\\top y/\\sigma^2$; a private sample is a sample from it.

- **Norm bound**: {rule}.
- **Proved**, one replaced record, one sample: $\\varepsilon = {range_of_squares}/\\sigma^2 = {latex(one)}${total}. In
  general $\\varepsilon$ is $((1+B)^2 - \\max(0, 1-B)^2)/\\sigma^2$, the range of one record's squared residual over
  the ball.
- **Paper**, one sample: $2L(w) = \\frac{{n}}{{\\sigma^2}}(1 + 2\\|w\\|_1 + d\\|w\\|_2)$, with $n = {n:,}$, $d = {d}$
  and the worst $w$ of the ball: ${latex(printed)}$. Its factor $n$ counts all records although only one is replaced,
  and its gradients have misprints. The value is never below $n/\\sigma^2 = {latex(n / variance)}$.
- **Exact** is ridge regression, the mean $\\mu_n$ without truncation. Errors are the mean of
  $(y - x^\\top w)^2$ over the test records, in units in which the target's public range is $[-1, 1]$.
"""
    )


def _assumptions(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> None:
    printed, one = study.claimed(size[0], features=size[1]), study.certified / study.draws
    assumption(
        "Columns are scaled by public bounds that are not read from the records, and values outside are clipped.",
        holds=True,
    )
    assumption(
        "Samples follow the truncated posterior exactly, by rejection sampling and without a Markov chain.", holds=True
    )
    assumption(
        "The paper's 2L(w) is at least the proved ε at every precision shown.", holds=bool((printed >= one).all())
    )
    assumption(
        "The paper's 2L(w) bounds the privacy loss of one replaced record by a number that does not grow with n.",
        holds=False,
    )
    assumption(
        "The running time of rejection sampling reveals nothing about the records. Here, it depends slightly "
        "on the records.",
        holds=False,
    )
    assumption(
        "The precision is chosen without these errors. Choosing b by its error on real records uses the records "
        "again, and ε does not cover this use.",
        holds=scenario.records is Records.SYNTHETIC,
    )
