"""Posterior sampling: Theorem 4 and Appendix C of [Zhang16].

The predictive probability of [Zhang16] Appendix C.1 is `Dirichlets.mean`.
"""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.map_scores import node_sensitivities
from dpbayes.model.dataset import Dataset, count
from dpbayes.model.network import Network
from dpbayes.posteriors.decisions import Decisions, log_mass_trimmed
from dpbayes.posteriors.dirichlet import Dirichlets
from dpbayes.posteriors.smoothness import (
    beta_concentration_from,
    discrete_log_ratio_bound,
    network_concentration,
    network_log_ratio_bound,
)
from dpbayes.posteriors.trimmed import log_odds_bound
from dpbayes.theory.claims.claim import LOSS_TEXT, Assumption, Bound, Claim, Counterexample, Verdict, flat, number
from dpbayes.theory.claims.exhibit import Exhibit, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.dimitrakakis14.game import KAPPA
from dpbayes.theory.zhang16.counts import checked_epsilons

OMEGA = -0.5 - float(special.lambertw(-math.exp(-0.5) / 2, -1).real)
"""The positive solution of exp(w) = 2 w + 1, about 1.2564312; KAPPA is 2 w / (1 - exp(-w))^2."""


# Theorem 4


def theorem_4_1(network: Network, *, omega: float, draws: int = 1) -> Bound:
    """Return the privacy loss of draws with CPT entries in [omega, 1 - (r - 1) omega], per record.

    [Zhang16] Theorem 4(1). Printed 2 ||L||_inf rho for one draw, with rho = |I|: a replaced record may change every
    family's values. Certified N sum_i 2 L_i. Errors: InputError for an omega above 1/r of some node.
    """
    constants = [discrete_log_ratio_bound(omega, int(card)) for card in network.cards]
    return Bound(
        THEOREM_4_1,
        np.asarray(2 * max(constants) * len(constants)),
        np.asarray(2 * draws * network_log_ratio_bound(constants, np.ones(len(constants)))),
        "nats of privacy loss",
        assumptions=(Assumption("One sample is released", draws == 1),),
    )


def _theorem_4_1_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    nodes = len(subject.network.names)
    return f"""
- $L = \\ln\\frac{{1-\\omega}}{{\\omega}} = \\ln\\frac{{{1 - at.knobs.omega:g}}}{{{at.knobs.omega:g}}} =
  {number(log_odds_bound(at.knobs.omega))}$ for a binary node. A record may change the
  family of all $|I| = {nodes}$ nodes.
- **As stated**, for one sample: $2 \\max_i L_i\\,\\rho = {bound.stated}$ nats with $\\rho = |I|$.
- **Proved**, for $N = {at.draws}$: $2N \\sum_i L_i = {bound.proved}$ nats.
"""


def constant_m(concentration: ArrayLike, *, start: ArrayLike, slack: ArrayLike, ratio: float) -> FloatArray:
    """Return M of [Zhang16] Theorem 4(2), elementwise in c, L0 and delta = `slack` (...), for C = `ratio`.

    M = (kappa/c + L0 (1/(1 - e^-w) + 1) + ln C + ln(e^(-L0 d c) / (e^(-w(1-d)) - e^-w) + e^(L0 (1-d) c))) C.
    """
    c, begin, d = (np.asarray(value, dtype=np.float64) for value in (concentration, start, slack))
    # Logarithms of both summands, so that a large L0 does not overflow.
    tail = -begin * d * c - np.log(np.exp(-OMEGA * (1 - d)) - math.exp(-OMEGA))
    last = np.logaddexp(tail, begin * (1 - d) * c)
    return (KAPPA / c + begin * (1 / -math.expm1(-OMEGA) + 1) + math.log(ratio) + last) * ratio


def likelihood_ratio(prior: Dirichlets) -> float:
    """Return C = prod_i C_i, C_i the largest of 1/(prior mean) over node i's cells. [Zhang16] Theorem 4(2).

    The largest likelihood of one value is 1, and its marginal likelihood is the cell's prior mean.
    """
    network, mean = prior.network, prior.mean
    rarest = [float(network.table(mean, node).min()) for node in range(len(network.names))]
    return math.exp(min(-float(np.log(rarest).sum()), 700.0))


def theorem_4_2(network: Network, *, prior: float = 1.0, start: float = 1.0, slack: float = 0.5) -> Bound:
    """Return how far one replaced record moves the posterior probability of any set. [Zhang16] Theorem 4(2).

    Printed sqrt(M/2) for Beta(a, a) rows, a = `prior`, L0 = `start` and delta = `slack`, with rho = 1; the rows' best
    c(L0) joined by Lemma 3; NaN where there is none. Certified is the sum over the nodes of exact total variation
    distances, at most 1, for every n (`node_sensitivities`). Errors: InputError for parameters out of range.
    """
    symmetric = Dirichlets.symmetric(network, prior)
    combined = combined_concentration(network, prior, start)
    has_constant, ratio = not math.isnan(combined), likelihood_ratio(symmetric)
    m = constant_m(combined, start=start, slack=slack, ratio=ratio) if has_constant else np.nan
    return Bound(
        THEOREM_4_2,
        np.asarray(np.sqrt(m / 2)),
        np.asarray(min(1.0, float(node_sensitivities(symmetric).sum()))),
        "total variation distance",
        assumptions=(
            Assumption("Every node is binary, so that c is known", network.is_binary),
            Assumption(
                "Lemma 3 gives a constant c for the network: L0 is large enough for the network's rows", has_constant
            ),
            Assumption(
                "All records are at most (1 - δ) c apart: |I| <= (1 - δ) c",
                len(network.names) <= (1 - slack) * combined,
            ),
        ),
    )


