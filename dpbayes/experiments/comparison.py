"""The errors of all mechanisms on one table, as a data frame: `dp.compare`."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpbayes.base.estimates import standard_error
from dpbayes.base.libraries import pd
from dpbayes.base.randomness import generator
from dpbayes.base.validation import InputError, whole_number
from dpbayes.experiments.planned_errors import release_errors
from dpbayes.mechanisms import PRIVATE
from dpbayes.mechanisms.base import rule_for
from dpbayes.model.counts import Counts, count
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.noise_model import Reading
from dpbayes.posteriors.prior_rules import PriorRule

MOST_RELEASES = 10_000


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
