"""The Papers page: every claim with its verdict, its code, its tests, and where to see it; failures computed live."""

from collections import Counter
from pathlib import Path

import pandas as pd
import streamlit as st

import dpbayes
from dpbayes.bounds import (
    distinguishability,
    families,
    fourier,
    lipschitz,
    notes,
    notes_lemmas,
    posterior_kl,
    regression,
    robustness,
    sampling,
    stealth,
    table1,
    updates,
)
from dpbayes.bounds import map as map_claims
from dpbayes.bounds.base import Claim, Verdict
from dpbayes.bounds.registry import CLAIMS, counterexamples_of
from dpbayes.paper_map import Entry, paper_map
from dpbayes.references import PAPERS
from dpbayes.ui import controls
from dpbayes.ui.papers_options import ClaimShown, PaperShown
from dpbayes.ui.settings import current
from dpbayes.ui.show import data_and_download, headline, short, source

WRONG = (Verdict.FALSE, Verdict.VACUOUS, Verdict.UNCLEAR)

PAGES_OF = {
    "pages/bounds.py": (updates, posterior_kl, table1),
    "pages/stealth.py": (fourier, stealth),
    "pages/sampling.py": (lipschitz, sampling, distinguishability),
    "pages/audit.py": (map_claims,),
    "pages/regression.py": (regression,),
    "pages/robustness.py": (robustness, families),
    "pages/hellinger.py": (notes, notes_lemmas),
}
"""Where the claims of each module can be seen at work."""


@st.cache_resource(max_entries=1, show_spinner="Reading the docstrings …")
def _map() -> tuple[Entry, ...]:
    package = Path(dpbayes.__file__).parent
    return paper_map(package, package.parent / "tests")


def papers_page() -> None:
    """Show the map, then one claim in full."""
    entries = _map()
    headline(verdict_sentence(CLAIMS))
    controls.parameter_control("papers.paper")
    shown = current().options("papers").paper
    chosen = [entry for entry in entries if shown is PaperShown.ALL or entry.claim.reference.paper == shown.name]
    frame = table_of(chosen)
    st.dataframe(frame, hide_index=True, height=min(38 + 35 * len(frame), 480))
    data_and_download(lambda: frame, name="claims", curator_only=False)
    st.subheader("One claim")
    controls.parameter_control("papers.claim")
    _one(entries[list(ClaimShown).index(current().options("papers").claim)])


def verdict_sentence(claims: tuple[Claim, ...]) -> str:
    """Return how many claims there are, and what became of them."""
    tally = Counter(claim.verdict for claim in claims)
    rest = len(claims) - sum(tally[v] for v in (Verdict.HOLDS, Verdict.LOOSE, Verdict.AMENDED, Verdict.FALSE))
    return (
        f"Of {len(claims)} claims in the papers, {tally[Verdict.HOLDS]} hold as printed, {tally[Verdict.LOOSE]} more "
        f"can be sharpened, {tally[Verdict.AMENDED]} hold once a slip is mended, and "
        f"{tally[Verdict.FALSE]} are false; {rest} say nothing, or cannot be checked as printed."
    )


def table_of(entries: list[Entry]) -> pd.DataFrame:
    """Return the map as a table, one line for each claim."""
    return pd.DataFrame(
        {
            "claim": [str(entry.claim.reference) for entry in entries],
            "about": [entry.claim.title for entry in entries],
            "verdict": [entry.claim.verdict.value for entry in entries],
            "finding": [entry.claim.finding for entry in entries],
            "code": [", ".join(map(str, entry.code)) for entry in entries],
            "tests": [", ".join(map(str, entry.tests)) for entry in entries],
        }
    )


def page_of(claim: Claim) -> str:
    """Return the page file on which a claim can be seen."""
    return next(page for page, modules in PAGES_OF.items() for module in modules if claim in module.CLAIMS)


def _one(entry: Entry) -> None:
    claim = entry.claim
    st.markdown(f"**{claim.title}**")
    st.latex(claim.formula)
    colour = "red" if claim.verdict in WRONG else "green"
    st.markdown(f":{colour}[**{claim.verdict.value.capitalize()}.**] {claim.finding}")
    failing = counterexamples_of(claim)
    if failing:
        st.markdown("Where it fails, computed now:")
        st.dataframe(
            pd.DataFrame(
                {
                    "setting": [example.setting for example in failing],
                    "truth": [short(example.truth) for example in failing],
                    "printed": [short(example.printed) for example in failing],
                    "certified": [short(example.certified) for example in failing],
                    "unit": [example.unit for example in failing],
                }
            ),
            hide_index=True,
        )
    st.page_link(page_of(claim), label="See it at work")
    with st.expander("Code and tests that name it"):
        for title, mentions in (("Code", entry.code), ("Tests", entry.tests)):
            st.markdown(f"**{title}**: " + (", ".join(f"`{mention}`" for mention in mentions) or "none found"))
    source(claim.reference)
    st.caption(f"Papers: {', '.join(paper.title for paper in PAPERS.values() if paper.link)}.")