def combined_concentration(network: Network, prior: float, start: float) -> float:
    """Return c' for the m rows of a binary network, NaN if L0 is too small. [Zhang16] Lemma 3.

    All rows within |logit| <= L are L-Lipschitz.
    """
    if not network.is_binary:
        return math.nan
    row = beta_concentration_from(prior, start)
    if math.log(network.row_count) >= start * row:
        return math.nan
    return network_concentration(np.full(network.row_count, row), start)


def least_printed_variation(network: Network) -> float:
    """Return sqrt(C ln C / 2) with C = prod_i r_i, which no prior brings sqrt(M/2) below. [Zhang16] Theorem 4(2).

    The rarest of r states has a mean of at most 1/r, so C_i >= r_i, and every other term of M is positive. Above 1, the
    theorem says nothing; it is 1.66 for two binary nodes and 1.28 for one node with three states. For one binary node
    it is 0.833, and sqrt(M/2) approaches it as a of Beta(a, a) and the slack of the theorem grow.
    """
    log_c = float(np.log(network.cards).sum())
    return math.sqrt(log_c / 2) * math.exp(min(log_c / 2, 700.0))


def _theorem_4_2_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    least = number(least_printed_variation(subject.network))
    ratio = likelihood_ratio(subject.prior)
    together = combined_concentration(subject.network, subject.concentration, at.knobs.start)
    m = number(2 * float(bound.printed[0]) ** 2)
    return f"""
- Prior $\\mathrm{{Beta}}(a, a)$ with $a = {number(subject.concentration)}$ in every row, $L_0 = {at.knobs.start:g}$,
  $\\rho = 1$. The rows together have $c' = {number(together)}$ (Lemma 3) and $C = {number(ratio)}$. The $\\delta$ of
  the theorem is a slack parameter, here 1/2. It is not the δ of this page.
- **As stated**: $M = {m}$, $\\sqrt{{M/2}} = {bound.stated}$. On this network, this is at least ${least}$ under every
  prior and with every slack, and two probabilities differ by at most 1.
- **Proved**: ${bound.proved}$, the sum over the nodes of exact total variation distances, for every $n$.
"""


# Appendix C


def appendix_c_2(network: Network, *, epsilon: ArrayLike, draws: int = 1) -> Bound:
    """Return what draws lose when they are trimmed at the printed omega = exp(-epsilon/2). [Zhang16] Appendix C.2.

    Printed epsilon (...), certified 2 |I| N ln((1 - omega)/omega) for |I| binary nodes, NaN where omega is at least
    1/2 and nothing is left to draw from, or a node is not binary.
    """
    epsilons = checked_epsilons(epsilon)
    log_odds = _stated_log_odds(epsilons)
    certified = 2 * len(network.names) * draws * log_odds
    return Bound(
        APPENDIX_C2,
        epsilons,
        certified if network.is_binary else np.full(epsilons.shape, np.nan),
        "nats of privacy loss",
        assumptions=(
            Assumption("ε is above 1.39, so that ω = exp(-ε/2) is below 1/2", bool(np.all(np.isfinite(log_odds)))),
            Assumption("Every node is binary", network.is_binary),
            Assumption("One sample is released", draws == 1),
        ),
    )


def _stated_log_odds(epsilons: FloatArray) -> FloatArray:
    """Return ln((1 - w)/w) of the stated w = exp(-epsilon/2), which is ln(e^(epsilon/2) - 1); NaN unless positive."""
    half = np.where(epsilons > 2 * math.log(2), epsilons / 2, np.nan)
    return np.asarray(half + np.log(-np.expm1(-half)))


def odd_record_loss(prior: Dirichlets, n: int, bound: float) -> float:
    """Return the largest loss found where one odd record is replaced by its opposite, for log-odds up to `bound`.

    The other records are as the opposite, but some are as the odd record at every other generation of nodes. A
    decision's log-likelihood ratio is monotone in its log-odds, so that it is largest at an end of their range.
    """
    network, depth = prior.network, np.zeros(len(prior.network.names), dtype=np.int64)
    for node in network.order:
        depth[node] = max((depth[parent] + 1 for parent in network.families[node][:-1]), default=0)
    low, high = np.zeros_like(network.cards), network.cards - 1
    records = np.stack([low, high, np.where(depth % 2, high, low)]).astype(np.uint8)
    odd, same, mixed = (count(network, Dataset(network.names, network.states, row[None])).values for row in records)
    share = np.unique(np.round(np.geomspace(1, n, 48)).astype(np.int64))[:, None] - 1
    rest = (n - 1 - share) * same + share * mixed
    toward, away = Decisions(network).parameters((odd - same).astype(np.float64))
    likely, unlikely = special.log_expit(bound), special.log_expit(-bound)
    ratios = np.maximum(toward * likely + away * unlikely, toward * unlikely + away * likely)
    masses = [log_mass_trimmed(prior.updated(rest + one), bound) for one in (odd, same)]
    return float(np.max(ratios.sum() - masses[0] + masses[1]))


