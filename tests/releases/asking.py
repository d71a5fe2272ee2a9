"""Requests and documents that tests start from."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpbayes.base.amounts import PrivacyMeasure, Rho
from dpbayes.base.types import IntArray
from dpbayes.mechanisms import RELEASABLE, exact_form
from dpbayes.model.dataset import Counts, count
from dpbayes.model.network import Network
from dpbayes.model.synthetic import sample_dataset
from dpbayes.releases.document.canonical import canonical, hash_of
from dpbayes.releases.document.document import Composed, Provenance
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.releases.publishing import drawn_document
from dpbayes.releases.verify import verify
from tests.strategies import ASIA

N = 200
TIME = datetime(2026, 3, 31, 12, tzinfo=UTC)
BEFORE = Composed(2, Fraction(3, 10))
BEFORE_IN_RHO = Composed(2, Rho(Fraction(3, 10)))


def request_of(network: Network = ASIA, **changes) -> ReleaseRequest:
    fields = {
        "dataset": "clinic-2026",
        "network": network,
        "mechanism": "laplace",
        "n": N,
    }
    loss = {} if {"epsilon", "rho"} & set(changes) else usual_loss(str(changes.get("mechanism", "laplace")))
    return ReleaseRequest(**(fields | loss | changes))


def usual_loss(mechanism: str, number: Fraction = Fraction(1, 2)) -> dict[str, Fraction]:
    """Return so much of what a mechanism promises: of an epsilon, or of a rho."""
    entry = RELEASABLE.get(mechanism, RELEASABLE["laplace"])
    return {entry.noise.measure.value: number}


def counted(network: Network = ASIA, *, n: int = N) -> Counts:
    rng = np.random.default_rng(1)
    cpts = np.asarray(rng.random(network.cell_count))
    cpts /= network.over_cells(network.row_sums(cpts))
    return count(network, sample_dataset(network, cpts, n, rng))


def failed(data: bytes) -> set[str]:
    """Return the names of the checks that a document fails."""
    return {check.name for check in verify(data).checks if not check.holds}


def hashed(content: Mapping[str, Any]) -> bytes:
    """Return the document of a content, with a hash that matches it."""
    return canonical({**content, "hash": hash_of(content)})


def before(request: ReleaseRequest) -> Composed:
    """Return what was spent before, in what a budget must be kept in to pay the request."""
    return BEFORE_IN_RHO if request.entry.noise.measure is PrivacyMeasure.RHO else BEFORE


def drawn(request: ReleaseRequest, counts: Counts | None = None) -> bytes:
    counts = counts or counted(request.network, n=request.n)
    return drawn_document(request, counts, before(request), drawn=Provenance.at(TIME))


def replace_draw(patch: pytest.MonkeyPatch, draw: Callable[..., Any]) -> None:
    """Put draw(values, scales) in place of what adds noise."""
    patch.setattr(exact_form, "with_noise", lambda noise, values, scales: draw(values, scales))


def no_noise(values: IntArray, scales: object) -> tuple[int, ...]:
    """Draw noise that is none, to see what becomes of the integers."""
    return tuple(values.tolist())
