"""An adaptive release as one HTML file, with the parts that the report of another release has."""

from fractions import Fraction
from html import escape
from itertools import islice

from dpbayes.audit.risk import LINKED, SUSPICION
from dpbayes.base.amounts import Rho, amount_text
from dpbayes.base.text import percent
from dpbayes.base.validation import InputError, finite_number
from dpbayes.mechanisms.adaptive.release import AdaptiveRelease
from dpbayes.model.labels import assignment
from dpbayes.model.query import query
from dpbayes.releases.document.adaptive import AdaptiveDocument
from dpbayes.releases.document.certificate import NEIGHBOURS, NEVER_COVERED, TRUST, UNIT
from dpbayes.releases.document.signature import signature_line
from dpbayes.releases.views.paper import items, nested, paper, probability_bar
from dpbayes.releases.views.report import MOST_BARS, NOT_OF_A_CERTIFICATE, belief_after, belief_before, raised, together


def adaptive_report(document: AdaptiveDocument, *, suspicion: float = SUSPICION) -> str:
    """Return the report: sentences, a probability of each column, the guarantee and its meaning, the verification.

    `suspicion` is an attacker's prior belief about one person. Errors: InputError for a suspicion out of (0, 1).
    """
    finite_number("The suspicion", suspicion, low=1e-9, high=1 - 1e-9)
    request, content, composed = document.request, document.content, document.composed
    described, neighbours, guarantee, spent, noise, drawn, declared = content["sentences"]
    answers = {
        "Unit of privacy": UNIT,
        "Neighbours": NEIGHBOURS,
        "Guarantee": guarantee,
        "Composition": spent,
        "Trust model": TRUST,
        "Noise": noise,
        "Sampling of the noise": drawn,
        "Parameters": _parameters(document),
        **NOT_OF_A_CERTIFICATE,
    }
    terms = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in answers.items())
    person = (
        f"An attacker's {percent(suspicion)} belief about one person {raised(request.cost, suspicion)} after this "
        f"release. {LINKED} {together(composed, request.cost, suspicion)}"
    )
    return paper(
        f"Release of {request.dataset}",
        f"<ol>{items([described, neighbours])}</ol>\n"
        f"<h2>Results</h2>\n{_bars(document.release)}\n"
        f"<h2>Privacy guarantee, by the questions of NIST SP 800-226</h2>\n<dl>{terms}</dl>\n"
        f'<h2>Meaning for one person</h2>\n<p class="person">{escape(person.rstrip())}</p>'
        f"{_beliefs(document, suspicion)}\n"
        f"<h2>Not covered by the guarantee</h2>\n<ul>{items([declared, *NEVER_COVERED])}</ul>\n"
        "<h2>Verification</h2>\n<p>This command checks the release without the records: <code>python -m "
        "dpbayes verify release.json</code>. "
        f"SHA-256 of the content: <code>{escape(str(content['hash']))}</code> "
        f"{escape(signature_line(content))}</p>\n",
    )


def _parameters(document: AdaptiveDocument) -> str:
    request = document.request
    rho = f"ρ = {amount_text(request.plan.rho)}, " if isinstance(request.cost, Rho) else ""
    epsilon, delta = (amount_text(Fraction(value)) for value in (request.plan.epsilon, request.plan.delta))
    return f"{rho}ε = {epsilon}, δ = {delta}; n = {request.n:,}. The plan, columns and states are public too."


def _beliefs(document: AdaptiveDocument, suspicion: float) -> str:
    """Draw the suspicion, and its limits after this release and after all releases."""
    cost, composed = document.request.cost, document.composed
    shares = [belief_before(suspicion), belief_after("after this release", cost, suspicion)]
    if composed.releases:
        shares.append(belief_after("after all releases", composed.after(cost), suspicion))
    return nested(shares, "; ".join(label for label, _ in shares))


def _bars(release: AdaptiveRelease) -> str:
    """One bar for each column: the probability of one of its states in the released network."""
    network, probabilities = release.network, release.probabilities
    bars = []
    for node, name in islice(enumerate(network.names), MOST_BARS):
        state = network.telling_state(node)
        try:
            share = float(query(network, probabilities, name, {})[state])
        except InputError:  # the graph is too dense
            continue
        bars.append(probability_bar(f"P({assignment(name, network.states[node][state])})", share))
    more = len(network.names) - MOST_BARS
    rest = f"<p>The file has {more:,} more columns.</p>" if more > 0 else ""
    said = (
        "<p>The bars show noise-aware probabilities, without intervals. An answer about columns that no released table "
        "contains together assumes the independences of the released graph, and has no interval.</p>"
    )
    return f'<div class="bars">{"".join(bars)}</div>{rest}{said}'
