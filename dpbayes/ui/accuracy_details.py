"""What the Accuracy page shows below its curves: calibration, crossings, formula, assumptions, the code to copy."""

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dpbayes.experiments.accuracy import AccuracyStudy, Method
from dpbayes.experiments.accuracy_command import Recipe
from dpbayes.experiments.accuracy_plan import AccuracyPlan
from dpbayes.experiments.accuracy_releases import Releases
from dpbayes.experiments.accuracy_reliability import Reliability, reliability
from dpbayes.figures.accuracy import reliability_figure
from dpbayes.mechanisms import Calibration, LaplaceUpdates
from dpbayes.references import Reference
from dpbayes.ui import controls
from dpbayes.ui.accuracy_work import table_is_asked
from dpbayes.ui.settings import current
from dpbayes.ui.show import assumption, chart, data_and_download, escaped, sentence_instead, short, source


def details(recipe: Recipe, study: AccuracyStudy) -> None:
    """Show what lies behind the curves; what takes time is computed once it is opened."""
    with st.expander("Do the probabilities mean what they say?", on_change="rerun", key="accuracy.reliable") as part:
        if part.open:
            with sentence_instead():
                _reliability(study)
    with st.expander("Where does one overtake another?", on_change="rerun", key="accuracy.crossings") as part:
        if part.open:
            _crossings(study)
    with st.expander("What is proved for each curve, and what it costs"):
        _promises(study)
    with st.expander("Formulas, assumptions and source"):
        _formulas(study)
        _assumptions(study)
        source(Reference("Zhang16", "section 5.1, Figure 1"))
    with st.expander("The same from Python or the command line"):
        _code(recipe)


# Calibration of the predictive probability


@st.cache_data(
    scope="session", max_entries=16, show_spinner="Binning the predictions …", hash_funcs={AccuracyPlan: hash}
)
def _reliable(plan: AccuracyPlan, epsilon: float) -> Mapping[Method, Reliability]:
    return reliability(plan, epsilon)


def _reliability(study: AccuracyStudy) -> None:
    controls.parameter_control("epsilon")
    epsilon = float(current().parameter("epsilon"))
    found = _reliable(study.plan, epsilon)
    worst = max((m for m in found if m is not Method.EXACT), key=lambda m: found[m].error, default=Method.EXACT)
    st.markdown(
        f"At ε = {epsilon:g} the exact posterior's confidence is off by {found[Method.EXACT].error:.3f} on average; "
        f"worst is {escaped(worst.value)}, off by {found[worst].error:.3f}: it promises "
        f"{'too much' if found[worst].overconfidence > 0 else 'too little'}."
    )
    chart(
        reliability_figure(found, study.plan),
        key="accuracy.reliability",
        alt=f"Share of predictions that are right against their confidence, in ten bins, at epsilon {epsilon:g}.",
    )
    frame = pd.concat(
        [
            pd.DataFrame({"method": m.value, "confidence": r.confidence, "right": r.right, "test records": r.records})
            for m, r in found.items()
        ]
    )
    data_and_download(lambda: frame, name="accuracy-calibration", curator_only=table_is_asked())


# Crossings and promises


def _crossings(study: AccuracyStudy) -> None:
    rows = []
    for method in study.plan.private:
        for other in study.plan.private:
            at = None if method is other else study.overtakes(method, other)
            if at is not None:
                rows.append({"method": method.value, "is ahead of": other.value, "from ε": f"{at:.3g}"})
    if rows:
        st.dataframe(pd.DataFrame(rows), hide_index=True)
    else:
        st.markdown("No curve is clearly ahead of another anywhere on this grid.")
    st.caption(
        "Ahead: by more than three standard errors of the difference in the same repeats, and not so far behind at any "
        "larger ε. The place is interpolated on the logarithmic axis."
    )


