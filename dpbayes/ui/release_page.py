"""The parts of the Release page: controls, the picked row, the query, all rows, and the comparison."""

import time

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.dirichlet import Dirichlets
from dpbayes.experiments.releases import ReleaseStudy, density, density_grid, interval_coverage, study_release
from dpbayes.exports import release_json
from dpbayes.figures.posterior import density_figure, kl_figure, quantile_dots_figure, rows_figure
from dpbayes.mechanisms import MECHANISMS, LaplaceFourier, LaplaceUpdates, Mechanism, Release, ReleasedPosterior
from dpbayes.network import Network, assignment
from dpbayes.randomness import stream
from dpbayes.ui import controls
from dpbayes.ui.settings import MECHANISM_NAMES, change, current, set_parameter
from dpbayes.ui.show import (
    assumption,
    chart,
    data_and_download,
    escaped,
    headline,
    is_curator,
    sentence_instead,
    short,
    source,
)
from dpbayes.ui.work import (
    STEALTH,
    counts,
    data_title,
    defaults_for,
    leaking_columns,
    mechanism,
    needed,
    network,
    stealth_increment,
)

DRAWS = 200
"""Simulated releases behind every spread on this page."""

SHOWN_CURVES = 16
PAINT = 0.03
"""Seconds for the browser to paint the first chart before the rest of the page competes for it."""

LEVEL = 0.95
ROWS_AT_ONCE = 24
MANY_VALUES = 600_000
"""Draws times cells that are still quick; larger networks get fewer draws, and the page says so."""


def release_page() -> None:
    """Controls, then the picture, then everything else."""
    net = network(current())
    place = st.container()
    left, right = st.columns([1, 2], gap="medium")
    with left:
        row, cell = _controls(net)
    chosen = mechanism(current(), net)
    study = _study(chosen)
    with place:
        headline(_headline(study, net, cell))
    with right:
        _picture(study, net, cell)
        time.sleep(PAINT)
        _measures(study, net, row, cell)
    st.divider()
    _spread_and_query(study, net, cell)
    _all_rows(study, net)
    _guarantee(chosen)
    if is_curator():
        _comparison(net, cell)
    _download(study)


