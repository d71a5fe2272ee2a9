"""The records and the experiments of the Regression page, which the session keeps.

An experiment continues for a moment in each run of the page; see `running`.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.parameters import Parameter
from dpbayes.base.steps import Work, mapped
from dpbayes.base.validation import InputError
from dpbayes.experiments.regression.records import OwnColumns, numeric_table
from dpbayes.experiments.regression.result import RegressionResult
from dpbayes.experiments.regression.scenario import (
    Records,
    RegressionScenario,
    StudyRecords,
    SummedRecords,
    TargetUnits,
    experiment,
    records_of,
    study_of,
    study_records,
)
from dpbayes.ui.session.connected import Connected, connected
from dpbayes.ui.session.kept import kept
from dpbayes.ui.session.scans import summed_up
from dpbayes.ui.session.settings import PARAMETERS, Settings
from dpbayes.ui.session.uploads import Upload, upload
from dpbayes.ui.widgets.limits import Possible, highest, lowest, nearest
from dpbayes.ui.widgets.running import Running, running

NO_TABLE = (
    "There is no uploaded table in this session. Load a file below, then tick its numeric columns and state their "
    "public bounds."
)

NOT_CONNECTED = "No table is connected in this session. Connect one on the Data page, or choose other records here."
NOT_SUMMED = (
    "The sums of the table are not computed yet. State the bounds of its columns, then press “Compute the sums”."
)


@dataclass(frozen=True, eq=False)
class ErrorCurves:
    """What an experiment has found; of its records their target, and how many of all values were clipped."""

    result: RegressionResult
    target: TargetUnits
    clipped: int
    values: int


# The records


def mine_of(scenario: RegressionScenario, settings: Settings) -> Upload | Connected | None:
    """Return this session's uploaded or connected table; None without one, and for other records."""
    if scenario.records is Records.UPLOAD:
        return upload()
    return connected(settings.data.partition(":")[2]) if scenario.records is Records.CONNECTED else None


def own_columns(scenario: RegressionScenario, settings: Settings) -> OwnColumns | None:
    """Return what the person stated of the columns of her own table in this session, if anything."""
    mine = mine_of(scenario, settings)
    return mine.own if mine else None


def _summed(settings: Settings) -> SummedRecords:
    """Return the connected table's sufficient statistics. Errors: InputError without them, and of the scan."""
    mine = connected(settings.data.partition(":")[2])
    if mine is None:
        raise InputError(NOT_CONNECTED)
    sums = summed_up(mine)
    if sums is None or sums.result is None:
        raise InputError(sums.refused if sums else NOT_SUMMED)
    return sums.result


def records_key(scenario: RegressionScenario, settings: Settings) -> Hashable:
    """Return what the records depend on."""
    if scenario.records is Records.SYNTHETIC:
        return Records.SYNTHETIC, scenario.n, scenario.features, settings.data_seed
    if scenario.records is Records.FULTON:
        return Records.FULTON
    if scenario.records is Records.CONNECTED:
        return Records.CONNECTED, _summed(settings)
    mine = upload()
    return Records.UPLOAD, mine.number if mine else 0, own_columns(scenario, settings)


@st.cache_resource(max_entries=1, show_spinner="Reading the table …")
def _fulton() -> StudyRecords:
    return records_of(RegressionScenario(records=Records.FULTON), seed=0)


@st.cache_resource(max_entries=2, show_spinner="Generating records …")
def _made_up(n: int, features: int, seed: int) -> StudyRecords:
    """Return synthetic records, the same for every session: a class would make up and hold as many sets."""
    return records_of(RegressionScenario(n=n, features=features), seed=seed)


def records(scenario: RegressionScenario, settings: Settings) -> StudyRecords | SummedRecords:
    """Return the records; of an uploaded table the session keeps one set. Errors: InputError."""
    if scenario.records is Records.FULTON:
        return _fulton()
    if scenario.records is Records.CONNECTED:
        return _summed(settings)
    if scenario.records is Records.SYNTHETIC:
        return _made_up(scenario.n, scenario.features, settings.data_seed)
    key = records_key(scenario, settings)
    return kept("regression.records", key, lambda: _own(own_columns(scenario, settings)))


def own_frame() -> "pd.DataFrame":
    """Return the uploaded table as text. Errors: InputError when there is none."""
    mine = upload()
    if mine is None:
        raise InputError(NO_TABLE)
    return mine.frame


def _own(columns: OwnColumns | None) -> StudyRecords:
    frame = own_frame()
    if columns is None:
        raise InputError("State the public bounds of your table's columns first.")
    return study_records(*numeric_table(frame, columns.features, columns.target))


def public_size(scenario: RegressionScenario, settings: Settings) -> tuple[int, int]:
    """Return the numbers of records and features, which are public, without a look at any value. Errors: InputError."""
    if scenario.records is Records.SYNTHETIC:
        return scenario.n, scenario.features
    if scenario.records is Records.FULTON:
        return _fulton().table.n, _fulton().table.features
    if scenario.records is Records.CONNECTED:
        gram = _summed(settings).gram
        return gram.n, gram.features
    columns = own_columns(scenario, settings)
    if columns is None:
        raise InputError(NO_TABLE)
    return len(own_frame()), len(columns.features)


# The experiment


def possible(settings: Settings) -> Possible:
    """Return the settings of an experiment that can be run, nearest to the requested settings. Errors: InputError."""
    scenario: RegressionScenario = settings.options("regression")
    giving = {"regression.highest": highest("regression.highest"), "regression.lowest": lowest("regression.lowest")}
    n, d = public_size(scenario, settings)
    if scenario.records is Records.SYNTHETIC:
        giving["regression.features"] = d = int(lowest("regression.features"))
    share = PARAMETERS["regression.train_share"]
    assert isinstance(share, Parameter)
    if scenario.records is not Records.CONNECTED:
        giving["regression.train_share"] = min(max((d + n - 1) / (2 * n), share.low), share.high)  # leaves most to both
    giving |= {f"regression.{name}": lowest(f"regression.{name}") for name in ("draws", "repeats")}
    return nearest(settings, giving, _checked)


def _checked(settings: Settings) -> None:
    scenario: RegressionScenario = settings.options("regression")
    trained_on(scenario, settings)


def trained_on(scenario: RegressionScenario, settings: Settings) -> int:
    """Return how many records are trained on. Errors: InputError where the experiment cannot be run on them."""
    (n, features), study = public_size(scenario, settings), study_of(scenario)
    if scenario.records is not Records.CONNECTED:
        return study.checked_training(n, features=features)
    study.check_fit(n, features=features)
    return n


def running_errors(scenario: RegressionScenario, settings: Settings) -> Running[ErrorCurves]:
    """Return the experiment on its way, a new one if this session knows none. Errors: InputError."""
    varied = scenario if scenario.points == 1 else replace(scenario, precision=1.0)

    def start() -> Work[ErrorCurves]:
        table = records(scenario, settings)
        steps = experiment(scenario, table, seed=settings.seed)
        return mapped(steps, lambda result: ErrorCurves(result, table.target, table.clipped, table.values))

    return running("regression", (varied, records_key(scenario, settings), settings.seed), start)
