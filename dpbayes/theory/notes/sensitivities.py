"""The candidates of [Notes], the sensitivities of the Hellinger score, and the rate of their smoothing.

The prior is that of [Notes] Section 1, with exponents alpha - 1. Sensitivities are over all tables of the die's n
throws. Only functions with the argument `counts` depend on the throws.
"""

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.model.compositions import is_listable
from dpbayes.posteriors.hellinger import (
    Die,
    distances,
    global_sensitivity,
    hellinger_between,
    local_sensitivity,
    smoothing_rate,
)
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict, flat, joined, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Measured, certified_as_exact, exactly
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

NATS = "nats of privacy loss"
DIE = ("bounds.size", "bounds.sides")


MOST_LAWS = 300
"""The largest number of candidates for comparing the distributions of all tables, some 0.03 seconds per epsilon."""


def die_of(subject: Subject, at: EvaluationPoint) -> Die:
    """Return the die: the same prior for every side. Errors: InputError for a prior out of range."""
    return Die((subject.concentration,) * at.knobs.sides, at.knobs.size)


def plain_die(at: EvaluationPoint) -> Die:
    """Return a die for claims that do not depend on the prior."""
    return Die((1.0,) * at.knobs.sides, at.knobs.size)


def small_die(subject: Subject, at: EvaluationPoint) -> Die:
    """Return the die. Errors: InputError for too many candidates; it states the largest number of throws."""
    die = die_of(subject, at)
    die.require_listable(MOST_LAWS)
    return die


def even_counts(die: Die) -> IntArray:
    """Return the counts (m,) of the most even table."""
    return die.n // die.sides + (np.arange(die.sides) < die.n % die.sides).astype(np.int64)


def die_description(die: Die) -> str:
    """Return a description of the die for a formula."""
    prior = f", prior ${number(die.prior[0])}$ for each,"
    return f"A die of $m = {die.sides}$ sides{prior} thrown $n = {number(die.n)}$ times"


def evaluate_over_epsilons(at: EvaluationPoint, bound: Callable[[float], Bound]) -> Bound:
    """Return a bound at every epsilon."""
    return joined([flat(bound(epsilon)) for epsilon in at.epsilon])


MOST_ENUMERATED = 6_000
"""The largest number of candidates for enumerating the local sensitivity."""


PRIOR = Claim(
    Reference("Notes", "Section 1"),
    "The Dirichlet prior has the stated density",
    r"\prod_i \xi_i^{\alpha_i} / B(\alpha)",
    Verdict.AMENDED,
    "The exponents must be αᵢ - 1, and the throws of the die are categorical. The update of the posterior is correct.",
)


# Candidates

CANDIDATES = Claim(
    Reference("Notes", "Section 2.1"),
    "There are n + 1 candidate posteriors",
    r"|R| = n + 1",
    Verdict.AMENDED,
    "The number is correct for two sides. In general, there are C(n + m - 1, m - 1) posteriors. Listing a posterior "
    "once for every table would define a different mechanism.",
)


def candidates(die: Die) -> Bound:
    """Return |R|: printed n + 1, right C(n + m - 1, m - 1). [Notes] Section 2.1 and Lemma 2.2."""
    return Bound(
        CANDIDATES,
        np.asarray(die.n + 1.0),
        np.asarray(float(die.size)),
        "candidates",
        assumptions=(Assumption("The die has two sides", die.sides == 2),),
    )


def _candidate_count_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    n, m = at.knobs.size, at.knobs.sides
    return f"""
- A die of $m = {m}$ sides thrown $n = {number(n)}$ times.
- **As stated**: $n + 1 = {bound.stated}$ posteriors.
- **Proved**: $\\binom{{n + m - 1}}{{m - 1}} = \\binom{{{number(n + m - 1)}}}{{{m - 1}}} = {bound.proved}$, the ways to
  share $n$ throws among $m$ sides. Tables with the same counts have the same posterior, which is listed once.
"""


# Smoothing

BETA = Claim(
    Reference("Notes", "Section 2.3.1, beta"),
    "β smooths the sensitivity fast enough",
    r"\beta = \ln(1 - \epsilon / (2 \ln(\delta / (2(n+1)))))",
    Verdict.AMENDED,
    "The formula needs the number of candidate posteriors. This number is n + 1 for two sides only.",
)


def smoothing(die: Die, *, epsilon: float, delta: float) -> Bound:
    """Return beta = ln(1 + epsilon/(2 ln(2 |R|/delta))), printed with n + 1 for |R|. [Notes] Section 2.3.1, beta.

    The proofs require a beta of at most the certified value.
    """
    return Bound(
        BETA,
        np.asarray(math.log1p(epsilon / (2 * math.log(2 * (die.n + 1) / delta)))),
        np.asarray(smoothing_rate(die, epsilon=epsilon, delta=delta)),
        "1 / replaced record",
        assumptions=(Assumption("The die has two sides", die.sides == 2),),
    )


