"""Real releases from Python: made, asked, saved, read again and verified, as strictly as by the commands."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from dpbayes.audit.exact_class import oddity
from dpbayes.base.amounts import EpsilonDelta, PrivacyMeasure, amount_in
from dpbayes.base.display import html_table, titled_lines
from dpbayes.base.libraries import extra, pd
from dpbayes.base.privacy import Guarantee
from dpbayes.base.randomness import generator
from dpbayes.base.text import many
from dpbayes.base.validation import InputError, brief, type_checked, warn_caller, whole_number
from dpbayes.mechanisms import REGISTRY
from dpbayes.mechanisms.adaptive.plan import plan_for
from dpbayes.mechanisms.exact_form import opendp
from dpbayes.mechanisms.release import Release
from dpbayes.model.dataset import Counts, Dataset, count, require_columns
from dpbayes.model.network import Network
from dpbayes.posteriors.answers import QueryAnswer
from dpbayes.posteriors.dirichlet import LEVEL, Dirichlets
from dpbayes.posteriors.mixtures import DirichletMixtures
from dpbayes.posteriors.prior_rules import decimals_of
from dpbayes.releases import ledger as books
from dpbayes.releases.document import Document
from dpbayes.releases.document.request import AdaptiveRequest, Chargeable, ReleaseRequest, typed_amount
from dpbayes.releases.output import require_output, write_output
from dpbayes.releases.publishing import drawn_document, publish_once, require_public, states_of_missing, unsigned_note
from dpbayes.releases.reading import records_of
from dpbayes.releases.verify import contents_of, verified
from dpbayes.sources.columns import Column
from dpbayes.sources.domains import Declarations, declare
from dpbayes.sources.table import Table


class UnaccountedWarning(UserWarning):
    """States that no ledger accounts for a release, or that the ledger doubts the name of a table.

    Example:
        >>> issubclass(dp.UnaccountedWarning, UserWarning)
        True
    """


@dataclass(frozen=True, eq=False, repr=False)
class RealRelease:
    """A real release: what a recipient gets. It contains no record and no exact count.

    Args:
        document: The bytes of `release.json`.
        table: The declarations of the columns, without records, for data frames; None if they are not known.

    Raises:
        InputError: The bytes are not a release, or do not verify, as soon as a number of it is used.

    Example:
        >>> table = dp.load_shipped("house_votes_84")
        >>> mechanism = dp.LaplaceUpdates(prior=dp.default_network("house_votes_84"), epsilon=1)
        >>> import tempfile
        >>> ledger = dp.open_ledger(tempfile.mkdtemp() + "/votes.ledger", epsilon=1, reason="an example")
        >>> released = dp.release(table, mechanism, graph_unseen=True, ledger=ledger)
        >>> released.query("crime", party="democrat").states
        ('n', 'y')
        >>> dp.verify(released).holds
        True
    """

    document: bytes
    table: Table | None = None

    def __repr__(self) -> str:
        return titled_lines("Real release", (f"{name}: {value}" for name, value in self._facts), len(self._facts))

    def _repr_html_(self) -> str:
        return html_table("Real release", ("", ""), self._facts, len(self._facts))

    @property
    def _facts(self) -> list[tuple[str, str]]:
        network = self.network
        sizes = f"{many(len(network.names), 'column')}, {many(len(network.edges), 'arrow')}"
        return [("guarantee", self.guarantee.in_full), ("n", f"{self.read.request.n:,}"), ("graph", sizes)]

    @cached_property
    def read(self) -> Document:
        """The document as read, all of whose checks hold."""
        return verified(self.document)

    @property
    def tables(self) -> Release[Any]:
        """The released numbers with their noise, as a mechanism returns them: `noise_aware()` and `posterior`."""
        return self.read.tables

    @property
    def guarantee(self) -> Guarantee:
        """What is proved about the release: the stated (epsilon, delta) with its rho, or a pure epsilon."""
        guarantee, stated = self.tables.guarantee, self.read.request.stated
        if stated is None:
            return guarantee
        return replace(guarantee, epsilon=float(stated.epsilon), delta=float(stated.delta))

    @property
    def network(self) -> Network:
        """The released graph."""
        return self.read.network

    @property
    def posterior(self) -> Dirichlets | DirichletMixtures:
        """The noise-aware posterior, or the naive one of a release that does not state its noise.

        Errors: InputError for a private MAP estimate, which has no posterior.
        """
        return self.tables.answering_posterior

    @type_checked
    def query(
        self, target: str, evidence: Mapping[str, str] | None = None, *, interval: float | None = LEVEL, **states: str
    ) -> QueryAnswer:
        """Return P(target | evidence) with intervals, which account for the noise and for the number of records.

        Given the release, the probability in the population is in a 95% interval with probability 95%.

        Args:
            target: The column in question.
            evidence: States of other columns, by name.
            interval: The level of the credible intervals; None for an answer without them.
            states: More states of other columns: `query("hypertension", smoker="yes")`.

        Returns:
            The answer, with the question and the states.

        Raises:
            InputError: A column or a state is unknown, or the release has no posterior.

        Example: see `RealRelease`.
        """
        return self.tables.query(target, evidence, interval=interval, **states)

    @type_checked
    def samples(self, n: int, *, seed: int | np.random.Generator = 0) -> "pd.DataFrame":
        """Return samples of all probabilities from the posterior, as a data frame with a column for each.

        Args:
            n: The number of samples.
            seed: A generator or a seed.

        Returns:
            The samples; a column has the name of its probability, such as "smoker=yes | age < 30".

        Raises:
            InputError: n is out of range, or the release has no posterior.

        Example:
            >>> released.samples(100).shape  # doctest: +SKIP
            (100, 6)
        """
        drawn = self.posterior.sample(generator(seed), whole_number("n", n, low=1, high=1_000_000))
        return pd.DataFrame(drawn, columns=[self.network.cell_label(cell) for cell in range(drawn.shape[1])])

    def to_arviz(self, n: int = 1000, *, seed: int | np.random.Generator = 0) -> Any:
        """Return `samples` as ArviZ' inference data: one chain with a variable for each probability. It needs ArviZ."""
        with extra("arviz", "Inference data"):
            import arviz
        drawn = self.samples(n, seed=seed)
        return arviz.from_dict(posterior={name: drawn[name].to_numpy()[None] for name in drawn.columns})

    @type_checked
    def synthetic(self, n: int, *, seed: int | np.random.Generator = 0) -> Dataset:
        """Return synthetic records of the release's probabilities. They cost no more privacy.

        The same seed returns the same records: another batch needs another seed.

        Args:
            n: The number of records.
            seed: A generator or a seed.

        Returns:
            The records, whose `to_frame` has the types of the original frame if the declarations are known.

        Raises:
            InputError: n is out of range.

        Example:
            >>> released.synthetic(1000).n  # doctest: +SKIP
            1000
        """
        records = records_of(self.read, n, generator(seed))
        if self.table is None:
            return records
        declared = self.table.select(name for name in self.table.names if name in records.names)
        return replace(declared, codes=records.select(declared.names).codes)

    @type_checked
    def save(self, path: str | PathLike[str], *, force: bool = False) -> Path:
        """Write the document, which `load` reads.

        Args:
            path: The file, such as release.json.
            force: Whether an existing file is replaced.

        Returns:
            The path.

        Raises:
            InputError: Another file of this name exists, or the file cannot be written.

        Example: `released.save("release.json")`.
        """
        file = Path(path)
        if file.is_file() and file.read_bytes() == self.document:
            return file
        try:
            require_output(file, [], force=force)
        except InputError as error:
            kept = "A ledger keeps its releases: the same call without again=True returns this release at no cost."
            raise InputError(f"{error} {kept}") from None
        write_output(file, self.document, force=force)
        return file


