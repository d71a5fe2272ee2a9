"""What each page lets a person set besides data, network and mechanism; the link carries it as `page.name`."""

from typing import Any

from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.experiments.regression.scenario import RegressionScenario
from dpbayes.ui.session.options.accuracy import AccuracyOptions
from dpbayes.ui.session.options.audit import AuditOptions
from dpbayes.ui.session.options.bounds import BoundsOptions
from dpbayes.ui.session.options.hellinger import HellingerOptions
from dpbayes.ui.session.options.network import NetworkOptions
from dpbayes.ui.session.options.papers import PapersOptions
from dpbayes.ui.session.options.release import ReleaseOptions
from dpbayes.ui.session.options.robustness import RobustnessOptions
from dpbayes.ui.session.options.sampling import SamplingOptions
from dpbayes.ui.session.options.stealth import StealthOptions
from dpbayes.ui.session.options.structure import StructureOptions
from dpbayes.ui.session.options.which_epsilon import WhichEpsilonOptions

OPTIONS: dict[str, type[Any]] = {
    "network": NetworkOptions,
    "release": ReleaseOptions,
    "which_epsilon": WhichEpsilonOptions,
    "robustness": RobustnessOptions,
    "structure": StructureOptions,
    "papers": PapersOptions,
    "sampling": SamplingOptions,
    "hellinger": HellingerOptions,
    "audit": AuditOptions,
    "stealth": StealthOptions,
    "bounds": BoundsOptions,
    "accuracy": AccuracyOptions,
    "regression": RegressionScenario,
}
"""The options of every page that has some: a frozen dataclass of fields annotated as a mechanism's are."""


def described_options() -> dict[str, Parameter | Choice]:
    """Return every page's options by the name they have in the link, as `page.name`."""
    return {
        f"{page}.{name}": note for page, options in OPTIONS.items() for name, note in parameters_of(options).items()
    }
