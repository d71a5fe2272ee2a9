"""What each mechanism does, as a formula with this setting's numbers in it."""

from dpbayes.base.text import latex
from dpbayes.mechanisms import LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.known import ByClass


@ByClass
def formula(mechanism: object) -> str:
    """Return a sentence of Markdown; a mechanism without one gets its name."""
    return type(mechanism).__name__


@formula.of(LaplaceUpdates)
def _(mechanism: LaplaceUpdates) -> str:
    return (
        f"$Z = \\mathrm{{clip}}(\\Delta + \\mathrm{{Lap}}(2|I|/\\varepsilon), 0, n)$ in every cell, here with "
        f"scale $2|I|/\\varepsilon = {latex(mechanism.noise_scale)}$ counts."
    )


@formula.of(LaplaceFourier)
def _(mechanism: LaplaceFourier) -> str:
    closure = mechanism.prior.network.closure
    return (
        f"$s_\\gamma + \\mathrm{{Lap}}(b)$ for each of $|N_I| = {len(closure)}$ coefficients, here with "
        f"$b = {latex(mechanism.noise_scale)}$; one record flips at most $O = {closure.odd_overlap.value}$ of them. "
        f"Every table is lifted by $2t|N_I|b = {latex(mechanism.lift)}$ invented records."
    )


@formula.of(PosteriorSampler)
def _(mechanism: PosteriorSampler) -> str:
    low = mechanism.omega
    return (
        f"$N = {mechanism.draws:,}$ draws of every row from its posterior, kept to probabilities of at least "
        f"$\\omega = {latex(low)}$. One record moves the log density of all draws together by at most "
        f"$2|I|N\\ln\\frac{{1-\\omega}}{{\\omega}} = {latex(mechanism.certified.epsilon)}$ where every node is binary "
        "(longer rows count once for each yes-no decision that leads to a state)."
    )


@formula.of(MapExponential)
def _(mechanism: MapExponential) -> str:
    return (
        f"A cell of $G = {mechanism.cells:,}$ for every row, with probability proportional to its prior mass times "
        f"$\\exp(\\varepsilon u / 2\\Delta)$, where $u$ is its posterior mass. One record moves the sum of "
        f"all $u$ by at most $\\Delta = {latex(mechanism.sensitivity)}$. "
        "All nodes share $\\varepsilon$: large networks need a large one."
    )
