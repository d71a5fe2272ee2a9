"""What the Stealth page shows below its picture: whether tables agree, what else shows, formulas, counterexamples."""

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.estimates import Estimate
from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.text import latex, many, near_one, numeral, numeral_above
from dpbayes.experiments.agreement import Noticed, apart
from dpbayes.figures.stealth import agreement_figure
from dpbayes.mechanisms import Calibration, LaplaceFourier, Noise
from dpbayes.mechanisms.stealth import Sense
from dpbayes.model.labels import assignment
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.rebuilt_tables import table_error, table_error_bound
from dpbayes.theory.zhang16.stealth import (
    certified_increment,
    counterexample_rebuilt_table,
    counterexample_small_increment,
    is_printed_proved,
    negative_marginal_bound,
    negative_table_bound,
    printed_probability,
)
from dpbayes.ui.pages.stealth.simulations import Agreement, Stealth
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import assumption, source


def records_text(records: float) -> str:
    """Return a number of records: whole from a thousand up, however large."""
    return f"{records:,.0f}" if records >= 1000 else numeral(records)


# Do tables agree?


def agreement(net: Network, view: Agreement) -> None:
    """Show what two tables of a release say of a node that both hold, under Laplace and under Fourier."""
    st.subheader("Do the tables agree?")
    seen = view.seen
    differs = _panels(net, view, seen)
    releases = many(len(next(iter(seen.values())).totals), "simulated release")
    st.caption(
        f"{releases} of a made-up table of {many(view.records, 'coin flip')} in every column: nothing "
        "here depends on anybody’s data. What follows ± is a standard error; a number without it came out the same in "
        "every release."
    )
    _observer(seen, differs, view.records)


def _panels(net: Network, view: Agreement, seen: dict[str, Noticed]) -> dict[str, Estimate]:
    """Draw a panel for each mechanism, and return by how much its two tables differ on average."""
    if not view.shared:
        st.caption("No node is in the tables of two others: without arrows there is nothing to disagree about.")
        return {}
    st.selectbox("A node that two tables hold", view.shared, key="stealth.shared")
    chosen, node = net.names[view.node], view.node
    names = tuple(f"the table of {net.names[k]}" for k in view.families)
    said = {label: each.said for label, each in seen.items()}
    # Both panels have the same scale, each around its own releases: the lift moves them apart.
    room = 0.55 * max(float(np.ptp(values)) for values in said.values()) + 1
    about = assignment(chosen, net.states[node][net.telling_state(node)])
    differs = {label: Estimate.of(apart(values)) for label, values in said.items()}
    for column, (label, values) in zip(st.columns(2, gap="medium"), said.items(), strict=True):
        with column:
            gap, middle = differs[label], float(values.min() + values.max()) / 2
            st.markdown(
                f"**{label}**: the two differ by {gap} records on average."
                if gap.value > 0
                else f"**{label}**: the two always agree."
            )
            chart(
                agreement_figure(
                    values,
                    names=(names[0], names[1]),
                    about=about,
                    limits=(middle - room, middle + room),
                    colour=LaplaceFourier.colour,
                ),
                key=f"stealth.agree.{label}",
                simulates=True,
                alt=f"Dots: records with {about} by {names[0]} and by {names[1]}, in {len(values)} simulated releases "
                f"under {label}. They differ by {gap} records on average.",
            )
    return differs


def _observer(seen: dict[str, Noticed], differs: dict[str, Estimate], records: int) -> None:
    """Show what gives a release away to somebody who knows of no mechanism."""
    st.markdown("**What an observer would notice** who knows of no mechanism:")
    rows = {
        "total of a table, mean (records)": (f"{records:,}", *(view.total for view in seen.values())),
        "largest less smallest total in one release (records)": (0, *(view.spread for view in seen.values())),
        "cells that are whole numbers (%)": (100, *(view.whole.times(100) for view in seen.values())),
        "releases with a negative cell (%)": (0, *(view.negative.times(100) for view in seen.values())),
    }
    if differs:
        rows["two tables differ about the shared node by (records)"] = (0, *differs.values())
    said = {what: [str(number) for number in numbers] for what, numbers in rows.items()}
    frame = pd.DataFrame.from_dict(said, orient="index", columns=["in the made-up table", *seen])
    st.dataframe(frame.reset_index(names="what shows"), hide_index=True)
    st.caption(
        "Stealth is limited: Fourier’s tables agree, but their cells are not whole numbers, and their total is n plus "
        "the invented records. Scaling them back to n, or truncating what is negative, costs no privacy."
    )


# Formulas and counterexamples


def details(stealth: Stealth, sense: Sense, t: float, *, seed: int) -> None:
    """Show the formulas with their numbers, what they assume, and where the printed one fails."""
    with st.expander("Formulas, assumptions and source"):
        _formulas(stealth, t)
        _assumptions(stealth, sense, t)
        source(Reference("Zhang16", "Section 3.2, Algorithm 2, Corollaries 2 and 3, Theorem 3"))
    with st.expander("Where the printed formula fails", on_change="rerun", key="stealth.fails") as fails:
        if fails.open:
            _counterexamples(seed)
    with st.expander("What trying again costs"):
        epsilon = stealth.mechanism.epsilon
        st.markdown(
            f"The paper charges $\\varepsilon$ for every run: ten runs cost {numeral(10 * epsilon, 6)}. Handing over "
            f"the first success alone costs $2\\varepsilon = {latex(2 * epsilon, 6)}$, however many runs it takes: "
            "$P(A \\mid S) = P(A \\cap S)/P(S)$, and each of the two moves by a factor of at most $e^\\varepsilon$. "
            "That holds only if nobody learns how many runs there were, and if they go on until one succeeds. "
            "It is not $\\varepsilon$: a plot of the successful runs alone, as in the paper’s Figure 1, is charged too "
            "little."
        )


