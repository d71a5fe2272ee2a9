"""A release as one HTML file for a board, a class or an archive, without external content, printable on one page."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import islice

import numpy as np

from dpbayes.audit.risk import LINKED, SUSPICION, ceiling, risk, sentences
from dpbayes.base.amounts import Amount, EpsilonDelta, Rho, amount_text, amount_with_symbol, measure_of, number_of
from dpbayes.base.privacy import Guarantee
from dpbayes.base.text import in_hundred, many, numeral, percent
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms.release import ReleasedPosterior
from dpbayes.model.network import Network, assignment
from dpbayes.model.query import query
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_model import Reading
from dpbayes.posteriors.prior_rules import rule_of
from dpbayes.releases.document import Document, SampledSteps, SampledTables
from dpbayes.releases.document.certificate import Composed, likely_loss
from dpbayes.releases.document.request import Chargeable, ReleaseRequest
from dpbayes.releases.document.signature import signature_line
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
    "missing_values": "Missing values",
}
"""The fields of the certificate that the page shows, by their headings."""

NOT_OF_A_CERTIFICATE = {
    "Side channels": (
        "The released numbers are exact integers. The time and memory of the computation are not protected."
    ),
    "Data collection": "Not covered. The curator is responsible for how records are collected, stored and deleted.",
}
"""Answers that are the same for all releases."""

_STYLE = """
@page { size: A4; margin: 8mm 12mm }
body { font: 10pt/1.25 system-ui, sans-serif; color: #1b1f24; max-width: 186mm; margin: 8mm auto }
@media print { body { max-width: none; margin: 0 } }
h1 { font-size: 16pt; margin: 0 0 2mm; overflow-wrap: anywhere } h2 { font-size: 11pt; margin: 2mm 0 .5mm }
h2 { break-after: avoid } p { margin: 1mm 0 0 }
ol { margin: 0; padding-left: 5mm; font-size: 10pt; overflow-wrap: anywhere } ol li { margin-bottom: .8mm }
.person { font-size: 8pt }
.bars { columns: 2; column-gap: 8mm; font-size: 8.4pt }
.bars div { break-inside: avoid; display: flex; gap: 2mm; align-items: center }
.bars span { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.bars i { flex: none; position: relative; width: 21mm; height: 2.4mm; background: #e4e7eb; print-color-adjust: exact }
.bars b { display: block; height: 100%; background: #b45309; print-color-adjust: exact }
.bars u { position: absolute; top: .9mm; height: .6mm; background: #1b1f24; print-color-adjust: exact }
.bars small { flex: none; width: 14mm; font-size: 7.5pt; font-variant-numeric: tabular-nums }
.bars em { flex: none; width: 12mm; text-align: right; font-style: normal; font-variant-numeric: tabular-nums }
dl { display: grid; grid-template-columns: 30mm 1fr; gap: .2mm 3mm; margin: 0; font-size: 8pt }
dt { font-weight: 600 } dd { margin: 0; overflow-wrap: anywhere } ul { margin: 0; padding-left: 4mm; font-size: 8pt }
code { font-size: 8pt; overflow-wrap: anywhere }
"""


def html_report(document: Document, reading: Reading = Reading.NOISE_AWARE, *, suspicion: float = SUSPICION) -> str:
    """Return the report: sentences, a probability of each node, the certificate and its meaning, the verification.

    `suspicion` is an attacker's prior belief about one person. Equal files give equal reports. Errors: those of
    `Document.tables`, of `probabilities_and_warning`, and InputError for a suspicion out of (0, 1).
    """
    finite_number("The suspicion", suspicion, low=1e-9, high=1 - 1e-9)
    title, certificate = escape(f"Release of {document.request.dataset}"), document.content["certificate"]
    answers = {name: str(certificate[key]) for key, name in _TERMS.items()}
    answers |= {"Parameters": _parameters(document.request), **NOT_OF_A_CERTIFICATE}
    terms = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in answers.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>\n"
        f"<ol>{_items(document.content['sentences'])}</ol>\n"
        f"<h2>Results</h2>\n{_bars(_ReleasedNetwork.of(document, reading))}\n"
        f"<h2>Privacy guarantee, by the questions of NIST SP 800-226</h2>\n<dl>{terms}</dl>\n"
        f'<h2>Meaning for one person</h2>\n<p class="person">{escape(_person(document, suspicion))}</p>\n'
        f"<h2>Not covered by the guarantee</h2>\n<ul>{_items(certificate['not_covered'])}</ul>\n"
        "<h2>Verification</h2>\n<p>This command checks the release without the records: <code>python -m "
        "dpbayes verify release.json</code>. "
        f"SHA-256 of the content: <code>{escape(str(document.content['hash']))}</code> "
        f"{escape(signature_line(document.content))}</p>\n</body></html>\n"
    )


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{escape(text)}</li>" for text in texts)


def _parameters(request: Chargeable) -> str:
    """Return a sentence on the public settings."""
    loss = f"{amount_with_symbol(request.cost)}{_at_delta(request.cost, request.stated)}"
    if not isinstance(request, ReleaseRequest):
        return f"{loss}; Adaptive; n = {request.n:,}. The plan, columns and states are public too."
    rule = rule_of(request.dirichlets)
    prior = "a parameter for each cell, in the request" if rule is None else rule.title
    return (
        f"{loss}; {request.entry.label}; n = {request.n:,}. The graph, prior and states are public too. The prior is "
        f"{prior}."
    )


def _at_delta(cost: Amount, stated: EpsilonDelta | None) -> str:
    if stated is not None:
        return f", ε = {amount_text(stated.epsilon)}, δ = {amount_text(stated.delta)}"
    return "" if isinstance(cost, Rho) else ", δ = 0"


# The results


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
        if isinstance(document.sampled, SampledSteps):
            return cls(document.network, document.sampled.release.probabilities, _ADAPTIVE)
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
            f"{escape(estimate.intervals)}{_decided([answer for _, answer in answers])}</p>"
        )
    remark = f"<p>{escape(estimate.remark)}</p>" if estimate.remark else ""
    return f'<div class="bars">{bars}</div>{rest}{said}{remark}'


def _bar(estimate: _ReleasedNetwork, node: int, answer: QueryAnswer) -> str:
    network, state = estimate.network, estimate.network.telling_state(node)
    share, low, high = (float(np.clip(ends[state], 0.0, 1.0)) for ends in (answer.mean, answer.low, answer.high))
    name = escape(f"P({assignment(network.names[node], network.states[node][state])})")
    mark = small = ""
    if estimate.law is not None:
        mark = f'<u style="left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"></u>'
        small = f"<small>{low:.2f}–{high:.2f}</small>"
    drawn = f'<i><b style="width:{100 * share:.1f}%"></b>{mark}</i>'
    return f'<div><span title="{name}">{name}</span>{drawn}<em>{escape(numeral(share, 2))}</em>{small}</div>'


def _decided(answers: Sequence[QueryAnswer]) -> str:
    """Return a sentence on the number of answers that depend mainly on the prior."""
    decided = sum(answer.is_prior_decisive for answer in answers)
    return f" {decided} of these {many(len(answers), 'answer')} mainly depend on the prior." if decided else ""


# The meaning of the guarantee for one person


def _person(document: Document, suspicion: float) -> str:
    """Return sentences on what an attacker can infer from this release and from all releases of the dataset."""
    after_all = _together(document.composed, document.request.cost, suspicion)
    return f"{_after_this(document, suspicion)} {LINKED} {after_all}".rstrip()


def _after_this(document: Document, suspicion: float) -> str:
    """Return the result of the audit, or why there is none; for an adaptive release, the limit by its guarantee.

    The audit is of the mechanism with integer noise, which was used.
    """
    if not isinstance(document.sampled, SampledTables):
        raised = _raised(document.request.cost, suspicion)
        return f"An attacker's {percent(suspicion)} belief about one person {raised} after this release."
    request = document.sampled.request
    try:
        own = risk(request.entry.simulated(request), n=request.n, suspicion=suspicion)
    except InputError as error:
        return str(error)
    return sentences([own])


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


def _raised(total: Amount, suspicion: float) -> str:
    """Return the limit of a suspicion after releases of this total cost, as the rest of a sentence."""
    most = in_hundred(ceiling(suspicion, Guarantee(likely_loss(total))))
    if most == "100":
        return "can rise to almost 100%"
    if isinstance(total, Rho):
        return f"can rise above {most}% with probability at most 10⁻⁶"
    return f"can rise to at most {most}%"
