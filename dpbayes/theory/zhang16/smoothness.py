"""What makes a network smooth in its data.

At every parameter, [Zhang16] Assumption 1; or with prior mass at least 1 - exp(-c L), [Zhang16] Assumption 2.
"""

import math
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.posteriors.smoothness import discrete_log_ratio_bound, network_concentration, network_log_ratio_bound
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict, flat, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

# Assumption 1


def lemma_2(constants: ArrayLike, *, distances: ArrayLike) -> Bound:
    """Return how far ln p moves between two records, from nodes' constants and distances (|I|,). [Zhang16] Lemma 2.

    Printed max_i L_i sum_i rho_i, certified sum_i L_i rho_i, for distances between families' values. Errors: those of
    `network_log_ratio_bound`.
    """
    certified = network_log_ratio_bound(constants, distances)
    printed = float(np.max(constants, initial=0.0)) * float(np.sum(distances))
    return Bound(LEMMA_2, np.asarray(printed), np.asarray(certified), "nats of log-likelihood")


def _node_constants(subject: Subject, at: EvaluationPoint) -> FloatArray:
    """Return the constants L i/|I| of the nodes i = 1 .. |I|: (|I|,). [Zhang16] Lemma 2."""
    nodes = len(subject.network.names)
    return at.knobs.level * np.arange(1, nodes + 1) / nodes


def _lemma_2_here(subject: Subject, at: EvaluationPoint) -> Bound:
    bound = flat(lemma_2(_node_constants(subject, at), distances=np.ones(len(subject.network.names))))
    return replace(bound, assumptions=(Assumption("No node has parents", not any(subject.network.parents)),))


