"""The joint noise-aware posterior: all rows at once, by expectation propagation between the rows of a network.

The row-wise posterior (`noise_aware`) uses each row separately. Given a release, the rows of a network depend on each
other: a row's total is a count in the parents' rows, and a sum over many rows has a smaller relative error than a row.

1. All consistent tables of n records are described by their residuals t. Their distribution is approximated as normal:
   the likelihood of the released residuals, if noise was added to residuals, times a normal factor of every row, the
   site.
2. A row's exact factor is Dirichlet-multinomial(k | T), times the exact distribution of its cells' noise (module
   `rows`). Given all other sites, the row's distribution is computed on points, and the site is moved towards it. Later
   sweeps move the sites less, and none moves them fully, which could be too far. About 4 sweeps suffice.
3. The joint table of parents that no family contains gets a factor from the network (module `parents`).
4. A row's marginals are mixtures over its points. Samples of all rows have the dependence of the normal distribution
   and these marginals (module `draws`).

If the sweeps do not converge for a release, its posterior is computed row by row.
"""

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, product

import numpy as np
from scipy import special
from threadpoolctl import ThreadpoolController

from dpbayes.base.quadrature import spread_points
from dpbayes.base.text import many
from dpbayes.base.types import BoolArray, FloatArray, IntArray
from dpbayes.base.validation import InputError, leading
from dpbayes.model.network import Network
from dpbayes.posteriors.answers import DRAWS, answer_of, even_scores
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.influence import exact_cells
from dpbayes.posteriors.joint.design import JointDesign, inverse_root
from dpbayes.posteriors.joint.draws import RowDraws, TablesLaw
from dpbayes.posteriors.joint.parents import ParentsDesign, ParentsFactor, parents_designs, parents_factors
from dpbayes.posteriors.joint.rows import Normals, Place, Tilted, TiltedRows
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.noise_aware import checked_tables, noise_aware
from dpbayes.posteriors.noise_model import NoiseModel
from dpbayes.posteriors.row_priors import row_priors

_LEAST_SWEEPS = 4
"""The number of sweeps of a batch of releases. Only releases that have not converged get more of them. Against twenty,
the means of rows then have an error of about 0.003 standard deviations."""

_SHARES = tuple(min(0.9, 2.5 / (sweep + 1)) for sweep in range(20))
"""By what share every sweep moves the sites. Full steps can diverge, small ones average the errors of the points."""

_STATES_IN_GROUPS, _LEAST_IN_GROUPS = 3, 0.2
"""The largest number of states for which counts are grouped, and the least parameter for which those of so many states
are. Where it is smaller, two of three counts are often 0, and the few groups of each count represent that badly."""

_SETTLED = 0.5
"""The limit for the change of a row's numbers in the last sweep, in standard deviations, for convergence."""

_SETTLED_POINTS = 1.0
"""The limit for their change with the final points, which are more than the points of a sweep."""

_ERRORS = 4.0
"""The number of standard errors of importance sampling by which the limits for a change are wider."""

_POINTS, _SWEEP_POINTS, _FEW_POINTS = 512, 256, 128
"""Points of every row at the end, in a sweep, and in the first two sweeps."""

_MOST_POINTS, _FINAL_NUMBERS = 4096, 1 << 17
"""The largest number of final points of a row with three or more states, and the number of points times cells up to
which there are more than `_POINTS`. With 512, the points in the tail of a cell near 0 are so few that the end of an
interval can have an error of one standard deviation."""

_LEAST_TABLES, _MOST_TABLES, _TABLE_NUMBERS = 64, 512, 1 << 13
"""The least and the largest number of samples of all tables for the parents, and the number of samples times cells."""

_MOST_DRAWS, _DRAWN_NUMBERS = 2048, 1 << 16
"""The largest number of samples for the interval of a question, and the number of samples times cells up to which there
are more than `DRAWS`. With 512 samples, the ends of intervals have sampling errors of about 0.1 standard deviations;
with 2048, of 0.05. Networks like Alarm have 512, because samples take as long as the posterior."""

_ASTRAY = 1e6
"""The limit for the mean of a residual after a step, in units of n, which is the largest residual."""

_LEAST_VARIANCE = 1e-6
"""The smallest variance of a released residual, in squared counts; smaller variances are raised to it."""


