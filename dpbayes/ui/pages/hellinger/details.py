"""The Hellinger page below its picture: sensitivities, outputs, formulas, the code to copy."""

from collections.abc import Mapping

import numpy as np
import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex, numeral
from dpbayes.experiments.hellinger.errors import MOST_AUDITED, DieNoise, ErrorLaw, audited_epsilons
from dpbayes.experiments.hellinger.landscape import outputs, sensitivity_line, sensitivity_plane, window_around
from dpbayes.experiments.hellinger.scenario import DieMethod, Scenario
from dpbayes.experiments.hellinger.study import with_settings
from dpbayes.figures.hellinger import error_law_figure, output_figure, sensitivity_line_figure, sensitivity_plane_figure
from dpbayes.posteriors import hellinger
from dpbayes.ui.session.chosen import Chosen
from dpbayes.ui.session.options.research import OutputRange, ShownSensitivity
from dpbayes.ui.widgets import controls
from dpbayes.ui.widgets.chart import chart
from dpbayes.ui.widgets.from_python import program, same_from_python, value_in_python
from dpbayes.ui.widgets.show import assumption, data_and_download, folded, sentence_instead, source


def download(
    columns: Mapping[str, object], scenario: Scenario, *, seed: int, name: str, simulates: bool = False
) -> None:
    """Offer the numbers behind a chart, with the settings in their last columns."""
    data_and_download(
        lambda: with_settings(pd.DataFrame(columns), scenario, seed=seed),
        name=name,
        curator_only=False,
        simulates=simulates,
    )


def mechanism_table(frame: "pd.DataFrame") -> None:
    """Show one line for each mechanism; texts wrap, so that a phone has all columns."""
    st.table(frame.set_index("mechanism").map(lambda value: numeral(value) if isinstance(value, float) else value))


def promise(guarantee: Guarantee) -> str:
    """Return a guarantee as a cell of a table."""
    return str(guarantee) if guarantee.is_private else "none"


# Sensitivities and outputs


def pictures(chosen: Chosen, scenario: Scenario, laws: Mapping[DieMethod, ErrorLaw], noise: DieNoise) -> None:
    """Show the sensitivities and the distribution of the released counts."""
    left, right = st.columns(2, gap="medium")
    with left:
        st.subheader("Sensitivity")
        if scenario.sides == 3:
            _plane(chosen, scenario)
        else:
            _line(scenario, seed=chosen.seed)
    with right:
        if scenario.sides == 2:
            st.subheader("Released counts")
            _outputs(chosen, scenario, noise)
        else:
            st.subheader("Distribution of the error")
            _error_laws(scenario, laws, seed=chosen.seed)


def _line(scenario: Scenario, *, seed: int) -> None:
    line, first = sensitivity_line(scenario), int(scenario.counts[0])
    rest = "; side 2 has the rest" if scenario.sides == 2 else ", taken from side 2"
    sensitivities = {
        DieMethod.GLOBAL.look.called("global"): np.full(line.first.shape, line.everywhere),
        DieMethod.SMOOTH.look.called("smooth"): line.smooth,
        DieMethod.LOCAL.look.called("local"): line.local,
    }
    chart(
        sensitivity_line_figure(line.first, sensitivities, data=first, title=f"throws on side 1{rest}"),
        key="hellinger.sensitivity",
        alt=f"Global, smooth and local sensitivity against the throws on side 1; the data have {first:,}.",
    )
    if scenario.sides > 2:
        st.caption("The throws on the other sides stay as in the data.")
    columns = {"side 1": line.first, "local": line.local, "smooth": line.smooth, "global": line.everywhere}
    download(columns, scenario, seed=seed, name="hellinger-sensitivity")


