"""The formulas of the Bounds page with the numbers of this setting in them, as Markdown."""

import math

import numpy as np

from dpbayes.base.text import escaped
from dpbayes.mechanisms.sensitivity import count_sensitivity
from dpbayes.model.network import Network
from dpbayes.posteriors.trimmed import log_odds_bound
from dpbayes.theory.claims.claim import Bound
from dpbayes.theory.claims.setting import At, Subject
from dpbayes.theory.claims.text import ends, number
from dpbayes.theory.zhang16.fourier import invented_records, printed_noise
from dpbayes.theory.zhang16.posterior_kl import Constants
from dpbayes.theory.zhang16.sampling import combined_concentration, least_printed_variation, likelihood_ratio
from dpbayes.theory.zhang16.shared import kl_bounds


def largest_family(network: Network) -> int:
    """Return the node whose table has the most rows; the first of several."""
    return int(np.argmax(network.rows_per_node))


def binary_root(network: Network) -> int | None:
    """Return the first binary node without parents, if there is one."""
    roots = (i for i, family in enumerate(network.families) if len(family) == 1 and network.cards[i] == 2)
    return next(roots, None)


def _scale(subject: Subject, at: At) -> str:
    sensitivity = count_sensitivity(subject.network)
    return (
        f"$b = 2|I|/\\epsilon = {sensitivity}/{at.epsilon[0]:g} = {number(sensitivity / at.epsilon[0])}$ records of "
        "noise on every count"
    )


def _deviation(subject: Subject, at: At) -> tuple[str, str]:
    found = kl_bounds(subject, at)
    deviation = found.deviations[Constants.THEOREM]
    total = number(-2 * deviation**2 / math.log(at.knobs.delta))
    return (
        f"\\bigl(-\\tfrac12 \\textstyle\\sum c_{{ij}} \\ln\\delta\\bigr)^{{1/2}} = "
        f"\\bigl(-\\tfrac12 \\cdot {total} \\cdot \\ln {number(at.knobs.delta)}\\bigr)^{{1/2}} = {number(deviation)}",
        number(deviation),
    )


