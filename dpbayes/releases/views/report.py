"""A release as one HTML file for a board, a class or an archive: it asks nothing of anybody and prints to one page."""

from collections.abc import Iterator
from html import escape
from itertools import islice

import numpy as np

from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.model.network import assignment
from dpbayes.model.query import query
from dpbayes.releases.document import ReleaseDocument, release_of

MOST_BARS = 24
"""Nodes whose probabilities have room on the page."""

_TERMS = {
    "unit": "One record",
    "neighbours": "Neighbours",
    "promise": "Promise",
    "composed": "Spent so far",
    "trust": "Who is trusted",
    "noise": "Noise",
    "drawn": "How it was drawn",
    "made_with": "Made with",
}
"""What of the certificate stands on the page, by its heading."""

_STYLE = """
@page { size: A4; margin: 10mm 12mm }
body { font: 10pt/1.3 system-ui, sans-serif; color: #1b1f24; max-width: 186mm; margin: 8mm auto }
@media print { body { max-width: none; margin: 0 } }
h1 { font-size: 16pt; margin: 0 0 2mm; overflow-wrap: anywhere } h2 { font-size: 11.5pt; margin: 3mm 0 1mm }
h2 { break-after: avoid } p { margin: 1mm 0 0 }
ol { margin: 0; padding-left: 5mm; font-size: 11pt; overflow-wrap: anywhere } ol li { margin-bottom: .8mm }
.bars { columns: 2; column-gap: 8mm; font-size: 9pt }
.bars div { break-inside: avoid; display: flex; gap: 2mm; align-items: center }
.bars span { flex: 1; overflow: hidden; text-overflow: ellipsis; white-space: nowrap }
.bars i { flex: none; width: 26mm; height: 2.4mm; background: #e4e7eb; print-color-adjust: exact }
.bars b { display: block; height: 100%; background: #b45309; print-color-adjust: exact }
.bars em { flex: none; width: 12mm; text-align: right; font-style: normal; font-variant-numeric: tabular-nums }
dl { display: grid; grid-template-columns: 30mm 1fr; gap: .6mm 3mm; margin: 0; font-size: 8.4pt }
dt { font-weight: 600 } dd { margin: 0; overflow-wrap: anywhere } ul { margin: 0; padding-left: 4mm; font-size: 8.4pt }
code { font-size: 8pt; overflow-wrap: anywhere }
"""


def html_report(document: ReleaseDocument) -> str:
    """Return the report: the four sentences, what the release says of every node, the certificate, how to check it.

    Errors: those of `release_of`.
    """
    request, told = document.request, document.told
    title = escape(f"Release of {request.dataset}")
    certificate = told["certificate"]
    terms = "".join(f"<dt>{name}</dt><dd>{escape(str(certificate[key]))}</dd>" for key, name in _TERMS.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>\n<ol>{_items(told['sentences'])}</ol>\n"
        f"<h2>What it says</h2>\n{_bars(document)}\n"
        f"<h2>What is promised</h2>\n<dl>{terms}</dl>\n"
        f"<h2>What is not covered</h2>\n<ul>{_items(certificate['not_covered'])}</ul>\n"
        "<h2>How to check it</h2>\n<p>Without the records: <code>python -m dpbayes verify release.json</code>. "
        f"SHA-256 of the content: <code>{escape(str(told['hashes']['content']))}</code></p>\n</body></html>\n"
    )


def _items(sentences: list[str]) -> str:
    return "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)


def _bars(document: ReleaseDocument) -> str:
    """One bar for each node: how likely its telling state is in the released network."""
    network = document.request.network
    bars = "".join(islice(_bars_of(document), MOST_BARS))
    more = len(network.names) - MOST_BARS
    rest = f"<p>and {more:,} more in the file</p>" if more > 0 else ""
    return f'<div class="bars">{bars}</div>{rest}'


def _bars_of(document: ReleaseDocument) -> Iterator[str]:
    network, cpts = document.request.network, release_of(document).outcome.probabilities
    for node, name in enumerate(network.names):
        share = _marginal(document, cpts, node)
        if share is None:
            continue
        told = escape(f"P({assignment(name, network.states[node][network.telling_state(node)])})")
        bar = f'<i><b style="width:{100 * share:.1f}%"></b></i>'
        yield f'<div><span title="{told}">{told}</span>{bar}<em>{escape(numeral(share, 2))}</em></div>'


def _marginal(document: ReleaseDocument, cpts: FloatArray, node: int) -> float | None:
    """Return how likely a node's telling state is; None where the network is too dense to tell."""
    network = document.request.network
    try:
        law = query(network, cpts, network.names[node], {})
    except InputError:
        return None
    return float(np.clip(law[network.telling_state(node)], 0.0, 1.0))
