"""The Regression page's sentences: the error of a private sample at the chosen precision, and its proved epsilon."""

import numpy as np

from dpbayes.base.text import escaped, numeral, rough
from dpbayes.experiments.regression.design import RegressionStudy
from dpbayes.experiments.regression.result import RegressionResult
from dpbayes.experiments.regression.scenario import RegressionScenario


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
    """Return the proved epsilon alone, for those who may not see errors."""
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