def load(path: str | PathLike[str], table: Table | Declarations | None = None) -> RealRelease:
    """Return the release of a file, which is refused if one of its checks fails; `verify` shows all of them.

    Args:
        path: The file, such as release.json.
        table: The declarations of the columns, for synthetic numbers; or a table, for the types of its frame, too. Its
            records are not used.

    Returns:
        The release.

    Raises:
        InputError: The file cannot be read, is not a release, or does not verify.

    Example:
        >>> try:
        ...     dp.load("nowhere.json")
        ... except dp.InputError as refusal:
        ...     print(refusal)
        The file "nowhere.json" cannot be read: No such file or directory. Check its name and folder.
    """
    if isinstance(table, pd.DataFrame):
        raise InputError("table must be a dp.Table or the declarations of its columns, not a data frame.")
    if table is not None and not isinstance(table, Table):
        columns = declare(table)
        names, states = [column.name for column in columns], [column.domain for column in columns]
        table = Table(tuple(names), tuple(states), np.empty((0, len(names)), dtype=np.uint8), columns)
    loaded = RealRelease(contents_of(path), None if table is None else table.take(slice(0)))
    try:
        _ = loaded.read
    except InputError as error:
        raise InputError(f"{error} Pass the file that release.save wrote, not {brief(path, 200)}.") from None
    for name, domain in zip(loaded.network.names, loaded.network.states, strict=True):
        if table is not None and (name not in table.names or table.domain(name) != domain):
            raise InputError(
                f"table must declare the columns of the release; of its column {brief(name)}, the states are "
                f"{brief(', '.join(domain), 200)}. Pass the declarations of the released table."
            )
    return loaded


