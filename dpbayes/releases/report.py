"""A release as one HTML file for a board or an archive: its sentences and its certificate, without external content."""

from collections.abc import Sequence
from html import escape

from dpbayes.releases.document import Document
from dpbayes.releases.document.document import sentences_of
from dpbayes.releases.signing import signature_line

_TERMS = {
    "promise": "Guarantee",
    "unit": "Unit of privacy",
    "neighbours": "Neighbours",
    "composed": "Composition",
    "trust": "Trust model",
    "missing_values": "Missing values",
    "noise": "Noise",
    "drawn": "Sampling of the noise",
    "made_with": "Software",
}
"""The fields of the certificate that the page shows, by their headings."""

ALWAYS = {
    "Side channels": (
        "The released numbers are exact integers, so rounding reveals nothing. The time and memory of the computation "
        "are not protected."
    ),
    "Data collection": "Not covered. The curator is responsible for how records are collected, stored and deleted.",
}
"""Answers that are the same for all releases."""

_STYLE = """
@page { size: A4; margin: 8mm 12mm }
body { font: 10pt/1.3 system-ui, sans-serif; color: #1b1f24; max-width: 186mm; margin: 8mm auto }
@media print { body { max-width: none; margin: 0; font-size: 9.5pt } }
h1, h2, p, li, dd, code { overflow-wrap: anywhere }
h1 { font-size: 16pt } h2 { font-size: 11pt; margin: 3mm 0 1mm; break-after: avoid } dt { font-weight: 600 }
dl { display: grid; grid-template-columns: 32mm 1fr; gap: 1mm 3mm; margin: 0 } dd { margin: 0 }
"""


def parts_of(document: Document) -> dict[str, Sequence[str]]:
    """Return the sentences of a release by their headings, in the order in which a recipient reads them."""
    released, promise, composed, accuracy = sentences_of(document.sampled, document.composed)
    return {
        "What is released": (released, accuracy),
        "What is promised": (promise, composed),
        "What the promise does not cover": document.content["certificate"]["not_covered"],
    }


def html_report(document: Document) -> str:
    """Return the report: sentences, the certificate and how to verify the release. Equal files give equal reports."""
    title, certificate = escape(f"Release of {document.request.dataset}"), document.content["certificate"]
    answers = {name: str(certificate[key]) for key, name in _TERMS.items()}
    terms = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in (answers | ALWAYS).items())
    items = {name: "".join(f"<li>{escape(text)}</li>" for text in texts) for name, texts in parts_of(document).items()}
    parts = "".join(f"<h2>{name}</h2>\n<ul>{texts}</ul>\n" for name, texts in items.items())
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f'<meta name="viewport" content="width=device-width"><title>{title}</title><style>{_STYLE}</style></head>\n'
        f"<body><h1>{title}</h1>\n{parts}"
        "<h2>How to check this release</h2>\n<p>Anyone can check release.json without the records: on the Release page "
        "of dpbayes, or by the command <code>python -m dpbayes verify release.json</code>. "
        f"{escape(signature_line(document.content))}</p>\n"
        f"<p>SHA-256 of the content: <code>{escape(str(document.content['hash']))}</code></p>\n"
        f"<h2>Details of the guarantee, by the questions of NIST SP 800-226</h2>\n<dl>{terms}</dl>\n</body></html>\n"
    )
