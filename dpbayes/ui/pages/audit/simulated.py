"""Audits by simulated releases of two neighbouring tables: a lower bound, and the losses of adaptive releases."""

from collections.abc import Callable, Hashable

import numpy as np
import streamlit as st

from dpbayes.audit.adaptive import AdaptiveAudit
from dpbayes.audit.draws import DOUBT, SampledLoss, audit_by_draws
from dpbayes.audit.entry import TablePair
from dpbayes.base.libraries import pd
from dpbayes.base.randomness import stream
from dpbayes.base.steps import Work
from dpbayes.base.text import escaped, many, numeral, power_of_ten
from dpbayes.base.validation import InputError
from dpbayes.figures.audit import losses_figure
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.ui.pages.audit.attacker import is_of_a_record, made_up_tables, opposite, record_text
from dpbayes.ui.pages.audit.details import unaudited_details
from dpbayes.ui.pages.audit.subject import Audited, digits
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import note_request, session_cache
from dpbayes.ui.session.options.workflow import AttackedTables
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.running import Running, progress, running
from dpbayes.ui.widgets.show import data_and_download, sentence_instead

MOST_DRAWS, LEAST_DRAWS = 200_000, 2_000
MANY_NUMBERS, MOST_NUMBERS = 1_000_000, 20_000_000
"""Released numbers that are still drawn and weighed quickly, and that are at all: larger releases get fewer draws, down
to LEAST_DRAWS, and the largest are not drawn."""


def lower_bound_section(subject: Audited, *, seed: int) -> None:
    """Show the lower bound that releases of two neighbouring tables prove, with its confidence."""
    st.subheader("Lower bound from simulated releases")
    wanted, numbers_per_release = hash(subject.key), subject.numbers
    if LEAST_DRAWS * numbers_per_release > MOST_NUMBERS:
        st.caption(
            f"This release has {numbers_per_release:,} numbers. The bound is computed for releases of up to "
            f"{MOST_NUMBERS // LEAST_DRAWS:,} numbers. The audit above gives another lower bound."
        )
        return
    if subject.hypothetical is None and st.session_state.get("audit.released") != wanted:
        st.caption(
            "Many simulated releases of two neighbouring tables prove a lower bound without any formula. On a network "
            "with many cells the computation is slow, and the bound is often loose."
        )
        st.button("Compute lower bound", key="audit.release", on_click=note_request, args=("audit.released", wanted))
        return
    with sentence_instead():
        drawn = subject.hypothetical.drawn if subject.hypothetical else None
        tables = drawn(subject.mechanism, **subject.sizes) if drawn else made_up_tables(subject)
        draws = max(LEAST_DRAWS, min(MOST_DRAWS, MANY_NUMBERS // numbers_per_release))
        _show_bound(subject, _proved(subject.key, seed, draws, subject, tables), tables.description)


def _show_bound(subject: Audited, loss: SampledLoss, description: str) -> None:
    confidence = f"confidence 1 − {power_of_ten(round(np.log10(loss.doubt)))}"
    if loss.epsilon > 0:
        at = f" at δ = {numeral(loss.delta)}" if loss.delta else ""
        broken = " :red[The lower bound exceeds the claim.]" if loss.refutes(subject.promised) else ""
        st.markdown(f"**The privacy loss is at least {digits(loss.epsilon)}{at}, with {confidence}.**{broken}")
    else:
        st.markdown(
            f"**The lower bound on the privacy loss is 0, with {confidence}.** The outputs are too rare for a larger "
            "bound."
        )
    st.caption(
        f"{escaped(description)} The bound uses {2 * loss.counted:,} simulated releases of each table and no formula. "
        "An event is chosen on the first half of the releases. In the second half the event occurs in "
        f"{loss.hits[0]:,} of {loss.counted:,} releases of one table and in {loss.hits[1]:,} of the other. "
        "Clopper-Pearson intervals turn these counts into a lower bound."
    )


@session_cache(16, spinner="Simulating releases …", show_time=True)
def _proved(key: Hashable, seed: int, draws: int, _subject: Audited, _tables: TablePair) -> SampledLoss:
    rng = stream(seed, "audit", "draws", type(_subject.mechanism).__name__)
    return audit_by_draws(
        _subject.mechanism, first=_tables.first, second=_tables.second, rng=rng, draws=draws, doubt=DOUBT
    )


# A lower bound, for mechanisms whose exact loss is not known


DRAWS = 100
"""Simulated releases of each table. Each takes two runs of the process: 0.1 seconds for Asia."""

MOST_COLUMNS, MOST_RECORDS = 12, 20_000
"""Columns and records of tables that are audited as they are."""

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


def neighbours(chosen: Chosen, subject: Audited) -> TablePair:
    """Return the tables that the settings name; those of the recipient are made up. Errors: InputError."""
    network, n = subject.mechanism.prior.network, subject.n
    if n == 0:
        raise InputError("A table without records has no neighbouring tables, so there is nothing to audit.")
    is_small = len(network.names) <= MOST_COLUMNS and n <= MOST_RECORDS
    options = chosen.options("audit")
    if is_small and is_of_a_record(chosen, options):
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
