"""The probability that a Fourier release is non-negative, simulated in three senses.

With all counts zero, only noise is simulated, and nothing depends on the data. With true counts, all results are for
the curator only.
"""

import enum
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.estimates import Estimate
from dpbayes.base.looks import CYAN, SLATE, Look
from dpbayes.base.steps import slices
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError
from dpbayes.mechanisms import LaplaceFourier
from dpbayes.mechanisms.exact_class import described, oddity
from dpbayes.mechanisms.fourier import coefficient_noise, increment_for
from dpbayes.mechanisms.noise.law import UNIT, NoiseLaw
from dpbayes.mechanisms.parameters import Calibration
from dpbayes.model.elimination import Factor, eliminated, table_cells, widest_scope
from dpbayes.model.fourier import cells_per_family, coefficients, marginals
from dpbayes.model.network import Network

BLOCK = 1 << 18
"""Numbers in one step of a simulation, few enough for the processor's cache."""

MOST_SCOPE = 18
"""The largest table of the elimination, as a power of two."""

TABLE_WORK = 500_000_000
"""The largest product of draws and table cells of the elimination; it takes a few seconds."""


class Sense(enum.Enum):
    """The quantity that must be non-negative."""

    MARGINALS = "all released tables"
    PARAMETERS = "all released parameters"
    TABLE = "all cells of the whole table"

    @property
    def look(self) -> Look:
        """The style of the curve; the first sense has the colour of the Fourier mechanism."""
        return _LOOKS[self]


_LOOKS = {
    Sense.MARGINALS: Look(Sense.MARGINALS.value, LaplaceFourier.colour),
    Sense.PARAMETERS: Look(Sense.PARAMETERS.value, SLATE, dash="dashdot"),
    Sense.TABLE: Look(Sense.TABLE.value, CYAN, dash="longdash"),
}


@dataclass(frozen=True, eq=False)
class UnitNoise:
    """Noise of one distribution on every coefficient, `values` (draws, |N_I|); none on n if n is public.

    Real-valued noise has scale 1 and represents every scale; integer noise has the scale of the mechanism.
    """

    network: Network
    calibration: Calibration
    values: FloatArray
    law: NoiseLaw = UNIT

    @classmethod
    def draw(
        cls,
        network: Network,
        calibration: Calibration,
        rng: np.random.Generator,
        *,
        draws: int,
        law: NoiseLaw = UNIT,
    ) -> "UnitNoise":
        """Sample the noise of `draws` releases. Errors: InputError if a node is not binary."""
        return cls(network, calibration, coefficient_noise(network, calibration, rng, (draws,), law=law), law)


@dataclass(frozen=True, eq=False)
class Needed:
    """The smallest increments t that kept simulated releases non-negative: `increments` (draws,), sorted."""

    increments: FloatArray

    def probability(self, t: ArrayLike) -> FloatArray:
        """Return the share of releases that are non-negative at t (...)."""
        kept = np.searchsorted(self.increments, np.asarray(t, dtype=np.float64), side="right")
        return kept / len(self.increments)

    def standard_error(self, t: ArrayLike) -> FloatArray:
        """Return the standard error of `probability` (...), from (kept + 1)/(draws + 2) so that it is never zero."""
        draws = len(self.increments)
        share = (self.probability(t) * draws + 1) / (draws + 2)
        return np.sqrt(share * (1 - share) / draws)

    def estimate(self, t: float) -> Estimate:
        """Return the share of releases that are non-negative at one t, with its standard error."""
        return Estimate.share(int(np.searchsorted(self.increments, t, side="right")), draws=len(self.increments))

    @classmethod
    def joined(cls, parts: "Sequence[Needed]") -> "Needed":
        return cls(np.sort(np.concatenate([part.increments for part in parts])))

    def increment(self, probability: float) -> float:
        """Return a t that suffices for `probability`, an upper confidence limit. Errors: those of increment_for."""
        return increment_for(probability, self.increments)


def are_enough(draws: int, probability: float) -> bool:
    """Return whether this number of draws suffices for an `increment` at this probability."""
    try:
        increment_for(probability, np.zeros(draws))
    except InputError:
        return False
    return True


def simulate_for_counts(sense: Sense, noise: UnitNoise, mechanism: LaplaceFourier, counts: ArrayLike = 0) -> Needed:
    """Simulate the t that keeps a release of `counts` (K,) non-negative; for tables, zero counts are the worst case.

    At zero counts, t for tables depends only on the graph, and t for parameters also on the prior in units of the noise
    scale. With integer noise, both depend on the noise scale. The whole table is rebuilt from N_I; true counts can
    raise its t. [Zhang16] Corollary 3.

    Errors: InputError if the mechanism is not exactly a `LaplaceFourier`, because another class may use other noise;
    and if the noise has another distribution than the mechanism's and cannot be scaled to it.
    """
    if oddity(mechanism, LaplaceFourier):
        raise InputError(f"The noise of {described(mechanism)} is unknown and cannot be simulated.")
    network, scale = noise.network, noise.law.scaled_to(mechanism.noise_law)
    values = np.broadcast_to(np.asarray(counts, dtype=np.float64), (network.cell_count,))
    if sense is Sense.TABLE:
        return needed_by_the_table(noise, coefficients(network, values) / scale)
    cells = cells_per_family(network)
    values_before = (values + mechanism.prior.alpha if sense is Sense.PARAMETERS else values) * cells / scale
    # Rebuilt cells are divided by 2^|F|, and so is the lift of each cell.
    return _needed(
        noise, network.cell_count, lambda drawn: (marginals(network, drawn) * cells + values_before).min(axis=-1)
    )


