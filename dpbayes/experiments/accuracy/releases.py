"""What every method predicts with, at all epsilons and in all repeats of a batch: ln CPTs (R, E, K).

The noise is drawn once for each repeat and scaled to every epsilon: neighbouring points of a curve share their luck,
which smooths it, and a grid may be changed without changing the other points. Scales, bounds and rates are those of
the mechanisms themselves. Only the families that hold the target matter to a prediction: nothing is released, or
drawn, for the others, but where they decide what is kept.
"""

from collections.abc import Callable

import numpy as np
from scipy import special

from dpbayes.base.randomness import stream
from dpbayes.base.types import FloatArray
from dpbayes.experiments.accuracy.blanket import Blanket
from dpbayes.experiments.accuracy.plan import AccuracyPlan, Method
from dpbayes.experiments.accuracy.tables import tabulate
from dpbayes.experiments.steps import Streams, Work, finished, part_of, slices
from dpbayes.mechanisms import Calibration, LaplaceFourier, LaplaceUpdates, MapExponential, PosteriorSampler
from dpbayes.mechanisms.fourier import coefficient_noise, increment_for, needed_increments
from dpbayes.mechanisms.map import choose
from dpbayes.mechanisms.map_scores import cell_masses
from dpbayes.model.fourier import cells_per_family, marginals
from dpbayes.posteriors.decisions import Decisions
from dpbayes.posteriors.dirichlet import Dirichlets

Generator = np.random.Generator

ATTEMPTS = 100
"""Tries at a non-negative Fourier release, where only those are kept; after these, negative counts become zero."""

_CANCELS = 1e-6
"""Below this, one less a probability has lost too many digits."""

_DRAWN = 1 << 19
"""Values drawn at a time, so that they stay in the processor's cache and a step is short."""

_ROWS = 1 << 15
"""Rows of tables held at once, 2.5 kB each, where one bound has no more."""


