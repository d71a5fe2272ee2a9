"""What every method predicts with, at all epsilons and in all repeats of a batch: ln CPTs (R, E, K).

The noise is drawn once for each repeat and scaled to every epsilon: neighbouring points of a curve share their luck,
which smooths it, and a grid may be changed without changing the other points. Scales, bounds and rates are those of
the mechanisms themselves.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import special

from dpbayes.decisions import Decisions
from dpbayes.dirichlet import Dirichlets
from dpbayes.experiments.accuracy_plan import AccuracyPlan, Method
from dpbayes.experiments.accuracy_sampler import trimmed_table
from dpbayes.fourier import cells_per_family, marginals
from dpbayes.map_scores import cell_masses
from dpbayes.mechanisms import Calibration, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.fourier import coefficient_noise, increment_for, needed_increments
from dpbayes.mechanisms.map_exponential import choose
from dpbayes.network import Network
from dpbayes.randomness import stream

FloatArray = NDArray[np.float64]
Generator = np.random.Generator

ATTEMPTS = 100
"""Tries at a non-negative Fourier release, where only those are kept; after these, negative counts become zero."""

_CANCELS = 1e-6
"""Below this, one less a probability has lost too many digits."""

_DRAWN = 1 << 19
"""Values drawn at a time, so that they stay in the processor's cache."""


