"""The Accuracy page below its curves: reliability, crossings, formula, assumptions."""

from collections.abc import Mapping

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.parameters import parameters_of
from dpbayes.base.references import Reference
from dpbayes.base.text import distinct_texts, escaped, many, near_one, numeral, share_text
from dpbayes.experiments.accuracy.crossings import best_proved, overtakes
from dpbayes.experiments.accuracy.curves.sampler import MANY
from dpbayes.experiments.accuracy.method import Method
from dpbayes.experiments.accuracy.methods import ALL_CURVES, EXACT
from dpbayes.experiments.accuracy.plan import AccuracyPlan
from dpbayes.experiments.accuracy.releases import Releases
from dpbayes.experiments.accuracy.reliability import Reliability
from dpbayes.experiments.accuracy.study import AccuracyStudy
from dpbayes.figures.accuracy import reliability_figure
from dpbayes.mechanisms import Noise
from dpbayes.ui.pages.accuracy.headline import points
from dpbayes.ui.pages.accuracy.work import is_of_a_table, reliability_run
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.running import progress
from dpbayes.ui.widgets.show import assumption, data_and_download, folded, sentence_instead, source


def details(study: AccuracyStudy, *, epsilon: float, under_way: bool) -> bool:
    """Show the details; return whether an opened one is still being computed.

    Slow details are computed when they are opened, and only after the study, which may be `under_way`.
    """
    going = False
    with folded("Calibration of the predicted probabilities", key="accuracy.reliable") as is_open:
        if is_open:
            with sentence_instead():
                going = _reliability(study, epsilon=epsilon, under_way=under_way)
    with folded("Best private curve at each ε", key="accuracy.best") as is_open:
        if is_open:
            _best(study)
    with folded("Crossings of curves", key="accuracy.crossings") as is_open:
        if is_open:
            _crossings(study)
    with st.expander("Proved ε and accuracy of each curve"):
        _promises(study)
    with st.expander("Formulas, assumptions and source"):
        _formulas(study)
        _assumptions(study)
        source(Reference("Zhang16", "section 5.1, Figure 1"))
    return going


# Calibration of the predictive probability


def _reliability(study: AccuracyStudy, *, epsilon: float, under_way: bool) -> bool:
    """Continue for a moment and show the result so far; return whether the work continues."""
    if under_way:
        st.caption("The calibration is computed once all repeats are done.")
        return False
    work = reliability_run(study, epsilon)
    work.work()
    if not work.done:
        repeats_done = f"{int(work.share * study.repeats + 1e-6):,} of {many(study.repeats, 'repeat')}"
        progress(work, repeats_done, key="accuracy.reliability.stop")
    if work.result is not None:
        _reliability_chart(study, work.result, epsilon)
    return work.going


def _reliability_chart(study: AccuracyStudy, bins: Mapping[Method, Reliability], epsilon: float) -> None:
    worst = max((m for m in bins if m is not EXACT), key=lambda m: bins[m].error, default=EXACT)
    most, exact = distinct_texts(bins[worst].error, bins[EXACT].error, most=2)
    st.markdown(
        f"At ε = {numeral(epsilon, 6)} the mean calibration error is {exact} for the exact posterior and {most} for "
        f"{escaped(worst.called(study.plan.draws))}. The latter curve has the largest error and is "
        f"{'overconfident' if bins[worst].overconfidence > 0 else 'underconfident'}."
    )
    chart(
        reliability_figure(
            [reliability.curve(study.look(m)) for m, reliability in bins.items()], least=1 / study.plan.states
        ),
        key="accuracy.reliability",
        simulates=True,
        alt=f"Share of correct predictions against their confidence, in ten bins, at epsilon {numeral(epsilon, 6)}.",
    )
    frame = pd.concat(
        [
            pd.DataFrame({"method": m.title, "confidence": r.confidence, "correct": r.right, "test records": r.records})
            for m, r in bins.items()
        ]
    )
    data_and_download(
        lambda: frame, name="accuracy-calibration", curator_only=is_of_a_table(study.plan), simulates=True
    )


# Crossings and promises


