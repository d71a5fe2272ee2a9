"""The records and the experiments of the Regression page, which the session keeps.

An experiment continues for a moment in each run of the page; see `running`.
"""

from dataclasses import dataclass, replace

from dpbayes.base.parameters import Parameter
from dpbayes.base.steps import Work, mapped
from dpbayes.experiments.regression.result import RegressionResult
from dpbayes.experiments.regression.scenario import (
    Records,
    RegressionScenario,
    StudyRecords,
    TargetUnits,
    experiment,
    records_of,
    study_of,
)
from dpbayes.ui.session.kept import server_cache
from dpbayes.ui.session.settings import PARAMETERS, Settings
from dpbayes.ui.widgets.limits import Possible, highest, lowest, nearest
from dpbayes.ui.widgets.running import Running, running


@dataclass(frozen=True, eq=False)
class ErrorCurves:
    """What an experiment has found; of its records their target, and how many of all values were clipped."""

    result: RegressionResult
    target: TargetUnits
    clipped: int
    values: int


# The records


@server_cache(1, spinner="Reading the table …")
def _fulton() -> StudyRecords:
    return records_of(RegressionScenario(records=Records.FULTON), seed=0)


@server_cache(2, spinner="Generating records …")
def _made_up(n: int, features: int, seed: int) -> StudyRecords:
    """Return synthetic records, the same for every session: a class would make up and hold as many sets."""
    return records_of(RegressionScenario(n=n, features=features), seed=seed)


def records(scenario: RegressionScenario, settings: Settings) -> StudyRecords:
    """Return the records."""
    if scenario.records is Records.FULTON:
        return _fulton()
    return _made_up(scenario.n, scenario.features, settings.data_seed)


def public_size(scenario: RegressionScenario) -> tuple[int, int]:
    """Return the numbers of records and features, which are public, without a look at any value."""
    if scenario.records is Records.SYNTHETIC:
        return scenario.n, scenario.features
    return _fulton().table.n, _fulton().table.features


# The experiment


def possible(settings: Settings) -> Possible:
    """Return the settings of an experiment that can be run, nearest to the requested settings. Errors: InputError."""
    scenario: RegressionScenario = settings.options("regression")
    giving = {"regression.highest": highest("regression.highest"), "regression.lowest": lowest("regression.lowest")}
    n, d = public_size(scenario)
    if scenario.records is Records.SYNTHETIC:
        giving["regression.features"] = d = int(lowest("regression.features"))
    share = PARAMETERS["regression.train_share"]
    assert isinstance(share, Parameter)
    giving["regression.train_share"] = min(max((d + n - 1) / (2 * n), share.low), share.high)  # leaves most to both
    giving |= {f"regression.{name}": lowest(f"regression.{name}") for name in ("draws", "repeats")}
    return nearest(settings, giving, lambda settings: trained_on(settings.options("regression")))


def trained_on(scenario: RegressionScenario) -> int:
    """Return how many records are trained on. Errors: InputError where the experiment cannot be run on them."""
    n, features = public_size(scenario)
    return study_of(scenario).checked_training(n, features=features)


def running_errors(scenario: RegressionScenario, settings: Settings) -> Running[ErrorCurves]:
    """Return the experiment on its way, a new one if this session knows none. Errors: InputError."""
    varied = scenario if scenario.points == 1 else replace(scenario, precision=1.0)

    def start() -> Work[ErrorCurves]:
        table = records(scenario, settings)
        steps = experiment(scenario, table, seed=settings.seed)
        return mapped(steps, lambda result: ErrorCurves(result, table.target, table.clipped, table.values))

    return running("regression", (varied, settings.data_seed, settings.seed), start)
