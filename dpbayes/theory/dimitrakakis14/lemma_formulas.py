"""The formulas of the lemmas of [Dimitrakakis14] with the numbers of this setting in them, as Markdown."""

import math

import numpy as np

from dpbayes.base.text import escaped
from dpbayes.posteriors.smoothness import discrete_log_ratio_bound, hamming_weights
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import At, Subject
from dpbayes.theory.claims.text import ends, number
from dpbayes.theory.dimitrakakis14 import families
from dpbayes.theory.dimitrakakis14.answers import lemma_8 as le_cam
from dpbayes.theory.dimitrakakis14.empirical import largest_move, normal_variation
from dpbayes.theory.dimitrakakis14.game import NormalPair


def lemma_1(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 1."""
    printed, certified = ends(bound)
    n, level = at.knobs.size, at.knobs.level
    return f"""
- One record has the constant $L = {level:g}$; the table has $n = {n}$.
- **Printed**: $L \\cdot n = {level:g} \\cdot {n} = {printed}$, or $L \\cdot k$ where $k$ records differ.
- **Certified**: $L = {certified}$. Log-ratios and distances are both summed over the records, and tables that differ in
  one record reach it. For the mean of the distances $L \\cdot n$ would be right.
- Under Assumption 2 likewise: $c$ stays $c$, where the lemma prints $c/n$.
"""


def lemma_2(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 2."""
    printed, certified = ends(bound)
    n, delta, m = at.knobs.samples, at.knobs.delta, at.knobs.cells
    return f"""
- $n = {n}$ samples in $m = {m}$ cells; the lemma asks for $m \\le \\log_2 \\sqrt{{1/\\delta}} =
  {number(-math.log2(delta) / 2)}$.
- **Printed**: $\\sqrt{{\\tfrac3n \\ln\\tfrac1\\delta}} =
  \\sqrt{{\\tfrac{{3}}{{{n}}} \\ln\\tfrac{{1}}{{{number(delta)}}}}} = {printed}$.
- **Certified**, for any $m \\ge 2$ and every law: $\\sqrt{{\\tfrac2n \\ln\\tfrac{{2^m-2}}\\delta}}$, at most 2:
  ${certified}$.
- Measured on a fair die of {m} sides; the bounds are for all laws, of which some may be further off.
"""


def _exponent(at: At) -> str:
    return f"e^{{-\\lambda L}} = e^{{-{at.knobs.rate:g} \\cdot {at.knobs.level:g}}}"


def lemma_3(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 3."""
    printed, certified = ends(bound)
    return f"""
- Records $\\mathrm{{Exp}}(\\theta)$ have the constant $\\theta$, so that $\\theta > L = {at.knobs.level:g}$ is without
  constant $L$; $\\lambda = {at.knobs.rate:g}$.
- **Printed**: at most ${_exponent(at)} = {printed}$.
- **Certified**: ${certified}$, with equality, and for any number of records.
"""


def lemma_4(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 4."""
    printed, certified = ends(bound)
    level, literal = at.knobs.level, number(math.exp(-at.knobs.rate / at.knobs.level))
    return f"""
- Records of scale $s$ have the constant $1/s$, so that $1/s > L = {level:g}$ is without constant $L$;
  $1/s \\sim \\mathrm{{Exp}}(\\lambda)$, $\\lambda = {at.knobs.rate:g}$.
- **Printed**: at most ${_exponent(at)} = {printed}$, for the set $s \\ge L$. What is outside that set has mass
  $e^{{-\\lambda/L}} = {literal}$, and some of what is inside lacks the constant where $L < 1$.
- **Certified**: ${certified}$ for the set $s \\ge 1/L$, with equality, whatever the prior of $\\mu$ is.
"""


def lemma_5(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 5."""
    printed, certified = ends(bound)
    a, n, level = at.knobs.shape, at.knobs.size, at.knobs.level
    concentration = number(families.printed_beta_concentration(a, trials=n))
    with np.errstate(over="ignore"):
        smooth = number(float(families.lemma_5(a, at=level, trials=n).certified))
    return f"""
- One binomial record of $n = {n}$ trials under $\\mathrm{{Beta}}(a, a)$, $a = {a:g}$: it has the constant
  $\\ln n + |\\mathrm{{logit}}\\,\\theta|$, which is never below $\\ln n = {number(math.log(n))}$.
- **Printed**: at most $e^{{-cL}} = {printed}$, with the appendix’s $c = \\ln\\tfrac1v + a = {concentration}$,
  $v = \\tfrac{{2 n^a}}{{a B(a, a)}}$, and $L = {level:g}$.
- **Certified**: 1 up to $L = \\ln n$, then $2 I_z(a, a)$ with $z = n/(n + e^L)$: ${certified}$.
- The binomial coefficient has no parameter in it and may be left out. Then the mass is
  $2 I_{{1/(1 + e^L)}}(a, a) = {smooth}$, for every $n$.
"""


def lemma_6(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 6."""
    printed, certified = ends(bound)
    rate, level = at.knobs.rate, at.knobs.level
    mended = number(float(families.lemma_6(rate, at=level).certified))
    return f"""
- Records $N(0, \\sigma^2)$ have the constant $1/2\\sigma^2$, so that $\\sigma^2 < 1/2L = {number(1 / (2 * level))}$ is
  without constant $L = {level:g}$; $\\lambda = {rate:g}$.
- **Printed**: at most ${_exponent(at)} = {printed}$.
- **Certified**, exactly: $1 - e^{{-\\lambda/2L}} = {certified}$, which falls like $1/L$. Another mean makes it larger.
- With the precision $1/\\sigma^2 \\sim \\mathrm{{Exp}}(\\lambda)$ it would be $e^{{-2\\lambda L}} = {mended}$.
"""


def lemma_7(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 7."""
    printed, certified = ends(bound)
    network, least = subject.network, at.knobs.omega
    weights = hamming_weights(network)
    busy = int(np.argmax(weights))
    constant = number(max(discrete_log_ratio_bound(least, int(card)) for card in network.cards))
    exact = number(largest_move(network, least=least))
    return f"""
- No CPT entry is below $\\epsilon = \\omega = {least:g}$.
- **Printed**: $\\ln\\tfrac1\\epsilon = {printed}$ nats for one changed value.
- **Certified**: $L = \\ln\\tfrac{{1 - (r - 1)\\epsilon}}\\epsilon = {constant}$ in the node’s own term and in each of
  its children’s. {escaped(network.names[busy])} has the most, {int(weights[busy]) - 1}, so $L \\cdot
  {int(weights[busy])} = {certified}$ nats; exactly ${exact}$, by the states that each node has.
- It holds as printed where all nodes are independent; this network has {len(network.edges)}
  {"arrow" if len(network.edges) == 1 else "arrows"}.
"""


def lemma_8(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Lemma 8."""
    printed, certified = ends(bound)
    n, apart, answers = at.knobs.size, at.knobs.apart, at.knobs.answers
    pair = NormalPair(np.zeros(1), np.array([1.0 + n]), apart)
    exact = normal_variation(pair, answers=answers)
    worst = [number(float(le_cam(1 - each, distance=apart)[0])) for each in (bound.printed, bound.certified, exact)]
    return f"""
- Two tables of $n = {n}$ numbers that differ by $\\rho = {apart:g} = 2\\delta$ in one; a normal’s mean under $N(0, 1)$,
  variance 1. One draw from either posterior has $\\mathrm{{KL}} = \\rho^2/2(n + 1) = {number(float(pair.kl[0]))}$ nats,
  $-\\ln \\mathrm{{BC}} = {number(float(pair.affinity[0]))}$.
- The overlap $\\|\\xi_1 \\wedge \\xi_2\\|$ is 1 less the total variation distance. A guess at the table is off by
  $\\delta$ times the overlap on average, or more, for the worse of the two.
- **Printed**, for one answer: the distance ${printed}$, so off by ${worst[0]}$ or more.
- **Certified**, for $k = {answers}$: $\\sqrt{{1 - \\mathrm{{BC}}^{{2k}}}} = {certified}$, so off by ${worst[1]}$ or
  more. Exactly, $\\mathrm{{erf}}\\bigl(\\tfrac12 \\sqrt{{k \\, \\mathrm{{KL}}}}\\bigr) = {number(float(exact[0]))}$,
  so off by ${worst[2]}$ or more.
"""
