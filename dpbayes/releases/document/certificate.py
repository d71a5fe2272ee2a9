"""The certificate of a release: the guarantee, its conditions and its limits; and four sentences for a board.

It answers the questions of NIST SP 800-226 (March 2025) about a guarantee of differential privacy. All texts follow
from the other fields of the document, so each reader can compute and compare them.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction

from dpbayes.base.amounts import Amount, PrivacyMeasure, Rho, amount_in, amount_text, cost_in, measure_of, number_of
from dpbayes.base.privacy import Neighbours
from dpbayes.base.text import many, numeral
from dpbayes.base.validation import InputError, whole_number
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.mechanisms.adaptive.process import PairChoice, Process
from dpbayes.mechanisms.noise.exact import Calibrated
from dpbayes.releases.document.canonical import fraction_text
from dpbayes.releases.document.request import AdaptiveRequest, ReleaseRequest

MOST_RELEASES = 10**9

_WEAK = 10
"""From this epsilon on, a guarantee protects almost nothing: odds may change by a factor of 22,000."""

UNIT = "One record: all that the table says of one person, or of one unit that a row stands for."
NEIGHBOURS = f"Replace one: {Neighbours.REPLACE_ONE.value}."
TRUST = (
    "Central model: the curator holds the records and is trusted with them, and with drawing once. Nobody who reads "
    "this file needs to be trusted."
)
"""Sentences of the certificates of all releases."""

_TIME = "%Y-%m-%dT%H:%M:%SZ"


@dataclass(frozen=True)
class Composed:
    """The earlier releases of the dataset: their number, and the exact sum of their costs.

    `spent` is in the measure of the dataset's budget: an epsilon, or a rho that includes the rho of pure releases.
    """

    releases: int = 0
    spent: Amount = Fraction(0)

    def __post_init__(self) -> None:
        whole_number("The number of releases so far", self.releases, low=0, high=MOST_RELEASES)
        number = number_of(self.spent)
        if not isinstance(number, Fraction) or number < 0 or bool(self.releases) != bool(number):
            raise InputError(
                f"The {measure_of(self.spent).value} of all earlier releases together must be a fraction above 0, or "
                "0 if there are no earlier releases."
            )

    def after(self, cost: Amount) -> Amount:
        """Return the sum after a release of this cost. Errors: InputError for a rho and a budget in pure epsilon."""
        measure = measure_of(self.spent)
        own = cost_in(measure, cost)
        if own is None:
            raise InputError("A release with a guarantee in rho needs a dataset with a budget in rho.")
        return amount_in(measure, number_of(self.spent) + own)


@dataclass(frozen=True)
class Provenance:
    """The time of sampling, and the versions of the software."""

    time: str
    dpbayes: str
    opendp: str
    python: str

    def __post_init__(self) -> None:
        try:
            moment = datetime.strptime(self.time, _TIME)
        except ValueError:
            moment = None
        if moment is None or moment.strftime(_TIME) != self.time:
            raise InputError("The time of a release must have the form 2026-03-31T12:00:00Z.")


def time_text(time: datetime) -> str:
    """Return a time in UTC, to the second. Errors: InputError for a time without a time zone."""
    if time.tzinfo is None:
        raise InputError("The time of a release needs a time zone.")
    return time.astimezone(UTC).strftime(_TIME)


def certificate_of(
    request: ReleaseRequest, calibration: Calibrated, composed: Composed, drawn: Provenance
) -> dict[str, object]:
    """Return the certificate as names and texts; `not_covered` is a list of sentences."""
    return {
        "unit": UNIT,
        "neighbours": NEIGHBOURS,
        **_promise(request),
        "composed": _composed(request, composed),
        "trust": TRUST,
        "noise": (
            f"{request.entry.law}; scale {fraction_text(calibration.scale)}, sensitivity {request.sensitivity.value} "
            f"({request.sensitivity.of})."
        ),
        "drawn": (
            f"OpenDP {drawn.opendp} drew the noise from the operating system's randomness, and its own privacy map "
            'was asked before. Its constructors are of its feature "contrib": contributed, and not all of them have '
            "been vetted in OpenDP's own process."
        ),
        "made_with": f"dpbayes {drawn.dpbayes}, OpenDP {drawn.opendp}, Python {drawn.python}; {drawn.time}.",
        "not_covered": _not_covered(request),
    }


def _promise(request: ReleaseRequest) -> dict[str, object]:
    if isinstance(request.cost, Rho):
        rho = amount_text(request.rho)
        return {
            "rho": fraction_text(request.rho),
            "promise": (
                f"Zero-concentrated: whatever is known besides, the Rényi divergence of every order alpha above 1 is "
                f"at most {rho} alpha when one record is replaced by any other that the declared states allow; so no "
                f"event becomes more than {_factor_text(request.rho)} times as likely, but for a part of it that has a "
                f"probability of at most one in a million.{_stated(request)}"
            ),
        }
    return {
        "epsilon": fraction_text(request.epsilon),
        "delta": "0/1",
        "promise": (
            f"Whatever is known besides, no event becomes more than exp({amount_text(request.epsilon)}) times as "
            "likely because one record is replaced by any other that the declared states allow."
        ),
    }


def _stated(request: ReleaseRequest) -> str:
    if request.stated is None:
        return ""
    epsilon, delta = amount_text(request.stated.epsilon), amount_text(request.stated.delta)
    return (
        f" It was asked for as epsilon {epsilon} at delta {delta}, which this rho gives: no event becomes more than "
        f"exp({epsilon}) times as likely, but for an addition of {delta}. Charged is the rho."
    )


def _composed(request: ReleaseRequest, composed: Composed) -> str:
    measure, total = measure_of(composed.spent), composed.after(request.cost)
    kept = ", to which pure releases add the rho that they imply" if measure is PrivacyMeasure.RHO else ""
    before = many(composed.releases, "release")
    return (
        f"Of the dataset {request.dataset} the curator's ledger has {before} before this one, of "
        f"{_total_text(composed.spent)} together; with this one it is {amount_text(number_of(total))}, the exact "
        f"sum{kept}."
    )


NEVER_COVERED = (
    "How long drawing took, which an onlooker of the curator's machine might measure.",
    "The floating point of whatever is computed from the whole numbers: it can be done again, and tells no more.",
    "A person with several records in the table: what is promised is of one record.",
    "What else is published of the same people: by themselves, by others, or from another dataset.",
    "What is true of the population: it may be learnt, and used, of people who are in no table.",
)
"""What the guarantee of no release covers."""


def _not_covered(request: ReleaseRequest) -> list[str]:
    return [
        "The choice of the graph and the prior: made after looking at the records, it may reveal them.",
        f"The states of the nodes: they were declared {request.domains.value}, as the curator states.",
        f"The number of records, {request.n:,}, is public, and so {_public(request)}.",
        *NEVER_COVERED,
    ]


def _public(request: ReleaseRequest) -> str:
    if not request.prices:
        return "is the prior"
    return (
        "are the prior and the prices by which the noise is shared out: that these were chosen without looking at the "
        "records, only the curator knows"
    )


# For a board


def sentences_of(request: ReleaseRequest, calibration: Calibrated, composed: Composed) -> tuple[str, str, str, str]:
    """Return sentences on the content, the guarantee, the spent budget, and the accuracy."""
    columns = many(len(request.network.names), "column")
    total = composed.after(request.cost)
    number = composed.releases + 1
    return (
        f"This file describes {request.n:,} records of the dataset {request.dataset} in {columns} by "
        f"{request.entry.length(request):,} whole numbers with noise, and holds no record.",
        f"Whoever reads it, and whatever they know besides, {_odds(request.cost)}.",
        f"{many(number, 'release')} of this dataset, this one included, have spent "
        f"{_total_text(total)}; from all of them together, a reader {_odds(total)}.",
        request.entry.accuracy(request, calibration.scale),
    )


def adaptive_sentences(request: AdaptiveRequest, process: Process, composed: Composed, drawn: Provenance) -> list[str]:
    """Return sentences on the content, the guarantee, the spent budget, the sampling, and what is not covered."""
    total, number = composed.after(request.cost), composed.releases + 1
    choices = [event for event in process.events if isinstance(event, PairChoice)]
    network = process.measured.network
    noise = "discrete Gaussian" if measure_of(request.cost) is PrivacyMeasure.RHO else "discrete Laplace"
    return [
        f"This file has a graph over {many(len(network.names), 'column')} of the dataset {request.dataset}, chosen "
        f"privately from {request.n:,} records, and its tables with noise. It holds no record.",
        f"Neighbours are tables of the same number of records of which one is replaced: whoever reads the file, and "
        f"whatever they know, {_odds(request.cost)}.",
        f"{_guarantee_text(request.plan)}. It covers all choices and measurements together.",
        f"{many(number, 'release')} of this dataset, this one included, have spent {_total_text(total)}; from all of "
        f"them together, a reader {_odds(total)}.",
        f"{many(len(choices), 'choice')} by the exponential mechanism on whole scores and "
        f"{many(len(process.events) - len(choices), 'measurement')} with {noise} noise were made.",
        f"OpenDP {drawn.opendp} drew all of them from the operating system's randomness, with dpbayes "
        f"{drawn.dpbayes}, on Python {drawn.python}; {drawn.time}.",
        "Not covered: which columns were taken, and their states, declared "
        f"{request.domains.value}, as the curator states.",
    ]


def _guarantee_text(plan: AdaptivePlan) -> str:
    epsilon = amount_text(Fraction(plan.epsilon))
    if not plan.delta:
        return f"The guarantee is pure, with epsilon {epsilon}"
    delta = amount_text(Fraction(plan.delta))
    return (
        f"The guarantee is zero-concentrated, with rho {amount_text(plan.rho)}, which gives epsilon {epsilon} at delta "
        f"{delta}"
    )


def _total_text(amount: Amount) -> str:
    """Return an amount in words: "epsilon 0.5"."""
    return f"{measure_of(amount).value} {amount_text(number_of(amount))}"


def _odds(amount: Amount) -> str:
    """Return what a reader can learn at an epsilon or a rho, as the rest of a sentence."""
    if isinstance(amount, Rho):
        return _odds_of_rho(amount.value)
    epsilon = amount
    if epsilon >= _WEAK:
        return f"may learn nearly all of any one record: an epsilon of {amount_text(epsilon)} hides next to nothing"
    factor = numeral(math.exp(float(epsilon)))
    return f"can change their odds on what any one record says by a factor of at most {factor}"


_RARE = 1e-6
"""The probability with which a reader may learn more than a sentence on a rho states."""


def _odds_of_rho(rho: Fraction) -> str:
    if likely_loss(rho) >= _WEAK:
        return f"may learn nearly all of any one record: a rho of {amount_text(rho)} hides next to nothing"
    return (
        f"can change their odds on what any one record says by a factor of at most {_factor_text(rho)}, but for one "
        "release in a million"
    )


def _factor_text(rho: Fraction) -> str:
    """Return the factor by which odds change at a rho, exceeded with a probability of at most one in a million."""
    loss = likely_loss(rho)
    return f"exp({numeral(loss, 4)})" if loss >= _WEAK else numeral(math.exp(loss))


def likely_loss(rho: Fraction) -> float:
    """Return a loss that is exceeded once in a million at most: rho + 2 sqrt(rho ln 1/_RARE). [Bun16] Proposition 1.3.

    It bounds the loss itself. So it holds for each release, also for a reader who knows only a distribution of the
    other records, because the divergence of mixtures of neighbours is no larger.
    """
    return float(rho) + 2 * math.sqrt(float(rho) * -math.log(_RARE))
