"""Noise on Fourier coefficients: its scale as printed and as proved. [Zhang16] section 3.2.

Everything is in units of the integer Walsh coefficients (`dpbayes.model.fourier`), where the paper's factor 2^(-|I|/2)
has cancelled: noise of scale b on a coefficient, a lift of 2 t |N_I| b invented records in every table.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.noise.sensitivity import printed_walsh_sensitivity, walsh_sensitivity
from dpbayes.model.network import Network
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Verdict, bound_texts
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, unmeasured
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject

THEOREM_2 = Claim(
    Reference("Zhang16", "Theorem 2"),
    "Few Fourier coefficients give all marginals",
    r"C^j(h) = \sum_{\gamma \preceq j} \langle f^\gamma, h \rangle\, C^j(f^\gamma)",
    Verdict.AMENDED,
    "The theorem holds. Equation (1), which its proof uses, needs a correction: the marginal must sum over the cells "
    "eta with eta AND j = gamma, component by component.",
    mechanism="LaplaceFourier",
)
COROLLARY_2 = Claim(
    Reference("Zhang16", "Corollary 2"),
    "Noisy Fourier coefficients are ε-private",
    r"\langle f^\gamma, h\rangle + \mathrm{Lap}(2|N_I|\,\varepsilon^{-1} 2^{-|I|/2})",
    Verdict.LOOSE,
    "One record flips at most O < |N_I| coefficients, and the coefficient of the empty set is public. The noise can "
    "therefore be |N_I|/O times smaller.",
    mechanism="LaplaceFourier",
)


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


def corollary_2_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    """[Zhang16] Corollary 2."""
    printed, certified = bound_texts(bound)
    closure = subject.network.closure
    return f"""
- **As stated**: $2|N_I|/\\epsilon = 2 \\cdot {len(closure)}/{at.epsilon[0]:g} = {printed}$ (in the paper times
  $2^{{-|I|/2}}$, which cancels when tables are rebuilt).
- **Proved**: $2O/\\epsilon = 2 \\cdot {closure.odd_overlap.value}/{at.epsilon[0]:g} = {certified}$; a record flips
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


CLAIMS: tuple[Claim, ...] = (THEOREM_2, COROLLARY_2)

EXHIBITS: dict[str, Exhibit] = {
    "COROLLARY_2": Exhibit(
        "Corollary 2: noise of Fourier coefficients",
        COROLLARY_2,
        BoundKind.CERTAIN,
        lambda subject, at: scale_bound(subject.network, at.epsilons),
        unmeasured,
        corollary_2_formula,
        (Axis.EPSILON,),
        "a noise scale of {}",
        "noise scale of a coefficient, records",
        ("epsilon",),
    ),
}
"""The claims as they are shown."""
