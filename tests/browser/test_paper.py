"""The report of a release on paper, as Chromium prints it: one A4 page, whatever the network, with every name in it."""

import re
from dataclasses import replace
from fractions import Fraction

import pytest

from dpbayes.base.amounts import Rho
from dpbayes.model.network import Network
from dpbayes.releases.document import read_document
from dpbayes.releases.document.document import Composed
from dpbayes.releases.report import html_report
from dpbayes.sources.named_networks import load_named
from tests.browser.serving import chromium
from tests.releases.asking import counted, drawn, request_of
from tests.strategies import ASIA

pytestmark = pytest.mark.browser

SIX = Network.from_edges(["a", "b", "c", "d", "e", "f"], [("a", "b"), ("b", "c"), ("a", "d")])

LONG = Network.from_edges([f"{k} {'name ' * 20}" for k in range(30)], [], {})

LATER = Composed(1200, Fraction(123456, 1000))

IN_RHO = request_of(ASIA, mechanism="gaussian", rho=Fraction(1, 10))

LATER_IN_RHO = Composed(1200, Rho(Fraction(1, 3)))


def report(network: Network, **other: str) -> str:
    return html_report(read_document(drawn(request_of(network, **other), counted(network))))


def pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_a_report_prints_to_one_page_and_asks_nothing_of_anybody():
    long = report(LONG, dataset="the long name of a table of a large clinic in a large city, spring 2026")
    reports = {
        "Asia": report(ASIA),
        "Asia, MAP": report(ASIA, mechanism="map"),
        "Alarm": report(load_named("alarm")[0]),
        "six nodes": report(SIX),
        "long names": long,
        "a later one": html_report(replace(read_document(drawn(request_of(ASIA), counted(ASIA))), composed=LATER)),
        "a later one in rho": html_report(replace(read_document(drawn(IN_RHO, counted(ASIA))), composed=LATER_IN_RHO)),
    }
    with chromium(viewport={"width": 794, "height": 1123}) as page:
        page.emulate_media(media="print")
        for name, text in reports.items():
            page.set_content(text)
            assert pages(page.pdf(prefer_css_page_size=True)) == 1, name
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        page.set_content(long.replace("</body>", f"{'<p>more</p>' * 60}</body>"))
        assert pages(page.pdf(prefer_css_page_size=True)) > 1, "what is too long would be seen"
        assert page.external == page.errors == []
