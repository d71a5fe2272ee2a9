"""Whether the tables of a release agree: under Fourier two marginals of a node are equal, under Laplace they differ.

Everything is simulated on a table of fair coin flips, so that nothing depends on anybody's data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import streamlit as st

from dpbayes.base.estimates import Estimate
from dpbayes.base.libraries import pd
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work
from dpbayes.base.text import many
from dpbayes.experiments.agreement import Noticed, largest_gap, noticed, sharing_families
from dpbayes.figures.non_negativity import agreement_figure
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates
from dpbayes.mechanisms.fourier import INCREMENT
from dpbayes.model.counts import Counts, count
from dpbayes.model.labels import assignment
from dpbayes.model.network import Network
from dpbayes.sources.synthetic import sample_dataset
from dpbayes.ui.pages.explore.non_negativity import NonNegativity, in_steps
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import Running, running

MOST_SAMPLED, WITHOUT_TABLE = 20_000, 1000
"""The largest number of records of the sampled table, and their number without a public n."""

RELEASES, LEAST_RELEASES = 300, 20
MOST_RELEASED = 600_000
"""Releases of the sampled table, and releases times cells that are still quick."""

STEP = 250_000
"""Cells that one step goes through where more than the least cell is looked at."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """Releases of a sampled table, of which two `families` hold a `node`, or none do where no two tables share one.

    `work` simulates them, a dictionary by mechanism for each step; `shared` are all nodes that two tables hold.
    """

    records: int
    shared: tuple[str, ...]
    node: int
    families: tuple[int, ...]
    work: Running[tuple[dict[str, Noticed], ...]]

    @property
    def seen(self) -> dict[str, Noticed]:
        """What shows in the releases so far, by mechanism."""
        parts = self.work.so_far
        return {label: Noticed.joined([part[label] for part in parts]) for label in parts[0]}


def agreement_of(
    simulated: NonNegativity, t: float, *, records: int | None, seed: int, wanted: str | None
) -> Agreement:
    """Return releases for the node `wanted`, else for the first that two tables hold."""
    network = simulated.network
    shared = tuple(name for k, name in enumerate(network.names) if len(sharing_families(network, k)) > 1)
    node = network.index(wanted if isinstance(wanted, str) and wanted in shared else shared[0]) if shared else 0
    families = sharing_families(network, node)[:2]
    n = min(records if records is not None else WITHOUT_TABLE, MOST_SAMPLED)
    fourier = replace(simulated.mechanism, t=min(t, INCREMENT.high))
    key = (network, fourier.calibration, fourier.noise, fourier.epsilon, fourier.t, node, n, seed)
    work = running("stealth.agreement", key, lambda: _steps(fourier, n, seed, node, families))
    if not work.taken or not simulated.work.going:
        work.work()
    return Agreement(n, shared, node, families, work)


def _steps(
    fourier: LaplaceFourier, records: int, seed: int, node: int, families: Sequence[int]
) -> Work[tuple[dict[str, Noticed], ...]]:
    """Simulate releases of the sampled table under Laplace and under Fourier."""
    network = fourier.prior.network
    mechanisms = (LaplaceUpdates(prior=fourier.prior, epsilon=fourier.epsilon, noise=fourier.noise), fourier)
    drawn = {mechanism.label: stream(seed, "stealth", mechanism.label) for mechanism in mechanisms}

    def step(size: int) -> dict[str, Noticed]:
        counts = coin_flip_counts(network, records, seed)
        return {
            mechanism.label: noticed(
                mechanism, counts, drawn[mechanism.label], releases=size, node=node, families=families
            )
            for mechanism in mechanisms
        }

    releases = max(LEAST_RELEASES, min(RELEASES, MOST_RELEASED // network.cell_count))
    return in_steps(releases, step_size=max(1, STEP // network.cell_count), step=step)


@session_cache(8)
def coin_flip_counts(network: Network, n: int, seed: int) -> Counts:
    """Count a table of n fair coin flips in every column: it holds nothing of anybody's data."""
    fair = np.full(network.cell_count, 0.5)
    return count(network, sample_dataset(network, fair, n, stream(seed, "stealth", "table")))


def agreement(net: Network, view: Agreement) -> None:
    """Show the two tables of a release that hold a node, under Laplace and under Fourier."""
    st.subheader("Consistency of the released tables")
    seen = view.seen
    differs = _panels(net, view, seen)
    releases = many(len(next(iter(seen.values())).totals), "simulated release")
    st.caption(
        f"{releases} of a table with {many(view.records, 'fair coin flip')} in every column. ± is a standard error; a "
        "number without ± is the same in every release."
    )
    _observer(seen, differs, view.records)


def _panels(net: Network, view: Agreement, seen: dict[str, Noticed]) -> dict[str, Estimate]:
    """Draw a panel for each mechanism, and return by how much its two tables differ on average."""
    if not view.shared:
        st.caption("No two tables share a node, because the graph has no arrows.")
        return {}
    st.selectbox("Node that two tables share", view.shared, key="stealth.shared")
    chosen, node = net.names[view.node], view.node
    names = tuple(f"the table of {net.names[k]}" for k in view.families)
    stated = {label: totals.said for label, totals in seen.items()}
    # Both panels have the same scale, each around its own releases: the lift moves them apart.
    room = 0.55 * max(float(np.ptp(values)) for values in stated.values()) + 1
    about = assignment(chosen, net.states[node][net.telling_state(node)])
    differs = {label: Estimate.of(largest_gap(values)) for label, values in stated.items()}
    colours = {kind.label: kind.colour for kind in (LaplaceUpdates, LaplaceFourier)}
    for column, (label, values) in zip(st.columns(2, gap="medium"), stated.items(), strict=True):
        with column:
            gap, middle = differs[label], float(values.min() + values.max()) / 2
            st.markdown(
                f"**{label}**: the two tables differ by {gap} records on average."
                if gap.value > 0
                else f"**{label}**: the two tables always agree."
            )
            chart(
                agreement_figure(
                    values,
                    names=(names[0], names[1]),
                    about=about,
                    limits=(middle - room, middle + room),
                    colour=colours[label],
                ),
                key=f"compare.agree.{label}",
                simulates=True,
                alt=f"Dots: records with {about} in {names[0]} and in {names[1]}, for {len(values)} simulated "
                f"releases under {label}. The two tables differ by {gap} records on average.",
            )
    return differs


def _observer(seen: dict[str, Noticed], differs: dict[str, Estimate], records: int) -> None:
    """Show what distinguishes a release from a table of true counts."""
    st.markdown("**Differences between a release and true counts**")
    rows = {
        "mean total of a table, records": (f"{records:,}", *(view.total for view in seen.values())),
        "largest minus smallest total in one release, records": (0, *(view.spread for view in seen.values())),
        "cells that are whole numbers, %": (100, *(view.whole.times(100) for view in seen.values())),
        "releases with a negative cell, %": (0, *(view.negative.times(100) for view in seen.values())),
    }
    if differs:
        rows["difference of two tables about the shared node, records"] = (0, *differs.values())
    cells = {what: [str(number) for number in numbers] for what, numbers in rows.items()}
    frame = pd.DataFrame.from_dict(cells, orient="index", columns=["true counts", *seen])
    st.dataframe(frame.reset_index(names="property"), hide_index=True)
    st.caption(
        "Fourier’s tables agree. With real-valued noise, their cells are not whole numbers. Their total is n plus the "
        "added counts. Scaling the tables back to n or clipping negative cells costs no privacy."
    )
