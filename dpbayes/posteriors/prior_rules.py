"""Rules that give every network a prior: 1 or another number in every cell, capped, or BDeu."""

import enum
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpbayes.base.parameters import Parameter
from dpbayes.base.text import numeral, shortest
from dpbayes.base.types import FloatArray
from dpbayes.base.validation import InputError, brief, finite_number
from dpbayes.model.network import Network
from dpbayes.posteriors.dirichlet import LEAST_CAPPED, LEAST_PRIOR, MOST_PRIOR, WIDE_SIZE, Dirichlets

_PLACES = 20
"""The most places of a decimal in a request."""

_DIGITS = 9
"""The significant digits of a size that is recovered from the parameters of a prior."""


class PriorKind(enum.Enum):
    """The rule of a prior."""

    CAPPED = "capped"
    SYMMETRIC = "symmetric"
    BDEU = "bdeu"

    @property
    def label(self) -> str:
        """The name of the rule on a page."""
        return _LABELS[self]

    @property
    def usual(self) -> float:
        """The usual pseudo-count, or the usual equivalent sample size."""
        return _USUAL[self]


_LABELS = {
    PriorKind.CAPPED: "Weak (recommended)",
    PriorKind.SYMMETRIC: "The same in every cell",
    PriorKind.BDEU: "BDeu",
}
_USUAL = {PriorKind.CAPPED: WIDE_SIZE, PriorKind.SYMMETRIC: 1.0, PriorKind.BDEU: 1.0}


@dataclass(frozen=True)
class PriorRule:
    """A rule that gives every network a prior, whose parameters depend only on the sizes of the nodes' tables.

    `size` is the pseudo-count of every cell for a symmetric prior, else the equivalent sample size N'. The default is
    the recommended prior (docs/calibration.md). Errors: InputError for a size outside of its range.
    """

    kind: PriorKind = PriorKind.CAPPED
    size: float = WIDE_SIZE

    def __post_init__(self) -> None:
        name = "The prior" if self.kind is PriorKind.SYMMETRIC else "The equivalent sample size"
        object.__setattr__(self, "size", finite_number(name, self.size, low=LEAST_PRIOR, high=MOST_PRIOR))

    @classmethod
    def usual(cls, kind: PriorKind) -> "PriorRule":
        """Return the rule of this kind with its usual size."""
        return cls(kind, kind.usual)

    @classmethod
    def symmetric(cls, pseudo_count: float = 1.0) -> "PriorRule":
        """Return the rule with this pseudo-count in every cell."""
        return cls(PriorKind.SYMMETRIC, pseudo_count)

    def with_size(self, size: float | str) -> "PriorRule":
        """Return the rule of the same kind with another size, a number or a text. Errors: InputError."""
        return PriorRule(self.kind, size)  # type: ignore[arg-type]  # read from text

    def on(self, network: Network) -> Dirichlets:
        """Return the prior of a network."""
        cells = np.diff(network.cell_offsets)
        return Dirichlets(network, np.repeat(self.of_tables(cells), cells))

    def of_tables(self, cells: ArrayLike) -> FloatArray:
        """Return the parameter of every cell of nodes whose tables have this many cells: the shape of `cells`."""
        if self.kind is PriorKind.SYMMETRIC:
            return np.full(np.shape(cells), self.size)
        shared = self.size / np.asarray(cells, dtype=np.float64)
        return np.asarray(np.clip(shared, LEAST_CAPPED, 1.0) if self.kind is PriorKind.CAPPED else shared)

    def fits(self, prior: Dirichlets) -> bool:
        """Whether this rule gives a prior (K,), whose decimals may be rounded."""
        return bool(np.allclose(self.on(prior.network).alpha, prior.alpha, rtol=1e-8, atol=0))

    @property
    def pseudo_count(self) -> float:
        """The pseudo-count of every cell for theorems about symmetric priors; 1 if the rule is not symmetric."""
        return self.size if self.kind is PriorKind.SYMMETRIC else 1.0

    @property
    def value(self) -> float | str:
        """The rule as a value of a table: the pseudo-count of a symmetric prior, else the text."""
        return self.size if self.kind is PriorKind.SYMMETRIC else str(self)

    @property
    def title(self) -> str:
        """A short description for a sentence."""
        match self.kind:
            case PriorKind.CAPPED:
                return f"capped (N′ = {numeral(self.size, 6)} per node, {LEAST_CAPPED:g} to 1 in every cell)"
            case PriorKind.SYMMETRIC:
                return f"{numeral(self.size, 6)} in every cell"
            case PriorKind.BDEU:
                return f"BDeu (N′ = {numeral(self.size, 6)} for every node)"

    def __str__(self) -> str:
        """Return the text that `prior_rule` reads back exactly, as in a link or a command: "1", "capped", "bdeu:2"."""
        if self.kind is PriorKind.SYMMETRIC:
            return shortest(self.size)
        return self.kind.value if self.size == self.kind.usual else f"{self.kind.value}:{shortest(self.size)}"


