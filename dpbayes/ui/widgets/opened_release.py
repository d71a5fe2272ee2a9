"""An opened release file: its checks, its sentences, its tables, and the files made from them."""

import secrets

import numpy as np
import streamlit as st

from dpbayes.audit.risk import SUSPICION
from dpbayes.base.amounts import amount_text
from dpbayes.base.parameters import label_of
from dpbayes.base.text import escaped
from dpbayes.base.validation import whole_number
from dpbayes.figures.posterior import rows_figure
from dpbayes.mechanisms.release import Outcome, Release, ReleasedPosterior
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEVEL
from dpbayes.posteriors.noise_aware import MOST_CELLS, roughness
from dpbayes.posteriors.noise_model import Reading
from dpbayes.releases.document import Document, ReleaseDocument, read_document
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.releases.verify import Verification, verify
from dpbayes.releases.views.reading import (
    INTERVALS,
    draws_parquet,
    has_joint,
    posterior_of,
    python_script,
    records_csv,
    records_of,
    records_parquet,
    released_bif,
    unread_elsewhere,
)
from dpbayes.releases.views.report import html_report
from dpbayes.ui.session.downloads import download_button
from dpbayes.ui.session.kept import kept
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import assumption

ROWS_AT_ONCE = 40
ARROWS_AT_ONCE = 60
DRAWS = 1000
MOST_COLUMNS = 10_000
"""The largest network, in cells, whose posterior samples are offered as a file; 131,000 columns took half a minute."""

MOST_RECORDS = 1_000_000

BY_ROW = "The chart is of the row-wise posterior, and the files are of the joint posterior."


def opened_release(data: bytes, *, key: str, suspicion: float = SUSPICION) -> None:
    """Show the checks of a release file and, if all pass, the release.

    `key` distinguishes the controls of two releases on one page. The report states how large a `suspicion` can become.
    Errors: InputError for an unusable file.
    """
    verification = _verified(data, key)
    _checks(verification)
    if not verification.holds:
        return
    document = read_document(data)
    if not isinstance(document, ReleaseDocument):
        _adaptive_release(document, data, key=key, suspicion=suspicion)
        return
    for sentence in document.content["sentences"]:
        st.markdown(f"- {escaped(sentence)}")
    release = document.tables
    reading = _reading(release, key=key)
    _rows(document, release, reading, key=key)
    _views(document, release, reading, data, key=key, suspicion=suspicion)
    with st.expander("Certificate"):
        for name, text in document.content["certificate"].items():
            lines = "\n".join(f"- {escaped(line)}" for line in text) if isinstance(text, list) else escaped(str(text))
            st.markdown(f"**{escaped(name.replace('_', ' ').capitalize())}**\n\n{lines}")


def _adaptive_release(document: Document, data: bytes, *, key: str, suspicion: float) -> None:
    """Show an adaptive release: its sentences, its arrows, its file and its report."""
    for sentence in document.content["sentences"]:
        st.markdown(f"- {escaped(sentence)}")
    arrow_list(document.network)
    with st.container(horizontal=True):
        download_button(
            "release.json",
            data,
            "release.json",
            "application/json",
            key=f"{key}.json",
        )
        download_button(
            "Report (HTML)",
            lambda: html_report(document, suspicion=suspicion).encode(),
            "release.html",
            "text/html",
            key=f"{key}.html",
        )


def arrow_list(network: Network) -> None:
    """List the first arrows of a graph, and the number of the others."""
    arrows = [f"{parent} → {child}" for parent, child in network.edges]
    more = len(arrows) - ARROWS_AT_ONCE
    st.markdown(escaped("; ".join(arrows[:ARROWS_AT_ONCE]) or "No arrows.") + (f" … and {more:,} more" * (more > 0)))


def _verified(data: bytes, key: str) -> Verification:
    """Return the verification of a file, which the session keeps, because each control reruns the page."""
    return kept(f"{key}.verified", data, lambda: verify(data))


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
    """Let the person choose the reading of a release that states its noise; the files use this choice, too."""
    if not release.tells_noise:
        return Reading.AS_REAL
    reading: Reading = st.segmented_control(
        "Recipient",
        list(Reading),
        default=Reading.NOISE_AWARE,
        format_func=label_of,
        key=f"{key}.reading",
        required=True,
        help="A noise-aware recipient models the added noise, whose distribution is public. A naive recipient treats "
        "noisy counts as true counts. The chart and all files below use this choice, which costs no privacy.",
    )
    return reading


