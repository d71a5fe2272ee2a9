"""The curator's request for a release. It is public, and it does not depend on the records."""

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from dpbayes.base.amounts import Amount, EpsilonDelta, PrivacyMeasure, amount_in, amount_text, number_of
from dpbayes.base.validation import InputError, brief, finite_number, is_writable, whole_number
from dpbayes.mechanisms import Releasable, releasable
from dpbayes.mechanisms.exact_form import Sensitivity
from dpbayes.mechanisms.noise.exact import Calibrated
from dpbayes.mechanisms.noise.prices import checked_prices
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR, Dirichlets
from dpbayes.releases.document.canonical import canonical, decimal, fraction, fraction_text
from dpbayes.releases.document.promises import checked_epsilon, checked_rho, checked_stated, exact

MOST_RECORDS = 10**12

MOST_NODES = 2000

LEAST_OF_A_CELL = 1e-9
"""The smallest Dirichlet parameter of a cell if every cell has its own, as for a node with many cells under BDeu."""

MOST_LETTERS = 200
"""Letters of a dataset's id, of a name and of a state."""


class DomainChoice(enum.Enum):
    """How the states of the nodes were declared."""

    CURATOR = "by the curator, without looking at the records"
    PUBLISHED = "from a published description of the data"


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """A request for a release; two requests with the same `question` are the same.

    The guarantee is an `epsilon`, or a `rho` if the mechanism has one; the other is 0. If (epsilon, delta) is `stated`
    instead of a rho, the rho implies it. `dataset` is the id that the curator gives the table. `prior` has decimals as
    typed, one for every cell or one for all; 1 is uniform. `settings` has the mechanism's parameters, decimals as
    typed; missing ones have their typical value. `prices` distribute the noise of a mechanism among the sets of nodes,
    one for each set but the empty one; without prices, the best ones are used.
    The graph must have been chosen without looking at the records. Errors: InputError.
    """

    dataset: str
    network: Network
    mechanism: str
    epsilon: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    stated: EpsilonDelta | None = None
    n: int
    prior: tuple[str, ...] = ("1",)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    prices: tuple[int, ...] = ()
    domains: DomainChoice

    def __post_init__(self) -> None:
        entry = releasable(self.mechanism)
        require_few(self.network.names)
        entry.require(self.network)
        for name, value in {
            "dataset": checked_id(self.dataset),
            **self._checked_loss(entry),
            "n": whole_number("The number of records", self.n, low=1, high=MOST_RECORDS),
            "prior": _checked_prior(self.network, self.prior),
            "settings": _checked_settings(entry, self.settings),
            "prices": _checked_prices(entry, self.network, self.prices),
        }.items():
            object.__setattr__(self, name, value)
        require_writable(self.network)
        require_domain_choice(self.domains)
        if not self.sensitivity.value:
            raise InputError(
                "The output of this mechanism does not depend on the records, so there is nothing to release."
            )

    def _checked_loss(self, entry: Releasable) -> dict[str, Fraction]:
        if self.stated is not None and entry.measure is PrivacyMeasure.EPSILON:
            raise InputError(f"The mechanism {entry.label} has a guarantee with delta 0. Leave delta out.")
        if self.stated is not None and not self.rho and not self.epsilon:
            return {"rho": checked_rho(checked_stated(self.stated).rho)}
        stated = {"epsilon": exact("epsilon", self.epsilon), "rho": exact("rho", self.rho)}
        other = PrivacyMeasure.RHO if entry.measure is PrivacyMeasure.EPSILON else PrivacyMeasure.EPSILON
        if stated[other.value]:
            raise InputError(
                f"The guarantee of the mechanism {entry.label} is in {entry.measure.value}, not in {other.value}. "
                f"State {entry.measure.article} {entry.measure.value}."
            )
        if self.stated is not None and not checked_stated(self.stated).follows_from(stated["rho"]):
            raise InputError("The stated epsilon and delta do not follow from the stated rho. State a smaller rho.")
        check = checked_epsilon if entry.measure is PrivacyMeasure.EPSILON else checked_rho
        return {entry.measure.value: check(stated[entry.measure.value])}

    @property
    def cost(self) -> Amount:
        """The cost, which is the epsilon or the rho of the guarantee."""
        return amount_in(self.entry.measure, self.entry.promised(self))

    @cached_property
    def calibrated(self) -> Calibrated:
        """The noise scale for the guarantee. Errors: InputError if OpenDP does not confirm it."""
        return self.entry.calibrated(self)

    @property
    def entry(self) -> Releasable:
        """The exact form of the mechanism."""
        return releasable(self.mechanism)

    @cached_property
    def dirichlets(self) -> Dirichlets:
        """The prior, in doubles."""
        values = [float(Fraction(text)) for text in self.prior]
        return Dirichlets(self.network, np.resize(np.array(values), self.network.cell_count))

    @cached_property
    def sensitivity(self) -> Sensitivity:
        """The sensitivity of the statistic to one replaced record, with its proof."""
        return self.entry.sensitivity(self)

    @cached_property
    def content(self) -> dict[str, object]:
        """The request as JSON has it."""
        network = self.network
        nodes = zip(network.names, network.states, network.parents, strict=True)
        return {
            "dataset": self.dataset,
            "network": [{"name": name, "states": list(s), "parents": list(p)} for name, s, p in nodes],
            "mechanism": self.mechanism,
            "settings": {name: amount_text(value) for name, value in self.settings.items()},
            self.entry.measure.value: fraction_text(number_of(self.cost)),
            **({"prices": list(self.prices)} if self.prices else {}),
            **({} if self.stated is None else {"stated": {k: fraction_text(v) for k, v in vars(self.stated).items()}}),
            "n": self.n,
            "prior": list(self.prior),
            "domains": self.domains.value,
        }

    @property
    def question(self) -> bytes:
        """The request in canonical form: equal bytes request the same release."""
        return canonical(self.content)


