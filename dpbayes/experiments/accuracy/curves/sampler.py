"""The curves of posterior sampling, as proved and as in the paper: trimmed samples from the same uniform numbers.

Single releases of the mechanism would take 30 times as long.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import special

from dpbayes.base.looks import INVALID, Look
from dpbayes.base.quadrature import reach
from dpbayes.base.steps import Work, part_of, slices
from dpbayes.base.text import numeral
from dpbayes.base.types import FloatArray, IntArray
from dpbayes.experiments.accuracy.method import Curves, Method, Size
from dpbayes.experiments.accuracy.releases import Generator, ReleasePlan, Releases, Streams
from dpbayes.mechanisms import Calibration, PosteriorSampler
from dpbayes.posteriors.decisions import Decisions

_CANCELS = 1e-6
"""If a probability is this close to one, the difference to one has lost too many digits."""

_ROWS = 1 << 15
"""Rows of tables in memory at a time, with 2.5 kB each, unless a single bound has more."""


def largest_degenerate_epsilon(plan: ReleasePlan) -> float:
    """Return the largest epsilon at which the paper's omega = e^(-epsilon/2) gives only even odds; binary: 2 ln 2."""
    return 2 * max_decisions_per_node(plan) * math.log(2)


def max_decisions_per_node(plan: ReleasePlan) -> int:
    """Return the largest number of binary decisions that lead to a state of any node: 1 in a binary network."""
    return max(1, int(np.max(Decisions(plan.network).depths)))


def printed_bounds(releases: Releases) -> FloatArray:
    """Return the paper's bound of log-odds (E,); zero where the paper's omega allows only even odds."""
    depth = max(1, int(releases.decisions.depths.max()))
    return np.log(np.maximum(np.expm1(releases.plan.grid / (2 * depth)), 1.0))


def _log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
    # One sample at epsilon: the bound is linear in epsilon.
    unit = PosteriorSampler(prior=releases.prior, epsilon=1.0).log_odds_bound
    return trimmed(releases, counts, streams("SAMPLER"), bounds=unit * releases.plan.grid, draws=1)


