"""How far one replaced record moves a statistic: Walsh coefficients, and residuals at integer prices.

Prices of sets of nodes determine the scales of the noise on their residuals. The charge of one record is
max_d sum_A p_A (N_A - N_A(d)), an integer: see docs/proofs.md.
"""

from collections.abc import Sequence

import numpy as np

from dpbayes.base.types import FloatArray, IntArray
from dpbayes.base.validation import InputError
from dpbayes.model.elimination import LargestSum
from dpbayes.model.fourier import require_binary
from dpbayes.model.network import Network
from dpbayes.model.residual_design import MOST_SETS, charge_tables

_STEPS = 64
"""The number of price steps from one power of two to the next. Few steps give few distinct scales, and OpenDP must
confirm each scale. Rounding changes a price by at most one part in 128."""

_WIDEST = 2.0**36
"""The largest ratio of two prices; smaller prices are raised."""

_WORD = 2**62
"""The limit for sums of prices, so that 64-bit integers do not overflow."""


def printed_walsh_sensitivity(network: Network) -> int:
    """Return 2|N_I|, the L1 sensitivity that [Zhang16] Corollary 2 charges for the integer Walsh coefficients."""
    require_binary(network)
    return 2 * len(network.closure)


def walsh_sensitivity(network: Network) -> int:
    """Return 2 O, the L1 sensitivity of the integer Walsh coefficients; a proved bound if O is not computed exactly.

    Replacing record a by b flips the sign of gamma's term iff <gamma, a xor b> is odd, and any a xor b can occur.
    `Network.odd_overlap` states whether it is exact. [Zhang16] Corollary 2, sharpened.
    """
    require_binary(network)
    return 2 * network.odd_overlap.value


# Residuals


def whole_prices(wanted: FloatArray) -> tuple[int, ...]:
    """Return integer prices in about the wanted proportions (sets,), which must not be negative; 0 remains 0."""
    priced = wanted > 0
    if not priced.any():
        return (0,) * len(wanted)
    share = np.where(priced, np.maximum(wanted / wanted.max(), 1 / _WIDEST), 1.0)
    share = share / share.min()
    power = np.floor(np.log2(share))
    steps = np.rint(share / 2**power * _STEPS)
    return tuple(int(s) << int(p) if is_priced else 0 for s, p, is_priced in zip(steps, power, priced, strict=True))


def checked_prices(network: Network, prices: Sequence[int]) -> tuple[int, ...]:
    """Return checked prices: one for every non-empty set within a family.

    Errors: InputError if their number is wrong, if a price is not positive exactly where its set has numbers, or if the
    sum overflows.
    """
    sizes = network.residuals.sizes.tolist()[1:]
    if len(sizes) > MOST_SETS:
        raise InputError(f"A release has at most {MOST_SETS:,} prices, but this network needs {len(sizes):,}.")
    if len(prices) != len(sizes):
        raise InputError(f"{len(prices):,} prices were stated; the network has {len(sizes):,} sets within families.")
    priced = zip(prices, sizes, strict=True)
    if any(type(price) is not int or price < 0 or bool(price) != bool(size) for price, size in priced):
        raise InputError(
            "The price of a set of nodes must be an integer above 0. A set without numbers has the price 0."
        )
    if 4 * sum(price * size for price, size in zip(prices, sizes, strict=True)) >= _WORD:
        raise InputError("The sum of the prices is too large. State smaller prices.")
    return tuple(prices)


def most_charged(network: Network, prices: Sequence[int]) -> LargestSum:
    """Return the largest charge max_d sum_A p_A (N_A - N_A(d)) of one record, at prices of all non-empty sets."""
    checked_prices(network, prices)
    return largest_charge(network, np.array((0, *prices), dtype=np.int64))


def largest_charge(network: Network, prices: IntArray) -> LargestSum:
    """Return the same from prices (M,) of all sets, 0 for the empty set and for any set without a measurement.

    Errors: InputError for a negative price, and for sums that no machine's whole number holds.
    """
    total = sum(price * size for price, size in zip(prices.tolist(), network.residuals.sizes.tolist(), strict=True))
    if np.any(prices < 0) or prices[0] or 4 * total >= _WORD:
        raise InputError(
            "The prices must be non-negative integers with a smaller sum; the price of the empty set must be 0."
        )
    return LargestSum.of(charge_tables(network.residuals, prices), network.elimination)
