"""What every page shows at the ends of its options: numbers that a person can read."""

import re
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.conftest import figures, open_page

E_NOTATION = re.compile(r"(?<![\w#.])\d+(?:\.\d+)?e[-+]?\d+\b")
D3_WITH_E = re.compile(r"%\{[^}]*:[^}]*[eg]\}")
CODE = {"hovertemplate", "color", "fillcolor", "bgcolor"}


def drawn_texts(value: Any, key: str = "") -> list[str]:
    """Return every text of a figure but those that are code."""
    if isinstance(value, dict):
        return [text for name, inner in value.items() for text in drawn_texts(inner, name)]
    if isinstance(value, list):
        return [text for inner in value for text in drawn_texts(inner, key)]
    return [value] if isinstance(value, str) and key not in CODE else []


def hovers(at: AppTest) -> list[str]:
    """Return how every trace says its numbers under the pointer."""
    return [trace.get("hovertemplate") or "" for figure in figures(at).values() for trace in figure["data"]]


def texts(at: AppTest) -> list[str]:
    """Return all that a person reads on the page but code to copy, whose numbers are Python's."""
    shown = [f"{m.label} {m.value} {m.delta} {m.help}" for m in at.metric]
    for kind in (at.markdown, at.caption, at.info, at.warning, at.subheader):
        shown += [element.value for element in kind]
    for widgets in (at.button, at.selectbox, at.text_input, at.multiselect, at.expander):
        shown += [f"{widget.label} {getattr(widget, 'help', '')}" for widget in widgets]
    shown += [box.value for box in at.text_input]
    shown += [option for slider in at.select_slider for option in slider.options]
    for frame in (*at.table, *at.dataframe):
        columns = [frame.value[name] for name in frame.value.columns]
        shown += [str(column.name) for column in columns]
        shown += [value for column in columns for value in column if isinstance(value, str)]
    shown += [chart.proto.alt for chart in at.get("plotly_chart")]
    return shown + drawn_texts(figures(at))


def no_e_notation(at: AppTest) -> None:
    """Check that no number on the page is written with an e, nor under the pointer."""
    assert not [text for text in texts(at) if E_NOTATION.search(text)]
    assert not [text for text in hovers(at) if D3_WITH_E.search(text) or E_NOTATION.search(text)]


@pytest.mark.parametrize(
    ("page", "query"),
    [
        ("release", {"epsilon": "1000"}),
        ("release", {"epsilon": "0.001"}),
        ("release", {"mechanism": "PosteriorSampler", "epsilon": "1000"}),
        ("release", {"mechanism": "LaplaceFourier", "epsilon": "0.001"}),
        ("audit", {"audit.subject": "Hellinger, smooth sensitivity (one die)"}),
        ("audit", {"audit.subject": "Regression sampler", "audit.norm": "1e9"}),
        ("audit", {"audit.subject": "Regression sampler", "audit.norm": "1e-12"}),
        ("audit", {"audit.odds": "1e-6"}),
        ("bounds", {"bounds.claim": "Proposition 1: largest noise", "bounds.delta": "1e-9"}),
        ("bounds", {"bounds.claim": "ALT-14 Lemma 3: exponential records", "bounds.rate": "100"}),
        ("bounds", {"bounds.claim": "ALT-14 Lemma 2: error of an empirical law", "bounds.samples": "10000000"}),
        ("bounds", {"bounds.claim": "ALT-14 Algorithm 1: privacy of several answers", "bounds.answers": "1000000"}),
        ("bounds", {"bounds.claim": "Corollary 3: negative Fourier tables", "bounds.t": "50"}),
        ("hellinger", {"hellinger.delta": "1e-12"}),
        ("hellinger", {"epsilon": "1000"}),
        ("regression", {"regression.precision": "1e9", "regression.n": "1000"}),
        ("robustness", {"robustness.family": "normal", "robustness.distance": "10000"}),
        ("robustness", {"robustness.prior": "10000"}),
        ("sampling", {"epsilon": "1000"}),
        ("sampling", {"sampling.family": "normal", "sampling.concentration": "10000"}),
        ("stealth", {"epsilon": "0.001"}),
        ("structure", {"epsilon": "0.001"}),
    ],
)
def test_no_number_is_in_e_notation(page: str, query: dict[str, str]) -> None:
    no_e_notation(open_page(f"pages/{page}.py", **query))