def _largest_rate(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Return the largest rate for which the proofs hold; a larger printed rate fails."""
    measured = exactly(bound.certified, printed=bound.printed, name="largest that is proved")
    return replace(measured, violated=bound.printed > bound.certified * (1 + 1e-9))


def _smoothing_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    epsilon, delta, n, size = at.epsilon[0], at.knobs.delta, at.knobs.size, plain_die(at).size
    return f"""
- **As stated**: $\\ln\\bigl(1 - \\frac{{\\epsilon}}{{2 \\ln(\\delta/(2(n+1)))}}\\bigr) = \\ln\\bigl(1 -
  \\frac{{{epsilon:g}}}{{2 \\ln({number(delta)}/(2 \\cdot {number(n + 1)}))}}\\bigr) = {bound.stated}$.
- **Proved**: the same with $|R| = {number(size)}$ candidates for $n + 1$: ${bound.proved}$. The proofs about the
  mechanism need a $\\beta$ of at most this value.
"""


# Local sensitivity

REDUCTION = Claim(
    Reference("Notes", "Section 3.1"),
    "The distance of two posteriors bounds the change of every score",
    r"\Delta_l u(x) = \max_{y'} H(\mathrm{BI}(y'), \mathrm{BI}(x))",
    Verdict.HOLDS,
    "The claim follows from the triangle inequality, with equality at r = BI(x).",
)


def reduction(die: Die, *, counts: ArrayLike) -> Bound:
    """Return the local sensitivity at `counts` (m,), by the neighbours and over all candidates. [Notes] Section 3.1.

    Printed is max_y H(x, y) over the neighbours. Certified is `largest_change`, which is equal, for up to
    MOST_ENUMERATED candidates. For more candidates, it is computed from the distance to each neighbour, because by the
    triangle inequality no score changes by more.
    """
    here = die.checked(counts)
    is_small = is_listable(die.n, sides=die.sides, most=MOST_ENUMERATED)
    certified = largest_change(die, counts=here) if is_small else _furthest(die, here)
    return Bound(
        REDUCTION, np.asarray(local_sensitivity(die, counts=here)), np.asarray(certified), "Hellinger distance"
    )


def largest_change(die: Die, *, counts: ArrayLike) -> float:
    """Return max_y max_r |H(x, r) - H(y, r)| at `counts` (m,), enumerating all candidates r. [Notes] Section 3.1."""
    return float(score_changes(die, die.checked(counts)).max(initial=0.0))


def score_changes(die: Die, here: IntArray) -> FloatArray:
    """Return the change of each candidate's score for each neighbour of a table: (neighbours, R). [Notes] Figure 1."""
    listed, own = die.candidates, distances(die, counts=here)
    near = listed[np.abs(listed - here).sum(axis=1) == 2]
    return np.array([np.abs(distances(die, counts=y) - own) for y in near]).reshape(-1, len(listed))


def _furthest(die: Die, here: IntArray) -> float:
    unit = np.eye(die.sides, dtype=np.int64)
    near = here + (unit[:, None] - unit)[unit == 0]
    possible = near[(near >= 0).all(axis=1)]
    return float(hellinger_between(die, first=here, second=possible).max(initial=0.0))


def enumerated(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Return the largest change of a score over all candidates, if they are few enough to enumerate."""
    few = is_listable(at.knobs.size, sides=at.knobs.sides, most=MOST_ENUMERATED)
    exact = bound.certified if few else np.full(bound.certified.shape, np.nan)
    return exactly(exact, printed=bound.printed, name="largest change over all candidates")


def _reduction_text(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    die = die_of(subject, at)
    even = ", ".join(number(count) for count in even_counts(die))
    one_side = np.array([die.n] + [0] * (die.sides - 1))
    return f"""
- {die_description(die)}; the most even table is $x = ({even})$.
- **As stated**: $\\max_{{y'}} H(\\mathrm{{BI}}(y'), \\mathrm{{BI}}(x)) = {bound.stated}$ over the neighbours alone.
- **Proved**: ${bound.proved}$. If there are few enough candidates $r$, all are enumerated. Otherwise the value is the
  largest distance to a neighbour, which no $r$ can exceed by the triangle inequality.
- With all throws on one side, the local sensitivity is ${number(local_sensitivity(die, counts=one_side))}$. The
  largest local sensitivity over all tables is $\\Delta_g = {number(global_sensitivity(die))}$.
"""


FIGURE_1 = Claim(
    Reference("Notes", "Figure 1"),
    "One record changes the score most at the exact posterior",
    r"\mathrm{BI}(x) \in \arg\max_r |H(\mathrm{BI}(x), r) - H(\mathrm{BI}(y'), r)|",
    Verdict.HOLDS,
    "The maximum is also reached at the most distant neighbour.",
)


EXHIBITS: dict[str, Exhibit] = {
    "NOTES_CANDIDATES": Exhibit(
        CANDIDATES,
        lambda subject, at: flat(candidates(plain_die(at))),
        _candidate_count_text,
        (Axis.SIZE,),
        "{} candidates",
        "candidates, distinct posteriors",
        also=DIE,
        defaults=(("sides", 3),),
        measure=certified_as_exact("exact number"),
    ),
    "NOTES_REDUCTION": Exhibit(
        REDUCTION,
        lambda subject, at: flat(reduction(die_of(subject, at), counts=even_counts(die_of(subject, at)))),
        _reduction_text,
        (Axis.SIZE, Axis.PRIOR),
        "a local sensitivity of {} at the most even table",
        "local sensitivity, Hellinger distance",
        also=DIE,
        measure=enumerated,
    ),
    "NOTES_BETA": Exhibit(
        BETA,
        lambda subject, at: evaluate_over_epsilons(
            at, lambda epsilon: smoothing(plain_die(at), epsilon=epsilon, delta=at.knobs.delta)
        ),
        _smoothing_text,
        (Axis.EPSILON, Axis.DELTA, Axis.SIZE),
        "a smoothing parameter of {}",
        "smoothing parameter β, per replaced record",
        also=DIE,
        says=BoundKind.ENOUGH,
        defaults=(("sides", 3),),
        measure=_largest_rate,
    ),
}