class Releases:
    """The methods of one plan; what does not depend on the data is prepared once."""

    def __init__(self, plan: AccuracyPlan) -> None:
        self.plan = plan
        self.prior = Dirichlets.symmetric(plan.network, plan.prior)
        self.decisions = Decisions(plan.network)

    def log_cpts(self, method: Method, counts: FloatArray, rng: Generator) -> FloatArray:
        """Return ln CPTs (R, E, K), or (R, 1, K) for the exact posterior, after counts (R, K)."""
        return _RELEASES[method](self, counts, rng)

    def certified(self, method: Method) -> FloatArray:
        """Return the epsilon that is proved for every epsilon of the grid: (E,); infinite for none."""
        grid = self.plan.grid
        if method.is_baseline:
            return np.full(len(grid), np.inf)
        if method in (Method.SAMPLER_PRINTED, Method.SAMPLER_MANY):
            draws = self.plan.draws if method is Method.SAMPLER_MANY else 1
            return 2 * int(self.decisions.depths.sum()) * draws * self.printed_bounds
        if method is Method.FOURIER_PRINTED:
            printed = LaplaceFourier(prior=self.prior, epsilon=1.0, calibration=Calibration.AS_PRINTED)
            # Keeping only what is non-negative conditions on the outcome: both densities are divided by the chance of
            # success, whose ratio is at most exp(epsilon) again.
            return 2 * printed.certified.epsilon * grid
        return grid

    # Noise on counts

    def _exact(self, counts: FloatArray, rng: Generator) -> FloatArray:
        return self._log_mean(counts[:, None])

    def _laplace(self, counts: FloatArray, rng: Generator) -> FloatArray:
        scales = LaplaceUpdates(prior=self.prior, epsilon=1.0).noise_scale / self.plan.grid
        noise = rng.laplace(size=counts.shape)
        updates = counts[:, None] + scales[:, None] * noise[:, None]
        return self._log_mean(np.clip(updates, 0.0, float(self.plan.training), out=updates))

    def increment(self, calibration: Calibration) -> float:
        """Return t: printed, the one whose printed chance of stealth 1 - exp(-t) is the plan's; certified, simulated.

        [Zhang16] Corollary 3, as printed and corrected.
        """
        if calibration is Calibration.AS_PRINTED:
            return -float(np.log1p(-self.plan.stealth))
        return self._simulated_increment

    @cached_property
    def _simulated_increment(self) -> float:
        network = self.plan.network
        draws = 10_000 if network.cell_count < 1000 else 2_000
        if self.plan.stealth > 0.99:
            draws = 20_000
        return increment_for(
            self.plan.stealth, needed_increments(network, Calibration.CERTIFIED, stream(0, "stealth"), draws=draws)
        )

    def _fourier(self, counts: FloatArray, rng: Generator) -> FloatArray:
        return self._log_mean(np.maximum(self._fourier_updates(counts, Calibration.CERTIFIED, rng), 0.0))

    def _fourier_kept(self, counts: FloatArray, rng: Generator) -> FloatArray:
        """Draw again wherever a count is negative, as the plot of [Zhang16] shows only what is not."""
        updates = self._fourier_updates(counts, Calibration.AS_PRINTED, rng)
        failed: NDArray[np.bool_] = np.any(updates < 0, axis=-1)
        for _ in range(ATTEMPTS):
            if not failed.any():
                break
            again = np.flatnonzero(failed.any(axis=1))
            drawn = self._fourier_updates(counts[again], Calibration.AS_PRINTED, rng)
            replaced = failed[again] & ~np.any(drawn < 0, axis=-1)
            updates[again] = np.where(replaced[..., None], drawn, updates[again])
            failed[again] &= ~replaced
        return self._log_mean(np.maximum(updates, 0.0))

    def _fourier_updates(self, counts: FloatArray, calibration: Calibration, rng: Generator) -> FloatArray:
        """Return updates (R, E, K): the noise of [Zhang16] Algorithm 2 is linear, so it is rebuilt only once."""
        network = self.plan.network
        unit = LaplaceFourier(prior=self.prior, epsilon=1.0, calibration=calibration)
        noise = marginals(network, coefficient_noise(network, calibration, rng, (len(counts),)))
        lift = 2 * self.increment(calibration) * len(network.closure) / cells_per_family(network)
        scales = unit.noise_scale / self.plan.grid
        return counts[:, None] + scales[:, None] * (noise + lift)[:, None]

    def _log_mean(self, updates: FloatArray) -> FloatArray:
        """Return ln of the posterior means (..., K)."""
        network: Network = self.plan.network
        alpha = updates + self.plan.prior
        totals = np.log(network.row_sums(alpha))
        logs = np.log(alpha, out=alpha)
        if network.is_binary:
            logs.reshape(*logs.shape[:-1], -1, 2)[...] -= totals[..., None]
        else:
            logs -= totals[..., network.row_of_cell]
        return logs

    # Posterior sampling

    @property
    def printed_bounds(self) -> FloatArray:
        """The printed bound of log-odds, (E,), zero where the printed omega leaves only even odds."""
        depth = max(1, int(self.decisions.depths.max()))
        return np.log(np.maximum(np.expm1(self.plan.grid / (2 * depth)), 1.0))

    def _sampler(self, counts: FloatArray, rng: Generator) -> FloatArray:
        # One draw at epsilon: the bound is linear in epsilon.
        unit = PosteriorSampler(prior=self.prior, epsilon=1.0).log_odds_bound
        return self._trimmed(counts, rng, bounds=unit * self.plan.grid, draws=1)

    def _sampler_printed(self, counts: FloatArray, rng: Generator) -> FloatArray:
        return self._trimmed(counts, rng, bounds=self.printed_bounds, draws=1)

    def _sampler_many(self, counts: FloatArray, rng: Generator) -> FloatArray:
        return self._trimmed(counts, rng, bounds=self.printed_bounds, draws=self.plan.draws)

    def _trimmed(self, counts: FloatArray, rng: Generator, *, bounds: FloatArray, draws: int) -> FloatArray:
        """Return ln of the mean of `draws` trimmed CPTs: (R, E, K)."""
        a, b = self.decisions.parameters(self.plan.prior + counts)
        pairs, kinds = np.unique(np.stack([a.ravel(), b.ravel()]), axis=1, return_inverse=True)
        kinds = kinds.reshape(len(counts), 1, -1)
        live, at = np.unique(bounds, return_inverse=True)
        table = trimmed_table(pairs[0], pairs[1], live)
        cpts = np.empty((len(counts), len(live), counts.shape[1]))
        step = max(1, _DRAWN // max(1, draws * a.shape[1]))
        for start in range(0, len(counts), step):
            some = slice(start, start + step)
            uniforms = rng.random((len(kinds[some]), draws, a.shape[1]))
            for bound in range(len(live)):
                cpts[some, bound] = self._mean_cpts(table.log_odds(kinds[some], bound, uniforms))
        return np.log(cpts)[:, at]

    def _mean_cpts(self, log_odds: FloatArray) -> FloatArray:
        """Return the mean CPTs (R, K) of draws (R, N, K - m)."""
        if self.plan.network.is_binary:
            first = special.expit(log_odds).mean(axis=1)
            second = 1 - first
            if second.min() < _CANCELS:
                second = special.expit(-log_odds).mean(axis=1)
            return np.stack([first, second], axis=-1).reshape(len(log_odds), -1)
        return self.decisions.probabilities(log_odds).mean(axis=1)

    # Private MAP

    def _map(self, counts: FloatArray, rng: Generator) -> FloatArray:
        plan = self.plan
        mechanism = MapExponential(prior=self.prior, epsilon=1.0, cells=plan.cells)
        a, b = self.decisions.parameters(plan.prior + counts)
        before = self.decisions.parameters(self.prior.alpha)
        with np.errstate(divide="ignore"):
            base = np.log(cell_masses(*before, cells=plan.cells))
        pairs, kinds = np.unique(np.stack([a.ravel(), b.ravel()]), axis=1, return_inverse=True)
        masses = cell_masses(pairs[0], pairs[1], cells=plan.cells)
        rates = mechanism.rate * plan.grid
        uniforms = rng.random(a.shape)
        log_odds = np.empty((len(rates), *a.shape))
        step = max(1, _DRAWN // (plan.cells * max(1, a.shape[1])))
        for start in range(0, len(a), step):
            some = slice(start, start + step)
            found = masses[kinds.reshape(a.shape)[some]]
            for k, rate in enumerate(rates):
                scores = (rate * found + base).reshape(-1, plan.cells)
                doubled = 2 * choose(uniforms[some].reshape(1, -1), log_weights=scores).reshape(found.shape[:-1])
                log_odds[k, some] = np.log(doubled + 1) - np.log(2 * plan.cells - doubled - 1)
        return np.log(np.moveaxis(self.decisions.probabilities(log_odds), 0, 1))


_RELEASES: dict[Method, Callable[[Releases, FloatArray, Generator], FloatArray]] = {
    Method.EXACT: Releases._exact,
    Method.LAPLACE: Releases._laplace,
    Method.FOURIER: Releases._fourier,
    Method.FOURIER_PRINTED: Releases._fourier_kept,
    Method.SAMPLER: Releases._sampler,
    Method.SAMPLER_PRINTED: Releases._sampler_printed,
    Method.SAMPLER_MANY: Releases._sampler_many,
    Method.MAP: Releases._map,
}
