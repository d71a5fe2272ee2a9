"""The audit of [Zhang16] Algorithm 3 to the letter, for one binary node: it does not keep its promise."""

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.audit.entry import Audit, Hypothetical, Numbers
from dpbayes.audit.pictures import TwoLaws
from dpbayes.audit.report import (
    AuditReport,
    DeltaCurve,
    WorstCase,
    checked_grid,
    counts_text,
    pure_report,
    require_size,
    worst_case,
)
from dpbayes.base.text import many, numeral
from dpbayes.mechanisms.exact_class import require_exact_class
from dpbayes.mechanisms.finite import exact_curve, exact_pure_epsilon
from dpbayes.mechanisms.printed_map import PrintedMap
from dpbayes.model.compositions import neighbour_pairs


def audit_printed_map(mechanism: PrintedMap, *, n: int, epsilons: ArrayLike) -> AuditReport:
    """Return the exact audit of [Zhang16] Algorithm 3 as printed, for one binary root node on its grid of outputs.

    Nothing is certified. Errors: InputError for bad epsilons.
    """
    require_exact_class(mechanism, PrintedMap)
    require_size(mechanism.n, n)
    table = mechanism.log_pmf_table()
    # k of n records in the first state, in the order in which `neighbour_pairs` lists (k, n - k).
    pairs = neighbour_pairs(mechanism.n, sides=2)
    inputs = tuple(counts_text((k, mechanism.n - k)) for k in range(mechanism.n + 1))
    outputs = tuple(numeral(value, 4) for value in mechanism.theta)
    scope = f"All tables of {many(mechanism.n, 'record')}, all their neighbours and all {mechanism.points:,} outputs."
    grid, loss = checked_grid(epsilons), exact_pure_epsilon(table, pairs=pairs)
    deltas = exact_curve(table, pairs=pairs, epsilons=grid)
    return pure_report(
        mechanism,
        exact=loss.epsilon,
        curve=DeltaCurve(grid, deltas, deltas),
        worst=worst_case(table, loss, inputs, outputs),
        scope=scope,
    )


def _densities(mechanism: PrintedMap, worst: WorstCase, *, n: int) -> TwoLaws | None:
    """The same laws as densities: the outputs lie closer to each other at the ends."""
    laws, wide = worst.laws, np.diff(mechanism.theta)
    if laws is None:
        return None
    widths = (np.append(wide, 0.0) + np.append(0.0, wide)) / 2
    return TwoLaws(
        places=mechanism.theta,
        first=laws.first / widths,
        second=laws.second / widths,
        x="released estimate θ",
        y="density",
        is_logarithmic=True,
    )


def _mechanism_at(numbers: Numbers) -> PrintedMap:
    prior = (numbers["prior"], numbers["prior"])
    return PrintedMap(prior=prior, n=numbers["n"], epsilon=numbers["epsilon"], omega=numbers["omega"])


AUDIT = Audit(
    kind=PrintedMap,
    report=audit_printed_map,
    picture=_densities,
    tables="Each table is shown by the numbers of records in the first and in the second state.",
    hypothetical=Hypothetical(
        title="Density-scored MAP, as printed (one node)",
        parameters=("epsilon", "n", "prior", "omega"),
        caption="The audit uses a hypothetical node; the open table is not used.",
        mechanism_at=_mechanism_at,
        where=lambda numbers: f"tables of {many(numbers['n'], 'record')} of one binary node",
    ),
    cases={"Density-scored MAP": {"epsilon": 1.0, "n": 50, "prior": 1.0, "omega": 0.1}},
)
