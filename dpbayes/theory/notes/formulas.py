"""The formulas of the [Notes] on the Bounds page with the numbers of this setting in them, as Markdown."""

import math

import numpy as np

from dpbayes.base.types import IntArray
from dpbayes.posteriors.hellinger import (
    Die,
    global_sensitivity,
    local_sensitivity,
    smooth_sensitivities,
    smoothing_rate,
)
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import At, Subject
from dpbayes.theory.claims.text import ends, number
from dpbayes.theory.notes import mechanisms as notes


def die_of(subject: Subject, at: At) -> Die:
    """Return the die: the same prior for every side. Errors: InputError for a prior out of range."""
    return Die((subject.concentration,) * at.knobs.sides, at.knobs.size)


def plain_die(at: At) -> Die:
    """Return a die for what does not depend on the prior."""
    return Die((1.0,) * at.knobs.sides, at.knobs.size)


def even_counts(die: Die) -> IntArray:
    """Return the counts (m,) of the most even table."""
    return die.n // die.sides + (np.arange(die.sides) < die.n % die.sides).astype(np.int64)


def _thrown(die: Die) -> str:
    prior = f", prior ${number(die.prior[0])}$ for each,"
    return f"A die of $m = {die.sides}$ sides{prior} thrown $n = {number(die.n)}$ times"


def candidates(subject: Subject, at: At, bound: Bound) -> str:
    """[Notes] Section 2.1, |R|."""
    printed, certified = ends(bound)
    n, m = at.knobs.size, at.knobs.sides
    return f"""
- A die of $m = {m}$ sides thrown $n = {number(n)}$ times.
- **Printed**: $n + 1 = {printed}$ posteriors.
- **Certified**: $\\binom{{n + m - 1}}{{m - 1}} = \\binom{{{number(n + m - 1)}}}{{{m - 1}}} = {certified}$, the ways to
  share $n$ throws among $m$ sides. Tables with the same counts have the same posterior, and it is listed once.
"""


def reduction(subject: Subject, at: At, bound: Bound) -> str:
    """[Notes] Section 3.1, at the most even table and, for comparison, with all throws on one side."""
    printed, certified = ends(bound)
    die = die_of(subject, at)
    even = ", ".join(number(count) for count in even_counts(die))
    one_side = np.array([die.n] + [0] * (die.sides - 1))
    return f"""
- {_thrown(die)}; the most even table is $x = ({even})$.
- **Printed**: $\\max_{{y'}} H(\\mathrm{{BI}}(y'), \\mathrm{{BI}}(x)) = {printed}$ over the neighbours alone.
- **Certified**: ${certified}$. Enumerated are all $r$ where there are few enough; otherwise it is the largest distance
  to a neighbour, beyond which no $r$ goes by the triangle inequality.
- With all throws on one side it is ${number(local_sensitivity(die, counts=one_side))}$; the largest over all tables is
  $\\Delta_g = {number(global_sensitivity(die))}$.
"""


def smoothing(subject: Subject, at: At, bound: Bound) -> str:
    """[Notes] Section 2.3.1, beta."""
    printed, certified = ends(bound)
    epsilon, delta, n, size = at.epsilon[0], at.knobs.delta, at.knobs.size, plain_die(at).size
    return f"""
- **Printed**: $\\ln\\bigl(1 - \\frac{{\\epsilon}}{{2 \\ln(\\delta/(2(n+1)))}}\\bigr) = \\ln\\bigl(1 -
  \\frac{{{epsilon:g}}}{{2 \\ln({number(delta)}/(2 \\cdot {number(n + 1)}))}}\\bigr) = {printed}$.
- **Certified**: the same with $|R| = {number(size)}$ candidates for $n + 1$: ${certified}$. What is proved of the
  mechanism needs a $\\beta$ that is no larger.
"""


