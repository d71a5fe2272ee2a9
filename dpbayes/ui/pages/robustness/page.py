"""The Robustness page: how far one record moves a posterior, and how soon answers give the table away.

All tables are hypothetical, so both seats see everything.
"""

import math

import numpy as np
import pandas as pd
import streamlit as st

from dpbayes.base.text import apart, numeral, plural
from dpbayes.experiments.robustness import NeighbourTables, RecordFamily, Robustness, prior_grid, robustness
from dpbayes.figures.robustness import answers_figure, moved_figure
from dpbayes.ui.pages.robustness.details import details
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.robustness import RobustnessOptions
from dpbayes.ui.session.settings import Settings
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.chart.facts import Facts, pictures_tell
from dpbayes.ui.widgets.from_python import program, same_from_python, value_in_python
from dpbayes.ui.widgets.limits import Possible, highest, lowest, nearest
from dpbayes.ui.widgets.page import Places, places
from dpbayes.ui.widgets.show import data_and_download, remark

GIVING = {"robustness.low": lowest("robustness.low"), "robustness.high": highest("robustness.high")}
"""What gives way where the weakest prior shown is not weaker than the strongest."""

PRIORS = {
    RecordFamily.EXPONENTIAL: "The rate has the prior Exp(λ); λ is the strength, and c of the paper’s Assumption 2.",
    RecordFamily.NORMAL: "Mean 0, unknown precision with the prior Exp(λ); λ is the strength, and c = 2λ.",
    RecordFamily.BINOMIAL: "The probability has the prior Beta(a, a); a is the strength, and c about √(a/π).",
}


FACTS: Facts = {"n": lambda chosen: f"{chosen.options('robustness').records:,}"}


def robustness_page(chosen: Chosen) -> None:
    """Show the picture first: it moves with the prior, all else follows when the hand rests."""
    pictures_tell(FACTS)
    page = places()
    shown = page.first(_moving, chosen)
    possible = _possible(chosen)
    options: RobustnessOptions = possible.settings.options("robustness")
    with page.controls:
        _controls(options.family, possible)
    if shown is None:
        return
    curves, here = shown
    _answers(curves, here, options)
    data_and_download(lambda: frame_of(curves), name="robustness", curator_only=False)
    details(tables_of(options), here, prior=options.prior)
    same_from_python(python_of(options), name="robustness")


def python_of(options: RobustnessOptions) -> str:
    """Return the code that gives how far one record moves the posterior, and the two bounds on it."""
    return program(
        "from dpbayes.experiments.robustness import robustness",
        value_in_python("tables", tables_of(options)),
        f"here = robustness(tables, [{options.prior!r}], error={options.error!r})",
        "print(here.moved[0], here.printed[0], here.proved[0])",
    )


def _moving(page: Places, chosen: Chosen) -> tuple[Robustness, Robustness]:
    """Show how far a record moves the posterior; return it along all priors, and at the one at hand."""
    possible = _possible(chosen)
    options: RobustnessOptions = possible.settings.options("robustness")
    tables = tables_of(options)
    here = _curves(tables, (options.prior,), options.error)
    curves = _curves(tables, tuple(prior_grid(options.low, options.high)), options.error)
    with page.picture:
        remark(possible.why)
        _moved(curves, here)
    page.lead("robustness.prior")
    page.say(verdict(here))
    return curves, here


def _possible(chosen: Chosen) -> Possible:
    return nearest(chosen.settings, GIVING, _range_of_priors)


def _range_of_priors(settings: Settings) -> None:
    prior_grid(settings.parameter("robustness.low"), settings.parameter("robustness.high"))


def tables_of(options: RobustnessOptions) -> NeighbourTables:
    """Return the two hypothetical tables."""
    return NeighbourTables(options.family, options.records, options.value, options.distance, options.share)


@st.cache_data(scope="session", max_entries=64, show_spinner="Integrating posteriors …", hash_funcs={RecordFamily: str})
def _curves(tables: NeighbourTables, prior: tuple[float, ...], error: float) -> Robustness:
    return robustness(tables, np.array(prior), error=error)


def verdict(here: Robustness) -> str:
    """Return how far one record moves the posterior at this prior (1,), and which bounds keep their word."""
    moved, printed, proved = apart(*(float(values[0]) for values in (here.moved, here.printed, here.proved)), most=3)
    start = f"With a prior of strength {numeral(float(here.prior[0]))}, one record moves the posterior by "
    start += f"{moved} nats; the printed bound allows {printed} and "
    return start + (
        f"is broken, the corrected one allows {proved}."
        if here.broken[0]
        else f"holds here; the corrected one, which always holds, allows {proved}."
    )


def _controls(family: RecordFamily, possible: Possible) -> None:
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
            controls.parameter_control(name, reach=possible.stops(name))
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
        alt=f"KL divergence between the posteriors of two tables one record apart, against the strength of the prior "
        f"from {numeral(curves.prior[0])} to {numeral(curves.prior[-1])}: exact, proved and as printed. "
        f"{broken_text(curves)}",
    )
    st.caption(
        f"The larger of both directions of the KL divergence, exact. {broken_text(curves)} Both tables are "
        "hypothetical: nothing here depends on anybody’s data."
    )


def broken_text(curves: Robustness) -> str:
    """Return for which priors the printed bound is broken."""
    where = curves.prior[curves.broken]
    if not len(where):
        return "The printed bound is not broken by these two tables; others break it, see below."
    weakest, strongest = numeral(float(where[0])), numeral(float(where[-1]))
    return f"The printed bound is broken for strengths from {weakest} to {strongest} (red)."


def _answers(curves: Robustness, here: Robustness, options: RobustnessOptions) -> None:
    """Show how many draws from the posterior tell the tables apart."""
    st.subheader("How many answers give it away?")
    least, most, promised = (float(values[0]) for values in (here.least, here.most, here.promised))
    said = math.ceil(max(promised, 1.0))
    verdict = "fewer than any adversary needs" if here.too_few[0] else "which is not refuted here"
    sure = "which is true here" if said >= most else verdict
    answers = plural(_whole(most), "answer")
    needed = (
        f"exactly {answers}" if _whole(least) == _whole(most) else f"at least {_whole(least)} and at most {answers}"
    )
    st.markdown(
        f"**To lose at most {numeral(100 * options.error)}% of games, an adversary needs {needed}; "
        f"the paper says that {said:,} "
        f"{'is' if said == 1 else 'are'} enough, {sure}.**"
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
        alt=f"Answers needed to tell the two tables apart against the strength of the prior: a proved bracket, at "
        f"strength {numeral(options.prior, 6)} from {_whole(least)} to {_whole(most)}; the paper says that {said:,} "
        "suffice.",
    )
    st.caption(
        "Each answer is a draw from the posterior of x or of y, of which the adversary knows both; the true table is "
        "picked by a fair coin."
    )


def _whole(answers: float) -> str:
    return f"{math.ceil(answers - 1e-9):,}"


def frame_of(curves: Robustness) -> pd.DataFrame:
    """Return one record per strength of the prior."""
    return pd.DataFrame(
        {
            "prior": curves.prior,
            "c": curves.c,
            "KL(x || y)": curves.exact,
            "KL(y || x)": curves.reverse,
            "KL as printed": curves.printed,
            "KL proved": curves.proved,
            "answers, at least": curves.least,
            "answers, at most": curves.most,
            "answers said to suffice": curves.promised,
        }
    )