def _plane(chosen: Chosen, scenario: Scenario) -> None:
    plane, shown = sensitivity_plane(scenario), chosen.options("hellinger").shown
    values = plane.smooth if shown is ShownSensitivity.SMOOTH else plane.local
    first, second = int(scenario.counts[0]), int(scenario.counts[1])
    chart(
        sensitivity_plane_figure(plane.ticks, values, data=(first, second), name=shown.value),
        key="hellinger.plane",
        alt=f"Heat map: {shown.value} sensitivity over all throws; data: {first:,} on side 1, {second:,} on side 2.",
    )
    controls.parameter_control("hellinger.shown")
    st.caption(f"The global sensitivity is {numeral(hellinger.global_sensitivity(scenario.die))} everywhere.")
    rows, columns = np.nonzero(np.isfinite(plane.local))
    table = {
        "side 1": plane.ticks[columns],
        "side 2": plane.ticks[rows],
        "local": plane.local[rows, columns],
        "smooth": plane.smooth[rows, columns],
    }
    download(table, scenario, seed=chosen.seed, name="hellinger-sensitivity")


def _outputs(chosen: Chosen, scenario: Scenario, noise: DieNoise) -> None:
    near = chosen.options("hellinger").range is OutputRange.NEAR
    released = outputs(scenario, noise, window=window_around(scenario) if near else (0, scenario.n))
    shares = {method.look: values for method, values in released.shares.items()}
    chart(
        output_figure(released.edges, shares, data=int(scenario.counts[0])),
        key="hellinger.outputs",
        alt=f"Probability of every released count of side 1 by mechanism; the data have {scenario.counts[0]:,}.",
    )
    controls.parameter_control("hellinger.range")
    columns = {"side 1 from": released.edges[:-1] + 0.5} | {look.name: values for look, values in shares.items()}
    download(columns, scenario, seed=chosen.seed, name="hellinger-outputs")


def _error_laws(scenario: Scenario, laws: Mapping[DieMethod, ErrorLaw], *, seed: int) -> None:
    errors = np.linspace(0, 1, 201)
    shares = {method.look: law.share_within(errors) for method, law in laws.items()}
    chart(
        error_law_figure(errors, shares),
        key="hellinger.laws",
        simulates=True,
        alt="Probability of an error at most as large as each Hellinger distance, by mechanism.",
    )
    columns = {"Hellinger distance": errors} | {look.name: within for look, within in shares.items()}
    download(columns, scenario, seed=seed, name="hellinger-laws", simulates=True)


def python_of(scenario: Scenario, *, seed: int) -> str:
    """Return the code that gives the errors at the setting, and along n, epsilon and m."""
    return program(
        value_in_python("scenario", scenario),
        "from dpbayes.experiments.hellinger.study import hellinger_study",
        f"print(hellinger_study(scenario, seed={seed}).frame())",
    )


# Formulas and assumptions


def details(scenario: Scenario, *, seed: int, enumeration: str) -> None:
    """Show the formulas with their numbers, the assumptions, the audit, and the code."""
    with st.expander("Formulas, assumptions and source"):
        _formulas(scenario)
        st.markdown(enumeration)
        _assumptions(scenario)
        source(Reference("Notes", "Section 2"))
    with folded("Audit: exact privacy loss over all tables", key="hellinger.audit") as is_open:
        if is_open:
            with sentence_instead():
                _audit(scenario)
    same_from_python(python_of(scenario, seed=seed), name="hellinger")


