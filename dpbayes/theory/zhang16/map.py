"""The private MAP estimate: Algorithm 3, Corollary 4 and Lemma 4 of [Zhang16], by density as printed and by mass.

Algorithm 3 and Corollary 4 are of one row: it has a Beta(a, b) prior, its probability theta is trimmed to [omega, 1 -
omega], so that one record moves the log-likelihood by at most L = ln((1 - omega)/omega), and k of n records are in its
first state. f_k is the density.
"""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.base.quadrature import panel_rule
from dpbayes.base.references import Reference
from dpbayes.base.text import escaped, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms.map_scores import cell_masses
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR
from dpbayes.posteriors.trimmed import log_mass, log_odds_bound
from dpbayes.theory.claims.claim import LOSS_TEXT, Bound, Claim, Counterexample, Verdict, flat, joined, number
from dpbayes.theory.claims.exhibit import BoundKind, Exhibit, Uses, certified_as_exact, exact_value
from dpbayes.theory.claims.setting import Axis, EvaluationPoint, Subject
from dpbayes.theory.zhang16.counts import checked_epsilons

MOST_RECORDS = 2000
"""Most records of a row; the sensitivity of its density goes through all its tables."""

_TABLES = 24
_SHARES, _WEIGHTS = panel_rule(nodes=16, panels=64)


@dataclass(frozen=True)
class TrimmedRow:
    """A Beta(a, b) row trimmed to [omega, 1 - omega] with n records. Errors: InputError for numbers out of range."""

    a: float = 1.0
    b: float = 1.0
    omega: float = 0.1
    n: int = 50

    def __post_init__(self) -> None:
        for prior in (self.a, self.b):
            finite_number("The prior", prior, low=LEAST_PRIOR, high=MOST_PRIOR)
        log_odds_bound(self.omega)
        object.__setattr__(self, "n", whole_number("The number of records", self.n, low=1, high=MOST_RECORDS))

    @property
    def constant(self) -> float:
        """L = ln((1 - omega)/omega)."""
        return log_odds_bound(self.omega)

    def log_masses(self, first: FloatArray) -> FloatArray:
        """Return ln Z_k, the normaliser of f_k, for k = `first` (...,): (...,)."""
        return log_mass(self.a + first, self.b + self.n - first, self.omega)

    def log_kernel(self, first: FloatArray, theta: FloatArray) -> FloatArray:
        """Return ln f_k(theta) + ln Z_k for k = `first` (...,) and theta (..., Q): (..., Q)."""
        a, b = self.a + first, self.b + self.n - first
        return (a - 1)[..., None] * np.log(theta) + (b - 1)[..., None] * np.log1p(-theta)

    @cached_property
    def density_sensitivity(self) -> float:
        """The most that one replaced record moves the posterior density at any theta, at all tables of n records.

        f_{k+1} - f_k is proportional to theta^(a-1) (1-theta)^(b-2) (theta/Z_{k+1} - (1-theta)/Z_k), a = a_k, b = b_k:
        its derivative vanishes at the roots of a quadratic, which with both ends are all there is to look at.
        [Zhang16] Algorithm 3.
        """
        # With a = b the tables k and n - k mirror each other.
        tables = self.n // 2 + 2 if self.a == self.b else self.n + 1
        every = np.arange(tables, dtype=np.float64)
        first, masses = every[:-1], self.log_masses(every)
        a, b = self.a + first, self.b + self.n - first
        # theta/Z_{k+1} - (1 - theta)/Z_k is s theta - 1 in units of 1/Z_k.
        s = 1 + np.exp(masses[:-1] - masses[1:])
        square, linear, constant = -s * (a + b - 2), s * a + a + b - 3, 1 - a
        with np.errstate(divide="ignore", invalid="ignore"):
            root = np.sqrt(np.maximum(linear**2 - 4 * square * constant, 0.0))
            half = -(linear + np.copysign(root, linear)) / 2
            roots = np.stack([half / square, constant / half], axis=-1)
        low, high = self.omega, 1 - self.omega
        sides = np.broadcast_to([low, high], roots.shape)
        theta = np.concatenate([np.clip(np.nan_to_num(roots, nan=low), low, high), sides], axis=-1)
        after = np.exp(self.log_kernel(first + 1, theta) - masses[1:, None])
        return float(np.abs(after - np.exp(self.log_kernel(first, theta) - masses[:-1, None])).max())


