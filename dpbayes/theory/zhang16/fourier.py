"""Noise on Fourier coefficients: privacy and error, as printed and as proved. [Zhang16] section 3.2.

Everything is in units of the integer Walsh coefficients (`dpbayes.model.fourier`), where the paper's factor 2^(-|I|/2)
has cancelled: noise of scale b on a coefficient, a lift of 2 t |N_I| b invented records in every table.
"""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.randomness import stream
from dpbayes.base.references import Reference
from dpbayes.base.text import escaped
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import finite_number
from dpbayes.mechanisms.noise.sensitivity import count_sensitivity, printed_walsh_sensitivity, walsh_sensitivity
from dpbayes.model.closure import walsh
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import chain, empty, full
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict
from dpbayes.theory.claims.counterexample import Counterexample
from dpbayes.theory.claims.exhibit import Exhibit, Says
from dpbayes.theory.claims.setting import At, Axis, Subject
from dpbayes.theory.claims.simulation import beside_scaled
from dpbayes.theory.claims.text import ends, number
from dpbayes.theory.claims.truth import Measured, nothing_known, unmeasured

_DRAWN_AT_ONCE = 1 << 20
"""Numbers drawn per pass."""


def _claim(place: str, title: str, formula: str, verdict: Verdict, finding: str, *, page: str = "") -> Claim:
    return Claim(Reference("Zhang16", place), title, formula, verdict, finding, page=page)


THEOREM_2 = _claim(
    "Theorem 2",
    "Marginals from few coefficients",
    r"C^j(h) = \sum_{\gamma \preceq j} \langle f^\gamma, h \rangle\, C^j(f^\gamma)",
    Verdict.AMENDED,
    "True; in equation (1), which it uses, the marginal must pick the cells with eta and j = gamma, componentwise.",
)
COROLLARY_2 = _claim(
    "Corollary 2",
    "Private Fourier coefficients",
    r"\langle f^\gamma, h\rangle + \mathrm{Lap}(2|N_I|\,\varepsilon^{-1} 2^{-|I|/2})",
    Verdict.LOOSE,
    "One record flips at most O < |N_I| coefficients, and the empty set's is public: the noise can be |N_I|/O smaller.",
)
REMARK_SCALE = _claim(
    "Remark 1, scale",
    "Size of the closure",
    r"|N_I| \le |I|\,2^{1+\max_i \mathrm{indeg}(i)}",
    Verdict.HOLDS,
    "True, and so is the scale that follows from it.",
    page="Structure",
)
REMARK_COMPARISON = _claim(
    "Remark 1, comparison",
    "Fourier beside Laplace",
    r"2|N_I|\,\varepsilon^{-1} 2^{-|I|/2} \ll 2|I|/\varepsilon",
    Verdict.FALSE,
    "It compares scales of coefficients: rebuilding tables undoes 2^(-|I|/2). In records per cell denser is worse.",
    page="Structure",
)
CONSISTENCY = _claim(
    "Section 3.2, Consistency",
    "Tables agree",
    r"\sum_{\pi_i \setminus j} h^i = \sum_{\pi_k \setminus j} h^k",
    Verdict.HOLDS,
    "Rebuilt tables agree on shared nodes; but cells are not whole numbers, and totals are n plus the lift.",
    page="Stealth",
)
ALGORITHM_2 = _claim(
    "Algorithm 2",
    "Private posterior by Fourier coefficients",
    r"(\alpha_{ij} + h^i_{e_i + j},\ \beta_{ij} + h^i_j)",
    Verdict.HOLDS,
    "Private as post-processing of Corollary 2, for t does not depend on the data; parameters can be negative.",
    page="Stealth",
)
THEOREM_3 = _claim(
    "Theorem 3",
    "Error of a table",
    r"\|C^{\bar\pi_i}(h) - h^i\|_1 \le \frac{4|N_I|}{\varepsilon}"
    r"\left(2^{|\pi_i|} \log\frac{|N_I|}{\delta} + t|N_I|\right)",
    Verdict.LOOSE,
    "True for all tables at once; a single table needs only its own coefficients, added in squares.",
)


# The noise


@dataclass(frozen=True)
class CoefficientNoise:
    """Laplace noise of scale b = sensitivity / epsilon on every coefficient but `public` of them (0 or 1).

    `beyond` is how much further than real Laplace noise each draw may lie, in units of b: 1/b for whole numbers, which
    are real ones with two fractions cut off, b E - b E' being rounded to floor(b E) - floor(b E').
    """

    sensitivity: int
    public: int
    beyond: float = 0.0

    def scale(self, epsilon: ArrayLike) -> FloatArray:
        """b at `epsilon` (...), in units of the integer coefficients."""
        with np.errstate(divide="ignore"):
            return self.sensitivity / np.asarray(epsilon, dtype=np.float64)


