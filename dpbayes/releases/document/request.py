"""The curator's request for a release of either kind. It is public, and it does not depend on the records."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from dpbayes.base.amounts import (
    Amount,
    EpsilonDelta,
    PrivacyMeasure,
    Rho,
    amount_text,
    measure_of,
    number_of,
)
from dpbayes.base.parameters import Parameter
from dpbayes.base.validation import InputError, brief, finite_number, whole_number
from dpbayes.base.zcdp import zcdp_epsilon
from dpbayes.mechanisms import RELEASABLE, Releasable
from dpbayes.mechanisms.adaptive.plan import AdaptivePlan
from dpbayes.mechanisms.adaptive.process import Process, require_feasible
from dpbayes.mechanisms.exact_form import Calibrated, Sensitivity, calibrated
from dpbayes.mechanisms.noise.sensitivity import checked_prices
from dpbayes.mechanisms.parameters import DELTA, EPSILON
from dpbayes.model.dataset import Dataset
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEAST_PRIOR, MOST_PRIOR, Dirichlets
from dpbayes.releases.document.canonical import canonical, decimal, fraction, fraction_text, one_line

MOST_RECORDS = 10**12

MOST_NODES = 2000

LEAST_OF_A_CELL = 1e-9
"""The smallest Dirichlet parameter of a cell if every cell has its own, as for a node with many cells under BDeu."""

MOST_LETTERS = 200
"""Letters of a dataset's id, of a name and of a state."""


# Tables of a given graph


@dataclass(frozen=True, kw_only=True)
class ReleaseRequest:
    """A request for the tables of a given graph. `dataset` is the id that the curator gives the table.

    The guarantee is an `epsilon`, or a `rho` if the mechanism has one; the other is 0. If (epsilon, delta) is `stated`
    instead of a rho, the rho implies it. `prior` has decimals as typed, one for every cell or one for all; 1 is
    uniform. `settings` has the mechanism's parameters, decimals as typed; missing ones have their typical value.
    `prices` distribute the noise of a mechanism among the sets of nodes, one for each set but the empty one; without
    prices, the best ones are used. `missing` has, by node, the declared state that a missing value counts as. `entry`
    is the exact form of the mechanism.
    The graph must have been chosen without looking at the records. Errors: InputError.
    """

    dataset: str
    n: int
    network: Network
    mechanism: str
    epsilon: Fraction = Fraction(0)
    rho: Fraction = Fraction(0)
    stated: EpsilonDelta | None = None
    prior: tuple[str, ...] = ("1",)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    prices: tuple[int, ...] = ()
    missing: Mapping[str, str] = field(default_factory=dict, hash=False)
    entry: Releasable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        entry = _releasable(self.mechanism)
        _require_valid(self, self.network)
        entry.require(self.network)
        for name, value in {
            "entry": entry,
            **self._checked_loss(entry),
            "prior": _checked_prior(self.network, self.prior),
            "settings": _checked_settings(entry, self.settings),
            "prices": _checked_prices(entry, self.network, self.prices),
        }.items():
            object.__setattr__(self, name, value)
        if not self.sensitivity.value:
            raise InputError(
                "The output of this mechanism does not depend on the records, so there is nothing to release."
            )

    def _checked_loss(self, entry: Releasable) -> dict[str, Fraction]:
        measure, stated = entry.noise.measure, self.stated
        other = PrivacyMeasure.RHO if measure is PrivacyMeasure.EPSILON else PrivacyMeasure.EPSILON
        if stated is not None and measure is PrivacyMeasure.EPSILON:
            raise InputError(f"The mechanism {entry.label} has a guarantee with delta 0. Leave delta out.")
        if getattr(self, other.value):
            cure = "Leave delta out" if measure is PrivacyMeasure.EPSILON else "State a delta, too: --delta 1e-5"
            raise InputError(
                f"The guarantee of the mechanism {entry.label} is in {measure.value}, not in {other.value}. {cure}."
            )
        loss = getattr(self, measure.value)
        if stated is not None:
            for name, value in vars(stated).items():
                checked(name, value)
            loss = loss or stated.rho
            if zcdp_epsilon(float(loss), delta=float(stated.delta)) > stated.epsilon:
                raise InputError("The stated epsilon and delta do not follow from the stated rho. State a smaller rho.")
        return {measure.value: checked(measure.value, loss)}

    @property
    def cost(self) -> Amount:
        """The cost, which is the epsilon or the rho of the guarantee."""
        return Rho(self.rho) if self.rho else self.epsilon

    @cached_property
    def calibrated(self) -> Calibrated:
        """The noise scale for the guarantee. Errors: InputError if OpenDP does not confirm it."""
        noise, promised = self.entry.noise, self.rho or self.epsilon
        least = noise.least_scale(self.sensitivity.value, promised)
        return calibrated(lambda scale: self.entry.answer(self, scale), least=least, most=noise.allowed(promised))

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
        return {
            **_shared(self),
            "network": _nodes(self.network),
            "mechanism": self.mechanism,
            "settings": {name: amount_text(value) for name, value in self.settings.items()},
            "prior": list(self.prior),
            **({"prices": list(self.prices)} if self.prices else {}),
        }


