"""What stands at the end of the Structure page: formulas, assumptions and sources, and where Remark 1 fails."""

import numpy as np
import streamlit as st

from dpbayes.base.references import Reference
from dpbayes.base.text import latex, numeral
from dpbayes.sources.named_networks import chain
from dpbayes.theory.zhang16.comparison import REMARK_COMPARISON, closure_bound, comparison_bound, counterexample_denser
from dpbayes.ui.widgets.show import assumption, source

DENSER = 8
"""Nodes of the complete graph in the counterexample."""


def details(nodes: int, epsilon: float, *, exact: bool, sparse: bool) -> None:
    """Show formulas with the numbers of a chain; O is `exact` in all graphs or not, and all are `sparse` or not."""
    _formulas(nodes, epsilon, exact=exact, sparse=sparse)
    _counterexample()


def _formulas(nodes: int, epsilon: float, *, exact: bool, sparse: bool) -> None:
    """Show the formulas with the numbers of the chain, and what they assume."""
    line = chain(nodes)
    overlap, cells = line.closure.odd_overlap, 4
    printed, certified = (2 * value / epsilon for value in (len(line.closure), overlap.value))
    remark, size = comparison_bound(line), closure_bound(line)
    rebuilt = np.sqrt(2 * (cells - 1)) * certified / cells
    as_printed = np.sqrt(2 * cells) * printed / cells
    with st.expander("Formulas, assumptions and source"):
        st.markdown(
            f"""
The numbers are those of the chain of {nodes} nodes at $\\varepsilon = {latex(epsilon, 6)}$.

- **Laplace** (Lemma 1, Corollary 1): one record moves the counts by $2|I| = {2 * nodes}$ in any graph, hence the sd
  $\\sqrt 2 \\cdot 2|I|/\\varepsilon = {numeral(np.sqrt(2) * 2 * nodes / epsilon)}$ in every cell, however many arrows.
- **Fourier, as printed** (Corollary 2): scale $b = 2|N_I|/\\varepsilon = {numeral(printed)}$ on each integer
  coefficient, $|N_I| = {len(line.closure)}$; a family of $c$ cells is rebuilt from $c$ of them, hence the sd
  $\\sqrt 2\\, b/\\sqrt c = {numeral(as_printed)}$ in a cell of a node with one parent.
- **Fourier, certified**: scale $b = 2O/\\varepsilon = {numeral(certified)}$, $O = {overlap.value}$ being the most
  coefficients that one record can flip, and none on the public $n$: the sd
  $\\sqrt 2\\, b \\sqrt{{c - 1}}/c = {numeral(rebuilt)}$.
- **Remark 1, scale**: $|N_I| = {len(line.closure)} \\le |I|\\, 2^{{1 + \\max \\mathrm{{indeg}}}}
  = {numeral(float(size.printed))}$. True.
- **Remark 1, comparison**: noise at most $2^{{1 + \\max \\mathrm{{indeg}} - |I|/2}} = {numeral(float(remark.printed))}$
  times Laplace’s; in counts per cell it is {numeral(float(remark.certified))} times Laplace’s at the worst node.
  {REMARK_COMPARISON.finding}
"""
        )
        assumption("Every node is binary.", holds=True)
        assumption("O is found exactly in every graph here; otherwise a proved upper bound is used.", holds=exact)
        assumption("No node of a graph here is a child of more than half the graph, as the remark asks.", holds=sparse)
        source(Reference("Zhang16", "Lemma 1, Corollaries 1 and 2, Remark 1"))


def _counterexample() -> None:
    with st.expander("Where the remark fails", on_change="rerun", key="structure.fails") as fails:
        if not fails.open:
            return
        empty, line, complete = counterexample_denser(DENSER)
        st.markdown(
            f"Graphs of {DENSER} nodes, noise as printed. Fourier’s noise per cell as a multiple of Laplace’s, root "
            f"mean square over cells: **{numeral(empty)}** without arrows, **{numeral(line)}** in a chain, "
            f"**{numeral(complete)}** in the complete graph. The remark: “the denser the graph … "
            "the greater the reduction in scale”."
        )
        source(REMARK_COMPARISON.reference)