def _promises(study: AccuracyStudy) -> None:
    picked = [int(abs(study.plan.grid - epsilon).argmin()) for epsilon in (1.0, 5.0, 20.0)]
    columns = list(dict.fromkeys(picked))
    frame = pd.DataFrame(
        {"curve": [m.value for m in study.plan.private]}
        | {
            f"proved at ε = {study.plan.grid[k]:.3g}": [short(study.certified[m][k]) for m in study.plan.private]
            for k in columns
        }
        | {
            f"accuracy at ε = {study.plan.grid[k]:.3g}": [f"{study.mean(m)[k]:.3f}" for m in study.plan.private]
            for k in columns
        }
    )
    st.dataframe(frame, hide_index=True)
    st.caption(
        "The ε that is proved for all that one release hands over, beside the ε that is claimed. The printed sampler "
        "charges for one changed term of one draw; choose “accuracy by ε proved” below the picture to see its curve "
        "where it belongs. Up to ε = 2 ln 2 per decision its printed ω leaves only even odds: a coin is tossed. The "
        "printed Fourier curve keeps only non-negative releases; that choice may as much as double its ε."
    )


# Formulas, assumptions, code


def _formulas(study: AccuracyStudy) -> None:
    plan = study.plan
    releases = Releases(plan)
    scale = LaplaceUpdates(prior=releases.prior, epsilon=1.0).noise_scale
    lines = [
        r"- $\hat y(x) = \arg\max_c \prod_{i:\, y \in F_i} \hat\theta_i(x_{F_i \setminus y}, c)$ over the "
        f"{len(_families(plan))} families that hold the target, $\\hat\\theta$ the released posterior mean.",
        f"- **Laplace**: counts + Lap$(2|I|/\\varepsilon)$ = Lap$({scale:g}/\\varepsilon)$, clipped to "
        f"$[0, {plan.training:,}]$.",
    ]
    closure = len(plan.network.closure)
    for method, calibration in (
        (Method.FOURIER_PRINTED, Calibration.AS_PRINTED),
        (Method.FOURIER, Calibration.CERTIFIED),
    ):
        if method in study.methods:
            t = releases.increment(calibration)
            rest = "kept only if no count is negative" if calibration is Calibration.AS_PRINTED else "clipped at zero"
            lines.append(
                f"- **{method.value}**: $|N_I| = {closure:,}$, $t = {t:.4g}$ for stealth in {plan.stealth:.1%} of "
                f"releases; {rest}."
            )
    if Method.SAMPLER_MANY in study.methods:
        lines.append(
            r"- **Posterior sampling, as printed**: $\theta \in [\omega, 1-\omega]$, $\omega = e^{-\varepsilon/2}$; "
            f"$N = {plan.draws:,}$ draws are averaged."
        )
    if Method.SAMPLER in study.methods:
        depth = int(releases.decisions.depths.sum())
        lines.append(
            r"- **Posterior sampling, certified**: one draw, $\omega = 1/(1 + e^{\varepsilon/2|I|})$, "
            f"$2|I| = {2 * depth}$."
        )
    if Method.MAP in study.methods:
        lines.append(f"- **Private MAP**: one of {plan.cells} cells for every probability, scored by posterior mass.")
    st.markdown("\n".join(lines))


def _families(plan: AccuracyPlan) -> list[tuple[int, ...]]:
    target = plan.network.index(plan.target)
    return [family for family in plan.network.families if target in family]


def _assumptions(study: AccuracyStudy) -> None:
    plan, real = study.plan, table_is_asked()
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
        holds=Method.SAMPLER_MANY not in study.methods,
    )
    assumption("The noise is drawn afresh for every ε: here it is scaled, for smooth curves.", holds=False)


def _code(recipe: Recipe) -> None:
    if table_is_asked() and not recipe.table:
        st.markdown(
            "This table lives in this session only. In Python, make a `Dataset` of it and an `AccuracyPlan` with it as "
            "`source`; `accuracy_study(plan).frame()` of `dpbayes.experiments.accuracy` then gives these numbers."
        )
        return
    st.code(recipe.python, language="python", wrap_lines=True)
    st.code(recipe.command, language="bash", wrap_lines=True)
    st.caption("Add --out results.parquet, or .csv, to write the results with their settings to a file.")