def _best(study: AccuracyStudy) -> None:
    draws, rows = study.plan.draws, best_proved(study)
    if not rows:
        st.markdown("No curve in the picture has a proved ε. Choose a mechanism that has one.")
        return
    frame = pd.DataFrame(
        {
            "ε": [numeral(row.epsilon, 4) for row in rows],
            "best": [row.method.called(draws) for row in rows],
            "accuracy": [share_text(row.accuracy) for row in rows],
            "below the exact posterior": [points(row.behind, row.error) for row in rows],
            "not clearly worse": [", ".join(m.called(draws) for m in row.beside) for row in rows],
        }
    )
    st.dataframe(frame, hide_index=True)
    st.caption(
        "Only curves with a proved ε are compared. ± is two standard errors of the difference, paired by repeat. "
        "The accuracy of the best of several curves is slightly overestimated. *Mechanisms* offers more curves, "
        "including noise-aware ones."
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
                rows.append(names | {"behind up to ε": behind, "ahead from ε": ahead})
    if rows:
        st.dataframe(pd.DataFrame(rows), hide_index=True)
    else:
        st.markdown("No curve is clearly ahead of another at any ε.")
    st.caption(
        "A curve is behind or ahead if the difference, paired by repeat, exceeds three standard errors (more than "
        "three if there are few repeats). Elsewhere there is no clear difference; more repeats and more values of ε "
        "narrow the range between “behind up to ε” and “ahead from ε”."
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
    sentences = [
        "The table compares the proved ε of a whole release with the stated ε. Choose “accuracy by proved ε” below the "
        "picture to draw all curves against the proved ε."
    ]
    releases = Releases(study.plan)
    st.caption(
        " ".join([*sentences, *(note for curves in ALL_CURVES for note in curves.notes(study.methods, releases))])
    )


# Formulas and assumptions


def _formulas(study: AccuracyStudy) -> None:
    plan = study.plan
    releases = Releases(plan, simulated=study.increment)
    lines = [
        r"- $\hat y(x) = \arg\max_c \prod_{i:\, y \in F_i} \hat\theta_i(x_{F_i \setminus y}, c)$ over the "
        f"{len(_families(plan))} families that contain the target, $\\hat\\theta$ the released posterior mean."
    ]
    for curves in ALL_CURVES:
        if set(curves.methods) & set(study.methods):
            lines += curves.formulas(study.methods, releases)
    st.markdown("\n".join(lines))


def _families(plan: AccuracyPlan) -> list[tuple[int, ...]]:
    target = plan.network.index(plan.target)
    return [family for family in plan.network.families if target in family]


def _assumptions(study: AccuracyStudy) -> None:
    plan, real = study.plan, is_of_a_table(study.plan)
    printed = (
        not real
        and plan.records == 1000
        and plan.training == 50
        and plan.repeats == 100
        and bool((plan.prior.on(plan.network).alpha == 1).all())
    )
    assumption(
        "1,000 records, 50 training records, uniform priors and 100 repeats, as in the paper's Figure 1.",
        holds=printed,
    )
    assumption("All other nodes are observed in every test record.", holds=True)
    assumption(
        "The records follow the network."
        if not real
        else "The records follow the network. For a real table, this assumption cannot be verified, and the measured "
        "accuracy does not depend on it.",
        holds=not real,
    )
    assumption(
        "The records come from the generator of the paper. The paper does not describe its generator. Here "
        "the probabilities are uniform and the classes equally frequent.",
        holds=False,
    )
    assumption(
        "All curves have the same guarantee at equal ε. Red curves have no proved guarantee.",
        holds=MANY not in study.methods,
    )
    assumption(
        "The repeats are independent, as the standard errors assume."
        if not real
        else "The repeats are independent, as the standard errors assume. Here the splits overlap, so the accuracy on "
        "another table may differ by more than the bands.",
        holds=not real,
    )
    assumption(
        "The noise is fresh for every ε. Here the same noise is scaled, which makes the curves smooth.", holds=False
    )
    if any("noise" in parameters_of(method.kind) for method in study.methods if method.kind is not None):
        assumption(
            "The noise is integer, as in a real release. Real-valued noise, as in the paper, has a slightly larger "
            "variance at the same ε, especially at large ε.",
            holds=plan.noise is Noise.WHOLE,
        )