def global_mechanism(subject: Subject, at: At, bound: Bound) -> str:
    """[Notes] Section 2.1, the mechanism."""
    printed, certified = ends(bound)
    die = die_of(subject, at)
    return f"""
- {_thrown(die)}: $|R| = {die.size}$ candidates, $\\Delta_g = {number(global_sensitivity(die))}$.
- **Printed**: $\\epsilon = {printed}$ nats.
- **Certified**: ${certified}$ nats, the exact loss: the largest $|\\ln P_x[r] - \\ln P_y[r]|$ over all neighbours and
  all candidates. It is for this $n$ and prior.
"""


def local_mechanism(subject: Subject, at: At, bound: Bound) -> str:
    """[Notes] Section 2.2."""
    printed, certified = ends(bound)
    die = die_of(subject, at)
    low, high = (number(float(end)) for end in (die.local_sensitivities.min(), die.local_sensitivities.max()))
    return f"""
- {_thrown(die)}: $|R| = {die.size}$ candidates, $\\Delta_l(x)$ from ${low}$ to ${high}$.
- **Printed** is no promise: $\\epsilon = {printed}$ nats is what these weights would lose at most if $\\Delta_l$ were
  the same for all tables.
- **Certified**: ${certified}$ nats, the exact loss for this $n$ and prior. It may be below $\\epsilon$; no proof says
  that it is.
"""


def smooth_mechanism(subject: Subject, at: At, bound: Bound) -> str:
    """[Notes] Section 2.3.1."""
    printed, certified = ends(bound)
    die, epsilon, delta = die_of(subject, at), at.epsilon[0], at.knobs.delta
    beta = smoothing_rate(die, epsilon=epsilon, delta=delta)
    smooth = smooth_sensitivities(die, beta=beta)
    pure = number(notes.smooth_loss(die, epsilon=epsilon, delta=delta))
    return f"""
- {_thrown(die)}: $|R| = {die.size}$ candidates, $\\beta = {number(beta)}$, $S_\\beta(x)$ from
  ${number(float(smooth.min()))}$ to ${number(float(smooth.max()))}$.
- **Printed**: $\\epsilon = {printed}$ nats with $\\delta = {number(delta)}$.
- **Certified**: ${certified}$ nats with $\\delta/2 = {number(delta / 2)}$.
- The exact loss at $\\delta$ is the least $\\epsilon'$ with which no neighbours exceed $\\delta$, for this $n$ and
  prior. Without any $\\delta$ it is ${pure}$ nats.
"""


def sliding(subject: Subject, at: At, bound: Bound) -> str:
    """[Notes] Lemma 2.1."""
    printed, certified = ends(bound)
    epsilon, shift = at.epsilon[0], at.knobs.shift
    return f"""
- **Printed**: $e^{{\\epsilon/2}} = e^{{{epsilon:g}/2}} = {printed}$, for shifts of up to $S(x)$.
- **Certified**: $e^{{\\epsilon s/2}} = e^{{{epsilon:g} \\cdot {shift:g}/2}} = {certified}$ for a shift of
  $s\\,S(x)$, which it is exactly.
- Both are of weights before they are normalised, of one and the same table. Of probabilities it is false: there may
  be no candidate with the moved score.
"""


def dilation(subject: Subject, at: At, bound: Bound) -> str:
    """[Notes] Lemma 2.2."""
    printed, certified = ends(bound)
    die, epsilon, rate = die_of(subject, at), at.epsilon[0], at.knobs.rate
    tail = f"e^{{-{epsilon:g}/{number(2 * math.expm1(rate))}}}"
    return f"""
- {_thrown(die)}. A score below $-S(x)/(e^\\lambda - 1)$ is too low: the weight of $e^\\lambda$ times it may be
  smaller by more than $e^{{\\epsilon/2}}$.
- **Printed**: $(n+1)\\,e^{{-\\epsilon/(2(e^\\lambda - 1))}} = {number(die.n + 1)} \\cdot {tail} = {printed}$,
  at most 1.
- **Certified**: the same with $|R| = {number(die.size)}$ candidates for $n + 1$: ${certified}$.
- Exactly: every table's law summed over such scores, and the largest of these sums. $S$ is smoothed with
  $\\beta = \\lambda$, as the lemma is for $\\lambda$ up to $\\beta$.
"""
