"""The sensitivity of a statistic to the replacement of one record, in L1 and L2 distance."""

import numpy as np

from dpbayes.model.fourier import require_binary
from dpbayes.model.network import Network


def count_sensitivity(network: Network) -> int:
    """Return the L1 sensitivity of all CPT counts, exactly 2|I|, which is also their squared L2 sensitivity.

    The largest change is reached by two records that differ in every column; every changed count changes by one. A node
    whose family has a single cell does not count. [Zhang16] Lemma 1.
    """
    return 2 * int(np.count_nonzero(np.diff(network.cell_offsets) > 1))


def printed_walsh_sensitivity(network: Network) -> int:
    """Return 2|N_I|, the L1 sensitivity that [Zhang16] Corollary 2 charges for the integer Walsh coefficients."""
    require_binary(network)
    return 2 * len(network.closure)


def walsh_sensitivity(network: Network) -> int:
    """Return 2 O, the L1 sensitivity of the integer Walsh coefficients; a proved bound if O is not computed exactly.

    Replacing record a by b flips the sign of gamma's term iff <gamma, a xor b> is odd, and any a xor b can occur.
    `Closure.odd_overlap` states whether it is exact. [Zhang16] Corollary 2, sharpened.
    """
    require_binary(network)
    return 2 * network.closure.odd_overlap.value
