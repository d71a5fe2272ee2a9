"""A claim evaluated along its axis and at the setting at hand; the session keeps the former."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.bounds.base import Bound
from dpbayes.experiments.bounds import Measured
from dpbayes.network import Network
from dpbayes.ui.bounds_evaluations import joined
from dpbayes.ui.bounds_exhibits import EXHIBITS, Exhibit, Uses
from dpbayes.ui.bounds_options import Axis, BoundClaim
from dpbayes.ui.bounds_subject import At, Subject, digest_of, grid, moved, place
from dpbayes.ui.settings import Settings
from dpbayes.ui.show import is_curator
from dpbayes.ui.work import counts, dataset
from dpbayes.validation import InputError


@dataclass(frozen=True, eq=False)
class Curve:
    """A bound along an axis at `x` (E,), and what is measured beside it."""

    x: tuple[float, ...]
    bound: Bound
    measured: Measured


@dataclass(frozen=True, eq=False)
class Shown:
    """A claim as the page shows it: a curve along its axis; the bound and the truth at the setting at hand, `here`."""

    claim: BoundClaim
    axis: Axis
    curve: Curve
    here: float
    bound: Bound
    measured: Measured
    at: At
    subject: Subject

    @property
    def exhibit(self) -> Exhibit:
        """What the page knows of the claim."""
        return EXHIBITS[self.claim]

    @property
    def is_private(self) -> bool:
        """Whether everything shown depends on public things only."""
        uses = self.exhibit.uses
        return uses is Uses.PUBLIC or (uses is Uses.SIMULATION and self.subject.counts is None)


def is_visible(claim: BoundClaim) -> bool:
    """Whether a claim may be shown in the seat at hand."""
    return is_curator() or EXHIBITS[claim].uses is not Uses.COUNTS


def axis_of(claim: BoundClaim, settings: Settings) -> Axis:
    """Return the chosen axis, or the claim's usual one where it does not depend on that."""
    axes, chosen = EXHIBITS[claim].axes, settings.options("bounds").axis
    return chosen if chosen in axes else axes[0]


def shown(net: Network, claim: BoundClaim, settings: Settings) -> Shown:
    """Evaluate a claim that `is_visible`. Errors: InputError where it cannot be evaluated."""
    exhibit, options, axis = EXHIBITS[claim], settings.options("bounds"), axis_of(claim, settings)
    held = counts(settings) if is_curator() and exhibit.uses is not Uses.PUBLIC else None
    subject = Subject(net, settings.prior, records(settings), held, settings.seed, digest_of(held))
    at = At(
        epsilon=(settings.parameter("epsilon"),),
        delta=options.delta,
        t=options.t,
        omega=options.omega,
        gap=options.gap,
        start=options.start,
        draws=settings.parameter("draws"),
    )
    here = place(subject, at, axis)
    knobs = {name.rpartition(".")[2] for name in exhibit.knobs} - {AXIS_FIELDS[axis], "prior"}
    fixed = tuple((name, getattr(at, name)) for name in sorted(knobs))
    prior = 0.0 if axis is Axis.PRIOR else subject.concentration
    key = (fixed, net, prior, subject.n, subject.digest, subject.seed)
    curve = _curve(claim, axis, key, subject, at)
    bound = exhibit.bound(subject, at)
    found = _looked_up(curve, here)
    return Shown(claim, axis, curve, here, bound, found or exhibit.measure(subject, at, bound), at, subject)


AXIS_FIELDS = {
    Axis.EPSILON: "epsilon",
    Axis.RECORDS: "n",
    Axis.DELTA: "delta",
    Axis.T: "t",
    Axis.OMEGA: "omega",
    Axis.PRIOR: "prior",
}


@st.cache_resource(scope="session", max_entries=32, show_spinner="Simulating …", hash_funcs={Network: hash})
def _curve(claim: BoundClaim, axis: Axis, key: tuple[object, ...], _subject: Subject, _at: At) -> Curve:
    """Evaluate a claim along its axis: all epsilons at once, of anything else one after another.

    `key` is what of subject and setting it depends on.
    """
    exhibit, subject, at = EXHIBITS[claim], _subject, _at
    x = grid(subject, axis)
    if axis is Axis.EPSILON:
        along = replace(at, epsilon=x)
        bound = exhibit.bound(subject, along)
        return Curve(x, bound, exhibit.measure(subject, along, bound))
    bounds, measurements = [], []
    for value in x:
        there = moved(subject, at, axis, value)
        bounds.append(exhibit.bound(*there))
        measurements.append(exhibit.measure(*there, bounds[-1]))
    return Curve(x, joined(bounds), _joined_measured(measurements))


SERIES = ("exact", "value", "low", "high", "exceeded", "violated")


def _joined_measured(parts: Sequence[Measured]) -> Measured:
    together: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in SERIES}
    return replace(parts[0], **together)


def _looked_up(curve: Curve, here: float) -> Measured | None:
    """Return what was measured on the curve at a setting that is one of its points, so that it is not done again."""
    if here not in curve.x:
        return None
    k = curve.x.index(here)
    if not np.isfinite([curve.measured.value[k], curve.measured.exact[k]]).any():
        return None
    return replace(curve.measured, **{name: getattr(curve.measured, name)[k : k + 1] for name in SERIES})


def records(settings: Settings) -> int | None:
    """Return the public n, where there is a table."""
    try:
        return dataset(settings).n
    except InputError:
        return None