def request_from(content: Mapping[str, Any]) -> ReleaseRequest:
    """Return the request of JSON of its shape. Errors: InputError."""
    network = _network_of(content["network"])
    if _releasable(content["mechanism"]).priced is not None and not content.get("prices"):
        raise InputError("The numbers of this mechanism have different scales, so the release must state the prices.")
    return ReleaseRequest(
        dataset=content["dataset"],
        n=content["n"],
        network=network,
        mechanism=content["mechanism"],
        **{name: fraction(name, content[name]) for name in ("epsilon", "rho") if name in content},
        stated=_stated_in(content),
        prior=tuple(content["prior"]),
        settings=content["settings"],
        prices=tuple(content.get("prices", ())),
        missing=content.get("missing", {}),
    )


# An adaptive release

SHARES = ("one_way", "forest", "pairs", "parents")
SIZES = ("batches", "most_parents")
"""The fields of a plan that are exact shares, and those that are whole numbers."""


@dataclass(frozen=True, kw_only=True)
class AdaptiveRequest:
    """A request for an adaptive release.

    `columns` is the network without arrows over the declared columns. `missing` has, by column, the declared state that
    a missing value counts as. Errors: InputError.
    """

    dataset: str
    n: int
    columns: Network
    plan: AdaptivePlan
    missing: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        _require_valid(self, self.columns)
        for name in ("epsilon", *(["delta"] if self.plan.delta else [])):
            checked(name, Fraction(getattr(self.plan, name)))
        if self.columns.edges:
            raise InputError("A request for an adaptive release starts without arrows.")
        require_feasible(self.columns.states, self.n)
        Process.start(self.plan, self.columns, self.n)  # refuses a target that is no column, before anything is charged

    @classmethod
    def of(
        cls, dataset: str, data: Dataset, plan: AdaptivePlan, missing: Mapping[str, str] = MappingProxyType({})
    ) -> "AdaptiveRequest":
        """Return the request for a release of all columns of a table. It uses no record."""
        columns = Network(data.names, data.states, ((),) * len(data.names))
        return cls(dataset=dataset, columns=columns, plan=plan, n=data.n, missing=missing)

    @property
    def cost(self) -> Amount:
        """The budget of the plan: a rho, or a pure epsilon."""
        return self.plan.budget

    @cached_property
    def content(self) -> dict[str, object]:
        """The request as JSON has it."""
        return {
            **_shared(self),
            "columns": [{"name": node["name"], "states": node["states"]} for node in _nodes(self.columns)],
            "shares": {name: fraction_text(Fraction(getattr(self.plan, name))) for name in SHARES},
            "sizes": {name: getattr(self.plan, name) for name in SIZES},
            **({"target": self.plan.target} if self.plan.target else {}),
        }

    @property
    def stated(self) -> EpsilonDelta | None:
        """The stated epsilon and delta, which imply the rho; None for a pure epsilon."""
        plan = self.plan
        return EpsilonDelta(Fraction(plan.epsilon), Fraction(plan.delta)) if plan.delta else None


def adaptive_request_from(content: Mapping[str, Any]) -> AdaptiveRequest:
    """Return the request of JSON of its shape. Errors: InputError."""
    settings: dict[str, Any] = {name: fraction(f"The share {name}", content["shares"][name]) for name in SHARES}
    settings |= {name: content["sizes"][name] for name in SIZES} | {"target": content.get("target", "")}
    promise = _stated_in(content) or EpsilonDelta(fraction("epsilon", content.get("epsilon")), Fraction(0))
    return AdaptiveRequest(
        dataset=content["dataset"],
        n=content["n"],
        columns=_network_of(content["columns"]),
        plan=AdaptivePlan(epsilon=promise.epsilon, delta=promise.delta, **settings),
        missing=content.get("missing", {}),
    )


# Both kinds

Chargeable = ReleaseRequest | AdaptiveRequest
"""A request of either kind, which a dataset's budget pays."""

REQUEST_SHAPE: Mapping[str, Any] = {
    "dataset": str,
    "n": int,
    "epsilon?": str,
    "rho?": str,
    "stated?": {"epsilon": str, "delta": str},
    "missing?": dict,
}
"""The types of the fields that requests of both kinds have in JSON."""


def _shared(request: Chargeable) -> dict[str, object]:
    cost, stated = request.cost, request.stated
    fields: dict[str, object] = {"dataset": request.dataset, "n": request.n}
    fields |= {measure_of(cost).value: fraction_text(number_of(cost))}
    if stated is not None:
        fields |= {"stated": {name: fraction_text(value) for name, value in vars(stated).items()}}
    return fields | ({"missing": dict(request.missing)} if request.missing else {})


def _stated_in(content: Mapping[str, Any]) -> EpsilonDelta | None:
    if "stated" not in content:
        return None
    return EpsilonDelta(**{name: fraction(name, text) for name, text in content["stated"].items()})


