"""How far one replaced record moves a posterior, and how many answers give the table away.

All tables are hypothetical, so both seats see everything.
"""

import math

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.text import distinct_texts, many, numeral, plural
from dpbayes.experiments.robustness import NeighbourTables, RecordFamily, Robustness, prior_grid, robustness
from dpbayes.figures.claims import answers_figure, moved_figure
from dpbayes.theory.dimitrakakis14.draws import theorem_2_ii
from dpbayes.theory.dimitrakakis14.game import KAPPA
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.kept import session_cache
from dpbayes.ui.session.options.research import RobustnessOptions
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.saving import Facts
from dpbayes.ui.widgets.from_python import program, value_in_python
from dpbayes.ui.widgets.limits import Possible, highest, lowest, nearest
from dpbayes.ui.widgets.page import Places
from dpbayes.ui.widgets.show import assumption, data_and_download, remark

GIVING = {"robustness.low": lowest("robustness.low"), "robustness.high": highest("robustness.high")}
"""What gives way where the weakest prior shown is not weaker than the strongest."""

PRIORS = {
    RecordFamily.EXPONENTIAL: "The rate has the prior Exp(λ). λ is the prior’s strength and the c of Assumption 2.",
    RecordFamily.NORMAL: "The mean is 0. The precision has the prior Exp(λ). λ is the prior’s strength, and c = 2λ.",
    RecordFamily.BINOMIAL: "The probability has the prior Beta(a, a). a is the prior’s strength, and c ≈ √(a/π).",
}

FACTS: Facts = {"n": lambda chosen: f"{chosen.options('robustness').records:,}"}


def moving(page: Places, chosen: Chosen) -> tuple[Robustness, Robustness]:
    """Show how far a record moves the posterior; return it along all priors, and at the one that is set."""
    nearby = possible_priors(chosen)
    options: RobustnessOptions = nearby.settings.options("robustness")
    tables = hypothetical_tables(options)
    here = _curves(tables, (options.prior,), options.error)
    curves = _curves(tables, tuple(prior_grid(options.low, options.high)), options.error)
    with page.picture:
        remark(nearby.why)
        _moved(curves, here)
    page.lead("robustness.prior")
    return curves, here


def below(curves: Robustness, here: Robustness, chosen: Chosen) -> None:
    """Show how many answers give the table away, and the numbers of all curves."""
    options: RobustnessOptions = possible_priors(chosen).settings.options("robustness")
    _answers(curves, here, options)
    data_and_download(lambda: frame_of(curves), name="robustness", curator_only=False)


def python_of(options: RobustnessOptions) -> str:
    """Return the code that gives how far one record moves the posterior, and the two bounds on it."""
    return program(
        "from dpbayes.experiments.robustness import robustness",
        value_in_python("tables", hypothetical_tables(options)),
        f"here = robustness(tables, [{options.prior!r}], error={options.error!r})",
        "print(here.moved[0], here.printed[0], here.proved[0])",
    )


def possible_priors(chosen: Chosen) -> Possible:
    """Return the settings whose range of priors can be drawn, nearest to those chosen."""
    return nearest(chosen.settings, GIVING, _range_of_priors)


def _range_of_priors(settings: Settings) -> None:
    prior_grid(settings.parameter("robustness.low"), settings.parameter("robustness.high"))


def hypothetical_tables(options: RobustnessOptions) -> NeighbourTables:
    """Return the two hypothetical tables."""
    return NeighbourTables(options.family, options.records, options.value, options.distance, options.share)


@session_cache(64, spinner="Integrating posteriors …", hashed={RecordFamily: str})
def _curves(tables: NeighbourTables, prior: tuple[float, ...], error: float) -> Robustness:
    return robustness(tables, np.array(prior), error=error)


def finding(here: Robustness) -> str:
    """Return how far one record moves the posterior at this prior (1,), and whether the stated bound allows it."""
    moved, printed = distinct_texts(*(float(values[0]) for values in (here.moved, here.printed)), most=3)
    if here.broken[0]:
        return f"One record moves the posterior by {moved} nats, but the paper’s bound is {printed}."
    return f"One record moves the posterior by {moved} nats, within the paper’s bound of {printed}."


def families_controls(chosen: Chosen) -> None:
    """Offer the two tables and the range of priors."""
    family, nearby = chosen.options("robustness").family, possible_priors(chosen)
    controls.parameter_control("robustness.family")
    st.caption(PRIORS[family])
    controls.parameter_control("robustness.records")
    if family is RecordFamily.BINOMIAL:
        controls.parameter_control("robustness.share")
    else:
        controls.parameter_control("robustness.distance")
        controls.parameter_control("robustness.value")
    with st.expander("Range of priors, errors"):
        for name in GIVING:
            controls.parameter_control(name, reach=nearby.stops(name))
        controls.parameter_control("robustness.error")


def _moved(curves: Robustness, here: Robustness) -> None:
    """Show the divergence against the prior's strength."""
    chart(
        moved_figure(
            curves.prior,
            exact=curves.moved,
            printed=curves.printed,
            proved=curves.proved,
            broken=curves.broken,
            chosen=(float(here.prior[0]), float(here.moved[0])),
        ),
        key="robustness.moved",
        alt="KL divergence between the posteriors of two tables that differ in one record, against the strength of "
        f"the prior from {numeral(curves.prior[0])} to {numeral(curves.prior[-1])}: exact, proved and as stated "
        f"in the paper. {exceeded_text(curves)}",
    )
    st.caption(
        f"The larger of the KL divergences in both directions, computed exactly. {exceeded_text(curves)} Both tables "
        "are hypothetical: nothing here depends on real data."
    )


