"""The change of a likelihood between tables: Assumption 1 and Lemmas 1 and 7 of [Dimitrakakis14].

Distances of likelihoods are |ln a/b|, [Dimitrakakis14] Equation 2.7. With a constant L, [Dimitrakakis14] Assumption 1
holds.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.references import Reference
from dpbayes.base.text import escaped
from dpbayes.model.network import Network
from dpbayes.posteriors.smoothness import discrete_log_ratio_bound, hamming_weights
from dpbayes.theory.claims.claim import Bound, Claim, Counterexample, Verdict, flat, number
from dpbayes.theory.claims.exhibit import Exhibit, certified_as_exact, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

LOG_RATIO = Claim(
    Reference("Dimitrakakis14", "Equation 2.7"),
    "The absolute log-ratio is a metric",
    r"d(a, b) = |\ln(a/b)|",
    Verdict.AMENDED,
    "The distance is infinite if exactly one of a and b is 0. This excludes Bernoulli variables of probability 0 and "
    "1.",
)


ASSUMPTION_1 = Claim(
    Reference("Dimitrakakis14", "Assumption 1"),
    "The likelihood changes little with the data (Lipschitz)",
    r"d(p_\theta(x), p_\theta(y)) \le L \rho(x, y)",
    Verdict.DEFINITION,
    "A factor of the likelihood without the parameter cancels in the posterior and may be left out.",
)


# Several records

LEMMA_1 = Claim(
    Reference("Dimitrakakis14", "Lemma 1"),
    "Independent records satisfy the assumptions",
    r"L \to L n, \quad c \to c/n",
    Verdict.LOOSE,
    "With summed distances, L and c do not change. The stated constants are n times too weak.",
)


def lemma_1(constant: ArrayLike, *, records: int) -> Bound:
    """Return the constant of n independent records from the constant L of one record (...). [Dimitrakakis14] Lemma 1.

    Printed L n (L k if k records change, c/n in place of c), certified L, as distances are summed over records. The
    mean distance would need L n.
    """
    values = np.asarray(constant, dtype=np.float64)
    return Bound(LEMMA_1, values * records, values, "nats per unit of distance")


def _lemma_1_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    n, level = at.knobs.size, at.knobs.level
    return f"""
- One record has the constant $L = {level:g}$; the table has $n = {n}$.
- **As stated**: $L \\cdot n = {level:g} \\cdot {n} = {bound.stated}$, or $L \\cdot k$ where $k$ records differ.
- **Proved**: $L = {bound.proved}$. Log-ratios and distances are both summed over the records, and tables that differ in
  one record attain the constant. The stated $L \\cdot n$ is correct for the mean of the distances.