def theorem_1(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Theorem 1, with the exact mean."""
    printed, certified = ends(bound)
    filled, deviation = _deviation(subject, at)
    mean = number(float(kl_bounds(subject, at).expected[0]))
    return f"""
- {_scale(subject, at)}; $n = {subject.records}$, $m = {subject.network.row_count}$ rows.
- **Printed**: deviation ${filled}$ nats, so $\\mathbb E f + {deviation} = {mean} + {deviation} = {printed}$. The mean
  $\\mathbb E f$ is not printed in a form that can be computed; the exact one is put in.
{_tails(subject, at, certified)}
"""


def c_squared(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Theorem 1, with c squared."""
    printed, certified = ends(bound)
    filled, deviation = _deviation(subject, at)
    mean = number(float(kl_bounds(subject, at).expected[0]))
    return f"""
- {_scale(subject, at)}; $n = {subject.records}$, $m = {subject.network.row_count}$ rows.
- **Printed**: deviation ${filled}$ nats, so ${mean} + {deviation} = {printed}$.
- **Certified**: $\\mathbb E f + \\bigl(-\\tfrac12 \\textstyle\\sum c_{{ij}}^2 \\ln\\delta\\bigr)^{{1/2}} =
  {certified}$ nats: McDiarmid's inequality as it is, with the rows' exact oscillations for $c_{{ij}}$. Far sharper
  numbers are proved too: see “Theorem 1”.
"""


def _tails(subject: Subject, at: At, certified: str) -> str:
    """Return every proved bound of the tail, and which of them is the certified one."""
    tails = kl_bounds(subject, at).tails
    law = (
        "the law that dominates every row's, convolved"
        if tails.is_convolved
        else ("the rows differ too much for their laws to be convolved here, and Chernoff's bound stands in")
    )
    every = {
        "McDiarmid's inequality, with the sum of c squared": tails.mcdiarmid,
        "Chernoff's bound": tails.chernoff,
        law: tails.quantile,
        "the largest divergence there can be": tails.largest,
    }
    lines = "\n".join(f"  - {name}: ${number(float(value[0]))}$" for name, value in every.items())
    return f"- **Certified**: ${certified}$ nats, the least of what is proved:\n{lines}"


def closed_form(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Theorem 1, with U."""
    printed, certified = ends(bound)
    filled, deviation = _deviation(subject, at)
    found = kl_bounds(subject, at)
    largest = number(float(found.oscillation(Constants.THEOREM).certified))
    mean = number(found.printed_expectation)
    return f"""
- {_scale(subject, at)}; $n = {subject.records}$, $m = {subject.network.row_count}$ rows.
- **Printed**: $\\mathcal U + {filled.partition("=")[0].strip()} = {mean} + {deviation} = {printed}$ nats, whatever
  $\\epsilon$ is.
- **Certified**: ${certified}$ nats. No release of these counts can be more than ${largest}$ nats off.
"""


def expectation(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Theorem 1, U."""
    printed, certified = ends(bound)
    return f"""
- {_scale(subject, at)}; $n = {subject.records}$, $m = {subject.network.row_count}$ rows.
- **Printed**: $\\mathcal U = \\sum_{{ij}} n \\ln\\bigl((\\alpha + \\Delta\\alpha)(\\beta + \\Delta\\beta)\\bigr) =
  {printed}$ nats; $\\epsilon$ is not in it.
- **Certified**: the exact mean, ${certified}$ nats, by quadrature.
"""


def refined(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Theorem 1, refined."""
    printed, certified = ends(bound)
    return f"""
- {_scale(subject, at)}; $n = {subject.records}$, $m = {subject.network.row_count}$ rows.
- **Printed**: $\\sum_{{ij}} \\tfrac n2 e^{{-n/b}} \\ln[(\\alpha + n + 1)(\\beta + n + 1)] = {printed}$ nats.
- **Certified**: the exact mean, ${certified}$ nats, by quadrature.
"""


def order(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Theorem 1, last display."""
    printed, certified = ends(bound)
    m, n = subject.network.row_count, subject.records
    size = number(m * n * math.log(max(n, 1)))
    return f"""
- {_scale(subject, at)}; $m n \\ln n = {m} \\cdot {n} \\cdot \\ln {n} = {size}$.
- **Printed**, with constant 1 for the $\\mathcal O$ terms:
  $mn \\ln n\\,[1 - e^{{-n/b}}] + \\sqrt{{-mn \\ln n \\ln {number(at.knobs.delta)}}} = {printed}$ nats.
- **Certified**: ${certified}$ nats.
"""


def proposition_1(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Proposition 1."""
    printed, certified = ends(bound)
    cells = subject.network.cell_count
    return f"""
- {_scale(subject, at)}, on $2m = {cells}$ counts.
- **Printed**: $b \\ln(2m/\\delta) = b \\ln({cells}/{number(at.knobs.delta)}) = {printed}$.
- **Certified**: $-b \\ln\\bigl(1 - (1-\\delta)^{{1/2m}}\\bigr) = {certified}$, the exact quantile.
"""


def clipped(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Proposition 1, for the clipped updates."""
    return proposition_1(subject, at, bound).replace(
        "the exact quantile", f"or $n = {subject.records}$ where that is less: no count leaves $[0, n]$"
    )


def corollary_2(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Corollary 2."""
    printed, certified = ends(bound)
    closure = subject.network.closure
    return f"""
- **Printed**: $2|N_I|/\\epsilon = 2 \\cdot {len(closure)}/{at.epsilon[0]:g} = {printed}$ (in the paper times
  $2^{{-|I|/2}}$, which cancels when tables are rebuilt).
- **Certified**: $2O/\\epsilon = 2 \\cdot {closure.odd_overlap.value}/{at.epsilon[0]:g} = {certified}$; a record flips
  $O = {closure.odd_overlap.value}$ coefficients at most.
"""


def theorem_3(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Theorem 3."""
    printed, certified = ends(bound)
    network = subject.network
    node = largest_family(network)
    size, rows = len(network.closure), int(network.rows_per_node[node])
    lift = float(invented_records(network, noise=printed_noise(network), epsilon=at.epsilon[0], t=at.knobs.t))
    return f"""
- The table of {escaped(network.names[node])}, the largest: $2^{{|\\pi_i|}} = {rows}$ parent configurations;
  $|N_I| = {size}$.
- **Printed**: $\\frac{{4|N_I|}}{{\\epsilon}}\\bigl(2^{{|\\pi_i|}} \\ln\\frac{{|N_I|}}{{\\delta}} + t|N_I|\\bigr) =
  \\frac{{4 \\cdot {size}}}{{{at.epsilon[0]:g}}}\\bigl({rows} \\ln\\frac{{{size}}}{{{number(at.knobs.delta)}}} +
  {at.knobs.t:g} \\cdot {size}\\bigr) = {printed}$ records.
- **Certified**: ${certified}$ records, of which the lift is ${number(lift)}$. Both for the printed noise.
"""


def corollary_3(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Corollary 3."""
    printed, certified = ends(bound)
    size = len(subject.network.closure)
    return f"""
- **Printed**: at most $e^{{-t}} = e^{{-{at.knobs.t:g}}} = {printed}$.
- **Certified**, for the released tables: a sum over the families that lie in no other, ${certified}$, with
  $|N_I| = {size}$. Both for the printed noise; neither depends on $\\epsilon$.
- That $e^{{-t}}$ is enough follows where $t > 1/2$ and $|N_I| (2t - 1 - \\ln 2t) = {size}
  \\cdot {number(2 * at.knobs.t - 1 - math.log(2 * at.knobs.t))} \\ge t$; the corollary asks for $t > 0$ alone.
"""


def theorem_4_1(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Theorem 4(1)."""
    printed, certified = ends(bound)
    nodes = len(subject.network.names)
    return f"""
- $L = \\ln\\frac{{1-\\omega}}{{\\omega}} = \\ln\\frac{{{1 - at.knobs.omega:g}}}{{{at.knobs.omega:g}}} =
  {number(log_odds_bound(at.knobs.omega))}$ for a binary node. A record may change the
  family of all $|I| = {nodes}$ nodes.
- **Printed**, for one draw: $2 \\max_i L_i\\,\\rho = {printed}$ nats with $\\rho = |I|$.
- **Certified**, for $N = {at.draws}$: $2N \\sum_i L_i = {certified}$ nats.
"""


def theorem_4_2(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Theorem 4(2)."""
    printed, certified = ends(bound)
    least = number(least_printed_variation(subject.network))
    ratio, together = (
        likelihood_ratio(subject.prior),
        combined_concentration(subject.network, subject.concentration, at.knobs.start),
    )
    m = number(2 * float(bound.printed[0]) ** 2)
    return f"""
- Prior $\\mathrm{{Beta}}(a, a)$ with $a = {number(subject.concentration)}$ in every row, $L_0 = {at.knobs.start:g}$,
  $\\rho = 1$. The rows together have $c' = {number(together)}$ (Lemma 3) and $C = {number(ratio)}$. The theorem's own
  $\\delta$ is a slack, here 1/2, and not this page's.
- **Printed**: $M = {m}$, $\\sqrt{{M/2}} = {printed}$. Under no prior is it below ${least}$ on this network, and two
  probabilities differ by 1 at most.
- **Certified**: ${certified}$, the sum over the nodes of exact total variation distances, for every $n$.
"""


def appendix_c2(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Appendix C.2."""
    printed, certified = ends(bound)
    omega, nodes = math.exp(-at.epsilon[0] / 2), len(subject.network.names)
    return f"""
- $\\omega = e^{{-\\epsilon/2}} = {number(omega)}$, for $|I| = {nodes}$ nodes and $N = {at.draws}$.
- **Printed**: $\\epsilon = {printed}$ nats.
- **Certified**: $2|I|N \\ln\\frac{{1-\\omega}}{{\\omega}} = {certified}$ nats.
"""


def corollary_4(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Corollary 4."""
    printed, certified = ends(bound)
    constant = log_odds_bound(at.knobs.omega)
    moved = float(bound.certified[0] / bound.printed[0]) * math.sqrt(constant)
    return f"""
- One row with prior $\\mathrm{{Beta}}(a, a)$, $a = {number(subject.concentration)}$, $n = {subject.records}$ records,
  trimmed to $[\\omega, 1-\\omega]$, $\\omega = {at.knobs.omega:g}$: $L = {number(constant)}$, $\\Delta = \\sqrt L =
  {number(math.sqrt(constant))}$.
- **Printed**: $\\epsilon = {printed}$ nats.
- **Certified**: one record moves the density by up to ${number(moved)}$, hence
  $\\epsilon \\cdot {number(moved)}/\\Delta = {certified}$ nats.
"""


def row_of_root(subject: Subject) -> str:
    """Return the row that Lemma 4 is shown for, in words."""
    root = binary_root(subject.network)
    return f"for the row of {escaped(subject.network.names[root])}" if root is not None else "for the row of a root"


def lemma_4(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Lemma 4."""
    printed, certified = ends(bound)
    t = at.knobs.gap / 2
    near = math.exp(-at.epsilon[0] * t) / float(bound.printed[0])
    return f"""
- Shown {row_of_root(subject)}; scores are posterior masses of cells, $\\Delta = 1$; $t = {t:g}$,
  $\\xi(S_t) = {number(near)}$.
- **Printed**: $e^{{-\\epsilon t}}/\\xi(S_t) = {printed}$.
- **Certified**: $e^{{-\\epsilon t/2\\Delta}}/\\xi(S_t)$, at most 1: ${certified}$.
"""