def _rows(document: ReleaseDocument, release: Release[Outcome], reading: Reading, *, key: str) -> None:
    """Draw one state of each of the first rows, in the mechanism's colour."""
    network, mechanism = document.request.network, document.request.entry.simulated(document.request)
    rows = np.arange(min(network.row_count, ROWS_AT_ONCE))
    telling = np.array([network.telling_state(int(node)) for node in network.node_of_row[rows]], dtype=np.int64)
    cells = network.row_starts[rows] + telling
    mean = release.outcome.probabilities[cells]
    private, as_real, notes = (mean, mean, mean), None, []
    if isinstance(release.outcome, ReleasedPosterior):
        private = mean, *release.posterior.interval(LEVEL, cells=cells)
        notes.append(INTERVALS[reading])
    if reading is Reading.NOISE_AWARE:
        aware = release.noise_aware_cells(cells)
        private, as_real = (aware.mean, *aware.interval(LEVEL)), private
        notes += filter(None, [BY_ROW if has_joint(release) else "", roughness(aware)])
    labels = [network.cell_label(int(cell)) for cell in cells]
    chart(
        rows_figure(labels, private, None, own=mechanism.colour, as_real=as_real),
        key=f"{key}.rows",
        alt="The released probability of one state in each row, with its 95% interval if there is a posterior.",
        release=_release_facts(document.request, mechanism.label),
    )
    if network.row_count > len(rows):
        notes.insert(
            0, f"The chart shows the first {len(rows)} of {network.row_count:,} rows; the BIF file has all rows."
        )
    st.caption(" ".join(notes))


def _release_facts(request: ReleaseRequest, label: str) -> dict[str, str]:
    """Return the facts that a saved picture of a release states: mechanism, privacy loss, table, n."""
    spent = {"epsilon": request.epsilon} if request.epsilon else {"rho": request.rho}
    amounts = {name: amount_text(amount) for name, amount in spent.items()}
    return {"mechanism": label, **amounts, "table": request.dataset, "n": f"{request.n:,}"}


def _of_files(network: Network, reading: Reading) -> Reading:
    """Return the reading of the files: naive for a network that is too large for the noise-aware posterior."""
    if reading is Reading.NOISE_AWARE and network.cell_count > MOST_CELLS:
        st.caption(
            f"The files below use the naive reading, because the noise-aware posterior is computed for at most "
            f"{MOST_CELLS:,} probabilities."
        )
        return Reading.AS_REAL
    return reading


def _views(
    document: ReleaseDocument, release: Release[Outcome], requested: Reading, data: bytes, *, key: str, suspicion: float
) -> None:
    """Offer all files of the release, which are computed from the released numbers only."""
    reading = _of_files(document.request.network, requested)

    def offer(label: str, file: str, content: object, mime: str) -> None:
        download_button(label, content, file_name=file, mime=mime, key=f"{key}.{file}")  # type: ignore[arg-type]

    with st.container(horizontal=True):
        offer("release.json", "release.json", data, "application/json")
        offer("Network (BIF)", "release.bif", lambda: released_bif(document, reading).encode(), "text/plain")
        offer(
            "Report (HTML)",
            "release.html",
            lambda: html_report(document, reading, suspicion=suspicion).encode(),
            "text/html",
        )
        offer(
            "Script (Python)", "release.py", lambda: python_script(document, reading=reading).encode(), "text/x-python"
        )
        if isinstance(release.outcome, ReleasedPosterior) and document.request.network.cell_count <= MOST_COLUMNS:
            offer(
                f"{DRAWS:,} posterior samples (Parquet)",
                "draws.parquet",
                lambda: draws_parquet(posterior_of(release, reading), DRAWS, _generator()),
                "application/vnd.apache.parquet",
            )
    if remark := unread_elsewhere(document.request.network):
        st.caption(escaped(remark))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        number = st.text_input("Synthetic records", "1,000", key=f"{key}.records", width=160)
        n = whole_number("The number of records", number.replace(",", "").strip(), low=0, high=MOST_RECORDS)

        def records() -> Dataset:
            return records_of(document, n, _generator(), reading)

        offer("Records (CSV)", "records.csv", lambda: records_csv(records()), "text/csv")
        offer(
            "Records (Parquet)",
            "records.parquet",
            lambda: records_parquet(records()),
            "application/vnd.apache.parquet",
        )


def _generator() -> np.random.Generator:
    return np.random.default_rng(secrets.randbits(128))
