"""Write docs/theory.md from the registry of claims: `make theory`."""

import html
import math
from collections import Counter
from pathlib import Path

from dpbayes.base.references import PAPERS, Paper
from dpbayes.base.text import numeral
from dpbayes.theory.claims.claim import Claim, Counterexample, Verdict
from dpbayes.theory.index import CLAIMS, counterexamples_of

THE_NOTES = (
    f"The Notes are an unpublished manuscript without named authors, *{PAPERS['Notes'].title}*, about exponential "
    "mechanisms that score posteriors by their Hellinger distance from the exact posterior."
)

PAGE = Path(__file__).parents[1] / "theory.md"

OPENING = """\
# Claims of the papers

This page lists every claim of the papers that the program checks: its place in the paper, its formula, a verdict, and
the finding. If a claim needs a correction, the finding states the corrected form. If a claim fails, a counterexample
gives a setting, the true value and the stated value. The page *Proofs* of the dashboard draws each claim at settings
that you choose, and names the code and the tests. `make theory` writes this page from `dpbayes/theory/`.
"""

MEANINGS = {
    Verdict.HOLDS: "The claim is true as stated.",
    Verdict.LOOSE: "The claim is true, and a smaller bound or less noise is proved.",
    Verdict.AMENDED: "The claim is true after a correction, which the finding states.",
    Verdict.FALSE: "The claim is not true.",
    Verdict.VACUOUS: "The claim is true, but the bound says nothing at any useful setting.",
    Verdict.UNCLEAR: "The paper omits information that a check needs.",
}
"""What each verdict means."""


def text() -> str:
    """Return the page.

    Returns:
        Markdown: a table of the verdicts, then the claims by paper, in the order of the registry.
    """
    papers = {claim.reference.paper: PAPERS[claim.reference.paper] for claim in CLAIMS}
    return "\n".join([OPENING, _verdicts(list(papers.values())), *map(_section, papers.values())])


def _verdicts(papers: list[Paper]) -> str:
    """Return how many claims of each paper have which verdict, and what the verdicts mean."""
    times = Counter((claim.verdict, claim.reference.paper) for claim in CLAIMS)
    lines = [
        "| verdict | meaning | " + " | ".join(_name(paper) for paper in papers) + " |",
        "| --- | --- |" + " --- |" * len(papers),
    ]
    for verdict, meaning in MEANINGS.items():
        counts = (str(times[verdict, paper.key]) for paper in papers)
        lines.append(f"| {verdict.value} | {meaning} | {' | '.join(counts)} |")
    return "\n".join([*lines, ""])


def _name(paper: Paper) -> str:
    return paper.called.removeprefix("the ") if paper.called else paper.venue


def _section(paper: Paper) -> str:
    cited = f"{paper.authors}, *{paper.title}*, {paper.venue}" + (f", <{paper.link}>." if paper.link else ".")
    claims = [claim for claim in CLAIMS if claim.reference.paper == paper.key]
    about = cited if paper.link else THE_NOTES
    return "\n".join([f"## {_name(paper)}\n\n{about}\n", *map(_entry, claims)])


def _entry(claim: Claim) -> str:
    parts = [f"### {_plain(claim.reference.place)}: {_plain(claim.title)}"]
    if claim.formula:
        parts.append(f"```math\n{claim.formula}\n```")
    parts.append(f"**Verdict: {claim.verdict.value}.** {_plain(claim.finding)}")
    if claim.ours:
        parts.append(f"The paper leaves a choice open; the program uses {_plain(claim.ours)}.")
    examples = counterexamples_of(claim)
    if examples:
        parts.append("\n".join(map(_counterexample, examples)))
    return "\n\n".join(parts) + "\n"


def _counterexample(example: Counterexample) -> str:
    setting = example.setting.rstrip(".")
    stated = f"the paper states {_number(example.printed)}"
    proved = None if math.isnan(example.certified) else f"the proved bound is {_number(example.certified)}"
    least = "at least " if example.is_lower_limit else ""
    compared = f", and {stated}" if proved is None else f", {stated}, and {proved}"
    return (
        f"- Counterexample: {_plain(setting)}. The true value is {least}{_number(example.truth)}{compared} "
        f"({_plain(example.unit)})."
    )


def _number(value: float) -> str:
    return numeral(value) if math.isfinite(value) else "infinite"


def _plain(sentence: str) -> str:
    """Return a sentence without what Markdown reads as markup."""
    escaped = html.escape(sentence, quote=False)
    for sign, entity in {"~": "&#126;", "$": "&#36;", "*": "&#42;", "[": "&#91;"}.items():
        escaped = escaped.replace(sign, entity)
    return escaped


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
