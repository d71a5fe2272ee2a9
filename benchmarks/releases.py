"""Real releases: reserved, drawn, kept and checked, against the draw of the noise alone, which no way of it avoids."""

import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.core import counted
from benchmarks.record import Record, median_ms
from dpbayes.model.dataset import Counts
from dpbayes.model.network import Network
from dpbayes.releases import ledger
from dpbayes.releases.document.request import ReleaseRequest
from dpbayes.releases.publishing import publish
from dpbayes.releases.verify import verify
from dpbayes.sources.named_networks import load_named

N = 1000

BOUNDS = {"asia": 300.0, "alarm": 3000.0, "andes": 3000.0}
"""Most milliseconds from the request to the checked release."""

MOST_VERIFY = 2000.0
"""Most milliseconds of a check, whatever the network."""

WIDE = 16
"""Parents of one node, all of two states: 131,104 cells."""


def request_of(network: Network) -> ReleaseRequest:
    return ReleaseRequest(
        dataset="measured",
        network=network,
        mechanism="laplace",
        epsilon=Fraction(1, 2),
        n=N,
    )


def wide(parents: int) -> tuple[Network, Counts]:
    """Return a node with so many parents, and the counts of records that are all alike."""
    names = [f"p{k}" for k in range(parents)]
    network = Network.from_edges([*names, "child"], [(name, "child") for name in names])
    values = np.zeros(network.cell_count, dtype=np.int64)
    values[network.cell_offsets[:-1]] = N
    return network, Counts(network, values, N)


def published(request: ReleaseRequest, counts: Counts) -> bytes:
    """Open a ledger, make a release in it and check it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.sqlite"
        ledger.open_dataset(path, request.dataset, Fraction(1), reason="to measure")
        document = publish(path, request, counts).document
    assert verify(document).holds
    return document


def drawn(request: ReleaseRequest, counts: Counts) -> None:
    """Do what a release cannot do without: ask OpenDP's map, and draw."""
    request.entry.draw(request, counts.values, request.calibrated.scale)


def named(*, names: Sequence[str] = tuple(BOUNDS), repeats: int = 5) -> list[Record]:
    """Time releases of published networks from the request to the check, and the check alone."""
    records = []
    for name in names:
        network, cpts = load_named(name)
        request, counts = request_of(network), counted(network, cpts, N)
        document = published(request, counts)
        records += [
            Record(
                name=f"{name.capitalize()}, released, kept and checked",
                value=median_ms(partial(published, request, counts), repeats=repeats),
                unit="ms",
                bound=BOUNDS[name],
            ),
            _check(name.capitalize(), document, repeats),
        ]
    return records


def large(*, parents: int = WIDE, repeats: int = 3) -> list[Record]:
    """Time a release of a very wide node against its noise alone, and its check."""
    network, counts = wide(parents)
    request = request_of(network)
    document = published(request, counts)
    return [
        Record(
            name=f"{network.cell_count:,} cells, released, kept and checked",
            value=median_ms(partial(published, request, counts), repeats=repeats),
            unit="ms",
            baseline="the noise alone",
            baseline_value=median_ms(partial(drawn, request, counts), repeats=repeats),
            bound=2,
        ),
        _check(f"{network.cell_count:,} cells", document, repeats),
    ]


def _check(of: str, document: bytes, repeats: int) -> Record:
    return Record(
        name=f"{of}, release checked",
        value=median_ms(lambda: verify(document), repeats=repeats),
        unit="ms",
        bound=MOST_VERIFY,
    )
