"""The errors of all mechanisms on one table, and the least epsilon for one answer: `dp.compare`, `dp.least_epsilon`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.estimates import standard_error
from dpbayes.base.libraries import pd
from dpbayes.base.randomness import generator
from dpbayes.base.validation import InputError, whole_number
from dpbayes.experiments.least_epsilon.errors import LeastEpsilon, answer_errors
from dpbayes.experiments.least_epsilon.tables import planned_tables
from dpbayes.experiments.planned_errors import release_errors
from dpbayes.mechanisms import PRIVATE
from dpbayes.mechanisms.base import Mechanism, rule_for
from dpbayes.mechanisms.release import Outcome
from dpbayes.model.counts import Counts, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.model.question import Question
from dpbayes.posteriors.noise_model import Reading
from dpbayes.posteriors.prior_rules import PriorRule

MOST_RELEASES = 10_000

TABLES, GRID = 200, np.geomspace(0.01, 100, 41)
"""The planned tables of `least_epsilon`, a release each, and its epsilons."""


def compare(
    table: Dataset,
    network: Network,
    *,
    epsilons: Sequence[float],
    releases: int = 40,
    seed: int | np.random.Generator = 1,
) -> "pd.DataFrame":
    """Simulate releases of a table by every mechanism, and return their mean absolute errors.

    An error is the mean of |private - exact| over all conditional probabilities, for a reader who accounts for the
    noise where the mechanism states it. The errors are computed from the true records: they are not private.

    Args:
        table: The table.
        network: The network.
        epsilons: The values of epsilon.
        releases: The number of simulated releases of each mechanism at each epsilon.
        seed: A generator or a seed.

    Returns:
        A row for each mechanism and epsilon, with the columns "mechanism", "epsilon", "error" and "standard_error".
        The column "reason" says why a mechanism cannot be used; its error is then NaN.

    Raises:
        InputError: The table does not fit the network, or the number of releases is out of range.

    Example:
        >>> network, cpts = dp.load_named("asia")
        >>> errors = dp.compare(dp.sample_dataset(network, cpts, 1000, 1), network, epsilons=[0.1, 10], releases=5)
        >>> laplace = errors[errors["mechanism"] == "Laplace"]["error"].tolist()
        >>> laplace[0] > laplace[1]
        True
    """
    size, rng = whole_number("releases", releases, low=2, high=MOST_RELEASES), generator(seed)
    counts = count(network, table)
    tables = Counts(network, np.array(np.broadcast_to(counts.values, (size, network.cell_count))), counts.n)
    return pd.DataFrame([_row(tables, kind, float(epsilon), rng) for kind in PRIVATE for epsilon in epsilons])


def _row(tables: Counts, kind: Any, epsilon: float, rng: np.random.Generator) -> dict[str, object]:
    row: dict[str, object] = {"mechanism": kind.label, "epsilon": epsilon}
    try:
        mechanism = kind(prior=rule_for(kind, PriorRule()).on(tables.network), epsilon=epsilon)
        errors = release_errors(tables, mechanism, Reading.NOISE_AWARE, rng)
    except InputError as refusal:
        return row | {"error": np.nan, "standard_error": np.nan, "reason": str(refusal)}
    return row | {"error": float(errors.mean()), "standard_error": float(standard_error(errors)), "reason": ""}


def least_epsilon(
    question: Question,
    probabilities: ArrayLike,
    kind: Any,
    *,
    n: int,
    tolerance: float,
    seed: int | np.random.Generator = 1,
) -> LeastEpsilon:
    """Return the least epsilon at which 95 of 100 releases answer a question within a tolerance.

    The answer of a release is compared with that of the exact posterior, on tables that are sampled from public
    probabilities. No record is used, so the result may be published. The reader accounts for the noise where the
    mechanism states it.

    Args:
        question: The question.
        probabilities: Public CPTs (K,) of its network, from which tables are sampled.
        kind: The class of the mechanism, such as `dp.LaplaceUpdates`.
        n: The number of records.
        tolerance: The largest acceptable error of the answer.
        seed: A generator or a seed.

    Returns:
        The least epsilon between 0.01 and 100 with its 95% interval; infinity if none suffices.

    Raises:
        InputError: A number is out of range, or the mechanism cannot be used.

    Example:
        >>> network, cpts = dp.load_named("asia")
        >>> question = dp.Question(network, "bronc", "yes", {"smoke": "yes"})
        >>> dp.least_epsilon(question, cpts, dp.LaplaceUpdates, n=1000, tolerance=0.1).epsilon < 2
        True
    """
    rng = generator(seed)
    tables = planned_tables(question.network, probabilities, n, TABLES, rng)
    prior = rule_for(kind, PriorRule()).on(question.network)

    def at(epsilon: float) -> Mechanism[Outcome]:
        mechanism: Mechanism[Outcome] = kind(prior=prior, epsilon=epsilon)
        return mechanism

    errors = answer_errors(at, question, tables, GRID.tolist(), rng, reading=Reading.NOISE_AWARE)
    return errors.least(tolerance)
