"""Requests and documents that tests start from."""

from datetime import UTC, datetime
from fractions import Fraction

import numpy as np

from dpbayes.model.counts import Counts, count
from dpbayes.model.network import Network
from dpbayes.releases.certificate import Composed
from dpbayes.releases.make import draw_document
from dpbayes.releases.request import DomainChoice, GraphChoice, ReleaseRequest
from dpbayes.sources.synthetic import sample_dataset
from tests.strategies import ASIA

N = 200
TIME = datetime(2026, 3, 31, 12, tzinfo=UTC)
BEFORE = Composed(2, Fraction(3, 10))

LEARNT = {
    "graph": GraphChoice.PRIVATELY,
    "graph_epsilon": Fraction(1, 5),
    "graph_candidates": (7, 12, 20, 28, 30, 24, 21),
}
"""What a request about ASIA states of a graph that was learnt."""


def asked(network: Network = ASIA, **changes) -> ReleaseRequest:
    told = {
        "dataset": "clinic-2026",
        "network": network,
        "mechanism": "laplace",
        "epsilon": Fraction(1, 2),
        "n": N,
        "graph": GraphChoice.UNSEEN,
        "domains": DomainChoice.CURATOR,
    }
    return ReleaseRequest(**(told | changes))


def counted(network: Network = ASIA, *, n: int = N) -> Counts:
    rng = np.random.default_rng(1)
    cpts = np.asarray(rng.random(network.cell_count))
    cpts /= network.over_cells(network.row_sums(cpts))
    return count(network, sample_dataset(network, cpts, n, rng))


def drawn(request: ReleaseRequest, counts: Counts | None = None) -> bytes:
    return draw_document(request, counts or counted(request.network, n=request.n), BEFORE, TIME)