def question_of(request: Chargeable) -> bytes:
    """Return a request in canonical form: equal bytes request the same release."""
    return canonical(request.content)


# The guarantee, exactly as a person types it


def _within(parameter: Parameter, places: int) -> tuple[Fraction, Fraction, int]:
    return Fraction(str(parameter.low)), Fraction(str(parameter.high)), places


_LIMITS: Mapping[str, tuple[Fraction, Fraction, int]] = {
    "epsilon": _within(EPSILON, 12),
    "delta": _within(DELTA, 18),
    "rho": (Fraction(1, 10**7), Fraction(500), 15),
}
"""The least and the largest value, and the largest number of decimal places.

For a rho in its range, epsilon at the smallest delta of a mechanism is in the range of epsilons.
"""


def checked(name: str, value: object) -> Fraction:
    """Return an exact epsilon, delta or rho in its range. Errors: InputError, also for a float."""
    if not isinstance(value, Fraction):
        raise InputError(f"{name} must be an exact fraction, not {brief(value)}.")
    low, high, places = _LIMITS[name]
    if not low <= value <= high:
        raise InputError(
            f"{name} must be between {amount_text(low)} and {amount_text(high)}; {brief(amount_text(value))} is not."
        )
    if 10**places % value.denominator:
        raise InputError(f"{name} must be a decimal of at most {places} places.")
    return value


def parsed_promise(epsilon: str, delta: str) -> EpsilonDelta:
    """Return an (epsilon, delta) exactly as typed. Errors: InputError for no decimal, or out of range."""
    return EpsilonDelta(checked("epsilon", decimal("epsilon", epsilon)), checked("delta", decimal("delta", delta)))


def typed_amount(epsilon: str, delta: str) -> Amount:
    """Return a pure epsilon exactly as typed, or the rho that implies (epsilon, delta). Errors: InputError."""
    if not decimal("delta", delta):
        return decimal("epsilon", epsilon)
    return Rho(parsed_promise(epsilon, delta).rho)


# Nodes, or columns, as JSON has them


def _nodes(network: Network) -> list[dict[str, object]]:
    nodes = zip(network.names, network.states, network.parents, strict=True)
    return [{"name": name, "states": list(states), "parents": list(parents)} for name, states, parents in nodes]


def _network_of(nodes: Sequence[Mapping[str, Any]]) -> Network:
    """Return the network of JSON, whose columns have no parents. Errors: InputError."""
    whole_number("The number of nodes", len(nodes), low=0, high=MOST_NODES)  # before anything is computed from them
    return Network(
        tuple(node["name"] for node in nodes),
        tuple(tuple(node["states"]) for node in nodes),
        tuple(tuple(node.get("parents", ())) for node in nodes),
    )


# Checks


def _releasable(mechanism: object) -> Releasable:
    """Return an exact form by its name. Errors: InputError for a mechanism that has no exact sampler."""
    if not isinstance(mechanism, str) or mechanism not in RELEASABLE:
        raise InputError(
            f"The mechanism {brief(mechanism)} has no exact sampler and no real release; choose one of: "
            f"{', '.join(RELEASABLE)}."
        )
    return RELEASABLE[mechanism]


def _require_valid(request: Chargeable, nodes: Network) -> None:
    """Check the fields that requests of both kinds have, and the nodes or columns. Errors: InputError."""
    one_line("The dataset's id", request.dataset, MOST_LETTERS)
    object.__setattr__(request, "n", whole_number("The number of records", request.n, low=1, high=MOST_RECORDS))
    whole_number("The number of nodes", len(nodes.names), low=0, high=MOST_NODES)
    texts = (*nodes.names, *(state for states in nodes.states for state in states))
    if max(map(len, texts)) > MOST_LETTERS:
        raise InputError(f"A name or a state has more than {MOST_LETTERS} letters; shorten it.")
    states = dict(zip(nodes.names, nodes.states, strict=True))
    for name, state in request.missing.items():
        if state not in states.get(name, ()):
            raise InputError(f"Missing values of {brief(name)} cannot count as {brief(state)}, which is no state.")
    in_order = {name: request.missing[name] for name in nodes.names if name in request.missing}
    object.__setattr__(request, "missing", in_order)


def _checked_prior(network: Network, prior: tuple[str, ...]) -> tuple[str, ...]:
    if len(prior) not in (1, network.cell_count):
        raise InputError(
            f"The prior must be one decimal, or one for each of the network's {network.cell_count:,} cells."
        )
    least = LEAST_PRIOR if len(prior) == 1 else LEAST_OF_A_CELL
    texts = {}
    for text in set(prior):
        value = decimal("The prior", text)
        finite_number("The prior", float(value), low=least, high=MOST_PRIOR)
        texts[text] = amount_text(value)
    one_for_all = len(set(texts.values())) == 1  # one prior, one form
    return tuple(texts[text] for text in (prior[:1] if one_for_all else prior))


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