def needed_by_the_table(noise: UnitNoise, before: FloatArray | float = 0.0) -> Needed:
    """Return the t that keeps the whole table non-negative for coefficients `before` (|N_I|,), in noise units."""
    network = noise.network
    return _needed(noise, 2 ** widest_scope(network.elimination), lambda drawn: least_cells(network, drawn + before))


def _needed(noise: UnitNoise, width: int, least: Callable[[FloatArray], FloatArray]) -> Needed:
    """`least` maps noise (block, |N_I|) to the smallest signed sum of each release (block,), in units of the noise."""
    parts = [least(noise.values[part]) for part in slices(len(noise.values), BLOCK // width)]
    lacking = -np.concatenate(parts) / (2 * len(noise.network.closure) * noise.law.scale)
    return Needed(np.sort(np.maximum(lacking, 0.0)))


@dataclass(frozen=True, eq=False)
class LeastNoise:
    """The smallest signed sum of noise in all tables of each size: `sums` (draws, sizes) and their `cells` (sizes,).

    These sums suffice if all cells are equal before the noise. One simulation serves every prior rule and, for
    real-valued noise, every epsilon. `coefficients` is |N_I|, and `law` is the distribution of the noise.
    """

    sums: FloatArray
    cells: FloatArray
    coefficients: int
    law: NoiseLaw = UNIT

    @classmethod
    def joined(cls, parts: "Sequence[LeastNoise]") -> "LeastNoise":
        """Return all draws of several parts; the parts must have the same network."""
        first = parts[0]
        return cls(np.concatenate([part.sums for part in parts]), first.cells, first.coefficients, first.law)

    def needed(self, before: ArrayLike = 0.0) -> Needed:
        """Return the t that keeps releases non-negative if each cell is `before` without noise, in units of the noise.

        `before` is 0 for tables at zero counts, and the prior's parameter for parameters: one number, or one for the
        tables of each size (sizes,). For real-valued noise of scale 1, it is in units of the mechanism's scale.
        """
        lacking = -(self.sums + np.asarray(before) * self.cells).min(axis=-1) / (2 * self.coefficients * self.law.scale)
        return Needed(np.sort(np.maximum(lacking, 0.0)))


def least_noise(noise: UnitNoise) -> LeastNoise:
    """Return the smallest noise of all released tables by table size."""
    network, cells = noise.network, cells_per_family(noise.network)
    sizes, parts = np.unique(cells), []
    for part in slices(len(noise.values), BLOCK // network.cell_count):
        tables = marginals(network, noise.values[part])
        parts.append(np.stack([tables[:, cells == size].min(axis=-1) * size for size in sizes], axis=-1))
    return LeastNoise(np.concatenate(parts), sizes, len(network.closure), noise.law)


# The smallest cell of the whole table


def is_table_in_reach(network: Network, *, draws: int) -> bool:
    """Return whether the smallest cell of the whole table can be computed for this number of draws in a few seconds."""
    return widest_scope(network.elimination) <= MOST_SCOPE and draws * table_work(network) <= TABLE_WORK


def table_work(network: Network) -> int:
    """Return the total number of cells in the tables of the elimination of the whole table: the work for one draw."""
    return table_cells(network.elimination)


def least_cells(network: Network, values: FloatArray) -> FloatArray:
    """Return min over eta of sum_gamma (-1)^<gamma, eta> values_gamma for coefficients (draws, |N_I|): (draws,).

    Nodes are eliminated one by one. Errors: InputError
    for a graph whose elimination needs a table beyond 2^MOST_SCOPE.
    """
    plan = network.elimination
    if widest_scope(plan) > MOST_SCOPE:
        raise InputError(
            f"The joint table of this graph is too large: its elimination needs tables of 2^{widest_scope(plan)} "
            f"cells, and the limit is 2^{MOST_SCOPE}. The released tables are not affected."
        )
    return eliminated(_own_factors(network, values), plan, np.min)


def _own_factors(network: Network, values: FloatArray) -> list[Factor]:
    """For every family, the signed sums of the coefficients that no earlier family contains: (2, ..., 2, draws)."""
    closure = network.closure
    own = np.zeros((len(closure.slots), len(values)))
    own[closure.representatives] = values.T
    return [
        (family, _signed_sums(own[start : start + 2 ** len(family)].reshape((2,) * len(family) + (-1,)), len(family)))
        for family, start in zip(network.families, network.cell_offsets[:-1], strict=True)
    ]


def _signed_sums(values: FloatArray, bits: int) -> FloatArray:
    """Walsh-transform the first `bits` axes."""
    for axis in range(bits):
        zero, one = np.moveaxis(values, axis, 0)
        values = np.stack((zero + one, zero - one), axis)
    return values
