"""Laplace noise on Walsh coefficients with the scales that minimise the error of the cells; for binary networks."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from dpbayes.base.looks import OLIVE
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.steps import Work, finished
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.base import Prior, check_mechanism, count_table, public_facts, require_own_counts
from dpbayes.mechanisms.exact_form import NINE_OF_TEN, Releasable, ReleaseSpec, Sensitivity, nine_of_ten
from dpbayes.mechanisms.noise.exact import DISCRETE_LAPLACE
from dpbayes.mechanisms.noise.law import laplace_noise, laplace_sds
from dpbayes.mechanisms.noise.prices import most_charged, whole_prices
from dpbayes.mechanisms.noise.shares import gap_text, require_shares
from dpbayes.mechanisms.parameters import EPSILON, NOISE, Noise
from dpbayes.mechanisms.release import Release, ReleasedPosterior
from dpbayes.model.counts import Counts
from dpbayes.model.fourier import coefficients, marginals, require_binary
from dpbayes.model.network import Network
from dpbayes.model.residual_design import NoiseDesign, coefficients_at
from dpbayes.posteriors.noise_model import NoiseModel


@dataclass(frozen=True, kw_only=True)
class WeightedFourier:
    """Add Lap(b_A) to the integer coefficient of every non-empty A in N_I, then rebuild every family's table.

    [Zhang16] Algorithm 2 with a scale for each coefficient, without the lift, and without noise on n. One record that
    differs in the nodes d changes each coefficient A by two if A shares an odd number of nodes with d. The b_A are
    scaled so that the largest sum of 2/b_A over such A, computed exactly by eliminating nodes, is epsilon. Among such
    scales, they minimise the sum of the cells' variances, weighted by `weights`, up to a share `design.gap`. Equal
    scales give the proved Fourier noise.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for its capped prior.
        epsilon: The epsilon of the guarantee, 0.001 to 1000, in nats of privacy loss.
        noise: `Noise.REAL`, as in the papers, or `Noise.WHOLE`, discrete noise of the same scale, as a real release
            adds.
        weights: The weight of the squared error of each node's table (|I|,); empty for equal weights.
        prices: Relative prices of the sets, as whole numbers; a higher price means less noise. Empty: optimal noise.

    Raises:
        InputError: A node is not binary, the prior is neither a network nor a single `Dirichlets`, or a number is
            outside its range.

    Example:
        >>> dp.WeightedFourier(prior=dp.chain(3), epsilon=1).certified.epsilon
        1.0
    """

    label: ClassVar[str] = "Weighted Fourier"
    named: ClassVar[str] = "weighted Fourier"
    colour: ClassVar[str] = OLIVE
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    noise: Annotated[Noise, NOISE] = Noise.REAL
    weights: tuple[float, ...] = ()
    """The weight of the error in each node's table, a positive number; empty for equal weights."""
    prices: tuple[int, ...] = ()
    """Integers proportional to 1/b_A, one for each non-empty set; empty for the best scales for `weights`."""

    def __post_init__(self) -> None:
        check_mechanism(self)
        require_binary(self.prior.network)
        require_shares(self.prior.network, weights=self.weights, prices=self.prices)

    @property
    def formula(self) -> str:
        design = self.design
        most = "the largest" if design.exact else "an upper bound of the"
        return (
            f"$s_A + {self.noise.symbol}(b_A)$ for each of ${np.count_nonzero(design.scales)}$ coefficients, with "
            f"$\\max_d \\sum_{{A: |A \\cap d| \\text{{ odd}}}} 2/b_A = \\varepsilon$, {most} privacy loss of one "
            f"record.{gap_text(design, 'b_A', weights=self.weights)}{self.noise.meaning}"
        )

    @cached_property
    def design(self) -> NoiseDesign:
        """The scales at epsilon = 1. Optimal scales for equal weights are computed once for each network."""
        return finished(self.design_steps())

    def design_steps(self) -> Work[NoiseDesign]:
        network = self.prior.network
        if self.prices:
            return coefficients_at(network.residuals, np.array((0, *self.prices), dtype=np.float64))
        return (yield from network.coefficient_design_steps(self.weights))

    @property
    def scales(self) -> FloatArray:
        """b_A of every integer coefficient, 0 for the empty set's: (M,)."""
        return self.design.scales / self.epsilon

    @property
    def coefficient_sds(self) -> FloatArray:
        """Standard deviation of the noise of every integer coefficient: (M,)."""
        return laplace_sds(self.noise, self.scales)

    @property
    def node_noise_sd(self) -> FloatArray:
        """Standard deviation of the noise in the cells of every node's rebuilt table, in counts: (|I|,)."""
        return np.sqrt(self.prior.network.residuals.cell_variances(self.noise_model.variances))

    @property
    def noise_model(self) -> NoiseModel:
        return NoiseModel.coefficients(self.prior.network, variances=self.coefficient_sds**2)

    @property
    def claimed(self) -> Guarantee:
        return self.certified

    @property
    def certified(self) -> Guarantee:
        """epsilon: the largest sum of 2/b_A over the coefficients whose signs one record flips.

        Coefficients are integers, so integer noise of scale b_A has the same loss as real-valued noise, 2/b_A.
        Rebuilding the tables is post-processing.
        """
        return Guarantee(self.epsilon, reference=Reference("dpbayes", "Corollary 2 of Zhang16, a scale for each"))

    statistic = count_table

    def release(
        self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...] = ()
    ) -> Release[ReleasedPosterior]:
        """Sample consistent updates (*size, ..., K), which may be negative."""
        require_own_counts(self.prior, statistic)
        network = self.prior.network
        exact = coefficients(network, statistic.values)
        noisy = exact + laplace_noise(self.noise, self.scales, rng, (*size, *exact.shape))
        public = public_facts(self, statistic, "epsilon", "noise")
        return Release(self.outcome_of(noisy), self.certified, self.label, public)

    def outcome_of(self, noisy: FloatArray) -> ReleasedPosterior:
        """Return the outcome for noisy integer coefficients (..., M)."""
        return ReleasedPosterior(self.prior, marginals(self.prior.network, noisy), self.noise_model)