def request_from(content: Mapping[str, Any]) -> ReleaseRequest:
    """Return the request of JSON of its shape. Errors: InputError."""
    nodes = content["network"]
    require_few(nodes)  # before anything is computed from them
    network = Network(
        tuple(node["name"] for node in nodes),
        tuple(tuple(node["states"]) for node in nodes),
        tuple(tuple(node["parents"]) for node in nodes),
    )
    if releasable(content["mechanism"]).priced is not None and not content.get("prices"):
        raise InputError("The numbers of this mechanism have different scales, so the release must state the prices.")
    stated = content.get("stated")
    return ReleaseRequest(
        dataset=content["dataset"],
        network=network,
        mechanism=content["mechanism"],
        **{name: fraction(name, content[name]) for name in ("epsilon", "rho") if name in content},
        stated=EpsilonDelta(**{k: fraction(k, v) for k, v in stated.items()}) if stated else None,
        n=content["n"],
        prior=tuple(content["prior"]),
        settings=content["settings"],
        prices=tuple(content.get("prices", ())),
        domains=domains_called(content["domains"]),
    )


# Columns, of which a graph is still to be chosen


def columns_as_network(names: Sequence[str], states: Sequence[Sequence[str]]) -> Network:
    """Return the network without arrows over declared columns."""
    return Network(tuple(names), tuple(map(tuple, states)), ((),) * len(names))


def columns_content(columns: Network) -> list[dict[str, object]]:
    """Return columns as JSON has them."""
    return [{"name": name, "states": list(states)} for name, states in zip(columns.names, columns.states, strict=True)]


def columns_from(content: Sequence[Mapping[str, Any]]) -> Network:
    """Return the columns of JSON. Errors: InputError."""
    require_few(content)  # before anything is computed from them
    return columns_as_network([column["name"] for column in content], [column["states"] for column in content])


