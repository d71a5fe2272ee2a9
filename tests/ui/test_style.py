"""A style sheet of the app costs nothing while a chart is drawn."""

import re
from pathlib import Path

import pytest

import dpbayes.ui

SHEETS = sorted(Path(dpbayes.ui.__file__).parent.rglob("*.css"))


def asks_by_style(sheet: str) -> bool:
    """Return whether a rule looks for descendants (`:has`) by their style attribute.

    Plotly sets the style of every stroke: a browser then looks for such descendants anew with each of them, and the
    Release page was whole a second later.
    """
    return bool(re.search(r":has\((?:[^()]|\([^()]*\)|:not\()*\[style", sheet))


@pytest.mark.parametrize("path", SHEETS, ids=lambda path: path.name)
def test_no_rule_is_tried_anew_with_every_stroke_of_a_chart(path: Path) -> None:
    assert not asks_by_style(path.read_text("utf-8"))


def test_a_rule_that_asks_by_style_is_noticed() -> None:
    assert asks_by_style(".a:has(> .b .c[style]) { height: auto; }")
    assert asks_by_style(".a div:has(.c:not([style])) { height: auto; }")
    assert not asks_by_style(".a[style]:has(.c[data-sized]) { height: auto; }")
