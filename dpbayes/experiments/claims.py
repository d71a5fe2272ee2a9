"""The claims of the papers as they are shown: what is picked, a bound along one axis, and the finding as a sentence."""

import enum
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np

from dpbayes.base.memo import Memo
from dpbayes.base.parameters import Choice, Parameter, parameters_of
from dpbayes.base.steps import slices
from dpbayes.base.text import numeral, typed
from dpbayes.base.text import percent as in_percent
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Bound, Claim, Counterexample, Verdict, joined
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Measured
from dpbayes.theory.claims.judgement import Decision, Judgement, judged
from dpbayes.theory.claims.setting import Axis, ClaimParameters, EvaluationPoint, Subject, grid, moved, place
from dpbayes.theory.index import CLAIMS, EXHIBITS, counterexamples_of
from dpbayes.theory.paper_map import PaperEntry, paper_map
from dpbayes.theory.zhang16.summary import not_computable, table_1

TOGETHER = 250
"""The number of cells times epsilons that are evaluated together, which takes a few hundredths of a second."""

TINY = 1e-9  # a smaller value is said to be about 0

_PRIOR = "What the prior adds to every count. The larger it is, the less one record changes the posterior."
PRIOR = Parameter("a", 0.001, 1e9, 1, log=True, title="prior pseudo-count of every cell", description=_PRIOR)
EPSILON_OF_CLAIM = replace(EPSILON, low=0.01)  # on its own: at that of all pages, a claim may not apply
RECORDS = Parameter("n", 1, 10**9, 1000, log=True, whole=True, title="records")


# What a person picks

ClaimShown = enum.Enum(  # type: ignore[misc]  # the members come from the claims
    "ClaimShown", {f"claim_{k}": str(claim.reference) for k, claim in enumerate(CLAIMS)}
)
"""One claim, by its place in a paper; the members are in the order of the claims."""

BoundClaim = enum.Enum("BoundClaim", {name: exhibit.title for name, exhibit in EXHIBITS.items()})  # type: ignore[misc]
"""The bounds of claims, by the places of the claims."""

_PLAIN = tomllib.loads(Path(__file__).with_name("main_claims.toml").read_text(encoding="utf-8"))

MAIN = tuple(BoundClaim[name] for name in list(_PLAIN)[:6])
"""The bounds to start with: privacy and utility of Algorithm 1, and a claim on each other mechanism of [Zhang16]."""


@dataclass(frozen=True, kw_only=True)
class BoundsOptions(ClaimParameters):
    """What a bound is drawn against, and the numbers on which it depends."""

    axis: Annotated[Axis, Choice(Axis, title="horizontal axis")]
    epsilon: Annotated[float, EPSILON_OF_CLAIM]
    prior: Annotated[float, PRIOR]
    n: Annotated[int, RECORDS]


def claim_of(shown: ClaimShown) -> Claim:
    """Return the claim that is picked."""
    return CLAIMS[list(ClaimShown).index(shown)]


def exhibit_of(bound: BoundClaim) -> Exhibit:
    """Return the claim with its bound that is picked."""
    return EXHIBITS[bound.name]


def shown_by(bound: BoundClaim) -> ClaimShown:
    """Return the claim of a bound."""
    return list(ClaimShown)[CLAIMS.index(exhibit_of(bound).claim)]


def bounds_of(shown: ClaimShown) -> list[BoundClaim]:
    """Return the bounds that are drawn of a claim: none of some, two of one."""
    return [bound for bound in BoundClaim if exhibit_of(bound).claim == claim_of(shown)]


def _clarity(shown: ClaimShown) -> tuple[bool, int]:
    """Return the place of a claim in a list: those with a picture first, then in the order of their plain words."""
    names, bounds = list(_PLAIN), [bound.name for bound in bounds_of(shown)]
    return not bounds, min((names.index(name) for name in (*bounds, shown.value) if name in names), default=len(names))


CLEAREST_FIRST = sorted(ClaimShown, key=_clarity)
"""All claims as a list shows them, so that a list opens on a claim with a picture."""


def in_plain_words(shown: ClaimShown, bound: BoundClaim | None) -> dict[str, str]:
    """Return what the paper says and what is true, and of some claims why it matters: by these labels."""
    claim, own = claim_of(shown), _PLAIN.get(bound.name if bound else shown.value, {})
    says = "The notes say" if claim.reference.paper == "Notes" else "The paper says"
    texts = {says: own.get("says", f"{claim.title}."), "What is true": own.get("true", claim.finding)}
    return texts | ({"Why it matters": own["why"]} if "why" in own else {})