def printed_loss(row: TrimmedRow, *, epsilon: ArrayLike) -> FloatArray:
    """Return the exact loss of the printed law, proportional to prior exp(epsilon f / (2 sqrt(L))), at epsilons (...).

    By quadrature: the largest over some k, denser at small ones, and both orders, at the interval's ends and the
    quadrature's nodes; every one of them is a true loss. [Zhang16] Corollary 4.
    """
    rate = checked_epsilons(epsilon)[..., None, None, None] / (2 * math.sqrt(row.constant))
    # theta = omega + (1 - 2 omega) sin(turn)^2 crowds the nodes at both ends, where large n puts its peaks.
    turn = np.pi / 2 * _SHARES
    log_weights = np.log(_WEIGHTS * np.sin(2 * turn))
    theta = row.omega + (1 - 2 * row.omega) * np.sin(np.concatenate([turn, [0.0, np.pi / 2]])) ** 2
    nodes = theta[: len(turn)]
    log_weights = log_weights + (row.a - 1) * np.log(nodes) + (row.b - 1) * np.log1p(-nodes)
    first = np.unique(np.round(np.geomspace(1, row.n, _TABLES))) - 1 + np.array([[0], [1]])  # k and k + 1
    scores = rate * np.exp(row.log_kernel(first, theta) - row.log_masses(first)[..., None])
    log_law = scores - special.logsumexp(scores[..., : len(nodes)] + log_weights, axis=-1)[..., None]
    loss: FloatArray = np.abs(np.diff(log_law, axis=-3)).max(axis=(-3, -2, -1))
    return loss


CELLS = 20
"""Cells of the MAP estimate in Lemma 4, as the mechanism's default."""


# How far a score moves


def algorithm_3(row: TrimmedRow) -> Bound:
    """Return how far one record moves the printed score, a density, for a row with L r = L. [Zhang16] Algorithm 3.

    Printed Delta = sqrt(L r); certified, and exact, is the density's own sensitivity, since Algorithm 3 scores by
    density and neither sqrt(L r) nor `mass_sensitivity` bounds one.
    """
    return Bound(
        ALGORITHM_3, np.asarray(math.sqrt(row.constant)), np.asarray(row.density_sensitivity), "posterior density"
    )


def mass_sensitivity(log_ratio: ArrayLike) -> FloatArray:
    """Return min(1, tanh(L r / 2)), the most that one record moves the posterior mass of any set, for L r (...).

    The posteriors' log ratio lies in an interval of length 2 L r. It is what a score by mass needs in place of
    sqrt(L r). [Zhang16] Algorithm 3, mended.
    """
    return np.tanh(np.asarray(log_ratio, dtype=np.float64) / 2)


def _row_of_algorithm_3(subject: Subject, at: EvaluationPoint) -> TrimmedRow:
    """Return the row with this log ratio and size. Errors: InputError for more records than are gone through."""
    return _row_of(subject, omega=float(special.expit(-at.knobs.log_ratio)), records=at.knobs.size)


def _row_of(subject: Subject, *, omega: float, records: int) -> TrimmedRow:
    if records > MOST_RECORDS:
        raise InputError(
            f"The sensitivity of the score is computed over all tables of a row, for at most {MOST_RECORDS:,} records; "
            f"{records:,} are too many. Choose fewer records."
        )
    row = (subject.concentration, subject.concentration, omega, records)
    return subject.memo.once(row, TrimmedRow, *row)


def _algorithm_3_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    ratio = at.knobs.log_ratio
    return f"""
- One row with prior $\\mathrm{{Beta}}(a, a)$, $a = {number(subject.concentration)}$, $n = {at.knobs.size:g}$ records,
  trimmed to $[\\omega, 1-\\omega]$, $\\omega = 1/(1 + e^{{L\\rho}}) = {number(float(special.expit(-ratio)))}$.
- **As stated**: $\\Delta = \\sqrt{{L\\rho}} = \\sqrt{{{ratio:g}}} = {bound.stated}$ for every $n$.
- **Proved**, and exact: over all tables of $n$ records and all $\\theta$, one record changes the posterior
  density by up to ${bound.proved}$.
- If the score is the posterior mass of a set instead, the sensitivity $\\Delta$ suffices, and so does
  $\\tanh(L\\rho/2) = {number(float(mass_sensitivity(ratio)))}$.
"""


