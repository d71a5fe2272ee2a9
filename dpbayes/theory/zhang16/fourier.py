"""Noise on Fourier coefficients: its scale, and a comparison with Laplace noise on counts. [Zhang16] section 3.2.

All numbers are in units of the integer Walsh coefficients (`dpbayes.model.fourier`), in which the paper's factor
2^(-|I|/2) cancels: noise of scale b on a coefficient, and a lift of 2 t |N_I| b added records in every table.
"""

from dataclasses import dataclass, replace
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms import Calibration, Noise
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.noise.sensitivity import printed_walsh_sensitivity, walsh_sensitivity
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, certified_as_exact
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

THEOREM_2 = Claim(
    Reference("Zhang16", "Theorem 2"),
    "Few Fourier coefficients give all tables",
    r"C^j(h) = \sum_{\gamma \preceq j} \langle f^\gamma, h \rangle\, C^j(f^\gamma)",
    Verdict.AMENDED,
    "The theorem holds. Equation (1), which its proof uses, needs a correction: the marginal must sum over the cells "
    "η with η AND j = γ, component by component.",
)
COROLLARY_2 = Claim(
    Reference("Zhang16", "Corollary 2"),
    "Noisy Fourier coefficients are ε-private",
    r"\langle f^\gamma, h\rangle + \mathrm{Lap}(2|N_I|\,\varepsilon^{-1} 2^{-|I|/2})",
    Verdict.LOOSE,
    "One record flips only a part of the coefficients, and the coefficient of the empty set is public. The noise can "
    "therefore be smaller, by the share that it does not flip.",
)
REMARK_SCALE = Claim(
    Reference("Zhang16", "Remark 1, scale"),
    "The number of coefficients gives the noise scale",
    r"|N_I| \le |I|\,2^{1+\max_i \mathrm{indeg}(i)}",
    Verdict.HOLDS,
    "The size of the closure is right, and so is the noise scale that follows from it.",
    page="Lab: Mechanisms compared",
)
REMARK_COMPARISON = Claim(
    Reference("Zhang16", "Remark 1, comparison"),
    "Fourier noise is smaller than Laplace noise",
    r"2|N_I|\,\varepsilon^{-1} 2^{-|I|/2} \ll 2|I|/\varepsilon",
    Verdict.FALSE,
    "The remark compares scales of coefficients. Rebuilding the tables cancels the factor 2^(-|I|/2): "
    "measured in records per cell, denser networks have more noise.",
    page="Lab: Mechanisms compared",
)


@dataclass(frozen=True)
class CoefficientNoise:
    """Laplace noise of scale b = sensitivity / epsilon on every coefficient but `public` of them (0 or 1).

    `beyond` is the largest excess of a sample over Laplace noise of real numbers, in units of b. It is 1/b for whole
    numbers, because b E - b E' is replaced by floor(b E) - floor(b E').
    """

    sensitivity: int
    public: int
    beyond: float = 0.0

    def scale(self, epsilon: ArrayLike) -> FloatArray:
        """b at `epsilon` (...), in units of the integer coefficients."""
        with np.errstate(divide="ignore"):
            return self.sensitivity / np.asarray(epsilon, dtype=np.float64)


def printed_noise(network: Network) -> CoefficientNoise:
    """Return noise of scale 2|N_I|/epsilon on all of N_I. [Zhang16] Corollary 2, Remark 1, scale.

    Errors: InputError if a node is not binary.
    """
    return CoefficientNoise(printed_walsh_sensitivity(network), 0)


def certified_noise(network: Network) -> CoefficientNoise:
    """Return noise of scale 2 O/epsilon; the empty set's coefficient, n, is public and stays exact.

    [Zhang16] Corollary 2, sharpened by `Network.odd_overlap`. Errors: InputError when a node is not binary.
    """
    return CoefficientNoise(walsh_sensitivity(network), 1)


def noise_under(network: Network, calibration: Calibration, law: NoiseLaw = UNIT) -> CoefficientNoise:
    """Return the noise of the coefficients under a calibration; `law` may be of whole numbers. Errors: as for both."""
    noise = certified_noise(network) if calibration is Calibration.CERTIFIED else printed_noise(network)
    return replace(noise, beyond=1 / law.scale) if law.noise is Noise.WHOLE else noise


def scale_bound(network: Network, epsilon: ArrayLike) -> Bound:
    """Bound the noise scale that epsilon (...) needs: 2|N_I|/epsilon printed, 2 O/epsilon proved.

    [Zhang16] Corollary 2.
    """
    printed, certified = printed_noise(network).scale(epsilon), certified_noise(network).scale(epsilon)
    return Bound(COROLLARY_2, printed, certified, "noise scale of an integer coefficient, records")


