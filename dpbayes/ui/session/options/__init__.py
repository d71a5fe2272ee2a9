"""What pages let a person set besides data, network and mechanism, in groups; the link carries it as `group.name`."""

from typing import Any

from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.ui.session.options.lab import (
    AccuracyOptions,
    HellingerOptions,
    LabOptions,
    RegressionOptions,
    SamplingOptions,
)
from dpbayes.ui.session.options.research import (
    BoundsOptions,
    ProofsOptions,
    RobustnessOptions,
)
from dpbayes.ui.session.options.workflow import (
    AuditOptions,
    ExploreOptions,
    ReleaseOptions,
    WhichEpsilonOptions,
)

OPTIONS: dict[str, type[Any]] = {
    "explore": ExploreOptions,
    "lab": LabOptions,
    "release": ReleaseOptions,
    "which_epsilon": WhichEpsilonOptions,
    "robustness": RobustnessOptions,
    "proofs": ProofsOptions,
    "sampling": SamplingOptions,
    "hellinger": HellingerOptions,
    "audit": AuditOptions,
    "bounds": BoundsOptions,
    "accuracy": AccuracyOptions,
    "regression": RegressionOptions,
}
"""The options of every group, which saved links name: a frozen dataclass of fields annotated as a mechanism's are."""

GROUPS: dict[str, tuple[str, ...]] = {
    "explore": ("release", "explore"),
    "lab": ("lab", "accuracy", "regression", "sampling", "hellinger"),
    "proofs": ("proofs", "audit", "bounds", "robustness"),
}
"""The groups of a page that has several, or one of another name."""


def groups_of(page: str) -> tuple[str, ...]:
    """Return the groups of options that a page shows."""
    return GROUPS.get(page, (page,) if page in OPTIONS else ())


def described_options() -> dict[str, Parameter | Choice]:
    """Return all options by the name they have in the link, as `group.name`."""
    return {
        f"{group}.{name}": note for group, options in OPTIONS.items() for name, note in parameters_of(options).items()
    }