- Under Assumption 2, $c$ does not change either. The lemma states $c/n$.
"""


# Exponential families

DISPLAY = Claim(
    Reference("Dimitrakakis14", "Section 5, exponential families"),
    "An exponential family satisfies Assumption 1 for one L",
    r"|T(x) - T(y)| / \rho(x, y) \le L / \eta_\theta",
    Verdict.AMENDED,
    "The natural parameter may be negative: the condition needs |η|.",
)


def counterexample_exponential_family(theta: float = 0.1) -> Counterexample:
    """Return |T(x) - T(y)|/rho = 1 above L/eta for a Bernoulli of probability theta < 1/2, whose eta is negative.

    [Dimitrakakis14] Section 5, exponential families: L = |eta| serves, yet the printed condition never holds.
    """
    eta = float(special.logit(theta))
    return Counterexample(
        DISPLAY,
        f"A Bernoulli of probability {theta:g}: T(x) = x, eta = {eta:.4g}, L = {-eta:.4g}",
        truth=1.0,
        printed=-eta / eta,
        certified=-eta / abs(eta),
        unit="change of the statistic per unit of distance",
    )


# Networks

LEMMA_7 = Claim(
    Reference("Dimitrakakis14", "Lemma 7"),
    "The likelihood of a network changes little with one value",
    r"L = \ln(1/\epsilon), \quad \rho = \sum_k 1\{x_k \ne y_k\}",
    Verdict.FALSE,
    "A changed value also enters the terms of its children. Its weight must therefore be 1 + the number of children.",
)


def lemma_7(network: Network, *, least: float) -> Bound:
    """Return the change of ln p by one changed value if no CPT entry is below `least`. [Dimitrakakis14] Lemma 7.

    Printed ln(1/epsilon); certified L = ln((1 - (r - 1) epsilon)/epsilon) times 1 + the number of children.
    The printed number holds for independent nodes. The paper does not require this, so it is not a condition here.
    """
    constants = np.array([discrete_log_ratio_bound(least, int(card)) for card in network.cards])
    certified = constants.max() * hamming_weights(network).max()
    return Bound(LEMMA_7, np.asarray(-math.log(least)), np.asarray(certified), "nats of log-likelihood")


def largest_log_move(network: Network, *, least: float) -> float:
    """Return the largest change of ln p by one changed value if every CPT entry is at least `least`, in nats.

    It is the maximum over the nodes of L_i plus the sum of the children's L_j, with L = ln((1 - (r - 1) w)/w) for r
    states. The value enters only these terms, and all of them can attain their maximum. [Dimitrakakis14] Lemma 7.
    Errors: InputError if a node has no such CPT.
    """
    constants = np.array([discrete_log_ratio_bound(least, int(card)) for card in network.cards])
    moves = constants.copy()
    for parent, child in network.edges:
        moves[network.index(parent)] += constants[network.index(child)]
    return float(moves.max())


def _lemma_7_here(subject: Subject, at: EvaluationPoint) -> Bound:
    return flat(lemma_7(subject.network, least=at.knobs.omega))


def counterexample_lemma_7(least: float = 0.1) -> Counterexample:
    """Return the change of ln p(x, y) if only x changes in X -> Y with entries epsilon, 1 - epsilon.

    [Dimitrakakis14] Lemma 7: P(X=1) = P(Y=0 | X=1) = 1 - epsilon, P(Y=0 | X=0) = epsilon; (1, 0) against (0, 0).
    """
    bound = lemma_7(Network.from_edges("XY", [("X", "Y")]), least=least)
    return Counterexample.of(
        bound,
        f"X -> Y with CPT entries {least:g} and {1 - least:g}, the record (1, 0) against (0, 0)",
        truth=2 * (math.log1p(-least) - math.log(least)),
    )


def _lemma_7_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    network, least = subject.network, at.knobs.omega
    weights = hamming_weights(network)
    busy = int(np.argmax(weights))
    constant = number(max(discrete_log_ratio_bound(least, int(card)) for card in network.cards))
    exact = number(largest_log_move(network, least=least))
    return f"""
- No CPT entry is below $\\epsilon = \\omega = {least:g}$.
- **As stated**: $\\ln\\tfrac1\\epsilon = {bound.stated}$ nats for one changed value.
- **Proved**: $L = \\ln\\tfrac{{1 - (r - 1)\\epsilon}}\\epsilon = {constant}$ in the term of the node and in those of
  its children. {escaped(network.names[busy])} has the most children, {int(weights[busy]) - 1}, so the constant is $L
  \\cdot {int(weights[busy])} = {bound.proved}$ nats. With the number of states of each node, the constant is exactly
  ${exact}$.
- The lemma holds as stated if all nodes are independent; this network has {len(network.edges)}
  {"arrow" if len(network.edges) == 1 else "arrows"}.
"""


EXHIBITS: dict[str, Exhibit] = {
    "ALT_LEMMA_1": Exhibit(
        LEMMA_1,
        lambda subject, at: flat(lemma_1(at.knobs.level, records=at.knobs.size)),
        _lemma_1_text,
        (Axis.SIZE, Axis.LEVEL),
        "a constant of {} nats per unit of distance",
        "constant of n records, nats per unit of distance",
        measure=certified_as_exact("exact constant"),
    ),
    "ALT_LEMMA_7": Exhibit(
        LEMMA_7,
        _lemma_7_here,
        _lemma_7_text,
        (Axis.OMEGA,),
        "that one changed value changes the log-likelihood by at most {} nats",
        "change of the log-likelihood by one changed value, nats",
        measure=exact_value(
            "exact largest change", lambda subject, at: largest_log_move(subject.network, least=at.knobs.omega)
        ),
        limit=_lemma_7_here,
    ),
}
