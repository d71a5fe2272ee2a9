"""The report: one file that asks nothing of anybody, shows names as text, and says what the document says."""

import html
import math
import re
from dataclasses import replace
from fractions import Fraction
from html.parser import HTMLParser

import numpy as np
import pytest

from dpbayes.audit.risk import LINKED, risk, sentences
from dpbayes.base.amounts import Rho, amount_text, number_of
from dpbayes.base.text import numeral
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import LaplaceUpdates, Noise
from dpbayes.model.counts import Counts
from dpbayes.model.network import Network
from dpbayes.model.query import query
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import read_document
from dpbayes.releases.document.certificate import Composed
from dpbayes.releases.publishing import publish
from dpbayes.releases.views import report as report_module
from dpbayes.releases.views.reading import INTERVALS, released_bif
from dpbayes.releases.views.report import DRAWS, MOST_BARS, NOT_OF_A_CERTIFICATE, html_report
from dpbayes.sources.bif import read_bif
from tests.releases.asking import drawn
from tests.releases.made import NETWORK, counts, opened, opened_in_rho, released, request_with
from tests.releases.made_adaptive import PLAN, drawn_under_pure_privacy, drawn_with_a_generator


class Seen(HTMLParser):
    """The tags and the text of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def seen(report: str) -> Seen:
    parser = Seen()
    parser.feed(report)
    return parser


def test_the_report_says_what_the_document_says_and_asks_nothing_of_anybody(tmp_path):
    document = read_document(released(tmp_path).document)
    report = html_report(document)
    page = seen(report)
    for sentence in [*document.content["sentences"], *document.content["certificate"]["not_covered"]]:
        assert sentence in page.text
    assert document.content["hash"] in page.text
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "a", "form"}
    assert not [name for _, attrs in page.tags for name in attrs if name in ("src", "href") or name.startswith("on")]
    assert "url(" not in report
    assert "@import" not in report
    assert ("meta", "default-src 'none'") in {
        (tag, (attrs.get("content") or "").partition(";")[0]) for tag, attrs in page.tags
    }


def answers_of(report: str) -> dict[str, str]:
    """Return the answers to the questions of NIST SP 800-226, as text by their headings."""
    (terms,) = re.findall("by the questions of NIST SP 800-226</h2>\n<dl>(.*?)</dl>", report)
    return {name: html.unescape(text) for name, text in re.findall("<dt>(.*?)</dt><dd>(.*?)</dd>", terms)}


@pytest.mark.parametrize(
    ("mechanism", "loss", "parameters"),
    [
        ("laplace", {}, "ε = 0.5, δ = 0; Laplace; n = 60."),
        ("gaussian", {"rho": Fraction(1, 5)}, "ρ = 0.2; Gaussian; n = 60."),
        ("pure", {}, "ε = 5, δ = 0; Adaptive; n = 300."),
        ("with delta", {}, f"ρ = {amount_text(PLAN.rho)}, ε = 5, δ = 0.00001; Adaptive; n = 300."),
    ],
)
def test_it_answers_the_questions_of_nist_sp_800_226(mechanism, loss, parameters):
    """Unit of privacy, trust model, side channels, data collection, parameters, composition, from the certificate."""
    adaptive = {"pure": drawn_under_pure_privacy, "with delta": drawn_with_a_generator}
    document_of = adaptive.get(mechanism, lambda: drawn(request_with(mechanism=mechanism, **loss), counts()))
    document = read_document(document_of())
    certificate, answers = document.content["certificate"], answers_of(html_report(document))
    own = {"Unit of privacy": "unit", "Trust model": "trust", "Composition": "composed", "Guarantee": "promise"}
    assert {name: answers[name] for name in own} == {name: certificate[key] for name, key in own.items()}
    assert set(NOT_OF_A_CERTIFICATE) <= set(answers)
    assert answers["Parameters"].startswith(parameters)


def test_the_bars_and_beliefs_of_an_adaptive_release_are_its_own():
    for data, limit in (
        (drawn_under_pure_privacy(), "can rise to at most 94.3%"),
        (drawn_with_a_generator(), "with probability at most 10⁻⁶"),
    ):
        document = read_document(data)
        release, page = document.sampled.release, seen(html_report(document))
        states = {name: release.network.telling_state(node) for node, name in enumerate(release.network.names)}
        shares = [query(release.network, release.probabilities, name, {})[state] for name, state in states.items()]
        assert [attrs["style"] for tag, attrs in page.tags if tag == "b"] == [f"width:{100 * s:.1f}%" for s in shares]
        assert limit in page.text


def test_its_bars_are_the_released_network(tmp_path):
    document = read_document(released(tmp_path).document)
    release = document.tables
    aware, real = release.joint_noise_aware(), release.posterior
    for page, posterior in (
        (seen(html_report(document)), aware),
        (seen(html_report(document, Reading.AS_REAL)), real),
    ):
        widths = [attrs["style"] for tag, attrs in page.tags if tag == "b"]
        shares = [posterior.query("rain")[1], posterior.query("grass")[0]]
        assert widths == [f"width:{100 * share:.1f}%" for share in shares]
        assert "P(rain=yes)" in page.text
    assert aware.query("rain")[1] != real.query("rain")[1]


def marks(page: Seen) -> list[tuple[float, float]]:
    """Where the intervals of a report begin and how wide they are, as shares."""
    styles = [re.findall(r"[\d.]+", attrs["style"] or "") for tag, attrs in page.tags if tag == "u"]
    return [(float(left) / 100, float(width) / 100) for left, width in styles]


def test_its_intervals_are_those_of_the_law_and_one_sentence_says_what_they_are_worth(tmp_path):
    document = read_document(released(tmp_path).document)
    release, report = document.tables, html_report(document)
    assert report == html_report(document), "the same release gives the same report"
    aware, real = seen(report), seen(html_report(document, Reading.AS_REAL))
    cell = 1  # P(rain=yes), of a root: its query is the cell itself
    for page, law in ((aware, release.joint_noise_aware()), (real, release.posterior)):
        (start, width), *_ = marks(page)
        low, high = law.interval(cells=cell)
        # Quantiles of 400 draws: an end is off by some 0.07 of the width.
        np.testing.assert_allclose((start, start + width), (low, high), atol=0.3 * (high - low))
    assert INTERVALS[Reading.NOISE_AWARE] in aware.text
    assert INTERVALS[Reading.AS_REAL] in real.text
    assert "show 95% intervals of the joint noise-aware posterior." in aware.text
    assert "show 95% intervals of the naive posterior." in real.text


def test_answers_that_the_prior_decides_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr("dpbayes.posteriors.answers.LEAST_COVERAGE", 1.1)
    names = [f"v{k}" for k in range(4)]
    states = dict.fromkeys(names, ("no", "yes"))
    for nodes, said in ((1, "1 of these 1 answer mainly"), (4, "4 of these 4 answers mainly depend")):
        network = Network.from_edges(names[:nodes], [], {name: states[name] for name in names[:nodes]})
        request = request_with(network=network, n=2, epsilon=Fraction(1, 10))
        (tmp_path / str(nodes)).mkdir()
        published = publish(opened(tmp_path / str(nodes)), request, Counts(network, np.array([1, 1] * nodes), 2))
        assert said in seen(html_report(read_document(published.document))).text
    monkeypatch.undo()
    report = html_report(read_document(released(tmp_path, epsilon=Fraction(2)).document))
    assert "mainly depend on the prior" not in report


def test_it_says_what_the_drawn_noise_means_for_one_person(tmp_path):
    document = read_document(released(tmp_path).document)
    request = document.request
    mechanism = LaplaceUpdates(prior=request.dirichlets, epsilon=float(request.epsilon), noise=Noise.WHOLE)
    report = seen(html_report(document))
    assert f"{sentences([risk(mechanism, n=request.n)])} {LINKED}" in report.text
    assert "before it" not in report.text, "it is the first release"


@pytest.mark.parametrize("suspicion", [0.1, 0.35])
def test_the_suspicion_may_be_changed(suspicion):
    document = read_document(drawn(request_with(), counts()))
    odds = math.exp(0.5) * suspicion / (1 - suspicion)
    page = seen(html_report(document, suspicion=suspicion))
    assert f"The attacker’s {100 * suspicion:g}% belief can rise to at most" in page.text
    assert f"{math.ceil(1000 * odds / (1 + odds)) / 10}%" in page.text
    with pytest.raises(InputError, match="suspicion"):
        html_report(document, suspicion=1.0)


def test_it_says_what_all_releases_so_far_allow_where_the_budget_is_kept_in_rho(tmp_path):
    """Both kinds of release are paid in rho; the loss passes rho + 2 sqrt(rho ln 1/delta) with probability delta."""
    for kind in ({"mechanism": "gaussian", "rho": Fraction(1, 10)}, {"epsilon": Fraction(1, 2)}):
        folder = tmp_path / kind.get("mechanism", "laplace")
        folder.mkdir()
        first = read_document(publish(opened_in_rho(folder), request_with(**kind), counts()).document)
        assert "earlier release" not in seen(html_report(first)).text
        later = replace(first, composed=Composed(2, Rho(Fraction(1, 5))))
        rho = number_of(later.composed.after(first.request.cost))
        odds = math.exp(float(rho) + 2 * math.sqrt(float(rho) * math.log(1e6))) / 9
        most = math.ceil(1000 * odds / (1 + odds)) / 10
        assert (
            f"Together with 2 earlier releases of this dataset the privacy loss is ρ = {numeral(float(rho), 4)}: an "
            f"attacker's 10% belief about one person can rise above {most}% with probability at most 10⁻⁶."
        ) in seen(html_report(later)).text
        weak = replace(first, composed=Composed(2, Rho(Fraction(20))))
        assert "can rise to almost 100%" in seen(html_report(weak)).text


def test_an_estimate_has_no_intervals(tmp_path):
    page = seen(html_report(read_document(released(tmp_path, mechanism="map").document)))
    assert not marks(page)
    assert "ntervals" not in page.text


def test_a_report_of_a_large_network_has_no_intervals(tmp_path, monkeypatch):
    document = read_document(released(tmp_path).document)
    monkeypatch.setattr(report_module, "MOST_DRAWN", DRAWS * NETWORK.cell_count - 1)
    page = seen(html_report(document))
    assert not marks(page)
    assert "P(rain=yes)" in page.text


def test_names_are_text(tmp_path):
    from dpbayes.model.counts import Counts

    name = '<script>alert("1")</script>&'
    network = Network.from_edges([name], [], {name: ("no", "<img src=x onerror=alert(1)>")})
    counts = Counts(network, np.array([3, 4]), 7)
    published = publish(opened(tmp_path), request_with(network=network, n=7, epsilon=Fraction(1)), counts)
    page = seen(html_report(read_document(published.document)))
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert name in page.text


def test_a_wide_network_keeps_to_its_page(tmp_path):
    from dpbayes.model.counts import Counts

    names = [f"x{k}" for k in range(MOST_BARS + 6)]
    network = Network.from_edges(names, [], {})
    counts = Counts(network, np.tile([1, 2], len(names)), 3)
    published = publish(opened(tmp_path), request_with(network=network, n=3, epsilon=Fraction(1)), counts)
    page = seen(html_report(read_document(published.document)))
    assert len([tag for tag, _ in page.tags if tag == "b"]) == MOST_BARS
    assert "The file has 6 more nodes." in page.text


def test_the_bif_holds_the_released_tables(tmp_path):
    document = read_document(released(tmp_path).document)
    network, cpts = read_bif(released_bif(document))
    assert network == NETWORK
    np.testing.assert_array_equal(cpts, document.tables.joint_noise_aware().mean)
    _, as_real = read_bif(released_bif(document, Reading.AS_REAL))
    np.testing.assert_array_equal(as_real, document.tables.outcome.probabilities)


def test_what_rests_on_few_points_is_said_in_every_file_as_on_the_page(tmp_path, monkeypatch):
    """In the report and before the BIF's network; nowhere of counts taken as real."""
    document = read_document(released(tmp_path).document)
    release = document.tables

    def files(reading: Reading) -> list[str]:
        return [seen(html_report(document, reading)).text, released_bif(document, reading)]

    for reading in Reading:
        assert not [file for file in files(reading) if "possible counts have weight" in file]
    monkeypatch.setattr("dpbayes.posteriors.noise_aware.FEW_POINTS", 10**9)
    worst = numeral(float(release.joint_noise_aware().effective.min()), 2)
    remark = f"have weight ({worst} in the worst row). The probabilities and intervals of these rows are rough."
    assert all(remark in file for file in files(Reading.NOISE_AWARE))
    assert read_bif(released_bif(document))[0] == NETWORK
    assert not [file for file in files(Reading.AS_REAL) if "possible counts have weight" in file]
    monkeypatch.setattr(report_module, "MOST_DRAWN", 0)
    assert remark in seen(html_report(document)).text, "a report without intervals has means that are rough"
