"""The errors of all mechanisms, and the least epsilon for one answer: `dp.compare`, `dp.least_epsilon`."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.estimates import standard_error
from dpbayes.base.libraries import pd
from dpbayes.base.randomness import generator, stream
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, whole_number
from dpbayes.experiments.least_epsilon import LeastEpsilon, answer_errors
from dpbayes.experiments.planned_tables import TrueTable, planned_tables
from dpbayes.experiments.releases import MechanismAt, concluded
from dpbayes.mechanisms import PRIVATE
from dpbayes.mechanisms.parameters import EPSILON
from dpbayes.model.dataset import Counts, Dataset, count
from dpbayes.model.network import Network
from dpbayes.model.question import Question
from dpbayes.model.synthetic import MAX_RECORDS
from dpbayes.posteriors.noise_model import Reading
from dpbayes.posteriors.prior_rules import PriorRule, rule_for

MOST_RELEASES = 10_000

TABLES, GRID = 200, np.geomspace(0.01, 100, 41)
"""The planned tables of `least_epsilon`, a release each, and its epsilons."""

UNIFORM = "The probabilities are uniform. If the evidence is rarer in the true table, the least epsilon is larger."


@dataclass(frozen=True, eq=False)
class MechanismErrors:
    """Mean absolute errors of the probabilities in one simulated release of every table, by mechanism.

    The tables and the random numbers are the same at every epsilon.

    Attributes:
        mechanisms: The mechanisms at an epsilon, by name. Errors: InputError where one cannot be used.
        tables: The tables (T, K).
        reading: How a recipient reads a release; one that does not state its noise is read naively.
        seed: The seed of the noise.
    """

    mechanisms: Mapping[str, MechanismAt]
    tables: Counts
    reading: Reading = Reading.NOISE_AWARE
    seed: int = 1

    def at(self, name: str, epsilon: float) -> FloatArray:
        """Return the mean over all cells of |released - exact|: (T,). Errors: InputError if it cannot be used."""
        mechanism = self.mechanisms[name](epsilon)
        exact = mechanism.prior.updated(self.tables).mean
        release = mechanism.simulate(self.tables, stream(self.seed, "comparison", name))
        private = concluded(release, self.reading if release.tells_noise else Reading.AS_REAL)
        return np.asarray(np.abs(private - exact).mean(axis=-1))

    def over(self, name: str, epsilons: Sequence[float]) -> FloatArray:
        """Return the errors at some epsilons, NaN where the mechanism cannot be used: (E, T)."""
        errors = np.full((len(epsilons), len(self.tables.values)), np.nan)
        for k, epsilon in enumerate(epsilons):
            with suppress(InputError):
                errors[k] = self.at(name, epsilon)
        return errors

    def table(self, epsilons: Sequence[float]) -> "pd.DataFrame":
        """Return a row for each mechanism and epsilon, as `compare` does."""
        return pd.DataFrame([self._row(name, float(epsilon)) for name in self.mechanisms for epsilon in epsilons])

    def _row(self, name: str, epsilon: float) -> dict[str, object]:
        row: dict[str, object] = {"mechanism": name, "epsilon": epsilon}
        try:
            errors, proved = self.at(name, epsilon), self.mechanisms[name](epsilon).certified
        except InputError as refusal:
            return row | {"proved": "", "error": np.nan, "standard_error": np.nan, "reason": str(refusal)}
        spread = float(standard_error(errors))
        return row | {"proved": str(proved), "error": float(errors.mean()), "standard_error": spread, "reason": ""}


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
    noise where the mechanism states it. The errors are computed from the true records: they are not private. The two
    Gaussian mechanisms have a delta of 1e-5; the others have none.

    Args:
        table: The table.
        network: The network.
        epsilons: The values of epsilon.
        releases: The number of simulated releases of each mechanism at each epsilon.
        seed: A generator or a seed.

    Returns:
        A row for each mechanism and epsilon, with the columns "mechanism", "epsilon", "proved" (the guarantee),
        "error" and "standard_error". The column "reason" says why a mechanism cannot be used; its error is then NaN.

    Raises:
        InputError: The table does not fit the network, or the number of releases is out of range.

    Example:
        >>> network, cpts = dp.load_named("asia")
        >>> errors = dp.compare(dp.sample_dataset(network, cpts, 1000, 1), network, epsilons=[0.1, 10], releases=5)
        >>> laplace = errors[errors["mechanism"] == "Laplace"]["error"].tolist()
        >>> laplace[0] > laplace[1]
        True
    """
    if not 0 < len(set(epsilons)) == len(epsilons):
        raise InputError("epsilons must be one or more values, each once, such as [0.1, 1].")
    for epsilon in epsilons:
        EPSILON.checked("Every epsilon of epsilons", epsilon)
    size = whole_number("releases", releases, low=2, high=MOST_RELEASES)
    tables, number = TrueTable(count(network, table)).of(size), int(generator(seed).integers(2**32))
    return MechanismErrors({kind.label: _at(kind, network) for kind in PRIVATE}, tables, seed=number).table(epsilons)


def _at(kind: Any, network: Network) -> MechanismAt:
    """Return a mechanism with the recommended prior at any epsilon."""
    return lambda epsilon: kind(prior=rule_for(kind, PriorRule()).on(network), epsilon=epsilon)


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

    The result is as good as the probabilities. Uniform ones, such as the mean of a prior, give every row many records.
    If the evidence is rarer in the true table, the answer needs a larger epsilon; the result's `note` then says so.

    Args:
        question: The question.
        probabilities: Public CPTs (K,) of its network, from which tables are sampled: those of an earlier study or a
            public table, or a guess by names, `dp.guess`.
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
    if kind not in PRIVATE:
        raise InputError(f"kind must be a private one of dp.MECHANISMS, such as dp.LaplaceUpdates, not {brief(kind)}.")
    n = whole_number("n", n, low=1, high=MAX_RECORDS)
    rng = generator(seed)
    tables = planned_tables(question.network, probabilities, n, TABLES, rng)
    at = _at(kind, question.network)
    errors = answer_errors(at, question, tables, GRID.tolist(), rng, reading=Reading.NOISE_AWARE)
    rows = question.network.over_cells(question.network.row_sums(np.ones(question.network.cell_count)))
    return replace(errors.least(tolerance), note=UNIFORM if np.allclose(np.multiply(probabilities, rows), 1) else "")