def failures_of(shown: ClaimShown) -> tuple[Counterexample, ...]:
    """Compute the settings at which a claim fails; nothing in them depends on a table."""
    return counterexamples_of(claim_of(shown))


def mentions() -> Mapping[Claim, PaperEntry]:
    """Return, by claim, where the code and the tests of this program name it."""
    package = Path(__file__).parents[1]
    return {entry.claim: entry for entry in paper_map(package, package.parent / "tests")}


def setting(
    network: Network, prior: float, n: int | None, counts: Counts | None, seed: int, memo: Memo, **at: Any
) -> tuple[Subject, EvaluationPoint]:
    """Return the subject of claims, and the numbers `epsilon`, `draws` and `knobs` of a bound."""
    return Subject(network, prior, n, counts, seed, memo), EvaluationPoint((at["epsilon"],), at["draws"], at["knobs"])


def live_table_1(subject: Subject, at: EvaluationPoint, *, is_curator: bool) -> tuple[list[dict[str, str]], list[str]]:
    """Return the rows of Table 1 of [Zhang16] at a setting as texts, and why other rows are missing."""
    missing = not_computable(subject.network, subject.records)
    rows = [row.texts(is_curator=is_curator) for row in table_1(subject, at)]
    return rows, [f"{mechanism} is not in the table: {why}." for mechanism, why in missing.items()]


# A bound along an axis


def axis_parameter(axis: Axis) -> Parameter:
    """Return the description of the number on an axis, whose name in settings is the control of the axis.

    Args:
        axis: The axis of a claim.

    Returns:
        Its range and symbol.
    """
    own = {Axis.EPSILON: EPSILON_OF_CLAIM, Axis.PRIOR: PRIOR, Axis.RECORDS: RECORDS}
    if axis in own:
        return own[axis]
    parameter = parameters_of(ClaimParameters)[axis.field]
    assert isinstance(parameter, Parameter)
    return parameter