def corollary_4(row: TrimmedRow, *, epsilon: ArrayLike) -> Bound:
    """Return the privacy loss of Algorithm 3 as printed, with the density for a score, at `epsilon` (...).

    Printed epsilon; certified epsilon times the density's real sensitivity over sqrt(L). Scored by masses with
    `mass_sensitivity`, the loss is epsilon. [Zhang16] Corollary 4.
    """
    epsilons = checked_epsilons(epsilon)
    score = algorithm_3(row)
    return Bound(COROLLARY_4, epsilons, epsilons * score.certified / score.printed, "nats of privacy loss")


def trimmed_row(subject: Subject, at: EvaluationPoint) -> TrimmedRow:
    """Return the row that Corollary 4 is shown for, with its sensitivity once found. Errors: InputError."""
    return _row_of(subject, omega=at.knobs.omega, records=subject.records)


def counterexample_algorithm_3(row: TrimmedRow | None = None) -> Counterexample:
    """Return how far one record moves the density, and sqrt(L r). [Zhang16] Algorithm 3."""
    row = row or TrimmedRow()
    bound = algorithm_3(row)
    return Counterexample.of(bound, _setting(row), truth=row.density_sensitivity)


def _corollary_4_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    constant = log_odds_bound(at.knobs.omega)
    moved = float(bound.certified[0] / bound.printed[0]) * math.sqrt(constant)
    return f"""
- One row with prior $\\mathrm{{Beta}}(a, a)$, $a = {number(subject.concentration)}$, $n = {subject.records}$ records,
  trimmed to $[\\omega, 1-\\omega]$, $\\omega = {at.knobs.omega:g}$: $L = {number(constant)}$, $\\Delta = \\sqrt L =
  {number(math.sqrt(constant))}$.
- **As stated**: $\\epsilon = {bound.stated}$ nats.
- **Proved**: one record moves the density by up to ${number(moved)}$, hence
  $\\epsilon \\cdot {number(moved)}/\\Delta = {bound.proved}$ nats.
"""


def counterexample_corollary_4(row: TrimmedRow | None = None, *, epsilon: float = 1.0) -> Counterexample:
    """Return the `printed_loss`, above epsilon. [Zhang16] Corollary 4."""
    row = row or TrimmedRow()
    bound, truth = corollary_4(row, epsilon=epsilon), float(printed_loss(row, epsilon=epsilon))
    return Counterexample.of(bound, f"{_setting(row)}, epsilon = {epsilon:g}", truth=truth)


def counterexample_footnote_4(a: float = 0.5, *, theta: float = 1e-12) -> Counterexample:
    """Show a density without the bound that the normalising constant needs. [Zhang16] Section 4.2, footnote 4.

    For a < 1 the density of Beta(a, a) grows without limit at 0, faster than any logarithm: the integral of
    exp(c f) diverges. `printed` is the density at 1/2, and any other finite bound is exceeded nearer to 0.
    """
    log_density = (a - 1) * (np.log([theta, 0.5]) + np.log1p([-theta, -0.5])) - special.betaln(a, a)
    return Counterexample(
        FOOTNOTE_4,
        f"The density of Beta({a:g}, {a:g}) at {numeral(theta)} against that at 1/2",
        truth=float(np.exp(log_density[0])),
        printed=float(np.exp(log_density[1])),
        certified=math.inf,
        unit="posterior density",
    )


# How near the estimate comes


@dataclass(frozen=True, eq=False)
class Shortfall:
    """The exponential mechanism over G cells: scores `masses` (G,), base measure `base` (G,) and the scores' Delta."""

    masses: FloatArray
    base: FloatArray
    sensitivity: float

    def outside(self, *, epsilon: float, t: ArrayLike) -> FloatArray:
        """Return P[u <= u* - 2 t], the probability of a score that much below the best, for t (...)."""
        t = np.asarray(t, dtype=np.float64)
        law = special.softmax(epsilon * self.masses / (2 * self.sensitivity) + np.log(self.base))
        return ((self.masses <= self.masses.max() - 2 * t[..., None]) * law).sum(axis=-1)

    def near(self, t: ArrayLike) -> FloatArray:
        """Return xi(S_t), the base mass of scores above u* - t, for t (...)."""
        t = np.asarray(t, dtype=np.float64)
        return ((self.masses > self.masses.max() - t[..., None]) * self.base).sum(axis=-1)


