"""What the Robustness page shows below its pictures: formulas, assumptions, sources, counterexamples."""

import numpy as np
import streamlit as st

from dpbayes.base.references import Reference
from dpbayes.base.text import escaped, numeral
from dpbayes.experiments.robustness import NeighbourTables, RecordFamily, Robustness
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.dimitrakakis14.answers import THEOREM_3_TAIL, counterexample_theorem_3_tail
from dpbayes.theory.dimitrakakis14.draws import THEOREM_2_II, counterexample_theorem_2_ii, theorem_2_ii
from dpbayes.theory.dimitrakakis14.families import LEMMA_3, LEMMA_5, LEMMA_6
from dpbayes.theory.dimitrakakis14.game import KAPPA
from dpbayes.theory.dimitrakakis14.robustness import (
    THEOREM_1_II,
    counterexample_theorem_1_ii,
    counterexample_theorem_1_ii_binomial,
    counterexample_theorem_1_ii_normal,
)
from dpbayes.ui.widgets.show import assumption, source

LEMMAS = {RecordFamily.EXPONENTIAL: LEMMA_3, RecordFamily.NORMAL: LEMMA_6, RecordFamily.BINOMIAL: LEMMA_5}

COUNTEREXAMPLES = (
    counterexample_theorem_1_ii,
    counterexample_theorem_1_ii_normal,
    counterexample_theorem_1_ii_binomial,
    counterexample_theorem_2_ii,
    counterexample_theorem_3_tail,
)


def details(tables: NeighbourTables, here: Robustness, *, prior: float) -> None:
    """Show formulas with the numbers at this prior (1,), and where the printed ones fail."""
    with st.expander("Formulas, assumptions and source"):
        _formulas(tables, here, prior)
        _assumptions(tables, here)
        source(Reference("Dimitrakakis14", "Theorems 1, 2 and 3, Lemmas 3, 5 and 6"))
    with st.expander("Where the printed bounds fail", on_change="rerun", key="robustness.fails") as fails:
        if fails.open:
            for counterexample in COUNTEREXAMPLES:
                _fails(counterexample())


def _formulas(tables: NeighbourTables, here: Robustness, prior: float) -> None:
    c, rho = float(here.c[0]), tables.rho
    variation = theorem_2_ii(tables.pair(np.array([prior])), concentration=c, distance=rho)
    values = {name: numeral(float(value[0])) for name, value in vars(here).items()}
    st.markdown(
        f"""
- **Exact**: $D(x \\| y) = {values["exact"]}$ and $D(y \\| x) = {values["reverse"]}$ nats.
- **Printed** (Theorem 1(ii)): $D \\le \\kappa\\rho/c = {numeral(KAPPA, 6)} \\cdot {numeral(rho)} / {numeral(c)}
  = {values["printed"]}$. {escaped(THEOREM_1_II.verdict.value).capitalize()}. {escaped(THEOREM_1_II.finding)}
- **Proved**: $D(x \\| y) + D(y \\| x) \\le \\mathrm{{E}}_x \\ell\\rho + \\mathrm{{E}}_y \\ell\\rho
  = {values["proved"]}$, where $\\ell\\rho = |\\ln p_\\theta(x) - \\ln p_\\theta(y)|$ and both expectations are under
  posteriors. It depends on the data.
- **Total variation** (Theorem 2(ii)): printed $\\sqrt{{\\kappa\\rho/(2c)}} = {numeral(float(variation.printed[0]))}$,
  proved {numeral(float(variation.certified[0]))}. {escaped(THEOREM_2_II.finding)}
- **Answers** (Theorem 3): printed $3c\\ln(1/d)/(2\\kappa\\rho) = {values["promised"]}$ suffice. Proved, with
  $b = -\\ln \\mathrm{{BC}}$ of the two posteriors: at least $\\ln(1/(4d(1 - d)))/(2b)$ are needed, here
  {values["least"]}, and $\\ln(1/(2d))/b$ suffice, here {values["most"]}. Brackets below one answer
  are shown as one. {escaped(THEOREM_3_TAIL.verdict.value).capitalize()}: the condition turns an upper bound on the
  divergence round, and rests on Theorem 1(ii).
"""
    )


def _assumptions(tables: NeighbourTables, here: Robustness) -> None:
    lemma = LEMMAS[tables.family]
    st.markdown(
        f"**Assumption 2** with $c = {numeral(float(here.c[0]))}$ and $\\rho = {numeral(tables.rho)}$, "
        f"{escaped(lemma.reference.place)}: {escaped(lemma.verdict.value)}. {escaped(lemma.finding)}"
    )
    assumption("The prior gives the parameters without constant L at most exp(−cL), for every L ≥ 0.", holds=True)
    assumption("Records are independent given the parameter, and the prior is conjugate.", holds=True)
    assumption("The printed bound on the divergence holds for these two tables.", holds=not here.broken[0])
    assumption("The printed number of answers is not refuted for these two tables.", holds=not here.too_few[0])
    assumption("The printed bound on the total variation distance is below 1.", holds=bool(here.printed[0] < 2))


def _fails(example: Counterexample) -> None:
    st.markdown(
        f"**{escaped(example.claim.reference.place)}.** {escaped(example.setting)}: truly {numeral(example.truth)}, "
        f"printed {numeral(example.printed)}, corrected {numeral(example.certified)} ({escaped(example.unit)})."
    )
    source(example.claim.reference)
