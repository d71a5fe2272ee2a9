"""What stands at the end of Best noise: the formulas, and the paper's Remark 1 in its place."""

import numpy as np
import streamlit as st

from dpbayes.base.references import Reference
from dpbayes.base.text import numeral
from dpbayes.experiments.best_noise import Comparison
from dpbayes.experiments.structure import rms_over_cells
from dpbayes.mechanisms.known import formula
from dpbayes.model.network import Network
from dpbayes.theory.zhang16.comparison import REMARK_COMPARISON, comparison_bound, noise_ratio
from dpbayes.theory.zhang16.fourier import certified_noise, printed_noise
from dpbayes.ui.widgets.show import assumption, source


def formulas(comparison: Comparison) -> None:
    """Show what every mechanism does, with its numbers, and what is assumed."""
    with st.expander("Formulas, assumptions and source"):
        st.markdown("\n".join(f"- **{noise.label}**: {formula(noise.mechanism)}" for noise in comparison.noises))
        st.markdown(
            "Noise per cell is the root mean square, over all cells, of the standard deviation of what is added to a "
            "count, before anything is clipped; Fourier’s lift is left out. A cell of the family $F$ is rebuilt from "
            "residuals of variances $s_A$ with the variance "
            "$\\sum_{A \\subseteq F} s_A\\, p_A \\prod_{i \\in F - A} r_i^{-2}$, "
            "$p_A = \\prod_{i \\in A} (1 - 1/r_i)$, $r_i$ being the states of node $i$."
        )
        assumption(
            "Neighbouring tables differ in one replaced record, and their number of records is public.", holds=True
        )
        searched = [noise.mechanism.design for noise in comparison.noises if hasattr(noise.mechanism, "design")]
        if searched:
            exact = all(design.exact for design in searched)
            assumption(
                "The record that loses most is found exactly for every searched noise; otherwise a proved bound is "
                "used, and more noise.",
                holds=exact,
            )
        source(Reference("Xiao23", "residuals with the best scales"))
        source(Reference("Balle18", "Theorem 8"))


def remark_1(comparison: Comparison, network: Network) -> None:
    """Show the remark on Laplace and Fourier noise with this graph's numbers, and where it is drawn."""
    with st.expander("Remark 1 of the paper, for this graph"):
        if not network.is_binary:
            st.markdown(
                "The remark compares Laplace with Fourier noise, which needs binary nodes; this graph has others."
            )
        else:
            printed, certified = (
                rms_over_cells(network, noise_ratio(network, noise=noise(network)))
                for noise in (printed_noise, certified_noise)
            )
            remark = comparison_bound(network)
            best = comparison.best_pure
            share = f"{numeral(1 / comparison.factor(best))} times Laplace’s"
            least = "Laplace’s own" if best is comparison.laplace else share
            st.markdown(
                f"“The denser the graph … the greater the reduction in scale”: Fourier noise is said to be at most "
                f"**{numeral(float(np.asarray(remark.printed)))}** times Laplace’s. Counted in records per cell it is "
                f"**{numeral(printed)}** times Laplace’s as printed and **{numeral(certified)}** times as certified; "
                f"the least noise without δ above is {least}. {REMARK_COMPARISON.finding}"
            )
        source(REMARK_COMPARISON.reference)
        st.page_link("pages/structure.py", label="Structure draws it over graphs", icon=":material/arrow_forward:")