def _formulas(stealth: Stealth, t: float) -> None:
    net, mechanism = stealth.network, stealth.mechanism
    closure, scale, noise = net.closure, mechanism.noise_scale, stealth.noise
    certified = mechanism.calibration is Calibration.CERTIFIED
    reach = "2t|N_I|" if mechanism.noise is Noise.REAL else "2t|N_I| - c_F/b"
    what = "2O/\\varepsilon" if certified else "2|N_I|/\\varepsilon"
    kept = 1 - float(negative_marginal_bound(net, noise=noise, t=t).certified)
    enough = certified_increment(net, 0.9, noise=noise)
    error = float(table_error(net, noise=noise, epsilon=mechanism.epsilon, t=t, delta=0.05).max())
    stated = float(table_error_bound(net, epsilon=mechanism.epsilon, t=t, delta=0.05).printed.max())
    st.markdown(
        f"""
- **Noise**: $b = {what} = {records_text(scale)}$ on each integer coefficient, with $|N_I| = {len(closure)}$,
  $O = {closure.odd_overlap.value}$, $\\varepsilon = {latex(mechanism.epsilon, 6)}$.{mechanism.noise.told}
- **Lift**: $2t|N_I|b = {records_text(t * stealth.records)}$ records in every table; printed
  $4t|N_I|^2/\\varepsilon = {records_text(t * stealth.printed_records)}$.
- **Printed** (Corollary 3): $P(\\text{{non-negative}}) \\ge 1 - e^{{-t}} = {near_one(float(printed_probability(t)))}$.
- **Proved** for released tables:
  $P \\ge 1 - \\sum_F \\min\\{{P(\\Gamma_{{c_F}} > {reach}),\\ 2^{{|F|}} P(X_1 + \\dots + X_{{c_F}} > {reach})\\}}
  = {near_one(max(kept, 0.0))}$ over the families $F$ that lie in no other, each with $c_F$ noisy coefficients. So
  $t = {latex(enough)}$ keeps nine of ten releases non-negative: proved, without any simulation.
- **Error** (Theorem 3): with probability 0.95, the largest family's table is within {records_text(error)} records of
  the truth in $L_1$ (proved), of which the lift is {records_text(t * stealth.records)}; printed, at the printed noise:
  {records_text(stated)}.
"""
    )


def _assumptions(stealth: Stealth, sense: Sense, t: float) -> None:
    net, certified = stealth.network, stealth.mechanism.calibration is Calibration.CERTIFIED
    bound = negative_table_bound if sense is Sense.TABLE else negative_marginal_bound
    for condition in bound(net, noise=stealth.noise, t=t).assumptions:
        assumption(condition.text, holds=condition.holds)
    assumption(
        "t is large enough that the printed 1 − exp(−t) follows: |N_I| (2t − 1 − ln 2t) ≥ t and t > 1/2.",
        holds=is_printed_proved(net, t=t),
    )
    assumption("Every node is binary.", holds=True)
    of_graph = "the graph alone" if stealth.mechanism.noise is Noise.REAL else "the graph and ε"
    made_of = "the graph, the prior and ε" if sense is Sense.PARAMETERS else of_graph
    assumption(f"t was chosen without the data: from {made_of}.", holds=True)
    assumption("O is found exactly; otherwise a proved upper bound is used.", holds=net.closure.odd_overlap.exact)
    assumption("The empty set’s coefficient, n, is public and carries no noise.", holds=certified)
    assumption(
        "What has to be non-negative is what is handed over, and not the whole table rebuilt from N_I, which may be "
        "negative even without noise.",
        holds=sense is not Sense.TABLE,
    )


def _counterexamples(seed: int) -> None:
    small = counterexample_small_increment(stream(seed, "stealth", "counterexample"))
    share = Estimate.share(round(small.simulated * small.draws), draws=small.draws)
    st.markdown(
        f"**Small t.** Four nodes, every arrow there, so that one family is the whole table; noise as printed, "
        f"t = {numeral(small.t, 6)}. Printed: at least {numeral(small.printed)}. Of {small.draws:,} simulated "
        f"releases {share} were non-negative, hence the probability is below {numeral_above(small.limit, 4)} "
        "(doubt one in 10⁹)."
    )
    cells = ", ".join(f"{cell:,.1f}" for cell in counterexample_rebuilt_table())
    st.markdown(
        "**The table to the letter.** Two nodes, no arrow, 1,000 records (0, 0), ε = 10, t = 3, and no noise at all: "
        f"the table rebuilt from N_I is ({cells}). Printed: non-negative with probability at least "
        f"{numeral(float(printed_probability(3.0)))}; no noise of this size mends the last cell. The released tables, "
        "one for each node, are fine."
    )
    source(Reference("Zhang16", "Corollary 3"))
