"""Proofs: the privacy loss of one mechanism as stated, proved and measured, and the claims of the papers.

An audit follows from public values alone. The bound of a claim may need the counts of a table: its board is then not
private.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpbayes.audit.adaptive import AdaptiveAudit
from dpbayes.audit.draws import DOUBT
from dpbayes.audit.entry import TablePair
from dpbayes.audit.registry import AUDITS, Audited
from dpbayes.audit.report import AuditReport, AuditVerdict
from dpbayes.base.text import distinct_texts, numeral, power_of_ten, whole_percent
from dpbayes.boards.board import Board, Frame, Panel, Slider, View
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.claims import ClaimInputs, Evaluation, axis_parameter, finding, shown_as
from dpbayes.figures.audit import Mark, laws_figure, losses_figure, privacy_curve_figure
from dpbayes.figures.claims import BoundCurves, bound_figure
from dpbayes.figures.style import Figure, titled

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
    y = titled(picture.y, **(STEEP if picture.is_logarithmic else {}))
    return laws_figure(picture.places, picture.first, picture.second, x=picture.x, y=y), picture.caption


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
    claimed, bound = audit.claimed, audit.loss_bound()
    said = "is refuted" if audit.is_refuted else "is not refuted by simulated outputs"
    confidence = power_of_ten(round(np.log10(DOUBT)))
    notes = (
        f"Stated and proved: {claimed} ({claimed.reference}). At δ > 0, a few outputs may have a loss above ε.",
        f"Measured: the largest simulated loss is {numeral(audit.largest, 4)}. Lower bound for these two tables: "
        f"ε ≥ {numeral(bound, 4)} with confidence 1 − {confidence}. The worst case over all tables is not known.",
        tables.description,
        *(("Not private (curator view).",) if tables.private else ()),
    )
    caption = "The loss of an output is ln P[output | table] − ln P[output | other table], computed exactly."
    figure = losses_figure(audit.first, audit.second, claimed=claimed.epsilon)
    frame = Frame(f"Adaptive release: the claim {claimed} {said}.", {"losses": figure}, notes, {"losses": caption})
    board = Board("audit", "Privacy loss", (LOSSES,), {}, private=tables.private)
    return View(board, lambda stop: (frame,))


# The papers' claims: one bound along its axis

BOUND = Panel(
    "bound",
    "Is the stated bound exceeded?",
    "The bound as stated, as proved and the true values.",
    help="Stated: the number that the paper’s formula gives. Proved: the number that can be proved. The stated line is "
    "red where the true value is above it. Nats are the unit of natural logarithms: for a privacy loss, 1 is a factor "
    "of 2.7 between two probabilities; for a KL divergence, 0 means equal distributions.",
)


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
    if here.inputs.has_moving_table:
        notes.append("For other values of n, the counts keep the proportions of the table.")
    notes.append("Not private (curator view)." if is_private else "Nothing here depends on the counts.")
    return tuple(notes)
