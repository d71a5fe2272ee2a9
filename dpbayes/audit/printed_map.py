"""[Zhang16] Algorithm 3 exactly as stated, for one binary node, and its audit: the guarantee does not hold."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from dpbayes.audit.entry import Audit, Hypothetical, Numbers
from dpbayes.audit.pictures import two_laws
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    Laws,
    checked_grid,
    counts_text,
    pure_report,
    require_size,
    worst_case,
)
from dpbayes.base.privacy import Guarantee
from dpbayes.base.references import Reference
from dpbayes.base.text import latex, many, numeral
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, finite_number, whole_number
from dpbayes.mechanisms.finite import exact_curve, exact_pure_epsilon
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.model.compositions import neighbour_pairs
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR
from dpbayes.posteriors.trimmed import log_mass, log_odds_bound

_MOST_TABLE = 20_000_000


@dataclass(frozen=True, kw_only=True)
class PrintedMap:
    """[Zhang16] Algorithm 3 exactly as stated, for one binary root node, on a grid; not private at the stated epsilon.

    The posterior is Beta(prior + counts of n records), trimmed to [omega, 1 - omega] so that Assumption 1 holds with L
    = ln((1 - omega)/omega); records are at distance r = 1. The score is the posterior density, and the base measure has
    the prior's density. The outputs are `points` Chebyshev points, weighted by the trapezoidal rule, so that an exact
    audit can list them. Errors: InputError for numbers outside their ranges and tables that are too large.
    """

    named: ClassVar[str] = "the most likely value, chosen by its density"
    summary: ClassVar[str] = "Releases one probability, chosen by its posterior density."
    prior: tuple[float, float]
    n: int
    epsilon: float
    omega: float
    points: int = 2001

    def __post_init__(self) -> None:
        prior = tuple(finite_number("The prior", a, low=LEAST_PRIOR, high=MOST_PRIOR) for a in self.prior)
        if len(prior) != 2:
            raise InputError(f"The prior of one binary node needs two numbers, not {len(prior)}.")
        object.__setattr__(self, "prior", prior)
        finite_number("epsilon", self.epsilon, low=EPSILON.low, high=EPSILON.high)
        log_odds_bound(self.omega)
        object.__setattr__(self, "n", whole_number("The number of records", self.n, low=0, high=_MOST_TABLE))
        object.__setattr__(self, "points", whole_number("points", self.points, low=2, high=_MOST_TABLE))
        if (self.n + 1) * self.points > _MOST_TABLE:
            raise InputError(
                f"A table of {self.n + 1:,} distributions over {self.points:,} points is too large. "
                f"Use fewer records or points."
            )

    @property
    def formula(self) -> str:
        return (
            "$p(\\theta|x) \\propto \\exp(\\varepsilon\\, p_x(\\theta) / 2\\Delta)$ times the prior's density, where "
            "$p_x$ is the posterior's *density* on $[\\omega, 1 - \\omega]$, $\\Delta = \\sqrt{L}$ and $L = "
            f"\\ln\\frac{{1-\\omega}}{{\\omega}}$, hence $\\Delta = {latex(self.sensitivity)}$. $\\Delta$ bounds the "
            f"change of a set's *probability*; the density changes by more. The grid has {self.points:,} values."
        )

    @property
    def sensitivity(self) -> float:
        """Delta = sqrt(L r), as stated; a density can change by much more."""
        return float(np.sqrt(log_odds_bound(self.omega)))

    @property
    def claimed(self) -> Guarantee:
        """epsilon, as [Zhang16] Corollary 4 states."""
        return Guarantee(self.epsilon, reference=Reference("Zhang16", "Corollary 4, scored by density"))

    @property
    def certified(self) -> Guarantee:
        """epsilon times the sensitivity of the density over the stated one."""
        change = np.abs(np.diff(self._densities, axis=0)).max(initial=0.0)
        place = Reference("dpbayes", "Corollary 4 of Zhang16, with the sensitivity of the density")
        return Guarantee(self.epsilon * float(change) / self.sensitivity, reference=place)

    @property
    def theta(self) -> FloatArray:
        """The outputs, from omega to 1 - omega: (points,)."""
        turn = np.linspace(0, np.pi / 2, self.points)
        return self.omega + (1 - 2 * self.omega) * np.sin(turn) ** 2

    @property
    def widths(self) -> FloatArray:
        """What every output stands for, by the trapezoidal rule: (points,)."""
        between = np.diff(self.theta)
        return (np.append(between, 0.0) + np.append(0.0, between)) / 2

    def log_pmf_table(self) -> FloatArray:
        """Return ln P[theta | k records of n in the first state] for k = 0 .. n: (n + 1, points)."""
        log_base = self._log_density(*np.array(self.prior)[:, None])[0] + np.log(self.widths)
        scores = self.epsilon / (2 * self.sensitivity) * self._densities
        return special.log_softmax(scores + log_base, axis=-1)

    @cached_property
    def _densities(self) -> FloatArray:
        first = np.arange(self.n + 1, dtype=np.float64)
        return np.exp(self._log_density(self.prior[0] + first, self.prior[1] + self.n - first))

    def _log_density(self, a: FloatArray, b: FloatArray) -> FloatArray:
        log_theta = np.log(self.theta)  # the outputs are symmetric about 1/2
        log_kernel = (a[:, None] - 1) * log_theta + (b[:, None] - 1) * log_theta[::-1]
        return log_kernel - log_mass(a, b, self.omega)[:, None]


# The audit


def audit_printed_map(mechanism: PrintedMap, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the exact audit of [Zhang16] Algorithm 3 as printed, for one binary root node on its grid of outputs.

    Errors: InputError for bad epsilons.
    """
    require_size(mechanism.n, n)
    table = mechanism.log_pmf_table()
    # k of n records in the first state, in the order in which `neighbour_pairs` lists (k, n - k).
    pairs = neighbour_pairs(mechanism.n, sides=2)
    inputs = tuple(counts_text((k, mechanism.n - k)) for k in range(mechanism.n + 1))
    outputs = tuple(numeral(value, 4) for value in mechanism.theta)
    scope = f"All tables of {many(mechanism.n, 'record')}, all their neighbours and all {mechanism.points:,} outputs."
    grid, loss = checked_grid(epsilons), exact_pure_epsilon(table, pairs=pairs)
    deltas, worst = exact_curve(table, pairs=pairs, epsilons=grid), worst_case(table, loss, inputs, outputs)
    if worst is not None:  # the outputs lie closer to each other at the ends
        first, second = np.exp(table[[loss.x, loss.y]]) / mechanism.widths
        worst = replace(worst, laws=Laws(mechanism.theta, first, second))
    return pure_report(mechanism, exact=loss.epsilon, curve=DeltaCurve(grid, deltas, deltas), worst=worst, scope=scope)


def _mechanism_at(numbers: Numbers) -> PrintedMap:
    prior = (numbers["prior"], numbers["prior"])
    return PrintedMap(prior=prior, n=numbers["n"], epsilon=numbers["epsilon"], omega=numbers["omega"])


AUDIT = Audit(
    kind=PrintedMap,
    report=audit_printed_map,
    picture=lambda mechanism, worst, n: two_laws(worst, x=f"released estimate, {mechanism.omega} or more", y="density"),
    tables="Each table is shown by its counts (first value | second value).",
    hypothetical=Hypothetical(
        title="Density-scored MAP, as printed (one node)",
        parameters=("epsilon", "n", "prior", "omega"),
        caption="The audit uses a hypothetical node; the open table is not used.",
        mechanism_at=_mechanism_at,
        where=lambda numbers: f"tables of {many(numbers['n'], 'record')} of one binary node",
    ),
    cases={"Can the most likely value be chosen privately?": {"epsilon": 1.0, "n": 50, "prior": 1.0, "omega": 0.1}},
)
