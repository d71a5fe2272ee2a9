"""Every page opened on a wide graph, a node with many parents, against the same page opened on Asia in the same run."""

import itertools
from collections.abc import Sequence
from pathlib import Path
from unittest import mock

import numpy as np
import streamlit as st
from streamlit.testing.v1 import AppTest

from benchmarks.record import Record, median_ms
from dpbayes.sources.named_networks import MAX_NODES
from dpbayes.ui.session.graphs import Graph, code_of
from dpbayes.ui.session.options import AuditSubject, BoundClaim, Experiment, ProofsView

APP = Path(__file__).parents[1] / "app.py"
MOST_TIMES_ASIA = 25.0
"""How many times as long as on Asia a page may take: those that froze took hundreds of times as long."""

Look = tuple[str, dict[str, str]]

LOOKS: tuple[Look, ...] = (
    *((page, {}) for page in ("data", "network", "explore", "proofs")),
    ("explore", {"explore.view": "which epsilon"}),
    *(("lab", {"lab.experiment": experiment.value}) for experiment in Experiment),
    ("explore", {"mechanism": "LaplaceFourier"}),
    *(
        ("proofs", {"proofs.view": ProofsView.CLAIMS.value, "proofs.bound": claim.value})
        for claim in (BoundClaim.EXPECTATION, BoundClaim.CLIPPED, BoundClaim.THEOREM_3, BoundClaim.COROLLARY_3)
    ),
    *(
        ("proofs", {"audit.subject": subject.value})
        for subject in (AuditSubject.LaplaceFourier, AuditSubject.PosteriorSampler, AuditSubject.MapExponential)
    ),
    ("lab", {"accuracy.scene": "the drawn network, synthetic"}),
)
"""Pages, each with what its link chooses there."""


LARGE = ("data", "network", "explore", "lab")
"""Pages that are timed on networks of many nodes."""


def wide_graph(parents: int) -> str:
    """Return the code of a graph in which one node has so many parents."""
    above = tuple(f"p{i}" for i in range(parents))
    return code_of(Graph((*above, "c"), tuple(itertools.product(above, ["c"]))))


def wide_pages(*, parents: Sequence[int] = (16, 18), looks: Sequence[Look] = LOOKS, repeats: int = 1) -> list[Record]:
    """Time the first run of every page in a new session, on graphs whose last node has so many parents."""
    records = []
    for page, chosen in looks:
        asia = opened_ms(page, chosen, repeats=repeats)
        records += [
            Record(
                name=f"{', '.join([page.capitalize(), *chosen.values()])}, {many} parents",
                value=opened_ms(page, chosen | {"source": wide_graph(many)}, repeats=repeats),
                unit="ms",
                baseline="on Asia",
                baseline_value=asia,
                bound=MOST_TIMES_ASIA,
            )
            for many in parents
        ]
    return records


def large_graph(nodes: int) -> str:
    """Return the code of a graph in which every node has up to 3 parents among the 50 before it."""
    rng = np.random.default_rng(6)
    names = tuple(f"x{i}" for i in range(nodes))
    parents = [rng.choice(np.arange(max(0, i - 50), i), min(i, 3), replace=False).tolist() for i in range(nodes)]
    return code_of(Graph(names, tuple((names[j], names[i]) for i, chosen in enumerate(parents) for j in chosen)))


def large_pages(*, nodes: Sequence[int] = (100, MAX_NODES), pages: Sequence[str] = LARGE) -> list[Record]:
    """Time the first run of pages on networks of many nodes, up to as many as a drawing may have."""
    return [
        Record(
            name=f"{page.capitalize()}, {many} nodes",
            value=opened_ms(page, {"source": large_graph(many)}, repeats=1),
            unit="ms",
            baseline="on Asia",
            baseline_value=opened_ms(page, {}, repeats=1),
        )
        for page in pages
        for many in nodes
    ]


def opened_ms(page: str, query: dict[str, str], *, repeats: int) -> float:
    """Return the median time of the first run of a page; what goes on from run to run is left there."""

    def once() -> None:
        at = AppTest.from_file(str(APP), default_timeout=3600)
        for key, value in query.items():
            at.query_params[key] = value
        at.switch_page(f"pages/{page}.py")
        at.run()
        if at.exception or at.error:
            raise RuntimeError(f"The page {page} failed: {[element.value for element in (*at.exception, *at.error)]}")

    with mock.patch.object(st, "rerun", return_value=None):
        return median_ms(once, repeats=repeats)
