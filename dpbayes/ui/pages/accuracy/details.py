"""What the Accuracy page shows below its curves: calibration, crossings, formula, assumptions, the code to copy."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dpbayes.base.parameters import parameters_of
from dpbayes.base.references import Reference
from dpbayes.base.text import apart, escaped, many, near_one, numeral, share_text
from dpbayes.experiments.accuracy.best import best_known
from dpbayes.experiments.accuracy.crossings import overtakes
from dpbayes.experiments.accuracy.curves.sampler import MANY
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import EXACT, TOLD
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.releases import Releases
from dpbayes.experiments.accuracy.reliability import Reliability
from dpbayes.experiments.accuracy.study import AccuracyStudy
from dpbayes.experiments.commands.accuracy import AccuracyRecipe
from dpbayes.figures.accuracy import reliability_figure
from dpbayes.mechanisms import Noise
from dpbayes.sources.shipped_tables import SHIPPED
from dpbayes.ui.pages.accuracy.headline import points
from dpbayes.ui.pages.accuracy.work import is_of_a_table, reliability_run
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import progress
from dpbayes.ui.widgets.show import assumption, data_and_download, sentence_instead, source


def details(recipe: AccuracyRecipe, study: AccuracyStudy, *, epsilon: float, under_way: bool) -> bool:
    """Show what lies behind the curves; return whether something opened is still on its way.

    What takes time is computed once it is opened, and from the whole study: not while that is `under_way` itself.
    """
    going = False
    with st.expander("Do the probabilities mean what they say?", on_change="rerun", key="accuracy.reliable") as part:
        if part.open:
            with sentence_instead():
                going = _reliability(recipe, study, epsilon=epsilon, under_way=under_way)
    with st.expander(
        "How far from non-private is the best known at each ε?", on_change="rerun", key="accuracy.best"
    ) as part:
        if part.open:
            _best(study)
    with st.expander("Where does one overtake another?", on_change="rerun", key="accuracy.crossings") as part:
        if part.open:
            _crossings(study)
    with st.expander("What is proved for each curve, and what it costs"):
        _promises(study)
    with st.expander("Formulas, assumptions and source"):
        _formulas(study)
        _assumptions(recipe, study)
        source(Reference("Zhang16", "section 5.1, Figure 1"))
    with st.expander("The same from Python or the command line"):
        _code(recipe)
    return going


# Calibration of the predictive probability


def _reliability(recipe: AccuracyRecipe, study: AccuracyStudy, *, epsilon: float, under_way: bool) -> bool:
    """Go on for a moment and show what is in; return whether there is more to come."""
    controls.parameter_control("epsilon")
    if under_way:
        st.caption("This comes once the curves stand still.")
        return False
    work = reliability_run(study, epsilon)
    work.work()
    if not work.done:
        said = f"{int(work.share * study.repeats + 1e-6):,} of {many(study.repeats, 'repeat')}"
        progress(work, said, key="accuracy.reliability.stop")
    if work.result is not None:
        _reliability_chart(recipe, study, work.result, epsilon)
    return work.going


def _reliability_chart(
    recipe: AccuracyRecipe, study: AccuracyStudy, bins: Mapping[Method, Reliability], epsilon: float
) -> None:
    worst = max((m for m in bins if m is not EXACT), key=lambda m: bins[m].error, default=EXACT)
    most, exact = apart(bins[worst].error, bins[EXACT].error, most=2)
    st.markdown(
        f"At ε = {numeral(epsilon, 6)} the exact posterior's confidence is off by {exact} on average; "
        f"worst is {escaped(worst.called(study.plan.draws))}, off by {most}: it promises "
        f"{'too much' if bins[worst].overconfidence > 0 else 'too little'}."
    )
    chart(
        reliability_figure([each.curve(study.look(m)) for m, each in bins.items()], least=1 / study.plan.states),
        key="accuracy.reliability",
        simulates=True,
        alt="Share of predictions that are right against their confidence, in ten bins, at epsilon "
        f"{numeral(epsilon, 6)}.",
    )
    frame = pd.concat(
        [
            pd.DataFrame({"method": m.title, "confidence": r.confidence, "right": r.right, "test records": r.records})
            for m, r in bins.items()
        ]
    )
    data_and_download(lambda: frame, name="accuracy-calibration", curator_only=is_of_a_table(recipe), simulates=True)


# Crossings and promises


def _best(study: AccuracyStudy) -> None:
    draws, rows = study.plan.draws, best_known(study)
    if not rows:
        st.markdown("None of the curves drawn has its ε proved; choose a mechanism that has.")
        return
    frame = pd.DataFrame(
        {
            "ε": [numeral(row.epsilon, 4) for row in rows],
            "best known": [row.method.called(draws) for row in rows],
            "accuracy": [share_text(row.accuracy) for row in rows],
            "short of no privacy": [points(row.behind, row.error) for row in rows],
            "not clearly worse": [", ".join(m.called(draws) for m in row.beside) for row in rows],
        }
    )
    st.dataframe(frame, hide_index=True)
    st.caption(
        "Of the curves drawn, those whose ε is proved; two standard errors of the difference in the same repeats on "
        "either side. The best of several is a little flattered by its luck. More mechanisms, and what a recipient "
        "gains who knows of the noise, are one click away under *Mechanisms*."
    )


def _crossings(study: AccuracyStudy) -> None:
    rows = []
    for method in study.plan.private:
        for other in study.plan.private:
            crossing = None if method is other else overtakes(study, method, other)
            if crossing is not None:
                behind = "" if crossing.behind is None else numeral(crossing.behind, 4)
                ahead = numeral(crossing.ahead, 4) + (
                    "" if crossing.until == crossing.ahead else f" to {numeral(crossing.until, 4)}"
                )
                names = {"method": method.called(study.plan.draws), "other": other.called(study.plan.draws)}
                rows.append(names | {"last behind the other at ε": behind, "ahead of it at ε": ahead})
    if rows:
        st.dataframe(pd.DataFrame(rows), hide_index=True)
    else:
        st.markdown("No curve is clearly ahead of another anywhere on this grid.")
    st.caption(
        "Behind and ahead: by more than three standard errors of the difference in the same repeats, by more still "
        "where the repeats are few. Between the two, and where no ε is given, the curves are not told apart: more "
        "repeats and more values of ε narrow it down."
    )


def _promises(study: AccuracyStudy) -> None:
    picked = [int(abs(study.plan.grid - epsilon).argmin()) for epsilon in (1.0, 5.0, 20.0)]
    columns = list(dict.fromkeys(picked))
    frame = pd.DataFrame(
        {"curve": [m.called(study.plan.draws) for m in study.plan.private]}
        | {
            f"proved at ε = {numeral(study.plan.grid[k])}": [numeral(study.certified[m][k]) for m in study.plan.private]
            for k in columns
        }
        | {
            f"accuracy at ε = {numeral(study.plan.grid[k])}": [
                near_one(study.mean(m)[k], 3) for m in study.plan.private
            ]
            for k in columns
        }
    )
    st.dataframe(frame, hide_index=True)
    said = [
        "The ε that is proved for all that one release hands over, beside the ε that is claimed; choose “accuracy by ε "
        "proved” below the picture to see every curve where it belongs."
    ]
    releases = Releases(study.plan)
    st.caption(" ".join([*said, *(note for curves in TOLD for note in curves.notes(study.methods, releases))]))


# Formulas, assumptions, code


def _formulas(study: AccuracyStudy) -> None:
    plan = study.plan
    releases = Releases(plan, simulated=study.increment)
    lines = [
        r"- $\hat y(x) = \arg\max_c \prod_{i:\, y \in F_i} \hat\theta_i(x_{F_i \setminus y}, c)$ over the "
        f"{len(_families(plan))} families that hold the target, $\\hat\\theta$ the released posterior mean."
    ]
    for curves in TOLD:
        if set(curves.methods) & set(study.methods):
            lines += curves.formulas(study.methods, releases)
    st.markdown("\n".join(lines))


def _families(plan: AccuracyPlan) -> list[tuple[int, ...]]:
    target = plan.network.index(plan.target)
    return [family for family in plan.network.families if target in family]


def _assumptions(recipe: AccuracyRecipe, study: AccuracyStudy) -> None:
    plan, real = study.plan, is_of_a_table(recipe)
    printed = not real and plan.records == 1000 and plan.training == 50 and plan.repeats == 100 and plan.prior == 1
    assumption(
        "1,000 records, 50 of them to train on, uniform priors and 100 repeats, as the paper's Figure 1 has it.",
        holds=printed,
    )
    assumption("All other nodes are observed in every test record.", holds=True)
    assumption(
        "The records follow the network."
        if not real
        else "The records follow the network: not known of a true table; accuracy is measured all the same.",
        holds=not real,
    )
    assumption(
        "The paper does not state its generator: every probability from U(0, 1) and even classes are our reading.",
        holds=False,
    )
    assumption(
        "At equal ε the curves promise the same: only certified ones do. The printed sampler's are drawn in red.",
        holds=MANY not in study.methods,
    )
    assumption(
        "The repeats are independent, as their standard errors have it."
        if not real
        else "The repeats are independent, as their standard errors have it: the splits are drawn so, but overlap. "
        "Another table of the kind may differ from this one by more than the bands.",
        holds=not real,
    )
    assumption("The noise is drawn afresh for every ε: here it is scaled, for smooth curves.", holds=False)
    if any("noise" in parameters_of(method.kind) for method in study.methods if method.kind is not None):
        assumption(
            "The noise is of whole numbers, as in a real release; of real ones, as in the paper, it spreads a little "
            "more at the same ε, the more so the larger ε is.",
            holds=plan.noise is Noise.WHOLE,
        )


def _code(recipe: AccuracyRecipe) -> None:
    if is_of_a_table(recipe) and recipe.table not in SHIPPED:
        if not recipe.table.endswith((".csv", ".parquet", ".xlsx")):
            st.markdown(
                "This table lives in this session only. In Python, make a `Dataset` of it and an `AccuracyPlan` with "
                "it as `source`; `accuracy_study(plan).frame()` of `dpbayes.experiments.accuracy.study` then gives "
                "these numbers."
            )
            return
        st.markdown(
            "The file is read from the folder in which this is run. Its values must be the states named below: what "
            "was cut or grouped on the Data page must be so in the file."
        )
    st.code(recipe.python, language="python", wrap_lines=True)
    st.code(recipe.command, language="bash", wrap_lines=True)
    st.caption("Add --out results.parquet, or .csv, to write the results with their settings to a file.")