def prior_rule(value: "PriorRule | float | str") -> PriorRule:
    """Return a rule from a pseudo-count, or from a text such as "1", "capped", "capped:8", "bdeu" or "bdeu:2".

    Errors: InputError for another text, and for a size outside of its range.
    """
    if isinstance(value, PriorRule):
        return value
    if isinstance(value, str):
        name, sign, size = value.strip().partition(":")
        if name in (PriorKind.CAPPED.value, PriorKind.BDEU.value):
            return PriorRule.usual(PriorKind(name)).with_size(size) if sign else PriorRule.usual(PriorKind(name))
        try:
            float(value)
        except ValueError:
            raise InputError(
                f"The prior cannot be {brief(value)}. State a pseudo-count such as 1, or capped or bdeu, with an "
                "equivalent sample size after a colon if needed, such as bdeu:2."
            ) from None
    return PriorRule.symmetric().with_size(value)


def rule_for(kind: Any, rule: PriorRule) -> PriorRule:
    """Return the rule of the prior of a class of mechanisms: its `own_prior` instead of a capped prior, if any."""
    own: PriorRule | None = getattr(kind, "own_prior", None)
    return rule if own is None or rule.kind is not PriorKind.CAPPED else own


def decimals_of(prior: Dirichlets) -> tuple[str, ...]:
    """Return a prior (K,) as the decimals of a request, of at most 20 places: the shortest texts of the doubles."""
    values, cells = np.unique(prior.alpha, return_inverse=True)
    texts = [shortest(round(value, _PLACES)) for value in values.tolist()]
    return tuple(texts[cell] for cell in cells.tolist())


def rule_of(prior: Dirichlets) -> PriorRule | None:
    """Return the rule of a prior (K,), whose decimals may be rounded to twelve digits; None if no rule fits."""
    cells = np.diff(prior.network.cell_offsets)
    shared = prior.alpha[prior.network.cell_offsets[:-1]] * cells
    sizes = dict.fromkeys(map(_rounded, (prior.alpha[0], *shared, cells.max())))
    rules = [PriorRule.usual(kind) for kind in PriorKind] + [PriorRule(k, size) for k in PriorKind for size in sizes]
    return next((rule for rule in rules if rule.fits(prior)), None)


def _rounded(size: float) -> float:
    return min(max(float(f"{size:.{_DIGITS}g}"), LEAST_PRIOR), MOST_PRIOR)


class _PriorParameter(Parameter):
    """The description of a prior rule, which may be stated as a pseudo-count or as a text."""

    def checked(self, name: str, value: object) -> PriorRule:  # type: ignore[override]  # not a number
        return prior_rule(value)  # type: ignore[arg-type]  # finite_number refuses other types


PRIOR = _PriorParameter(
    r"\alpha",
    low=LEAST_PRIOR,
    high=MOST_PRIOR,
    typical=1.0,
    log=True,
    title="prior",
    description="A pseudo-count for every cell, or capped or bdeu; capped:8 and bdeu:2 state the equivalent sample "
    "size N'.",
)