def trimmed(
    releases: Releases, counts: FloatArray, rng: Generator, *, bounds: FloatArray, draws: int
) -> Work[FloatArray]:
    """Return ln of the mean of `draws` trimmed CPTs: (R, E, K).

    Tables are computed for a few bounds at a time. The random numbers are sampled again for each group of bounds.
    """
    a, b = releases.decided.parameters(releases.local_alpha + releases.blanket.local_counts(counts))
    pairs, kinds = np.unique((a + 1j * b).ravel(), return_inverse=True)
    kinds = kinds.reshape(len(a), 1, -1)
    live, at = np.unique(bounds, return_inverse=True)
    sums = np.zeros((len(a), len(live), releases.local.cell_count))
    start, total = rng.bit_generator.state, len(live)
    for block in slices(total, _ROWS // len(pairs)):
        first, middle, last = block.start / total, (block.start + block.stop) / 2 / total, block.stop / total
        table = yield from part_of(tabulate(pairs.real, pairs.imag, live[block]), first, middle)
        rng.bit_generator.state = start
        parts = _draws(len(a), draws, a.shape[1], releases.drawn_at_once)
        for done, (repeats, size) in enumerate(parts):
            uniforms = rng.random((repeats.stop - repeats.start, size, a.shape[1]))
            for k in range(block.start, block.stop):
                log_odds = table.log_odds(kinds[repeats], k - block.start, uniforms)
                sums[repeats, k] += _summed_cpts(releases, log_odds)
                yield middle + (last - middle) * (done + (k - block.start) / (block.stop - block.start)) / len(parts)
    return np.log(sums / draws)[:, at]


def _summed_cpts(releases: Releases, log_odds: FloatArray) -> FloatArray:
    """Return the sums of the CPTs (R, K) of draws (R, N, D)."""
    if releases.local.is_binary:
        first = special.expit(log_odds).sum(axis=1)
        second = log_odds.shape[1] - first
        if second.size and second.min() < _CANCELS * log_odds.shape[1]:
            second = special.expit(-log_odds).sum(axis=1)
        return np.stack([first, second], axis=-1).reshape(len(log_odds), -1)
    return releases.decided.probabilities(log_odds).sum(axis=1)


def _draws(repeats: int, draws: int, decisions: int, most: int) -> list[tuple[slice, int]]:
    """Cut repeats x draws into parts (repeats, draws in each): whole repeats, or some draws of a single repeat.

    The loop over single repeats remains because some of their draws already fill the cache.
    """
    values_per_repeat = max(1, draws * decisions)
    if values_per_repeat <= most:
        return [(block, draws) for block in slices(repeats, most // values_per_repeat)]
    sizes = [block.stop - block.start for block in slices(draws, most // decisions)]
    return [(slice(repeat, repeat + 1), size) for repeat in range(repeats) for size in sizes]


def _formulas(methods: Sequence[Method], releases: Releases) -> list[str]:
    """Rows with more than two states are sampled as binary decisions, and the decisions are trimmed."""
    plan, binary = releases.plan, releases.plan.network.is_binary
    deep, depths = max_decisions_per_node(plan), int(releases.decisions.depths.sum())
    if binary:
        printed = r"$\theta \in [\omega, 1-\omega]$, $\omega = e^{-\varepsilon/2}$"
        certified = rf"$\omega = 1/(1 + e^{{\varepsilon/2|I|}})$, $2|I| = {2 * depths}$"
    else:
        printed = (
            rf"$w = e^{{-\varepsilon/(2 \cdot {deep})}}$, which leaves no probability below $e^{{-\varepsilon/2}}$"
        )
        certified = rf"$w = 1/(1 + e^{{\varepsilon/(2 \cdot {depths})}})$"
    lines = []
    if not binary and {MANY, CERTIFIED} & set(methods):
        lines.append(
            r"- **Posterior sampling** samples a row of $r$ states by binary decisions, $\lceil \log_2 r \rceil$ deep, "
            rf"and trims each to $[w, 1-w]$. The deepest row has {deep}. The sum over all nodes is "
            rf"$\sum_i \lceil \log_2 r_i \rceil = {depths}$."
        )
    if MANY in methods:
        lines.append(
            f"- **Posterior sampling, as in the paper**: {printed}; a fair coin up to ε = "
            f"{numeral(largest_degenerate_epsilon(plan), 4)}. $N = {plan.draws:,}$ samples are averaged."
        )
    if CERTIFIED in methods:
        lines.append(f"- **Posterior sampling, proved**: one sample, {certified}.")
    return lines


def _notes(methods: Sequence[Method], releases: Releases) -> list[str]:
    if not {PRINTED, MANY} & set(methods):
        return []
    return [
        "The paper's sampler charges for one changed factor of one sample. Up to "
        f"ε = {numeral(largest_degenerate_epsilon(releases.plan), 4)} its ω allows only even odds: every sample is a "
        "fair coin."
    ]


def _seconds(size: Size, draws: int) -> float:
    return 5e-6 * size.kinds * size.epsilons + 5e-8 * size.decisions * size.epsilons * draws


def _as_printed(name: str, look: Look, option: tuple[str, str], draws: Callable[[int], int]) -> Method:
    """Return the curve as in the paper, with `draws` of the plan's samples; red, because its claim does not hold."""

    def log_cpts(releases: Releases, counts: FloatArray, streams: Streams) -> Work[FloatArray]:
        rng, bounds = streams(name.upper()), printed_bounds(releases)
        return trimmed(releases, counts, rng, bounds=bounds, draws=draws(releases.plan.draws))

    def certified(releases: Releases) -> FloatArray:
        return 2 * int(releases.decisions.depths.sum()) * draws(releases.plan.draws) * printed_bounds(releases)

    return Method(
        name=name,
        titled=look,
        kind=PosteriorSampler,
        option=option,
        calibrations=(Calibration.AS_PRINTED,),
        log_cpts=log_cpts,
        certified=certified,
        seconds=lambda size: _seconds(size, draws(size.draws)),
    )


_ONE, _MANY = ("sampling", "posterior sampling, 1 sample"), ("sampling_many", "posterior sampling, N samples")

CERTIFIED = Method(
    name="sampler",
    titled=Look("sampling (proved, 1 sample)", PosteriorSampler.colour),
    kind=PosteriorSampler,
    option=_ONE,
    calibrations=(Calibration.CERTIFIED,),
    log_cpts=_log_cpts,
    seconds=lambda size: _seconds(size, 1),
)
PRINTED = _as_printed(
    "sampler_printed", Look("sampling (paper, 1 sample)", INVALID, "dot", "x-thin-open"), _ONE, lambda draws: 1
)
MANY = _as_printed(
    "sampler_many", Look("sampling (paper, N samples)", INVALID, "dash", "diamond-open"), _MANY, lambda draws: draws
)

CURVES = Curves(kind=PosteriorSampler, methods=(CERTIFIED, PRINTED, MANY), formulas=_formulas, notes=_notes)


# Samples from many Beta distributions, trimmed to many bounds at once, from the same uniform numbers at every bound.
#
# `dpbayes.posteriors.trimmed` samples with an error of 1e-14, for one bound at a time. A mechanism needs this
# precision; an average over thousands of simulated releases does not. Here, the distribution function of the log-odds
# has an error of about 1e-6 at 2 * SIDE + 1 points around the mode, and the log density is linear between them.

DEPTH = 20.0
"""Log densities this far below their maximum are left out, which omits less than exp(-DEPTH) of the mass."""

SIDE = 32
_BREAKS = (np.arange(SIDE + 1) / SIDE) ** 1.5
_TABULATED = 4096
"""Rows that are tabulated at a time."""


@dataclass(frozen=True, eq=False)
class TrimmedTable:
    """Inverse distribution functions of kinds x bounds: 2 * SIDE cells each, on axes flattened to (kinds * bounds)."""

    bounds: int
    levels: FloatArray
    """(rows, 2 * SIDE): the distribution function at each cell's left end."""
    left: FloatArray
    step: FloatArray
    bend: FloatArray
    mass: FloatArray
    """(rows, 2 * SIDE): z = left + step * log1p(share * bend), where share is the part of `mass` below z."""

    def log_odds(self, kinds: IntArray, bound: int, uniforms: FloatArray) -> FloatArray:
        """Return the quantiles of distributions of `kinds` at one bound, (..., D), at levels (..., D)."""
        width = 2 * SIDE
        at = np.broadcast_to((kinds * self.bounds + bound) * width, uniforms.shape)
        levels, step = self.levels.ravel(), width // 2
        while step:
            ahead = at + step
            at = np.where(levels.take(ahead) <= uniforms, ahead, at)
            step //= 2
        share = (uniforms - levels.take(at)) / self.mass.ravel().take(at)
        steps = np.log1p(np.minimum(share, 1.0) * self.bend.ravel().take(at))
        steps *= self.step.ravel().take(at)
        steps += self.left.ravel().take(at)
        return steps


def tabulate(a: FloatArray, b: FloatArray, bounds: FloatArray) -> Work[TrimmedTable]:
    """Tabulate Beta(a, b) in log-odds, a and b (kinds,), trimmed to [-bound, bound] for bounds (E,), zero allowed.

    In steps. A row, of one kind and one bound, takes 2.5 kB.
    """
    shape = (len(a), len(bounds))
    flat = [np.broadcast_to(values, shape).ravel() for values in (a[:, None], b[:, None], bounds)]
    rows = len(flat[0])
    table = tuple(np.empty((rows, 2 * SIDE)) for _ in range(5))
    for block in slices(rows, _TABULATED):
        for whole, part in zip(table, _tabulated(*(values[block] for values in flat)), strict=True):
            whole[block] = part
        yield block.stop / rows
    return TrimmedTable(len(bounds), *table)


def _tabulated(a: FloatArray, b: FloatArray, bound: FloatArray) -> tuple[FloatArray, ...]:
    mode = np.clip(np.log(a) - np.log(b), -bound, bound)
    peak = _log_density(a, b, mode)

    def drop(z: FloatArray) -> FloatArray:
        more = (slice(None), *(None,) * (z.ndim - 1))
        return peak[more] - _log_density(a[more], b[more], z)

    below, above = (
        reach(lambda distance: drop(mode + distance), end - mode, depth=DEPTH, halvings=15) for end in (-bound, bound)
    )
    distances = np.concatenate([below[:, None] * _BREAKS[:0:-1], above[:, None] * _BREAKS], axis=1)
    edges = mode[:, None] + distances
    widths = np.diff(edges)
    heights = np.exp(-drop(edges))
    middles = np.exp(-drop(edges[:, :-1] + widths / 2))
    mass = widths * (heights[:, :-1] + 4 * middles + heights[:, 1:])  # Simpson's rule, scaled below
    total = mass.sum(axis=1, keepdims=True)
    even = np.full_like(mass, 1 / mass.shape[1])
    mass = np.where(total > 0, mass / np.where(total > 0, total, 1.0), even)
    levels = np.cumsum(mass, axis=1) - mass
    with np.errstate(divide="ignore"):
        slopes = np.clip(np.diff(np.log(np.maximum(heights, 1e-300))), -50, 50)
    slopes = np.where(np.abs(slopes) < 1e-9, 1e-9, slopes)
    return levels, edges[:, :-1], widths / slopes, np.expm1(slopes), np.maximum(mass, 1e-300)


def _log_density(a: FloatArray, b: FloatArray, z: FloatArray) -> FloatArray:
    # a ln s(z) + b ln s(-z) with one exponential and one logarithm
    below = np.minimum(z, 0.0)
    density = np.log1p(np.exp(2 * below - z))
    density *= -(a + b)
    density += a * below
    density -= b * (z - below)
    return density
