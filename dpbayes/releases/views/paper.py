"""One printable page of HTML without external content: the form of the report."""

from collections.abc import Iterable, Sequence
from html import escape

from dpbayes.base.text import numeral

STYLE = """
@page { size: A4; margin: 8mm 12mm }
body { font: 10pt/1.25 system-ui, sans-serif; color: #1b1f24; max-width: 186mm; margin: 8mm auto }
@media print { body { max-width: none; margin: 0 } }
h1 { font-size: 16pt; margin: 0 0 2mm; overflow-wrap: anywhere } h2 { font-size: 11pt; margin: 2mm 0 .5mm }
h2 { break-after: avoid } p { margin: 1mm 0 0 }
ol { margin: 0; padding-left: 5mm; font-size: 10pt; overflow-wrap: anywhere } ol li { margin-bottom: .8mm }
.person { font-size: 8pt }
svg { display: block; width: 100%; height: auto; margin-top: 1mm; font-size: 2.6px; print-color-adjust: exact }
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


def paper(title: str, body: str) -> str:
    """Return a whole document of a title, which is text, and a body, which is HTML."""
    name = escape(title)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f'<meta name="viewport" content="width=device-width"><title>{name}</title><style>{STYLE}</style></head>\n'
        f"<body><h1>{name}</h1>\n{body}</body></html>\n"
    )


def items(sentences: Iterable[str]) -> str:
    """Return sentences as the items of a list."""
    return "".join(f"<li>{escape(sentence)}</li>" for sentence in sentences)


def probability_bar(label: str, share: float, ends: tuple[float, float] | None = None) -> str:
    """Return one probability as a bar with its number, and with its interval if it has one."""
    mark, small = "", ""
    if ends is not None:
        low, high = ends
        mark = f'<u style="left:{100 * low:.1f}%;width:{100 * (high - low):.1f}%"></u>'
        small = f"<small>{low:.2f}–{high:.2f}</small>"
    drawn = f'<i><b style="width:{100 * share:.1f}%"></b>{mark}</i>'
    name = escape(label)
    return f'<div><span title="{name}">{name}</span>{drawn}<em>{escape(numeral(share, 2))}</em>{small}</div>'


def nested(shares: Sequence[tuple[str, float]], description: str) -> str:
    """Return at most three growing shares in [0, 1] as one small drawing: bars on each other, with their names below.

    `description` says the same in words. The unit is a millimetre of a sheet's width.
    """
    width, names = 186, "".join(_name(place, label) for place, (label, _) in enumerate(shares))
    bars = "".join(
        f'<rect width="{width * share:.2f}" height="2.4" fill="{colour}"/>'
        for colour, (_, share) in reversed([*zip(_SHADES, shares, strict=False)])
    )
    return (
        f'<svg viewBox="0 0 {width} 6.2" role="img" aria-label="{escape(description)}">'
        f'<rect width="{width}" height="2.4" fill="#e4e7eb"/>{bars}{names}</svg>'
    )


_SHADES = ("#1b1f24", "#b45309", "#e8b27a")
"""The smallest share first."""

_NAMES_AT = (0, 43, 108)
"""The positions of their names."""


def _name(place: int, label: str) -> str:
    left = _NAMES_AT[place]
    mark = f'<circle cx="{left + 1}" cy="4.7" r="0.9" fill="{_SHADES[place]}"/>'
    return f'{mark}<text x="{left + 2.8}" y="5.6">{escape(label)}</text>'
