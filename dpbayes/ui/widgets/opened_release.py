"""An opened release: its checks, its sentences, a picture, answers to questions, and the files made from it."""

import re
import secrets
from fractions import Fraction

import numpy as np
import streamlit as st

from dpbayes.base.amounts import amount_text, measure_of, number_of
from dpbayes.base.libraries import pd
from dpbayes.base.parameters import label_of
from dpbayes.base.text import escaped
from dpbayes.boards.board import View
from dpbayes.boards.static import released_rows
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior
from dpbayes.model.network import Network, assignment
from dpbayes.model.query import query
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_aware import MOST_CELLS
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import Document, SampledSteps, read_document
from dpbayes.releases.reading import (
    answer_under,
    intervals_as_text,
    posterior_name,
    prior_warning,
    records_csv,
    records_of,
    released_bif,
)
from dpbayes.releases.report import html_report
from dpbayes.releases.signing import signature_line
from dpbayes.releases.verify import Verification, verify
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.kept import kept
from dpbayes.ui.widgets.board import show
from dpbayes.ui.widgets.show import assumption, numbers, sentence_instead

ARROWS_AT_ONCE = 60
MOST_RECORDS = 1_000_000


def opened_release(data: bytes, *, key: str, shows_certificate: bool = False) -> None:
    """Show the checks of a release file and, if all pass, what it says, answers to questions, and its files.

    `key` distinguishes the controls of two releases on one page.
    `shows_certificate` opens the certificate, which is closed otherwise.
    Errors: InputError for an unusable file.
    """
    verification = kept(f"{key}.verified", data, lambda: verify(data))
    _checks(verification)
    if not verification.holds:
        return
    document = kept(f"{key}.document", data, lambda: read_document(data))
    left, right = st.columns(2, gap="large")
    with left:
        for sentence in document.content["sentences"]:
            st.markdown(f"- {escaped(sentence)}")
        st.markdown(f"- {escaped(signature_line(document.content))}")
        if isinstance(document.sampled, SampledSteps):
            arrow_list(document.network)
        reading = _reading(document.tables, key=key)
        with sentence_instead():
            _ask(document, reading, data, key=key)
    with right:
        show(f"{key}.rows", (data, reading), lambda: released_view(document, reading))
    _files(document, reading, data, key=key)
    with st.expander("Certificate", expanded=shows_certificate):
        for name, text in document.content["certificate"].items():
            lines = "\n".join(f"- {escaped(line)}" for line in text) if isinstance(text, list) else escaped(text)
            if name in ("epsilon", "delta", "rho", "noise"):
                lines = _FRACTION.sub(_decimal, lines)
            st.markdown(f"**{escaped(name.replace('_', ' ').capitalize())}**\n\n{lines}")


def released_view(document: Document, reading: Reading) -> View:
    """Return the board of a document's released rows, with the facts of its certificate."""
    request = document.request
    loss = {measure_of(request.cost).symbol: amount_text(number_of(request.cost))}
    facts = {"table": request.dataset, "n": f"{request.n:,}", **loss}
    return released_rows(document.network, document.tables, reading).stating(facts)


_FRACTION = re.compile(r"\b[0-9]+/[1-9][0-9]*\b")


def _decimal(fraction: re.Match[str]) -> str:
    """Return a fraction of the certificate as a number that people read."""
    return amount_text(Fraction(fraction[0]))


def arrow_list(network: Network) -> None:
    """List the first arrows of a graph, and the number of the others."""
    arrows = [f"{parent} → {child}" for parent, child in network.edges]
    more = len(arrows) - ARROWS_AT_ONCE
    st.markdown(escaped("; ".join(arrows[:ARROWS_AT_ONCE]) or "No arrows.") + (f" … and {more:,} more" * (more > 0)))