def exceeded_text(curves: Robustness) -> str:
    """Return for which priors the stated bound is exceeded."""
    where = curves.prior[curves.broken]
    if not len(where):
        return "The KL divergence of these two tables is within the stated bound. The bound fails for other tables."
    weakest, strongest = numeral(float(where[0])), numeral(float(where[-1]))
    return f"The stated bound is exceeded for strengths from {weakest} to {strongest} (red)."


def _answers(curves: Robustness, here: Robustness, options: RobustnessOptions) -> None:
    """Show how many samples from the posterior tell the tables apart."""
    st.subheader("How many answers reveal the table?")
    least, most, promised = (float(values[0]) for values in (here.least, here.most, here.promised))
    answers = plural(_whole(most), "answer")
    needed = (
        f"exactly {answers}" if _whole(least) == _whole(most) else f"at least {_whole(least)} and at most {answers}"
    )
    stated = math.ceil(max(promised, 1.0))
    st.markdown(
        f"**To lose at most {numeral(100 * options.error)}% of games, an attacker needs {needed}. The paper states "
        f"that {stated:,} {'is' if stated == 1 else 'are'} enough{', which is too few' if here.too_few[0] else ''}.**"
    )
    chart(
        answers_figure(
            curves.prior,
            least=curves.least,
            most=curves.most,
            promised=curves.promised,
            too_few=curves.too_few,
            at=options.prior,
        ),
        key="robustness.answers",
        alt=f"Answers needed to tell the two tables apart against the strength of the prior: a proved "
        f"range, from {_whole(least)} to {_whole(most)} at strength {numeral(options.prior, 6)}. The paper states that "
        f"{many(stated, 'answer')} {'is' if stated == 1 else 'are'} enough.",
    )
    st.caption(
        "Each answer is a sample from the posterior of table x or of table y. The attacker knows both tables; a fair "
        "coin decides which table is used."
    )


def _whole(answers: float) -> str:
    return f"{math.ceil(answers - 1e-9):,}"


def frame_of(curves: Robustness) -> "pd.DataFrame":
    """Return one record per strength of the prior."""
    return pd.DataFrame(
        {
            "prior": curves.prior,
            "c": curves.c,
            "KL(x || y)": curves.exact,
            "KL(y || x)": curves.reverse,
            "KL as stated": curves.printed,
            "KL proved": curves.proved,
            "answers, at least": curves.least,
            "answers, at most": curves.most,
            "answers stated to suffice": curves.promised,
        }
    )


def formulas(here: Robustness, chosen: Chosen) -> None:
    """Show the formulas with the numbers at this prior (1,), and which conditions hold."""
    tables = hypothetical_tables(possible_priors(chosen).settings.options("robustness"))
    c, rho = float(here.c[0]), tables.rho
    variation = theorem_2_ii(tables.pair(here.prior), concentration=c, distance=rho)
    values = {name: numeral(float(value[0])) for name, value in vars(here).items()}
    st.markdown(
        f"""
- **Exact**: $D(x \\| y) = {values["exact"]}$ and $D(y \\| x) = {values["reverse"]}$ nats.
- **As stated in the paper** (Theorem 1(ii)): $D \\le \\kappa\\rho/c = {numeral(KAPPA, 6)} \\cdot {numeral(rho)} /
  {numeral(c)} = {values["printed"]}$.
- **Proved**: $D(x \\| y) + D(y \\| x) \\le \\mathrm{{E}}_x \\ell\\rho + \\mathrm{{E}}_y \\ell\\rho
  = {values["proved"]}$, where $\\ell\\rho = |\\ln p_\\theta(x) - \\ln p_\\theta(y)|$ and both expectations are under
  posteriors. This bound depends on the data.
- **Total variation** (Theorem 2(ii)): the paper states $\\sqrt{{\\kappa\\rho/(2c)}} =
  {numeral(float(variation.printed[0]))}$; {numeral(float(variation.certified[0]))} is proved.
- **Answers** (Theorem 3): the paper states that $3c\\ln(1/d)/(2\\kappa\\rho) = {values["promised"]}$ suffice. With
  $b = -\\ln \\mathrm{{BC}}$ of the two posteriors, it is proved that at least $\\ln(1/(4d(1 - d)))/(2b) =
  {values["least"]}$ are needed and that $\\ln(1/(2d))/b = {values["most"]}$ suffice. Values below 1 are shown as 1.
"""
    )
    assumption(
        "The prior mass of the parameters with a Lipschitz constant above L is at most exp(−cL), for every L ≥ 0.",
        holds=True,
    )
    assumption("Records are independent given the parameter, and the prior is conjugate.", holds=True)
    assumption("The stated bound on the divergence holds for these two tables.", holds=not here.broken[0])
    assumption("The stated number of answers is not refuted by these two tables.", holds=not here.too_few[0])
    assumption("The stated bound on the total variation distance is below 1.", holds=bool(here.printed[0] < 2))