def _log_likelihood_move(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Find how far ln p moves from the likelier to the rarer state in each of binary nodes that reach their constants.

    Such a node has probabilities 1/(1 + exp(-L_i)) and 1/(1 + exp(L_i)).
    """
    constants = _node_constants(subject, at)
    return special.log_expit(constants).sum() - special.log_expit(-constants).sum()


def _lemma_2_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    nodes, level = len(subject.network.names), f"{at.knobs.level:g}"
    return f"""
- A network of $|I| = {nodes}$ binary nodes, the number of nodes in this network, with constants
  $L_i = L\\,i/|I|$, $L = {level}$. A record changes every family by distance $\\rho_i = 1$.
- **As stated**: $\\max_i L_i \\sum_i \\rho_i = {level} \\cdot {nodes} = {bound.stated}$ nats.
- **Proved**: $\\sum_i L_i \\rho_i = L\\,(|I| + 1)/2 = {bound.proved}$ nats.
- **Exact**: every node has probabilities $1/(1 + e^{{\\pm L_i}})$, and the record changes from the more probable
  state of each node to the other state.
"""


def counterexample_lemma_2(omega: float = 0.1) -> Counterexample:
    """Two records of X -> Y that agree in Y: a distance of Y's values alone is 0, yet ln p(y | x) moves.

    [Zhang16] Lemma 2: its hypothesis holds for no L_i, here with CPT entries omega and 1 - omega. Certified is the
    constant times the distance 1 between the families' values.
    """
    moved = abs(math.log(omega) - math.log1p(-omega))
    return Counterexample(
        LEMMA_2,
        f"X -> Y with P(Y=1 | X=0) = {omega:g} and P(Y=1 | X=1) = {1 - omega:g}; the records (0, 1) and (1, 1)",
        truth=moved,
        printed=0.0,
        certified=network_log_ratio_bound([discrete_log_ratio_bound(omega)], [1.0]),
        unit="nats of ln p(y | x)",
    )


def counterexample_uniform_exponential(constant: float = 10.0) -> Counterexample:
    """Show that no L serves all rates: at the rate 2 L, records one apart move ln p by 2 L.

    [Zhang16] Section 4.1, the exponential distribution.
    """
    return Counterexample(
        EXPONENTIAL,
        f"Exp({2 * constant:g}) records at distance |x - y| = 1, for L = {constant:g}",
        truth=2 * constant,
        printed=constant,
        certified=2 * constant,
        unit="nats of log-likelihood",
    )


# Assumption 2


def lemma_3(constants: ArrayLike, *, start: float, at: ArrayLike, valid_from: float | None = None) -> Bound:
    """Return the prior mass without constant L, at every L of `at` (...), for nodes' concentrations (|I|,).

    Printed exp(-c' L), c' = min c - ln|I| / L0, NaN below L0 = `start` and where L0 is too small for the network.
    Certified is the union bound sum_i exp(-c_i L) behind it, which needs no more than that every node be concentrated
    at L: NaN below `valid_from`, which is L0 unless more is known of the nodes, such as 0 for exponential ones under
    Exp(c_i). [Zhang16] Lemma 3.
    """
    rates, levels = np.asarray(constants, dtype=np.float64), np.asarray(at, dtype=np.float64)
    enough = rates.size < math.exp(min(start * float(rates.min()), 700.0))
    combined = network_concentration(rates, start) if enough else math.nan
    reached = levels >= start
    certain = levels >= (start if valid_from is None else valid_from)
    union = np.exp(-levels[..., None] * rates).sum(axis=-1)
    return Bound(
        LEMMA_3,
        np.where(reached, np.exp(-combined * levels), np.nan),
        np.where(certain, np.minimum(union, 1.0), np.nan),
        "prior mass",
        assumptions=(Assumption("|I| < exp(L0 min c)", enough), Assumption("L is at least L0", bool(np.all(reached)))),
    )


def mass_without(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Find the exact prior mass without constant L of independent exponential nodes: 1 - (1 - exp(-c L))^|I|."""
    one = math.exp(-at.knobs.concentration * at.knobs.level)
    return -math.expm1(len(subject.network.names) * math.log1p(-one)) if one < 1 else 1.0


def _lemma_3_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    nodes, c, start, level = len(subject.network.names), at.knobs.concentration, at.knobs.start, at.knobs.level
    combined = c - math.log(nodes) / start
    if combined <= 0:
        says = f"nothing, because $c' = {c:g} - \\ln {nodes}/{start:g} = {number(combined)}$ is not positive."
    elif level < start:
        says = f"nothing, because $L = {level:g}$ is below $L_0 = {start:g}$."
    else:
        says = (
            f"$c' = c - \\ln|I|/L_0 = {c:g} - \\ln {nodes}/{start:g} = {number(combined)}$, hence "
            f"$e^{{-c'L}} = e^{{-{number(combined)} \\cdot {level:g}}} = {bound.stated}$."
        )
    return f"""
- A network of $|I| = {nodes}$ independent exponential nodes, as many as in this network, all with rate
  $\\theta_i \\sim \\mathrm{{Exp}}(c)$, $c = {c:g}$. A node has the Lipschitz constant $L$ if $\\theta_i \\le L$.
- **As stated**: {says}
- **Proved**: $|I|\\,e^{{-cL}}$, at most 1: ${bound.proved}$. These nodes satisfy Assumption 2 for every $L_0$, so the
  bound holds for $L < L_0$ as well.
- **Exact**: $1 - (1 - e^{{-cL}})^{{|I|}}$.
"""


def counterexample_appendix_b2(level: float = 5.0) -> Counterexample:
    """Refute c' = ln|I| min c with three independent exponential nodes. [Zhang16] Appendix B.2.

    With Exp(theta_i) records and theta_i ~ Exp(c_i) the mass without L is exactly 1 - prod (1 - exp(-c_i L)).
    """
    rates = np.array([1.0, 2.0, 3.0])
    combined = network_concentration(rates, level)
    return Counterexample(
        APPENDIX_B2,
        f"|I| = 3 independent exponential nodes, c = (1, 2, 3), L = L0 = {level:g}",
        truth=-math.expm1(float(np.log1p(-np.exp(-rates * level)).sum())),
        printed=math.exp(-math.log(3) * rates.min() * level),
        certified=math.exp(-combined * level),
        unit="prior mass",
    )


ASSUMPTION_1 = Claim(
    Reference("Zhang16", "Assumption 1"),
    "The likelihood changes little with the data (Lipschitz)",
    r"|\ln p_\theta(x) - \ln p_\theta(y)| \le L \rho(x, y)",
    Verdict.DEFINITION,
    "A factor of the likelihood without the parameter cancels in the posterior and may be left out.",
)
LEMMA_2 = Claim(
    Reference("Zhang16", "Lemma 2"),
    "If each node changes little with the data, so does the network",
    r"|\ln p(x) - \ln p(y)| \le \|L\|_\infty \sum_i \rho_i(x_i, y_i)",
    Verdict.VACUOUS,
    "Equal values under different parents have distance 0, so no node with parents satisfies the condition. "
    "With distances between the joint values of a node and its parents, the sharper bound Σ Lᵢ ρᵢ holds.",
)
EXPONENTIAL = Claim(
    Reference("Zhang16", "Section 4.1, the exponential distribution"),
    "One Lipschitz constant fits all exponential distributions",
    r"\sup_\theta |\ln p_\theta(x) - \ln p_\theta(y)| \le L |x - y|",
    Verdict.FALSE,
    "The Lipschitz constant is the rate itself, so the claim needs bounded rates or Assumption 2.",
)
ASSUMPTION_2 = Claim(
    Reference("Zhang16", "Assumption 2"),
    "Large Lipschitz constants are rare under the prior",
    r"\xi(\Theta_L) \ge 1 - e^{-cL}, \quad L \ge L_0",
    Verdict.DEFINITION,
    "A uniform row satisfies the assumption with c = ln((1 + exp(L0))/2)/L0, which is below 1 for every L0.",
)
LEMMA_3 = Claim(
    Reference("Zhang16", "Lemma 3"),
    "If large constants are rare at each node, they are in a network",
    r"c' = \min_i c_i - \ln|\mathcal I| / L_0",
    Verdict.AMENDED,
    "The lemma holds for |I| < exp(L0 min c) with distances between the joint values of a node and its parents. With "
    "the stated distances, a node with parents has no finite Lipschitz constant under a continuous prior.",
)
APPENDIX_B2 = Claim(
    Reference("Zhang16", "Appendix B.2"),
    "How rare large constants are in a network, by the proof",
    r"c' = \ln|\mathcal I| \, \min_i c_i",
    Verdict.FALSE,
    "The c' of the proof grows with the number of nodes, but a valid c' must decrease. The c' of the "
    "lemma itself is right.",
)

EXHIBITS: dict[str, Exhibit] = {
    "LEMMA_2": Exhibit(
        LEMMA_2,
        _lemma_2_here,
        _lemma_2_formula,
        (Axis.LEVEL,),
        "that one record changes the log-likelihood by at most {} nats",
        "change of the log-likelihood of nodes without parents, nats",
        measure=exact_value("largest exact change", _log_likelihood_move),
    ),
    "LEMMA_3": Exhibit(
        LEMMA_3,
        lambda subject, at: lemma_3(
            np.full(len(subject.network.names), at.knobs.concentration),
            start=at.knobs.start,
            at=np.array([at.knobs.level]),
            valid_from=0.0,
        ),
        _lemma_3_formula,
        (Axis.LEVEL,),
        "a prior mass of at most {}",
        "prior mass of the parameters with a Lipschitz constant above L",
        also=("bounds.concentration", "bounds.start"),
        says=BoundKind.CHANCE,
        measure=exact_value("exact mass", mass_without),
        defaults=(("level", 13.0),),
    ),
}
"""The claims as they are shown, for as many nodes as the network at hand has and with constants known exactly.

Lemma 2 for binary nodes that reach L_i = L i/|I|; Lemma 3 for independent exponential nodes under Exp(c).
"""
