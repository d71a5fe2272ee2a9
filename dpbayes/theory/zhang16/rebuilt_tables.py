"""Tables rebuilt from noisy Fourier coefficients: that they agree, and how far they are off. [Zhang16] section 3.2."""

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.steps import slices
from dpbayes.base.text import escaped
from dpbayes.base.types import FloatArray
from dpbayes.model.closure import walsh
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Measured, Simulation, not_measured, quantile_beside
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.zhang16.fourier import CoefficientNoise, invented_records, printed_noise

_DRAWN_AT_ONCE = 1 << 20
"""Numbers drawn per pass."""

CONSISTENCY = Claim(
    Reference("Zhang16", "Section 3.2, Consistency"),
    "Rebuilt Fourier tables agree with each other",
    r"\sum_{\pi_i \setminus j} h^i = \sum_{\pi_k \setminus j} h^k",
    Verdict.HOLDS,
    "Rebuilt tables agree on shared nodes. Their cells are not whole numbers, and their totals are n plus the counts "
    "that t adds.",
    page="Explore",
)
ALGORITHM_2 = Claim(
    Reference("Zhang16", "Algorithm 2"),
    "The Fourier posterior is private",
    r"(\alpha_{ij} + h^i_{e_i + j},\ \beta_{ij} + h^i_j)",
    Verdict.HOLDS,
    "The posterior is post-processing of the release of Corollary 2, because t does not depend on the data. The "
    "parameters of the posterior can be negative.",
    page="Explore",
)
THEOREM_3 = Claim(
    Reference("Zhang16", "Theorem 3"),
    "The error of every rebuilt table is small",
    r"\|C^{\bar\pi_i}(h) - h^i\|_1 \le \frac{4|N_I|}{\varepsilon}"
    r"\left(2^{|\pi_i|} \log\frac{|N_I|}{\delta} + t|N_I|\right)",
    Verdict.LOOSE,
    "The bound holds for all tables at once. A single table has a smaller bound, because only its own coefficients "
    "count and the squares of their errors add up.",
)


def printed_table_error(network: Network, *, epsilon: ArrayLike, t: ArrayLike, delta: ArrayLike) -> FloatArray:
    """Return the printed bound on the L1 error of every family's table (..., |I|), in records. [Zhang16] Theorem 3."""
    size, rows = len(network.closure), network.rows_per_node
    epsilon, t, delta = (np.asarray(v, dtype=np.float64)[..., None] for v in (epsilon, t, delta))
    with np.errstate(divide="ignore"):
        return 4 * size / epsilon * (rows * np.log(size / delta) + t * size)


def table_error(
    network: Network, *, noise: CoefficientNoise, epsilon: ArrayLike, t: ArrayLike, delta: ArrayLike
) -> FloatArray:
    """Bound the L1 error of each family's table (..., |I|) with probability 1 - delta for each, in records.

    The error is the lift plus at most b |X|_2 over the table's own coefficients (Cauchy-Schwarz), and |X|_2 is at
    most both their sum, Gamma distributed, and sqrt(number) times their maximum; whole numbers add at most
    sqrt(number). [Zhang16] Theorem 3, sharpened.
    """
    own = network.rows_per_node * 2 - noise.public
    lift = invented_records(network, noise=noise, epsilon=epsilon, t=t)[..., None]
    delta = np.asarray(delta, dtype=np.float64)[..., None]
    with np.errstate(divide="ignore"):
        largest = -np.log(-np.expm1(np.log1p(-delta) / own))
    length = np.minimum(np.sqrt(own) * np.maximum(largest, 0.0), special.gammainccinv(own, delta))
    return noise.scale(epsilon)[..., None] * (length + np.sqrt(own) * noise.beyond) + lift


def table_error_bound(network: Network, *, epsilon: ArrayLike, t: ArrayLike, delta: float) -> Bound:
    """Bound the L1 error of each family's table (..., |I|) under printed noise. [Zhang16] Theorem 3.

    A delta of 0 gives infinity.
    """
    return Bound(
        THEOREM_3,
        printed_table_error(network, epsilon=epsilon, t=t, delta=delta),
        table_error(network, noise=printed_noise(network), epsilon=epsilon, t=t, delta=delta),
        "L1 error of a family's table, records",
        1 - delta,
        (Assumption("δ must lie strictly between 0 and 1.", 0 < delta < 1),),
    )


def _largest_family(network: Network) -> int:
    """Return the node whose table has the most rows; the first of several."""
    return int(np.argmax(network.rows_per_node))


def theorem_3(subject: Subject, at: EvaluationPoint) -> Bound:
    """[Zhang16] Theorem 3, for the largest table."""
    node = _largest_family(subject.network)
    bound = table_error_bound(subject.network, epsilon=at.epsilons, t=at.knobs.t, delta=at.knobs.delta)
    return replace(bound, printed=bound.printed[..., node], certified=bound.certified[..., node])


def _measured_error(subject: Subject, at: EvaluationPoint, bound: Bound) -> Measured:
    """Simulate the L1 error of the largest table, which does not depend on the counts."""
    if subject.too_large:
        return not_measured(len(at.epsilon), subject.too_large)
    network, rng = subject.network, stream(subject.seed, "bounds", "table error")
    nodes, lift = len(network.families[_largest_family(network)]), 2 * at.knobs.t * len(network.closure)
    cells, errors = 2**nodes, []
    for part in slices(subject.releases, _DRAWN_AT_ONCE // cells):
        drawn = walsh(rng.laplace(size=(part.stop - part.start, *(2,) * nodes)), nodes)
        errors.append(np.abs(drawn.reshape(-1, cells) + lift).mean(axis=-1))
    scale = printed_noise(network).scale(at.epsilons)
    study = Simulation(np.outer(scale, np.sort(np.concatenate(errors))))
    return quantile_beside(study, np.full(len(scale), np.nan), printed=bound.printed, delta=at.knobs.delta)


def _theorem_3_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    network = subject.network
    node = _largest_family(network)
    size, rows = len(network.closure), int(network.rows_per_node[node])
    lift = float(invented_records(network, noise=printed_noise(network), epsilon=at.epsilon[0], t=at.knobs.t))
    return f"""
- The table of {escaped(network.names[node])}, the largest: $2^{{|\\pi_i|}} = {rows}$ parent configurations;
  $|N_I| = {size}$.
- **As stated**: $\\frac{{4|N_I|}}{{\\epsilon}}\\bigl(2^{{|\\pi_i|}} \\ln\\frac{{|N_I|}}{{\\delta}} + t|N_I|\\bigr) =
  \\frac{{4 \\cdot {size}}}{{{at.epsilon[0]:g}}}\\bigl({rows} \\ln\\frac{{{size}}}{{{number(at.knobs.delta)}}} +
  {at.knobs.t:g} \\cdot {size}\\bigr) = {bound.stated}$ records.
- **Proved**: ${bound.proved}$ records, of which $t$ adds ${number(lift)}$. Both bounds are for the stated noise.
"""


EXHIBITS: dict[str, Exhibit] = {
    "THEOREM_3": Exhibit(
        THEOREM_3,
        theorem_3,
        _theorem_3_formula,
        (Axis.EPSILON, Axis.DELTA, Axis.T),
        "a total error of at most {} records in a table",
        "total error of the largest table, records",
        says=BoundKind.QUANTILE,
        measure=_measured_error,
    )
}