def _checks(verification: Verification) -> None:
    failing = sum(not check.holds for check in verification.checks)
    if failing:
        st.error(f"This file is not a valid release: {failing} of {len(verification.checks)} checks fail.")
    else:
        st.success(f"The release is valid: all {len(verification.checks)} checks pass.")
    with st.expander("Checks", expanded=bool(failing)):
        for check in verification.checks:
            assumption(escaped(check.sentence), holds=check.holds)
        for sentence in verification.left_out:
            st.caption(escaped(sentence))


def _reading(release: Release[Outcome], *, key: str) -> Reading:
    """Let the person choose how to read a release that states its noise; the files follow this choice, too."""
    if not release.tells_noise:
        return Reading.AS_REAL
    reading: Reading = st.segmented_control(
        "Reader",
        list(Reading),
        default=Reading.NOISE_AWARE,
        format_func=label_of,
        key=f"{key}.reading",
        required=True,
        help="A noise-aware reader models the added noise, whose distribution is public. A naive reader treats noisy "
        "counts as true counts. The picture, the answers and the files follow this choice, which costs no privacy.",
    )
    return reading


# A question


def _ask(document: Document, reading: Reading, data: bytes, *, key: str) -> None:
    """Answer a question about the released network. Errors: those of `query`."""
    network = document.network
    pairs = {assignment(name, state): (name, state) for name, states in zip(network.names, network.states, strict=True)
             for state in states}  # fmt: skip
    left, right = st.columns(2)
    target = left.selectbox("How likely is each state of", network.names, len(network.names) - 1, key=f"{key}.target")
    given = [text for text, (name, _) in pairs.items() if name != target]
    picked = right.multiselect("if", given, key=f"{key}.given", placeholder="nothing else is known")
    evidence = dict(pairs[text] for text in picked)
    inputs = (data, reading, target, tuple(evidence.items()))
    frame, notes = kept(f"{key}.answer", inputs, lambda: _answer(document, reading, target, evidence))
    numbers(frame)
    for note in notes:
        st.caption(escaped(note))


def _answer(
    document: Document, reading: Reading, target: str, evidence: dict[str, str]
) -> "tuple[pd.DataFrame, list[str]]":
    network, outcome = document.network, document.tables.outcome
    states = {"state": network.states[network.index(target)]}
    if not isinstance(outcome, ReleasedPosterior):
        return pd.DataFrame({**states, "probability": query(network, outcome.probabilities, target, evidence)}), []
    law = document.tables.posterior_under(_of_files(network, reading))
    answer = answer_under(law, outcome.prior, target, evidence, LEVEL)
    columns = {**states, "probability": answer.mean, f"{LEVEL:.0%} interval": intervals_as_text(answer)}
    notes = [f"From the {posterior_name(law)}.", answer.assumes, prior_warning(answer)]
    return pd.DataFrame(columns), [note for note in notes if note]


# Files


def _of_files(network: Network, reading: Reading) -> Reading:
    """Return the reading of files and answers: naive for a network that is too large for the noise-aware posterior."""
    return Reading.AS_REAL if network.cell_count > MOST_CELLS else reading


def _files(document: Document, requested: Reading, data: bytes, *, key: str) -> None:
    """Offer the files of the release, which are computed from the released numbers only."""
    network, n = document.network, min(document.request.n, MOST_RECORDS)
    reading = _of_files(network, requested)
    if reading is not requested:
        st.caption(f"Answers and files are naive, because the network has more than {MOST_CELLS:,} probabilities.")

    def offer(label: str, file: str, content: object, mime: str) -> None:
        download_button(label, content, file_name=file, mime=mime, key=f"{key}.{file}")  # type: ignore[arg-type]

    with st.container(horizontal=True):
        offer("release.json", "release.json", data, "application/json")
        offer("Report (HTML)", "release.html", lambda: html_report(document).encode(), "text/html")
        offer("Network (BIF)", "release.bif", lambda: released_bif(document, reading).encode(), "text/plain")
        offer(
            "Synthetic records (CSV)",
            "records.csv",
            lambda: records_csv(records_of(document, n, np.random.default_rng(secrets.randbits(128)), reading)),
            "text/csv",
        )