class Releases:
    """The methods of one plan; what does not depend on the data is prepared once."""

    def __init__(self, plan: AccuracyPlan) -> None:
        self.plan = plan
        self.prior = Dirichlets.symmetric(plan.network, plan.prior)
        self.decisions = Decisions(plan.network)
        self.blanket = Blanket(plan.network, plan.network.index(plan.target))
        self.local = self.blanket.local.network
        """The families that hold the target: K counts their cells, m their rows and D their decisions."""
        self._decided = Decisions(self.local)

    def log_cpts(self, method: Method, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
        """Return ln CPTs (R, E, K) of `local`, or (R, 1, K) for the exact posterior, after counts of all cells."""
        return _RELEASES[method](self, counts, streams, method)

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

    def _exact(self, counts: FloatArray, streams: Streams, method: Method) -> Work[FloatArray]:
        yield 0.0
        return self._log_mean(self.blanket.local_counts(counts)[:, None])

    def _laplace(self, counts: FloatArray, streams: Streams, method: Method) -> Work[FloatArray]:
        here = self.blanket.local_counts(counts)
        scales = LaplaceUpdates(prior=self.prior, epsilon=1.0).noise_scale / self.plan.grid
        noise = streams(method.name).laplace(size=here.shape)
        updates = here[:, None] + scales[:, None] * noise[:, None]
        yield 0.5
        return self._log_mean(np.clip(updates, 0.0, float(self.plan.training), out=updates))

    def increment(self, calibration: Calibration) -> float:
        """Return t: printed, the one whose printed chance of stealth 1 - exp(-t) is the plan's; certified, simulated.

        [Zhang16] Corollary 3, as printed and corrected.
        """
        if calibration is Calibration.AS_PRINTED:
            return -float(np.log1p(-self.plan.stealth))
        if self._simulated is None:
            finished(self._simulate())
        assert self._simulated is not None
        return self._simulated

    _simulated: float | None = None

    def _simulate(self) -> Work[None]:
        """Find the certified increment: as many simulated releases as the Release page looks at, and the very same."""
        network = self.plan.network
        draws, rng, needed = self.plan.size.simulated, stream(0, "stealth"), []
        for some in slices(draws, _DRAWN // network.cell_count):
            size = some.stop - some.start
            needed.append(needed_increments(network, Calibration.CERTIFIED, rng, draws=size))
            yield some.stop / draws
        self._simulated = increment_for(self.plan.stealth, np.concatenate(needed))

    def _fourier(self, counts: FloatArray, streams: Streams, method: Method) -> Work[FloatArray]:
        if self._simulated is None:
            yield from part_of(self._simulate(), 0.0, 0.5)
        noise = self._fourier_noise(Calibration.CERTIFIED, streams(method.name), len(counts))
        yield 0.5
        here, noise = self.blanket.local_counts(counts), self.blanket.local_counts(noise)
        updates = here[:, None] + self._fourier_scales(Calibration.CERTIFIED)[:, None] * noise[:, None]
        return self._log_mean(np.maximum(updates, 0.0, out=updates))

    def _fourier_kept(self, counts: FloatArray, streams: Streams, method: Method) -> Work[FloatArray]:
        """Draw again wherever a count is negative, as the plot of [Zhang16] shows only what is not.

        Every epsilon keeps the first try that is non-negative there. The tries of a repeat end with one whose noise
        alone is: this does not depend on the grid, nor does what the next repeat draws. Every try has its own stream.
        """
        scales = self._fourier_scales(Calibration.AS_PRINTED)
        noise = self._fourier_noise(Calibration.AS_PRINTED, streams(method.name), len(counts))
        held = np.repeat(self.blanket.local_counts(noise)[:, None], len(scales), axis=1)
        failed = scales > _most_scale(counts, noise)[:, None]
        left = np.flatnonzero((noise < 0).any(axis=1))
        for attempt in range(1, ATTEMPTS + 1):
            if not len(left):
                break
            yield attempt / (ATTEMPTS + 1)
            noise = self._fourier_noise(Calibration.AS_PRINTED, streams(method.name, attempt), len(left))
            kept = failed[left] & (scales <= _most_scale(counts[left], noise)[:, None])
            if kept.any():
                held[left] = np.where(kept[..., None], self.blanket.local_counts(noise)[:, None], held[left])
                failed[left] &= ~kept
            left = left[(noise < 0).any(axis=1)]
        held *= scales[:, None]
        held += self.blanket.local_counts(counts)[:, None]
        return self._log_mean(np.maximum(held, 0.0, out=held))

    def _fourier_scales(self, calibration: Calibration) -> FloatArray:
        return LaplaceFourier(prior=self.prior, epsilon=1.0, calibration=calibration).noise_scale / self.plan.grid

    def _fourier_noise(self, calibration: Calibration, rng: Generator, repeats: int) -> FloatArray:
        """Return lifted unit noise of all cells, (R, all): that of [Zhang16] Algorithm 2 is linear, so rebuilt once."""
        network = self.plan.network
        noise = marginals(network, coefficient_noise(network, calibration, rng, (repeats,)))
        noise += 2 * self.increment(calibration) * len(network.closure) / cells_per_family(network)
        return noise

    def _log_mean(self, updates: FloatArray) -> FloatArray:
        """Return ln of the posterior means (..., K)."""
        network, alpha = self.local, updates + self.plan.prior
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

    def _sampler(self, counts: FloatArray, streams: Streams, method: Method) -> Work[FloatArray]:
        # One draw at epsilon: the bound is linear in epsilon.
        unit = PosteriorSampler(prior=self.prior, epsilon=1.0).log_odds_bound
        return self._trimmed(counts, streams(method.name), bounds=unit * self.plan.grid, draws=1)

    def _sampler_printed(self, counts: FloatArray, streams: Streams, method: Method) -> Work[FloatArray]:
        return self._trimmed(counts, streams(method.name), bounds=self.printed_bounds, draws=1)

    def _sampler_many(self, counts: FloatArray, streams: Streams, method: Method) -> Work[FloatArray]:
        return self._trimmed(counts, streams(method.name), bounds=self.printed_bounds, draws=self.plan.draws)

    def _trimmed(self, counts: FloatArray, rng: Generator, *, bounds: FloatArray, draws: int) -> Work[FloatArray]:
        """Return ln of the mean of `draws` trimmed CPTs: (R, E, K).

        Tables are made for a few bounds at a time; the same numbers are drawn again for the next few, not kept.
        """
        a, b = self._decided.parameters(self.plan.prior + self.blanket.local_counts(counts))
        pairs, kinds = np.unique((a + 1j * b).ravel(), return_inverse=True)
        kinds = kinds.reshape(len(a), 1, -1)
        live, at = np.unique(bounds, return_inverse=True)
        sums = np.zeros((len(a), len(live), self.local.cell_count))
        start, total = rng.bit_generator.state, len(live)
        for some in slices(total, _ROWS // len(pairs)):
            first, middle, last = some.start / total, (some.start + some.stop) / 2 / total, some.stop / total
            table = yield from part_of(tabulate(pairs.real, pairs.imag, live[some]), first, middle)
            rng.bit_generator.state = start
            parts = _draws(len(a), draws, a.shape[1])
            for done, (repeats, size) in enumerate(parts):
                uniforms = rng.random((repeats.stop - repeats.start, size, a.shape[1]))
                for k in range(some.start, some.stop):
                    log_odds = table.log_odds(kinds[repeats], k - some.start, uniforms)
                    sums[repeats, k] += self._summed_cpts(log_odds)
                    yield middle + (last - middle) * (done + (k - some.start) / (some.stop - some.start)) / len(parts)
        return np.log(sums / draws)[:, at]

    def _summed_cpts(self, log_odds: FloatArray) -> FloatArray:
        """Return the sums of the CPTs (R, K) of draws (R, N, D)."""
        if self.local.is_binary:
            first = special.expit(log_odds).sum(axis=1)
            second = log_odds.shape[1] - first
            if second.size and second.min() < _CANCELS * log_odds.shape[1]:
                second = special.expit(-log_odds).sum(axis=1)
            return np.stack([first, second], axis=-1).reshape(len(log_odds), -1)
        return self._decided.probabilities(log_odds).sum(axis=1)

    # Private MAP

    def _map(self, counts: FloatArray, streams: Streams, method: Method) -> Work[FloatArray]:
        plan, cells = self.plan, self.plan.cells
        rates = MapExponential(prior=self.prior, epsilon=1.0, cells=cells).rate * plan.grid
        a, b = self._decided.parameters(plan.prior + self.blanket.local_counts(counts))
        before = [np.tile(p, len(a)) for p in self._decided.parameters(np.full(self.local.cell_count, plan.prior))]
        first, second, uniforms = a.ravel(), b.ravel(), streams(method.name).random(a.shape).ravel()
        log_odds = np.empty((len(rates), a.size))
        for some in slices(a.size, _DRAWN // cells):
            found = _masses(first[some], second[some], cells=cells)
            with np.errstate(divide="ignore"):
                base = np.log(_masses(before[0][some], before[1][some], cells=cells))
            for k, rate in enumerate(rates):
                doubled = 2 * choose(uniforms[None, some], log_weights=rate * found + base)[0]
                log_odds[k, some] = np.log(doubled + 1) - np.log(2 * cells - doubled - 1)
                yield (some.start + (some.stop - some.start) * (k + 1) / len(rates)) / a.size
        return np.log(np.moveaxis(self._decided.probabilities(log_odds.reshape(-1, *a.shape)), 0, 1))


def _masses(a: FloatArray, b: FloatArray, *, cells: int) -> FloatArray:
    """Return the masses of the cells under every Beta(a, b), (rows, G), computed once for each that is different."""
    pairs, kinds = np.unique(a + 1j * b, return_inverse=True)
    return cell_masses(pairs.real, pairs.imag, cells=cells)[kinds]


def _draws(repeats: int, draws: int, decisions: int) -> list[tuple[slice, int]]:
    """Cut repeats x draws into parts (repeats, draws in each): whole repeats, or some draws of a single one.

    This loop over repeats is left: each has so many draws that a part of them is all that fits in the cache.
    """
    each = max(1, draws * decisions)
    if each <= _DRAWN:
        return [(some, draws) for some in slices(repeats, _DRAWN // each)]
    sizes = [some.stop - some.start for some in slices(draws, _DRAWN // decisions)]
    return [(slice(repeat, repeat + 1), size) for repeat in range(repeats) for size in sizes]


def _most_scale(counts: FloatArray, noise: FloatArray) -> FloatArray:
    """Return up to which scale counts plus scaled noise, both (R, all), hold nothing negative: (R,)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(noise < 0, counts / -noise, np.inf).min(axis=1)


_RELEASES: dict[Method, Callable[[Releases, FloatArray, Streams, Method], Work[FloatArray]]] = {
    Method.EXACT: Releases._exact,
    Method.LAPLACE: Releases._laplace,
    Method.FOURIER: Releases._fourier,
    Method.FOURIER_PRINTED: Releases._fourier_kept,
    Method.SAMPLER: Releases._sampler,
    Method.SAMPLER_PRINTED: Releases._sampler_printed,
    Method.SAMPLER_MANY: Releases._sampler_many,
    Method.MAP: Releases._map,
}
