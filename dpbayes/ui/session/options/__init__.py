"""What pages let a person set besides data, network and mechanism, in groups; the link carries it as `group.name`."""

from typing import Any

from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.experiments.die import Scenario
from dpbayes.experiments.regression_scenario import RegressionScenario
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.ui.session.options.lab import (
    AccuracyOptions,
    LabOptions,
    SamplingOptions,
)
from dpbayes.ui.session.options.research import (
    BoundsOptions,
    ProofsOptions,
)
from dpbayes.ui.session.options.workflow import (
    AuditOptions,
    ExploreOptions,
    ReleaseOptions,
)

OPTIONS: dict[str, type[Any]] = {
    "explore": ExploreOptions,
    "lab": LabOptions,
    "release": ReleaseOptions,
    "proofs": ProofsOptions,
    "sampling": SamplingOptions,
    "hellinger": Scenario,
    "audit": AuditOptions,
    "bounds": BoundsOptions,
    "accuracy": AccuracyOptions,
    "regression": RegressionScenario,
}
"""The options of every group, which saved links name: a frozen dataclass of fields annotated as a mechanism's are."""

GROUPS: dict[str, tuple[str, ...]] = {
    "explore": ("release", "explore"),
    "release": (),
    "lab": ("lab", "accuracy", "regression", "sampling", "hellinger"),
    "proofs": ("proofs", "audit", "bounds"),
}
"""The groups of a page that has several, or one of another name."""


def options_of(page: str) -> dict[str, Parameter | Choice]:
    """Return the options of a page by the name they have in the link."""
    return {name: note for name, note in described_options().items() if name.partition(".")[0] in groups_of(page)}


def groups_of(page: str) -> tuple[str, ...]:
    """Return the groups of options that a page shows."""
    return GROUPS.get(page, (page,) if page in OPTIONS else ())


def described_options() -> dict[str, Parameter | Choice]:
    """Return all options by the name they have in the link, as `group.name`."""
    return {
        link_name(group, name): note
        for group, options in OPTIONS.items()
        for name, note in parameters_of(options).items()
        if note is not EPSILON
    }


def link_name(group: str, name: str) -> str:
    """Return the name in the link of a field of a group: `group.name`, and "epsilon" for the epsilon of all pages."""
    return "epsilon" if parameters_of(OPTIONS[group])[name] is EPSILON else f"{group}.{name}"