def printed_noise(network: Network) -> CoefficientNoise:
    """Return noise of scale 2|N_I|/epsilon on all of N_I. [Zhang16] Corollary 2. Errors: InputError if not binary."""
    return CoefficientNoise(printed_walsh_sensitivity(network), 0)


def certified_noise(network: Network) -> CoefficientNoise:
    """Return noise of scale 2 O/epsilon; the empty set's coefficient, n, is public and stays exact.

    [Zhang16] Corollary 2, sharpened by `Closure.odd_overlap`. Errors: InputError when a node is not binary.
    """
    return CoefficientNoise(walsh_sensitivity(network), 1)


def scale_bound(network: Network, epsilon: ArrayLike) -> Bound:
    """Bound the noise scale that epsilon (...) needs: 2|N_I|/epsilon printed, 2 O/epsilon proved.

    [Zhang16] Corollary 2.
    """
    exact = network.closure.odd_overlap.exact
    return Bound(
        COROLLARY_2,
        printed_noise(network).scale(epsilon),
        certified_noise(network).scale(epsilon),
        "noise scale of an integer coefficient (records)",
        1.0,
        (Assumption("O is found exactly here, not only bounded.", exact),),
    )


def corollary_2_formula(subject: Subject, at: At, bound: Bound) -> str:
    """[Zhang16] Corollary 2."""
    printed, certified = ends(bound)
    closure = subject.network.closure
    return f"""
- **Printed**: $2|N_I|/\\epsilon = 2 \\cdot {len(closure)}/{at.epsilon[0]:g} = {printed}$ (in the paper times
  $2^{{-|I|/2}}$, which cancels when tables are rebuilt).
- **Certified**: $2O/\\epsilon = 2 \\cdot {closure.odd_overlap.value}/{at.epsilon[0]:g} = {certified}$; a record flips
  $O = {closure.odd_overlap.value}$ coefficients at most.
"""


def epsilon_of_printed_noise(network: Network, epsilon: ArrayLike) -> FloatArray:
    """Return what noise printed for epsilon (...) really grants: epsilon O/|N_I|. [Zhang16] Corollary 2."""
    return np.asarray(epsilon) * (walsh_sensitivity(network) / printed_walsh_sensitivity(network))


def invented_records(network: Network, *, noise: CoefficientNoise, epsilon: ArrayLike, t: ArrayLike) -> FloatArray:
    """Return the lift 2 t |N_I| b (...), records added to every table; 4 t |N_I|^2/epsilon with printed noise.

    [Zhang16] Section 3.2, Non-negativity.
    """
    return 2 * np.asarray(t) * len(network.closure) * noise.scale(epsilon)