COLUMNS_SHAPE: Mapping[str, Any] = {
    "dataset": str,
    "columns": [{"name": str, "states": [str]}],
    "n": int,
    "domains": str,
}
"""The types of the fields that every request over columns has."""


def require_valid_columns(dataset: str, columns: Network, n: int) -> None:
    """Refuse what no request over columns may have. Errors: InputError."""
    checked_id(dataset)
    whole_number("The number of records", n, low=1, high=MOST_RECORDS)
    require_few(columns.names)
    require_writable(columns)


# Checks


def domains_called(text: str) -> DomainChoice:
    """Return the choice with this text. Errors: InputError for another text."""
    try:
        return DomainChoice(text)
    except ValueError:
        raise InputError(f"{brief(text)} is not a valid statement in a release.") from None


def require_domain_choice(domains: object) -> None:
    """Refuse a request that does not state how its domains were declared. Errors: InputError."""
    if not isinstance(domains, DomainChoice):
        raise InputError("A release must state how its domains were declared.")


def require_few(nodes: Sequence[object]) -> None:
    """Refuse more nodes than a release may have. Errors: InputError."""
    if len(nodes) > MOST_NODES:
        raise InputError(f"The network has {len(nodes):,} nodes; the limit for a release is {MOST_NODES:,}.")


def checked_id(dataset: object) -> str:
    """Return a dataset's id. Errors: InputError if it is empty, too long or longer than a line."""
    if not isinstance(dataset, str) or not dataset.strip() or len(dataset) > MOST_LETTERS:
        raise InputError(f"The dataset needs an id of at most {MOST_LETTERS} letters.")
    if not dataset.isprintable() or dataset != dataset.strip():
        raise InputError("The dataset's id must be a single line without leading or trailing spaces.")
    return dataset


def _checked_prior(network: Network, prior: tuple[str, ...]) -> tuple[str, ...]:
    if len(prior) not in (1, network.cell_count):
        raise InputError(
            f"The prior must be one decimal, or one for each of the network's {network.cell_count:,} cells."
        )
    least = LEAST_PRIOR if len(prior) == 1 else LEAST_OF_A_CELL
    distinct = {text: _prior_text(text, least) for text in set(prior)}
    if len(set(distinct.values())) == 1:  # one prior, one form
        return (next(iter(distinct.values())),)
    return tuple(distinct[text] for text in prior)


def _prior_text(text: str, least: float) -> str:
    value = decimal("The prior", text)
    finite_number("The prior", float(value), low=least, high=MOST_PRIOR)
    return amount_text(value)


def _checked_settings(entry: Releasable, settings: Mapping[str, Any]) -> Mapping[str, Fraction]:
    for name in settings:
        if name not in entry.settings:
            raise InputError(f"The mechanism {entry.label} has no setting {brief(name)}.")
    checked = {}
    for name, parameter in entry.settings.items():
        given = settings.get(name, str(parameter.typical))
        value = decimal(name, amount_text(given) if isinstance(given, Fraction) else given)
        parameter.checked(name, float(value))
        checked[name] = value
    return MappingProxyType(checked)


def _checked_prices(entry: Releasable, network: Network, prices: tuple[int, ...]) -> tuple[int, ...]:
    if entry.priced is None:
        if prices:
            raise InputError(f"The mechanism {entry.label} has one scale for all numbers and takes no prices.")
        return ()
    return checked_prices(network, prices or entry.priced(network))


def require_writable(network: Network) -> None:
    """Check names and states. Errors: InputError if one is too long, or has an unpaired surrogate."""
    texts = (*network.names, *(state for states in network.states for state in states))
    if max(map(len, texts)) > MOST_LETTERS:
        raise InputError(f"A name or a state has more than {MOST_LETTERS} letters; shorten it.")
    if not all(map(is_writable, texts)):
        raise InputError("A name or a state contains an unpaired surrogate character. Remove it.")