def shortfall(a: float, b: float, *, counts: tuple[int, int], cells: int, sensitivity: float) -> Shortfall:
    """Return the mechanism for a Beta(a, b) prior after `counts`, with (0, 1) cut into equal cells."""
    masses, base = cell_masses([a + counts[0], a], [b + counts[1], b], cells=cells)
    return Shortfall(masses, base, sensitivity)


def lemma_4(mechanism: Shortfall, *, epsilon: float, t: ArrayLike) -> Bound:
    """Return the probability that the estimate scores 2 t below the best, for t > 0 (...). [Zhang16] Lemma 4.

    Printed exp(-epsilon t)/xi(S_t), certified exp(-epsilon t/(2 Delta))/xi(S_t), with the prior's mass xi and at most
    1. xi(S_t) depends on the data.
    """
    levels = np.asarray(t, dtype=np.float64)
    near = mechanism.near(levels)
    return Bound(
        LEMMA_4,
        np.exp(-epsilon * levels) / near,
        np.minimum(np.exp(-epsilon * levels / (2 * mechanism.sensitivity)) / near, 1.0),
        "probability",
    )


def binary_root(network: Network) -> int | None:
    """Return the first binary node without parents, if there is one."""
    roots = (i for i, family in enumerate(network.families) if len(family) == 1 and network.cards[i] == 2)
    return next(roots, None)


def shortfall_of_root(subject: Subject, *, sensitivity: float = 1.0) -> Shortfall:
    """Return the mechanism, scored by masses, for the row of the binary root. Errors: InputError without one."""
    network, counts, root = subject.network, subject.required_counts, binary_root(subject.network)
    if root is None:
        raise InputError("Lemma 4 is computed for a binary node without parents, and this network has no such node.")
    first, second = (int(value) for value in network.table(counts.values, root).ravel())
    prior = subject.concentration
    return shortfall(prior, prior, counts=(first, second), cells=CELLS, sensitivity=sensitivity)


def _lemma_4_of_root(subject: Subject, at: EvaluationPoint) -> Bound:
    """[Zhang16] Lemma 4, with scores that are masses. Errors: InputError without a binary root."""
    mechanism, t = shortfall_of_root(subject), np.array([at.knobs.gap / 2])
    return joined([lemma_4(mechanism, epsilon=epsilon, t=t) for epsilon in at.epsilon])


def _measured_shortfall(subject: Subject, at: EvaluationPoint) -> ArrayLike:
    """Find the exact probability of a score at least 2t below the best."""
    mechanism = shortfall_of_root(subject)
    return np.array([float(mechanism.outside(epsilon=epsilon, t=at.knobs.gap / 2)) for epsilon in at.epsilon])


def _row_of_root(subject: Subject) -> str:
    """Return the row that Lemma 4 is shown for, in words."""
    root = binary_root(subject.network)
    return f"for the row of {escaped(subject.network.names[root])}" if root is not None else "for the row of a root"


def _lemma_4_formula(subject: Subject, at: EvaluationPoint, bound: Bound) -> str:
    t = at.knobs.gap / 2
    near = math.exp(-at.epsilon[0] * t) / float(bound.printed[0])
    return f"""
- Computed {_row_of_root(subject)}; scores are posterior masses of cells, $\\Delta = 1$; $t = {t:g}$,
  $\\xi(S_t) = {number(near)}$.
- **As stated**: $e^{{-\\epsilon t}}/\\xi(S_t) = {bound.stated}$.
- **Proved**: $e^{{-\\epsilon t/2\\Delta}}/\\xi(S_t)$, at most 1: ${bound.proved}$.
"""


def counterexample_lemma_4() -> Counterexample:
    """Return the exact probability above the printed bound: uniform prior, Delta = 2. [Zhang16] Lemma 4."""
    return _exceeded(1.0, 2.0, epsilon=50.0, t=0.0749)


