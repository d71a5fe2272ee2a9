"""The Regression page's one sentence: what privacy costs at the precision looked at, and what is proved of epsilon."""

import numpy as np

from dpbayes.base.text import escaped, numeral, rough
from dpbayes.experiments.regression.design import RegressionStudy
from dpbayes.experiments.regression.result import RegressionResult
from dpbayes.experiments.regression.scenario import RegressionScenario


def looked_at(study: RegressionStudy, scenario: RegressionScenario) -> int:
    """Return the place of the precision that is nearest to the one chosen."""
    return int(np.argmin(np.abs(np.log(study.precisions) - np.log(scenario.precision))))


def verdict(result: RegressionResult, scenario: RegressionScenario, *, target: str) -> str:
    """Return what privacy costs at the precision looked at."""
    k, study = looked_at(result.study, scenario), result.study
    private, exact, baseline = (float(e.mean[k]) for e in (result.several, result.exact, result.baseline))
    text = (
        f"At {_place(study, scenario)}, {_draws(study)} {_predicts(study)} {escaped(target)} with "
        f"a mean squared error of {numeral(private)} instead of {numeral(exact)}, at a certified ε of "
        f"{numeral(study.certified[k])}; {_printed(study, result.claimed[k])}."
    )
    if private >= baseline:
        text += f" Predicting the training mean for everyone errs no more: {numeral(baseline)}."
    return text


def price(study: RegressionStudy, scenario: RegressionScenario, *, size: tuple[int, int]) -> str:
    """Return what the draws cost, for those who may not see what they are worth."""
    k = looked_at(study, scenario)
    printed = study.claimed(size[0], features=size[1])[k]
    costs = "costs" if study.draws == 1 else "cost"
    return (
        f"At {_place(study, scenario)}, {_draws(study)} of the weights {costs} a certified ε of "
        f"{numeral(study.certified[k])}; {_printed(study, printed)}."
    )


def _place(study: RegressionStudy, scenario: RegressionScenario) -> str:
    """Return which precision is looked at, and what was asked for where that is another one."""
    shown, asked = numeral(study.precisions[looked_at(study, scenario)], 4), numeral(scenario.precision, 4)
    nearest = f", the nearest to {asked} of {len(study.precisions)}" if asked != shown else ""
    return f"prior precision b = {shown}{nearest}"


def _draws(study: RegressionStudy) -> str:
    return "one private draw" if study.draws == 1 else f"{study.draws:,} private draws"


def _predicts(study: RegressionStudy) -> str:
    return "predicts" if study.draws == 1 else "predict, by their mean,"


def _printed(study: RegressionStudy, printed: float) -> str:
    return f"the paper's own formula would have to call {'it' if study.draws == 1 else 'each'} {rough(printed)}"
