"""The report: one file that asks nothing of anybody, shows names as text, and says what the document says."""

import html
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from dpbayes.base.text import numeral
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import read_document
from dpbayes.releases.reading import released_bif
from dpbayes.releases.report import ALWAYS, html_report
from dpbayes.sources.bif import read_bif
from tests.releases.asking import drawn
from tests.releases.made import NETWORK, counts, released, request_with
from tests.releases.made_adaptive import drawn_under_pure_privacy, drawn_with_a_generator


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


@pytest.mark.parametrize("kind", ["tables", "pure", "with delta"])
def test_it_answers_the_questions_of_nist_sp_800_226(kind):
    """Unit of privacy, trust model, side channels, data collection, guarantee, composition, from the certificate."""
    adaptive = {"pure": drawn_under_pure_privacy, "with delta": drawn_with_a_generator}
    document = read_document(adaptive.get(kind, lambda: drawn(request_with(), counts()))())
    certificate, answers = document.content["certificate"], answers_of(html_report(document))
    own = {"Unit of privacy": "unit", "Trust model": "trust", "Composition": "composed", "Guarantee": "promise"}
    assert {name: answers[name] for name in own} == {name: certificate[key] for name, key in own.items()}
    assert set(ALWAYS) <= set(answers)


def test_names_are_text():
    name = '<script>alert("1")</script>&'
    page = seen(html_report(read_document(drawn(request_with(dataset=name), counts()))))
    assert "script" not in {tag for tag, _ in page.tags}
    assert f"Release of {name}" in page.text


def test_the_bif_holds_the_released_tables(tmp_path):
    document = read_document(released(tmp_path).document)
    network, cpts = read_bif(released_bif(document))
    assert network == NETWORK
    np.testing.assert_array_equal(cpts, document.tables.joint_noise_aware().mean)
    _, as_real = read_bif(released_bif(document, Reading.AS_REAL))
    np.testing.assert_array_equal(as_real, document.tables.outcome.probabilities)


def test_what_rests_on_few_points_is_stated_before_the_network(tmp_path, monkeypatch):
    document = read_document(released(tmp_path).document)
    assert not any("possible counts have weight" in released_bif(document, reading) for reading in Reading)
    monkeypatch.setattr("dpbayes.posteriors.noise_aware.FEW_POINTS", 10**9)
    worst = numeral(float(document.tables.joint_noise_aware().effective.min()), 2)
    remark = f"have weight ({worst} in the worst row). The probabilities and intervals of these rows are rough."
    assert remark in released_bif(document)
    assert read_bif(released_bif(document))[0] == NETWORK
    assert "possible counts have weight" not in released_bif(document, Reading.AS_REAL)