# Making a release


def release(
    table: Dataset,
    mechanism: Any,
    *,
    graph_unseen: bool = False,
    ledger: str | PathLike[str] | None = None,
    dataset: str = "table",
    again: bool = False,
) -> RealRelease:
    """Make a real release of a table with a mechanism: exact noise from the operating system's randomness.

    With a ledger, the cost is charged to the dataset's budget before anything is sampled, and the same request is
    answered with the same release at no cost. Without a ledger, an `UnaccountedWarning` says that nothing is accounted
    for.

    Args:
        table: The table, with public domains.
        mechanism: The mechanism, with its graph, prior and epsilon: `dp.LaplaceUpdates(prior=network, epsilon=1)`.
        graph_unseen: Confirms that the graph and the prior were chosen without looking at the records.
        ledger: The file of the ledger; `open_ledger` opens a dataset in it.
        dataset: The name of the dataset in the ledger.
        again: Whether an earlier release of the same request is sampled and charged again.

    Returns:
        The release.

    Raises:
        InputError: The graph was not confirmed, the prior contains the counts, the domains reveal records, the
            mechanism has no real release, the budget does not suffice, or OpenDP is not installed.

    Example:
        >>> import tempfile
        >>> table = dp.load_shipped("house_votes_84")
        >>> mechanism = dp.LaplaceUpdates(prior=dp.default_network("house_votes_84"), epsilon=1)
        >>> ledger = dp.open_ledger(tempfile.mkdtemp() + "/votes.ledger", epsilon=1, reason="an example")
        >>> print(dp.release(table, mechanism, graph_unseen=True, ledger=ledger).guarantee)
        ε = 1
    """
    if not graph_unseen:
        raise InputError(
            "A graph or a prior that was chosen from the records reveals information about them, and a release "
            "publishes both. Pass graph_unseen=True if no record was used, or let dp.release_adaptive choose the graph."
        )
    require_public(_declared(table))
    request = request_for(mechanism, dataset, table)
    return _accounted(request, table, count(request.network, table), ledger, again=again)


def release_adaptive(  # noqa: PLR0913 - who calls it sets each by name
    table: Dataset,
    *,
    epsilon: float | Fraction | str,
    delta: float | Fraction | str = 0,
    target: str = "",
    ledger: str | PathLike[str] | None = None,
    dataset: str = "table",
    again: bool = False,
) -> RealRelease:
    """Make a real release of a graph over all columns of a table, and of its tables, under one (epsilon, delta).

    The graph and the tables are chosen for a small error of the tables of two columns. The ledger is that of `release`.

    Args:
        table: The table, with public domains.
        epsilon: The epsilon of the guarantee; a float means the decimal that it is written as.
        delta: The delta of the guarantee; 0 for pure privacy, whose error is larger.
        target: A column to predict from the others; a part of the budget finds what it depends on. The name is public.
        ledger: The file of the ledger.
        dataset: The name of the dataset in the ledger.
        again: Whether an earlier release of the same request is sampled and charged again.

    Returns:
        The release.

    Raises:
        InputError: A number is outside its range, the domains reveal records, the table is too large or has no records,
            the budget does not suffice, or OpenDP is not installed.

    Example:
        >>> import tempfile
        >>> ledger = dp.open_ledger(tempfile.mkdtemp() + "/votes.ledger", epsilon=1, reason="an example")
        >>> dp.release_adaptive(dp.load_shipped("house_votes_84"), epsilon=1, ledger=ledger).synthetic(100).n
        100
    """
    require_public(_declared(table))
    plan = plan_for(epsilon, delta, target)
    request = AdaptiveRequest.of(dataset, table, plan, states_of_missing(_declared(table)))
    return _accounted(request, table, table, ledger, again=again)


