"""A claim evaluated along its axis, which continues over several runs, and at the present setting."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import streamlit as st

from dpbayes.base.memo import Memo
from dpbayes.base.steps import Work, in_parts
from dpbayes.theory.claims.claim import Bound, joined
from dpbayes.theory.claims.exhibit import Exhibit, Measured, Uses
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject, grid, moved, place
from dpbayes.theory.index import EXHIBITS
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.research import BoundClaim
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets.limits import Possible, lowest, nearest
from dpbayes.ui.widgets.running import Running, running

TOGETHER = 250
"""The number of cells times epsilons that are evaluated together, which takes a few hundredths of a second."""


@dataclass(frozen=True, eq=False)
class BoundCurve:
    """A bound along an axis at `x` (E,), and the measured values."""

    x: tuple[float, ...]
    bound: Bound
    measured: Measured


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A claim as the page shows it: a curve along its axis; the bound and the truth at the present setting, `here`.

    `work` evaluates the curve point by point, and `curve` holds the points evaluated so far.
    """

    claim: BoundClaim
    axis: Axis
    work: Running[tuple[BoundCurve, ...]]
    curve: BoundCurve
    here: float
    bound: Bound
    measured: Measured
    at: EvaluationPoint
    subject: Subject

    @property
    def exhibit(self) -> Exhibit:
        """What the page knows of the claim."""
        return EXHIBITS[self.claim.name]

    @property
    def is_private(self) -> bool:
        """Whether everything shown depends on public things only."""
        return self.exhibit.uses.is_public_for(self.subject)


def is_visible(claim: BoundClaim, chosen: Chosen) -> bool:
    """Whether the present seat may see a claim."""
    return chosen.is_curator or EXHIBITS[claim.name].uses.is_for_all


def axis_of(claim: BoundClaim, settings: Settings) -> Axis:
    """Return the chosen axis, or the claim's usual one if the claim does not have the chosen axis."""
    axes = EXHIBITS[claim.name].axes
    chosen = settings.parameter("bounds.axis", axes[0])
    return chosen if chosen in axes else axes[0]


def possible(chosen: Chosen, claim: BoundClaim) -> Possible:
    """Return the setting at which a claim can be evaluated, nearest to the requested one. Errors: InputError."""
    exhibit = EXHIBITS[claim.name]
    giving = {name: lowest(name) for name in exhibit.gives}
    return nearest(chosen.settings, giving, lambda settings: exhibit.limit(*_setting(chosen, exhibit, settings)))


def _setting(chosen: Chosen, exhibit: Exhibit, settings: Settings) -> tuple[Subject, EvaluationPoint]:
    """Return the subject of a claim and its point, at settings with other options than the chosen ones."""
    suited = {name: settings.parameter(f"bounds.{name}", value) for name, value in exhibit.defaults}
    options = replace(settings.options("bounds"), **suited)
    counts = chosen.counts if chosen.is_curator and exhibit.uses is not Uses.PUBLIC else None
    subject = Subject(chosen.network, settings.prior.pseudo_count, chosen.n, counts, chosen.seed, _memo())
    return subject, EvaluationPoint((settings.parameter("epsilon"),), settings.parameter("draws"), options)


def evaluated(chosen: Chosen, claim: BoundClaim, settings: Settings) -> Evaluation:
    """Evaluate a claim that `is_visible` at `possible` settings. Errors: InputError where it cannot be evaluated."""
    exhibit, axis = EXHIBITS[claim.name], axis_of(claim, settings)
    subject, at = _setting(chosen, exhibit, settings)
    here = place(subject, at, axis)
    knobs = {name.rpartition(".")[2] for name in exhibit.knobs} - {axis.field, "prior"}
    fixed = tuple((name, getattr(at if hasattr(at, name) else at.knobs, name)) for name in sorted(knobs))
    prior = 0.0 if axis is Axis.PRIOR else subject.concentration
    key = (fixed, subject.network, prior, subject.n, subject.digest, subject.seed)
    bound = exhibit.bound(subject, at)
    work = running("bounds", (claim, axis, *key), lambda: _steps(claim, axis, subject, at))
    work.work()
    curve = _joined(work.so_far)
    measured = _looked_up(curve, here) or exhibit.measure(subject, at, bound)
    return Evaluation(claim, axis, work, curve, here, bound, measured, at, subject)


def _memo() -> Memo:
    """Return what the session has computed for this page, so that the counts of an upload never leave it."""
    memo = st.session_state.setdefault("bounds.memo", Memo())
    assert isinstance(memo, Memo)
    return memo


def _steps(claim: BoundClaim, axis: Axis, subject: Subject, at: EvaluationPoint) -> Work[tuple[BoundCurve, ...]]:
    """Return how a claim is evaluated along its axis: a few epsilons at once, of anything else one after another."""
    exhibit, x = EXHIBITS[claim.name], grid(subject, axis)
    several = max(1, TOGETHER // subject.network.cell_count) if axis is Axis.EPSILON else 1
    groups = coarse_to_fine(len(x), most=several)

    def step(number: int) -> BoundCurve:
        points = tuple(x[k] for k in groups[number])
        along = (subject, replace(at, epsilon=points)) if axis is Axis.EPSILON else moved(subject, at, axis, points[0])
        bound = exhibit.bound(*along)
        return BoundCurve(points, bound, exhibit.measure(*along, bound))

    return in_parts(step, len(groups))


def coarse_to_fine(points: int, *, most: int) -> list[tuple[int, ...]]:
    """Return all places 0 .. points - 1 in groups of at most `most`: both ends and every eighth, then those between."""
    groups, seen = [], set[int]()
    for stride in (8, 4, 2, 1):
        fresh = sorted({*range(0, points, stride), points - 1} - seen)
        seen.update(fresh)
        groups += [tuple(fresh[k : k + most]) for k in range(0, len(fresh), most)]
    return groups


def _joined(parts: Sequence[BoundCurve]) -> BoundCurve:
    x = np.concatenate([part.x for part in parts])
    order = np.argsort(x)
    bound, measured = joined([part.bound for part in parts]), _joined_measured([part.measured for part in parts])
    bound = replace(bound, printed=bound.printed[order], certified=bound.certified[order])
    measured = replace(measured, **{name: getattr(measured, name)[order] for name in SERIES})
    return BoundCurve(tuple(x[order].tolist()), bound, measured)


SERIES = ("exact", "value", "low", "high", "exceeded", "violated")


def _joined_measured(parts: Sequence[Measured]) -> Measured:
    together: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in SERIES}
    return replace(parts[0], **together)


def _looked_up(curve: BoundCurve, here: float) -> Measured | None:
    """Return what was measured on the curve at a setting that is one of its points, so that it is not done again."""
    if here not in curve.x:
        return None
    k = curve.x.index(here)
    if not np.isfinite([curve.measured.value[k], curve.measured.exact[k]]).any():
        return None
    return replace(curve.measured, **{name: getattr(curve.measured, name)[k : k + 1] for name in SERIES})
