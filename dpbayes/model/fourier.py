"""Walsh-Fourier coefficients of the contingency table, from family marginals only; never a 2^|I| table.

Coefficients are kept unnormalised, s_gamma = sum over records x of (-1)^<gamma, x> = 2^(|I|/2) <f^gamma, h>: they are
integers, and the factor 2^(-|I|/2) of [Zhang16] section 3.2 cancels when marginals are rebuilt ([Zhang16] Theorem 2):
cell eta of family F holds 2^(-|F|) sum_{gamma <= F} s_gamma (-1)^<gamma, eta>.
"""

import numpy as np

from dpbayes.base.types import AnyArray, FloatArray
from dpbayes.base.validation import InputError, brief
from dpbayes.model.closure import walsh
from dpbayes.model.network import Network


def require_binary(network: Network) -> None:
    """Refuse, naming the node, when a node does not have exactly two states."""
    for name, states in zip(network.names, network.states, strict=True):
        if len(states) != 2:
            raise InputError(
                f"The Fourier mechanism needs binary nodes, and {brief(name)} has {len(states)} states. "
                "Use the Laplace mechanism, or split the node's states into two groups."
            )


def coefficients(network: Network, counts: AnyArray) -> AnyArray:
    """Return s_gamma for every gamma in N_I from CPT cell counts (..., K): (..., |N_I|), in `closure.members` order.

    Errors: InputError when a node is not binary. [Zhang16] Algorithm 2, lines 2 to 5, without the noise.
    """
    require_binary(network)
    return _transform(network, counts)[..., network.closure.representatives]


def marginals(network: Network, values: AnyArray) -> FloatArray:
    """Return every family's marginal table from coefficients (..., |N_I|): (..., K), rows as in the cell layout.

    Whatever the coefficients, the tables agree on the nodes that they share. [Zhang16] Theorem 2; Section 3.2,
    Consistency; Algorithm 2 line 9.
    """
    require_binary(network)
    tables: FloatArray = _transform(network, values[..., network.closure.slots]) / cells_per_family(network)
    return tables


def cells_per_family(network: Network) -> FloatArray:
    """Return 2^|family| for every cell: (K,)."""
    sizes = np.diff(network.cell_offsets)
    return np.repeat(sizes, sizes).astype(np.float64)


def _transform(network: Network, values: AnyArray) -> AnyArray:
    """Walsh-transform every family's slots on the flat axis; families of one size go together."""
    out = np.empty_like(values)
    for cards, cells in network.residuals.families_by_shape:
        tables = values[..., cells]
        out[..., cells] = walsh(tables.reshape(*tables.shape[:-1], *cards), len(cards)).reshape(tables.shape)
    return out
