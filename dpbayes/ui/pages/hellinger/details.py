"""The Hellinger page below its picture: formulas, the exact audit, the code to copy."""

from collections.abc import Mapping

import streamlit as st

from dpbayes.base.libraries import pd
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex, numeral
from dpbayes.experiments.frames import with_settings
from dpbayes.experiments.hellinger.errors import MOST_AUDITED, audited_epsilons
from dpbayes.experiments.hellinger.scenario import DieMethod, Scenario
from dpbayes.experiments.hellinger.study import settings_of
from dpbayes.posteriors import hellinger
from dpbayes.ui.widgets.from_python import program, same_from_python, value_in_python
from dpbayes.ui.widgets.show import assumption, data_and_download, folded, sentence_instead, source


def download(
    columns: Mapping[str, object], scenario: Scenario, *, seed: int, name: str, simulates: bool = False
) -> None:
    """Offer the numbers behind a chart, with the settings in their last columns."""
    data_and_download(
        lambda: with_settings(pd.DataFrame(columns), settings_of(scenario, seed=seed)),
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