def _measured_loss(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    bounds, n = _stated_log_odds(at.epsilons).tolist(), subject.n or 1000
    return [at.draws * odd_record_loss(subject.prior, n, b) if b > 0 else math.nan for b in bounds]


def _appendix_c_2_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    omega, nodes = math.exp(-at.epsilon[0] / 2), len(subject.network.names)
    proved = f" = {bound.proved}" if np.isfinite(bound.certified[0]) else ""
    return f"""
- $\\omega = e^{{-\\epsilon/2}} = {number(omega)}$, for $|I| = {nodes}$ nodes and $N = {at.draws}$.
- **As stated**: $\\epsilon = {bound.stated}$ nats.
- **Proved**: $2|I|N \\ln\\frac{{1-\\omega}}{{\\omega}}{proved}$ nats, for $\\omega$ below 1/2.
"""


def counterexample_appendix_c_2(n: int = 8, *, omega: float = 0.1) -> Counterexample:
    """Show two tables of X -> Y on which a trimmed draw loses more than 2 ln(1/omega). [Zhang16] Appendix C.2."""
    bound, network = log_odds_bound(omega), Network.from_edges("XY", [("X", "Y")])
    return Counterexample(
        APPENDIX_C2,
        f"X -> Y, uniform priors, omega = {omega:g}: {n} records are alike, and one is replaced by its opposite",
        truth=odd_record_loss(Dirichlets.symmetric(network), n, bound),
        printed=-2 * math.log(omega),
        certified=4 * bound,
        unit="nats of privacy loss",
    )


THEOREM_4_1 = Claim(
    Reference("Zhang16", "Theorem 4(1)"),
    "A posterior sample is 2L-private (Assumption 1)",
    r"\xi(B \mid x) \le e^{2 L \rho(x, y)} \xi(B \mid y)",
    Verdict.AMENDED,
    "The claim holds for one sample, with distances between the joint values of a node and its parents. One record may "
    "change these values at every node, so the loss is 2 Σ Lᵢ times the number of samples.",
)
THEOREM_4_2 = Claim(
    Reference("Zhang16", "Theorem 4(2)"),
    "A posterior sample is private for ε = 0 and δ = √(M/2)",
    r"|\xi(B \mid x) - \xi(B \mid y)| \le \sqrt{\tfrac{M}{2} \max\{\rho(x, y), 1\}}",
    Verdict.VACUOUS,
    "No two probabilities differ by more than 1, and √(M/2) is at least 1.66 for two or more nodes under any prior. "
    "For one binary node it is at least 0.833, and for the prior Beta(a, a) below 1 only from a = 3,020 on.",
)
APPENDIX_C1 = Claim(
    Reference("Zhang16", "Appendix C.1"),
    "A Beta row predicts by α / (α + β)",
    r"P(y) = \alpha^y \beta^{1-y} / (\alpha + \beta)",
    Verdict.HOLDS,
    "The formula is the posterior mean of the cell.",
)
APPENDIX_C2 = Claim(
    Reference("Zhang16", "Appendix C.2"),
    "Trimming at ω makes a posterior sample ε-private",
    r"\epsilon = 2 \ln(1/\omega), \quad \omega = e^{-\epsilon/2}",
    Verdict.FALSE,
    "A replaced record changes a term of every node in every sample, so the loss is 2 |I| N ln((1 - "
    "ω)/ω). Up to ε = 2 ln 2 the stated ω leaves no interval to sample from.",
)

EXHIBITS: dict[str, Exhibit] = {
    "THEOREM_4_1": Exhibit(
        THEOREM_4_1,
        lambda subject, at: flat(theorem_4_1(subject.network, omega=at.knobs.omega, draws=at.draws)),
        _theorem_4_1_formula,
        (Axis.OMEGA,),
        *LOSS_TEXT,
        also=("draws",),
    ),
    "THEOREM_4_2": Exhibit(
        THEOREM_4_2,
        lambda subject, at: flat(theorem_4_2(subject.network, prior=subject.concentration, start=at.knobs.start)),
        _theorem_4_2_formula,
        (Axis.PRIOR,),
        "a total variation distance of at most {}",
        "total variation distance",
        also=("bounds.start",),
    ),
    "APPENDIX_C2": Exhibit(
        APPENDIX_C2,
        lambda subject, at: appendix_c_2(subject.network, epsilon=at.epsilons, draws=at.draws),
        _appendix_c_2_formula,
        (Axis.EPSILON,),
        *LOSS_TEXT,
        also=("draws",),
        measure=exact_value("exact loss of two tables", _measured_loss),
        defaults=(("epsilon", 2.0),),
        least=2 * math.log(2),
    ),
}
