"""What the Release page shows below the picture: the spread, a query, all rows, the promise, a comparison, the file."""

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.dirichlet import Dirichlets
from dpbayes.experiments.releases import ReleaseStudy, interval_coverage, study_release
from dpbayes.exports import release_json
from dpbayes.figures.posterior import kl_figure, quantile_dots_figure, rows_figure
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, Mechanism, Release, ReleasedPosterior
from dpbayes.network import Network, assignment
from dpbayes.randomness import stream
from dpbayes.ui import controls
from dpbayes.ui.settings import MECHANISM_NAMES, change, current
from dpbayes.ui.show import assumption, chart, data_and_download, escaped, is_curator, sentence_instead, source
from dpbayes.ui.work import counts, data_title, leaking_columns, mechanism

DRAWS = 200
"""Simulated releases behind every spread on this page."""

LEVEL = 0.95
ROWS_AT_ONCE = 24
MANY_VALUES = 600_000
"""Draws times cells that are still quick; larger networks get fewer draws, and the page says so."""


def draws_of(net: Network) -> int:
    """Return how many releases to simulate for a network of this size."""
    return max(20, min(DRAWS, MANY_VALUES // net.cell_count))


def simulate(chosen: Mechanism[ReleasedPosterior]) -> ReleaseStudy:
    """Simulate releases; the stream belongs to the mechanism, so a comparison shows the same numbers."""
    found = counts(current())
    rng = stream(current().seed, "release", type(chosen).__name__)
    return study_release(chosen, found, rng, draws_of(found.network))


def release_details(study: ReleaseStudy, net: Network, cell: int) -> None:
    """Show everything below the picture; the recipient gets what one release contains."""
    _spread_and_query(study, net, cell)
    _all_rows(study, net)
    _guarantee(mechanism(current(), net))
    if is_curator():
        _comparison(net, cell)
    _download(study)


def _spread_and_query(study: ReleaseStudy, net: Network, cell: int) -> None:
    left, right = st.columns(2, gap="medium")
    if is_curator():
        with left:
            st.subheader("Many possible releases")
            name = f"P({net.cell_label(cell)})"
            figure = quantile_dots_figure(study.private.mean[:, cell], float(study.exact.mean[cell]), name=name)
            chart(figure, key="dots", alt=f"Quantile dots of the private posterior mean of {name}.")
            st.caption(f"{len(study.private.alpha)} simulated releases. Publishing them all would cost ε for each.")
    with right if is_curator() else left, sentence_instead():
        st.subheader("Ask a question")
        _query(study, net)


def _query(study: ReleaseStudy, net: Network) -> None:
    controls.choice("What is the probability of", "target", net.names)
    target = current().target if current().target in net.names else net.names[0]
    known = {assignment(name, state): (name, state) for name, states in zip(net.names, net.states, strict=True)
             if name != target for state in states}  # fmt: skip
    evidence = dict(pair for pair in current().evidence if pair in known.values())
    st.session_state["evidence"] = [text for text, pair in known.items() if pair in evidence.items()]
    st.multiselect("given", list(known), key="evidence", placeholder="nothing", on_change=_set_evidence, args=(known,))
    exact, private = study.query(target, evidence)
    states = net.states[net.index(target)]
    frame = pd.DataFrame({"state": states, "private": private[0]})
    if is_curator():
        frame["exact"] = exact
        frame["mean |diff.|"] = np.abs(private - exact).mean(axis=0)
        low, high = np.quantile(private, (0.05, 0.95), axis=0)
        frame["nine of ten releases"] = [f"{a:.3f} to {b:.3f}" for a, b in zip(low, high, strict=True)]
    st.dataframe(frame.round(4), hide_index=True)
    if is_curator():
        st.caption("Exact and differences: curator only, not private.")


def _set_evidence(known: dict[str, tuple[str, str]]) -> None:
    """Keep one state of each node: the one picked last."""
    picked = dict(known[text] for text in st.session_state["evidence"])
    change(evidence=tuple(picked.items()))


def _all_rows(study: ReleaseStudy, net: Network) -> None:
    with st.expander("All rows of the network", expanded=net.row_count <= ROWS_AT_ONCE):
        rows = _rows_shown(net)
        cells = net.row_starts[rows] + [net.telling_state(int(node)) for node in net.node_of_row[rows]]
        labels = [net.cell_label(int(cell)) for cell in cells]
        first = study.private.part(0)
        figure = rows_figure(labels, _summary(first, cells), _summary(study.exact, cells) if is_curator() else None)
        chart(figure, key="rows", alt="Posterior means with 95 % intervals of one state of every row.")
        if is_curator():
            mean_kl = study.kl_rows.mean(axis=0)
            worst = np.argsort(-mean_kl)[:ROWS_AT_ONCE]
            row_labels = net.row_labels()
            figure = kl_figure([row_labels[row] for row in worst], mean_kl[worst])
            chart(figure, key="kl", alt="Bars: the mean KL divergence of the rows where it is largest.")
            data_and_download(
                lambda: pd.DataFrame({"row": row_labels, "mean KL (nats)": mean_kl}),
                name="kl-by-row",
                curator_only=True,
            )


def _rows_shown(net: Network) -> np.ndarray:
    if net.row_count <= ROWS_AT_ONCE:
        return np.arange(net.row_count)
    node = net.index(st.selectbox("Node", net.names, key="rows.node"))
    rows = np.arange(net.row_offsets[node], net.row_offsets[node + 1])
    if len(rows) > ROWS_AT_ONCE:
        st.caption(f"The first {ROWS_AT_ONCE} of {len(rows):,} rows of this node.")
    return rows[:ROWS_AT_ONCE]


def _summary(posterior: Dirichlets, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    low, high = posterior.interval(LEVEL, cells=cells)
    return posterior.mean[cells], low, high


def _guarantee(chosen: Mechanism[ReleasedPosterior]) -> None:
    with st.expander("What is promised, by whom, and why"):
        left, right = st.columns(2)
        left.metric("Claimed", str(chosen.claimed))
        left.caption(str(chosen.claimed.reference))
        right.metric("Certified", str(chosen.certified))
        right.caption(str(chosen.certified.reference))
        assumption(f"Neighbours are {chosen.certified.neighbours.value}.", holds=True)
        assumption("Every column's domain is public, not taken from the data.", holds=not leaking_columns(current()))
        assumption("The noise is drawn afresh, exactly, and unseen: not in this simulation.", holds=False)
        if isinstance(chosen, LaplaceUpdates):
            st.markdown(
                f"$Z = \\mathrm{{clip}}(\\Delta + \\mathrm{{Lap}}(2|I|/\\varepsilon), 0, n)$ in every cell, here with "
                f"scale $2|I|/\\varepsilon = {chosen.noise_scale:.4g}$ counts."
            )
        if isinstance(chosen, LaplaceFourier):
            closure = chosen.prior.network.closure
            st.markdown(
                f"$s_\\gamma + \\mathrm{{Lap}}(b)$ for each of $|N_I| = {len(closure)}$ coefficients, here with "
                f"$b = {chosen.noise_scale:.4g}$; one record flips at most $O = {closure.odd_overlap.value}$ of them. "
                f"Every table is lifted by $2t|N_I|b = {chosen.lift:,.4g}$ invented records."
            )
        source(chosen.claimed.reference)


def _comparison(net: Network, cell: int) -> None:
    with st.expander("Compare the mechanisms at this setting", on_change="rerun", key="comparison") as comparison:
        if not comparison.open:
            return
        records = []
        for name in MECHANISM_NAMES:
            with sentence_instead():
                other = mechanism(current(), net, name)
                study = simulate(other)
                held = interval_coverage(study.exact, study.private, cell, LEVEL)
                records.append(
                    {
                        "mechanism": other.label,
                        "certified": str(other.certified),
                        "mean |difference| of this cell": study.shifts[:, cell].mean(),
                        "mean |difference| of all cells": study.shifts.mean(),
                        "KL of all rows (nats)": study.kl.mean(),
                        "standard error": study.kl_error,
                        f"held by {LEVEL:.0%} intervals": held.mean(),
                    }
                )
        st.dataframe(pd.DataFrame(records).round(4), hide_index=True)
        st.caption(f"Curator only: not private. Means over {draws_of(net)} simulated releases.")


def _download(study: ReleaseStudy) -> None:
    """Offer the first simulated release: what a recipient would get, and nothing else."""
    outcome = study.release.outcome
    single = Release(
        ReleasedPosterior(outcome.prior, outcome.updates[0]),
        study.release.guarantee,
        study.release.mechanism,
        study.release.public,
    )
    st.download_button(
        "Download this simulated release (JSON)",
        lambda: release_json(single),
        "simulated-release.json",
        "application/json",
        key="download.release",
        help="What the recipient would get. Its noise is seeded, so it protects nobody: for demonstration only.",
        on_click="ignore",
    )
    st.caption(f"Table: {escaped(data_title(current()))}.")
