"""Gaussian noise on the residuals of the tables, each set of nodes with the variance that serves the cells best."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar

import numpy as np

from dpbayes.base.looks import SLATE
from dpbayes.base.privacy import Guarantee
from dpbayes.base.steps import Work, finished
from dpbayes.base.text import latex
from dpbayes.base.types import FloatArray
from dpbayes.mechanisms.base import Prior, check_mechanism, count_table, public_facts, require_own_counts
from dpbayes.mechanisms.noise.law import gaussian_guarantee, gaussian_noise, gaussian_shift_of
from dpbayes.mechanisms.noise.shares import gap_text, require_shares
from dpbayes.mechanisms.parameters import DELTA, EPSILON, NOISE, Noise
from dpbayes.mechanisms.release import Release, ReleasedPosterior
from dpbayes.model.counts import Counts
from dpbayes.model.residual_design import NoiseDesign, gaussian_at
from dpbayes.posteriors.noise_model import NoiseModel


@dataclass(frozen=True, kw_only=True)
class GaussianResiduals:
    """t_A + N(0, s_A) for every set A of nodes within a family, n as it is; then the tables are rebuilt. [Xiao23].

    One record that differs in the nodes d moves t_A by c_A(d) in squared length, so that all of them are apart by
    sum_A c_A(d)/s_A in squared standard deviations. The s_A are scaled so that the largest value, found exactly by
    eliminating nodes, is mu^2. Of all such s_A they are those with the least sum of the cells' variances, families
    times their `weights`, up to a share `design.gap`. Noise of whole numbers is added to t_A in the units in which it
    is whole. Networks that are too dense for the exact search get a bound in its place, and more noise.

    Args:
        prior: A `Dirichlets` (K,), or a `Network` for the uniform prior over its rows.
        epsilon: The promised epsilon, 0.001 to 1000, in nats of privacy loss.
        delta: The promised delta, below 1.
        noise: `Noise.REAL`, as in the papers, or `Noise.WHOLE`, discrete noise of the same scale, as a real release
            adds.
        weights: How much the squared error of each node's table counts (|I|,); empty where all count alike.
        prices: What each set's noise costs in proportion, as whole numbers; empty where the best are searched for.

    Raises:
        InputError: The prior is not one for a network, or a number is outside its range.

    Example:
        >>> mechanism = dp.GaussianResiduals(prior=dp.chain(3), epsilon=1, delta=1e-6)
        >>> mechanism.node_noise_sd.round(2)
        array([7.31, 6.46, 7.2 ])
    """

    label: ClassVar[str] = "Gaussian residuals"
    named: ClassVar[str] = "Gaussian residuals"
    colour: ClassVar[str] = SLATE
    prior: Prior = Prior()
    epsilon: Annotated[float, EPSILON]
    delta: Annotated[float, DELTA] = DELTA.typical
    noise: Annotated[Noise, NOISE] = Noise.REAL
    weights: tuple[float, ...] = ()
    """How much the error in each node's table counts, one positive number for each; none: all alike."""
    prices: tuple[int, ...] = ()
    """What 1/(s_A prod_{i in A} r_i) is in proportion to, one whole number for each set but the empty one; none: the
    best for `weights`."""

    def __post_init__(self) -> None:
        check_mechanism(self)
        require_shares(self.prior.network, weights=self.weights, prices=self.prices)

    @property
    def formula(self) -> str:
        design = self.design
        most = "the most" if design.exact else "more than the most"
        gap = gap_text(design, "s_A", weights=self.weights)
        return (
            f"$t_A + {self.noise.gaussian_symbol}(0, s_A)$ for each of ${np.count_nonzero(design.scales)}$ sets $A$ of "
            f"nodes within a family, with $\\max_d \\sum_A c_A(d)/s_A = \\mu^2$, {most} that one record moves, "
            f"$\\mu = {latex(self.shift)}$ at $\\delta = {latex(self.delta)}$.{gap}{self.noise.gaussian_meaning}"
        )

    @cached_property
    def design(self) -> NoiseDesign:
        """The variances where all residuals together may move by one; the best for all alike once for a network."""
        return finished(self.design_steps())

    def design_steps(self) -> Work[NoiseDesign]:
        network = self.prior.network
        if self.prices:
            return gaussian_at(network.residuals, network.residuals.cells * np.array((0, *self.prices)))
        return (yield from network.gaussian_design_steps(self.weights))

    @cached_property
    def shift(self) -> float:
        """mu: how far all residuals together may move, in standard deviations."""
        return gaussian_shift_of(self.noise, self.epsilon, delta=self.delta)

    @property
    def variances(self) -> FloatArray:
        """s_A of every set, in squared counts, 0 for the empty one: (M,); whole noise has all but that variance."""
        return self.design.scales / self.shift**2

    @property
    def node_noise_sd(self) -> FloatArray:
        """Standard deviation of the noise in the cells of every node's rebuilt table, in counts: (|I|,)."""
        return np.sqrt(self.prior.network.residuals.cell_variances(self.variances))

    @property
    def noise_model(self) -> NoiseModel:
        return NoiseModel(self.prior.network, self.variances)

    @property
    def claimed(self) -> Guarantee:
        return self.certified

    @property
    def certified(self) -> Guarantee:
        """(epsilon, delta), by the exact curve of real noise, or by rho; and rho = mu^2/2 of either noise.

        In units of its own standard deviation every number of the residuals has independent unit noise, so that two
        neighbours are as far apart as their residuals are long: sqrt(sum_A c_A(d)/s_A), mu at most. Whole noise of
        parameter s L on a number times L that moves by a whole number has at most the Renyi divergence of real noise.
        """
        return gaussian_guarantee(self.noise, self.epsilon, delta=self.delta, shift=self.shift)

    statistic = count_table

    def release(
        self, statistic: Counts, rng: np.random.Generator, size: tuple[int, ...] = ()
    ) -> Release[ReleasedPosterior]:
        """Draw consistent updates (*size, ..., K), which may be negative."""
        require_own_counts(self.prior, statistic)
        residuals = self.prior.network.residuals
        noisy = self.noisy_residuals(residuals.of_tables(statistic.values.astype(np.float64)), rng, size)
        public = public_facts(self, statistic, "epsilon", "delta", "noise")
        outcome = ReleasedPosterior(self.prior, residuals.tables(noisy), self.noise_model)
        return Release(outcome, self.certified, self.label, public)

    def noisy_residuals(self, exact: FloatArray, rng: np.random.Generator, size: tuple[int, ...]) -> FloatArray:
        """Draw noise for residuals (..., R) and add it: (*size, ..., R); none to the empty set's, which is n.

        Whole noise is added to whole numbers, which are divided by their units only then: the last digits of a sum of
        fractions would tell what was added.
        """
        residuals = self.prior.network.residuals
        scales = np.sqrt(self.variances)[residuals.set_of_number]
        if self.noise is Noise.REAL:
            return exact + gaussian_noise(self.noise, scales, rng, (*size, *exact.shape))
        lengths = residuals.lengths
        whole = np.round(exact * lengths)
        return np.asarray((whole + gaussian_noise(self.noise, scales * lengths, rng, (*size, *exact.shape))) / lengths)
