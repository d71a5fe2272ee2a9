"""A release as one HTML file for a board, a class or an archive, without external content, printable on one page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from html import escape
from itertools import islice

import numpy as np

from dpbayes.audit.risk import LINKED, SUSPICION, ceiling, risk, sentences
from dpbayes.base.amounts import Amount, Rho, amount_text, amount_with_symbol, measure_of, number_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import in_hundred, many, numeral, percent
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.labels import assignment
from dpbayes.model.network import Network
from dpbayes.model.query import query
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import Reading
from dpbayes.posteriors.prior_rules import rule_of
from dpbayes.releases.document import AdaptiveDocument, Document, ReleaseDocument
from dpbayes.releases.document.certificate import NEIGHBOURS, NEVER_COVERED, TRUST, UNIT, Composed, likely_loss
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.releases.document.signature import signature_line
from dpbayes.releases.views.paper import items, nested, paper, probability_bar
from dpbayes.releases.views.reading import (
    INTERVALS,
    answer_under,
    posterior_name,
    posterior_of,
    probabilities_and_warning,
    reading_of,
    roughness_of,
)

MOST_BARS = 24
"""The largest number of nodes with a bar on the page."""

MOST_NAMED = 2
"""The largest number of answers that are named as depending on the prior; of more, their number is stated."""

DRAWS, MOST_DRAWN = 400, 1 << 22
"""Samples of all CPTs for the intervals, and their largest total size; a larger network has no intervals."""

_TERMS = {
    "unit": "Unit of privacy",
    "neighbours": "Neighbours",
    "promise": "Guarantee",
    "composed": "Composition",
    "trust": "Trust model",
    "noise": "Noise",
    "drawn": "Sampling of the noise",
    "made_with": "Software",
}
"""The fields of the certificate that the page shows, by their headings."""

NOT_OF_A_CERTIFICATE = {
    "Side channels": (
        "The released numbers are exact integers. The time and memory of the computation are not protected."
    ),
    "Data collection": "Not covered. The curator is responsible for how records are collected, stored and deleted.",
}
"""Answers that are the same for all releases."""


def html_report(document: Document, reading: Reading = Reading.NOISE_AWARE, *, suspicion: float = SUSPICION) -> str:
    """Return the report: sentences, a probability of each node, the certificate and its meaning, the verification.

    `suspicion` is an attacker's prior belief about one person. Equal files give equal reports. Errors: those of
    `release_of`, of `probabilities_and_warning`, and InputError for a suspicion out of (0, 1).
    """
    finite_number("The suspicion", suspicion, low=1e-9, high=1 - 1e-9)
    first, answers, not_covered = _parts(document)
    bars = _bars(_ReleasedNetwork.of(document, reading))
    terms = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in answers.items())
    return paper(
        f"Release of {document.request.dataset}",
        f"<ol>{items(first)}</ol>\n"
        f"<h2>Results</h2>\n{bars}\n"
        f"<h2>Privacy guarantee, by the questions of NIST SP 800-226</h2>\n<dl>{terms}</dl>\n"
        f'<h2>Meaning for one person</h2>\n<p class="person">{escape(_person(document, suspicion))}</p>'
        f"{_beliefs(document, suspicion)}\n"
        f"<h2>Not covered by the guarantee</h2>\n<ul>{items(not_covered)}</ul>\n"
        "<h2>Verification</h2>\n<p>This command checks the release without the records: <code>python -m "
        "dpbayes verify release.json</code>. "
        f"SHA-256 of the content: <code>{escape(str(document.content['hash']))}</code> "
        f"{escape(signature_line(document.content))}</p>\n",
    )


_Parts = tuple[Sequence[str], Mapping[str, str], Sequence[str]]
"""The first sentences of a report, the answers to the questions of NIST SP 800-226, and what is not covered."""


def _parts(document: Document) -> _Parts:
    if isinstance(document, ReleaseDocument):
        return _of_a_release(document)
    assert isinstance(document, AdaptiveDocument), "there are two kinds"
    return _of_an_adaptive_release(document)


def _of_a_release(document: ReleaseDocument) -> _Parts:
    certificate, request = document.content["certificate"], document.request
    amount = amount_with_symbol(request.cost)
    delta = "" if isinstance(request.cost, Rho) else ", δ = 0"
    answers = {name: str(certificate[key]) for key, name in _TERMS.items()} | {
        "Parameters": (
            f"{amount}{delta}; {request.entry.label}; n = {request.n:,}. The graph, prior and states are public too. "
            f"The prior is {_prior_title(request)}."
        ),
        **NOT_OF_A_CERTIFICATE,
    }
    return document.content["sentences"], answers, certificate["not_covered"]


def _of_an_adaptive_release(document: AdaptiveDocument) -> _Parts:
    described, neighbours, guarantee, spent, noise, drawn, declared = document.content["sentences"]
    request = document.request
    rho = f"ρ = {amount_text(request.plan.rho)}, " if isinstance(request.cost, Rho) else ""
    epsilon, delta = (amount_text(Fraction(value)) for value in (request.plan.epsilon, request.plan.delta))
    answers = {
        "Unit of privacy": UNIT,
        "Neighbours": NEIGHBOURS,
        "Guarantee": guarantee,
        "Composition": spent,
        "Trust model": TRUST,
        "Noise": noise,
        "Sampling of the noise": drawn,
        "Parameters": (
            f"{rho}ε = {epsilon}, δ = {delta}; n = {request.n:,}. The plan, columns and states are public too."
        ),
        **NOT_OF_A_CERTIFICATE,
    }
    return [described, neighbours], answers, [declared, *NEVER_COVERED]


def _prior_title(request: ReleaseRequest) -> str:
    rule = rule_of(request.dirichlets)
    return "a parameter for each cell, in the request" if rule is None else rule.title


@dataclass(frozen=True, eq=False)
class _ReleasedNetwork:
    """The CPTs of a release (K,), and the posterior that answers questions, with its prior.

    A released estimate, an adaptive release and a very large network have no posterior here. `remark` concerns the
    probabilities, such as rows with few importance points.
    """

    network: Network
    mean: FloatArray
    remark: str
    law: Dirichlets | DirichletMixtures | None = None
    prior: Dirichlets | None = None
    intervals: str = ""

    @classmethod
    def of(cls, document: Document, reading: Reading) -> "_ReleasedNetwork":
        if isinstance(document, AdaptiveDocument):
            return cls(document.network, document.release.probabilities, _ADAPTIVE)
        network, release = document.network, document.tables
        if not isinstance(release.outcome, ReleasedPosterior) or DRAWS * network.cell_count > MOST_DRAWN:
            return cls(network, *probabilities_and_warning(release, reading))
        law, worth = posterior_of(release, reading), INTERVALS[reading_of(release, reading)]
        return cls(network, law.mean, roughness_of(law), law, release.outcome.prior, worth)

    def answer(self, node: int) -> QueryAnswer | None:
        """Return the probabilities of a node's states, with intervals; None if the network is too dense."""
        name = self.network.names[node]
        try:
            if self.law is None or self.prior is None:
                mean = query(self.network, self.mean, name, {})
                return QueryAnswer(mean, mean, mean, np.zeros_like(mean), LEVEL)
            return replace(answer_under(self.law, self.prior, name, {}, LEVEL), mean=self.law.query(name))
        except InputError:
            return None


