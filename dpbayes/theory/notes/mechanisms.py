"""The claims of [Notes] on the sensitivities of the Hellinger score and on its exponential mechanisms.

The prior is that of [Notes] Section 1, with exponents alpha - 1. Losses and sensitivities are over all tables of the
die's n throws; nothing here depends on the throws themselves unless `counts` are asked for.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import finite_number
from dpbayes.model.compositions import moves
from dpbayes.posteriors.hellinger import (
    Die,
    all_distances,
    distances,
    global_sensitivity,
    local_sensitivity,
    log_pmf,
    smooth_guarantee,
    smooth_sensitivities,
    smoothing_rate,
)
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict
from dpbayes.theory.claims.counterexample import Counterexample

MOST_EXACT = 1000
"""Most candidates for which exact losses are computed."""

NATS = "nats of privacy loss"


# Candidates and sensitivities


def candidates(die: Die) -> Bound:
    """Return |R|: printed n + 1, right C(n + m - 1, m - 1). [Notes] Section 2.1 and Lemma 2.2."""
    return Bound(
        claim=CANDIDATES,
        printed=np.asarray(die.n + 1.0),
        certified=np.asarray(float(die.size)),
        unit="candidates",
        confidence=1.0,
        assumptions=(Assumption("The die has two sides", die.sides == 2),),
        is_private=True,
    )


def reduction(die: Die, *, counts: ArrayLike) -> Bound:
    """Return the local sensitivity at `counts` (m,), reduced and by enumeration of all candidates. [Notes] Section 3.1.

    Printed max_y H(x, y) over the neighbours; certified max_y max_r |H(x, r) - H(y, r)|. They are equal.
    """
    here = die.checked(counts)
    listed = die.candidates
    own = distances(die, counts=here)
    near = listed[np.abs(listed - here).sum(axis=1) == 2]
    steps = [float(np.abs(distances(die, counts=y) - own).max()) for y in near]
    return Bound(
        claim=REDUCTION,
        printed=np.asarray(local_sensitivity(die, counts=here)),
        certified=np.asarray(max(steps, default=0.0)),
        unit="Hellinger distance",
        confidence=1.0,
        assumptions=(),
        is_private=False,
    )


def where_largest(die: Die, *, counts: ArrayLike) -> FloatArray:
    """Return the candidates r (ties, m) at which some neighbour y moves the score most. [Notes] Figure 1.

    The posterior itself is one of them, and always shares that with the neighbour y that is furthest away.
    """
    here, listed = die.checked(counts), die.candidates
    own = distances(die, counts=here)
    near = listed[np.abs(listed - here).sum(axis=1) == 2]
    steps = np.max([np.abs(distances(die, counts=y) - own) for y in near], axis=0)
    return listed[steps >= steps.max() * (1 - 1e-12)].astype(np.float64)


# Mechanisms


def exact_loss(die: Die, law: FloatArray) -> float:
    """Return the largest |ln P_x[r] - ln P_y[r]| over neighbours and candidates, from ln P (R, R).

    Errors: InputError for more than MOST_EXACT candidates.
    """
    die.require_listable(MOST_EXACT)
    worst = 0.0
    for giver in range(die.sides):
        for taker in range(giver):
            before, after = moves(die.candidates, giver=giver, taker=taker)
            worst = max(worst, float(np.abs(law[before] - law[after]).max(initial=0.0)))
    return worst


def global_mechanism(die: Die, *, epsilon: float) -> Bound:
    """Return the loss with global sensitivity: epsilon, and the exact one. [Notes] Section 2.1, the mechanism."""
    die.require_listable(MOST_EXACT)
    e = checked_epsilon(epsilon)
    law = log_pmf(all_distances(die), epsilon=e, sensitivity=np.full(die.size, global_sensitivity(die)))
    return _loss_bound(GLOBAL, e, exact_loss(die, law))


def local_mechanism(die: Die, *, epsilon: float) -> Bound:
    """Return the loss with local sensitivity: epsilon, as if it were global, and the exact one. [Notes] Section 2.2.

    The exact number is valid for this n and prior only, and may be below epsilon.
    """
    die.require_listable(MOST_EXACT)
    e = checked_epsilon(epsilon)
    law = log_pmf(all_distances(die), epsilon=e, sensitivity=die.local_sensitivities)
    return _loss_bound(LOCAL, e, exact_loss(die, law))


def counterexample_local(n: int = 200, *, prior: float = 0.1, epsilon: float = 1.0) -> Counterexample:
    """Return the exact loss with local sensitivity, above epsilon for small priors. [Notes] Section 2.2."""
    bound = local_mechanism(Die((prior, prior), n), epsilon=epsilon)
    return Counterexample(
        LOCAL,
        f"A coin with prior {prior:g}, {prior:g}, n = {n} throws, epsilon = {epsilon:g}",
        truth=float(bound.certified),
        printed=epsilon,
        certified=float(bound.certified),
        unit=NATS,
    )


def smooth_mechanism(die: Die, *, epsilon: float, delta: float) -> Bound:
    """Return the epsilon of the mechanism with smooth sensitivity. [Notes] Section 2.3.1.

    Printed epsilon with delta, which no proof supports; certified, with delta/2, 1.5 epsilon or a little more.
    """
    e, d = checked_epsilon(epsilon), checked_delta(delta)
    return Bound(
        claim=SMOOTH,
        printed=np.asarray(e),
        certified=np.asarray(smooth_guarantee(die, epsilon=e, delta=d)),
        unit=NATS,
        confidence=1 - d,
        assumptions=(),
        is_private=True,
    )


def smooth_loss(die: Die, *, epsilon: float, delta: float) -> float:
    """Return the exact pure loss of that mechanism for this n and prior. [Notes] Section 2.3.1."""
    die.require_listable(MOST_EXACT)
    smooth = smooth_sensitivities(
        die, beta=smoothing_rate(die, epsilon=checked_epsilon(epsilon), delta=checked_delta(delta))
    )
    return exact_loss(die, log_pmf(all_distances(die), epsilon=epsilon, sensitivity=smooth))


def smoothing(die: Die, *, epsilon: float, delta: float) -> Bound:
    """Return beta = ln(1 + epsilon/(2 ln(2 |R|/delta))), printed with n + 1 for |R|. [Notes] Section 2.3.1, beta.

    What is proved needs beta no larger than the certified one.
    """
    e, d = checked_epsilon(epsilon), checked_delta(delta)
    return Bound(
        claim=BETA,
        printed=np.asarray(math.log1p(e / (2 * math.log(2 * (die.n + 1) / d)))),
        certified=np.asarray(smoothing_rate(die, epsilon=e, delta=d)),
        unit="1 / replaced record",
        confidence=1.0,
        assumptions=(Assumption("The die has two sides", die.sides == 2),),
        is_private=True,
    )


def _loss_bound(claim: Claim, epsilon: float, exact: float) -> Bound:
    return Bound(claim, np.asarray(epsilon), np.asarray(exact), NATS, 1.0, (), is_private=True)


def checked_epsilon(epsilon: float) -> float:
    """Return epsilon. Errors: InputError unless it is from 1e-6 to 1000."""
    return finite_number("epsilon", epsilon, low=1e-6, high=1000.0)


def checked_delta(delta: float) -> float:
    """Return delta. Errors: InputError unless it is from 1e-300 to 1."""
    return finite_number("delta", delta, low=1e-300, high=1.0)


PRIOR = Claim(
    Reference("Notes", "Section 1"),
    "The density of the Dirichlet prior",
    r"\prod_i \xi_i^{\alpha_i} / B(\alpha)",
    Verdict.AMENDED,
    "The exponents are alpha_i - 1, and the die's throws are categorical; the update of the posterior is right.",
)
CANDIDATES = Claim(
    Reference("Notes", "Section 2.1"),
    "How many posteriors there are",
    r"|R| = n + 1",
    Verdict.AMENDED,
    "For two sides; in general C(n + m - 1, m - 1). Counted once for every table, they would make another mechanism.",
)
GLOBAL = Claim(
    Reference("Notes", "Section 2.1, the mechanism"),
    "The mechanism with global sensitivity is epsilon-differentially private",
    r"P[r] \propto e^{-\epsilon H / (2 \Delta_g)}",
    Verdict.LOOSE,
    "It loses half of epsilon at least, more with a firm prior; its weights hardly differ, so the error tends to 1.",
)
LOCAL = Claim(
    Reference("Notes", "Section 2.2"),
    "The mechanism with local sensitivity is not differentially private",
    r"P[r] \propto e^{-\epsilon H / (2 \Delta_l(x))}",
    Verdict.AMENDED,
    "It has no guarantee of epsilon, which it breaks for priors of about .3 and less; every finite law of full support "
    "has some epsilon, and for larger priors that was below the one asked for.",
)
BETA = Claim(
    Reference("Notes", "Section 2.3.1, beta"),
    "How fast the sensitivity is smoothed",
    r"\beta = \ln(1 - \epsilon / (2 \ln(\delta / (2(n+1)))))",
    Verdict.AMENDED,
    "n + 1 stands for |R|, which it is for two sides only.",
)
SMOOTH = Claim(
    Reference("Notes", "Section 2.3.1"),
    "The mechanism with smooth sensitivity is (epsilon, delta)-differentially private",
    r"P[r] \propto e^{-\epsilon H / (2 S_\beta(x))}",
    Verdict.UNCLEAR,
    "The lemmas do not show it, as they leave out the normaliser and the change from x to y; (1.5 epsilon, delta/2) is "
    "proved, and no violation of (epsilon, delta) was found.",
)
REDUCTION = Claim(
    Reference("Notes", "Section 3.1"),
    "The local sensitivity needs the neighbours only",
    r"\Delta_l u(x) = \max_{y'} H(\mathrm{BI}(y'), \mathrm{BI}(x))",
    Verdict.HOLDS,
    "By the triangle inequality, with equality at r = BI(x).",
)
FIGURE_1 = Claim(
    Reference("Notes", "Figure 1"),
    "The score moves most at r = BI(x)",
    r"\mathrm{BI}(x) \in \arg\max_r |H(\mathrm{BI}(x), r) - H(\mathrm{BI}(y'), r)|",
    Verdict.HOLDS,
    "Not there alone: the neighbour that is furthest away always ties with it.",
)
CLAIMS: tuple[Claim, ...] = (PRIOR, CANDIDATES, GLOBAL, LOCAL, BETA, SMOOTH, REDUCTION, FIGURE_1)
