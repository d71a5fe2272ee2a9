"""The formulas of the rest of [Zhang16] with the numbers of this setting in them, as Markdown, and those numbers."""

import math

import numpy as np
from scipy import special

from dpbayes.audit.gaussian import likelihood_range
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.sensitivity import count_sensitivity
from dpbayes.model.regression import Moments
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import At, Subject
from dpbayes.theory.claims.text import ends, number

SHARE = 0.01
"""The share of the success that gives most away, in the mechanism that re-running is shown for."""


def first_success_loss(epsilon: FloatArray, share: float = SHARE) -> FloatArray:
    """Return the exact loss of handing over the first success of one epsilon-private mechanism: (E,).

    Successes are rare, and one of them is a `share` of all; a neighbour makes it e^epsilon times rarer and the others
    e^epsilon times more frequent, so that it becomes share e^-epsilon/(share e^-epsilon + (1 - share) e^epsilon) of
    all. [Zhang16] Section 3.2, Re-running.
    """
    return 2 * epsilon + np.log1p(share * np.expm1(-2 * epsilon))


def node_constants(subject: Subject, at: At) -> FloatArray:
    """Return the constants L i/|I| of the nodes i = 1 .. |I|: (|I|,). [Zhang16] Lemma 2."""
    nodes = len(subject.network.names)
    return at.knobs.level * np.arange(1, nodes + 1) / nodes


# Counts