_ADAPTIVE = "The bars show noise-aware probabilities, without intervals."


def _bars(estimate: _ReleasedNetwork) -> str:
    """One bar for each node: the probability of its telling state in the released network, and its interval."""
    network = estimate.network
    every = ((node, estimate.answer(node)) for node in range(len(network.names)))
    answers = list(islice(((node, answer) for node, answer in every if answer is not None), MOST_BARS))
    bars = "".join(_bar(estimate, node, answer) for node, answer in answers)
    more = len(network.names) - MOST_BARS
    rest = f"<p>The file has {more:,} more nodes.</p>" if more > 0 else ""
    said = ""
    if estimate.law is not None:
        said = (
            f"<p>Marks and small numbers show {LEVEL:.0%} intervals of the {posterior_name(estimate.law)}. "
            f"{escape(estimate.intervals)}{escape(_decided(network, answers))}</p>"
        )
    remark = f"<p>{escape(estimate.remark)}</p>" if estimate.remark else ""
    return f'<div class="bars">{bars}</div>{rest}{said}{remark}'


def _bar(estimate: _ReleasedNetwork, node: int, answer: QueryAnswer) -> str:
    network = estimate.network
    state = network.telling_state(node)
    share, low, high = (float(np.clip(ends[state], 0.0, 1.0)) for ends in (answer.mean, answer.low, answer.high))
    return probability_bar(_label(network, node), share, None if estimate.law is None else (low, high))


