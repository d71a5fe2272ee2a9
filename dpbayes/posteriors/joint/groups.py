"""Groups of neighbouring whole numbers, which represent the totals and the counts of a row.

If a Dirichlet parameter alpha is below 1, the factor Gamma(k + alpha)/k! of a count k falls steeply near 0. A group
then has the mean of this factor, and a place within the group is sampled in proportion to it.
"""

from collections.abc import Callable

import numpy as np

from dpbayes.base.types import FloatArray

_REACH, _DENSE = 6.5, 2.8
"""The range of the points on either side of the mean, in standard deviations; Laplace noise has long tails. Beyond the
second number, the size of a group is proportional to its distance from the mean."""

_POWER = 3
"""If one end of the range is in reach of a steep distribution, the edges of groups are at this power of even shares."""


def groups_of_numbers(
    centre: FloatArray, sd: FloatArray, low: FloatArray, high: FloatArray, number: int, *, is_steep: bool
) -> tuple[FloatArray, FloatArray]:
    """Return groups of neighbouring whole numbers from `low` to `high` around a centre: their middles and sizes.

    If the range has few numbers, every number is a group. Groups of size 0 fill up the last axis (..., number).
    """
    reach = np.maximum(_REACH * sd, number / 2 - 1)
    first = np.clip(np.floor(centre - reach), low, np.maximum(low, np.floor(high - 2 * reach)))
    last = np.clip(np.ceil(centre + reach), np.minimum(high, np.ceil(low + 2 * reach)), high)
    start, end = first - 0.5, last + 0.5
    shares = np.arange(number + 1) / number
    # If every group is a single number, all groups have the same size.
    is_single = last - first < number
    scale = np.where(is_single, 1e3 * (reach + 1), _DENSE * sd)
    from_, to = np.arcsinh((start - centre) / scale), np.arcsinh((end - centre) / scale)
    places = (scale[..., None] * np.sinh(from_[..., None] + (to - from_)[..., None] * shares)) + centre[..., None]
    at_low, at_high = first <= low, last >= high
    at_end = (at_low | at_high) & ~is_single & is_steep
    if at_end.any():
        # Groups are small near the ends that are in reach.
        parts = np.where(
            (at_low & at_high)[..., None],
            np.sin(np.pi / 2 * shares) ** 2,
            np.where(at_low[..., None], shares**_POWER, 1 - (1 - shares) ** _POWER),
        )
        steep = start[..., None] + (end - start)[..., None] * parts
        # Every group has at least one number.
        steps = np.arange(number + 1)
        steep = np.clip(steep, start[..., None] + steps, end[..., None] - steps[::-1])
        places = np.where(at_end[..., None], steep, places)
    edges = start[..., None] + np.rint(places - start[..., None])
    # The middle of an even number of totals is no whole number. Groups of counts up to it begin at both ends, because a
    # group of half a number at one end would have half of its weight.
    is_half = ((end - start) % 1 > 0)[..., None]
    if is_half.any():
        half = ((start + end) / 2)[..., None]
        from_end = end[..., None] - np.rint(end[..., None] - places)
        both = np.where(places <= half, np.minimum(edges, half), np.maximum(from_end, half))
        edges = np.where(is_half, both, edges)
    edges = np.maximum.accumulate(np.minimum(edges, end[..., None]), axis=-1)
    edges[..., -1] = end
    width = np.diff(edges, axis=-1)
    middle = (edges[..., 1:] + edges[..., :-1]) / 2
    return np.clip(middle, low[..., None], high[..., None]), width


def within_group(
    count: FloatArray, last: FloatArray, spread: FloatArray, part: FloatArray, powers: tuple[FloatArray, FloatArray]
) -> FloatArray:
    """Return the count at a share `part` of a group of counts around its middle; `last` is the count of the last cell.

    `spread` is the variance of the group's whole numbers. All counts of a group have the same weight, unless a
    Dirichlet parameter in `powers` is below 1. The weights then decrease from 0, or from the total, as a power.
    """
    width = np.sqrt(12 * spread + 1)
    moved = count + np.clip((part - 0.5) * (width - 1), -count, last)
    if min(float(power.min()) for power in powers) >= 1:
        return np.asarray(moved)
    is_near = count <= last
    least, power = np.where(is_near, count, last), np.where(is_near, *powers)
    start = np.maximum(least - (width - 1) / 2, 0.0)
    first, end = start**power, (start + width) ** power
    place = np.floor((first + np.where(is_near, part, 1 - part) * (end - first)) ** (1 / power))
    place = np.minimum(np.clip(place, start, start + width - 1), count + last)
    return np.where((power < 1) & (width > 1), np.where(is_near, place, count + last - place), moved)


def log_mean_changes(
    cells: FloatArray, spreads: FloatArray, alpha: FloatArray, log_factor: Callable[[FloatArray, int], FloatArray]
) -> FloatArray:
    """Return the differences between log means of steep factors over groups and their logs at the groups' middles.

    Args:
        cells: The middles of the groups of every cell (r, ...).
        spreads: The variances of the whole numbers within a group (r - 1, ...); the last cell is the rest.
        alpha: The Dirichlet parameters (r, ...), which broadcast with cells.
        log_factor: ln Gamma(k + alpha)/k! of counts, with the parameter of a cell's number.
    """
    more = np.zeros(np.broadcast_shapes(cells.shape[1:], alpha.shape[1:]))
    for k, spread in enumerate(spreads):
        # The factor of the smaller count is the steeper one.
        is_near = cells[k] <= cells[-1]
        count, steeper = np.where(is_near, cells[k], cells[-1]), [(k, is_near), (-1, ~is_near)]
        if np.array_equal(alpha[k], alpha[-1]):  # both cells have the same factor
            steeper = [(k, np.ones_like(is_near))]
        width = np.sqrt(12 * spread + 1)
        start = np.maximum(np.rint(count - (width - 1) / 2), 0.0)
        end = start + np.rint(width)
        for cell, is_steeper in steeper:
            with np.errstate(divide="ignore"):
                # Sums of Gamma(k + alpha)/k! from 0 on have a closed form.
                upper, lower = (np.log(edge) + log_factor(edge, cell) for edge in (end, start))
                sums = upper + np.log(-np.expm1(lower - upper)) - np.log(alpha[cell] * (end - start))
            is_steep = (spread > 0) & (alpha[cell] < 1) & is_steeper
            more += np.where(is_steep, sums - log_factor(count, cell), 0.0)
    return more


def spread_levels(dimensions: int, number: int) -> FloatArray:
    """Return points spread evenly over the unit cube (dimensions, number), by powers of a generalised golden ratio."""
    root = 2.0
    for _ in range(40):
        root = (1 + root) ** (1 / (dimensions + 1))
    return (0.5 + np.arange(1, number + 1) * root ** -np.arange(1.0, dimensions + 1)[:, None]) % 1
