"""Proofs: the privacy loss of one mechanism as stated, proved and measured, and the claims of the papers.

An audit follows from public values alone. The bound of a claim may need the counts of a table: its board is then not
private.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpbayes.audit.adaptive import AdaptiveAudit
from dpbayes.audit.draws import DOUBT
from dpbayes.audit.entry import TablePair
from dpbayes.audit.pictures import TwoLaws
from dpbayes.audit.registry import AUDITS, Audited
from dpbayes.audit.report import AuditReport, AuditVerdict
from dpbayes.base.parameters import Parameter, parameters_of
from dpbayes.base.steps import slices
from dpbayes.base.text import distinct_texts, numeral, power_of_ten, whole_percent
from dpbayes.base.text import percent as in_percent
from dpbayes.boards.board import Board, Frame, Panel, Slider, View, stop_text
from dpbayes.boards.explore import SLIDER
from dpbayes.figures.audit import Mark, laws_figure, losses_figure, privacy_curve_figure, row_losses_figure
from dpbayes.figures.claims import BoundCurves, bound_figure
from dpbayes.figures.style import Figure, distinct_labels, titled
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.theory.claims.claim import Bound, Claim, Counterexample, Verdict, joined
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Measured
from dpbayes.theory.claims.judgement import ComparedWith, Decision, Judgement, judged
from dpbayes.theory.claims.setting import Axis, ClaimParameters, EvaluationPoint, Subject, grid, moved

# This mechanism: stated, proved, measured

COARSE = ("0.01", "0.03", "0.1", "0.3", "1", "3", "10", "30", "100")
"""The stops of mechanisms without noise: an audit integrates over their outputs, which takes half a second."""

STEEP = {"type": "log", "exponentformat": "power", "nticks": 5}
"""An axis of probabilities that span many magnitudes."""

LOSS_IN_WORDS = (
    "The privacy loss of an output is the logarithm of how many times more likely it is for one table than for another "
    "that differs in one record. It is in nats, the unit of natural logarithms: a loss of 1 is a factor of 2.7."
)

CURVE = Panel(
    "curve",
    "Which losses are possible?",
    "The privacy curve: delta against epsilon.",
    large=True,
    help=f"{LOSS_IN_WORDS} Stated: the guarantee of the paper. Proved: the one that is proved for the same noise.",
)
WORST = Panel(
    "worst",
    "Where do two tables differ most?",
    "The releases of the worst pair of neighbouring tables.",
    help=LOSS_IN_WORDS,
)


DELTA_TEXT = "δ is the largest share of outputs whose loss may exceed ε."


def audit_view(
    kind: type[Any],
    audited_at: Callable[[float], Audited],
    report_of: Callable[[Audited], AuditReport],
    *,
    is_varied: bool = True,
) -> View:
    """Return the board of a mechanism: the guarantee as stated and as proved, and the measured privacy loss.

    Args:
        kind: The class of the mechanism.
        audited_at: The mechanism at an epsilon, and the sizes of its tables.
        report_of: Computes the audit.
        is_varied: Whether the board has a slider; a slow audit has none.

    Returns:
        A view that follows from public values alone.
    """
    stops = SLIDER.stops if hasattr(kind, "noise_model") else COARSE
    slider = replace(SLIDER, stops=stops) if is_varied else None
    panels = (CURVE, WORST) if any(entry.kind is kind and entry.outputs is None for entry in AUDITS) else ()
    board = Board("audit", "Privacy loss", panels, {}, "1", slider)

    def frames_at(stop: str) -> tuple[Frame, ...]:
        audited = audited_at(float(stop))
        return (_audit_frame(audited, report_of(audited)) if panels else _unaudited_frame(audited),)

    return View(board, frames_at)


def _audit_frame(audited: Audited, report: AuditReport) -> Frame:
    figures, captions = {"curve": _curve(audited, report)}, {"curve": DELTA_TEXT}
    figure, captions["worst"] = _worst(audited, report)
    if figure is not None:
        figures["worst"] = figure
    measured = f"Measured: {_measured(report)}, the worst case of {audited.where}.{_at_zero(report)}"
    numbers = {"exact loss": report.exact} if math.isfinite(report.exact) else {}
    return Frame(audit_verdict(audited, report), figures, (*_guarantees(audited), measured), captions, numbers)


def _unaudited_frame(audited: Audited) -> Frame:
    unknown = "Measured: unknown. The distribution of the releases is not known."
    headline = f"{_begun(audited.name)}: the worst-case privacy loss is not known."
    return Frame(headline, {}, (*_guarantees(audited), unknown))


def _guarantees(audited: Audited) -> tuple[str, str]:
    """State the guarantee as stated and as proved, with the sources."""
    texts = []
    for name, guarantee in (("Stated", audited.claimed), ("Proved", audited.certified)):
        said = f"{guarantee} ({guarantee.reference})" if guarantee.is_private else "no guarantee"
        texts.append(f"{name}: {said}.")
    return texts[0], texts[1]


def _curve(audited: Audited, report: AuditReport) -> Figure:
    promise, proved = audited.promised, report.certified
    return privacy_curve_figure(
        report.curve.epsilons,
        report.curve.deltas,
        report.curve.lower,
        broken=report.broken_at(promise),
        claimed=Mark(promise.epsilon, promise.delta, "stated" if report.claimed.is_private else "ε setting"),
        certified=Mark(proved.epsilon, proved.delta, "proved") if proved.is_private else None,
    )


def _worst(audited: Audited, report: AuditReport) -> tuple[Figure | None, str]:
    """Return the picture of the worst pair, if it has one, and a sentence about it."""
    worst = report.worst
    if worst is None:
        return None, "There is no worst pair, because no record changes the release."
    picture = audited.entry.picture(audited.mechanism, worst, **audited.sizes)
    if picture is None:
        return None, "There are too many outputs to draw."
    if isinstance(picture, TwoLaws):
        y = titled(picture.y, **(STEEP if picture.is_logarithmic else {}))
        return laws_figure(picture.places, picture.first, picture.second, x=picture.x, y=y), picture.caption
    order = np.argsort(-picture.losses)[: picture.most]
    labels = distinct_labels([picture.rows[k] for k in order], 48)
    return row_losses_figure(labels, picture.losses[order]), picture.caption


def _measured(report: AuditReport) -> str:
    """Return the worst-case privacy loss at the stated delta."""
    if math.isinf(report.needed):
        return "unbounded"
    is_exact = report.needed - report.needed_at_least <= 1e-6 * max(1.0, report.needed)
    delta = f", δ = {numeral(report.claimed.delta)}" if report.claimed.delta else ""
    return f"ε {'=' if is_exact else '≤'} {numeral(report.needed, 4)}{delta}"


def _at_zero(report: AuditReport) -> str:
    if not report.claimed.delta or not report.is_exact:
        return ""
    pure = "unbounded" if math.isinf(report.exact) else f"ε = {numeral(report.exact, 4)}"
    return f" At δ = 0 the worst-case privacy loss is {pure}."


def audit_verdict(audited: Audited, report: AuditReport) -> str:
    """Return the finding of an audit: the stated guarantee, and whether it holds.

    Args:
        audited: The mechanism and its tables.
        report: The audit.

    Returns:
        One sentence, or two with the loss that refutes the guarantee.
    """
    name, claim = _begun(audited.name), f"the claim {report.claimed}"
    match report.verdict:
        case AuditVerdict.NO_PROMISE:
            epsilon = numeral(audited.promised.epsilon, 6)
            return f"{name} states no guarantee. At ε = {epsilon} the worst-case privacy loss is {_least_loss(report)}."
        case AuditVerdict.PROVED_AND_TIGHT:
            return f"{name}: {claim} holds and is tight."
        case AuditVerdict.CLAIM_REFUTED:
            return f"{name}: {claim} is refuted. The worst-case privacy loss is {_least_loss(report)}."
        case AuditVerdict.HOLDS:
            return f"{name}: {claim} holds{_spare(report)}."
    return f"{name}: {claim} is neither proved nor refuted."


def _least_loss(report: AuditReport) -> str:
    """Return the loss in four digits, in more where four would make it equal the stated epsilon."""
    least = report.needed_at_least
    if math.isinf(least):
        return "unbounded"
    start = "" if least >= report.needed * (1 - 1e-6) else "at least "
    return f"{start}{distinct_texts(least, report.claimed.epsilon, most=4)[0]}"


def _spare(report: AuditReport) -> str:
    spare = 1 - report.needed / report.claimed.epsilon if report.claimed.epsilon else 0.0
    return f" with {whole_percent(spare)} to spare" if report.is_exact and spare > 0.005 else ""


def _begun(name: str) -> str:
    return name[0].upper() + name[1:]


LOSSES = Panel(
    "losses",
    "Does an output lose more than stated?",
    "The share of simulated outputs above each loss.",
    help=LOSS_IN_WORDS,
)


def outputs_view(audit: AdaptiveAudit, tables: TablePair) -> View:
    """Return the board of an adaptive release: the exact losses of its simulated outputs for two tables.

    Args:
        audit: The losses.
        tables: The two neighbouring tables. If they are private, so is the board.

    Returns:
        A view of one stop.
    """
    claimed, bound, counted = audit.claimed, audit.loss_bound(), audit.lower_bound()
    said = "is refuted" if audit.is_refuted else "is not refuted by simulated outputs"
    confidence = power_of_ten(round(np.log10(DOUBT)))
    notes = (
        f"Stated and proved: {claimed} ({claimed.reference}). At δ > 0, a few outputs may have a loss above ε.",
        f"Measured: the largest simulated loss is {numeral(audit.largest, 4)}. Lower bound for these two tables: "
        f"ε ≥ {numeral(bound, 4)} with confidence 1 − {confidence}; by counting outputs alone, "
        f"{numeral(counted.epsilon, 4)}. The worst case over all tables is not known.",
        tables.description,
        *(("Not private (curator view).",) if tables.private else ()),
    )
    caption = "The loss of an output is ln P[output | table] − ln P[output | other table], computed exactly."
    figure = losses_figure(audit.first, audit.second, claimed=claimed.epsilon)
    frame = Frame(f"Adaptive release: the claim {claimed} {said}.", {"losses": figure}, notes, {"losses": caption})
    board = Board("audit", "Privacy loss", (LOSSES,), {}, private=tables.private)
    return View(board, lambda stop: (frame,))


# The papers' claims: one bound along its axis

TOGETHER = 250
"""The number of cells times epsilons that are evaluated together, which takes a few hundredths of a second."""

PRIOR = Parameter("a", 0.001, 1e9, 1, log=True, title="prior pseudo-count of every cell")
RECORDS = Parameter("n", 1, 10**9, 1000, log=True, whole=True, title="records")

BOUND = Panel(
    "bound",
    "Is the stated bound exceeded?",
    "The bound as stated, as proved and the true values.",
    help="Stated: the number that the paper’s formula gives. Proved: the number that can be proved. The stated line is "
    "red where the true value is above it. Nats are the unit of natural logarithms: for a privacy loss, 1 is a factor "
    "of 2.7 between two probabilities; for a KL divergence, 0 means equal distributions.",
)


def axis_parameter(axis: Axis) -> Parameter:
    """Return the description of the number on an axis, whose name in settings is the control of the axis.

    Args:
        axis: The axis of a claim.

    Returns:
        Its range and symbol.
    """
    own = {Axis.EPSILON: EPSILON, Axis.PRIOR: PRIOR, Axis.RECORDS: RECORDS}
    if axis in own:
        return own[axis]
    parameter = parameters_of(ClaimParameters)[axis.field]
    assert isinstance(parameter, Parameter)
    return parameter


@dataclass(frozen=True, eq=False)
class ClaimInputs:
    """What the board of a claim is computed from.

    Attributes:
        exhibit: The claim with its bound.
        subject: The network, the prior and, for a curator, the counts.
        at: All parameters of the bound.
        axis: The horizontal axis, whose number the slider varies.
    """

    exhibit: Exhibit
    subject: Subject
    at: EvaluationPoint
    axis: Axis

    @property
    def is_public(self) -> bool:
        """Whether the board depends on public values only."""
        return self.exhibit.uses.is_public_for(self.subject)

    @cached_property
    def stops(self) -> tuple[str, ...]:
        """The points of the axis: the stops of the slider."""
        whole = axis_parameter(self.axis).whole
        points = {round(x) if whole else float(f"{x:.3g}") for x in grid(self.subject, self.axis)}
        return tuple(stop_text(x) for x in sorted(points))

    @cached_property
    def curve(self) -> "Evaluation":
        """The bound at all points of the axis. Errors: InputError where it cannot be evaluated."""
        together = max(1, TOGETHER // self.subject.network.cell_count) if self.axis is Axis.EPSILON else 1
        parts = [self.evaluated(*self.stops[part]) for part in slices(len(self.stops), together)]
        measured = _joined_measured([part.measured for part in parts])
        return replace(parts[0], x=self.stops, bound=joined([part.bound for part in parts]), measured=measured)

    def point(self, stop: str) -> tuple[Subject, EvaluationPoint]:
        """Return the subject and all parameters at a stop. Errors: InputError for a number out of range."""
        return moved(self.subject, self.at, self.axis, axis_parameter(self.axis).checked(self.axis.symbol, stop))

    def evaluated(self, *stops: str) -> "Evaluation":
        """Return the bound at one stop, or at several epsilons. Errors: InputError where it cannot be evaluated."""
        subject, at = self.point(stops[0])
        if self.axis is Axis.EPSILON:
            at = replace(at, epsilon=tuple(map(float, stops)))
        bound = self.exhibit.bound(subject, at)
        return Evaluation(self, stops, subject, at, bound, self.exhibit.measure(subject, at, bound))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """A bound and the bounded quantity at one point of the axis, or at several (E,)."""

    inputs: ClaimInputs
    x: tuple[str, ...]
    subject: Subject
    at: EvaluationPoint
    bound: Bound
    measured: Measured

    @property
    def exhibit(self) -> Exhibit:
        """The claim with its bound."""
        return self.inputs.exhibit

    @property
    def claim(self) -> Claim:
        """The claim."""
        return self.exhibit.claim

    @property
    def judgement(self) -> Judgement:
        """What is decided of the bound at the first point."""
        return judged(self.exhibit.says, self.bound, self.measured)


SERIES = ("exact", "value", "low", "high", "exceeded", "violated")


def _joined_measured(parts: list[Measured]) -> Measured:
    together: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in SERIES}
    return replace(parts[0], **together)


def claim_view(inputs: ClaimInputs) -> View:
    """Return the board of a claim: its bound as stated and as proved, and the true values, along an axis.

    Args:
        inputs: The claim and its setting.

    Returns:
        A view whose stops are points of the axis. Its headline never contradicts the verdict on the claim.
    """
    parameter = axis_parameter(inputs.axis)
    slider = Slider(inputs.axis.control, inputs.axis.title, inputs.stops, parameter.low, parameter.high)
    title = inputs.exhibit.claim.title
    board = Board("claim", title, (BOUND,), {}, inputs.stops[0], slider, private=not inputs.is_public)
    return View(board, lambda stop: (_claim_frame(inputs, stop),))


def _claim_frame(inputs: ClaimInputs, stop: str) -> Frame:
    inputs.exhibit.limit(*inputs.point(stop))
    here = inputs.evaluated(stop)
    return Frame(
        finding(here), {"bound": _bound_picture(inputs.curve, here)}, _claim_notes(here), {"bound": _values(here)}
    )


def _bound_picture(curve: Evaluation, here: Evaluation) -> Figure:
    bound, measured = curve.bound, curve.measured
    curves = BoundCurves(
        x=np.array(curve.x, dtype=np.float64),
        printed=bound.printed,
        certified=bound.certified,
        violated=measured.violated,
        exact=measured.exact,
        value=measured.value,
        low=measured.low,
        high=measured.high,
        exact_name=measured.exact_name,
        name=measured.name,
    )
    marks = {"stated": float(here.bound.printed[0]), "proved": float(here.bound.certified[0])}
    return bound_figure(
        curves, x_title=curve.inputs.axis.title, y_title=curve.exhibit.unit, chosen=(float(here.x[0]), marks)
    )


def _values(here: Evaluation) -> str:
    """Return all values at a point by name."""
    bound, measured = here.bound, here.measured
    series = {
        "as stated in the paper": bound.printed,
        "proved": bound.certified,
        measured.exact_name: measured.exact,
        measured.name: measured.value,
    }
    text = ", ".join(f"{name} {shown_as(float(values[0]))}" for name, values in series.items() if name)
    return f"{text[0].upper()}{text[1:]} ({here.exhibit.unit})."


def _claim_notes(here: Evaluation) -> tuple[str, ...]:
    measured, notes = here.measured, []
    if failing := [condition.text.rstrip(".") for condition in here.bound.assumptions if not condition.holds]:
        notes.append(f"A condition of the claim does not hold here: {'; '.join(failing)}.")
    if measured.releases:
        notes.append(
            f"Simulated: {measured.releases:,} {here.exhibit.trials} with a fixed seed. Bars are 95% intervals."
        )
    if measured.note:
        notes.append(measured.note)
    is_private = not here.inputs.is_public
    if here.inputs.axis is Axis.RECORDS and is_private:
        notes.append("For other values of n, the counts keep the proportions of the table.")
    notes.append("Not private (curator view)." if is_private else "Nothing here depends on the counts.")
    return tuple(notes)


# The finding about a claim

GENERAL = {
    Verdict.HOLDS: "holds",
    Verdict.LOOSE: "holds",
    Verdict.AMENDED: "holds with a correction",
    Verdict.FALSE: "fails",
    Verdict.VACUOUS: "is true but vacuous",
    Verdict.UNCLEAR: "cannot be checked as stated",
}
"""The verdict on a claim as the beginning of every sentence about it."""


def finding(here: Evaluation) -> str:
    """Return the verdict on a claim, what its bound states at a setting, and what it is compared with.

    Args:
        here: The bound at one setting.

    Returns:
        One sentence with at most two numbers.
    """
    judgement, printed = here.judgement, float(here.bound.printed[0])
    proved, start = _number(here, float(here.bound.certified[0])), _start(here)
    match judgement.decision:
        case Decision.NO_NUMBER:
            return f"{start}: it gives no number here; {proved} is proved."
        case Decision.EMPTY:
            size = numeral(printed) if math.isfinite(printed) else "above 10³⁰⁸"
            return f"{start}: here it bounds a probability{_probability(here)} by {size}."
        case Decision.UNCERTIFIED:
            return f"{start}: it states {_amount(here, printed)}; no bound is proved here."
        case Decision.UNPROVED:
            return f"{start}: it states {_amount(here, printed)}, but only {proved} is proved."
    if here.exhibit.says is BoundKind.QUANTILE and judgement.is_exceeded:
        share = percent_or_power(float(here.measured.exceeded[0]))
        allowed = percent_or_power(here.at.knobs.delta)
        return f"{start}: {share} of simulated {here.exhibit.trials} exceed its bound, which allows {allowed}."
    label, value = _compared_with(here)
    digits = _digits(here, printed, value)
    joint = "but" if judgement.is_exceeded else "and"
    return f"{start}: it states {_amount(here, printed, digits)}, {joint} {label} is {_number(here, value, digits)}."


def _start(here: Evaluation) -> str:
    """Return the claim with its verdict, and what was decided of it at this setting."""
    part = here.exhibit.part(here.subject)
    start = f"{here.claim.reference.in_words}{f', {part},' if part else ''} {GENERAL[here.claim.verdict]}"
    match here.judgement.decision:
        case Decision.UNFOUNDED:
            return f"{start} and is exceeded outside its conditions"
        case Decision.OURS_EXCEEDED:
            return f"{start} and is exceeded with {here.claim.ours}, which the paper leaves open"
        case Decision.TIGHT if here.claim.verdict in (Verdict.HOLDS, Verdict.LOOSE):
            return f"{start} and is tight here"
        case Decision.HOLDS | Decision.TIGHT if here.claim.verdict is Verdict.FALSE:
            return f"{start}, but not at this setting"
    return start


def _compared_with(here: Evaluation) -> tuple[str, float]:
    """Return what the stated bound is compared with, and its value: exact, else simulated, else proved."""
    measured, kind = here.measured, here.exhibit.says
    exact, simulated = float(measured.exact[0]), float(measured.value[0])
    if here.judgement.beside is ComparedWith.CERTIFIED:
        return "the proved bound", float(here.bound.certified[0])
    if kind is BoundKind.QUANTILE:
        return "the simulated quantile", simulated
    if kind is BoundKind.CHANCE and not math.isfinite(exact):
        return "the simulated share", simulated
    return f"the {measured.exact_name}", exact


def _probability(here: Evaluation) -> str:
    """Return the probability that is bounded, behind "a probability": exact, else simulated, else nothing."""
    series = (float(here.measured.exact[0]), float(here.measured.value[0]))
    return next((f" of {_number(here, value)}" for value in series if math.isfinite(value)), "")


def shown_as(value: float) -> str:
    """Return a number in words where there is none, or no finite one."""
    if math.isnan(value):
        return "unknown"
    return numeral(value) if math.isfinite(value) else "infinite"


def percent_or_power(share: float, most: int = 3) -> str:
    """Return a probability in percent; a tiny one as a power of ten."""
    if 0 < share < 1e-5:
        return numeral(share, most - 1)
    return in_percent(share, max(most, 4 if share > 0.99 else 3)).replace(" ", "")


def _number(here: Evaluation, value: float, most: int = 3) -> str:
    is_probability = here.exhibit.says is BoundKind.CHANCE
    if is_probability and value == 0:
        return "less than 10⁻³⁰⁰"
    if not math.isfinite(value):
        return "no finite number"
    return percent_or_power(value, most) if is_probability else numeral(value, most)


def _amount(here: Evaluation, value: float, most: int = 3) -> str:
    text = here.exhibit.amount.format(_number(here, value, most))
    return text.removesuffix("s") if text.endswith(" 1 nats") else text


def _digits(here: Evaluation, printed: float, true: float) -> int:
    """Return how many digits show that what exceeds the stated bound does: three, unless both would read the same."""
    if not here.judgement.is_exceeded:
        return 3
    return next((k for k in range(3, 6) if _number(here, printed, k) != _number(here, true, k)), 6)


def claim_verdict(claim: Claim, examples: tuple[Counterexample, ...]) -> str:
    """Return the verdict on a claim without a bound to draw, with the numbers of the first counterexample.

    Args:
        claim: The claim.
        examples: The counterexamples to it.

    Returns:
        One sentence.
    """
    start = f"{claim.reference.in_words} {GENERAL[claim.verdict]}"
    if not examples:
        return f"{start}."
    first = examples[0]
    return (
        f"{start}: it states {shown_as(first.printed)}, but the true value is {shown_as(first.truth)} ({first.unit})."
    )