def _formulas(scenario: Scenario) -> None:
    die, counts = scenario.die, scenario.counts
    run, delta = scenario.smooth_run
    widest = hellinger.global_sensitivity(die)
    local = hellinger.local_sensitivity(die, counts=counts)
    smooth = hellinger.smooth_sensitivity(die, counts=counts, beta=scenario.beta)
    extreme = r"g(\alpha)^2" if die.sides > 2 else r"g(\alpha)\,g(\alpha+n-1)"
    st.markdown(
        f"""
$P[r] \\propto \\exp\\left(-\\varepsilon H(x, r)\\,/\\,2\\Delta\\right)$ over the
$|R| = \\binom{{n+m-1}}{{m-1}} = {die.size:,}$ distinct posteriors, where $H$ is the Hellinger distance and $\\Delta$ is

- **global**: $\\Delta_g = \\sqrt{{1 - {extreme}}} = {latex(widest)}$, with
  $g(t) = \\Gamma(t+\\frac12)/\\sqrt{{\\Gamma(t)\\Gamma(t+1)}}$, run at $\\varepsilon = {latex(scenario.epsilon)}$;
- **local**: $\\Delta_l(x) = \\max_y H(x, y) = {latex(local)}$ over the tables $y$ that differ from $x$ in one throw;
- **smooth**: $S_\\beta(x) = \\max_y \\Delta_l(y)\\,e^{{-\\beta d(x, y)}} = {latex(smooth)}$, run at
  $\\varepsilon = {latex(run)}$, $\\delta = {latex(delta, 3)}$, with
  $\\beta = \\ln(1 + \\varepsilon/(2\\ln(2|R|/\\delta))) = {latex(scenario.beta)}${_by_enumeration(scenario)}.

Laplace noise has scale $2/\\varepsilon = {latex(2 / scenario.epsilon)}$ on every count, which is then clipped to
$[0, n]$ and rescaled to $n$"""
        + (
            f", or $1/\\varepsilon = {latex(1 / scenario.epsilon)}$ on one of two counts."
            if die.sides == 2
            else "; one replaced throw moves two counts for any $m$."
        )
    )


def _by_enumeration(scenario: Scenario) -> str:
    if DieMethod.ENUMERATED not in scenario.methods:
        return ""
    run = scenario.enumerated
    return (
        f"; proved by enumeration at $\\varepsilon = {latex(run.inner_epsilon)}$, with "
        f"$\\beta = {latex(run.beta)}$ and $S_\\beta(x) = {latex(run.sensitivity(scenario.counts))}$"
    )


def _assumptions(scenario: Scenario) -> None:
    die, smooth = scenario.die, scenario.certified(DieMethod.SMOOTH)
    assumption(f"Neighbours are {smooth.neighbours.value}; n and the prior are public.", holds=True)
    assumption(
        f"There are n + 1 = {die.n + 1:,} candidates, as stated in the Notes. This number is correct for two sides "
        f"only; this die has {die.size:,} candidates.",
        holds=die.sides == 2,
    )
    assumption("Global sensitivity gives (ε, 0): proved.", holds=True)
    assumption(
        "Local sensitivity gives (ε, 0): neither stated nor proved. Its noise scale depends on the data.",
        holds=False,
    )
    assumption(
        f"Smooth sensitivity gives the guarantee that the Notes state, {scenario.claimed(DieMethod.SMOOTH)} for this "
        "run: not proved. The lemmas stated in the Notes are false, and they would not imply the guarantee. The "
        "audit has found no violation.",
        holds=False,
    )
    assumption(f"Smooth sensitivity gives {smooth} for this run, that is (1.5 ε, δ/2): proved.", holds=True)
    if DieMethod.ENUMERATED in scenario.methods:
        assumption(
            f"By enumeration, smooth sensitivity gives {scenario.enumerated.certified}: for this n, prior, ε and δ "
            "every pair of neighbouring tables and every output were compared. The enumeration proves nothing about "
            "other dice.",
            holds=True,
        )
    assumption("Laplace noise gives (ε, 0): proved; clipping and rescaling are post-processing.", holds=True)
    assumption("The noise is fresh, exact and secret. Here the noise comes from a seed.", holds=False)


def _audit(scenario: Scenario) -> None:
    epsilons = audited_epsilons(scenario)
    frame = pd.DataFrame(
        {
            "mechanism": [method.value for method in epsilons],
            "stated": [promise(scenario.claimed(method)) for method in epsilons],
            "proved": [promise(scenario.certified(method)) for method in epsilons],
            "exact loss (ε at δ = 0)": list(epsilons.values()),
        }
    )
    mechanism_table(frame)
    st.caption(
        "The exact loss is the largest log-ratio over all neighbouring tables of this n and prior and all outputs (up "
        f"to {MOST_AUDITED} candidates). The exact loss applies to this die only, and is not a guarantee for local "
        "sensitivity. With δ > 0 the loss may exceed ε with probability at most δ. The loss of Laplace noise on one "
        "count equals its ε. The loss of Laplace noise on every count equals ε before the noisy counts are rescaled."
    )