# The exact form


def _priced(network: Network, weights: FloatArray) -> tuple[int, ...]:
    design = finished(network.coefficient_design_steps(weights.tolist()))
    return whole_prices(1 / design.scales[1:])


def _charged(spec: ReleaseSpec) -> Sensitivity:
    charge = most_charged(spec.network, spec.prices)
    return Sensitivity(
        charge.value,
        "all Walsh coefficients together, each times its price, in L1",
        "Zhang, Rubinstein and Dimitrakakis 2016, Corollary 2, with a price for each coefficient: a replaced record "
        "changes by two those that have an odd number of the nodes in which it differs; the largest sum of their "
        f"prices is {'found' if charge.exact else 'bounded'} in whole numbers",
    )


def _simulated(spec: ReleaseSpec) -> WeightedFourier:
    return WeightedFourier(prior=spec.dirichlets, epsilon=float(spec.epsilon), noise=Noise.WHOLE, prices=spec.prices)


WEIGHTED = Releasable(
    label=WeightedFourier.label,
    integers="a noisy Walsh coefficient of every subset of a family but the empty one, whose coefficient is n",
    noise=DISCRETE_LAPLACE,
    require=require_binary,
    sensitivity=_charged,
    statistic=lambda network, counts: coefficients(network, counts)[1:],
    length=lambda spec: len(spec.network.closure) - 1,
    own_scale="the scale over its price",
    prices=lambda spec: list(map(Fraction, spec.prices)),
    priced=_priced,
    outcome=lambda spec, integers: _simulated(spec).outcome_of(np.array((spec.n, *integers), dtype=np.float64)),
    simulated=_simulated,
    accuracy=lambda spec, scale: nine_of_ten(
        "counts that are rebuilt", NINE_OF_TEN * float(_simulated(spec).node_noise_sd.max())
    ),
)