def counterexample_lemma_4_masses() -> Counterexample:
    """Return the same at Delta = 1, the most that any mass moves: prior Beta(2, 1). [Zhang16] Lemma 4."""
    return _exceeded(2.0, 1.0, epsilon=200.0, t=0.0958)


def _exceeded(a: float, sensitivity: float, *, epsilon: float, t: float) -> Counterexample:
    mechanism = shortfall(a, 1.0, counts=(0, 1), cells=5, sensitivity=sensitivity)
    bound = lemma_4(mechanism, epsilon=epsilon, t=t)
    return Counterexample.of(
        bound,
        f"Beta({a:g}, 1) prior, one record in the second state, 5 cells, Δ = {sensitivity:g}, "
        f"ε = {epsilon:g}, t = {t:g}",
        truth=float(mechanism.outside(epsilon=epsilon, t=t)),
    )


def _setting(row: TrimmedRow) -> str:
    return f"A Beta({row.a:g}, {row.b:g}) row trimmed to [{row.omega:g}, {1 - row.omega:g}], n = {row.n}"


ALGORITHM_3 = Claim(
    Reference("Zhang16", "Algorithm 3"),
    "One record changes the score of private MAP little",
    r"\Delta = \sqrt{L r}",
    Verdict.FALSE,
    "√(L r) bounds the change of the probability of a set; tanh(L r / 2) is a smaller bound. The stated score is a "
    "density. The change of a density grows with the number of records and depends on the parametrisation.",
)
FOOTNOTE_4 = Claim(
    Reference("Zhang16", "Section 4.2, footnote 4"),
    "Private MAP draws from a proper density",
    r"\int e^{\epsilon u(D, \theta)} \mu(\theta) \, d\theta \le e^{M \epsilon}",
    Verdict.AMENDED,
    "The score must be bounded. If a parameter is below 1, the posterior density is unbounded and the "
    "integral is infinite.",
)
COROLLARY_4 = Claim(
    Reference("Zhang16", "Corollary 4"),
    "A private MAP estimate (Algorithm 3) is ε-private",
    r"P[\theta] \propto e^{\epsilon u(D, \theta) / (2 \Delta)} \xi(\theta)",
    Verdict.FALSE,
    "With the density as score, the privacy loss is several times ε. With the masses of cells as score, the loss is ε.",
)
LEMMA_4 = Claim(
    Reference("Zhang16", "Lemma 4"),
    "A private MAP estimate has a score near the best",
    r"P(S_{2t}^c) \le e^{-\epsilon t} / \xi(S_t)",
    Verdict.FALSE,
    "The exponent lacks a factor 1/(2 Δ), so the lemma holds only for Δ up to 1/2.",
)


EXHIBITS: dict[str, Exhibit] = {
    "COROLLARY_4": Exhibit(
        COROLLARY_4,
        lambda subject, at: corollary_4(trimmed_row(subject, at), epsilon=at.epsilons),
        _corollary_4_formula,
        (Axis.EPSILON,),
        *LOSS_TEXT,
        also=("bounds.omega", "bounds.prior"),
        measure=exact_value(
            "exact loss of two tables",
            lambda subject, at: printed_loss(trimmed_row(subject, at), epsilon=at.epsilons),
        ),
        limit=trimmed_row,
    ),
    "LEMMA_4": Exhibit(
        LEMMA_4,
        _lemma_4_of_root,
        _lemma_4_formula,
        (Axis.EPSILON,),
        "a shortfall in at most {} of releases",
        "probability of a score at least 2t below the best",
        also=("bounds.gap", "bounds.prior"),
        says=BoundKind.CHANCE,
        measure=exact_value("exact probability", _measured_shortfall),
        uses=Uses.COUNTS,
        part=_row_of_root,
    ),
    "ALGORITHM_3": Exhibit(
        ALGORITHM_3,
        lambda subject, at: flat(algorithm_3(_row_of_algorithm_3(subject, at))),
        _algorithm_3_formula,
        (Axis.LOG_RATIO,),
        "that one record changes the score by at most {}",
        "change of the score by one record, posterior density",
        also=("bounds.size", "bounds.prior"),
        measure=certified_as_exact("exact change of the density"),
        limit=_row_of_algorithm_3,
    ),
}