def _declared(table: Dataset) -> tuple[Column, ...]:
    """Return the declarations of a table's columns; none if they are not known."""
    return table.columns if isinstance(table, Table) else ()


def request_for(mechanism: Any, dataset: str, table: Dataset) -> ReleaseRequest:
    """Return the request for a real release of a table. Errors: InputError for a mechanism without an exact form."""
    entry = next((entry for entry in REGISTRY if entry.kind is type(mechanism)), None)
    if entry is None or entry.exact_form is None or oddity(mechanism, entry.kind):
        names = ", ".join(entry.kind.__name__ for entry in REGISTRY if entry.exact_form is not None)
        raise InputError(
            "mechanism must be one that has a real release, such as dp.LaplaceUpdates(prior=network, epsilon=1), not "
            f"{brief(getattr(mechanism, '__name__', type(mechanism).__name__))}. Choose one of {names}."
        )
    require_columns(mechanism.prior.network, table)
    form, loss = entry.exact_form, Fraction(str(mechanism.epsilon))
    own: dict[str, Any] = {"epsilon": loss}
    if form.noise.measure is PrivacyMeasure.RHO:
        own = {"stated": EpsilonDelta(loss, Fraction(str(mechanism.delta)))}
    return ReleaseRequest(
        dataset=dataset,
        network=mechanism.prior.network,
        mechanism=entry.name,
        n=table.n,
        missing=states_of_missing(c for c in _declared(table) if c.name in mechanism.prior.network.names),
        prior=decimals_of(mechanism.prior),
        settings={name: str(float(getattr(mechanism, name))) for name in form.settings},
        **own,
    )


NEW_LEDGER = 'dp.open_ledger("clinic.ledger", epsilon=2, reason="decided by the board")'


def _accounted(
    request: Chargeable, table: Dataset, data: Counts | Dataset, ledger: str | PathLike[str] | None, *, again: bool
) -> RealRelease:
    declared = table.take(slice(0)) if isinstance(table, Table) else None
    if ledger is None:
        warn_caller(
            "No ledger accounts for this release: whoever makes several releases of one table adds their epsilons. "
            f"Pass ledger={NEW_LEDGER}.",
            UnaccountedWarning,
        )
        return RealRelease(drawn_document(request, data), declared)
    path = Path(ledger)
    if not path.exists():
        raise InputError(f"There is no ledger at {path}. Open a dataset in it first: {NEW_LEDGER}.")
    for doubt in books.table_doubts(path, request.dataset, table, remember=True):
        warn_caller(doubt, UnaccountedWarning)
    published, is_new = publish_once(path, request, data, again=again)
    if not is_new and (note := unsigned_note(path, published.document)):
        warn_caller(note)
    return RealRelease(published.document, declared)


def open_ledger(
    path: str | PathLike[str],
    *,
    epsilon: float | Fraction | str,
    delta: float | Fraction | str = 0,
    reason: str,
    dataset: str = "table",
) -> Path:
    """Open a dataset with a budget in a ledger, which is made if it does not exist. It may be open with this budget.

    Args:
        path: The file of the ledger, such as clinic.ledger.
        epsilon: The total epsilon of all releases of the dataset.
        delta: The total delta. With a delta above 0, the budget is the rho that implies both, which also admits
            Gaussian noise and adaptive releases at a delta.
        reason: Who decided on the budget, and why.
        dataset: The name of the dataset.

    Returns:
        The path.

    Raises:
        InputError: The dataset is open with another budget, the budget is out of range, the file is not a ledger, or
            OpenDP is not installed.

    Example:
        >>> import tempfile
        >>> path = dp.open_ledger(tempfile.mkdtemp() + "/clinic.ledger", epsilon=2, reason="decided by the board")
        >>> path.name
        'clinic.ledger'
    """
    opendp()  # without it, no release could be charged to the ledger
    file, budget = books.ledger_path(path), typed_amount(str(epsilon), str(delta))
    with suppress(books.LedgerError):
        account = books.read_books(file).account(dataset)
        if amount_in(account.measure, account.budget) == budget:
            return file
    books.open_dataset(file, dataset, budget, reason=reason)
    return file
