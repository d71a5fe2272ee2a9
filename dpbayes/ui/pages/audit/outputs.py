"""The audit of adaptive releases of two neighbouring tables: the exact losses of simulated outputs."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from dpbayes.audit.adaptive import AdaptiveAudit
from dpbayes.audit.draws import DOUBT
from dpbayes.audit.entry import TablePair
from dpbayes.base.libraries import pd
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work
from dpbayes.base.text import escaped, many, power_of_ten
from dpbayes.base.validation import InputError
from dpbayes.figures.audit import losses_figure
from dpbayes.model.dataset import Dataset
from dpbayes.model.labels import assignment
from dpbayes.model.network import Network
from dpbayes.ui.pages.audit.details import unaudited_details
from dpbayes.ui.pages.audit.subject import Audited, digits
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.workflow import AttackedTables
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.running import Running, progress, running
from dpbayes.ui.widgets.show import data_and_download, sentence_instead

DRAWS = 100
"""Simulated releases of each table. Each takes two runs of the process: 0.1 seconds for Asia."""

MOST_COLUMNS, MOST_RECORDS = 12, 20_000
"""Columns and records of tables that are audited as they are."""

NAMED = 8
"""Most values of a record that its description names."""

FEW_COLUMNS, FEW_RECORDS = 4, 20
"""Columns and records of the example table that is audited instead of a larger one."""


def audit_of_outputs(
    page: Places, chosen: Chosen, subject: Audited, outputs: Callable[..., Work[AdaptiveAudit]]
) -> bool:
    """Show the losses of simulated outputs against the claim; return whether the work continues."""
    going = False
    with page.controls:
        if chosen.is_curator and not chosen.is_connected:
            controls.parameter_control("audit.tables")
            if chosen.options("audit").tables is AttackedTables.REAL:
                controls.parameter_control("audit.record")
    with page.picture, sentence_instead():
        tables = neighbours(chosen, subject)
        key, mechanism, pair = (subject.key, tables.key, chosen.seed), subject.mechanism, (tables.first, tables.second)
        rng = stream(chosen.seed, "audit", type(mechanism).__name__)
        work = running("audit.adaptive", key, lambda: outputs(mechanism, *pair, rng=rng, draws=DRAWS))
        work.work()
        audit = work.result
        page.say("The losses of adaptive releases are being simulated." if audit is None else verdict(audit))
        if audit is not None:
            _show(audit, tables)
        _progress(work)
        going = work.going
    unaudited_details(subject)
    return going


def verdict(audit: AdaptiveAudit) -> str:
    """Return the finding about the claim as a sentence."""
    claim = f"the claim {escaped(str(audit.claimed))}"
    if audit.is_refuted:
        return f"Adaptive release: {claim} is refuted."
    return f"Adaptive release: simulated outputs do not refute {claim}."


def _progress(work: Running[AdaptiveAudit]) -> None:
    if work.is_long:
        progress(work, f"{round(work.share * DRAWS)} of {DRAWS} releases of each table", key="audit.adaptive.stop")


def _show(audit: AdaptiveAudit, tables: TablePair) -> None:
    """Show the claim, the largest loss and the lower bounds, and the picture of all losses."""
    claimed, counted = audit.claimed, audit.lower_bound()
    bound = audit.loss_bound()
    left, middle, right = st.columns(3)
    left.metric("Stated and proved", str(claimed))
    left.caption(escaped(str(claimed.reference)))
    middle.metric("Largest simulated loss", digits(audit.largest))
    middle.caption("At δ > 0, a few outputs may have a loss above ε.")
    over = bound > claimed.epsilon
    right.metric(
        "Lower bound",
        f"ε ≥ {digits(bound)}",
        delta="above the claim" if over else None,
        delta_color="inverse",
        help="A lower confidence bound on ε at the stated δ, computed from the exact losses of the outputs.",
    )
    right.caption(f"Confidence 1 − {power_of_ten(round(np.log10(DOUBT)))}, for these two tables.")
    chart(
        losses_figure(audit.first, audit.second, claimed=claimed.epsilon),
        key="audit.losses",
        simulates=True,
        alt=f"Share of outputs above each privacy loss, for both tables. The largest loss is {digits(audit.largest)}; "
        f"the claim is {claimed}.",
    )
    st.caption(
        f"{escaped(tables.description)} The loss of an output is ln P[output | table] − ln P[output | other table]. It "
        "is computed exactly from the choices and the noise of each step. A lower bound that only counts outputs, and "
        f"uses no formula, is {digits(counted.epsilon)}. The worst case over all tables is not known."
        + (" Not private (curator view)." if tables.private else "")
    )
    data_and_download(
        lambda: pd.DataFrame({"loss, first table": audit.first, "loss, second table": audit.second}),
        name="losses",
        curator_only=tables.private,
        simulates=True,
    )


# Two tables


def opposite(record: np.ndarray, net: Network) -> np.ndarray:
    """Return the record with the states counted from the other end; a middle state moves on by one."""
    mirrored = net.cards - 1 - record
    return np.where(mirrored == record, (record + 1) % net.cards, mirrored)


def record_text(net: Network, record: np.ndarray) -> str:
    """Return a record as assignments, at most NAMED of them."""
    parts = [assignment(net.names[i], net.states[i][int(code)]) for i, code in enumerate(record)]
    return f"({', '.join(parts[:NAMED])}{', …' if len(parts) > NAMED else ''})"


def neighbours(chosen: Chosen, subject: Audited) -> TablePair:
    """Return the tables that the settings name; those of the recipient are made up. Errors: InputError."""
    network, n = subject.mechanism.prior.network, subject.n
    if n == 0:
        raise InputError("A table without records has no neighbouring tables, so there is nothing to audit.")
    is_small = len(network.names) <= MOST_COLUMNS and n <= MOST_RECORDS
    options = chosen.options("audit")
    if is_small and chosen.is_curator and options.tables is AttackedTables.REAL and not chosen.is_connected:
        return _of_the_table(chosen, options.record)
    if not is_small:
        network, n = _columns(network), min(n, FEW_RECORDS)
    common, odd = np.zeros(len(network.names), dtype=np.int64), network.cards - 1
    second = Dataset(network.names, network.states, np.repeat(common[None], n, axis=0))
    size = f"{many(len(network.names), 'column')} and {many(n, 'record')}"
    large = f"The open table is too large for many simulated releases. An example of {size} is audited. "
    description = (
        f"{'' if is_small else large}The first table has {n - 1:,} records {record_text(network, common)} and one "
        f"record {record_text(network, odd)}. In the second table all records are the same."
    )
    return TablePair(second.replace(0, odd.tolist()), second, description, key=("made up", network, n))


def _columns(network: Network) -> Network:
    """Return the first columns of a network without arrows."""
    names, states = network.names[:FEW_COLUMNS], network.states[:FEW_COLUMNS]
    return Network(names, states, ((),) * len(names))


def _of_the_table(chosen: Chosen, k: int) -> TablePair:
    network, data = chosen.network, chosen.dataset.select(chosen.network.names)
    if k > data.n:
        raise InputError(f"There is no record {k:,}: the table has {data.n:,} records. Choose a smaller record number.")
    record = data.codes[k - 1].astype(np.int64)
    replaced = opposite(record, network)
    description = (
        f"Record {k:,} is {record_text(network, record)}. In the second table it is {record_text(network, replaced)}."
    )
    tables = data, data.replace(k - 1, replaced.tolist())
    return TablePair(*tables, description, key=(k, chosen.dataset), private=True)
