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
from dpbayes.audit.report import SLACK, AuditReport, AuditVerdict, WorstCase
from dpbayes.audit.risk import belief_sentence
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
from dpbayes.figures.style import Figure, titled

# This mechanism: stated, proved, computed

COARSE = ("0.01", "0.03", "0.1", "0.3", "1", "3", "10", "30", "100")
"""The stops of mechanisms without noise: an audit integrates over their outputs, which takes half a second."""

FACTOR_IN_WORDS = (
    "How many times more likely a release is for one table than for another that differs in one record. The privacy "
    "loss ε is the natural logarithm of this factor: ε = 1 is a factor of 2.72."
)

LIMIT = Panel(
    "verdict",
    "Does the stated ε hold?",
    "The factor as stated, as proved, and as computed for the worst pair of tables.",
    large=True,
    help=f"{FACTOR_IN_WORDS} Green is within the allowed factor (the dotted line), red is above it; a hollow bar "
    "holds, and is larger than needed. Where the paper states no factor, that of the setting is allowed.",
)
WORST = Panel(
    "worst",
    "How well is one record hidden?",
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
    computed = f"Computed: the worst pair of all tables that differ in one record, {audited.where}."
    captions = {"verdict": f"{computed} {_sources(audited)}", "curve": DELTA_TEXT}
    worst, drawn = report.worst, audited.entry.picture
    if drawn and worst and (picture := drawn(audited.mechanism, worst, **audited.sizes)):
        y = titled(picture.y, rangemode="tozero")  # at a small ε, the curves are hardly apart
        figures["worst"] = laws_figure(picture.places, picture.first, picture.second, x=picture.x, y=y)
        captions["worst"] = _about_the_pair(picture, worst, report.at_least)
    shown = report.needed_at_least if report.verdict is AuditVerdict.CLAIM_REFUTED else report.needed
    numbers = {"factor": math.exp(shown)} if shown < MOST_LOSS else {}
    notes = _finding(audited, report)[0], belief_sentence(Guarantee(report.needed, report.claimed.delta))
    return Frame(_in_plain_words(audited, report), figures, notes, captions, numbers)


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
    claim, proved, allowed = report.claimed, report.certified, _limit_of(audited, report)
    limit = allowed.epsilon if allowed.is_private else audited.promised.epsilon
    rows = [LossBar("Stated", 0.0, 0.0, "no guarantee")]
    if claim.is_private:
        rows = [_bar("Stated", claim, *_finding(audited, report)[1:])]
    if proved.is_private and report.verdict is AuditVerdict.PROVED_AND_TIGHT:
        rows = [replace(rows[0], name="Stated and proved")]
    elif proved.is_private:
        is_small = proved.epsilon <= limit * (1 + SLACK)
        rows.append(_bar("Proved", proved, *(("holds", "holds") if is_small else ("open", "more than stated"))))
    return verdict_figure([*rows, _computed(report, limit)], limit=limit)


def _computed(report: AuditReport, limit: float) -> LossBar:
    """Return the bar of the worst pair, with how many times the allowed factor it is."""
    least, most = report.needed_at_least, report.needed
    is_range = most - least > 1e-6 * max(1.0, most)
    text = f"{factor_text(least)} to {factor_text(most)}" if is_range else factor_text(least)
    verdict = ("holds", "allowed") if most <= limit * (1 + SLACK) else ("open", "open")
    if least > limit * (1 + SLACK):
        times = math.exp(min(least - limit, MOST_LOSS))
        verdict = ("fails", f"{numeral(times)} × too much" if times >= 2 else "too much")
    return LossBar("Computed", least, most, f"{text} times", *verdict)


def _bar(name: str, claim: Guarantee, verdict: str = "open", finding: str = "") -> LossBar:
    """Return the bar of a guarantee: its factor, and its δ in brackets."""
    delta = f", δ = {numeral(claim.delta)}" if claim.delta else ""
    return LossBar(name, claim.epsilon, claim.epsilon, f"{factor_text(claim.epsilon)} times{delta}", verdict, finding)


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


def _about_the_pair(picture: TwoLaws, worst: WorstCase, loss: float) -> str:
    """Return what the picture of the worst pair shows; of one of several numbers, also its part of the `loss`."""
    tables = f": {worst.first} and {worst.second}" if len(worst.first) < 20 else ""
    caption = f"Two tables that differ in one record{tables}. The more they overlap, the better it is hidden."
    caption = f"{caption} {picture.caption}".strip()
    if 0 < picture.part < loss * (1 - 1e-9):
        times = loss / picture.part
        count = f"{times:,.0f} " if abs(times - round(times)) < 1e-6 else ""
        caption += f" One of the {count}released numbers that it changes: at most {factor_text(picture.part)} times as "
        caption += f"likely. The factors of all {count}multiply to {factor_text(loss)}."
    return caption


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


def _finding(audited: Audited, report: AuditReport) -> tuple[str, str, str]:
    """Return whether the stated guarantee holds: as a sentence, as one of the VERDICTS of bars, and in a few words."""
    name, claim, proved = f"{audited.name[0].upper()}{audited.name[1:]}", report.claimed, report.certified
    is_repaired = _limit_of(audited, report) is not claim
    match report.verdict:
        case AuditVerdict.NO_PROMISE:
            loss = f"At ε = {numeral(audited.promised.epsilon, 6)} the privacy loss is {loss_text(report)}."
            return f"{name}: no guarantee is stated. {loss}", "open", ""
        case AuditVerdict.CLAIM_REFUTED if is_repaired:
            repaired = f"{name}, repaired: the proved {proved} holds; the paper’s formula gives {claim}, too little."
            return repaired, "fails", "does not hold"
        case AuditVerdict.CLAIM_REFUTED:
            return f"{name}: {claim} does not hold. The privacy loss is {loss_text(report)}.", "fails", "does not hold"
        case AuditVerdict.PROVED_AND_TIGHT:
            said = f"{name}: the stated {claim} holds and cannot be made smaller."
            return said, "holds", "holds"
        case AuditVerdict.HOLDS if proved.epsilon < claim.epsilon:
            said = f"{name}: the paper’s formula gives {claim}, which holds; {proved} is enough."
            return said, "loose", "holds, more than needed"
        case AuditVerdict.HOLDS if proved.epsilon > claim.epsilon:
            said = f"{name}: the stated {claim} holds for these tables; in general, {proved} is proved."
            return said, "open", "holds for these tables"
        case AuditVerdict.HOLDS:
            return f"{name}: the stated {claim} holds.", "holds", "holds"
    return f"{name}: the stated {claim} is neither proved nor refuted.", "open", "not proved"


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
    verdict = "fails" if audit.is_refuted else "holds"
    rows = [
        _bar("Proved", claimed, verdict, "does not hold" if audit.is_refuted else "holds"),
        LossBar("Largest simulated", audit.largest, audit.largest, f"{largest} times", verdict),
    ]
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
    rows = [LossBar(*row) for row in zip(("Stated", "True value"), values, values, texts, strict=True)]
    figure = verdict_figure(rows, limit=example.printed, title=example.unit)
    panel = Panel("example", "How far is the true value from the stated one?", "The stated and the true value.")
    frame = Frame(claim_verdict(claim, example), {"example": figure})
    return View(Board("claim", claim.title, (panel,), {}), lambda _: (frame,))


def _claim_frame(inputs: ClaimInputs, stop: str) -> Frame:
    inputs.exhibit.limit(*inputs.point(stop))
    here = inputs.evaluated(stop)
    return Frame(finding(here), {"bound": _bound_picture(inputs.curve, here)}, (), {"bound": _claim_caption(here)})


def _bound_picture(curve: Evaluation, here: Evaluation) -> Figure:
    bound, drawn = curve.bound, ("violated", "exact", "value", "low", "high", "exact_name", "name")
    measured = {name: getattr(curve.measured, name) for name in drawn}
    curves = BoundCurves(np.array(curve.x, dtype=np.float64), bound.printed, bound.certified, **measured)
    name, value = compared_with(here)
    stated = float(here.bound.printed[0])
    larger = value / stated if here.judgement.is_exceeded and stated > 0 else math.nan
    times = f" ({numeral(larger, 2)} × stated)" if 1.1 < larger < math.inf else ""
    series = {"stated": (stated, ""), name.removeprefix("the ").partition(" of ")[0]: (value, times)}
    marks = {f"{name} {amount_of(here, y, here.digits)}{more}": y for name, (y, more) in series.items()}
    return bound_figure(
        curves, x_title=curve.inputs.axis.title, y_title=curve.exhibit.unit, chosen=(float(here.x[0]), marks)
    )


def _claim_caption(here: Evaluation) -> str:
    measured, notes = here.measured, [here.measured.note, here.inputs.limit]
    if measured.releases:
        notes.insert(
            0, f"Simulated: {measured.releases:,} {here.exhibit.trials}; bars longer than a dot: 95% intervals."
        )
    if here.inputs.has_moving_table:
        notes.append("For other values of n, the counts keep the proportions of the table.")
    notes.append("" if here.inputs.is_public else "Not private (curator view).")
    return " ".join(filter(None, notes))