def _draws(net: Network) -> int:
    return max(20, min(DRAWS, MANY_VALUES // net.cell_count))


def _study(chosen: Mechanism) -> ReleaseStudy:
    """Simulate releases; the stream belongs to the mechanism, so a comparison shows the same numbers."""
    found = counts(current())
    rng = stream(current().seed, "release", type(chosen).__name__)
    return study_release(chosen, found, rng, _draws(found.network))


# Controls


def _controls(net: Network) -> tuple[int, int]:
    labels = net.row_labels()
    names = {kind.__name__: kind for kind in MECHANISMS}
    controls.segments("Mechanism", "mechanism", MECHANISM_NAMES, format_func=lambda name: names[name].label)
    chosen = names[current().mechanism]
    controls.parameter_controls(chosen, defaults_for(chosen, current(), net))
    if current().mechanism == LaplaceFourier.__name__:
        with sentence_instead():
            _stealth(net)
    controls.choice("CPT row", "row", labels, help="A node, and the states of its parents.")
    row = labels.index(current().row) if current().row in labels else 0
    node = int(net.node_of_row[row])
    states = net.states[node]
    telling = states[net.telling_state(node)]
    controls.choice("State", "state", states, default=telling)
    state = states.index(current().state if current().state in states else telling)
    with st.expander("Prior and seed" if is_curator() else "Prior"):
        controls.text_field("Prior: pseudo-count of every cell", "prior", help="1 is uniform.")
        if is_curator():
            controls.text_field("Seed of the simulated noise", "seed", help="A real release has no seed.")
    return row, int(net.row_starts[row]) + state


def _stealth(net: Network) -> None:
    """Say how often the chosen t keeps every table non-negative, and find a t for a target."""
    if not net.is_binary:
        return
    calibration = current().parameter("calibration")
    t = current().parameter("t", stealth_increment(net, calibration, STEALTH))
    kept = float(np.mean(needed(net, calibration) <= t))
    st.caption(f"With no data at all, {kept:.1%} of releases would be non-negative; real counts only help.")
    left, right = st.columns([2, 1], vertical_alignment="bottom")
    target = left.selectbox("Target probability", (0.5, 0.9, 0.99, 0.999), index=1, format_func=lambda p: f"{p:.1%}")
    right.button("Find t", on_click=lambda: set_parameter("t", stealth_increment(net, calibration, target)))


# The picture


def _cell_name(net: Network, cell: int) -> str:
    row = int(net.row_of_cell[cell])
    label = net.row_labels()[row]
    node = int(net.node_of_row[row])
    state = net.states[node][cell - int(net.row_starts[row])]
    name, bar, given = label.partition(" | ")
    return f"{assignment(name, state)}{bar}{given}"


def _headline(study: ReleaseStudy, net: Network, cell: int) -> str:
    name = escaped(f"P({_cell_name(net, cell)})")
    promise = escaped(str(study.release.guarantee))
    if not is_curator():
        mean = study.private.mean[0, cell]
        return f"With {promise}, this release says that {name} is about {mean:.2f}."
    shift = study.shifts[:, cell]
    return (
        f"With {promise}, a {study.release.mechanism} release moves {name} by {shift.mean():.2g} on average, "
        f"and by less than {np.quantile(shift, 0.9):.2g} in nine of ten releases."
    )


def _curves(study: ReleaseStudy, cell: int) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Return theta, the private densities and the exact one; the recipient gets one release and nothing exact."""
    first = study.private.part(0)
    theta = density_grid([study.exact, first] if is_curator() else [first], cell)
    shown = study.private.part(slice(0, SHOWN_CURVES if is_curator() else 1))
    return theta, density(shown, cell, theta), density(study.exact, cell, theta) if is_curator() else None


def _picture(study: ReleaseStudy, net: Network, cell: int) -> None:
    name = _cell_name(net, cell)
    theta, curves, exact = _curves(study, cell)
    chart(
        density_figure(theta, curves, exact, name=name, zoom=current().zoom),
        key="density",
        alt=f"Density of the private posterior of P({name})" + (" beside the exact one." if is_curator() else "."),
    )


def _measures(study: ReleaseStudy, net: Network, row: int, cell: int) -> None:
    """Say how far the releases are from the exact posterior, for the curator; offer the numbers."""
    controls.toggle("Zoom to the posteriors", "zoom")
    if is_curator():
        held = interval_coverage(study.exact, study.private, cell, LEVEL)
        kl_row, kl_all = study.kl_rows[:, row], study.kl
        left, middle, right = st.columns(3)
        left.metric("KL of this row, nats", short(kl_row.mean()), help="KL(exact || private), mean over releases.")
        middle.metric("KL of all rows, nats", short(kl_all.mean()), help=f"Standard error {_error(kl_all):.1g}.")
        right.metric(
            f"Coverage of {LEVEL:.0%} intervals",
            f"{held.mean():.0%}",
            help="How much of this cell's exact posterior lies in the private credible interval, on average.",
        )
        st.caption("Curator only: not private.")
    data_and_download(lambda: _curve_frame(study, cell), name="density", curator_only=is_curator())


def _curve_frame(study: ReleaseStudy, cell: int) -> pd.DataFrame:
    theta, curves, exact = _curves(study, cell)
    return pd.DataFrame({"theta": theta, "private": curves[0]} | ({} if exact is None else {"exact": exact}))


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


# Spread and query


def _spread_and_query(study: ReleaseStudy, net: Network, cell: int) -> None:
    left, right = st.columns(2, gap="medium")
    if is_curator():
        with left:
            st.subheader("Many possible releases")
            name = f"P({_cell_name(net, cell)})"
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


# All rows


def _all_rows(study: ReleaseStudy, net: Network) -> None:
    with st.expander("All rows of the network", expanded=net.row_count <= ROWS_AT_ONCE):
        rows = _rows_shown(net)
        cells = net.row_starts[rows] + [net.telling_state(int(node)) for node in net.node_of_row[rows]]
        labels = [_cell_name(net, int(cell)) for cell in cells]
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


# Guarantee, comparison, download


def _guarantee(chosen: Mechanism) -> None:
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
                study = _study(other)
                held = interval_coverage(study.exact, study.private, cell, LEVEL)
                records.append(
                    {
                        "mechanism": other.label,
                        "certified": str(other.certified),
                        "mean |difference| of this cell": study.shifts[:, cell].mean(),
                        "mean |difference| of all cells": study.shifts.mean(),
                        "KL of all rows (nats)": study.kl.mean(),
                        "standard error": _error(study.kl),
                        f"held by {LEVEL:.0%} intervals": held.mean(),
                    }
                )
        st.dataframe(pd.DataFrame(records).round(4), hide_index=True)
        st.caption(f"Curator only: not private. Means over {_draws(net)} simulated releases.")


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