def lemma_1(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Lemma 1."""
    printed, certified = ends(bound)
    nodes = len(subject.network.names)
    return f"""
- A record is in one cell of each of $|I| = {nodes}$ tables; replacing it takes 1 from that cell and adds 1 to another.
- **Printed**: $2|I| = 2 \\cdot {nodes} = {printed}$, whatever $n$ is: the line is level.
- **Certified**: 2 for each node whose family has more than one cell, ${certified}$.
- **Exact**: the counts of two records that differ in every column, one taken from the other.
"""


def corollary_1(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Corollary 1."""
    printed, certified = ends(bound)
    nodes, moved = len(subject.network.names), count_sensitivity(subject.network)
    scale = 2 * nodes / at.epsilon[0]
    return f"""
- The noise has scale $b = 2|I|/\\epsilon = 2 \\cdot {nodes}/{at.epsilon[0]:g} = {number(scale)}$ records.
- **Printed**: $\\epsilon = {printed}$ nats.
- **Certified**: ${moved}/b = {moved}/{number(scale)} = {certified}$ nats, as one record moves ${moved}$ counts by 1.
- **Exact**: two records that differ in every column. Rounding to $[0, n]$ takes nothing away: counts that come out as
  0 and as $n$ lose as much.
"""


def reruns(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Section 3.2, Re-running."""
    printed, certified = ends(bound)
    return f"""
- Runs go on until the first success, and that alone is handed over; $\\epsilon = {at.epsilon[0]:g}$.
- **Printed**: $R\\epsilon = {at.knobs.runs:g} \\cdot {at.epsilon[0]:g} = {printed}$ nats.
- **Certified**: $\\min(R, 2)\\,\\epsilon = {certified}$ nats: what is handed over has probability $P(A, S)/P(S)$, and
  each of the two moves by $e^\\epsilon$ at most.
- **Exact**, for two runs or more: $2\\epsilon + \\ln\\bigl(1 - p\\,(1 - e^{{-2\\epsilon}})\\bigr)$, $p = {SHARE:g}$. Of
  the successes, which are rare, a share $p$ is the same one; a neighbouring table makes it $e^\\epsilon$ times rarer
  and the others $e^\\epsilon$ times more frequent. As $p$ goes to 0 the certified loss is reached.
"""


# Smoothness


def lemma_2(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Lemma 2."""
    printed, certified = ends(bound)
    nodes, level = len(subject.network.names), f"{at.knobs.level:g}"
    return f"""
- A network of $|I| = {nodes}$ binary nodes, as many as here, with constants $L_i = L\\,i/|I|$, $L = {level}$; a
  record that changes every family by distance $\\rho_i = 1$.
- **Printed**: $\\max_i L_i \\sum_i \\rho_i = {level} \\cdot {nodes} = {printed}$ nats.
- **Certified**: $\\sum_i L_i \\rho_i = L\\,(|I| + 1)/2 = {certified}$ nats.
- **Exact**: every node has probabilities $1/(1 + e^{{\\pm L_i}})$, and goes from the likelier state to the other one.
"""


def lemma_3(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Lemma 3."""
    _, certified = ends(bound)
    nodes, c, start, level = len(subject.network.names), at.knobs.concentration, at.knobs.start, at.knobs.level
    combined = c - math.log(nodes) / start
    if combined <= 0:
        says = f"nothing, for $c' = {c:g} - \\ln {nodes}/{start:g} = {number(combined)}$ is not positive."
    elif level < start:
        says = f"nothing, for $L = {level:g}$ is below $L_0 = {start:g}$."
    else:
        says = (
            f"$c' = c - \\ln|I|/L_0 = {c:g} - \\ln {nodes}/{start:g} = {number(combined)}$, hence "
            f"$e^{{-c'L}} = e^{{-{number(combined)} \\cdot {level:g}}} = {number(float(bound.printed[0]))}$."
        )
    return f"""
- A network of $|I| = {nodes}$ independent exponential nodes, as many as here, each with rate
  $\\theta_i \\sim \\mathrm{{Exp}}(c)$, $c = {c:g}$. A node has constant $L$ where $\\theta_i \\le L$.
- **Printed**: {says}
- **Certified**: $|I|\\,e^{{-cL}}$, at most 1: ${certified}$. These nodes are concentrated from every $L_0$ on, so that
  this holds for $L < L_0$ as well.
- **Exact**: $1 - (1 - e^{{-cL}})^{{|I|}}$.
"""


# The mode


def algorithm_3(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Algorithm 3."""
    printed, certified = ends(bound)
    ratio = at.knobs.log_ratio
    return f"""
- One row with prior $\\mathrm{{Beta}}(a, a)$, $a = {number(subject.concentration)}$, $n = {at.knobs.size:g}$ records,
  trimmed to $[\\omega, 1-\\omega]$, $\\omega = 1/(1 + e^{{L\\rho}}) = {number(float(special.expit(-ratio)))}$.
- **Printed**: $\\Delta = \\sqrt{{L\\rho}} = \\sqrt{{{ratio:g}}} = {printed}$, whatever $n$ is.
- **Certified**, and exact: over all tables of $n$ records and all $\\theta$, one record moves the posterior density by
  up to ${certified}$.
- Scored by the posterior mass of a set instead, $\\Delta$ is enough, and $\\tanh(L\\rho/2) =
  {number(math.tanh(ratio / 2))}$ as well.
"""


# Regression


def worst_range(at: At, *, features: int) -> FloatArray:
    """Return by how much the log-likelihood ratio of two records varies over the ball: (1,).

    The loss of a draw comes as near to it as one likes, under a prior with nearly all mass where the ratio is least.
    Both records have y = -1 and a feature vector of length 1, one turned about from the other up to B = 1, and by less
    beyond if there are two features to turn in: no two records have a larger range then. [Zhang16] Appendix D.
    """
    b = at.knobs.norm_bound
    cosine = -1 / b if features > 1 and b > 1 else -1.0
    turned = np.array([cosine, math.sqrt(1 - cosine * cosine)])
    first, second = (Moments(np.outer(x, x), -x, np.asarray(1.0), 1) for x in (np.array([1.0, 0.0]), turned))
    return np.atleast_1d(likelihood_range(first, second, noise_variance=at.knobs.noise_variance, norm_bound=b))


def appendix_d(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Appendix D."""
    printed, certified = ends(bound)
    knobs = at.knobs
    b, d, n, variance = (f"{value:g}" for value in (knobs.norm_bound, knobs.features, knobs.size, knobs.noise_variance))
    apart = number(2 * math.sqrt(2) * float(bound.printed[0]))
    return f"""
- $n = {n}$ records with $d = {d}$ features in the unit ball, $|y| \\le 1$, $\\|w\\|_2 \\le B = {b}$,
  $\\sigma^2 = {variance}$. Over the ball $\\|w\\|_1$ is $\\sqrt d\\,B$ at most.
- **Printed**, for one draw: $\\frac{{n}}{{\\sigma^2}}(1 + 2\\sqrt d\\,B + d\\,B) =
  \\frac{{{n}}}{{{variance}}}(1 + 2\\sqrt{{{d}}} \\cdot {b} + {d} \\cdot {b}) = {printed}$ nats. Read as $2 L \\rho$
  for records $\\rho = 2\\sqrt 2$ apart it is ${apart}$.
- **Certified**, for $N = {at.draws}$: ${_certified_range(at, at.draws)} = {certified}$ nats, {_case(at)},
  whatever $n$ and $d$ are.
- **Exact**: {_pair(at, knobs.features)}
"""


def gradient_norm(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Appendix D, the norm of the gradient."""
    printed, certified = ends(bound)
    knobs = at.knobs
    b, d, variance = f"{knobs.norm_bound:g}", f"{knobs.features:g}", f"{knobs.noise_variance:g}"
    return f"""
- One record with $d = {d}$ features in the unit ball, $|y| \\le 1$; weights $\\|w\\|_2 \\le B = {b}$;
  $\\sigma^2 = {variance}$.
- **Printed**, at its largest over the ball: $\\frac{{1}}{{2\\sigma^2}}(1 + 2\\sqrt d\\,B + d\\,B) =
  \\frac{{1}}{{2 \\cdot {variance}}}(1 + 2\\sqrt{{{d}}} \\cdot {b} + {d} \\cdot {b}) = {printed}$.
- **Certified**: $\\frac{{1}}{{\\sigma^2}}(1 + B)\\sqrt{{1 + B^2}} = {certified}$.
- **Exact**: the gradient where $w = (B, 0, \\dots)$, $x = (-1, 0, \\dots)$ and $y = 1$.
"""


def proportional(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Section 5.2."""
    printed, certified = ends(bound)
    b, variance = f"{at.knobs.norm_bound:g}", f"{at.knobs.noise_variance:g}"
    return f"""
- No factor is printed: taken is the one that is right for small $B$.
- **Printed**: $4B/\\sigma^2 = 4 \\cdot {b}/{variance} = {printed}$ nats.
- **Certified**, for one draw: ${_certified_range(at, 1)} = {certified}$ nats, {_case(at)}.
- **Exact**: {_pair(at, 2)}
"""


def _certified_range(at: At, draws: int) -> str:
    """The certified loss in the case that holds."""
    b, variance = f"{at.knobs.norm_bound:g}", f"{at.knobs.noise_variance:g}"
    symbol, times = ("N \\cdot ", f"{draws} \\cdot ") if draws > 1 else ("", "")
    if at.knobs.norm_bound <= 1:
        return f"{symbol}4B/\\sigma^2 = {times}4 \\cdot {b}/{variance}"
    return f"{symbol}(1 + B)^2/\\sigma^2 = {times}(1 + {b})^2/{variance}"


def _case(at: At) -> str:
    return "as $B \\le 1$" if at.knobs.norm_bound <= 1 else "as $B > 1$"


def _pair(at: At, features: int) -> str:
    """The tables whose exact loss is shown."""
    b = at.knobs.norm_bound
    turned = "turned about" if b <= 1 or features == 1 else "turned so that the two have $x'x^* = -1/B$"
    short = " With one feature that is not the largest loss." if b > 1 and features == 1 else ""
    return (
        f"tables that differ in one record: $y = -1$ and a feature vector of length 1, or the same with $x$ {turned}. "
        f"Under a prior with nearly all its mass at one point of the ball, the loss is the range of their "
        f"log-likelihood ratio.{short}"
    )