# Error


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

    Errors: InputError for delta outside [0, 1]; 0 gives infinity.
    """
    delta = finite_number("Delta", delta, low=0.0, high=1.0)
    noise = printed_noise(network)
    return Bound(
        THEOREM_3,
        printed_table_error(network, epsilon=epsilon, t=t, delta=delta),
        table_error(network, noise=noise, epsilon=epsilon, t=t, delta=delta),
        "L1 error of a family's table (records)",
        1 - delta,
        (Assumption("Delta is between 0 and 1, both left out.", 0 < delta < 1),),
    )


def largest_family(network: Network) -> int:
    """Return the node whose table has the most rows; the first of several."""
    return int(np.argmax(network.rows_per_node))


def theorem_3(subject: Subject, at: At) -> Bound:
    """[Zhang16] Theorem 3, for the largest table."""
    node = largest_family(subject.network)
    bound = table_error_bound(subject.network, epsilon=at.epsilons, t=at.knobs.t, delta=at.knobs.delta)
    return replace(bound, printed=bound.printed[..., node], certified=bound.certified[..., node])


@dataclass(frozen=True, eq=False)
class NoisyTable:
    """A table on `nodes` binary nodes, with noise of `scale` (E,) on each of its 2^nodes coefficients.

    The empty set's is lifted by `lift` noise scales. [Zhang16] Section 3.2.
    """

    nodes: int
    lift: float
    scale: FloatArray


def simulated_table_error(
    rng: np.random.Generator,
    *,
    table: NoisyTable,
    printed: FloatArray,
    delta: float,
    releases: int,
) -> Measured:
    """Simulate the L1 error of a table that is rebuilt from noisy coefficients, in records (E,).

    It does not depend on the counts. [Zhang16] Theorem 3.
    """
    cells, parts = 2**table.nodes, []
    size = max(1, _DRAWN_AT_ONCE // cells)
    for start in range(0, releases, size):
        drawn = rng.laplace(size=(min(size, releases - start), *(2,) * table.nodes))
        parts.append(np.abs(walsh(drawn, table.nodes).reshape(len(drawn), cells) + table.lift).mean(axis=-1))
    scale = table.scale
    return beside_scaled(np.concatenate(parts), scale, np.full(len(scale), np.nan), printed=printed, delta=delta)


def measured_error(subject: Subject, at: At, bound: Bound) -> Measured:
    """Simulate the error of the largest table."""
    if subject.too_large:
        return nothing_known(len(at.epsilon), subject.too_large)
    network = subject.network
    return simulated_table_error(
        stream(subject.seed, "bounds", "table error"),
        table=NoisyTable(
            nodes=len(network.families[largest_family(network)]),
            lift=2 * at.knobs.t * len(network.closure),
            scale=printed_noise(network).scale(at.epsilons),
        ),
        printed=bound.printed,
        delta=at.knobs.delta,
        releases=subject.releases,
    )


def theorem_3_formula(subject: Subject, at: At, bound: Bound) -> str:
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


# Fourier beside Laplace


def noise_ratio(network: Network, *, noise: CoefficientNoise) -> FloatArray:
    """Return, for each node (|I|,), the noise sd of its cells as a multiple of Laplace's at equal epsilon.

    [Zhang16] Remark 1, comparison, in records per cell.
    """
    cells = 2.0 * network.rows_per_node
    return noise.sensitivity / count_sensitivity(network) * np.sqrt(cells - noise.public) / cells


def closure_bound(network: Network) -> Bound:
    """Bound |N_I| by |I| 2^(1 + largest in-degree); certified is |N_I| itself. [Zhang16] Remark 1, scale."""
    printed = np.asarray(2.0 * len(network.names) * network.rows_per_node.max())
    certified = np.asarray(float(len(network.closure)))
    return Bound(REMARK_SCALE, printed, certified, "coefficients")


def comparison_bound(network: Network) -> Bound:
    """Bound Fourier's noise as a multiple of Laplace's: 2^(1 + largest in-degree - |I|/2) printed.

    Certified is the largest true ratio over nodes in records per cell, which the printed one misses by 2^(|I|/2) or
    so. [Zhang16] Remark 1, comparison. Errors: InputError when a node is not binary.
    """
    size, rows = len(network.names), int(network.rows_per_node.max())
    certified = np.asarray(noise_ratio(network, noise=printed_noise(network)).max())
    few = Assumption("No node is a child of more than half the graph.", rows <= 2 ** (size / 2))
    printed = np.asarray(2.0 * rows * 2 ** (-size / 2))
    return Bound(REMARK_COMPARISON, printed, certified, "noise, as a multiple of Laplace's", assumptions=(few,))


def counterexample_denser(size: int = 8) -> FloatArray:
    """Return the root mean square of Fourier's over Laplace's noise per cell (3,): no arrows, chain, complete graph.

    It grows, where [Zhang16] Remark 1 says that the reduction in scale does.
    """
    ratios = []
    for network in (empty(size), chain(size), full(size)):
        ratio = noise_ratio(network, noise=printed_noise(network))
        ratios.append(np.sqrt(np.average(ratio**2, weights=network.rows_per_node)))
    return np.array(ratios)


def counterexample_comparison(size: int = 10) -> Counterexample:
    """Return Fourier's noise per cell as a multiple of Laplace's, on a chain. [Zhang16] Remark 1, comparison."""
    bound = comparison_bound(chain(size))
    return _ratio(f"A chain of {size} nodes", float(bound.certified), float(bound.printed))


def counterexample_reduction(size: int = 8) -> Counterexample:
    """Return the same on a complete graph, which should be less than without arrows. [Zhang16] Remark 1, comparison."""
    none, _, complete = counterexample_denser(size)
    text = f"The complete graph of {size} nodes; denser graphs are said to gain more, so printed is that without arrows"
    return _ratio(text, float(complete), float(none))


def _ratio(setting: str, truth: float, printed: float) -> Counterexample:
    return Counterexample(
        REMARK_COMPARISON, setting, truth, printed, certified=truth, unit="noise, as a multiple of Laplace's"
    )


CLAIMS: tuple[Claim, ...] = (
    THEOREM_2,
    COROLLARY_2,
    REMARK_SCALE,
    REMARK_COMPARISON,
    CONSISTENCY,
    ALGORITHM_2,
    THEOREM_3,
)

EXHIBITS: dict[str, Exhibit] = {
    "COROLLARY_2": Exhibit(
        "Corollary 2: noise of Fourier coefficients",
        COROLLARY_2,
        Says.CERTAIN,
        lambda subject, at: scale_bound(subject.network, at.epsilons),
        unmeasured,
        corollary_2_formula,
        (Axis.EPSILON,),
        "asks for noise of scale {}",
        "noise scale of a coefficient, records",
        ("epsilon",),
    ),
    "THEOREM_3": Exhibit(
        "Theorem 3: error of a Fourier table",
        THEOREM_3,
        Says.QUANTILE,
        theorem_3,
        measured_error,
        theorem_3_formula,
        (Axis.EPSILON, Axis.DELTA, Axis.T),
        "an L1 error of {} records",
        "L1 error of the largest table, records",
        ("epsilon", "bounds.delta", "bounds.t"),
    ),
}
"""The claims as they are shown."""