def _label(network: Network, node: int) -> str:
    return f"P({assignment(network.names[node], network.states[node][network.telling_state(node)])})"


def _decided(network: Network, answers: list[tuple[int, QueryAnswer]]) -> str:
    """Return a sentence on the answers that depend mainly on the prior."""
    names = [_label(network, node) for node, answer in answers if answer.is_prior_decisive]
    if not names:
        return ""
    if len(names) > MOST_NAMED:
        return f" {len(names)} of these answers depend mainly on the prior."
    return f" {' and '.join(names)} {'depends' if len(names) == 1 else 'depend'} mainly on the prior."


# The meaning of the guarantee for one person


def _person(document: Document, suspicion: float) -> str:
    """Return sentences on what an attacker can infer from this release and from all releases of the dataset."""
    after_all = _together(document.composed, document.request.cost, suspicion)
    return f"{_after_this(document, suspicion)} {LINKED} {after_all}".rstrip()


def _after_this(document: Document, suspicion: float) -> str:
    """Return the result of the audit, or why there is none; for an adaptive release, the limit by its guarantee.

    The audit is of the mechanism with integer noise, which was used.
    """
    if not isinstance(document, ReleaseDocument):
        raised = _raised(document.request.cost, suspicion)
        return f"An attacker's {percent(suspicion)} belief about one person {raised} after this release."
    request = document.request
    try:
        own = risk(request.entry.simulated(request), n=request.n, suspicion=suspicion)
    except InputError as error:
        return str(error)
    return sentences([own])


def _beliefs(document: Document, suspicion: float) -> str:
    """Draw the suspicion, and its limits after this release and after all releases."""
    cost, composed = document.request.cost, document.composed
    shares = [
        (f"belief before the release: {percent(suspicion)}", suspicion),
        _belief_after("after this release", cost, suspicion),
    ]
    if composed.releases:
        shares.append(_belief_after("after all releases", composed.after(cost), suspicion))
    return nested(shares, "; ".join(label for label, _ in shares))


def _raised(total: Amount, suspicion: float) -> str:
    """Return the limit of a suspicion after releases of this total cost, as the rest of a sentence."""
    most = in_hundred(_most(total, suspicion))
    if most == "100":
        return "can rise to almost 100%"
    if isinstance(total, Rho):
        return f"can rise above {most}% with probability at most 10⁻⁶"
    return f"can rise to at most {most}%"


def _together(composed: Composed, cost: Amount, suspicion: float) -> str:
    """Return a sentence on a release and all earlier ones of its dataset; "" if there are none."""
    if not composed.releases:
        return ""
    total = composed.after(cost)
    return (
        f"Together with {many(composed.releases, 'earlier release')} of this dataset the privacy loss is "
        f"{measure_of(total).symbol} = {numeral(float(number_of(total)), 4)}: an attacker's "
        f"{percent(suspicion)} belief about one person {_raised(total, suspicion)}."
    )


def _belief_after(when: str, total: Amount, suspicion: float) -> tuple[str, float]:
    """Return the limit of a suspicion after releases of this total cost, with its description, for the same drawing."""
    most, seldom = _most(total, suspicion), " (p = 1 − 10⁻⁶)" if isinstance(total, Rho) else ""
    return f"{when}: at most {in_hundred(most)}%{seldom}", most


def _most(total: Amount, suspicion: float) -> float:
    """Return the limit of a suspicion: certain for an epsilon, rarely exceeded for a rho."""
    loss = likely_loss(total.value) if isinstance(total, Rho) else float(total)
    return ceiling(suspicion, Guarantee(loss))
