"""Proofs: the privacy loss of one mechanism as stated, proved and computed, and the claims of the papers.

An audit follows from public values alone. The bound of a claim may need the counts of a table: its board is then not
private.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpbayes.audit.adaptive import AdaptiveAudit
from dpbayes.audit.entry import TablePair
from dpbayes.audit.pictures import TwoLaws
from dpbayes.audit.registry import AUDITS, Audited
from dpbayes.audit.report import SLACK, AuditReport, AuditVerdict
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import MOST_LOSS, factor_text, numeral
from dpbayes.boards.board import Board, Frame, Panel, Slider, View, distinct_texts
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.claims import (
    ClaimInputs,
    ClaimShown,
    Evaluation,
    amount_of,
    axis_parameter,
    claim_of,
    claim_verdict,
    compared_with,
    failures_of,
    finding,
)
from dpbayes.figures.audit import LossBar, laws_figure, losses_figure, privacy_curve_figure, verdict_figure
from dpbayes.figures.claims import BoundCurves, bound_figure
from dpbayes.figures.style import Figure, positive_range, powers_axis, titled

# This mechanism: stated, proved, computed

COARSE = ("0.01", "0.03", "0.1", "0.3", "1", "3", "10", "30", "100")
"""The stops of mechanisms without noise: an audit integrates over their outputs, which takes half a second."""

FACTOR_IN_WORDS = (
    "How many times more likely a release is for one table than for another that differs in one record. The privacy "
    "loss ε is the natural logarithm of this factor: ε = 1 is a factor of 2.72."
)

LIMIT = Panel(
    "verdict",
    "How much more likely can one changed record make a release?",
    "The factor as stated, as proved, and as computed for the worst pair of tables.",
    large=True,
    help=f"{FACTOR_IN_WORDS} Green is within the stated factor (the dotted line), red is above it. Where the paper "
    "states none, it is that of the setting.",
)
WORST = Panel(
    "worst",
    "How different are the releases of two such tables?",
    "The releases of the worst pair of neighbouring tables.",
    help="First and second table: two tables that differ in one record, chosen so that the privacy loss is largest. "
    "They are named under “Formula, assumptions and sources”.",
)
CURVE = Panel(
    "curve",
    "Which factor holds, apart from rare cases?",
    "The privacy curve: delta against epsilon.",
    help="(ε, δ)-differential privacy: for every set of outputs, the probability under one table is at most exp(ε) "
    "times the probability under the other table, plus δ.",
)

DELTA_TEXT = "With one changed record, every set of releases is at most this factor as likely, plus δ."


def audit_view(
    kind: type[Any],
    audited_at: Callable[[float], Audited],
    report_of: Callable[[Audited], AuditReport],
    *,
    is_varied: bool = True,
    answer: str = "",
) -> View:
    """Return the board of a mechanism: the guarantee as stated and as proved, and the computed privacy loss.

    Args:
        kind: The class of the mechanism.
        audited_at: The mechanism at an epsilon, and the sizes of its tables.
        report_of: Computes the audit.
        is_varied: Whether the board has a slider; a slow audit has none.
        answer: The headline of an example: its question and the answer.

    Returns:
        A view that follows from public values alone.
    """
    stops = SLIDER.stops if hasattr(kind, "noise_model") else COARSE
    slider = replace(SLIDER, stops=stops) if is_varied else None
    entry = next((entry for entry in AUDITS if entry.kind is kind and entry.outputs is None), None)
    panels = () if entry is None else (LIMIT, WORST, CURVE) if entry.picture else (LIMIT, CURVE)
    board = Board("audit", "Privacy loss", panels, {}, "1", slider)

    def frames_at(stop: str) -> tuple[Frame, ...]:
        audited = audited_at(float(stop))
        if panels:
            frame = _audit_frame(audited, report_of(audited))
            return (replace(frame, headline=answer, notes=(frame.headline, *frame.notes)) if answer else frame,)
        return (Frame(f"The worst-case privacy loss of {audited.name} is not known.", {}, (_sources(audited),)),)

    return View(board, frames_at)


def _audit_frame(audited: Audited, report: AuditReport) -> Frame:
    figures = {"verdict": _limit(audited, report), "curve": _curve(audited, report)}
    computed = f"Computed: the largest factor of all pairs of tables that differ in one record, {audited.where}."
    captions = {"verdict": f"{computed} {_sources(audited)}", "curve": DELTA_TEXT}
    if audited.entry.picture is not None:
        figure, captions["worst"] = _worst(audited, report, audited.entry.picture)
        figures |= {"worst": figure} if figure else {}
    shown = report.needed_at_least if report.verdict is AuditVerdict.CLAIM_REFUTED else report.needed
    numbers = {"factor": math.exp(shown)} if shown < MOST_LOSS else {}
    return Frame(_in_plain_words(audited, report), figures, (audit_verdict(audited, report),), captions, numbers)


def _in_plain_words(audited: Audited, report: AuditReport) -> str:
    """Return by which factor one changed record changes the probability of a release, and which one is allowed."""
    claim = _limit_of(audited, report)
    said = "the proved" if claim is not report.claimed else "the stated" if claim.is_private else "the chosen"
    epsilon = claim.epsilon if claim.is_private else audited.promised.epsilon
    least, most, allowed = (factor_text(x) for x in (report.needed_at_least, report.needed, epsilon))
    if report.needed_at_least > epsilon * (1 + SLACK):
        return f"One changed record can make a release {least} times as likely; {said} ε allows {allowed} times."
    delta = ", apart from rare cases (δ)" if claim.delta else ""
    allows = f", as {said} ε allows" if most == allowed else f"; {said} ε allows {allowed} times"
    return f"One changed record makes a release at most {most} times as likely{delta}{allows}."


def _sources(audited: Audited) -> str:
    """Name where the guarantee is stated and where it is proved."""
    pairs = (("Stated", audited.claimed), ("Proved", audited.certified))
    texts = [f"{name}: {one.reference.cited}." for name, one in pairs if one.is_private]
    return " ".join(texts) or "No guarantee is stated or proved."


def _limit(audited: Audited, report: AuditReport) -> Figure:
    """Draw what is stated, proved and computed on one axis."""
    claim, proved = report.claimed, report.certified
    least, most = report.needed_at_least, report.needed
    none = LossBar("Stated in the paper", 0.0, 0.0, "no guarantee")
    rows = [_bar(none.name, claim) if claim.is_private else none]
    if proved.is_private:
        rows.append(_bar("Proved", proved))
    delta = f", δ = {numeral(claim.delta)}" if claim.delta else ""
    loss = loss_text(report)
    equals = "= " if loss[0].isdigit() else ""
    is_range = most - least > 1e-6 * max(1.0, most)
    times = f"{factor_text(least)} to {factor_text(most)}" if is_range else factor_text(least)
    rows.append(LossBar("Computed", least, most, f"{times} times", f"(ε {equals}{loss}{delta})"))
    limit = _limit_of(audited, report)
    return verdict_figure(rows, limit=limit.epsilon if limit.is_private else audited.promised.epsilon)


def _bar(name: str, claim: Guarantee) -> LossBar:
    """Return the bar of a guarantee: its factor, and its numbers in brackets."""
    return LossBar(name, claim.epsilon, claim.epsilon, f"{factor_text(claim.epsilon)} times", f"({claim})")


def _limit_of(audited: Audited, report: AuditReport) -> Guarantee:
    """Return the stated guarantee, or the proved one that a repaired mechanism keeps in place of the stated formula."""
    proved, claim, epsilon = report.certified, report.claimed, getattr(audited.mechanism, "epsilon", math.inf)
    return proved if proved.epsilon == epsilon != claim.epsilon and claim.is_private else claim


def _curve(audited: Audited, report: AuditReport) -> Figure:
    limit = _limit_of(audited, report)
    return privacy_curve_figure(
        report.curve.epsilons,
        report.curve.deltas,
        report.curve.lower,
        broken=report.broken_at(limit),
        claimed=(limit.epsilon, limit.delta) if limit.is_private else None,
        name="stated" if limit is report.claimed else "proved",
    )


def _worst(audited: Audited, report: AuditReport, drawn: Callable[..., TwoLaws | None]) -> tuple[Figure | None, str]:
    """Return the picture of the worst pair, if it has one, and a sentence about it."""
    worst = report.worst
    if worst is None:
        return None, "There is no worst pair, because no record changes the release."
    picture = drawn(audited.mechanism, worst, **audited.sizes)
    if picture is None:
        return None, "There are too many outputs to draw."
    y = titled(picture.y, rangemode="tozero")  # at a small ε, the curves are hardly apart
    if picture.is_logarithmic:
        least, most = positive_range(picture.first, picture.second)
        y = powers_axis(picture.y, np.log10(least), np.log10(most) + 0.2)
    tables = f": {worst.first} and {worst.second}" if len(worst.first) < 20 else ""
    caption = f"Two tables that differ in one record{tables}. {picture.caption}".strip()
    if picture.part:
        times, total = report.exact / picture.part, factor_text(report.exact)
        caption += f" For one released value, they differ at most {factor_text(picture.part)}-fold."
        caption += f" {times:,.0f} values change: in all, {total}-fold." if abs(times - round(times)) < 1e-6 else ""
    return laws_figure(picture.places, picture.first, picture.second, x=picture.x, y=y), caption


def loss_text(report: AuditReport) -> str:
    """Return the worst-case privacy loss at the stated delta: a number, or the two numbers between which it lies.

    It has four digits, or more where four would make it equal the stated epsilon.
    """
    least, most = report.needed_at_least, report.needed
    if math.isinf(least):
        return "unbounded"
    if not least:
        return f"at most {numeral(most, 4)}" if most else "0"
    low = distinct_texts(least, report.claimed.epsilon, most=4)[0]
    if most - least <= 1e-6 * max(1.0, most):
        return low
    return f"between {low} and {numeral(most, 4)}" if math.isfinite(most) else f"at least {low}"


def audit_verdict(audited: Audited, report: AuditReport) -> str:
    """Return the finding of an audit: the stated guarantee, and whether it holds.

    Args:
        audited: The mechanism and its tables.
        report: The audit.

    Returns:
        One sentence.
    """
    name, claim, proved = f"{audited.name[0].upper()}{audited.name[1:]}", report.claimed, report.certified
    if _limit_of(audited, report) is not claim:
        return f"{name}, repaired: the proved {proved} holds; the paper’s formula gives {claim}."
    match report.verdict:
        case AuditVerdict.NO_PROMISE:
            epsilon = numeral(audited.promised.epsilon, 6)
            return f"{name}: no guarantee is stated. At ε = {epsilon} the privacy loss is {loss_text(report)}."
        case AuditVerdict.CLAIM_REFUTED:
            return f"{name}: {claim} does not hold. The privacy loss is {loss_text(report)}."
        case AuditVerdict.PROVED_AND_TIGHT:
            return f"{name}: the stated {claim} holds and cannot be made smaller."
        case AuditVerdict.HOLDS if proved.epsilon < claim.epsilon:
            return f"{name}: the stated {claim} holds with a margin: {proved} is proved."
        case AuditVerdict.HOLDS if proved.epsilon > claim.epsilon:
            return f"{name}: the stated {claim} holds for these tables; in general, {proved} is proved."
        case AuditVerdict.HOLDS:
            return f"{name}: the stated {claim} holds."
    return f"{name}: the stated {claim} is neither proved nor refuted."


LOSSES = Panel(
    "losses",
    "How different were simulated releases of two tables?",
    "The share of simulated releases above each factor.",
    help=FACTOR_IN_WORDS,
)


def outputs_view(audit: AdaptiveAudit, tables: TablePair) -> View:
    """Return the board of an adaptive release: the exact losses of its simulated outputs for two tables.

    Args:
        audit: The losses.
        tables: The two neighbouring tables.

    Returns:
        A view of one stop.
    """
    claimed, releases = audit.claimed, len(audit.first)
    largest, allowed = factor_text(audit.largest), factor_text(claimed.epsilon)
    rare, shows = "", "A larger factor than the proved one would refute the proof."
    if claimed.delta:
        rare = ", apart from rare cases (δ)"
        shows = "A few may have a larger factor: the rare cases. So few releases cannot show how rare these are."
    said = f"It is proved that one changed record makes a release at most {allowed} times as likely{rare}."
    if audit.is_refuted:
        said = f"The stated {claimed} is refuted: one changed record made a release {largest} times as likely."
    rows = [_bar("Proved", claimed), LossBar("Largest simulated", audit.largest, audit.largest, f"{largest} times")]
    notes = (
        f"The proof covers the choice of the graph and its tables together. Simulated: {releases:,} releases of each "
        f"of two made-up tables. {shows}",
    )
    figures = {
        "verdict": verdict_figure(rows, limit=claimed.epsilon),
        "losses": losses_figure(audit.first, audit.second, claimed=claimed.epsilon),
    }
    frame = Frame(said, figures, notes, {"losses": tables.description})
    board = Board("audit", "Privacy loss", (LIMIT, LOSSES), {})
    return View(board, lambda stop: (frame,))


# The papers' claims: one bound along its axis

BOUND = Panel(
    "bound",
    "Is the stated bound large enough?",
    "The bound as stated, as proved and the true values.",
    help="Stated: the number that the paper’s formula gives. Proved: a number that no true value exceeds. The stated "
    "line is red where a true value is above it. A KL divergence of 0 means equal distributions.",
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


def example_view(shown: ClaimShown) -> View:
    """Return the board of a claim with a counterexample and no bound to draw: the values of the example.

    Args:
        shown: The claim.

    Returns:
        A view of one stop.
    """
    claim, (example, *_) = claim_of(shown), failures_of(shown)
    values, texts = (example.printed, example.truth), distinct_texts(example.printed, example.truth, most=3)
    rows = [LossBar(*row) for row in zip(("Stated in the paper", "True value"), values, values, texts, strict=True)]
    figure = verdict_figure(rows, limit=example.printed, title=example.unit)
    panel = Panel("example", "How far is the true value from the stated one?", "The stated and the true value.")
    frame = Frame(claim_verdict(claim, example), {"example": figure})
    return View(Board("claim", claim.title, (panel,), {}), lambda _: (frame,))


def _claim_frame(inputs: ClaimInputs, stop: str) -> Frame:
    inputs.exhibit.limit(*inputs.point(stop))
    here = inputs.evaluated(stop)
    return Frame(finding(here), {"bound": _bound_picture(inputs.curve, here)}, (), {"bound": _claim_caption(here)})


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
    (name, value), proved = compared_with(here), float(here.bound.certified[0])
    series = {"stated": float(here.bound.printed[0]), name.removeprefix("the ").partition(" of ")[0]: value}
    series |= {"proved": proved} if proved != value else {}
    marks = {f"{name} {amount_of(here, value, here.digits)}": value for name, value in series.items()}
    return bound_figure(
        curves, x_title=curve.inputs.axis.title, y_title=curve.exhibit.unit, chosen=(float(here.x[0]), marks)
    )


def _claim_caption(here: Evaluation) -> str:
    measured, notes = here.measured, [here.measured.note]
    if measured.releases:
        notes.insert(
            0, f"Simulated: {measured.releases:,} {here.exhibit.trials} with a fixed seed; bars: 95% intervals."
        )
    if here.inputs.has_moving_table:
        notes.append("For other values of n, the counts keep the proportions of the table.")
    notes.append("" if here.inputs.is_public else "Not private (curator view).")
    return " ".join(filter(None, notes))