@dataclass(frozen=True, eq=False)
class ClaimInputs:
    """A claim with its setting, along one axis.

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

    @property
    def here(self) -> float:
        """The setting's position on the axis. Errors: InputError on the axis of records without a table."""
        return place(self.subject, self.at, self.axis)

    @property
    def has_moving_table(self) -> bool:
        """Whether the counts of the table are changed along the axis."""
        return self.axis is Axis.RECORDS and not self.is_public

    @cached_property
    def stops(self) -> tuple[str, ...]:
        """The points of the axis: the stops of the slider."""
        whole = axis_parameter(self.axis).whole
        points = {round(x) if whole else float(f"{x:.3g}") for x in grid(self.subject, self.axis)}
        return tuple(typed(x) for x in sorted(points) if x > self.exhibit.least)

    @cached_property
    def limit(self) -> str:
        """Why the claim does not apply at one end of the axis, as a sentence; "" if at both, neither, or corrected."""
        first, last = (self.exhibit.bound(*self.point(self.stops[end])) for end in (0, -1))
        if first.applies == last.applies or self.exhibit.claim.verdict is Verdict.AMENDED:
            return ""
        end, bound = ("large", last) if first.applies else ("small", first)
        return f"The claim does not apply at {end} {self.axis.symbol}: it requires that {_unmet(bound)}."

    @cached_property
    def curve(self) -> "Evaluation":
        """The bound at all points of the axis. Errors: InputError where it cannot be evaluated."""
        together = max(1, TOGETHER // self.subject.network.cell_count) if self.axis is Axis.EPSILON else 1
        parts = [self.evaluated(*self.stops[part]) for part in slices(len(self.stops), together)]
        own = {name: np.concatenate([getattr(part.measured, name) for part in parts]) for name in SERIES}
        bound = joined([part.bound for part in parts])
        if self.axis is not Axis.EPSILON and self.exhibit.claim.verdict is not Verdict.AMENDED:
            applies = np.array([part.bound.applies for part in parts])
            own["violated"] &= applies
            bound = replace(bound, printed=np.where(applies | ~applies.any(), bound.printed, np.nan))
        measured = replace(parts[0].measured, **own)  # type: ignore[arg-type]  # all of them are arrays
        return replace(parts[0], x=self.stops, bound=bound, measured=measured)

    def is_exceeded(self) -> bool:
        """Return whether the stated bound is exceeded at a point of the axis."""
        return bool(self.curve.measured.violated.any())

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
    def applies(self) -> bool:
        """Whether the claim states something here: its assumptions hold, or it is amended."""
        return self.bound.applies or self.claim.verdict is Verdict.AMENDED

    def beside(self, here: "Evaluation") -> "Evaluation":
        """Return a curve without what is stated, if the claim does not apply at the setting that is marked."""
        if here.applies:
            return self
        measured = replace(self.measured, violated=np.zeros_like(self.measured.violated))
        bound = replace(self.bound, printed=np.full_like(self.bound.printed, np.nan))
        return replace(self, bound=bound, measured=measured)

    @property
    def is_limit(self) -> bool:
        """Whether the bound allows all values below it."""
        return self.exhibit.says is not BoundKind.ENOUGH

    @property
    def judgement(self) -> Judgement:
        """What is decided of the bound at the first point."""
        return judged(self.exhibit.says, self.bound, self.measured)

    @property
    def digits(self) -> int:
        """How many digits the values at the first point have, so that an exceeded bound is seen to be so."""
        printed, (_, value) = float(self.bound.printed[0]), compared_with(self)
        return digits_apart(printed, value) if self.judgement.is_exceeded else 3


SERIES = ("exact", "value", "low", "high", "exceeded", "violated")


# The finding about a claim

GENERAL = {
    Verdict.HOLDS: "holds",
    Verdict.LOOSE: "holds",
    Verdict.AMENDED: "holds with a correction",
    Verdict.FALSE: "fails",
    Verdict.VACUOUS: "is true but vacuous",
    Verdict.UNCLEAR: "is undecided",
    Verdict.DEFINITION: "is a definition",
}
"""The verdict on a claim as the beginning of every sentence about it."""


def finding(here: Evaluation) -> str:
    """Return the verdict on a claim with what its bound states at a setting, or that the claim does not apply there.

    Args:
        here: The bound at one setting.

    Returns:
        One sentence with at most two numbers.
    """
    judgement, printed, start = here.judgement, float(here.bound.printed[0]), _place(here)
    general, proved = GENERAL[here.claim.verdict], amount_of(here, float(here.bound.certified[0]))
    if not here.applies:
        return f"{start} does not apply here: it requires that {_unmet(here.bound)}."
    match judgement.decision:
        case Decision.NO_NUMBER:
            return f"{start} {general}: it gives no number here; {proved} is proved."
        case Decision.EMPTY:
            joint = "and" if here.claim.verdict in (Verdict.FALSE, Verdict.VACUOUS) else "but"
            return f"{start} {general}, {joint} says nothing here: its bound is {amount_of(here, printed)}."
        case Decision.UNCERTIFIED:
            return f"{start} {general}: it states {_amount(here, printed)}; no bound is proved here."
        case Decision.UNPROVED:
            is_refuted = here.claim.verdict is Verdict.FALSE and counterexamples_of(here.claim)
            more = "; a counterexample is below" if is_refuted else ""
            return f"{start} {general}: it states {_amount(here, printed)}, but only {proved} is proved{more}."
    if here.exhibit.says is BoundKind.QUANTILE and judgement.is_exceeded:
        share = percent_or_power(float(here.measured.exceeded[0]))
        allowed = percent_or_power(here.at.knobs.delta)
        return f"{_start(here)} {share} of simulated {here.exhibit.trials} exceed its bound, which allows {allowed}."
    label, value = compared_with(here)
    states = f"{_start(here)} it states {_amount(here, printed, here.digits)}"
    if value > printed and not judgement.is_exceeded:
        agrees = f"but only {amount_of(here, value)} is proved" if judgement.by_proof else f"and {label} agrees with it"
        return f"{states}, {agrees}."
    joint = "but" if judgement.is_exceeded else "and"
    return f"{states}, {joint} {label} is {amount_of(here, value, here.digits)}."


def _place(here: Evaluation) -> str:
    part = here.exhibit.part(here.subject)
    return f"{here.claim.reference.in_words}{f', {part},' if part else ''}"


def _unmet(bound: Bound) -> str:
    """Return the conditions of a claim that are not met, behind "it requires that"."""
    texts = [condition.text.rstrip(".") for condition in bound.assumptions if not condition.holds]
    return " and that ".join(text[0].lower() + text[1:] if text[1].isalpha() else text for text in texts)


def _start(here: Evaluation) -> str:
    """Return the claim with its verdict as it reads where the bound is exceeded, or is not."""
    verdict, is_exceeded = here.claim.verdict, here.judgement.is_exceeded
    said = f"{GENERAL[verdict]}:"
    if here.claim.ours:
        said = f"{GENERAL[verdict]}: with {here.claim.ours}, which the paper leaves open,"
    elif verdict is Verdict.FALSE and not is_exceeded:
        said = "fails at other settings; here"
    elif verdict is Verdict.AMENDED:
        changed = ":" if is_exceeded else ", which changes no number here:"
        said = f"holds {'only ' * is_exceeded}with a correction{changed}"
    elif here.judgement.decision is Decision.TIGHT and verdict in (Verdict.HOLDS, Verdict.LOOSE):
        said = "holds and is tight here:"
    return f"{_place(here)} {said}"


def compared_with(here: Evaluation) -> tuple[str, float]:
    """Return what the stated bound is compared with, and its value: exact, else simulated, else proved."""
    measured, kind = here.measured, here.exhibit.says
    exact, simulated = float(measured.exact[0]), float(measured.value[0])
    if here.exhibit.unit.startswith("total variation") and float(here.bound.certified[0]) == 1 < here.bound.printed[0]:
        return "the largest possible distance", 1.0
    if here.judgement.by_proof:
        return "the proved bound", float(here.bound.certified[0])
    if kind is BoundKind.QUANTILE:
        return "the simulated quantile", simulated
    if kind is BoundKind.CHANCE and not math.isfinite(exact):
        return "the simulated share", simulated
    return f"the {measured.exact_name}", exact


def shown_as(value: float, most: int = 3) -> str:
    """Return a number in words where there is none, or no finite one."""
    if math.isnan(value):
        return "unknown"
    return numeral(value, most) if math.isfinite(value) else "infinite"


def percent_or_power(share: float, most: int = 3) -> str:
    """Return a probability in percent; a tiny one as a power of ten."""
    if 0 < share < 1e-5:
        return numeral(share, most - 1)
    return in_percent(share, max(most, 4 if share > 0.99 else 3)).replace(" ", "")


def amount_of(here: Evaluation, value: float, most: int = 3) -> str:
    """Return a value of the bounded quantity in `most` digits; a probability in percent."""
    is_probability = here.exhibit.says is BoundKind.CHANCE
    if (value or is_probability) and value < TINY:
        return "about 0%" if is_probability else "about 0"
    if not math.isfinite(value):
        return "no finite number"
    if is_probability and value > 1:
        return "more than 100%"
    return percent_or_power(value, most) if is_probability else numeral(value, most)


def _amount(here: Evaluation, value: float, most: int = 3) -> str:
    text = here.exhibit.amount.format(amount_of(here, value, most))
    return text.removesuffix("s") if text.endswith(" 1 nats") else text


def digits_apart(printed: float, true: float) -> int:
    """Return how many digits show that two numbers differ: three, unless both would read the same."""
    return next((k for k in range(3, 9) if shown_as(printed, k) != shown_as(true, k)), 9)


def claim_verdict(claim: Claim, first: Counterexample | None = None) -> str:
    """Return the verdict on a claim without a bound to draw; of one that fails, with the numbers of an example.

    Args:
        claim: The claim.
        first: A counterexample to it.

    Returns:
        One sentence.
    """
    start = f"{claim.reference.in_words} {GENERAL[claim.verdict]}"
    if first is None:
        return f"{start}."
    digits = digits_apart(first.printed, first.truth)
    stated, truth = shown_as(first.printed, digits), shown_as(first.truth, digits)
    reading = f"with {claim.ours}" if claim.ours else "in an example"
    return f"{start}: {reading}, it states {stated}, but the true value is {truth} ({first.unit})."


def failure_text(example: Counterexample) -> str:
    """Return one setting at which a claim fails, with its numbers in Markdown."""
    digits = digits_apart(example.truth, example.printed)
    truth, printed = shown_as(example.truth, digits), shown_as(example.printed, digits)
    proved = "no bound" if math.isnan(example.certified) else shown_as(example.certified)
    setting, unit = (text[0].upper() + text[1:].rstrip(".") for text in (example.setting, example.unit))
    least = "at least " if example.is_lower_limit else ""
    text = (
        f"{setting}. {unit}: the true value is {least}**{truth}**, the paper states {printed}, and {proved} is proved."
    )
    return text.replace("$", "\\$").replace("~", "\\~")