@dataclass(frozen=True, eq=False)
class JointPosterior(DirichletMixtures):
    """The joint noise-aware posterior: marginals of rows as in `DirichletMixtures`, and samples of all rows together.

    Args:
        prior: The prior.
        counts: Possible counts (..., S, K) of every cell.
        weights: Their weights (..., S, m).
        tables: The normal distribution of all tables of the B releases, for samples.

    Example:
        >>> network = dp.chain(2)
        >>> counts = dp.Counts(network, np.array([70, 30, 60, 10, 10, 20]), 100)
        >>> release = dp.LaplaceUpdates(prior=network, epsilon=1).simulate(counts, np.random.default_rng(1))
        >>> posterior = release.joint_noise_aware()
        >>> posterior.sample(np.random.default_rng(1), 200).shape
        (200, 6)
    """

    tables: TablesLaw

    def __repr__(self) -> str:
        rows, releases, alone = self.weights.shape[-1], self.is_settled.size, int((~self.is_settled).sum())
        how = f"{alone} of {many(releases, 'release')} computed row by row" if alone else "computed together"
        return f"<JointPosterior of {many(rows, 'row')}, {how}>"

    @property
    def is_settled(self) -> BoolArray:
        """For which releases (...) the iteration has converged; the others have the wider row-wise posterior."""
        return np.asarray(self.tables.is_settled.reshape(self.weights.shape[:-2]))

    @cached_property
    def effective(self) -> FloatArray:
        """The number of points of every row (..., m). They cover the distribution, so unequal weights do no harm."""
        shape = self.weights.shape
        worth = 1 / (self.weights**2).sum(axis=-2)
        return np.where(self.is_settled[..., None], float(shape[-2]), worth)

    def part(self, draws: int | slice) -> "JointPosterior":
        """Return a part of a batch (draws, S, K)."""
        places = slice(draws, draws + 1) if isinstance(draws, int) else draws
        return replace(self, counts=self.counts[draws], weights=self.weights[draws], tables=self.tables.part(places))

    def _means(self, target: str, evidence: Mapping[str, str]) -> FloatArray:
        """P(target | evidence) (..., r): the mean of its row, or else a mean over dependent samples of all rows."""
        if evidence.keys() == set(self.network.parents[self.network.index(target)]):
            return super()._means(target, evidence)
        return answer_of(self.network, self._even_draws, target, evidence, LEVEL).mean

    @cached_property
    def _even_alpha(self) -> FloatArray:
        """The parameters (S, ..., K) of the posteriors given sampled counts of all rows together."""
        rows, cells = self.network.row_count, self.network.cell_count
        number = int(np.clip(_DRAWN_NUMBERS // cells, DRAWS, _MOST_DRAWS))
        scores = even_scores((number, 1, self.tables.design.size), 1)
        counts = self._counts(np.repeat(scores, len(self.tables.mean), axis=1), even_scores((number, 1, rows), 3))
        return self.prior.alpha + counts

    @property
    def _exact_cells(self) -> tuple[FloatArray, FloatArray]:
        alone, joint = super()._exact_cells, exact_cells(self.network, self.prior.alpha, self._even_alpha)
        is_settled = self.is_settled[..., None]
        return np.where(is_settled, joint[0], alone[0]), np.where(is_settled, joint[1], alone[1])

    def drawn(self, rng: np.random.Generator, size: int | tuple[int, ...] = ()) -> Dirichlets:
        """Sample the counts of all rows together, and return the posteriors given them: (*size, ..., K)."""
        size = leading(size)
        shape = int(np.prod(size)), len(self.tables.mean)
        scores = rng.standard_normal((*shape, self.tables.design.size))
        counts = self._counts(scores, rng.standard_normal((*shape, self.network.row_count)))
        return self.prior.updated(counts.reshape(*size, *counts.shape[1:]))

    def _counts(self, scores: FloatArray, apart: FloatArray) -> FloatArray:
        """Counts (S, ..., K) for scores (S, B, R); without convergence, for scores (S, B, m) of independent rows."""
        counts = self.tables.counts(scores)
        if not self.tables.is_settled.all():
            is_alone = ~self.tables.is_settled
            own, weights = (values.reshape(-1, *values.shape[-2:])[is_alone] for values in (self.counts, self.weights))
            shares = np.broadcast_to(special.ndtr(apart), (len(scores), len(is_alone), apart.shape[-1]))[:, is_alone]
            alone = DirichletMixtures(self.prior, own, weights)._picked(shares)
            counts[:, is_alone] = alone.alpha - self.prior.alpha
        return counts.reshape(len(scores), *self.weights.shape[:-2], -1)


def joint_noise_aware(prior: Dirichlets, noise: NoiseModel, released: FloatArray, n: int) -> JointPosterior:
    """Return the joint posterior of all rows given released tables (..., K) of n records.

    Args:
        prior: The prior.
        noise: The public distribution of the noise.
        released: The released tables (..., K).
        n: The number of records.

    Returns:
        The posterior.

    Raises:
        InputError: The tables or the noise belong to another network, a number is not finite, there are no records, a
            node has one state, the network has more than `MOST_RESIDUALS` free numbers in its tables, or a matrix of
            the computation is singular.
    """
    tables = checked_tables(prior, noise, released)
    work = prior.readings.once(n, _Work.of, prior, n)
    try:
        with _blas().limit(limits=1, user_api="blas"):  # more threads take twice as long for matrices of this size
            counts, weights, law = _read(_Releases(work, noise, tilted_rows(prior, noise, n), tables))
    except np.linalg.LinAlgError:
        raise InputError(
            "The joint posterior cannot be computed for this release. Use the row-wise posterior."
        ) from None
    shape = (*np.shape(released)[:-1], counts.shape[1])
    chosen = (noise, released) if prior.is_graph_chosen else None
    return JointPosterior(prior, counts.reshape(*shape, -1), weights.reshape(*shape, -1), law, chosen=chosen)


@functools.cache
def _blas() -> ThreadpoolController:
    """The loaded libraries of linear algebra; the search for them takes a millisecond."""
    return ThreadpoolController()


@dataclass(frozen=True, eq=False)
class _Work:
    """The parts that depend neither on the noise nor on the release."""

    prior: Dirichlets
    n: int
    design: JointDesign
    parents: tuple[ParentsDesign, ...]
    scores: FloatArray

    @classmethod
    def of(cls, prior: Dirichlets, n: int) -> "_Work":
        design = JointDesign(prior.network, n)
        tables = int(np.clip(_TABLE_NUMBERS // prior.network.cell_count, _LEAST_TABLES, _MOST_TABLES))
        scores = special.ndtri(spread_points(tables, max(1, design.size))).T[:, : design.size]
        return cls(prior, n, design, parents_designs(design), scores)

    @property
    def network(self) -> Network:
        return self.prior.network

    @cached_property
    def of_parents(self) -> tuple[IntArray, FloatArray]:
        """The cells (C,) of the nodes in the parents' joint tables and their ancestors, and their columns (R, C)."""
        network = self.network
        nodes = {node for own in self.parents for node in own.nodes}
        for node in reversed(network.order):
            if node in nodes:
                nodes.update(network.families[node])
        ranges = [np.arange(network.cell_offsets[node], network.cell_offsets[node + 1]) for node in sorted(nodes)]
        cells = np.concatenate(ranges)
        return cells, np.ascontiguousarray(self.design.tables[:, cells])


def tilted_rows(prior: Dirichlets, noise: NoiseModel, n: int) -> tuple[TiltedRows, ...]:
    """Return the rows of a network in groups of nodes: roots or not, in groups or not, by states."""
    network = prior.network
    states, is_root = network.cards, np.array([len(family) == 1 for family in network.families])
    least = np.minimum.reduceat(prior.alpha, network.cell_offsets[:-1])
    is_grouped = (states < _STATES_IN_GROUPS) | ((states == _STATES_IN_GROUPS) & (least >= _LEAST_IN_GROUPS))
    groups: list[TiltedRows] = []
    for is_fixed, in_groups in product((True, False), repeat=2):
        nodes = (is_root == is_fixed) & (is_grouped == in_groups)
        chosen = np.flatnonzero(nodes[network.node_of_row])
        if not chosen.size:
            continue
        name = "joint", n, is_fixed, in_groups
        for part in prior.readings.once(name, row_priors, prior, n, chosen, network.cell_count):
            groups.append(TiltedRows(part, is_fixed, in_groups, noise.scale, noise.sd))
    return tuple(groups)


@dataclass(frozen=True, eq=False)
class _Releases:
    """Releases (B, K), and the rows of the network in groups; `base` is the normal factor of released residuals.

    `where` (m, 2) has the group of every row, and its index there. `base` is a precision (R,) and a shift (B, R).
    """

    work: _Work
    noise: NoiseModel
    groups: tuple[TiltedRows, ...]
    tables: FloatArray

    @cached_property
    def where(self) -> IntArray:
        where = np.empty((self.work.network.row_count, 2), dtype=np.int64)
        for g, rows in enumerate(self.groups):
            where[rows.prior.rows, 0] = g
            where[rows.prior.rows, 1] = np.arange(len(rows.prior.rows))
        return where

    @cached_property
    def base(self) -> tuple[FloatArray, FloatArray]:
        design = self.work.design
        if self.noise.scale:
            return np.full(design.size, 1e-9 / (self.work.n + 1) ** 2), np.zeros((len(self.tables), design.size))
        precision = 1 / np.maximum(self.noise.variances[design.sets], _LEAST_VARIANCE)
        return precision, self.work.network.residuals.of_tables(self.tables)[:, 1:] * precision

    def part(self, releases: IntArray) -> "_Releases":
        """Return a part of a batch."""
        return replace(self, tables=self.tables[releases])

    def points(self, rows: TiltedRows) -> int:
        """Return the number of final points of each of some rows."""
        if rows.states == 2:
            return _POINTS
        return int(np.clip(_FINAL_NUMBERS // self.work.network.cell_count, _POINTS, _MOST_POINTS))


@dataclass(frozen=True, eq=False)
class _SweptLaws:
    """The state of the sweeps: the rows' regions and sites, the tables' normal distribution, and the rows' change (B,).

    The residuals have `mean` (B, R) and covariance root.T root, with `root` (B, R, R).
    """

    regions: list[Place]
    sites: list[Normals]
    mean: FloatArray
    root: FloatArray
    moved: FloatArray

    def part(self, releases: IntArray) -> "_SweptLaws":
        """Return a part of a batch."""
        return _SweptLaws(
            [(mean[releases], covariance[releases]) for mean, covariance in self.regions],
            [Normals(precision[releases], shift[releases]) for precision, shift in self.sites],
            *(values[releases] for values in (self.mean, self.root, self.moved)),
        )

    def put(self, releases: IntArray, others: "_SweptLaws") -> None:
        """Replace a part of a batch."""
        for own, new in zip(self._arrays, others._arrays, strict=True):
            own[releases] = new

    @property
    def _arrays(self) -> list[FloatArray]:
        return [*chain(*self.regions, *self.sites), self.mean, self.root, self.moved]


def _read(batch: _Releases) -> tuple[FloatArray, FloatArray, TablesLaw]:
    """Return counts (B, S, K), weights (B, S, m) and the tables' distribution for some releases."""
    work, tables = batch.work, batch.tables
    laws, marginals, final, is_settled = _swept(batch)
    points = max(tilted.weights[0, 0].size for tilted in final)
    counts = np.zeros((len(tables), points, work.network.cell_count))
    weights = np.zeros((len(tables), points, work.network.row_count))
    rows = []
    for own, tilted, (mean, covariance) in zip(batch.groups, final, marginals, strict=True):
        r, m, number = own.states, len(own.prior.rows), tilted.weights[0, 0].size
        numbers = tilted.scattered(own.prior.alpha).reshape(r, len(tables), m, -1)
        shares = tilted.weights.reshape(len(tables), m, -1)
        counts[:, :number, own.prior.cells] = numbers.transpose(1, 3, 2, 0)
        weights[:, :number, own.prior.rows] = shares.swapaxes(1, 2)
        sizes = own.inner_sizes(batch.points(own))
        rows.append(RowDraws(own.prior.cells, own.prior.alpha, tilted, mean, covariance, sizes))
    if (alone := np.flatnonzero(~is_settled)).size:
        quick = noise_aware(work.prior, batch.noise, tables[alone], work.n, points=points)
        counts[alone], weights[alone] = quick.counts, quick.weights
    return counts, weights, TablesLaw(work.design, laws.mean, laws.root, tuple(rows), is_settled)


def _swept(batch: _Releases) -> tuple[_SweptLaws, list[Place], list[Tilted], BoolArray]:
    """Sweep until convergence, by at most as many sweeps as there are shares.

    The results are the last laws, and the rows' normal and final distributions and convergence (B,) given them. A
    release that has converged takes part in no further sweep, so that its result does not depend on the others.
    """
    fits = batch.work.network.residuals.consistent(batch.tables, batch.work.n)
    regions = [_first_region(rows, batch, fits) for rows in batch.groups]
    sites = [_first_site(rows, batch.tables) for rows in batch.groups]
    laws = _SweptLaws(regions, sites, *_combined(batch, sites, []), np.full(len(batch.tables), np.inf))
    sweep = 0
    with np.errstate(all="ignore"):  # convergence is tested at the end
        while True:
            late = np.flatnonzero(~(laws.moved < _SETTLED) | (sweep < _LEAST_SWEEPS))
            if late.size and sweep < len(_SHARES):
                laws.put(late, _sweep(batch.part(late), laws.part(late), sweep, _SHARES[sweep]))
                sweep += 1
                continue
            marginals, final = _final(batch, laws)
            is_settled = (laws.moved < _SETTLED) & (_distance(laws.regions, final) < _SETTLED_POINTS)
            again = (laws.moved < _SETTLED) & ~is_settled
            if sweep == len(_SHARES) or not again.any():
                return laws, marginals, final, is_settled
            laws.moved[again] = np.inf


def _final(batch: _Releases, laws: _SweptLaws) -> tuple[list[Place], list[Tilted]]:
    """Return the rows' normal and final distributions given the last sites."""
    marginals, final = _marginals(batch, laws), []
    for rows, normal, site, region in zip(batch.groups, marginals, laws.sites, laws.regions, strict=True):
        cavity = rows.cavity(*normal, site)
        final.append(rows.located(batch.tables[:, rows.prior.cells], cavity, region, batch.points(rows)))
    return marginals, final


def _sweep(batch: _Releases, laws: _SweptLaws, sweep: int, share: float) -> _SweptLaws:
    """Update all rows' sites, the parents' factors, and the distribution of all tables."""
    marginals = _marginals(batch, laws)
    located, sites = [], []
    for g, rows in enumerate(batch.groups):
        mean, covariance = marginals[g]
        cavity = rows.cavity(mean, covariance, laws.sites[g])
        region = (np.clip(mean, 0, rows.n), covariance) if sweep else laws.regions[g]
        size = _SWEEP_POINTS if sweep > 1 else _FEW_POINTS
        law = rows.located(batch.tables[:, rows.prior.cells], cavity, region, size)
        located.append(law)
        sites.append(laws.sites[g].towards(rows.site(law, cavity), share))
    factors = _parents(batch.work, laws) if batch.work.parents and sweep else []  # the first one: noise only
    moved = _distance(laws.regions, located)
    swept = _SweptLaws([law.region for law in located], sites, *_combined(batch, sites, factors), moved)
    if (lost := np.flatnonzero(~(np.abs(swept.mean) < _ASTRAY * batch.work.n).all(axis=-1))).size:
        # A step is not taken if the covariance is not positive definite afterwards, or almost.
        swept.put(lost, laws.part(lost))
        swept.moved[lost] = np.inf
    return swept


def _distance(before: list[Place], after: list[Tilted]) -> FloatArray:
    """The largest change of the rows' means (B,), in the larger standard deviation plus `_ERRORS` sampling errors."""
    moved = np.zeros(len(before[0][0]))
    for old, law in zip(before, after, strict=True):
        new = law.region
        variances = (np.diagonal(covariance, axis1=-2, axis2=-1) for _, covariance in (old, new))
        sd = np.sqrt(np.maximum(*variances) + 0.1) * (1 + _ERRORS * law.sampling_error[..., None])
        moved = np.maximum(moved, (np.abs(new[0] - old[0]) / sd).max(axis=(-2, -1)))
    return np.where(np.isfinite(moved), moved, np.inf)


def _parents(work: _Work, laws: _SweptLaws) -> list[ParentsFactor]:
    drawn = np.swapaxes(laws.mean[:, None] + np.matmul(work.scores, laws.root), 0, 1)
    cells, tables = work.of_parents
    counts = np.ones((*drawn.shape[:2], work.network.cell_count))
    counts[..., cells] = work.design.centre[cells] + drawn @ tables
    return parents_factors(work.parents, work.network, counts, work.n)


def _first_region(rows: TiltedRows, batch: _Releases, fits: FloatArray) -> Place:
    """The rows' mean and covariance if prior and noise are both approximated as normal."""
    network = batch.work.network
    variances, nodes = network.residuals.row_variances(batch.noise.variances), network.node_of_row
    share, covariance = rows.prior.given_noise(*(own[nodes[rows.prior.rows], None] for own in variances))
    fit, (centre, _) = fits[:, rows.prior.cells], rows.prior.moments
    mean = (fit + np.matmul(share, (centre - fit)[..., None])[..., 0]) @ rows.prior.lift.T
    return np.clip(mean, 0, rows.n), np.broadcast_to(covariance, (len(fits), *covariance.shape)).copy()


def _first_site(rows: TiltedRows, tables: FloatArray) -> Normals:
    """The noise of the rows' own cells as a normal factor, if noise was added to every cell."""
    r, shape = rows.states, (len(tables), len(rows.prior.rows))
    if not rows.scale:
        return Normals(np.zeros((*shape, r, r)), np.zeros((*shape, r)))
    back = np.linalg.inv(rows.prior.lift)
    precision = np.broadcast_to(back.T @ back / rows.sd**2, (*shape, r, r)).copy()
    shift = tables[:, rows.prior.cells] @ back / rows.sd**2
    if rows.is_fixed:
        shift -= precision[..., 0] * rows.n
        precision[..., 0, :] = precision[..., :, 0] = shift[..., 0] = 0.0
    return Normals(precision, shift)


def _combined(batch: _Releases, sites: list[Normals], factors: list[ParentsFactor]) -> Place:
    """Multiply all normal factors: the mean (B, R) of the residuals, and a root (B, R, R) of their covariance."""
    design, shift = batch.work.design, batch.base[1].copy()
    number = len(shift)
    precision = np.tile(np.diag(batch.base[0]), (number, 1, 1))
    for family in design.families:
        group, places = batch.where[family.rows[0], 0], batch.where[family.rows, 1]
        own, toward = sites[group].precision[:, places], sites[group].shift[:, places]
        q, r, size = family.matrix.shape
        flat, numbers = family.matrix.reshape(q * r, size), family.numbers
        precision[:, numbers[:, None], numbers] += flat.T @ np.matmul(own, family.matrix).reshape(number, q * r, size)
        moved = toward - np.matmul(own, family.centre[..., None])[..., 0]
        shift[:, numbers] += moved.reshape(number, q * r) @ flat
    for factor in factors:
        precision[:, factor.numbers[:, None], factor.numbers] += factor.precision
        shift[:, factor.numbers] += factor.shift
    root = np.stack([inverse_root(own) for own in precision])
    return np.matmul(np.matmul(root, shift[..., None]).swapaxes(-1, -2), root)[:, 0], root


def _marginals(batch: _Releases, laws: _SweptLaws) -> list[Place]:
    """The normal distributions of all rows."""
    number = len(laws.mean)
    regions = [
        (
            np.empty((number, len(rows.prior.rows), rows.states)),
            np.empty((number, len(rows.prior.rows), rows.states, rows.states)),
        )
        for rows in batch.groups
    ]
    for family in batch.work.design.families:
        mean, covariance = regions[batch.where[family.rows[0], 0]]
        places, numbers = batch.where[family.rows, 1], family.numbers
        q, r, size = family.matrix.shape
        columns = laws.root[:, :, numbers]
        own = np.matmul(np.swapaxes(columns, -1, -2), columns)
        by = np.matmul(family.matrix, own[:, None])
        covariance[:, places] = np.matmul(by, np.swapaxes(family.matrix, -1, -2))
        along = laws.mean[:, numbers] @ family.matrix.reshape(q * r, size).T
        mean[:, places] = family.centre + along.reshape(number, q, r)
    return regions