def _corollary_2_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    network, epsilon = subject.network, f"{at.epsilon[0]:g}"
    return f"""
- **As stated**: $2|N_I|/\\epsilon = 2 \\cdot {len(network.closure)}/{epsilon} = {bound.stated}$ (in the paper times
  $2^{{-|I|/2}}$, which cancels when tables are rebuilt).
- **Proved**: $2O/\\epsilon = 2 \\cdot {network.odd_overlap.value}/{epsilon} = {bound.proved}$: a record flips $O$.
"""


def epsilon_of_printed_noise(network: Network, epsilon: ArrayLike) -> FloatArray:
    """Return the proved epsilon of the printed noise for epsilon (...): epsilon O/|N_I|. [Zhang16] Corollary 2."""
    return np.asarray(epsilon) * (walsh_sensitivity(network) / printed_walsh_sensitivity(network))


def invented_records(network: Network, *, noise: CoefficientNoise, epsilon: ArrayLike, t: ArrayLike) -> FloatArray:
    """Return the lift 2 t |N_I| b (...), records added to every table; 4 t |N_I|^2/epsilon with printed noise.

    [Zhang16] Section 3.2, Non-negativity.
    """
    return 2 * np.asarray(t) * len(network.closure) * noise.scale(epsilon)


# Remark 1: the comparison with Laplace noise, in records per cell


def noise_ratio(network: Network, *, noise: CoefficientNoise) -> FloatArray:
    """Return, for each node (|I|,), the noise sd of its cells as a multiple of Laplace's at equal epsilon.

    [Zhang16] Remark 1, comparison, in records per cell.
    """
    cells = 2.0 * network.rows_per_node
    return noise.sensitivity / network.count_sensitivity * np.sqrt(cells - noise.public) / cells


def comparison_bound(network: Network) -> Bound:
    """Bound Fourier's noise as a multiple of Laplace's: 2^(1 + largest in-degree - |I|/2) printed.

    Certified is the largest true ratio over nodes, in records per cell. It is larger than the printed ratio by a factor
    of about 2^(|I|/2). [Zhang16] Remark 1, comparison. Errors: InputError if a node is not binary.
    """
    size, rows = len(network.names), int(network.rows_per_node.max())
    certified = np.asarray(noise_ratio(network, noise=printed_noise(network)).max())
    few = Assumption("No node has more than half of the nodes as parents.", rows <= 2 ** (size / 2))
    printed = np.asarray(2.0 * rows * 2 ** (-size / 2))
    return Bound(REMARK_COMPARISON, printed, certified, "noise, as a multiple of Laplace noise", assumptions=(few,))


def counterexample_denser(size: int = 8) -> FloatArray:
    """Return the root mean square of Fourier's over Laplace's noise per cell (3,): no arrows, chain, complete graph.

    It grows, although the noise should become smaller by [Zhang16] Remark 1.
    """
    ratios = []
    names = [f"x{i}" for i in range(size)]
    for arrows in ((), pairwise(names), combinations(names, 2)):
        network = Network.from_edges(names, arrows)
        ratio = noise_ratio(network, noise=printed_noise(network))
        ratios.append(np.sqrt(np.average(ratio**2, weights=network.rows_per_node)))
    return np.array(ratios)


def counterexample_comparison(size: int = 10) -> Counterexample:
    """Return Fourier's noise per cell as a multiple of Laplace's, on a chain. [Zhang16] Remark 1, comparison."""
    names = [f"x{i}" for i in range(size)]
    bound = comparison_bound(Network.from_edges(names, pairwise(names)))
    return _ratio(f"A chain of {size} nodes", float(bound.certified), float(bound.printed))


def counterexample_reduction(size: int = 8) -> Counterexample:
    """Return the same on a complete graph, which should be less than without arrows. [Zhang16] Remark 1, comparison."""
    none, _, complete = counterexample_denser(size)
    text = f"The complete graph of {size} nodes; by the claim, its value is at most that of the graph without arrows"
    return _ratio(text, float(complete), float(none))


def _ratio(setting: str, truth: float, printed: float) -> Counterexample:
    return Counterexample(
        REMARK_COMPARISON, setting, truth, printed, certified=truth, unit="noise, as a multiple of Laplace noise"
    )


EXHIBITS: dict[str, Exhibit] = {
    "COROLLARY_2": Exhibit(
        COROLLARY_2,
        lambda subject, at: scale_bound(subject.network, at.epsilons),
        _corollary_2_formula,
        (Axis.EPSILON,),
        "a noise scale of {}",
        "noise scale of a coefficient, records",
        says=BoundKind.ENOUGH,
        measure=certified_as_exact("scale that suffices"),
    )
}
