"""Why: where the noise lies, on what every set of nodes tells that none of its subsets does."""

import streamlit as st

from dpbayes.base.text import escaped, numeral
from dpbayes.base.validation import brief
from dpbayes.experiments.best_noise import Comparison
from dpbayes.experiments.best_noise.residuals import ResidualNoise, residual_noise
from dpbayes.figures.best_noise import residuals_figure
from dpbayes.model.network import Network
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.show import inside

MOST_SETS = 4_000
"""Sets of nodes that a picture shows; a network of more has tables too wide to look at set by set."""


def residuals(comparison: Comparison, network: Network) -> None:
    """Show the noise on the residual of every set of nodes, and what that tells."""
    st.subheader("Why: where the noise lies")
    if len(network.closure) > MOST_SETS:
        st.caption(f"This network has {len(network.closure):,} sets of nodes within a family: too many for a picture.")
        return
    noise = residual_noise(comparison, network)
    st.markdown(f"**{told(noise, comparison)}**")
    # Laplace noise as it is told by least squares is that of consistent Laplace: one of the two is drawn.
    shown = {label: sds for label, sds in noise.sds.items() if label != comparison.laplace.label}
    colours = {each.label: str(each.mechanism.colour) for each in comparison.noises}
    chart(
        residuals_figure(noise.sets, shown, colours),
        key="best_noise.residuals",
        alt=f"Dots: noise on the residuals of {len(noise.sets)} sets of nodes, smallest sets first, under "
        f"{', '.join(map(inside, shown))}.",
    )
    st.caption(
        "A table is the sum of what its sets of nodes tell: a node alone, a pair beyond its nodes, a triple beyond its "
        "pairs. Plain Laplace and Gaussian noise fall on cells; the dots are what is left of them after least squares, "
        "which averages a set over all tables that hold it. The best noise is set for each residual at once: more "
        "where few cells need it or one record moves it far, less where many do."
    )


def told(noise: ResidualNoise, comparison: Comparison) -> str:
    """Return on which set the best noise is least and most, as a sentence."""
    best = comparison.best
    sds = noise.sds[best.label]
    least, most = int(sds.argmin()), int(sds.argmax())
    if len(sds) == 1 or sds[most] <= sds[least] * (1 + 1e-6):
        return f"{best.label}: the same noise on every set of nodes: {numeral(float(sds[least]))} counts."
    holders = int(noise.holders[least])
    tables = "one table has" if holders == 1 else f"{holders} tables have"
    return (
        f"The least of all, {best.mechanism.named}, has its least noise on {_set(noise.sets[least])}, which {tables}: "
        f"{numeral(float(sds[least]))} counts; its most, {numeral(float(sds[most]))}, is on {_set(noise.sets[most])}."
    )


def _set(members: tuple[str, ...]) -> str:
    return ", ".join(escaped(brief(name)) for name in members)
