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
from dpbayes.audit.loss.law import PromisedLoss
from dpbayes.audit.pictures import RAREST, TwoLaws
from dpbayes.audit.registry import AUDITS, Audited
from dpbayes.audit.report import SLACK, TIGHT, AuditReport, AuditVerdict, WorstCase
from dpbayes.audit.risk import SUSPICION, belief_limit, ceiling
from dpbayes.base.looks import EXACT, GREEN, INVALID
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import MOST_LOSS, factor_text, in_hundred, numeral
from dpbayes.boards.board import Board, Frame, Panel, Slider, View, distinct_texts
from dpbayes.boards.explore import SLIDER
from dpbayes.experiments.claims import (
    TINY,
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
from dpbayes.figures.audit import LossBar, belief_axis, guesses_figure, laws_figure, losses_figure, verdict_figure
from dpbayes.figures.claims import BoundCurves, bound_figure
from dpbayes.figures.style import Figure, titled, value_mark

# This mechanism: stated, proved, computed

COARSE = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5", "10", "20", "50", "100")
"""The stops of mechanisms without noise: an audit integrates over their outputs, which takes half a second."""

FACTOR_IN_WORDS = (
    "How many times more likely a release is for one table than for another that differs in one record. The privacy "
    "loss ε is the natural logarithm of this factor: ε = 1 is a factor of 2.72."
)

LIMIT = Panel(
    "verdict",
    "How far can a belief rise?",
    "The largest belief after a release, as stated, as proved, and as computed for the worst pair of tables.",
    large=True,
    help=f"{FACTOR_IN_WORDS} It multiplies the odds of a belief: a belief of 10% has odds of 1 to 9, and 2.72 to 9 is "
    "23.2%. Grey is the belief before, green is within what is allowed (the shaded field), red is beyond; a hollow bar "
    "is larger than needed. Allowed is what is stated, or what the setting of ε promises.",
)
WORST = Panel(
    "worst",
    "How alike are the releases of two tables?",
    "The probabilities of releases for the worst pair of neighbouring tables.",
    help="The two tables differ in one record, and have the largest privacy loss: at the marked release, where their "
    "probabilities differ most. They are named under “Formula, assumptions and sources”.",
)
GUESSES = Panel(
    "guesses",
    "How often can an attacker guess right?",
    "The share of right guesses between two values of a record, against the belief in the likelier value.",
    help="The attacker knows all other records, and that the remaining one has one of two values. Guesses count all "
    "releases, a belief is that after the worst one. This is the privacy curve of (ε, δ)-differential privacy: the "
    "height above the diagonal is δ times the belief in the less likely value, at the ε whose factor is the odds.",
)


def audit_view(
    kind: type[Any],
    audited_at: Callable[[float], Audited],
    report_of: Callable[[Audited], AuditReport],
    *,
    is_varied: bool = True,
    answer: tuple[str, str] | None = None,
    shows_laws: bool = False,
) -> View:
    """Return the board of a mechanism: the guarantee as stated and as proved, and the computed privacy loss.

    Args:
        kind: The class of the mechanism.
        audited_at: The mechanism at an epsilon, and the sizes of its tables.
        report_of: Computes the audit.
        is_varied: Whether the board has a slider; a slow audit has none.
        answer: The question of an example with its answer, and how its fault is corrected; or the correction.
        shows_laws: Whether the distributions are large: of one released value, whose factor is that of the headline.

    Returns:
        A view that follows from public values alone.
    """
    slider = replace(SLIDER, stops=SLIDER.stops if hasattr(kind, "noise_model") else COARSE) if is_varied else None
    entry = next((entry for entry in AUDITS if entry.kind is kind and entry.outputs is None), None)
    panels = () if entry is None else (LIMIT, WORST, GUESSES) if entry.picture else (LIMIT, GUESSES)
    if shows_laws:
        panels = replace(WORST, large=True), replace(LIMIT, large=False), GUESSES
    board = Board("audit", "Privacy loss", panels, {}, "1", slider)

    def frames_at(stop: str) -> tuple[Frame, ...]:
        audited = audited_at(float(stop))
        if panels:
            return (_audit_frame(audited, report_of(audited), answer),)
        return (Frame(f"The worst-case privacy loss of {audited.name} is not known.", {}, (_sources(audited),)),)

    return View(board, frames_at)


def _audit_frame(audited: Audited, report: AuditReport, answer: tuple[str, str] | None) -> Frame:
    limit = audited.promised
    pair = "the worst pair" if report.is_exact else "from the worst pair found to a bound (the pale end)"
    computed = f"Computed: {pair} of all tables that differ in one record, {audited.where}."
    figures, captions = {"verdict": _limit(report, limit)}, {"verdict": f"{computed} {_sources(audited)}"}
    figures["guesses"], captions["guesses"] = _guesses(report, limit)
    worst, drawn = report.worst, audited.entry.picture
    if drawn and worst and (picture := drawn(audited.mechanism, worst, **audited.sizes)):
        figures["worst"], captions["worst"] = _two_laws(picture, worst, audited, report)
    is_exceeded, kind = _is_exceeded(report, limit), _kind_of(report, limit)
    shown = report.needed_at_least if is_exceeded else report.needed
    numbers = {"factor": math.exp(shown), "belief": float(in_hundred(_raised(shown)))} if shown < MOST_LOSS else {}
    makes = "can make a release" if is_exceeded else "makes a release at most"
    factors = f"One changed record {makes} {factor_text(shown)} times as likely as without the change"
    factors += f"; {_allows(limit, factor_text(limit.epsilon))} times."
    most = _belief(shown) if is_exceeded else belief_limit(_raised(shown), limit)
    rises = f"10% belief about one person can rise to {most}"
    if answer:
        summary = getattr(audited.mechanism, "summary", "")
        return Frame(
            f"{answer[0]}: a {rises}.", figures, (factors, f"{summary} {answer[1]}".strip()), captions, numbers
        )
    compared = "more than" if is_exceeded else "as" if factor_text(shown) == factor_text(limit.epsilon) else "less than"
    tight = " and cannot be made smaller" if report.verdict is AuditVerdict.PROVED_AND_TIGHT else ""
    said = {"chosen": "no ε is stated", "proved": f"the proved {limit} holds"}.get(
        kind, f"the stated {limit} {_finding(report)[1]}{tight}"
    )
    notes = factors, f"{audited.name[0].upper()}{audited.name[1:]}: {said}."
    return Frame(f"An attacker’s {rises}, {compared} the {kind} ε allows.", figures, notes, captions, numbers)


def _is_exceeded(report: AuditReport, limit: Guarantee) -> bool:
    return report.needed_at_least > limit.epsilon * (1 + SLACK)


def _raised(loss: float) -> float:
    return ceiling(SUSPICION, Guarantee(loss))


def _belief(loss: float) -> str:
    """Return the belief to which a loss raises one of 10%."""
    return f"{in_hundred(_raised(loss))}%"


def _allows(limit: Guarantee, what: str) -> str:
    return f"ε = {numeral(limit.epsilon)} allows {what}"


def _is_within(proved: Guarantee, limit: Guarantee) -> bool:
    return proved.epsilon <= limit.epsilon * (1 + SLACK)


def _sources(audited: Audited) -> str:
    """Name where the guarantee is stated, and where what is allowed is proved."""
    limit, proved = audited.promised, audited.certified
    named = {audited.claimed: "Stated"} if limit.epsilon == audited.claimed.epsilon else {}
    if _is_within(proved, limit):
        named[proved] = "Stated and proved" if proved in named else "Proved"
    texts = [f"{name}: {one.reference.cited}." for one, name in named.items() if one.is_private]
    return " ".join(texts) or "No guarantee is stated or proved."


def _limit(report: AuditReport, limit: Guarantee) -> Figure:
    """Draw what is stated, proved and computed on one axis; a proof of more than is allowed is left out."""
    claim, proved, kind = report.claimed, report.certified, _kind_of(report, limit)
    rows = []
    if kind == "stated":
        name = "Stated and proved" if claim.epsilon == proved.epsilon else "Stated"
        rows = [_bar(name, claim, *_finding(report))]
    if _is_within(proved, limit) and proved.epsilon != claim.epsilon:
        rows.append(_bar("Proved", proved, "holds", "holds"))
    rows.append(_computed(report, limit))
    return _verdict(rows, limit)


def _verdict(rows: list[LossBar], limit: Guarantee) -> Figure:
    """Draw how far losses raise a belief, on an axis that does not depend on ε."""
    x, allowed = belief_axis(SUSPICION), _raised(limit.epsilon)
    return verdict_figure(rows, x=x, limit=allowed, before=SUSPICION, allowed=_allows(limit, _belief(limit.epsilon)))


def _kind_of(report: AuditReport, limit: Guarantee) -> str:
    """Return whether the allowed ε is stated, or proved in place of the one that the paper states, or only chosen."""
    if not report.claimed.is_private:
        return "chosen"
    return "stated" if limit.epsilon == report.claimed.epsilon else "proved"


def _computed(report: AuditReport, limit: Guarantee) -> LossBar:
    """Return the bar of the worst pair."""
    least, most = report.needed_at_least, report.needed
    is_range = most - least > 1e-6 * max(1.0, most)
    factors = f"{factor_text(least)} to {factor_text(most)}" if is_range else factor_text(least)
    allowed = "as proved" if report.verdict is AuditVerdict.PROVED_AND_TIGHT else "allowed"
    verdict, shown = ("holds", allowed) if _is_within(Guarantee(most), limit) else ("open", "not decided"), most
    if _is_exceeded(report, limit):
        verdict, shown = ("fails", "more than allowed"), least
    return LossBar("Computed", _raised(least), _raised(most), _belief(shown), *verdict, f"{factors} times")


def _bar(name: str, claim: Guarantee, verdict: str = "open", finding: str = "") -> LossBar:
    """Return the bar of a guarantee, with its factor and its δ."""
    delta, raised = f", δ = {numeral(claim.delta)}" if claim.delta else "", _raised(claim.epsilon)
    factor = f"{factor_text(claim.epsilon)} times{delta}"
    return LossBar(name, raised, raised, _belief(claim.epsilon), verdict, finding, factor)


def _guesses(report: AuditReport, limit: Guarantee) -> tuple[Figure, str]:
    """Draw how often the best guess of a record is right, with a sentence on two equally likely values."""
    curve, certain = report.curve, np.append(report.curve.epsilons, np.inf)
    is_exact = np.allclose(curve.deltas, curve.lower, rtol=1e-3, atol=1e-16)
    beliefs, (most, _) = 1 / (1 + np.exp(-certain)), PromisedLoss(limit.epsilon, limit.delta).deltas(certain)
    shares, allowed = (beliefs + (1 - beliefs) * deltas for deltas in (np.append(curve.deltas, 0.0), most))
    broken = np.append(report.broken_at(limit), False) | (is_exact & (shares > allowed + SLACK))
    figure = guesses_figure(beliefs, shares, allowed, is_exact=is_exact, broken=broken)
    worst = int(np.where(broken & is_exact, shares - allowed, 0.0).argmax())
    if worst:
        belief, right = distinct_texts(100 * allowed[worst], 100 * shares[worst], most=3)
        dot = value_mark(beliefs[worst], shares[worst], f"{right}%", INVALID, side="top left")
        meaning = f"The dot: at a belief of {belief}%, {_allows(limit, 'no better guess')}; here {right}% are right."
        return replace(figure, data=(*figure.data, dot)), meaning
    colour, side = INVALID if broken[0] else EXACT, "bottom right" if shares[0] > 0.6 else "top right"
    dot = value_mark(0.5, shares[0], f"{in_hundred(shares[0])}%", colour, side=side)
    meaning = (
        f"The dot: between two equally likely values, at most {in_hundred(shares[0])}% of guesses are right. "
        f"{_allows(limit, in_hundred(allowed[0]))}%, the same promise as a belief of {_belief(limit.epsilon)}."
    )
    return replace(figure, data=(*figure.data, dot)), meaning


def _two_laws(picture: TwoLaws, worst: WorstCase, audited: Audited, report: AuditReport) -> tuple[Figure, str]:
    """Draw both tables' distributions, marked at the output of the largest factor if it is there; with a caption."""
    loss, mark, limit = picture.part or report.needed_at_least, None, audited.promised
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = np.nan_to_num(np.log(picture.first) - np.log(picture.second))
    place = int(np.where(losses > loss * (1 - TIGHT), picture.first, 0.0).argmax())
    if abs(losses.max() - loss) < TIGHT * loss and picture.first[place] > RAREST * picture.first.max():
        is_part, is_red = loss < report.at_least * (1 - TIGHT), _is_exceeded(report, limit)
        text = f"{'one number: at most ' if is_part else ''}{factor_text(loss)} times"
        text += f" ({factor_text(limit.epsilon)} allowed)" if is_red and not is_part else ""
        mark = place, text, INVALID if is_red else GREEN
    first, second = (f" {table}" if len(table) < 20 else "" for table in (worst.first, worst.second))
    tables = audited.entry.tables if first else "The tables differ in one record."
    laws = {f"first table{first}": picture.first, f"second table{second}": picture.second}
    figure = laws_figure(picture.places, laws, x=picture.x, y=picture.y, mark=mark)
    return figure, _about_the_pair(picture, tables, report.at_least)


def _about_the_pair(picture: TwoLaws, tables: str, loss: float) -> str:
    """Return what the picture of the worst pair shows; of one of several numbers, also its part of the `loss`."""
    caption = f"{tables} The closer the two are, the better the changed record is hidden. {picture.caption}"
    if not 0 < picture.part < loss * (1 - 1e-9):
        return caption.strip()
    times = loss / picture.part
    count = f"{times:,.0f} " if abs(times - round(times)) < 1e-6 else "several "
    return f"{caption} The record changes {count}such numbers, whose factors multiply to {factor_text(loss)}."


def _finding(report: AuditReport) -> tuple[str, str]:
    """Return whether the stated guarantee holds: as one of the VERDICTS of bars, and in words."""
    claim, proved = report.claimed.epsilon, report.certified.epsilon
    match report.verdict:
        case AuditVerdict.CLAIM_REFUTED:
            return "fails", "does not hold"
        case AuditVerdict.UNDECIDED:
            return "open", "is not proved"
    if report.verdict is AuditVerdict.PROVED_AND_TIGHT or proved == claim:
        return "holds", "holds"
    return ("loose", "holds, more than needed") if proved < claim else ("open", "holds for these tables")


LOSSES = Panel("losses", "How different were simulated releases?", "The share above each factor.", help=FACTOR_IN_WORDS)


def outputs_view(audit: AdaptiveAudit, tables: TablePair) -> View:
    """Return the board of an adaptive release: the exact losses of its simulated outputs for two tables.

    Args:
        audit: The losses.
        tables: The two neighbouring tables.

    Returns:
        A view of one stop.
    """
    claimed, releases = audit.claimed, len(audit.first)
    largest, raised = factor_text(audit.largest), _raised(audit.largest)
    shows = "A larger factor than the proved one would refute the proof."
    if claimed.delta:
        shows = "A few may have a larger factor: the rare cases. So few releases cannot show how rare these are."
    limit = belief_limit(_raised(claimed.epsilon), claimed)
    said = f"It is proved that a 10% belief about one person can rise to {limit}."
    if audit.is_refuted:
        said = f"The stated {claimed} is refuted: a simulated release raises a 10% belief to {_belief(audit.largest)}."
    proved = _bar("Proved", claimed, *(("fails", "does not hold") if audit.is_refuted else ("holds", "holds")))
    simulated = LossBar("Largest simulated", raised, raised, _belief(audit.largest), factor=f"{largest} times")
    notes = (
        f"The proof covers the choice of the graph and its tables together. Simulated: {releases:,} releases of each "
        f"of two made-up tables. {shows}",
    )
    figures = {
        "verdict": _verdict([proved, simulated], claimed),
        "losses": losses_figure(audit.first, audit.second, claimed=claimed.epsilon),
    }
    frame = Frame(said, figures, notes, {"losses": tables.description})
    return View(Board("audit", "Privacy loss", (LIMIT, LOSSES), {}), lambda stop: (frame,))


# The papers' claims: one bound along its axis

BOUND = Panel(
    "bound",
    "What is stated, and what is true?",
    "The bound as stated, as proved and the true values.",
    help="Green: what the paper’s formula allows; red: what exceeds it. Proved: no true value is larger. A privacy "
    "loss ε compares two tables that differ in one record. A KL divergence, in nats, is 0 for equal distributions.",
)


def claim_view(inputs: ClaimInputs) -> View:
    """Return the board of a claim: its bound as stated and as proved, and the true values, along an axis.

    Args:
        inputs: The claim and its setting.

    Returns:
        A view whose stops are points of the axis. Its headline never contradicts the verdict on the claim.
    """
    parameter = axis_parameter(inputs.axis)
    low = float(inputs.stops[0]) if inputs.exhibit.least else parameter.low
    slider = Slider(inputs.axis.control, inputs.axis.title, inputs.stops, low, parameter.high)
    title, start = inputs.exhibit.claim.title, inputs.stops[0]
    board = Board("claim", title, (BOUND,), {}, start, slider, private=not inputs.is_public)
    return View(board, lambda stop: (_claim_frame(inputs, stop),))


def example_view(shown: ClaimShown) -> View:
    """Return the board of a claim with a counterexample and no bound to draw: the values of the example."""
    claim, (example, *_) = claim_of(shown), failures_of(shown)
    values, texts = (example.printed, example.truth), distinct_texts(example.printed, example.truth, most=3)
    end = 1.45 * (max(filter(math.isfinite, values)) or 1.0)
    rows = [LossBar(*row) for row in zip(("Stated", "True value"), values, values, texts, strict=True)]
    figure = verdict_figure(rows, x=titled(example.unit, range=[0, end]), limit=example.printed)
    panel = Panel("example", "How far is the true value from the stated one?", "The stated and the true value.")
    captions = {"example": f"Example: {example.setting.rstrip('.')}."}
    frame = Frame(claim_verdict(claim, example), {"example": figure}, (), captions)
    return View(Board("claim", claim.title, (panel,), {}), lambda _: (frame,))


def _claim_frame(inputs: ClaimInputs, stop: str) -> Frame:
    inputs.exhibit.limit(*inputs.point(stop))
    here = inputs.evaluated(stop)
    return Frame(finding(here), {"bound": _bound_picture(inputs.curve, here)}, (), {"bound": _claim_caption(here)})


def _bound_picture(curve: Evaluation, here: Evaluation) -> Figure:
    curve = curve.beside(here)
    bound, drawn = curve.bound, ("violated", "exact", "value", "low", "high", "exact_name", "name")
    measured = {name: getattr(curve.measured, name) for name in drawn} | {"is_limit": curve.is_limit}
    curves = BoundCurves(np.array(curve.x, dtype=np.float64), bound.printed, bound.certified, **measured)
    label, value = compared_with(here)
    stated, name = float(here.bound.printed[0]), label.removeprefix("the ").partition(" of ")[0]
    times = f" ({numeral(value / stated, 2)} × stated)" if 1.1 * stated < value < stated / TINY else ""
    texts = [amount_of(here, y, here.digits) for y in (stated, value)]
    marks = {f"stated {texts[0]}": stated, f"{name} {texts[1]}{times}": value}
    marks = marks if texts[0] != texts[1] else {f"stated = {name} {texts[0]}": stated}
    marks = marks if here.applies else {f"{name} {texts[1]}": value}
    titles = {"x_title": curve.inputs.axis.title, "y_title": curve.exhibit.unit}
    return bound_figure(curves, **titles, chosen=(float(here.x[0]), marks))


def _claim_caption(here: Evaluation) -> str:
    releases, notes = here.measured.releases, [here.measured.note, here.inputs.limit]
    notes.insert(0, f"Simulated: {releases:,} {here.exhibit.trials}. Intervals of 95%." if releases else "")
    if here.inputs.has_moving_table:
        notes.append("For other values of n, the counts keep the proportions of the table.")
    bound, holds = here.inputs.curve.bound, here.claim.verdict.sign == "✓"
    is_replaced = not holds and np.any(bound.certified > (1 + SLACK) * bound.printed)
    notes.append("The proved line is the bound that replaces the stated one." if is_replaced else "")
    notes.append("" if here.inputs.is_public else "Not private: it uses the counts.")
    return " ".join(filter(None, notes))
