"""The formulas of [Dimitrakakis14] with the numbers of this setting in them, as Markdown."""

import math

import numpy as np

from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import At, Subject
from dpbayes.theory.claims.text import ends, number
from dpbayes.theory.dimitrakakis14.answers import concentrated_cost
from dpbayes.theory.dimitrakakis14.game import KAPPA, BetaPair, GammaPair, printed_answers, printed_answers_tail
from dpbayes.theory.dimitrakakis14.robustness import loss_of_rare_parameter

MASSES = (0.1, 1e-2, 1e-4, 1e-6)
"""Prior masses whose losses are listed."""


def remark_1(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Remark 1."""
    printed, certified = ends(bound)
    k, d = at.knobs.changed, number(at.knobs.delta)
    e, together = number(at.epsilon[0]), number(k * at.epsilon[0])
    return f"""
- Neighbours are $(\\epsilon, \\delta)$-private with $\\epsilon = {e}$, $\\delta = {d}$; $k = {k}$ records differ, at
  $k\\epsilon = {together}$ nats.
- **Printed**, by Definition 2: $k \\delta = {k} \\cdot {d}$, at most 1: ${printed}$.
- **Certified**: $\\delta\\,\\frac{{e^{{k\\epsilon}} - 1}}{{e^\\epsilon - 1}}$, at most 1: ${certified}$.
- **Exactly**, for the worst chain of $k + 1$ tables: an event impossible under the first has probability $p_k$ under
  the last, $p_0 = 0$, $p_{{j+1}} = \\min\\{{e^\\epsilon p_j + \\delta,\\; 1 - e^{{-\\epsilon}}(1 - \\delta - p_j)\\}}$.
"""


def theorem_1_i(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Theorem 1(i)."""
    printed, certified = ends(bound)
    moved = at.knobs.log_ratio
    ratio = number(2 * moved / math.expm1(2 * moved))
    return f"""
- **Printed**: $2 L \\rho = 2 \\cdot {number(moved)} = {printed}$ nats.
- **Certified**, with $\\eta = 2 L \\rho$ and $r = \\eta/(e^\\eta - 1) = {ratio}$: $r - 1 - \\ln r = {certified}$ nats.
  Two parameters, of suitable prior masses, attain it. About $(L\\rho)^2/2 = {number(moved**2 / 2)}$ where that is
  small.
"""


def _pair(at: At) -> str:
    n, apart = at.knobs.size, at.knobs.apart
    return (
        f"Exponential records, $n = {n}$, rate $\\theta \\sim \\text{{Exp}}(1)$, so $c = 1$; all are 0 in $x$, and "
        f"one is $\\rho = {number(apart)}$ in $y$. Posteriors: $\\text{{Gamma}}({n + 1}, 1)$ and "
        f"$\\text{{Gamma}}({n + 1}, {number(1 + apart)})$"
    )


def theorem_1_ii(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Theorem 1(ii)."""
    printed, certified = ends(bound)
    n, apart = at.knobs.size, at.knobs.apart
    exact = GammaPair(np.asarray(n + 1.0), np.asarray(1.0), apart).kl
    return f"""
- {_pair(at)}.
- **Printed**: $\\kappa\\rho/c = {KAPPA:.4f} \\cdot {number(apart)} = {printed}$ nats; $n$ is not in it.
- **Certified**: $\\rho\\,(\\mathbb E_x \\ell + \\mathbb E_y \\ell) = {number(apart)} \\cdot {n + 1}\\,
  \\bigl(1 + \\tfrac1{{1 + \\rho}}\\bigr) = {certified}$ nats, even for the sum of both divergences.
- **Exactly**: $(n + 1)(\\rho - \\ln(1 + \\rho)) = {number(float(exact))}$ nats.
"""


def theorem_2_i(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Theorem 2(i), and the losses at parameters of several prior masses."""
    printed, certified = ends(bound)
    moved = at.knobs.log_ratio
    losses = [
        f"${number(float(loss))}$ at mass ${number(mass)}$"
        for mass, loss in zip(MASSES, loss_of_rare_parameter(MASSES, log_ratio=moved), strict=True)
    ]
    return f"""
- **Printed**: $2 L \\rho = 2 \\cdot {number(moved)} = {printed}$ nats.
- **Certified**: the same, ${certified}$ nats.
- **Reached** where two parameters are equally likely under $y$ and the log-likelihood of $x$ is $L\\rho$ more at the
  one, $L\\rho$ less at the other. The first loses {", ".join(losses)}; ${printed}$ as the prior makes it ever rarer.
"""


def theorem_2_ii(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Theorem 2(ii)."""
    printed, certified = ends(bound)
    n, apart = at.knobs.size, at.knobs.apart
    pair = GammaPair(np.asarray(n + 1.0), np.asarray(1.0), apart)
    moved, affinity = number(float(pair.movement)), number(math.exp(-float(pair.affinity)))
    crossing = number((n + 1) * math.log1p(apart) / apart)
    return f"""
- {_pair(at)}.
- **Printed**: $\\sqrt{{\\kappa\\rho/2c}} = \\sqrt{{{KAPPA:.4f} \\cdot {number(apart)}/2}} = {printed}$; $n$ is
  not in it, and from 1 up it says nothing.
- **Certified**: $\\min\\bigl\\{{\\tfrac12\\sqrt{{\\rho\\,(\\mathbb E_x \\ell + \\mathbb E_y \\ell)}},\\;
  \\sqrt{{1 - BC^2}}\\bigr\\}} = {certified}$, with $\\rho\\,(\\mathbb E_x \\ell + \\mathbb E_y \\ell) = {moved}$ and
  the Bhattacharyya coefficient $BC = {affinity}$.
- **Exactly**: the densities cross once, at $(n + 1) \\ln(1 + \\rho)/\\rho = {crossing}$, and the distance
  is the difference of the masses below.
"""


def theorem_3(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Theorem 3 (4.3)."""
    moved, d = at.knobs.log_ratio, at.knobs.error
    affinity = float(BetaPair(np.asarray(2.0), np.asarray(1.0), 1, moved).affinity)
    return f"""
- One throw of a coin, heads against tails, under a Beta(1, 1) prior with log-odds trimmed to $\\pm {number(moved)}$;
  the adversary may lose a share $d = {number(d)}$ of games.
- **Printed**: $\\frac{{3}}{{4 L \\rho}} \\ln\\frac1d = \\frac{{3}}{{4 \\cdot {number(moved)}}}
  \\ln\\frac1{{{number(d)}}} = {number(printed_answers(moved, error=d))}$.
{_bracket(bound, affinity, d)}"""


def theorem_3_tail(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Theorem 3 (4.4)."""
    apart, d = at.knobs.apart, at.knobs.error
    affinity = float(GammaPair(np.asarray(2.0), np.asarray(1.0), apart).affinity)
    printed = number(printed_answers_tail(1.0, apart, error=d))
    return f"""
- One exponential record, 0 against $\\rho = {number(apart)}$, rate $\\theta \\sim \\text{{Exp}}(1)$, so $c = 1$; the
  adversary may lose a share $d = {number(d)}$ of games.
- **Printed**: $\\frac{{3 c}}{{2 \\kappa \\rho}} \\ln\\frac1d =
  \\frac{{3}}{{2 \\cdot {KAPPA:.4f} \\cdot {number(apart)}}} \\ln\\frac1{{{number(d)}}} = {printed}$.
{_bracket(bound, affinity, d)}- **Exactly**: all that $N$ answers tell is in their sum, whose law is
  $\\text{{Gamma}}(2N, 1)$ or $\\text{{Gamma}}(2N, {number(1 + apart)})$; the least $N$ whose overlap is at most $2d$.
"""


def _bracket(bound: Bound, affinity: float, d: float) -> str:
    b = number(affinity)
    least, most = -math.log(4 * d * (1 - d)) / (2 * affinity), -math.log(2 * d) / affinity
    return f"""- **Needed**, with $b = -\\ln BC = {b}$: at least
  $\\frac1{{2b}} \\ln\\frac1{{4d(1-d)}} = {number(least)}$.
- **Certified**: $\\frac1b \\ln\\frac1{{2d}} = {number(most)}$ suffice. The picture has whole answers, rounded up:
  printed ${number(float(bound.printed[0]))}$, certified ${number(float(bound.certified[0]))}$.
"""


def algorithm_1(subject: Subject, at: At, bound: Bound) -> str:
    """[Dimitrakakis14] Algorithm 1."""
    printed, certified = ends(bound)
    moved, k = number(at.knobs.log_ratio), at.knobs.answers
    cost = number(float(concentrated_cost(at.knobs.log_ratio, answers=k)))
    return f"""
- **Printed**: $2 L \\rho = 2 \\cdot {moved} = {printed}$ nats, which Theorem 2 gives one draw; every answer has a fresh
  one.
- **Certified**: $2 k L \\rho = 2 \\cdot {k} \\cdot {moved} = {certified}$ nats. Answers that all fall on a parameter
  that is rare a priori lose that much.
- In zero-concentrated terms the cost is $k (L\\rho)^2/2 = {cost}$.
"""
