"""The settings of Figure 2 of [Zhang16].

scenario = RegressionScenario(records=Records.FULTON, repeats=100)
result = finished(experiment(scenario, records_of(scenario, seed=1), seed=1))
frame = result.frame()
"""

import enum
from dataclasses import dataclass
from typing import Annotated

from dpbayes.base.parameters import Choice, Parameter, check_parameters
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work
from dpbayes.experiments.regression.design import (
    MOST_PRECISIONS,
    MOST_REPEATS,
    RegressionStudy,
    precision_grid,
)
from dpbayes.experiments.regression.records import CENSUS_BOUNDS, CENSUS_FEATURES, MOST_RECORDS, census_like
from dpbayes.experiments.regression.result import RegressionResult
from dpbayes.experiments.regression.study import SplitTable, regression_curves
from dpbayes.mechanisms.parameters import EPSILON, MOST_DRAWS
from dpbayes.mechanisms.regression import DRAWS, NOISE_VARIANCE, PRIOR_PRECISION
from dpbayes.model.regression import PublicBounds, RegressionData, scaled
from dpbayes.sources.shipped_tables import regression_bounds, shipped_regression


class Records(enum.Enum):
    """Where the records come from."""

    SYNTHETIC = "synthetic"
    FULTON = "Fulton census"


class NormBound(enum.Enum):
    """How the norm bound is chosen."""

    PRINTED = "10/√b, as printed"
    EPSILON = "from a certified ε"


def _precision(title: str, typical: float) -> Parameter:
    return Parameter("b", PRIOR_PRECISION.low, PRIOR_PRECISION.high, typical, log=True, title=title)


def _whole(symbol: str, title: str, description: str = "", *, low: int, high: int, typical: int) -> Parameter:
    return Parameter(symbol, low, high, typical, log=high > 1000, whole=True, title=title, description=description)


_SOURCE = "The source of the records."
_FEATURES = "The number of features from which the target is predicted."
_POINTS = "The number of prior precisions, from the lowest to the highest, evenly spaced on a logarithmic scale."
_REPEATS = "Each repeat uses a new split into training and test records, and new samples."
_SAMPLES = "The number of posterior samples of the weights in one release."
_TRAINING = "The share of the records that each repeat trains on."
_NORM = "The largest norm of the weights, which determines the privacy loss."
_EPSILON = "Used only if the norm bound follows from this epsilon."


@dataclass(frozen=True, kw_only=True)
class RegressionScenario:
    """Records and all settings of the experiment except its seed. Errors: InputError for values out of range.

    `study_of` checks that the lowest precision is below the highest, so that a page can still show its controls. A
    single point is the chosen precision.
    """

    records: Annotated[Records, Choice(Records, title="records", description=_SOURCE)] = Records.SYNTHETIC
    n: Annotated[int, _whole("n", "synthetic records", low=2, high=MOST_RECORDS, typical=370_000)] = 370_000
    features: Annotated[
        int, _whole("d", "features", _FEATURES, low=1, high=len(CENSUS_FEATURES), typical=len(CENSUS_FEATURES))
    ] = len(CENSUS_FEATURES)
    precision: Annotated[float, _precision("prior precision", 100.0)] = 100.0
    lowest: Annotated[float, _precision("lowest prior precision", 0.01)] = 0.01
    highest: Annotated[float, _precision("highest prior precision", 1e6)] = 1e6
    points: Annotated[int, _whole("", "prior precisions", _POINTS, low=1, high=MOST_PRECISIONS, typical=25)] = 25
    noise_variance: Annotated[float, NOISE_VARIANCE] = 1.0
    train_share: Annotated[
        float, Parameter("", low=0.001, high=0.999, typical=0.1, title="training share", description=_TRAINING)
    ] = 0.1
    repeats: Annotated[int, _whole("", "repeats", _REPEATS, low=1, high=MOST_REPEATS, typical=20)] = 20
    draws: Annotated[
        int, _whole("N", "posterior samples", _SAMPLES, low=int(DRAWS.low), high=MOST_DRAWS, typical=1)
    ] = 1
    norm_bound: Annotated[
        NormBound,
        Choice(
            NormBound,
            title="norm bound",
            labels=("10/√b, as in the paper", "from a proved ε"),
            description=_NORM,
        ),
    ] = NormBound.PRINTED
    epsilon: Annotated[
        float,
        Parameter(
            EPSILON.symbol,
            EPSILON.low,
            EPSILON.high,
            4.0,
            log=True,
            title="proved epsilon of all samples",
            description=_EPSILON,
        ),
    ] = 4.0

    def __post_init__(self) -> None:
        check_parameters(self)


@dataclass(frozen=True, eq=False)
class TargetUnits:
    """The conversion of a scaled error to the target's units: `half_width` per scaled unit."""

    name: str
    half_width: float
    unit: str = ""

    def root(self, error: float) -> float:
        """Return the root of a mean squared error, in the target's units."""
        return float(max(error, 0.0) ** 0.5) * self.half_width


@dataclass(frozen=True, eq=False)
class StudyRecords:
    """Records ready for the experiment. `clipped` of `values` were outside the bounds; not private."""

    table: SplitTable
    bounds: PublicBounds
    target: TargetUnits
    clipped: int

    @property
    def values(self) -> int:
        """The number of values, including the target's."""
        return self.table.n * (self.table.features + 1)


def study_records(data: RegressionData, bounds: PublicBounds, *, unit: str = "") -> StudyRecords:
    """Scale records by their public bounds. Errors: InputError for a constant target, a column without bounds."""
    unit_ball, target = scaled(data, bounds), data.names[-1]
    units = TargetUnits(target, bounds.half_width(target), unit)
    return StudyRecords(SplitTable.of(unit_ball), bounds, units, unit_ball.clipped)


def records_of(scenario: RegressionScenario, *, seed: int) -> StudyRecords:
    """Return the records that a scenario names."""
    if scenario.records is Records.FULTON:
        return study_records(shipped_regression("fulton"), regression_bounds("fulton"), unit="US dollars")
    census = census_like(scenario.n, features=scenario.features, rng=stream(seed, "regression", "records"))
    return study_records(census, CENSUS_BOUNDS, unit="US dollars")


def study_of(scenario: RegressionScenario) -> RegressionStudy:
    """Return the study of a scenario. Errors: InputError for a reversed range of precisions."""
    ends = (scenario.precision,) * 2 if scenario.points == 1 else (scenario.lowest, scenario.highest)
    return RegressionStudy(
        precisions=precision_grid(*ends, scenario.points),
        noise_variance=scenario.noise_variance,
        train_share=scenario.train_share,
        repeats=scenario.repeats,
        draws=scenario.draws,
        epsilon=None if scenario.norm_bound is NormBound.PRINTED else scenario.epsilon,
    )


def experiment(scenario: RegressionScenario, records: StudyRecords, *, seed: int) -> Work[RegressionResult]:
    """Run the repeats, each with a new split, in steps. Errors, before any work: InputError."""
    return regression_curves(records.table, study_of(scenario), stream(seed, "regression"))
