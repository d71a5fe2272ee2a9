"""Noise on Fourier coefficients beside Laplace noise on counts, in records per cell: Remark 1 of [Zhang16]."""

import numpy as np

from dpbayes.base.references import Reference
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.noise.sensitivity import count_sensitivity
from dpbayes.model.network import Network
from dpbayes.sources.named_networks import chain, empty, full
from dpbayes.theory.claims.claim import Assumption, Bound, Claim, Counterexample, Verdict
from dpbayes.theory.zhang16.fourier import CoefficientNoise, printed_noise

REMARK_SCALE = Claim(
    Reference("Zhang16", "Remark 1, scale"),
    "The number of coefficients gives the noise scale",
    r"|N_I| \le |I|\,2^{1+\max_i \mathrm{indeg}(i)}",
    Verdict.HOLDS,
    "The size of the closure is right, and so is the noise scale that follows from it.",
    page="Compare mechanisms: Graph density",
    mechanism="LaplaceFourier",
)
REMARK_COMPARISON = Claim(
    Reference("Zhang16", "Remark 1, comparison"),
    "Fourier noise is smaller than Laplace noise",
    r"2|N_I|\,\varepsilon^{-1} 2^{-|I|/2} \ll 2|I|/\varepsilon",
    Verdict.FALSE,
    "The remark compares scales of coefficients. Rebuilding the tables cancels the factor 2^(-|I|/2): "
    "measured in records per cell, denser networks have more noise.",
    page="Compare mechanisms: Graph density",
    mechanism="LaplaceFourier",
)


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
    few = Assumption("No node has more than half of the nodes as parents.", rows <= 2 ** (size / 2))
    printed = np.asarray(2.0 * rows * 2 ** (-size / 2))
    return Bound(REMARK_COMPARISON, printed, certified, "noise, as a multiple of Laplace noise", assumptions=(few,))


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
    text = f"The complete graph of {size} nodes; by the claim, its value is at most that of the graph without arrows"
    return _ratio(text, float(complete), float(none))


def _ratio(setting: str, truth: float, printed: float) -> Counterexample:
    return Counterexample(
        REMARK_COMPARISON, setting, truth, printed, certified=truth, unit="noise, as a multiple of Laplace noise"
    )


CLAIMS: tuple[Claim, ...] = (REMARK_SCALE, REMARK_COMPARISON)
