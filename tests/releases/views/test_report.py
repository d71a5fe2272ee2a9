"""The report: one file that asks nothing of anybody, shows names as text, and says what the document says."""

from html.parser import HTMLParser

import numpy as np

from dpbayes.model.network import Network
from dpbayes.releases.document import read_document, release_of
from dpbayes.releases.views.bif import released_bif
from dpbayes.releases.views.report import MOST_BARS, html_report
from dpbayes.sources.bif import read_bif
from tests.releases.made import NETWORK, asked, opened, released


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
    for sentence in [*document.told["sentences"], *document.told["certificate"]["not_covered"]]:
        assert sentence in page.text
    assert document.told["hashes"]["content"] in page.text
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "a", "form"}
    assert not [name for _, attrs in page.tags for name in attrs if name in ("src", "href") or name.startswith("on")]
    assert "url(" not in report
    assert "@import" not in report
    assert ("meta", "default-src 'none'") in {
        (tag, (attrs.get("content") or "").partition(";")[0]) for tag, attrs in page.tags
    }


def test_its_bars_are_the_released_network(tmp_path):
    document = read_document(released(tmp_path).document)
    posterior = release_of(document).posterior
    page = seen(html_report(document))
    widths = [attrs["style"] for tag, attrs in page.tags if tag == "b"]
    shares = [posterior.query("rain")[1], posterior.query("grass")[0]]
    assert widths == [f"width:{100 * share:.1f}%" for share in shares]
    assert "P(rain=yes)" in page.text


def test_names_are_text(tmp_path):
    from fractions import Fraction

    from dpbayes.model.counts import Counts
    from dpbayes.releases.publishing import publish

    name = '<script>alert("1")</script>&'
    network = Network.from_edges([name], [], {name: ("no", "<img src=x onerror=alert(1)>")})
    counts = Counts(network, np.array([3, 4]), 7)
    published = publish(opened(tmp_path), asked(network=network, n=7, epsilon=Fraction(1)), counts)
    page = seen(html_report(read_document(published.document)))
    assert not {tag for tag, _ in page.tags} & {"script", "img"}
    assert name in page.text


def test_a_wide_network_keeps_to_its_page(tmp_path):
    from fractions import Fraction

    from dpbayes.model.counts import Counts
    from dpbayes.releases.publishing import publish

    names = [f"x{k}" for k in range(MOST_BARS + 6)]
    network = Network.from_edges(names, [], {})
    counts = Counts(network, np.tile([1, 2], len(names)), 3)
    published = publish(opened(tmp_path), asked(network=network, n=3, epsilon=Fraction(1)), counts)
    page = seen(html_report(read_document(published.document)))
    assert len([tag for tag, _ in page.tags if tag == "b"]) == MOST_BARS
    assert "and 6 more in the file" in page.text


def test_the_bif_holds_the_released_tables(tmp_path):
    document = read_document(released(tmp_path).document)
    network, cpts = read_bif(released_bif(document))
    assert network == NETWORK
    np.testing.assert_array_equal(cpts, release_of(document).outcome.probabilities)
